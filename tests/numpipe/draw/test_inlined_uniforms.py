"""Uniforms that decide branches become constants of variants; the picture stays the same."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from draw_scene import position_vertex

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.slots import FragResult
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo

SQUARE = np.array([[-1, -1, 0, 1], [1, -1, 0, 1], [-1, 1, 0, 1], [1, 1, 0, 1]], np.float32)


def switching_fragment() -> Shader:
    """Blue unless integer 0 of the constants is set: then constants 1..4, one step per round."""
    b = Builder.shader_main(Stage.FRAGMENT, "switching")
    zero = b.imm_int(0)
    switch = b.intrinsic("load_ubo", [zero, zero], num_components=1)
    color = b.intrinsic("load_ubo", [zero, b.imm_int(16)], num_components=4)
    node = b.push_if(b.ine(switch, zero))
    bright = b.fsqrt(b.fmul(color, color))
    b.push_else()
    blue = b.imm_vec(0.0, 0.0, 1.0, 1.0)
    b.pop_if()
    assert node is not None
    chosen = b.if_phi(bright, blue)
    b.intrinsic("store_output", [chosen, zero], location=FragResult.COLOR, write_mask=15)
    return b.shader


def drawn(target: Any, switch: int, color: tuple[float, ...]) -> Any:
    data = struct.pack("<iiii4f", switch, 0, 0, 0, *color)
    target.context.set_constant_buffer(Stage.FRAGMENT, 0, data)
    target.context.draw_vbo(DrawInfo(Primitive.TRIANGLE_STRIP, count=4))
    return target.pixels()[0, 0].tolist()


def inlined_keys(target: Any) -> list[str]:
    return [e.key for e in target.context.variant_log if "inlined_uniforms" in e.key]


@pytest.mark.parametrize(("most", "variants"), [(0, 0), (1, 1), (8, 3)])
def test_every_value_looks_right_whatever_is_inlined(
    most: int, variants: int, canvas: Callable[..., Any]
) -> None:
    target = canvas(8, 8, inline_uniforms=most)
    target.program(position_vertex(()), switching_fragment())
    target.vertices(SQUARE)
    red, green = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0)
    for switch, color in ((0, red), (1, red), (1, green), (7, green), (0, green), (1, red)):
        wanted = [int(255 * c) for c in color] if switch else [0, 0, 255, 255]
        assert drawn(target, switch, color) == wanted
    assert len(inlined_keys(target)) == variants  # of 0, 1 and 7; the colour decides nothing


def test_constants_of_a_shared_buffer_stay(canvas: Callable[..., Any]) -> None:
    target = canvas(8, 8, inline_uniforms=8)
    target.program(position_vertex(()), switching_fragment())
    target.vertices(SQUARE)
    words = struct.unpack("<8I", struct.pack("<iiii4f", 1, 0, 0, 0, 1, 0, 0, 1))
    buffer = target.buffer(words, np.uint32)
    target.context.set_constant_buffer(Stage.FRAGMENT, 0, buffer=buffer, size=32)
    target.context.draw_vbo(DrawInfo(Primitive.TRIANGLE_STRIP, count=4))
    assert target.pixels()[0, 0].tolist() == [255, 0, 0, 255]
    assert not inlined_keys(target)
