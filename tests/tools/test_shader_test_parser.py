"""Reading shader_test files: sections, positions of errors, number notations."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path

import pytest

from gallette.compiler.errors import InputError
from gallette.piglit_subset import commands
from gallette.piglit_subset.commands import state
from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.requirements import context_needs
from gallette.piglit_subset.shader_test import parse_text
from gallette.piglit_subset.text import Line, parse_double, parse_float, parse_integer
from gallette.piglit_subset.vertices import parse_vertex_data
from tests.cases import sections


def parse(text: str):
    return parse_text(textwrap.dedent(text), "t.shader_test")


def line(text: str) -> Line:
    return Line(7, text, "t.shader_test")


def test_sections_are_split_and_shaders_keep_their_line_numbers() -> None:
    test = parse(
        """\
        prose about the test

        [require]
        GLSL >= 1.30   # at least
        [vertex shader passthrough]
        [fragment shader]
        void main() {}
        [test]

        # a comment
        clear
        """
    )
    assert [s.stage for s in test.shaders] == ["VERTEX_SHADER", "FRAGMENT_SHADER"]
    assert test.shaders[1].text == "void main() {}\n"
    assert test.shaders[1].line == 7
    assert [c.text for c in test.commands] == ["clear"]
    assert test.commands[0].number == 11
    assert test.require[0].text == "GLSL >= 1.30"


def test_an_unknown_section_is_an_error_with_a_caret() -> None:
    with pytest.raises(InputError) as error:
        parse("[fragment shadow]\n")
    assert str(error.value) == (
        "t.shader_test:1:1: error: unknown section [fragment shadow]\n"
        "  [fragment shadow]\n"
        "  ^~~~~~~~~~~~~~~~~"
    )


def test_a_section_head_needs_its_bracket() -> None:
    with pytest.raises(InputError, match=r"t.shader_test:1:1: error: a section head needs"):
        parse("[test\n")


def test_a_file_without_sections_is_refused() -> None:
    with pytest.raises(InputError, match=r"no \[section\] in the file"):
        parse("clear\n")


def test_c_comments_in_line_sections_are_skipped() -> None:
    test = parse("[require]\n/* two\n lines */\n// one\nGLSL >= 1.10\n[test]\n")
    assert [r.text for r in test.require] == ["GLSL >= 1.10"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12), ("-3", -3), ("0x1F", 31), ("010", 8), ("0", 0), ("7u", 7), ("0xffu", 255)],
)
def test_integers_follow_c(text: str, value: int) -> None:
    assert parse_integer(text) == value


@pytest.mark.parametrize("text", ["1_0", "x", "", "1.5", "0x"])
def test_other_integers_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_integer(text)


def test_floats_may_be_given_by_their_bits() -> None:
    assert parse_float("0x3fc00000") == 1.5
    assert parse_double("0x3ff8000000000000") == 1.5
    assert math.isnan(parse_float("0x7fc00000"))
    assert parse_float("-inf") == -math.inf


def test_words_drop_grouping_and_point_at_what_is_wrong() -> None:
    handler, words = commands.lookup(line("probe rect rgba (0, 0, 4, x) (1, 1, 1, 1)"))
    assert handler is commands.COMMANDS["probe", "rect", "rgba"]
    assert words.numbers(3) == [0, 0, 4]
    with pytest.raises(InputError) as error:
        words.number("a coordinate")
    assert str(error.value) == (
        "t.shader_test:7:27: error: expected a coordinate, not 'x'\n"
        "  probe rect rgba (0, 0, 4, x) (1, 1, 1, 1)\n"
        "                            ^"
    )


def test_an_unknown_command_is_malformed_and_unsupported_ones_skip() -> None:
    with pytest.raises(InputError, match=r"t.shader_test:7:1: error: unknown command\n"):
        commands.lookup(line("frobnicate 1 2"))


def test_every_command_documents_its_usage() -> None:
    for head, handler in commands.COMMANDS.items():
        if handler.__name__ != "refuse":
            assert handler.__doc__, head


@pytest.mark.parametrize(
    ("require", "profile", "version"),
    [
        ("GLSL >= 1.10", "compat", (2, 0)),
        ("GLSL >= 1.30", "compat", (3, 0)),
        ("GLSL >= 1.40", "core", (3, 1)),
        ("GLSL >= 3.30", "core", (3, 3)),
        ("GL >= 3.2\nGLSL >= 1.50", "core", (3, 2)),
        ("GL COMPAT >= 3.2\nGLSL >= 1.50", "compat", (3, 2)),
        ("GL ES >= 3.0\nGLSL ES >= 3.00", "es", (3, 0)),
        ("GLSL ES >= 1.00", "es", (2, 0)),
        ("", "compat", (2, 0)),
    ],
)
def test_requirements_choose_the_context(
    require: str, profile: str, version: tuple[int, int]
) -> None:
    needs = context_needs(parse_text(f"[require]\n{require}\n[test]\n"))
    assert (needs.profile, needs.version) == (profile, version)


def test_a_bad_version_is_an_error_at_its_place() -> None:
    with pytest.raises(InputError, match=r":2:9: error: expected a version such as 3.30"):
        context_needs(parse("[require]\nGLSL >= new\n[test]\n"))


def test_vertex_data_becomes_records() -> None:
    lines = [line(t) for t in ("vertex/float/2 i/ubyte/uint m/float/mat2x3/1", "1 -1 200 1 2 3")]
    columns, rows = parse_vertex_data(lines)
    assert [(c.name, c.count, c.fetch, c.matrix_column) for c in columns] == [
        ("vertex", 2, "float", 0),
        ("i", 1, "int", 0),
        ("m", 3, "float", 1),
    ]
    assert rows["c0"].tolist() == [[1.0, -1.0]]
    assert rows["c1"].tolist() == [[200]]


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("vertex/float", "a column is name/type/count"),
        ("vertex/quad/2", "unknown data type 'quad'"),
        ("vertex/float/5", "1 to 4 components"),
        ("vertex/float/vec9", "unknown GLSL type 'vec9'"),
    ],
)
def test_bad_columns_are_explained(head: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_vertex_data([line(head)])


def test_a_short_row_is_an_error() -> None:
    with pytest.raises(InputError, match="a row has 2 numbers, this one 1"):
        parse_vertex_data([line("vertex/float/2"), line("1.0")])


STATE = sections(Path(__file__).with_name("command_lines.txt"))["state"].cases


def test_commands_of_state_take_so_many_words_and_no_more() -> None:
    head = "[require]\nGLSL >= 1.20\nSIZE 8 8\n[vertex shader passthrough]\n[test]\n"
    result = run_test(
        parse_text("\n".join([head, *(case.text for case in STATE), ""]), "t.shader_test"),
        "numpipe",
    )
    assert (result.result, result.messages) == ("pass", [])
    for text in (case.text for case in STATE):
        result = run_test(parse_text(f"{head}{text} 7\n", "t.shader_test"), "numpipe")
        assert result.result == "fail", text
        assert "unexpected '7' after the command" in result.reason


def test_there_is_a_line_for_each_command_of_state() -> None:
    tried = {commands.lookup(line(case.text))[0] for case in STATE}
    table = commands.COMMANDS
    heads = [heads.split(", ")[0] for heads, *_ in state.CALLS]
    heads += [f"clear {value}" for value in ("color", "depth", "stencil")]
    rows = {table[tuple(head.split())] for head in heads}
    assert tried == rows | {f for f in table.values() if f.__module__ == state.__name__}
