"""Pixel histories: they end with the framebuffer's bytes, change nothing, and say why."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import gallette
from gallette.commands.pixel import print_history
from gallette.history import Fragment, History, PixelEvent, pixel_history, records
from gallette.piglit_subset.suite import BUNDLED, find_tests
from gallette.scenes import SCENES

moderngl = pytest.importorskip("moderngl")

PLAIN = ("lit_mesh", "transparency", "depth_prepass", "instances", "textured_quads", "gradient")


def last_picture(name: str) -> Any:
    """What the scene's last framebuffer holds when nobody watches, as [y, x, rgba] bytes."""
    window: Any = gallette.moderngl_context("numpipe")
    ctx = moderngl.create_context(standalone=True, context=window)
    list(SCENES[name].render(ctx, SCENES[name].size))
    surface = window.pipe_framebuffer.cbufs[0]
    from gallette.pipe.enums import MapFlags
    from gallette.pipe.state import Box

    state = window.pipe_framebuffer
    box = Box(0, 0, surface.first_layer, state.width, state.height, 1)
    transfer = window.pipe.transfer_map(surface.resource, surface.level, MapFlags.READ, box)
    data = np.array(transfer.data[0])
    window.pipe.transfer_unmap(transfer)
    window.release()
    return data.reshape(state.height, state.width, -1)


@pytest.mark.parametrize("name", PLAIN)
def test_a_history_ends_with_what_the_framebuffer_holds(name: str) -> None:
    picture = last_picture(name)
    height, width, _ = picture.shape
    chosen = random.Random(name)
    for _ in range(3):
        x, y = chosen.randrange(width), chosen.randrange(height)
        history = pixel_history(name, x, y)
        assert history.final["colour 0"].raw == picture[y, x].tobytes(), (x, y)
        _hangs_together(history)


def _hangs_together(history: History) -> None:
    """Every event begins where the one before it ended, and so does every fragment."""
    held: dict[str, dict[str, Any]] = {}
    for event in history.events:
        for name, stored in event.before.items():
            resource = event.attachments.get(name if name != "stencil" else "depth", "")
            known = held.get(resource, {}).get(name)
            assert known is None or known == stored
        now = dict(event.before)
        for fragment in event.fragments:
            assert fragment.before == now
            now = dict(fragment.after)
            if fragment.verdict.startswith(("discarded", "depth", "culled")):
                assert fragment.before["colour 0"] == fragment.after["colour 0"]
        if event.fragments:
            assert now == event.after
        for name, stored in event.after.items():
            resource = event.attachments.get(name if name != "stencil" else "depth", "")
            held.setdefault(resource, {})[name] = stored


def test_the_second_pass_of_a_prepass_tests_for_equality() -> None:
    history = pixel_history("depth_prepass", 120, 90)
    verdicts = [f.verdict for e in history.events for f in e.fragments]
    assert "depth test failed" in verdicts
    assert verdicts[-1] == "written"
    last = history.events[-1].fragments[-1]
    assert last.tests[-1].operands.split()[1] == "EQUAL"
    assert last.before["depth"] == last.after["depth"]


def story(tmp_path: Path, commands: str, x: int = 5, y: int = 5) -> History:
    """The history of a pixel of a small shader_test."""
    test = tmp_path / "a.shader_test"
    test.write_text(
        "[require]\nGLSL >= 1.30\n[vertex shader passthrough]\n[fragment shader]\n#version 130\n"
        "void main() {\n    if (gl_FragCoord.x > 100.0) discard;\n"
        "    gl_FragColor = vec4(0.0, 1.0, 0.0, 1.0);\n}\n[test]\n" + commands
    )
    return pixel_history(str(test), x, y)


def test_why_nothing_was_drawn_culling(tmp_path: Path) -> None:
    turned = "enable GL_CULL_FACE\ndraw rect 1 -1 -2 2\n"
    history = story(tmp_path, "clear color 0 0 0 0\nclear\n" + turned)
    draw = [e for e in history.events if e.call == "draw_vbo"][-1]
    assert draw.fragments == []
    assert {m.verdict for m in draw.missing} == {"culled: a back face"}


def test_a_discarded_fragment_says_so(tmp_path: Path) -> None:
    history = story(tmp_path, "clear color 0 0 0 0\nclear\ndraw rect -1 -1 2 2\n", x=120)
    (draw,) = [e for e in history.events if e.call == "draw_vbo"]
    assert [f.verdict for f in draw.fragments] == ["discarded by the shader"]
    assert not draw.changed


def test_the_blend_state_of_a_fragment_is_described(tmp_path: Path) -> None:
    clear, draw = "clear color 0 0 0 0\nclear\n", "draw rect -1 -1 2 2\n"
    blend = "enable GL_BLEND\nblend func GL_SRC_ALPHA GL_ONE\n"
    for state, told in (
        ("", "colour 0: replaces RGBA"),
        (blend, "colour 0: source x SRC_ALPHA ADD destination x ONE, writes RGBA"),
    ):
        history = story(tmp_path, clear + state + draw)
        (event,) = [e for e in history.events if e.call == "draw_vbo"]
        assert [f.blend for f in event.fragments if f.verdict == "written"] == [told]


def test_no_primitive_covers_the_pixel(tmp_path: Path) -> None:
    history = story(tmp_path, "clear color 0 0 0 0\nclear\ndraw rect 0.5 0.5 0.25 0.25\n")
    (draw,) = [e for e in history.events if e.call == "draw_vbo"]
    assert (draw.fragments, draw.missing) == ([], [])


def test_bundled_tests_pass_while_they_are_observed() -> None:
    """Drawing the pixel's fragments apart changes no picture."""
    for name, path in find_tests([str(BUNDLED)], ["derivatives|discard"])[:8]:
        history = pixel_history(str(path), 1, 1)
        assert history.outcome in ("pass", "skip"), name


def test_histories_are_printed_unchanged() -> None:
    """Brackets in names and paths are no styles."""
    held = records.Stored(b"\0", (0.25,))
    fragment = Fragment(
        0,
        (0, 1, 2),
        tests=[records.Test("depth", "[red]0.5 < 1", True)],
        outputs={"[red]glow": (1.0,)},
        blend="[red]ONE + ONE",
        verdict="written [red]at once",
        stores=["[red]image 3 (5, 6) = (1)"],
    )
    event = PixelEvent(
        7,
        "draw_[red]vbo",
        "[red]3 vertices",
        {"colour [red]0": "[red]texture"},
        {"colour [red]0": records.Stored(b"\1", (1.0,))},
        {"colour [red]0": held},
        [fragment],
        [Fragment(1, (3, 4, 5), verdict="[red]culled")],
    )
    history = History("[red]a.gcap", "[red]numpipe", 5, 6, [event], resource="[red]texture")
    out = io.StringIO()
    print_history(Console(file=out, width=200), history)
    assert [line.strip() for line in out.getvalue().splitlines()] == [
        "pixel 5,6 of [red]texture, [red]numpipe on [red]a.gcap",
        "",
        "call 7: draw_[red]vbo  [red]3 vertices",
        "primitive 0 (vertices 0 1 2; front face): written [red]at once",
        "shader wrote [red]glow (1)",
        "shader stored [red]image 3 (5, 6) = (1)",
        "depth [red]0.5 < 1: passes",
        "[red]ONE + ONE",
        "no fragment of primitive 1: [red]culled",
        "colour [red]0: (1) -> (0.25)",
        "at the end: colour [red]0 (0.25)",
    ]
