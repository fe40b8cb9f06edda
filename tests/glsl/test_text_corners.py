"""Rare texts: macros across their ends, versions and profiles, lines that are called otherwise."""

from __future__ import annotations

import pytest

from gallette.compiler.errors import Span
from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.glsl.diagnostics import Diagnostic, Log
from gallette.compiler.glsl.parse.preprocessor import preprocess
from gallette.compiler.glsl.parse.settings import Settings
from gallette.compiler.glsl.parse.source import SourceMap
from gallette.compiler.nir.ir import Stage


def words(text: str, api: str = "compat") -> list[str]:
    log = Log()
    result = preprocess(text, "t", Settings(api=api), log)
    assert log.error_count == 0, log.text
    return [t[1] for t in result.tokens]


EXPANSIONS = {
    # a call that begins in a macro and ends behind it
    "#define f(x) [x]\n#define g f(1\ng 2)": "[ 1 2 ]",
    "#define f(x, y) x-y\n#define g f(1,\n#define h g 2\nh + 3)": "1 - 2 + 3",
    "#define f(x) x\n#define g f\n#define h g (4\nh)": "4",
    "#define f(x) <x>\n#define n f\nn\n\n(2) n": "< 2 > f",
    "#define f(x) x\n#define n f\nn n": "f f",
    "#define f(x, y) x-y\n#define g f(1,\ng 2) g 3)": "1 - 2 1 - 3",
    "#define f(x) x\n#define g f\ng (1) g (2)": "1 2",
    "#define f(x, y) x-y\n#define g f(1,\n#define all g 2) g 3)\nall": "1 - 2 1 - 3",
    "#define f(x) x\n#define g f\n#define all g (1) g (2)\nall": "1 2",
    # no parameters, none given, empty ones
    "#define f() 7\nf() f( ) f": "7 7 f",
    "#define f(x) [x]\nf()": "[ ]",
    "#define f(x, y) [x|y]\nf(,) f(1,) f(,2)": "[ | ] [ 1 | ] [ | 2 ]",
    "#define f(x) [x]\nf((1, 2))": "[ ( 1 , 2 ) ]",
    # joined
    "#define j(a, b) a##b\nj(x, 1) j(, y) j(z, ) j(,)": "x1 y z",
    "#define j(a, b, c) a##b##c\nj(1, 2, 3) j(, , c)": "123 c",
    "#define one 1\n#define j(a) a##a a\nj(one)": "oneone 1",
    "#define j(a) +##=a\nx j(3)": "x += 3",
    # taken back and given again
    "#define a 1\n#undef a\n#define a 2\na": "2",
    "#define a\n#undef a\n#undef a\na": "a",
    "#define f(x) x\n#define f(x) x\nf(1)": "1",
}


@pytest.mark.parametrize("text", EXPANSIONS)
def test_expansions(text: str) -> None:
    assert " ".join(words(text)) == EXPANSIONS[text]


VERSIONS = {
    # what stands first -> (api, what is wrong with it)
    "#version 130 core": ("compat", "#version 130 has no profiles"),
    "#version 140 compatibility": ("compat", "#version 140 has no profiles"),
    "#version 150 core": ("compat", ""),
    "#version 150 compatibility": ("compat", ""),
    "#version 150 compatibility ": (
        "core",
        "the compatibility profile is not supported in this context",
    ),
    "#version 330": ("es", "GLSL 3.30 is not supported in an OpenGL ES context"),
    "#version 300 es": ("es", ""),
    "#version 100 es": ("es", "#version 100 takes no profile"),
    "#version 100": ("es", ""),
    "#version 300": ("core", "GLSL 3.00 is not supported"),
    "#version 331": ("core", "GLSL 3.31 is not supported"),
    "#version 330 es": ("es", "GLSL ES 3.30 is not supported"),
    "#version 330 core es": ("core", "unexpected 'es' after #version"),
    "#version 330 old": ("core", "unexpected 'old' after #version"),
    "#version 3.3": ("core", "#version needs a number"),
    "#version": ("core", "#version needs a number"),
    "#version old": ("core", "#version needs a number"),
    "#version __VERSION__": ("core", ""),
    "\n// first\n/* then\n*/ #version 330": ("core", ""),
    "float x;\n#version 330": ("core", "#version must come first, before anything but comments"),
    "#define x\n#version 330": ("core", "#version must come first, before anything but comments"),
    "#version 330\n#version 330": (
        "core",
        "#version must come first, before anything but comments",
    ),
}


@pytest.mark.parametrize("text", VERSIONS)
def test_versions(text: str) -> None:
    api, message = VERSIONS[text]
    log = Log()
    preprocess(text, "t", Settings(api=api), log)
    assert [d.message for d in log.diagnostics] == ([message] if message else [])


