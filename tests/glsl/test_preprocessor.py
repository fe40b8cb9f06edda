"""The preprocessor: what comes out of directives and macros."""

from __future__ import annotations

import math
import operator
import random
from itertools import product
from typing import Any

import pytest

from gallette.compiler.glsl.diagnostics import Log
from gallette.compiler.glsl.language import EXTENSIONS
from gallette.compiler.glsl.parse import preprocessor
from gallette.compiler.glsl.parse.keywords import classify
from gallette.compiler.glsl.parse.parser import parse
from gallette.compiler.glsl.parse.preprocessor import preprocess
from gallette.compiler.glsl.parse.settings import Settings


def tokens(text: str, **settings: object) -> str:
    log = Log()
    result = preprocess(text, "t", Settings(api="compat", **settings), log)  # type: ignore[arg-type]
    assert log.error_count == 0, log.text
    return " ".join(t[1] for t in result.tokens)


def messages(text: str) -> list[str]:
    log = Log()
    preprocess(text, "t", Settings(api="compat"), log)
    return [d.message for d in log.diagnostics if d.severity == "error"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#define A 1\nA B", "1 B"),
        ("#define F(x, y) x + y\nF(1, (2, 3))", "1 + ( 2 , 3 )"),
        ("#define F(x) x\nF\n(3)", "3"),
        ("#define F(x) x\nF;", "F ;"),
        ("#define A A B\nA", "A B"),
        ("#define A B\n#define B A\nA B", "A B"),
        ("#define F(x) x F(x)\nF(F(1))", "1 F ( 1 ) F ( 1 F ( 1 ) )"),
        ("#define CAT(a, b) a##b\nCAT(fo, o) CAT(1, 2)", "foo 12"),
        ("#define E(x) x##y\nE()", "y"),
        ("a /* b\nc */ d // e\nf", "a d f"),
        ("#define A 1 \\\n + 2\nA", "1 + 2"),
        ("__LINE__\n__LINE__", "1 2"),
        ("#line 41\n__LINE__", "42"),
        ("__FILE__", "0"),
        ("#line 41 7\n__FILE__", "7"),
        ("#line 41 7\n#line 3\n__FILE__", "7"),
        ("#version 330\n#line 41\n__LINE__", "41"),
        ("#version 130\n__VERSION__", "130"),
        ("__VERSION__", "110"),
        ("#if 1 + 2 * 3 == 7 && defined(X) || !defined Y\nyes\n#endif", "yes"),
        ("#if FOO\nno\n#else\nnothing is zero\n#endif", "nothing is zero"),
        ("#if FOO == 0 && !FOO && FOO + 1 && !-FOO && FOO\nno\n#endif", ""),
        ("#if FOO == 0 && !FOO && FOO + 1 && !-FOO\nyes\n#endif", "yes"),
        ("#if 0\nbad '@'\n#elif 1\nyes\n#elif 1\nno\n#else\nno\n#endif", "yes"),
        ("#ifdef GL_ARB_gpu_shader5\nyes\n#endif\n#ifndef Q\nno Q\n#endif", "yes no Q"),
        ("#if 0\n#if 1\na\n#else\nb\n#endif\nc\n#endif\nd", "d"),
        ("#if (7 / 2) == 3 && (-7 % 3) == -1 && (1 << 4 >> 2) == 4 && ~0 == -1\nok\n#endif", "ok"),
        ("#define f(x) (x)\n#define g f\ng(1)", "( 1 )"),
        ("#undef nothing\n#pragma optimize(on)\na", "a"),
    ],
)
def test_expansion(text: str, expected: str) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#if 1\n", "#if without #endif"),
        ("#endif", "#endif without #if"),
        ("#else", "#else without #if"),
        ("#if 1\n#else\n#else\n#endif", "#else after #else"),
        ("#define A 1\n#define A 2", "macro 'A' is already defined differently"),
        ("#define GL_foo", "macro names beginning with 'GL_' are reserved: 'GL_foo'"),
        ("#define __LINE__ 3", "'__LINE__' cannot be redefined"),
        ("#define F(a, a) a", "macro 'F' has two parameters 'a'"),
        ("#define F(a) a\nF(1, 2)", "macro 'F' takes 1 arguments, 2 given"),
        ("#define F(a) a\nF(1", "arguments of macro 'F' are not closed"),
        ("#error no luck", "#error no luck"),
        ("int a;\n#version 330", "#version must come first, before anything but comments"),
        (
            "int a;\n#extension all : warn",
            "#extension must come before everything but other directives",
        ),
        ("#version 331", "GLSL 3.31 is not supported"),
        ("#version 300", "GLSL 3.00 is not supported"),
        ("#version 330 full", "unexpected 'full' after #version"),
        ("#extension GL_ARB_nothing : require", "extension 'GL_ARB_nothing' is not supported"),
        ("#extension all : enable", "'all' cannot be used with 'enable'"),
        ("#if 1 / 0\n#endif", "division by zero in preprocessor expression"),
        ("#if (1\n#endif", "expected ')' in preprocessor expression"),
        ("#fi", "unknown directive '#fi'"),
        ("a $ b", "unexpected character '$'"),
        ("/* a", "comment is not closed"),
        ("#define CAT(a, b) a##b\nCAT(+, -)", "'##' does not make one token: '+-'"),
        ("#define CAT(a, b) a##b\nCAT($,)", "'##' does not make one token: '$'"),
    ],
)
def test_errors(text: str, expected: str) -> None:
    assert expected in messages(text)


