"""What draws that wait can reach: the resources they name, and which bytes of buffers they read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import Bound
from gallette.drivers.common.program import DriverShader
from gallette.drivers.common.texture.versions import may_have_versions
from gallette.pipe.resource import Resource
from gallette.pipe.state import FramebufferState

__all__ = [
    "MERGED_STAGES",
    "Reach",
    "looked_at",
    "reached",
    "resources_of",
    "targets_of",
    "versioned",
]

MERGED_STAGES = (Stage.VERTEX, Stage.FRAGMENT)
"""The stages whose constant block 0 may differ between draws that wait."""

Reach = tuple[int, int, int]
"""The first byte that is read of a buffer, the one behind the last, and by vertex."""


def targets_of(framebuffer: FramebufferState) -> frozenset[int]:
    """What is drawn to, by identity."""
    surfaces = (*framebuffer.cbufs, framebuffer.zsbuf)
    return frozenset(id(surface.resource) for surface in surfaces if surface is not None)


def resources_of(bound: Bound) -> Iterator[Resource]:
    """Every resource that draws with the vertex and fragment stage may read or write."""
    for surface in (*bound.framebuffer.cbufs, bound.framebuffer.zsbuf):
        if surface is not None:
            yield surface.resource
    for buffer in bound.vertex_buffers:
        if buffer is not None:
            yield buffer.buffer
    for stage in MERGED_STAGES:
        bindings = bound.stages[stage]
        for view in bindings.views:
            if view is not None:
                yield view.resource
        for block in bindings.constants[1:]:
            if block is not None and block.buffer is not None:
                yield block.buffer
        for image in bindings.images:
            if image is not None:
                yield image.resource
        for storage in bindings.buffers:
            if storage is not None:
                yield storage.buffer


def versioned(bound: Bound) -> Iterator[Resource]:
    """The buffers whose contents may be put in their place: of vertices and constants."""
    for buffer in bound.vertex_buffers:
        if buffer is not None:
            yield buffer.buffer
    for stage in MERGED_STAGES:
        for block in bound.stages[stage].constants[1:]:
            if block is not None and block.buffer is not None:
                yield block.buffer


def looked_at(bound: Bound) -> tuple[frozenset[int], frozenset[int]]:
    """The resources that are reached in any other way: textures of which versions can be kept, and
    those of which they cannot.
    """
    sampled: set[int] = set()
    others = set(targets_of(bound.framebuffer))
    for stage in MERGED_STAGES:
        bindings, shader = bound.stages[stage], bound.shaders.get(stage)
        layerable = _layerable(shader)
        for index, view in enumerate(bindings.views):
            if view is not None:
                keeps = index in layerable and may_have_versions(view, bindings.sampler(index))
                (sampled if keeps else others).add(id(view.resource))
        for image in bindings.images:
            if image is not None:
                others.add(id(image.resource))
        for storage in bindings.buffers:
            if storage is not None:
                others.add(id(storage.buffer))
    return frozenset(sampled - others), frozenset(others)


def _layerable(shader: DriverShader | None) -> Sequence[int]:
    """The textures that a shader may look at as many draws see them."""
    if shader is None or not shader.compiler.layers_textures:
        return ()
    return shader.reads.layerable


def reached(bound: Bound, buffer: Resource) -> Iterator[Reach]:
    """See `Given.reach`."""
    for slot, each in enumerate(bound.vertex_buffers):
        if each is None or each.buffer is not buffer:
            continue
        for element in bound.elements.state:
            if element.buffer_index != slot:
                continue
            first = each.offset + element.src_offset
            if element.instance_divisor:
                yield first, buffer.desc.width, 0
            else:
                yield first, first + element.src_format.block_bytes, each.stride
    for stage in MERGED_STAGES:
        for block in bound.stages[stage].constants[1:]:
            if block is not None and block.buffer is buffer:
                yield block.offset, block.offset + len(block.data), 0