HINTS = {
    "#version 300": "for GLSL ES write '#version 300 es'",
    "#version 331": "supported: 110, 120, 130, 140, 150, 330",
    "#version 301 es": "supported: 100, 300",
}


@pytest.mark.parametrize("text", HINTS)
def test_versions_there_are(text: str) -> None:
    log = Log()
    preprocess(text, "t", Settings(api="core", version_limit=330, es_version_limit=300), log)
    assert [d.hint for d in log.diagnostics] == [HINTS[text]]


def test_an_extension_can_be_taken_back() -> None:
    name = "GL_ARB_gpu_shader5"
    head = "#version 330\n"
    for lines, has in (
        ([f"{name} : enable"], True),
        ([f"{name} : enable", f"{name} : disable"], False),
        ([f"{name} : disable"], False),
        ([f"{name} : enable", "all : disable"], False),
        ([f"{name} : enable", f"{name} : disable", f"{name} : require"], True),
        (["all : warn"], True),
    ):
        text = head + "".join(f"#extension {line}\n" for line in lines)
        log = Log()
        lang = preprocess(text, "t", Settings(api="core"), log).language
        assert (lang.has("ARB_gpu_shader5"), log.error_count) == (has, 0), lines


def places(text: str, *names: str) -> list[str]:
    """Where the errors of a shader are said to be."""
    found = compile_shader(Stage.FRAGMENT, text, CompileOptions(api="compat"), ("main", *names))
    return [str(d.span) for d in found.diagnostics if d.severity == "error"]


HEAD = "#version 330\n"
BAD = "int a{} = 1.5;\n"
LINES = {
    # text behind the version -> places of its errors
    BAD.format(0): ["main:2:10"],
    "#line 40\n" + BAD.format(0): ["main:40:10"],
    "#line 40\n\n" + BAD.format(0) + BAD.format(1): ["main:41:10", "main:42:10"],
    "#line 40 1\n" + BAD.format(0): ["other:40:10"],
    "#line 40 7\n" + BAD.format(0): ["7:40:10"],
    "#line 40 1\n#line 60\n" + BAD.format(0): ["other:60:10"],
    BAD.format(0) + "#line 40 1\n" + BAD.format(1) + "#line 9 0\n" + BAD.format(2): [
        "main:2:10",
        "other:40:10",
        "main:9:10",
    ],
    "#define n 12\n#line n + 3\n" + BAD.format(0): ["main:15:10"],
    "int a = \\\n 1.5;\n": ["main:3:2"],
    "#line 40\nint a = \\\n 1.5;\n": ["main:41:2"],
    "int b; \\\nint c; int a = 1.5;\n" + BAD.format(0): ["main:3:16", "main:4:10"],
}


@pytest.mark.parametrize("text", LINES)
def test_where_errors_are_said_to_be(text: str) -> None:
    assert places(HEAD + text, "other") == LINES[text]


def test_before_glsl_330_a_line_says_where_it_stands_itself() -> None:
    text = "#line 40\n" + BAD.format(0)
    assert places("#version 130\n" + text) == ["main:41:10"]
    assert places("#version 330\n" + text) == ["main:40:10"]


def test_a_map_of_no_text_has_one_place() -> None:
    sources = SourceMap()
    assert (sources.span(5, 9), sources.line_text(3), sources.text_line(3)) == (Span(1, 1), "", 0)
    base, text = sources.add("a", "one\ntwo three\n")
    assert (base, text) == (0, "one\ntwo three\n")
    assert [sources.text_line(i) for i in (0, 3, 4, 5, 13, 2)] == [1, 1, 2, 2, 2, 1]
    assert sources.span(4, 7) == Span(2, 1, 4, "a")
    assert sources.span(8, 99) == Span(2, 5, 10, "a")
    assert (sources.line_text(9), sources.line(9)) == ("two three", 2)
    base, _ = sources.add("b", "four\n")
    assert sources.span(base + 1, base + 2) == Span(1, 2, 3, "b")
    assert sources.text_line(base + 1) == 1
    assert not sources.has_overrides


def test_messages_without_a_place_are_their_text() -> None:
    assert str(Diagnostic("error", "no main")) == "error: no main"
    assert str(Diagnostic("warning", "odd", hint="do this")) == "warning: odd\n  do this"


def test_twenty_errors_of_directives_end_it() -> None:
    """Of each kind that goes on behind an error."""
    for line in (
        "#define GL_x 1\n",
        "#ifdef\n#endif\n",
        "#if 0\n#elif (\n#endif\n",
        "#if (\n#endif\n",
    ):
        log = Log()
        preprocess(HEAD + line * 40, "t", Settings(api="core"), log)
        assert log.error_count == 20, line