def test_equal_redefinition_is_allowed() -> None:
    assert tokens("#define A 1 + 2\n#define A 1  +  2\nA") == "1 + 2"


def test_an_extension_macro_is_defined_only_where_supported() -> None:
    text = "#ifdef GL_ARB_gpu_shader5\nyes\n#else\nno\n#endif"
    assert tokens(text, extensions=frozenset({"ARB_gpu_shader5"})) == "yes"
    assert tokens(text, extensions=frozenset()) == "no"


@pytest.mark.parametrize(
    "version", ["110", "140", "330 core", "460 compatibility", "100", "310 es"]
)
def test_macros_are_those_of_the_version_whatever_stands_before_it(version: str) -> None:
    extensions = " ".join(f"GL_{name}" for name in EXTENSIONS)
    profiles = "GL_ES GL_core_profile GL_compatibility_profile GL_es_profile"
    text = f"#version {version}\n{extensions} {profiles} __VERSION__ GL_FRAGMENT_PRECISION_HIGH"
    alone = tokens(text)
    assert tokens("\n" + text) == tokens("// a comment\n" + text) == alone
    es = "es" in version or version == "100"
    assert ("GL_OES_texture_3D" not in alone) == es
    assert ("GL_ARB_gpu_shader5" not in alone) == (not es)
    assert alone.split()[-2] == version.split()[0]


def test_include_finds_named_strings() -> None:
    strings = {"/a": "one\n#include </b>\nthree", "/b": "two"}
    text = "#extension GL_ARB_shading_language_include : require\n#include </a>\nfour"
    assert tokens(text, include=lambda path, current: strings.get(path)) == "one two three four"


def test_only_quoted_paths_are_searched_beside_the_including_text() -> None:
    strings = {"/a": '#include "b"\n#include <b>\n', "b": "x"}
    asked = []

    def look(path: str, current: str) -> str | None:
        asked.append((path, current))
        return strings.get(path)

    text = '#extension GL_ARB_shading_language_include: require\n#include "/a"\n'
    assert tokens(text, include=look) == "x x"
    assert asked == [("/a", ""), ("b", "/a"), ("b", "")]


def test_exploding_macros_are_cut_off() -> None:
    text = "".join(f"#define M{i + 1} M{i} M{i}\n" for i in range(40)) + "M40"
    assert messages(text) == ["macro expansion produces too many tokens"]


