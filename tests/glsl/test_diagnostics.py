"""What the user reads: exact texts, places and suggestions."""

import json
from pathlib import Path

import pytest

from gallette.cli import execute
from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.nir.ir import Stage


def log(source: str, stage: Stage = Stage.FRAGMENT) -> str:
    return compile_shader(stage, source, CompileOptions(api="compat"), ["a.frag"]).info_log


def test_a_misspelt_name_gets_a_suggestion() -> None:
    text = "#version 330\nuniform vec4 tint;\nout vec4 c;\nvoid main() { c = tnit; }\n"
    assert log(text) == (
        "a.frag:4:19: error: 'tnit' is not declared\n"
        "  void main() { c = tnit; }\n"
        "                    ^~~~\n"
        "  did you mean 'tint'?\n"
    )


def test_a_missing_semicolon_is_reported_after_the_expression() -> None:
    text = "void main() {\n  float a = 1.0\n  a = 2.0;\n}\n"
    assert log(text) == (
        "a.frag:2:15: error: expected ';' after declaration before 'a'\n"
        "    float a = 1.0\n"
        "                ^\n"
    )


def test_several_errors_are_reported_in_one_compile() -> None:
    text = "#version 330\nvoid main() {\n  int a = 1.5;\n  b = 2;\n  vec3 v = vec2(1.0);\n}\n"
    assert log(text) == (
        "a.frag:3:11: error: initializer of 'a': cannot convert 'float' to 'int'\n"
        "    int a = 1.5;\n"
        "            ^~~\n"
        "  write int(...) to convert\n"
        "a.frag:4:3: error: 'b' is not declared\n"
        "    b = 2;\n"
        "    ^\n"
        "a.frag:5:12: error: initializer of 'v': cannot convert 'vec2' to 'vec3'\n"
        "    vec3 v = vec2(1.0);\n"
        "             ^~~~~~~~~\n"
    )


def test_a_failed_declaration_does_not_cascade() -> None:
    text = "void main() { float a = nope; a = a + 1.0; a = 2.0; }"
    assert log(text).count("error") == 1


def test_no_overload_lists_candidates() -> None:
    text = "#version 330\nvoid main() { float a = dot(vec2(1.0), vec3(1.0)); }"
    assert log(text) == (
        "a.frag:2:25: error: no overload fits 'dot(vec2, vec3)'\n"
        "  void main() { float a = dot(vec2(1.0), vec3(1.0)); }\n"
        "                          ^~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "  candidates: float dot(vec2, vec2); float dot(vec3, vec3); float dot(float, float); "
        "float dot(vec4, vec4)\n"
    )


def test_a_missing_feature_says_where_it_exists() -> None:
    text = "#version 120\nvoid main() { int a = 1 << 2; }"
    assert log(text) == (
        "a.frag:2:23: error: operator '<<' is not available in GLSL 1.20\n"
        "  void main() { int a = 1 << 2; }\n"
        "                        ^~~~~~\n"
        "  available since GLSL 1.30 or with GL_EXT_gpu_shader4\n"
    )


def test_line_directives_name_the_place() -> None:
    text = "#version 330\n#line 100 7\nvoid main() { x = 1; }\n"
    assert log(text).startswith("7:100:15: error: 'x' is not declared")


def test_a_spliced_line_points_into_the_original() -> None:
    text = "void main() { float \\\n  a = x; }\n"
    assert log(text).startswith("a.frag:2:7: error: 'x' is not declared\n    a = x; }\n")


def test_very_long_lines_are_shown_in_part() -> None:
    text = "void main() { " + "float a; " * 5000 + "}"
    assert max(len(line) for line in log(text).splitlines()) < 200


def test_at_most_twenty_errors() -> None:
    text = "void main() {\n" + "x = 1;\n" * 100 + "}\n"
    result = compile_shader(Stage.FRAGMENT, text)
    assert sum(d.severity == "error" for d in result.diagnostics) == 20


@pytest.mark.parametrize("depth", [199, 300, 30_000])
def test_deep_nesting_is_answered(depth: int) -> None:
    for text in (
        f"void main() {{ float a = {'(' * depth}1.0{')' * depth}; }}",
        f"void main() {{ float a = {'- ' * depth}1.0; }}",
        f"void main() {'{' * depth}{'}' * depth}",
        f"void main() {{ {'if (true) ' * depth}; }}",
    ):
        result = compile_shader(Stage.FRAGMENT, text)
        assert not (result.ok and depth > 128)
        assert result.ok or "nested more than 128 levels deep" in result.info_log


def test_a_long_chain_of_operators_is_no_nesting() -> None:
    text = f"void main() {{ float a = {'1.0 + ' * 20_000}1.0; gl_FragColor = vec4(a); }}"
    assert compile_shader(Stage.FRAGMENT, text).ok


def test_the_tool_reports_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.frag"
    path.write_text("void main() { x = 1; }")
    assert execute(["glslc", str(path), "--json"]) == 2
    report = json.loads(capsys.readouterr().out)
    assert report["files"][0]["diagnostics"] == [
        {
            "severity": "error",
            "message": "'x' is not declared",
            "file": str(path),
            "line": 1,
            "column": 15,
            "end_column": 16,
        }
    ]


