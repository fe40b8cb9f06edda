"""What the compiler says beside errors: warnings, each with its place, and hints what to do.

In a shader, `<<` and `>>` stand around what a message underlines.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

import gallette.compiler.glsl
from gallette.compiler.glsl import CompileOptions, api, compile_shader
from gallette.compiler.glsl.check import context
from gallette.compiler.glsl.diagnostics import Diagnostic, Log
from gallette.compiler.nir.ir import Stage

HEAD = "#version 450 compatibility\n"
MAIN = "void main() {} "
RESERVED = "names containing '__' are reserved: '{}'"
LOST = "'{}' takes only the first component of '{}'"
UNREAD = "'{}' is read before it is written"

WARNINGS = {
    # what is said -> shaders that get it, each with one that does not
    "extra text after #undef": [("#define a\n#undef a <<b>> c\n", "#define a\n#undef a\n")],
    "extra text after #ifdef": [("#ifdef a <<b>> c\n#endif\n", "#ifdef a\n#endif\n")],
    "extra text after #ifndef": [("#ifndef a <<1>> 2\n#endif\n", "#ifndef a\n#endif\n")],
    "extra text after #else": [("#if 0\n#else <<a>> b\n#endif\n", "#if 0\n#else // a\n#endif\n")],
    "extra text after #endif": [("#if 0\n#endif <<a>>\n", "#if 0\n#endif /* a */\n")],
    "extension 'GL_ARB_nothing' is not supported": [
        (f"#extension <<GL_ARB_nothing>> : {word}\n", f"#extension GL_ARB_gpu_shader5 : {word}\n")
        for word in ("enable", "warn", "disable")
    ],
    RESERVED.format("a__b"): [
        ("#define <<a__b>> 1\n", "#define a_b 1\n"),
        ("#define <<a__b>>(x) x\n", "#define a_b_(x) x\n"),
        ("float <<a__b>>;", "float a_b_;"),
        ("float <<a__b>>() { return 1.0; }", "float _ab() { return 1.0; }"),
        ("void f(<<float a__b>>) {}", "void f(float a_b) {}"),
        ("<<struct a__b { float x; }>>;", "struct a_b { float x; };"),
        ("void f() { int b, <<a__b>> = 1; }", "void f() { int b, a_b = 1; }"),
    ],
    LOST.format("float", "vec3"): [
        ("const float a = float(<<vec3(4.0)>>);", "const float a = float(4.0);"),
    ],
    LOST.format("int", "mat2"): [
        ("int f(mat2 m) { return int(<<m>>); }", "int f(mat2 m) { return int(m[0][0]); }"),
    ],
    "'vec3' takes 3 of the 4 components": [
        ("vec3 f(vec2 a) { return vec3(a, <<a>>); }", "vec3 f(vec2 a) { return vec3(a, a.x); }"),
        ("vec3 f(vec2 a) { return vec3(a, <<a.yx>>); }", "vec3 f(vec4 a) { return vec3(a); }"),
    ],
    "'mat2' takes 4 of the 5 components": [
        ("mat2 f(vec2 a) { return mat2(1, a, <<a>>); }", "mat2 f(vec2 a) { return mat2(a, a); }"),
    ],
    "this declares nothing": [
        ("<<float;>>", "float a;"),
        ("<<uniform int;>>", "uniform int a;"),
        ("void f() { <<bool;>> }", "struct S { bool a; };"),
    ],
    UNREAD.format("a"): [
        ("float f() { float a; return <<a>>; }", "float f() { float a; a = 1.0; return a; }"),
        ("float f() { float a; return <<a>> + a; }", "float f() { float a = 1.0; return a; }"),
        ("void f() { vec2 a; a.x = <<a>>.y; }", "void f() { vec2 a; a.x = 1.0; a = a.yy; }"),
        ("void f() { int a; <<a>> += 1; }", "void f() { int a; a = 1; }"),
        ("void g(int x) {} void f() { int a; g(<<a>>); }",
         "void g(out int x) { x = 1; } void f() { int a; g(a); }"),
        ("float f() { float a; return sin(<<a>>); }", "int f() { int a[2]; return a.length(); }"),
        ("int f() { int a[2]; return <<a>>[0]; }", "int a; int f() { return a; }"),
    ],
    "integer division by zero": [
        ("const int a = <<1 / 0>>;", "const int a = 0 / 1;"),
        ("const uvec2 a = <<uvec2(4) % uvec2(1, 0)>>;", "const float a = 1.0 / 0.0;"),
        ("const int a = 5 - <<4 % int(0.5)>>;", "const int a = 5 - 4 % int(1.5);"),
    ],
}  # fmt: skip


def told(source: str) -> list[Diagnostic]:
    options = CompileOptions(api="compat")
    return compile_shader(Stage.FRAGMENT, HEAD + source + MAIN, options).diagnostics


def marked(d: Diagnostic) -> str:
    """The line, with what is underlined between marks."""
    assert d.span is not None
    line, first, last = d.source_line, d.span.column - 1, d.span.end_column - 1
    last = max(last, first + 1)
    return f"{line[:first]}<<{line[first:last]}>>{line[last:]}"


PAIRS = [(text, *pair) for text, pairs in WARNINGS.items() for pair in pairs]


@pytest.mark.parametrize(("text", "suspicious", "plain"), PAIRS, ids=[p[1] for p in PAIRS])
def test_what_is_suspicious_is_a_warning(text: str, suspicious: str, plain: str) -> None:
    (found,) = told(suspicious.replace("<<", "").replace(">>", ""))
    assert (found.severity, found.message) == ("warning", text)
    (line,) = [s for s in (suspicious + MAIN).splitlines() if "<<" in s]
    assert marked(found) == line
    assert told(plain) == []


def test_every_warning_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the table above; those of `laxities` by tests/glsl/test_laxities.py."""
    root = Path(gallette.compiler.glsl.__file__).resolve().parent
    reached: set[tuple[str, int]] = set()

    def watch(kind: type[Any], name: str) -> None:
        own = getattr(kind, name)

        def method(self: Any, *args: Any, **named: Any) -> None:
            frame = sys._getframe(1)
            file = Path(frame.f_code.co_filename).resolve().relative_to(root).as_posix()
            reached.add((file, frame.f_lineno))
            own(self, *args, **named)

        monkeypatch.setattr(kind, name, method)

    watch(Log, "warning")
    watch(context.Checker, "warn")
    monkeypatch.setattr(api, "_recent", {})
    monkeypatch.setattr(context, "_memories", {})
    for _, suspicious, _ in PAIRS:
        told(suspicious.replace("<<", "").replace(">>", ""))
    calls = {
        (path.relative_to(root).as_posix(), node.lineno)
        for path in root.rglob("*.py")
        if path.name != "laxities.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("warn", "warning")
    }
    assert calls == reached


