"""What one shader may cost: past a limit its compile ends with an error that names it."""

from __future__ import annotations

import pytest

from gallette.compiler import effort
from gallette.compiler.glsl import compile_shader
from gallette.compiler.glsl.parse import preprocessor
from gallette.compiler.nir.ir import Stage


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
    assert first.endswith(f"' has more than {getattr(effort, _LIMITS[name])} {reason}")


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
