"""What one shader may cost: past a limit its compile ends with an error that names it."""

from __future__ import annotations

import pytest

from gallette.compiler import work_limits
from gallette.compiler.glsl import compile_shader, link_program
from gallette.compiler.glsl.parse import preprocessor
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.passes.functions import inline_functions


def log_of(body: str) -> str:
    found = compile_shader(Stage.FRAGMENT, f"#version 330\n{body}")
    assert not found.ok
    return found.info_log


def nested(levels: int, two: bool = False) -> str:
    """Structures inside each other."""
    member = "S{0} a; S{0} b;" if two else "S{0} a;"
    lines = ["struct S0 { float f; };"]
    lines += [f"struct S{n + 1} {{ {member.format(n)} }};" for n in range(levels)]
    return "\n".join([*lines, f"uniform S{levels} u;", "void main() {}"])


TOO_LARGE = {
    "levels": (nested(300), "levels of arrays and structures"),
    "members": (nested(20, two=True), "members, with those of its members"),
    "components": (
        "struct S { mat4 m[1000]; };\nvoid main() { S a[5000]; }",
        "components",
    ),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_types_have_a_bounded_size(name: str) -> None:
    source, reason = TOO_LARGE[name]
    first = log_of(source).partition("\n")[0]
    assert first.endswith(f"' has more than {getattr(work_limits, _LIMITS[name])} {reason}")


_LIMITS = {"levels": "MOST_LEVELS", "members": "MOST_LEAVES", "components": "MOST_SCALARS"}


def test_pasted_tokens_have_a_bounded_length() -> None:
    log = log_of(f"#define PASTE(x) x##x\nfloat PASTE({'a' * 600});\nvoid main() {{}}")
    assert "'##' makes a token of more than 1024 characters" in log


def test_tokens_are_counted_where_macros_multiply_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocessor, "MOST_TOKENS", 1000)
    doubled = "\n".join(f"#define A{n + 1} A{n} A{n}" for n in range(12))
    log = log_of(f"#define A0 ;\n{doubled}\nvoid main() {{ A12 }}")
    assert "tokens, at most 1000 are supported" in log


def test_characters_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocessor, "MOST_CHARACTERS", 1000)
    assert "have more than 1000 characters" in log_of("//" + "x" * 2000 + "\nvoid main() {}")


def linked(body: str) -> str:
    """The log of a fragment shader's link; empty if it is linked."""
    compiled = compile_shader(Stage.FRAGMENT, f"#version 330\nout vec4 c;\n{body}")
    assert compiled.ok, compiled.info_log
    program = link_program([compiled])
    for shader in program.shaders.values():
        shader.unref()
    return "" if program.ok else program.info_log


def in_each_other(ifs: int, inner: str) -> str:
    return "if (c.x > 0.5) { c.x += 0.1;\n" * ifs + inner + "}" * ifs


def test_functions_may_call_each_other_in_long_chains() -> None:
    chain = "".join(f"float f{n + 1}(float x) {{ return f{n}(x) * 0.5; }}\n" for n in range(1500))
    assert not linked(
        f"float f0(float x) {{ return x; }}\n{chain}void main() {{ c = vec4(f1500(1.0)); }}"
    )


def test_code_of_a_function_that_is_called_once_is_not_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inline_functions, "clone_body", None)
    chain = "".join(
        f"void f{n + 1}() {{ f{n}(); {in_each_other(1, 'c.y = 1.0;')} }}\n" for n in range(5)
    )
    assert not linked(f"void f0() {{ c = vec4(0); }}\n{chain}void main() {{ f5(); }}")


def test_ifs_of_called_functions_count_as_nested() -> None:
    chain = "".join(f"void f{n + 1}() {{ {in_each_other(100, f'f{n}();')} }}\n" for n in range(6))
    log = linked(f"void f0() {{ c = vec4(0); }}\n{chain}void main() {{ f6(); }}")
    assert "function 'f3', with the functions it calls, nests ifs and loops 300 deep" in log


def test_what_follows_returns_counts_as_nested() -> None:
    early = "".join(f"if (x > {n}.0) return {n}.5;\n" for n in range(600))
    log = linked(f"float f(float x) {{ {early} return 0.0; }}\nvoid main() {{ c = vec4(f(0.5)); }}")
    assert "function 'f' returns early too often" in log
    assert f"at most {work_limits.MOST_NESTED} deep" in log


def test_nested_loops_have_a_limit() -> None:
    loops = "".join(f"for (int i{n} = 0; i{n} < m; i{n}++) {{\n" for n in range(65))
    ends = "}" * 65
    log = linked(
        f"uniform int m;\nvoid f() {{ {loops} c.x++; {ends} }}\n"
        f"void main() {{ c = vec4(0); {loops} f(); {ends} }}"
    )
    assert "function 'main', with the functions it calls, nests loops 130 deep" in log


def test_local_arrays_have_a_limit() -> None:
    large = "float a[200000]; a[int(c.x)] = 1.0; c = vec4(a[int(c.y)]);"
    assert not linked(f"void main() {{ c = vec4(0); {large} }}")
    larger = "float b[70000]; b[int(c.x)] = 1.0; c.x = b[int(c.y)];"
    log = linked(f"void main() {{ c = vec4(0); {large} {larger} }}")
    assert "of the fragment shader that lie in memory have 270000 components" in log


def shared(declared: str, body: str) -> str:
    source = f"""#version 430
layout(local_size_x = 1) in; buffer B {{ float x[]; }};
{declared}
void main() {{ {body} }}"""
    compiled = compile_shader(Stage.COMPUTE, source)
    assert compiled.ok, compiled.info_log
    program = link_program([compiled])
    for shader in program.shaders.values():
        shader.unref()
    return "" if program.ok else program.info_log


def test_the_limit_of_shared_memory_is_the_reported_one() -> None:
    assert not shared("shared float a[8191]; shared float b;", "a[int(x[0])] = b = x[1];")
    log = shared("shared float a[8191]; shared vec2 b;", "a[int(x[0])] = b.y = x[1];")
    assert "uses 32772 bytes of shared memory, GL_MAX_COMPUTE_SHARED_MEMORY_SIZE is 32768" in log
    assert not shared("shared float a[9000];", "x[0] = 1.0;")  # it is not used


def test_discards_have_no_limit() -> None:
    many = "".join(f"if (c.x > {n}.0) discard; c.x += 0.5;\n" for n in range(600))
    assert not linked(f"void main() {{ c = vec4(0); {many} }}")