def test_lines_between_directives_are_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A macro in the last of many lines does not make every line look for it again."""
    looked: list[int] = []
    plain_lines = preprocessor._Preprocessor.plain_lines

    def counting(self: Any, tokens: Any, start: int) -> Any:
        looked.append(start)
        return plain_lines(self, tokens, start)

    monkeypatch.setattr(preprocessor._Preprocessor, "plain_lines", counting)
    lines = ["#define LAST 7", *["int a;"] * 300, "#define FIRST 1", *["int b;"] * 300, "LAST"]
    assert tokens("\n".join(lines))[-1] == "7"
    assert len(looked) <= 4


HEADS = {
    "version": "#version 330\n",
    "extension": "#version 330\n#extension GL_ARB_gpu_shader5 : enable\n",
    "warning": "#version 330\n#extension GL_ARB_gpu_shader5 : warn\n",
    "macro": "#version 330\n#define x y\n",
    "condition": "#version 330\n#if 0\n#endif\n",
    "open condition": "#version 330\n#if 1\n",
    "line": "#version 330\n#line 20\n",
    "pragma": "#version 330\n#pragma STDGL invariant(all)\n",
    "unknown extension": "#version 330\n#extension GL_ARB_nothing : enable\n",
    "no version": "#define x y\n#undef x\n",
    "none": "",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("body", ["float x;", "float x; int a = __LINE__ + __VERSION__;", "$"])
def test_what_is_remembered_of_a_head_changes_nothing(head: str, body: str) -> None:
    """The same directives mean the same when they come again, whatever came in between."""

    def facts(text: str) -> tuple[object, ...]:
        log = Log()
        result = preprocess(text, "t", Settings(), log)
        lang = result.language
        return (
            result.tokens,
            result.pragmas,
            lang.key,
            lang.warned,
            lang.has("ARB_gpu_shader5"),
            [str(d) for d in log.diagnostics],
        )

    preprocessor._heads.clear()
    first = facts(head + body)
    changed = preprocess(head + body, "t", Settings(), Log()).language
    changed.enable("ARB_shader_clock")  # its own, and nobody else's
    changed.warned.add("ARB_shader_clock")
    assert facts(head + body) == first
    facts(head + "other y;")
    assert facts(head + body) == first


def test_a_head_means_what_is_on_offer() -> None:
    text = "#version 330\n#ifdef GL_ARB_gpu_shader5\n#define f 1\n#endif\nf"
    for offered, expected in ((None, "1"), (frozenset[str](), "f"), (None, "1")):
        settings = Settings(extensions=offered)
        assert preprocess(text, "t", settings, Log()).tokens[0][1] == expected


def test_extensions_are_offered_with_or_without_their_prefix() -> None:
    short, long = frozenset({"ARB_gpu_shader5"}), frozenset({"GL_ARB_gpu_shader5"})
    assert Settings(extensions=long) == Settings(extensions=short)
    assert Settings(extensions=Settings(extensions=long).extensions).extensions == short


@pytest.mark.parametrize(
    "line",
    [
        "    gl_Position = vec4(position, 1.0); // gl_Vertex",
        "\tx >>= 1u;\f\v y",
        "a = b / c /* b\n c */ * d; // e",
        "a // b /* c\n d",
        "a;\r\nb;\r\n",
        "",
        "// nothing but a comment",
    ],
)
def test_a_cached_line_has_the_same_tokens_at_their_new_places(line: str) -> None:
    """Pieces are remembered: what was read from one text stands elsewhere in the next."""
    text = f"first line\n{line}\n\n{line}\nlast"
    settings = Settings(api="compat")
    expected = None
    for lead in ("#version 130\n", "#version 130\n\n\n", "#version 130\n// ", "#version 130\n"):
        body = lead + text if lead[-1] == "\n" else f"{lead}{'.' * 30}\n{text}"
        result = preprocess(body, "t", settings, Log())
        for _, word, where in result.tokens:
            assert body[where : where + len(word)] == word
        kinds = [t[:2] for t in result.tokens]
        expected = expected or kinds
        assert kinds == expected


@pytest.mark.parametrize("line", ["a @ b", 'a "// b"', "a = __LINE__;", "GL_ES", "common x;"])
def test_a_line_that_is_not_plain_is_always_preprocessed(line: str) -> None:
    def read() -> tuple[list[str], list[str]]:
        log = Log()
        unit = preprocess(f"#version 140\nb;\n{line}\n", "t", Settings(api="core"), log)
        parse(unit.tokens, unit.language, log, unit.classified)
        return [t[1] for t in unit.tokens], [str(d) for d in log.diagnostics]

    assert read() == read()


def test_calls_of_macros_stand_in_arguments_a_hundred_deep() -> None:
    def nested(depth: int) -> str:
        return "#define F(x) x\n" + "F(" * depth + "1" + ")" * depth

    assert tokens(nested(100)) == "1"
    assert messages(nested(101)) == ["macro arguments are nested too deeply"]


# The operators of directives, those that bind least first.
LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
APPLIED: dict[str, Any] = {
    "||": lambda a, b: bool(a or b),
    "&&": lambda a, b: bool(a and b),
    "|": operator.or_,
    "^": operator.xor,
    "&": operator.and_,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: int(a / b),
    "%": math.fmod,
}


def by_hand(chain: list[Any]) -> int:
    """What operands with operators between are: those on either side of the last to apply."""
    if len(chain) == 1:
        return int(chain[0])
    for level in LEVELS:
        places = [k for k in range(1, len(chain), 2) if chain[k] in level.split()]
        if places:
            left, right = chain[: places[-1]], chain[places[-1] + 1 :]
            return int(APPLIED[chain[places[-1]]](by_hand(left), by_hand(right)))
    raise AssertionError(chain)


def test_operators_of_directives_bind_as_in_c() -> None:
    """Every operator before every other, and longer chains."""
    rng, every = random.Random(5), " ".join(LEVELS).split()
    rows = [*product(every, every)] * 8 + [tuple(rng.choices(every, k=4)) for _ in range(400)]
    text, count = "", 0
    for operators in rows:
        chain: list[Any] = [rng.randint(0, 6)]
        for op in operators:
            chain += [op, rng.randint(0, 6)]
        try:
            value = by_hand(chain)
        except (ZeroDivisionError, ValueError):  # by zero, and shifts to negative places
            continue
        if abs(value) < 1 << 31:
            shown = " ".join(map(str, chain))
            text += f"#if ({shown}) != ({value})\nwrong: {shown} is {value};\n#endif\n"
            count += 1
    assert tokens(text) == ""
    assert count > 2000


@pytest.mark.parametrize(
    "text",
    [
        "#define A A\nA b; C d",
        "#define vec2 vec2\nvec2 a = vec2(b)",
        "#define F(x) F(x) + y\nfloat F(z) w",
        "#define A B\n#define B A\nint A, B, C",
        "a b c",
    ],
)
def test_words_keep_their_places_whatever_stands_beside_them(text: str) -> None:
    log = Log()
    result = preprocess(text, "t", Settings(api="compat"), log)
    found = classify(result.tokens, result.language, log)
    assert [t[1:] for t in found] == [t[1:] for t in result.tokens]
    assert not {"painted", "reserved"} & {t[0] for t in found}
    assert log.error_count == 0


@pytest.mark.parametrize(
    ("text", "left", "said"),
    [
        ("a goto b", ["a", "goto", "b"], "'goto' is a reserved word in GLSL 1.10"),
        ("a # b", ["a", "b"], "unexpected '#'"),
        ("a ## b", ["a", "b"], "unexpected '##'"),
    ],
)
def test_what_has_no_place_in_a_text_is_one_error(text: str, left: list[str], said: str) -> None:
    log = Log()
    result = preprocess(text, "t", Settings(api="compat"), log)
    found = classify(result.tokens, result.language, log)
    assert [t[:2] for t in found] == [("id", word) for word in left]
    (told,) = log.diagnostics
    assert told.message == said
    assert told.span is not None and told.span.column == 3


@pytest.mark.parametrize(
    ("text", "told", "left"),
    [
        ("#ifdef A B\nx\n#else\ny\n#endif", ["1:10 extra text after #ifdef"], "y"),
        ("#ifndef A B\nx\n#endif", ["1:11 extra text after #ifndef"], "x"),
        ("#if 1\nx\n#endif A", ["3:8 extra text after #endif"], "x"),
        ("#if 0\nx\n#else A B\ny\n#endif", ["3:7 extra text after #else"], "y"),
    ],
)
def test_extra_text_is_a_warning_with_its_place(text: str, told: list[str], left: str) -> None:
    log = Log()
    result = preprocess(text, "t", Settings(api="compat"), log)
    found = [f"{d.span.line}:{d.span.column} {d.message}" for d in log.diagnostics]
    assert found == told and {d.severity for d in log.diagnostics} == {"warning"}
    assert " ".join(t[1] for t in result.tokens) == left


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#if\nx\n#endif", "#if without an expression"),
        ("#ifdef 3\nx\n#endif", "#ifdef needs a macro name"),
        ("#ifndef\nx\n#endif", "#ifndef needs a macro name"),
        ("#if 0\n#elif\nx\n#endif", "#if without an expression"),
        ("#endif", "#endif without #if"),
        ("#if 1\n#else\n#else\n#endif", "#else after #else"),
        ("#if 1\n#else\n#elif 1\n#endif", "#elif after #else"),
    ],
)
def test_conditions_that_cannot_be_are_skipped_as_if_false(text: str, message: str) -> None:
    """After twenty errors nobody reads on."""
    assert message in messages(text)
    log = Log()
    result = preprocess(text, "t", Settings(api="compat"), log)
    assert "x" not in [t[1] for t in result.tokens]
    if "#endif without" not in message and "after" not in message:
        many = messages("\n".join([text] * 30))
        assert 20 <= len(many) <= 22 and set(many[:20]) == {message}
