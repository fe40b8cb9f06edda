"""The preprocessor: what comes out of directives and macros."""

from __future__ import annotations

import math
import operator
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.errors import Span
from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.glsl.diagnostics import Diagnostic, Log
from gallette.compiler.glsl.language import EXTENSIONS
from gallette.compiler.glsl.parse import preprocessor
from gallette.compiler.glsl.parse.keywords import classify
from gallette.compiler.glsl.parse.parser import parse
from gallette.compiler.glsl.parse.preprocessor import preprocess
from gallette.compiler.glsl.parse.settings import Settings
from gallette.compiler.glsl.parse.source import SourceMap
from gallette.compiler.nir.ir import Stage
from tests.cases import Case, each

FILE = Path(__file__).with_name("preprocessor.txt")


def read(text: str, **settings: Any) -> tuple[Any, Log]:
    log = Log()
    return preprocess(text, "t", Settings(**{"api": "compat"} | settings), log), log


def tokens(text: str, **settings: Any) -> str:
    result, log = read(text, **settings)
    assert log.error_count == 0, log.text
    return " ".join(t[1] for t in result.tokens)


def messages(text: str) -> list[str]:
    return [d.message for d in read(text)[1].diagnostics if d.severity == "error"]


@each(FILE, "tokens")
def test_tokens(case: Case) -> None:
    assert tokens(case.source) == case.answer


@each(FILE, "errors")
def test_errors(case: Case) -> None:
    assert case.answer in messages(case.source)


@each(FILE, "versions_compat", "versions_core", "versions_es")
def test_versions(case: Case) -> None:
    log = read(case.source, api=case.options["api"])[1]
    assert [d.message for d in log.diagnostics] == list(filter(None, case.answers))


@each(FILE, "version_hints")
def test_hints_for_versions(case: Case) -> None:
    log = read(case.source, api="core", version_limit=330, es_version_limit=300)[1]
    assert [d.hint for d in log.diagnostics] == [case.answer]


def places(text: str) -> str:
    """Where the errors of a shader of two sources are said to be."""
    options = CompileOptions(api="compat")
    found = compile_shader(Stage.FRAGMENT, text, options, ("main", "other")).diagnostics
    return " ".join(str(d.span) for d in found if d.severity == "error")


@each(FILE, "places")
def test_places_of_errors(case: Case) -> None:
    assert places(case.source) == case.answer


@each(FILE, "misplaced_words")
def test_what_has_no_place_in_a_text_is_one_error(case: Case) -> None:
    result, log = read(case.source)
    found = classify(result.tokens, result.language, log)
    assert [t[:2] for t in found] == [("id", word) for word in case.answers[0].split()]
    (told,) = log.diagnostics
    assert told.message == case.answers[1]
    assert told.span is not None and told.span.column == 3


@each(FILE, "conditions_that_cannot_be")
def test_conditions_that_cannot_be_are_skipped_as_if_false(case: Case) -> None:
    """After twenty errors the rest of the text is not read."""
    assert case.answer in messages(case.source)
    assert "x" not in [t[1] for t in read(case.source)[0].tokens]
    if "#endif without" not in case.answer and "after" not in case.answer:
        many = messages("\n".join([case.source] * 30))
        assert 20 <= len(many) <= 22 and set(many[:20]) == {case.answer}


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


def test_before_glsl_330_a_line_says_where_it_stands_itself() -> None:
    text = "#line 40\n" + "int a = 1.5;\n"
    assert places("#version 130\n" + text) == "main:41:9"
    assert places("#version 330\n" + text) == "main:40:9"


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
        preprocess("#version 330\n" + line * 40, "t", Settings(api="core"), log)
        assert log.error_count == 20, line
