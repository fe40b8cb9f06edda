"""What the debugger's interpreter is given is what the driver had: it computes the same results.

Small shaders, each of which asks for something else (varyings at all places, textures of all kinds,
images, system values, attributes), are run by the driver and again by the interpreter, from inside
the pixel and from its neighbours.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from gallette.compiler.errors import GalletteError
from gallette.debugger import debug_fragment, debug_invocation, debug_vertex
from gallette.debugger.records import Session
from gallette.debugger.terminal import HELP, Stepper
from tests.cases import Case, each, sections

FILE = Path(__file__).with_name("inputs.txt")
HEAD, DECLARED, TAIL, VERTICES, COMPUTE = (
    f"{sections(FILE)[name].template}\n"
    for name in ("head", "declared", "tail", "vertices", "compute")
)


def written(folder: Path, body: str, tail: str = TAIL, head: str = HEAD) -> str:
    """A file with a test; uniforms that the body does not name are not set."""
    lines = [
        line
        for line in tail.splitlines()
        if not line.startswith("uniform int") or re.search(rf"\b{line.split()[2]}\b", body)
    ]
    path = folder / "a.shader_test"
    if "both" in body:
        lines[-3:-3] = ["uniform int both[0] 0", "uniform int both[1] 1"]
    path.write_text(f"{head}{DECLARED}void main() {{ {body} }}\n" + "\n".join(lines) + "\n")
    return str(path)


@each(FILE, "fragments")
def test_the_interpreter_computes_what_the_driver_did(case: Case, tmp_path: Path) -> None:
    target = written(tmp_path, case.text)
    for x, y in ((3, 4), (4, 2)):
        session, history = debug_fragment(target, x, y)[:2]
        assert session.note == ""
        assert session.driver_outputs["colour 0"]
        theirs = session.driver_outputs["colour 0"]
        assert session.outputs["data0"] == pytest.approx(theirs, rel=2e-6, abs=1e-6), (x, y)
        assert len(history.events) >= 1
    wanted = [] if "driver" in case.answer else case.numbers
    assert session.outputs["data0"][: len(wanted)] == wanted


def test_where_nothing_is_written(tmp_path: Path) -> None:
    target = written(tmp_path, "if (gl_FragCoord.x < 4.0) discard; color = vec4(0.5);")
    assert debug_fragment(target, 3, 3)[0].note == "discarded"
    session = debug_fragment(target, 4, 3)[0]
    assert session.note == ""
    assert session.outputs["data0"] == [0.5] * 4


def test_stores_of_an_invocation_are_listed(tmp_path: Path) -> None:
    body = """
    ivec2 at = ivec2(gl_FragCoord.xy);
    imageStore(store, at, uvec4(1u, 2u, 3u, 4u));
    uvec4 again = imageLoad(store, at);
    uvec4 other = imageLoad(store, ivec2(0, 7));
    words[5] = 0.25 * float(at.x);
    color = vec4(again) + vec4(other) * 8.0;
    """
    session = debug_fragment(written(tmp_path, body), 4, 3)[0]
    assert session.stores == ["image 0 (4, 3) = (1, 2, 3, 4)", "buffer 0, byte 20 = 1"]
    assert session.outputs["data0"] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("kind", "format", "values"),
    [("ivec4", "GL_RGBA32I", [-3, 4, 5, -6]), ("uvec4", "GL_RGBA32UI", [3, 4, 5, 1 << 31])],
)
def test_integers_are_shown_as_integers(
    kind: str, format: str, values: Sequence[int], tmp_path: Path
) -> None:
    head = HEAD.replace("out vec4 color;", f"out {kind} color;")
    spelled = ", ".join(f"{v}u" if kind == "uvec4" else str(v) for v in values)
    tail = f"""[test]
