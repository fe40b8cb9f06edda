"""What a pixel's history says of each fragment: tests, masks, blending, what was written and why
nothing was. The words are as by hand from the state that is set.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gallette.capture import recording
from gallette.commands.pixel import _print_event as print_event
from gallette.history import History, PixelEvent, pixel_history
from gallette.history.places import is_attachment
from gallette.history.records import Stored
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.cases import Case, each
from tests.state_tracker.helpers import linked
from tests.state_tracker.negative_suite import value

Draw = Callable[[Any], None]
VERTICES = re.compile(r"(?<=\()vertices [^;)]*; |; weights[^)]*(?=\))")


def told(folder: Path, draw: Draw, x: int = 3, y: int = 4, **facts: Any) -> History:
    """The history of a pixel of a window of 8 x 8."""
    path = folder / "a.gcap"
    with recording(path):
        gl: Any = Context("numpipe", profile="compat", version=(4, 3), size=(8, 8), **facts)
        draw(gl)
        assert gl.get_error() == GL.NO_ERROR
        gl.release()
    return pixel_history(str(path), x, y)


def triangle(gl: Any, z: float = 0.0, order: str = "012", size: float = 3.0) -> None:
    corners = (-1.0, -1.0), (size, -1.0), (-1.0, size)
    gl.begin(GL.TRIANGLES)
    for i in order:
        gl.vertex3f(*corners[int(i)], z)
    gl.end()


def shader(gl: Any, text: str) -> None:
    """Use a fragment shader alone."""
    linked(gl, fragment="#version 330\n" + text)


def target(gl: Any, internal: int) -> None:
    """Draw to a texture."""
    texture, frame = gl.gen_textures(1)[0], gl.gen_framebuffers(1)[0]
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, internal, 8, 8)
    gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)


def performed(gl: Any, line: str) -> None:
    """Make the call of a line."""
    name, _, rest = line.partition(" ")
    if name == "shader":
        shader(gl, rest)
    elif name == "triangle":
        z, *more = rest.split()
        options = dict(word.split("=") for word in more)
        triangle(gl, float(z), options.get("order", "012"), float(options.get("size", 3)))
    elif name == "target":
        target(gl, GL.value_of(rest))
    else:
        getattr(gl, name)(*map(value, rest.split()))


def lines(event: PixelEvent) -> str:
    """What is printed of a draw, but which vertices it was."""
    out = io.StringIO()
    print_event(Console(file=out, width=300), event)
    text = " | ".join(line.strip() for line in out.getvalue().splitlines()[2:])
    return VERTICES.sub("", text) if event.touched else "nothing"


@each(Path(__file__).with_name("verdicts.txt"))
def test_verdicts(case: Case, tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        for line in case.source.splitlines():
            performed(gl, line)

    events = told(tmp_path, draw).events
    assert [lines(e) for e in events if e.call == "draw_vbo"] == list(case.answers)


def test_where_a_fragment_lies_in_its_triangle(tmp_path: Path) -> None:
    """Weights are barycentric: the corners lie at (0, 0), (8, 0) and (0, 8) pixels."""

    def draw(gl: Any) -> None:
        triangle(gl, size=1.0)
        gl.enable(GL.CULL_FACE)
        triangle(gl, order="021", size=1.0)

    drawn, culled = told(tmp_path, draw, 1, 2).events[-2:]
    (fragment,), (missing,) = drawn.fragments, culled.missing
    wanted = (1 - 1.5 / 8 - 2.5 / 8, 1.5 / 8, 2.5 / 8)
    found = dict(zip(fragment.vertices, fragment.weights, strict=True))
    assert [found[vertex] for vertex in (0, 1, 2)] == pytest.approx(wanted)
    assert sorted(missing.vertices) == [0, 1, 2]


def test_what_framebuffers_call_their_parts() -> None:
    names = "depth", "stencil", "colour 0", "colour 12", "colour", "destination", "image 0 colour 1"
    assert [is_attachment(name) for name in names] == [True] * 4 + [False] * 3


def test_final_contents_are_named_by_the_last_framebuffer() -> None:
    """What was drawn to a texture as colour 1 is colour 0 of a framebuffer that has it as such."""

    def held(value: float) -> Stored:
        return Stored(bytes([int(value)]), (value,))

    first = PixelEvent(1, "draw_vbo", "", {"colour 1": "A", "depth": "D"}, {},
                       {"colour 1": held(1), "depth": held(2), "stencil": held(3)})  # fmt: skip
    second = PixelEvent(2, "draw_vbo", "", {"colour 0": "A", "depth": "D"}, {},
                        {"colour 0": held(4)})  # fmt: skip
    blit = PixelEvent(3, "blit", "", {"destination": "A"}, {}, {"destination": held(5)})
    third = PixelEvent(4, "clear", "", {"colour 0": "A", "depth": "D"}, {},
                       {"depth": held(6), "stencil": held(7)})  # fmt: skip
    other = PixelEvent(5, "draw_vbo", "", {"colour 0": "B"}, {}, {"colour 0": held(8)})
    history = History("t", "d", 0, 0, [first, second], resource="A")
    assert history.final == {"colour 0": held(4)}
    history.events.append(blit)
    assert history.final == {"colour 0": held(5)}
    history.events += [third, other]
    assert history.final == {"depth": held(6), "stencil": held(7)}
    assert history.about("B") == [other]
    assert history.about("A") == [first, second, blit, third]
    assert [e.changed for e in history.events] == [True] * 5
    same = PixelEvent(6, "draw_vbo", "", {}, {"colour 0": held(1)}, {"colour 0": held(1)})
    assert not same.changed
    assert not same.touched
    same.call = "clear"
    assert same.touched
