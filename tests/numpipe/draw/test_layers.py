"""Layered framebuffers: every primitive goes to the layer its provoking vertex names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from draw_scene import VEC4, color_fragment, position_vertex

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import ClearFlags, CompareFunc, Primitive, Target
from gallette.pipe.formats import format_named
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import DrawInfo, FramebufferState, Surface, VertexBuffer, VertexElement

LAYERS = 4


@pytest.mark.parametrize("depth_width", [16, 20])
def test_primitives_choose_their_layer(depth_width: int, canvas: Callable[..., Any]) -> None:
    target = canvas(16, 16)
    context = target.context
    color_format, depth_format = format_named("R8G8B8A8_UNORM"), format_named("Z24X8_UNORM")
    made = []
    for format, width in ((color_format, 16), (depth_format, depth_width)):
        desc = ResourceDesc(Target.TEXTURE_2D_ARRAY, format, width, 16, array_size=LAYERS)
        made.append(target.screen.resource_create(desc))
    color, depth = made
    context.set_framebuffer_state(
        FramebufferState(
            16,
            16,
            layers=LAYERS,
            cbufs=(Surface(color, color_format, 0, 0, LAYERS - 1),),
            zsbuf=Surface(depth, depth_format, 0, 0, LAYERS - 1),
        )
    )
    context.clear(ClearFlags.COLOR | ClearFlags.DEPTH, (0.0,) * 4, 1.0, 0)
    target.set_tests(depth_enabled=True, depth_func=CompareFunc.LESS)
    target.program(position_vertex((VaryingSlot.VAR0, VaryingSlot.LAYER)), color_fragment())
    formats = [format_named(VEC4), format_named(VEC4), format_named("R32G32B32A32_SINT")]
    elements = tuple(VertexElement(16 * i, 0, f) for i, f in enumerate(formats))
    context.bind_vertex_elements_state(context.create_vertex_elements_state(elements))
    # Two triangles over everything for each layer: a near red one, then a far green one. The first
    # vertices name nonsense: only the provoking (last) one counts. Layer 9 becomes the last layer.
    rows = []
    for layer in (0, 2, 9):
        for z, paint in ((-0.5, (1, 0, 0, 1)), (0.5, (0, 1, 0, 1))):
            for number, (x, y) in enumerate(((-1, -1), (3, -1), (-1, 3))):
                named = np.int32(layer if number == 2 else 1)
                rows.append([x, y, z, 1, *paint, named.view(np.float32), 0, 0, 0])
    data = np.array(rows, np.float32)
    context.set_vertex_buffers([VertexBuffer(target.buffer(data), 0, 48)])
    context.draw_vbo(DrawInfo(Primitive.TRIANGLES, count=len(rows)))
    assert isinstance(color, HostResource)
    context.flush()
    image = color.view(0, np.uint32)
    for layer in range(LAYERS):
        wanted = 0xFF0000FF if layer in (0, 2, 3) else 0
        assert (image[layer] == wanted).all()
    context.set_framebuffer_state(target.framebuffer)
    for resource in made:
        resource.unref()
