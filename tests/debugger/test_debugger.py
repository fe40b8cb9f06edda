"""The shader debugger: real inputs, source lines, variables by name, neighbours, NaN."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.pixel_histories import check
from gallette.cli import main
from gallette.compiler.errors import GalletteError
from gallette.debugger import debug_fragment, debug_invocation, debug_vertex
from gallette.debugger.records import Line, Session, Step


@pytest.fixture(scope="module")
def target() -> str:
    return str(Path(__file__).with_name("steps.shader_test"))


@pytest.fixture(scope="module")
def session(target: str) -> Session:
    return debug_fragment(target, 200, 100)[0]


def test_a_fragment_has_the_drivers_values(session: Session) -> None:
    assert session.stage == "fragment"
    ours, theirs = session.outputs["data0"], session.driver_outputs["colour 0"]
    assert ours[0] == theirs[0]
    assert ours[1] == theirs[1]
    assert math.isnan(ours[2])
    assert math.isnan(theirs[2])


def test_steps_have_source_lines(session: Session) -> None:
    lines = {session.code[s.line].source for s in session.steps}
    number = {text.strip(): i for i, text in enumerate(session.source, 1)}
    assert number["float result = whole * 0.5;"] in lines
    assert number["float bad = log(zero - 1.0);"] in lines
    at = session.find_line(number["float bad = log(zero - 1.0);"])
    assert at is not None
    assert session.source[session.source_line(at) - 1].strip() == "float bad = log(zero - 1.0);"


def test_variables_are_watched_by_name(session: Session) -> None:
    last = session.watch(len(session.steps) - 1)
    y = last["place"].values[1]
    assert isinstance(y, float)
    assert last["bright"].values == [y * 0.5]
    assert last["result"].values == [y * 0.5]
    assert last["zero"].values == [0.0]
    assert "unused" not in last
    assert "unused" in session.variables
    assert "result" not in session.watch(0)


def test_the_first_nan_is_found(session: Session) -> None:
    at = session.find_nan()
    assert at is not None
    assert session.source[session.source_line(at) - 1].strip() == "float bad = log(zero - 1.0);"
    assert session.find_nan(len(session.steps)) is None


def _bits(value: float) -> list[list[int]]:
    return [[struct.unpack("<I", struct.pack("<f", value))[0]]]


def test_steps_are_found_from_the_first_to_the_last() -> None:
    """By source line, where it is come to from another, and by what is no finite number."""
    code = [Line("a", 0), Line("b", 3), Line("c", 4), Line("d", 0), Line("e", 3, "i"), Line("f", 3)]
    values = [1.0, math.inf, 2.0, -math.inf, math.nan, math.nan]
    steps = [Step(line, _bits(value), [True]) for line, value in enumerate(values)]
    steps += [Step(5, None, [True]), Step(5, _bits(math.nan), [False]), Step(2, _bits(1.0), [True])]
    steps.append(Step(0, _bits(math.nan), [True]))
    session = Session("", "fragment", [], code, steps)
    walks: dict[str, tuple[Callable[[int], int | None], list[int]]] = {
        "3": (lambda after: session.find_line(3, after), [1, 4]),
        "4": (lambda after: session.find_line(4, after), [2, 8]),
        "nan": (session.find_nan, [1, 3, 5, 9]),
    }
    for name, (find, wanted) in walks.items():
        found, at = [], find(-1)
        while at is not None:
            found.append(at)
            at = find(at)
        assert found == wanted, name
    assert [session.source_line(i) for i in range(10)] == [0, 3, 4, 4, 3, 3, 3, 3, 4, 4]
    assert session.find_nan() == session.find_line(3) == 1  # from before the first step
    last = Session("", "fragment", [], code, [steps[0], steps[1]])
    assert (last.find_nan(), last.find_line(3)) == (1, 1)
    empty = Session("", "fragment", [], code)
    assert (empty.find_nan(), empty.find_line(3)) == (None, None)


def test_a_variable_changes_where_its_line_is_come_to() -> None:
    """Or passed, if nothing is left of it; what waits for no line changes at once."""
    at_once, waits, passes = ("a", (0,), 0), ("b", (1,), 5), ("c", (0, -1), 6)
    code = [
        Line("", 3, names=(at_once,)),
        Line("", 3, names=(waits,)),
        Line("", 4, names=(passes, waits)),
        Line("", 4, "i", names=(("d", (0,), 4),)),
        Line("", 5),
        Line("", 7),
        Line("", 2, names=(("c", (0,), 7),)),
    ]
    steps = [Step(line, _bits(float(line)), [True]) for line in (0, 1, 2, 3, 4, 5, 6, 5)]
    steps[2].values = [[*_bits(2.0)[0], 77]]
    steps[3].values = [[7]]
    steps.insert(4, Step(0, _bits(9.0), [False]))  # another way: nothing changes here
    session = Session("", "fragment", [], code, steps)
    found = [
        {name: (one.values, one.assigned) for name, one in session.watch(at).items()}
        for at in range(len(steps))
    ]
    a, b, c = {"a": ([0.0], 0)}, {"b": ([None, 2.0], 5)}, {"c": ([2.0], 6)}
    d = {"d": ([7], 4)}
    after = [a, a, a, a | d, a | d, a | b | d, a | b | c | d, a | b | c | d]
    assert found == [*after, a | b | d | {"c": ([6.0], 7)}]


def test_neighbours_of_the_quad(session: Session) -> None:
    assert len(session.lanes) == 4
    at = next(i for i, s in enumerate(session.steps) if "fddx" in session.code[s.line].text)
    rows = [session.value(at, lane) for lane in range(4)]
    assert rows[0] == rows[1]
    assert rows[0] is not None
    assert rows[0][0] == pytest.approx(2 / 250, rel=1e-4)


def test_a_vertex(target: str) -> None:
    session = debug_vertex(target, 2)
    with pytest.raises(GalletteError, match=r"draw 1 of .* has no vertices"):
        debug_vertex(target, 2, draw=1)  # that is a clear
    assert session.stage == "vertex"
    position = session.watch(len(session.steps) - 1)["piglit_vertex"].values
    assert session.outputs["pos"] == position
    with pytest.raises(GalletteError, match="vertices 0 to"):
        debug_vertex(target, 100)


def test_a_compute_invocation() -> None:
    name = "piglit_subset/spec/arb_compute_shader/compute/shared-memory-reduction.shader_test"
    session = debug_invocation(str(Path(__file__).parents[2] / name), (1, 0, 0))
    assert session.stage == "compute"
    assert session.lane == 1
    assert len(session.lanes) > 1
    assert any(step.active[1] for step in session.steps)


def test_nothing_was_shaded_there(target: str) -> None:
    with pytest.raises(GalletteError, match="in draw 99"):
        debug_fragment(target, 5, 5, draw=99)


def test_the_command(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "session.json"
    script = "w bright; nan; b; vars; quad; nir; src; out; p nonsense; start; line 99; help; x; end"
    assert main(["debug", target, "200,100", "-c", script, "--json", str(out)]) == 0
    text = capsys.readouterr().out
    assert "float bad = log(zero - 1.0);" in text
    assert "unused: optimised out" in text
    assert "nonsense: no such variable" in text
    assert "nothing more is executed for line 99" in text
    assert "the next source line" in text
    assert "> end" not in text
    assert json.loads(out.read_text())["stage"] == "fragment"
    assert main(["debug", target]) == 2
    assert "needs X,Y, --vertex N or --invocation X,Y,Z" in capsys.readouterr().err


@pytest.mark.parametrize("scene", ["blur", "cutaway", "shadow_map", "textured_quads", "life"])
def test_histories_and_interpreter_agree_with_the_driver(scene: str) -> None:
    verdict = check(scene, 2, "tests", "numpipe")
    assert verdict.wrong_bytes == []
    assert verdict.wrong_values == []


def test_a_shader_whose_result_is_one_per_primitive_is_run_for_the_pixel_too() -> None:
    """The driver shades such triangles once; whoever asks still sees his own fragment."""
    session, history, pairs = debug_fragment("normals", 128, 96, keep=True)
    assert session.outputs["data0"] == session.driver_outputs["colour 0"]
    assert len(pairs) == 2
    drawn = [f for e in history.events for f in e.fragments]
    assert all("colour 0" in f.outputs for f in drawn)
