"""Clears through masks: every sample, only the channels asked for, and not when drawing is off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import pixels, program, quad

SIZE = 8


def target(gl: Any, color: int, depth: int | None = None, samples: int = 0) -> int:
    """A bound framebuffer of renderbuffers."""
    (name,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    for point, format in ((GL.COLOR_ATTACHMENT0, color), (GL.DEPTH_STENCIL_ATTACHMENT, depth)):
        if format is not None:
            (buffer,) = gl.gen_renderbuffers(1)
            gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
            gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, format, SIZE, SIZE)
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
    return int(name)


@pytest.mark.parametrize(
    "format", ["RGBA8", "RGB565", "RGBA4", "RGB10_A2", "RGBA16F", "RGBA32F", "R11F_G11F_B10F"]
)
def test_a_masked_clear_reaches_every_sample_and_no_other_channel(format: str) -> None:
    gl: Any = create_context("numpipe", profile="core", version=(3, 3))
    multisampled = target(gl, getattr(GL, format), samples=4)
    gl.clear_color(1.0, 0.0, 1.0, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.color_mask(1, 1, 0, 0)
    gl.clear_color(0.0, 1.0, 0.0, 0.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.color_mask(1, 1, 1, 1)
    target(gl, GL.RGBA8)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, multisampled)
    gl.blit_framebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE, SIZE, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, gl.get_integerv(GL.DRAW_FRAMEBUFFER_BINDING)[0])
    assert np.unique(pixels(gl, SIZE, SIZE).reshape(-1, 4), axis=0).tolist() == [[0, 255, 255, 255]]
    assert gl.get_error() == 0


def test_masked_clears_obey_the_render_condition() -> None:
    gl: Any = create_context("numpipe", profile="core", version=(3, 3))
    target(gl, GL.RGBA8, GL.DEPTH24_STENCIL8)
    gl.clear_color(1.0, 1.0, 1.0, 1.0)
    gl.clear_stencil(0xAA)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    name = program(gl)
    quad(gl, name)
    (query,) = gl.gen_queries(1)
    gl.enable(GL.CULL_FACE)
    gl.cull_face(GL.FRONT_AND_BACK)
    gl.begin_query(GL.SAMPLES_PASSED, query)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    gl.end_query(GL.SAMPLES_PASSED)
    gl.begin_conditional_render(query, GL.QUERY_WAIT)
    gl.color_mask(1, 0, 0, 0)
    gl.stencil_mask(0x0F)
    gl.clear_color(0.0, 0.0, 0.0, 0.0)
    gl.clear_stencil(0x55)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    gl.end_conditional_render()
    assert (pixels(gl, SIZE, SIZE) == 255).all()
    raw = gl.read_pixels(0, 0, SIZE, SIZE, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
    assert set(bytes(raw)) == {0xAA}
    gl.clear(GL.STENCIL_BUFFER_BIT)
    raw = gl.read_pixels(0, 0, SIZE, SIZE, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
    assert set(bytes(raw)) == {0xA5}
