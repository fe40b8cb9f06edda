"""Fragments whose depth test fails, and what they write: it depends on when tests are made."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest

import gallette
from gallette.compiler.errors import GalletteError
from tests.reference import missing

FRAGMENT = """#version 430
EARLY layout(std430, binding = 0) buffer Memory { uint count; };
out vec4 color;
void main() { BODY color = vec4(1.0); }"""

COUNTING = "atomicAdd(count, 1u);"


def _drawn(driver: str, body: str, depth: float, early: bool = False) -> tuple[int, int]:
    """How many fragments counted themselves, and how many pixels were written, of 256."""
    gl = gallette.moderngl_context(driver, version=(4, 3))
    with moderngl.create_context(standalone=True, context=gl) as context:
        text = FRAGMENT.replace("BODY", body)
        text = text.replace("EARLY", "layout(early_fragment_tests) in;" if early else "")
        program = context.program(
            vertex_shader="#version 430\nin vec2 at; void main() { gl_Position = vec4(at, 0, 1); }",
            fragment_shader=text,
        )
        memory = context.buffer(np.zeros(4, "u4"))
        memory.bind_to_storage_buffer(0)
        frame = context.framebuffer(
            [context.texture((16, 16), 4)], context.depth_renderbuffer((16, 16))
        )
        frame.use()
        frame.clear(depth=depth)
        context.enable(moderngl.DEPTH_TEST)
        corners = context.buffer(np.array([-1, -1, 3, -1, -1, 3], "f4"))
        context.vertex_array(program, [(corners, "2f", "at")]).render()
        context.memory_barrier()
        context.finish()
        count = int(np.frombuffer(memory.read(), "u4")[0])
        return count, int(np.count_nonzero(np.frombuffer(frame.read(components=1), "u1")))


DRIVERS = ["numpipe", "jit", pytest.param("native:llvmpipe", marks=pytest.mark.native)]


@pytest.mark.parametrize("driver", DRIVERS)
def test_fragments_that_fail_late_tests_have_written_memory(driver: str) -> None:
    try:
        assert _drawn(driver, COUNTING, 0.2) == (256, 0)
    except GalletteError as error:
        missing(error)
    assert _drawn(driver, COUNTING, 0.9) == (256, 256)
    assert _drawn(driver, COUNTING + "if (count == 9999u) discard;", 0.2) == (256, 0)
    assert _drawn(driver, COUNTING, 0.2, early=True) == (0, 0)


@pytest.mark.parametrize("driver", DRIVERS)
def test_early_tests_ignore_the_depth_that_a_shader_writes(driver: str) -> None:
    """What the shader says about it comes too late."""
    body = COUNTING + "gl_FragDepth = 0.1;"
    try:
        assert _drawn(driver, body, 0.2, early=True) == (0, 0)
    except GalletteError as error:
        missing(error)
    assert _drawn(driver, body, 0.2) == (256, 256)
