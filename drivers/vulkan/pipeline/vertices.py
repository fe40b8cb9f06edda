"""Vertex buffers as the device reads them: formats, strides, and attributes that are converted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.drivers.common.bound import Bound
from gallette.drivers.vulkan.memory.formats import vulkan_format
from gallette.drivers.vulkan.memory.resources import VulkanBuffer
from gallette.drivers.vulkan.memory.storage import DeviceBuffer
from gallette.pipe.codecs import unpack
from gallette.pipe.formats import Format
from gallette.pipe.state import VertexBuffer, VertexElement

from .layouts import Link

if TYPE_CHECKING:
    from gallette.drivers.vulkan.context import VulkanContext

__all__ = ["vertex_elements", "vertex_inputs", "vertex_layout"]


def _native(
    context: VulkanContext, element: VertexElement, buffer: VertexBuffer, double: bool
) -> int:
    """The Vulkan format of an element that the device can read in place, or 0."""
    format, stride, offset = element.src_format, buffer.stride, buffer.offset
    if "R64" in format.name:
        if not double:
            return 0
        wide = 0 if element.dual_slot else {8: 101, 16: 107}.get(format.block_bytes, 0)
        aligned = (offset + element.src_offset) % 4 == 0 and stride % 4 == 0
        return wide if aligned else 0
    found = vulkan_format(format)
    if found is None or not context.device.physical.format_features(found.number)[2] & 0x40:
        return 0
    size = format.channels[0].bits // 8 if format.is_array else format.block_bytes
    if (offset + element.src_offset) % max(size, 1) or stride % max(size, 1):
        return 0
    limits = context.device.physical.limits
    if stride > limits.maxVertexInputBindingStride:
        return 0
    letters = "".join(c.name for c in format.channels)
    return found.number if letters in ("R", "RG", "RGB", "RGBA", "BGRA", "BGRX") else 0


def vertex_layout(bound: Bound) -> tuple[Any, ...]:
    """The properties of vertex buffers on which reading them depends: stride, alignment."""
    return tuple([None if b is None else (b.stride, b.offset & 7) for b in bound.vertex_buffers])


def _plan(context: VulkanContext, doubles: frozenset[int]) -> tuple[tuple[int, int, bool], ...]:
    """For each element: its format, its stride, and whether it is converted."""
    bound = context.bound
    key = (bound.elements, doubles, vertex_layout(bound))
    known = context.draws.plans
    rows = known.get(key)
    if rows is None:
        if len(known) >= 1024:
            known.clear()
        elements = enumerate(bound.elements.state)
        rows = known[key] = tuple([_planned(context, each, i in doubles) for i, each in elements])
    return rows


def _planned(context: VulkanContext, element: VertexElement, double: bool) -> tuple[int, int, bool]:
    buffer = _buffer_of(context.bound, element)
    number = 0 if buffer is None else _native(context, element, buffer, double)
    stride = 0 if buffer is None else buffer.stride
    if number:
        return number, stride, False
    number, size = _converted_format(element.src_format, double)
    return number, size if stride else 0, True


def _buffer_of(bound: Bound, element: VertexElement) -> VertexBuffer | None:
    buffers, index = bound.vertex_buffers, element.buffer_index
    return buffers[index] if index < len(buffers) else None


def _converted_format(format: Format, double: bool) -> tuple[int, int]:
    """The result of converting an element: Vulkan format and bytes per vertex."""
    if double:
        return 107, 32 if format.block_bytes > 16 else 16
    if format.is_pure_integer:
        return (108 if format.is_signed_integer else 107), 16
    return 109, 16


def vertex_elements(context: VulkanContext, link: Link) -> tuple[Any, Any]:
    """Attributes (location, binding, format, offset, rate) and the strides of the bindings.

    Every element has a binding of its own, so that its offset is one of the buffer's.
    """
    bound = context.bound
    elements, strides = [], []
    plan = _plan(context, link.programs[0].doubles)
    for index, element in enumerate(bound.elements.state):
        number, stride, _ = plan[index]
        rate = element.instance_divisor
        strides.append(stride)
        location = link.attributes.get(index)
        if location is None:
            continue
        elements.append((location, index, number, 0, max(rate, 0)))
        if index in link.programs[0].wide_inputs:
            # A shorter attribute has nothing there: its beginning is as good as zero.
            at = 16 if element.dual_slot else 0
            elements.append((location + 1, index, 107 if at else number, at, max(rate, 0)))
    for index, location in link.attributes.items():
        if index >= len(bound.elements.state):
            # The shader reads an attribute that has no element: zeros.
            while len(strides) <= index:
                strides.append(0)
            elements.append((location, index, 109, 0, 0))
    return tuple(elements), tuple(strides)


def vertex_inputs(
    context: VulkanContext, doubles: frozenset[int]
) -> list[tuple[DeviceBuffer | VulkanBuffer, int]]:
    """The buffer and offset of each binding: zeros for an empty one. Elements that the device
    cannot read are converted.
    """
    bound, nothing = context.bound, (context.screen.samplers.zeros(), 0)
    found: list[tuple[DeviceBuffer | VulkanBuffer, int]] = []
    plan = _plan(context, doubles)
    for index, element in enumerate(bound.elements.state):
        buffer = _buffer_of(bound, element)
        if buffer is None:
            found.append(nothing)
            continue
        resource, offset = buffer.buffer, buffer.offset + element.src_offset
        assert isinstance(resource, VulkanBuffer)
        if not plan[index][2]:
            found.append((resource, offset) if offset < resource.desc.width else nothing)
            continue
        context.on_host(resource)
        how = element.src_format, offset, buffer.stride, index in doubles
        make = partial(_converted, resource, *how)
        found.append((make() if resource.live else resource.derive(("vertices", *how), make), 0))
    return found


def _converted(
    resource: VulkanBuffer, format: Format, offset: int, stride: int, double: bool
) -> DeviceBuffer:
    """All vertices of an attribute in a format that every device reads."""
    data = resource.bytes_at(offset, resource.desc.width)
    size = format.block_bytes
    step = stride or size
    count = 1 if not stride else max(0, (len(data) - size) // step + 1)
    if len(data) < size:
        count = 0
    rows = np.lib.stride_tricks.as_strided(data, (count, size), (step, 1)) if count else (
        np.zeros((0, size), np.uint8)
    )  # fmt: skip
    rows = np.ascontiguousarray(rows)
    _, wide = _converted_format(format, double)
    if double:
        out = np.zeros((count, wide), np.uint8)
        out[:, :size] = rows
    else:
        components = unpack(format, rows.reshape(1, -1))[0] if count else np.zeros((0, 4))
        kind: np.dtype[Any] = np.dtype(np.float32)
        if format.is_pure_integer:
            kind = np.dtype(np.int32 if format.is_signed_integer else np.uint32)
        out = np.ascontiguousarray(components.astype(kind)).view(np.uint8).reshape(count, 16)
    made = DeviceBuffer(resource.gpu.device, resource.allocator, max(out.size, 64) + 64)
    made.bytes[:] = 0
    made.bytes[: out.size] = out.reshape(-1)
    return made