def test_the_tool_links_and_prints_nir(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "good.frag"
    path.write_text("void main() { gl_FragColor = vec4(1.0); }")
    assert execute(["glslc", str(path), "--nir"]) == 0
    assert "store_output" in capsys.readouterr().out


def test_a_forgotten_semicolon_at_a_line_end_is_put_in() -> None:
    text = "#version 330\nin vec2 uv\nout vec4 c;\nvoid main() { c = uv.xyxy; }\n"
    assert log(text) == (
        "a.frag:2:10: error: expected ';' after declaration before 'out'\n"
        "  in vec2 uv\n"
        "           ^\n"
    )


def test_an_assignment_as_condition_suggests_a_comparison() -> None:
    text = "#version 330\nvoid main() { float f = 0.0; if (f = 1.0) f = vec2(1.0); }"
    assert log(text) == (
        "a.frag:2:34: error: the condition is 'float', not bool\n"
        "  void main() { float f = 0.0; if (f = 1.0) f = vec2(1.0); }\n"
        "                                   ^~~~~~~\n"
        "  did you mean '=='?\n"
        "a.frag:2:47: error: assignment: cannot convert 'vec2' to 'float'\n"
        "  void main() { float f = 0.0; if (f = 1.0) f = vec2(1.0); }\n"
        "                                                ^~~~~~~~~\n"
        "  choose components: .x\n"
    )


def test_components_that_get_lost_are_a_warning() -> None:
    text = (
        "void main() { vec2 v = vec2(1); float f = float(v); gl_FragColor = vec4(vec3(v, v), f); }"
    )
    shown = f"  {text}\n"
    assert log(text) == (
        "a.frag:1:49: warning: 'float' takes only the first component of 'vec2'\n"
        f"{shown}  {' ' * 48}^\n"
        "a.frag:1:81: warning: 'vec3' takes 3 of the 4 components\n"
        f"{shown}  {' ' * 80}^\n"
    )
    assert log("void main() { gl_FragColor = vec4(vec3(gl_FragCoord), 1.0); }") == ""


def test_reading_before_writing_is_a_warning() -> None:
    text = "void main() { float a; float b = a + 1.0; gl_FragColor = vec4(b); }"
    assert log(text) == (
        "a.frag:1:34: warning: 'a' is read before it is written\n"
        "  void main() { float a; float b = a + 1.0; gl_FragColor = vec4(b); }\n"
        "                                   ^\n"
    )


def test_what_was_in_order_for_one_qualifier_is_not_for_another() -> None:
    """Declarations like one before are not checked again; one of another kind is."""
    assert log("#version 330\nvec4 a;\nvec4 b;\nvoid main() { b = a; }\n") == ""
    assert log("#version 330\nvec4 a;\ninvariant vec4 b;\nvoid main() { b = a; }\n") == (
        "a.frag:3:16: error: only inputs and outputs can be invariant\n"
        "  invariant vec4 b;\n"
        "                 ^\n"
    )
    flat = log("#version 330\nvec4 a;\nflat vec4 b;\nvoid main() { b = a; }\n")
    assert "'flat' applies to inputs and outputs only" in flat


def test_what_was_in_order_is_not_when_a_block_has_the_name() -> None:
    """The name of a block is taken, also for a declaration otherwise like one before."""
    source = "#version 330\nuniform vec4 a;\nuniform B { vec4 q; } b;\nuniform vec4 B;\n"
    assert "'B' is the name of a block" in log(source)


OPERATORS = [
    # an expression with `s`, `i`, `v`, `w` and `f`, what is not possible, why
    ("s << 1", "S << int", "the operands must be scalars, vectors or matrices"),
    ("i + s", "int + S", "the operands must be scalars, vectors or matrices"),
    ("f << 1", "float << int", "shifts need integer operands"),
    ("i << v", "int << ivec2", "a scalar cannot be shifted by a vector"),
    ("v >> w", "ivec2 >> ivec3", "the operands have different sizes"),
    ("v & w", "ivec2 & ivec3", "the operands have different sizes"),
    ("v | f", "ivec2 | float", "the operands must be integers"),
    ("v % vec2(1)", "ivec2 % vec2", "the operands must be integers"),
    ("v + w", "ivec2 + ivec3", "the operands have different sizes"),
]


@pytest.mark.parametrize(("expression", "shown", "why"), OPERATORS)
def test_operands_that_do_not_fit_say_why(expression: str, shown: str, why: str) -> None:
    text = (
        "#version 330\nstruct S { int a; };\n"
        "void main() { S s = S(1); int i = 1; ivec2 v = ivec2(1); ivec3 w = ivec3(1);\n"
        f"float f = 1.0;\n({expression}); }}"
    )
    log = compile_shader(Stage.FRAGMENT, [text], CompileOptions()).info_log
    assert f":5:2: error: '{shown}' is not possible\n" in log
    assert log.rstrip().endswith(why)
    assert log.count("error:") == 1
