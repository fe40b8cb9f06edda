"""The alpha test compares what the colour buffer would store: bytes in bytes, floats in floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context

FUNCTIONS = ("NEVER", "LESS", "EQUAL", "LEQUAL", "GREATER", "NOTEQUAL", "GEQUAL", "ALWAYS")
FORMATS = ("RGBA8", "RGB8", "SRGB8_ALPHA8", "RGBA16F", "RGBA16", "R8")
WIDTH = 64
# Between two bytes, on one, at the ends.
REFERENCES = (0.0, 0.1, 33 / 255, 0.5, 1.0)


def passing(gl: Any, internal: int, reference: float) -> list[np.ndarray[Any, Any]]:
    """Which pixels of a ramp of alphas around `reference` pass, for every function."""
    (name,), (buffer,) = gl.gen_framebuffers(1), gl.gen_renderbuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    gl.renderbuffer_storage(GL.RENDERBUFFER, internal, WIDTH, 1)
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
    gl.viewport(0, 0, WIDTH, 1)
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    gl.enable(GL.ALPHA_TEST)
    seen = []
    low, high = reference - 4.3 / 255, reference + 4.4 / 255
    for function in FUNCTIONS:
        gl.clear_color(0.0, 0.0, 0.0, 0.0)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.alpha_func(getattr(GL, function), reference)
        gl.begin(GL.QUADS)
        for alpha, x, y in ((low, -1, -1), (high, 1, -1), (high, 1, 1), (low, -1, 1)):
            gl.color4f(1.0, 1.0, 1.0, alpha)
            gl.vertex2f(x, y)
        gl.end()
        raw = gl.read_pixels(0, 0, WIDTH, 1, GL.RED, GL.UNSIGNED_BYTE)
        seen.append(np.frombuffer(bytes(raw), np.uint8) > 0)
    gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
    return seen


@pytest.mark.native
@pytest.mark.parametrize("internal", FORMATS)
def test_every_function_on_every_kind_of_buffer(internal: str) -> None:
    ours = create_context("numpipe", profile="compat", version=(3, 0), size=(8, 8))
    theirs: Any = native_context(profile="compat", version=(3, 0))
    for reference in REFERENCES:
        a = passing(ours, getattr(GL, internal), reference)
        b = passing(theirs, getattr(GL, internal), reference)
        for function, mine, other in zip(FUNCTIONS, a, b, strict=True):
            assert (mine == other).all(), f"{function} {reference}"


@pytest.mark.parametrize("driver", ["numpipe", "tiler"])
def test_buffers_of_several_formats_alternate(driver: str) -> None:
    """State objects and program stay the same: the format alone asks for another variant."""
    options: dict[str, Any] = {"profile": "compat", "version": (3, 0), "size": (8, 8)}
    one = create_context(driver, **options)
    different = set()
    for internal in ("RGBA8", "RGBA16F", "RGBA16", "RGBA8"):
        fresh = create_context(driver, **options)
        with fresh:
            expected = passing(fresh, getattr(GL, internal), 0.1)
        fresh.release()
        with one:
            seen = passing(one, getattr(GL, internal), 0.1)
        for function, mine, other in zip(FUNCTIONS, seen, expected, strict=True):
            assert (mine == other).all(), f"{function} on {internal}"
        different.add(np.concatenate(expected).tobytes())
    one.release()
    assert len(different) > 1


@pytest.mark.parametrize(
    ("internal", "clamped"),
    [
        *((name, True) for name in ("RGBA8", "RGB5_A1", "RGBA4", "RGB10_A2", "RGBA16", "RGB8")),
        ("RGBA16F", False),
        ("RGBA32F", False),
    ],
)
def test_the_reference_is_clamped_where_colours_are(internal: str, clamped: bool) -> None:
    """Mesa compares with the clamped one on bytes only, whatever the specification asks for."""
    gl: Any = create_context("numpipe", profile="compat", version=(3, 0), size=(8, 8))
    seen = {}
    for reference in (1.5, -0.5):
        at_end = passing(gl, getattr(GL, internal), reference)
        seen[reference] = {name for name, some in zip(FUNCTIONS, at_end, strict=True) if some.any()}
    gl.release()
    # The colours themselves are clamped, as those of vertices are: alpha is 1, and 0.
    at_one = {"EQUAL", "LEQUAL", "GEQUAL", "ALWAYS"}
    assert seen[1.5] == (at_one if clamped else {"LESS", "LEQUAL", "NOTEQUAL", "ALWAYS"})
    assert seen[-0.5] == (at_one if clamped else {"GREATER", "GEQUAL", "NOTEQUAL", "ALWAYS"})