HINTS = {
    # a declaration or function -> the hint of its only error
    "float f(float a) { if (a) return 1.0; return 2.0; }": "write 'x != 0'",
    "float f(vec2 a) { if (a) return 1.0; return 2.0; }": "",
    "float f(bool a, bool b) { if (a = 1) return 1.0; return 2.0; }": "write bool(...) to convert",
    "void f(int a) { while (a = 1) ; }": "did you mean '=='?",
    "void f(int a) { while (a += 1) ; }": "write 'x != 0'",
    "int a = 1.5;": "write int(...) to convert",
    "int a = true;": "write int(...) to convert",
    "ivec2 a = ivec3(1);": "choose components: .xy",
    "vec3 a = vec4(1);": "choose components: .xyz",
    "float a = vec4(1);": "choose components: .x",
    "vec4 a = vec3(1);": "",
    "vec2 a = ivec3(1);": "",
    "mat2 a = vec4(1);": "",
    "int f(ivec2 v) { return v[3]; }": "valid indices are 0 to 1",
    "int f(int v[5]) { return v[5]; }": "valid indices are 0 to 4",
    "float f(mat3x2 m) { return m[3].x; }": "valid indices are 0 to 2",
    "struct S { float one, two; }; float f(S s) { return s.two_; }": "did you mean 'two'?",
    "struct S { float one, two; }; float f(S s) { return s.x; }": "members: one, two",
    "struct S { int a, b, c, d, e, f, g, h, i; }; int f(S s) { return s.zzz; }":
        "members: a, b, c, d, e, f, g, h",
    "float f(vec2 v) { return v.xg; }": "a swizzle takes letters of one of xyzw, rgba, stpq",
    "float f(vec2 v) { return v.xm; }": "",
    "int f(int v[2]) { return v.length; }": "write length()",
    "int f(int v[2]) { return v.size(); }": "the only one is length()",
    "float f(float value) { return valeu; }": "did you mean 'value'?",
    "float f(float value) { return zzz; }": "",
    "float f(float a) { return squrt(a); }": "did you mean 'sqrt'?",
    "float f(float a) { return floaty(a); }": "did you mean 'float'?",
    "flaot a;": "did you mean 'float'?",
    "vec4 f() { return gl_FragCood; }": "did you mean 'gl_FragCoord'?",
    "layout(lcation = 1) in vec4 a;": "did you mean 'location'?",
    "float g(vec2 a) { return 1.0; } float f() { return g(1.0); }": "candidates: float g(vec2)",
    "float g(vec2 a) { return 1.0; } float g(float a, float b) { return 2.0; } "
    "float f() { return g(vec3(1), 1); }": "candidates: float g(float, float)",
    "float g(vec2 a) { return 1.0; } float g(vec3 a) { return 2.0; } "
    "float f() { return g(1.0, 1); }": "candidates: float g(vec2); float g(vec3)",
    "float g(mat2 a) { return 1.0; } float g(vec2 a) { return 1.0; } "
    "float g(vec3 a) { return 1.0; } float g(vec4 a) { return 1.0; } "
    "float g(mat3 a) { return 1.0; } float f() { return g(1.0); }":
        "candidates: float g(mat2); float g(vec2); float g(vec3); float g(vec4); and 1 more",
    "float g(vec2 a, mat2 b) { return 1.0; } float g(vec3 a, int b) { return 1.0; } "
    "float f() { return g(mat3(1.0), 1); }":
        "candidates: float g(vec3, int); float g(vec2, mat2)",
    "int64_t f() { return 1; }": "",
}  # fmt: skip


@pytest.mark.parametrize("source", HINTS)
def test_hints(source: str) -> None:
    errors = [d for d in told(source) if d.severity == "error"]
    assert [d.hint for d in errors[:1]] == [HINTS[source]], [str(d) for d in errors]
