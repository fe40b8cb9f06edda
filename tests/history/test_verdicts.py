"""What a pixel's history says of each fragment: tests, masks, blending, what was written and why
nothing was. The words are worked out by hand from the state that is set.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gallette.capture import recording
from gallette.history import Fragment, History, PixelEvent, pixel_history
from gallette.history.places import is_attachment
from gallette.history.records import Stored
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context

Draw = Callable[[Any], None]


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


def draws(history: History) -> list[PixelEvent]:
    return [e for e in history.events if e.call == "draw_vbo"]


def only(history: History) -> Fragment:
    (event,) = draws(history)
    (fragment,) = event.fragments
    return fragment


@pytest.mark.parametrize(
    ("func", "z", "passed"),
    [
        (GL.LESS, 0.0, True), (GL.LESS, 0.5, False), (GL.LEQUAL, 0.5, True), (GL.EQUAL, 0.5, True),
        (GL.EQUAL, 0.0, False), (GL.GREATER, 0.5, False), (GL.GREATER, 0.9, True),
        (GL.GEQUAL, 0.5, True), (GL.NOTEQUAL, 0.5, False), (GL.ALWAYS, 0.9, True),
        (GL.NEVER, 0.0, False),
    ],
)  # fmt: skip
def test_depths(func: int, z: float, passed: bool, tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.clear_depth(0.75)  # where z is 0.5
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        gl.enable(GL.DEPTH_TEST)
        gl.depth_func(func)
        triangle(gl, z)

    fragment = only(told(tmp_path, draw))
    (test,) = fragment.tests
    first, name, second = test.operands.split()
    assert (test.name, test.passed) == ("depth", passed)
    assert name == GL.name_of(func, "compare").removeprefix("GL_")
    assert (float(first), float(second)) == pytest.approx((0.5 + z / 2, 0.75), abs=1e-6)
    assert fragment.verdict == ("written" if passed else "depth test failed")
    assert fragment.depth == pytest.approx(0.5 + z / 2)
    assert fragment.before["depth"].value[0] == pytest.approx(0.75, abs=1e-6)
    held = 0.5 + z / 2 if passed else 0.75
    assert fragment.after["depth"].value[0] == pytest.approx(held, abs=1e-6)
    assert (fragment.before["colour 0"] != fragment.after["colour 0"]) == passed


def test_depths_are_clamped_before_they_are_compared(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.clear_depth(0.75)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        gl.enable(GL.DEPTH_TEST)
        gl.enable(GL.DEPTH_CLAMP)
        gl.depth_func(GL.GREATER)
        triangle(gl, 2.0)
        gl.depth_func(GL.LESS)
        triangle(gl, -2.0)

    first, second = (e.fragments[0] for e in draws(told(tmp_path, draw)))
    operands = [f.tests[0].operands.split() for f in (first, second)]
    assert [float(o[0]) for o in operands] == [1.0, 0.0]
    assert [f.verdict for f in (first, second)] == ["written", "written"]  # the depth at least


@pytest.mark.parametrize("front", [True, False])
def test_stencils_have_two_sides(front: bool, tmp_path: Path) -> None:
    """Reference and held value meet under the mask of the side that is seen."""

    def draw(gl: Any) -> None:
        gl.clear_stencil(0x5A)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        gl.enable(GL.STENCIL_TEST)
        gl.stencil_func_separate(GL.FRONT, GL.EQUAL, 0xFA, 0x0F)
        gl.stencil_func_separate(GL.BACK, GL.LESS, 0x73, 0xF0)
        triangle(gl, order="012" if front else "021")
        gl.stencil_func(GL.NOTEQUAL, 0x5A, 0xFF)
        triangle(gl)

    first, second = (e.fragments[0] for e in draws(told(tmp_path, draw)))
    assert first.front == front
    wanted = ("10 EQUAL 10 (mask 0x0f)", True) if front else ("112 LESS 80 (mask 0xf0)", False)
    assert [(t.name, t.operands, t.passed) for t in first.tests] == [("stencil", *wanted)]
    assert first.verdict == ("written" if front else "stencil test failed")
    assert second.tests[0].operands == "90 NOTEQUAL 90 (mask 0xff)"
    assert second.verdict == "stencil test failed"
    assert first.before["stencil"].value == (0x5A,)


def test_a_side_that_is_not_set_is_the_front(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.clear(GL.STENCIL_BUFFER_BIT)
        gl.enable(GL.STENCIL_TEST)
        gl.stencil_func(GL.GEQUAL, 3, 0xFF)
        triangle(gl, order="021")

    fragment = only(told(tmp_path, draw))
    assert not fragment.front
    assert fragment.tests[0].operands == "3 GEQUAL 0 (mask 0xff)"
    assert fragment.tests[0].passed


def test_masks(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.clear_color(0, 0, 0, 0)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        gl.color4f(1, 1, 1, 1)
        gl.color_mask(1, 0, 1, 0)
        triangle(gl)
        triangle(gl)
        gl.color_mask(0, 0, 0, 0)
        triangle(gl)  # does nothing at all
        gl.enable(GL.DEPTH_TEST)
        gl.depth_func(GL.LEQUAL)
        triangle(gl)
        triangle(gl)

    events = draws(told(tmp_path, draw))
    assert [len(e.fragments) for e in events] == [1, 1, 0, 1, 1]
    found = [e.fragments[0] for e in events if e.fragments]
    assert [f.verdict for f in found] == [
        "written", "written, and the same as before", "written",  # of the third the depth
        "passed; no colour is written (masks)",
    ]  # fmt: skip
    assert [f.blend for f in found] == [
        "colour 0: replaces RB", "colour 0: replaces RB", "colour 0: replaces nothing",
        "colour 0: replaces nothing",
    ]  # fmt: skip
    assert found[0].after["colour 0"].value == (1, 0, 1, 0)
    assert found[0].outputs == {"colour": (1, 1, 1, 1)}


def test_blending(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.clear_color(0.2, 0.2, 0.2, 0.2)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.enable(GL.BLEND)
        gl.blend_func_separate(GL.DST_COLOR, GL.ONE_MINUS_SRC_ALPHA, GL.ONE, GL.ZERO)
        gl.blend_equation_separate(GL.FUNC_REVERSE_SUBTRACT, GL.FUNC_ADD)
        gl.color_mask(1, 1, 0, 1)
        gl.color4f(0.5, 0.5, 0.5, 1)
        triangle(gl)

    fragment = only(told(tmp_path, draw))
    assert fragment.blend == (
        "colour 0: source x DST_COLOR REVERSE_SUBTRACT destination x INV_SRC_ALPHA, writes RGA"
    )


@pytest.mark.parametrize(
    ("face", "order", "reason"),
    [
        (GL.BACK, "012", ""), (GL.BACK, "021", "culled: a back face"),
        (GL.FRONT, "012", "culled: a front face"), (GL.FRONT, "021", ""),
        (GL.FRONT_AND_BACK, "012", "culled: a front face"),
        (GL.FRONT_AND_BACK, "021", "culled: a back face"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("turned", [False, True])
def test_culling(face: int, order: str, reason: str, turned: bool, tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.enable(GL.CULL_FACE)
        gl.cull_face(face)
        gl.front_face(GL.CW if turned else GL.CCW)
        triangle(gl, order=order if not turned else order[::-1])

    (event,) = draws(told(tmp_path, draw))
    assert [m.verdict for m in event.missing] == [reason] * bool(reason)
    assert len(event.fragments) == (not reason)
    if reason:
        assert sorted(event.missing[0].vertices) == [0, 1, 2]


def test_scissors_and_planes(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.enable(GL.SCISSOR_TEST)
        for box in ((0, 0, 3, 8), (0, 0, 8, 4), (4, 0, 8, 8), (0, 5, 8, 8), (3, 4, 1, 1)):
            gl.scissor(*box)
            triangle(gl)
        gl.disable(GL.SCISSOR_TEST)
        triangle(gl, 1.5)
        triangle(gl, -1.5)
        triangle(gl, 0.5, size=-0.5)  # is elsewhere

    events = draws(told(tmp_path, draw))
    reasons = [[m.verdict for m in e.missing] for e in events]
    outside = ["outside the scissor rectangle"]
    clipped = ["clipped: outside the near or far plane"]
    assert reasons == [outside, outside, outside, outside, [], clipped, clipped, []]
    assert [len(e.fragments) for e in events] == [0, 0, 0, 0, 1, 0, 0, 0]


def test_where_a_fragment_lies_in_its_triangle(tmp_path: Path) -> None:
    """Weights are barycentric: the corners lie at (0, 0), (8, 0) and (0, 8) pixels."""
    fragment = only(told(tmp_path, lambda gl: triangle(gl, size=1.0), 1, 2))
    wanted = (1 - 1.5 / 8 - 2.5 / 8, 1.5 / 8, 2.5 / 8)
    found = dict(zip(fragment.vertices, fragment.weights, strict=True))
    assert [found[vertex] for vertex in (0, 1, 2)] == pytest.approx(wanted)

    def point(gl: Any) -> None:
        gl.begin(GL.POINTS)
        gl.vertex2f(-1 + 2 * 3.5 / 8, -1 + 2 * 4.5 / 8)
        gl.end()

    assert only(told(tmp_path, point)).weights == ()


@pytest.mark.parametrize(
    ("internal", "type", "values"),
    [(GL.RGBA32I, "ivec4", (-3, 4, 5, -6)), (GL.RGBA32UI, "uvec4", (3, 4, 5, 4000000000))],
)
def test_integers_are_shown_as_integers(
    internal: int, type: str, values: tuple[int, ...], tmp_path: Path
) -> None:
    spelled = ", ".join(f"{v}u" if type == "uvec4" else str(v) for v in values)

    def draw(gl: Any) -> None:
        text = f"#version 330\nout {type} c;\nvoid main() {{ c = {type}({spelled}); }}\n"
        shader = gl.create_shader(GL.FRAGMENT_SHADER)
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        made = gl.create_program()
        gl.attach_shader(made, shader)
        gl.link_program(made)
        texture, frame = gl.gen_textures(1)[0], gl.gen_framebuffers(1)[0]
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, internal, 8, 8)
        gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
        gl.use_program(made)
        triangle(gl)

    fragment = only(told(tmp_path, draw))
    (output,) = fragment.outputs.values()
    assert output == values
    assert fragment.after["colour 0"].value == values
    assert fragment.verdict == "written"


def test_a_shader_may_say_the_depth(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        text = "#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0); gl_FragDepth = 0.125; }\n"
        shader = gl.create_shader(GL.FRAGMENT_SHADER)
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        made = gl.create_program()
        gl.attach_shader(made, shader)
        gl.link_program(made)
        gl.use_program(made)
        gl.clear(GL.DEPTH_BUFFER_BIT)
        gl.enable(GL.DEPTH_TEST)
        triangle(gl, 0.5)

    fragment = only(told(tmp_path, draw))
    assert fragment.depth == 0.125
    assert fragment.outputs["depth"] == (0.125,)
    assert fragment.after["depth"].value[0] == pytest.approx(0.125, abs=1e-6)


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