texture storage 0 2D {format} (1 8 8)
fb tex 2d 0
draw rect -1 -1 2 2
"""
    target = written(tmp_path, f"color = {kind}({spelled});", tail, head)
    session = debug_fragment(target, 4, 3)[0]
    assert session.outputs["data0"] == values
    assert session.driver_outputs["colour 0"] == values


@pytest.mark.parametrize(("vertex", "instance"), [(0, 0), (1, 1), (2, 0)])
def test_a_vertex_has_its_attributes(vertex: int, instance: int, tmp_path: Path) -> None:
    path = tmp_path / "a.shader_test"
    path.write_text(VERTICES)
    session = debug_vertex(str(path), vertex, instance=instance)
    rows = [
        ([-1, -1], [-7, 8, 4000000000 - (1 << 32), 0], [0.1, 0.2]),
        ([1, -1], [-5, 6, 2, 0], [0.3, 0.4]),
        ([-1, 1], [-3, 4, 3, 0], [0.5, 0.6]),
    ]
    corner, numbers, wide = rows[vertex]
    assert session.outputs["pos"] == [corner[0] / 2, corner[1] / 2, 0, 1]
    assert session.outputs["var0"] == pytest.approx([*wide, vertex, instance])
    assert session.outputs["var1"] == numbers
    known = session.watch(len(session.steps) - 1)
    assert known["corner"].values == corner
    assert known["scale"].values == [0.5]
    assert session.lane == 0


def test_a_compute_invocation_has_its_numbers_and_neighbours(tmp_path: Path) -> None:
    path = tmp_path / "a.shader_test"
    path.write_text(COMPUTE)
    session = debug_invocation(str(path), (3, 1, 0))
    assert session.lane == 3
    assert session.lanes == [f"invocation {i}" for i in range(4)]
    assert "whole" in session.variables
    assert session.source[0] == "#version 430"
    for place in ((4, 0, 0), (0, 4, 0), (0, 0, 1), (-1, 0, 0)):
        with pytest.raises(GalletteError, match="the launch has no invocation"):
            debug_invocation(str(path), place)
    assert session.stores == [
        "buffer 0, byte 4: atomic imax -3",
        "buffer 0, byte 8: atomic compare with 5, swap with 6",
        "counters of binding 0, byte 4: atomic iadd 1",
        "image 0 (3, 1) = (1, 1, 2, 2)",
        "buffer 0, byte 0 = 6",
    ]
    assert session.watch(len(session.steps) - 1)["whole"].values == [6]
    assert debug_invocation(str(path), (0, 3, 0)).lane == 2


# -- the terminal ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Session:
    body = """
    float x = smooth_one.x;
    float y = x * 2.0;
    if (y > 100.0)
        y = 1.0;
    color = vec4(y, x, log(-1.0 - x * x), 1.0);
    """
    return debug_fragment(written(tmp_path_factory.mktemp("walked"), body), 4, 3)[0]


def said(session: Session, *lines: str, echo: bool = False) -> tuple[Stepper, list[str]]:
    out = io.StringIO()
    stepper = Stepper(session, Console(file=out, width=200, color_system=None))
    stepper.run(lines, echo=echo)
    return stepper, out.getvalue().splitlines()


def test_one_walks_there_and_back(walked: Session) -> None:
    last = len(walked.steps) - 1
    shader = sum(not walked.code[step.line].section for step in walked.steps) - 1
    for commands, at in {
        "": 1, "n": 1, "s": 1, "n 3": 3, "s 2;n": 3, "n 3;b": 2, "n 3;b 2": 1, "b": 0, "b 9": 0,
        "c": shader, "end": shader, "n 9999": last, "c;start": 0, "end;n": shader + 1,
        "end;end": last, "o": shader + 1, "o;o": shader + 1, "o;end;n": last,
        "nan": walked.find_nan(-1), "n;x;n 5": 1, "n;exit;n": 1, "n;quit;n": 1,
    }.items():  # fmt: skip
        assert said(walked, commands)[0].at == at, commands
    lines = [walked.source_line(i) for i in range(last + 1)]
    first = next(i for i, line in enumerate(lines) if line != lines[0])
    assert said(walked, "l")[0].at == first
    assert said(walked, "line")[0].at == first
    number = lines[first]
    for command in (f"l {number}", f"line {number}", str(number)):
        assert said(walked, command)[0].at == walked.find_line(number, 0)
    assert said(walked, "c;l")[1][-1] == "nothing further"
    assert said(walked, "c;c;nan")[1][-1] == "every result from here on is a finite number"
    assert said(walked, "l 999")[1][-1] == "nothing more is executed for line 999"
    assert said(walked, "-3")[0].at == first  # no line's number: the next one


def test_commands_can_be_echoed_before_their_output(walked: Session) -> None:
    plain = said(walked, "p x; out")[1]
    echoed = said(walked, "p x; out", echo=True)[1]
    assert [line for line in echoed if not line.startswith("> ")] == plain
    assert [line for line in echoed if line.startswith("> ")] == ["> p x", "> out"]


def test_surroundings_are_shown(walked: Session) -> None:
    at = walked.find_nan(-1)
    assert at is not None
    line = walked.source_line(at)
    numbers = range(max(1, line - 4), min(line + 4, len(walked.source)) + 1)
    assert said(walked, f"n {at}", "src")[1][-len(numbers) :] == [
        f"    {'>' if n == line else ' '}{n:>4}  {walked.source[n - 1]}" for n in numbers
    ]
    code = said(walked, f"n {at}", "nir")[1]
    here = walked.steps[at].line
    marked = [text for text in code if text.startswith("    > ")]
    assert marked == [f"    > {walked.code[here].text}"]
    around = [walked.code[n].text for n in range(max(here - 5, 0), min(here + 6, len(walked.code)))]
    assert [text[6:] for text in code[-len(around) :]] == around
    quads = said(walked, "quad")[1][-4:]
    assert [text[5] for text in quads].count("*") == 1
    helped = [*HELP.splitlines(), ""]
    assert said(walked, "?")[1][-len(helped) :] == helped
    unknown = said(walked, "jump", "q", "nir")[1]  # nothing is obeyed after quitting
    assert unknown[-len(helped) - 1 :] == ["there is no command 'jump'", *helped]


def test_an_empty_shader_has_nothing_to_show() -> None:
    stepper, lines = said(Session("", "fragment", []))
    stepper.show()
    assert lines[-1:] == ["the shader executes nothing"]


def test_watched_variables_are_shown_at_every_step(walked: Session) -> None:
    lines = said(walked, "w x,y", "w x", "end")[1]
    assert [text.split(" ")[7].strip(":") for text in lines[-2:]] == ["x", "y"]
    value = walked.watch(len(walked.steps) - 1)["x"]
    assert f"(line {value.assigned})" in lines[-2]
    assert said(walked, "p y,x")[1][-2:] == [
        "       y: not assigned yet",
        "       x: not assigned yet",
    ]
