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
from gallette.pipe.state import VertexElement

from .layouts import Link

if TYPE_CHECKING:
    from gallette.drivers.vulkan.context import VulkanContext

__all__ = ["vertex_elements", "vertex_inputs", "vertex_layout"]


def _native(
    context: VulkanContext, element: VertexElement, stride: int, offset: int, double: bool
) -> int:
    """The Vulkan format of an element that the device can read in place, or 0."""
    format = element.src_format
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


def _plan(context: VulkanContext, doubles: frozenset[int]) -> tuple[Any, ...]:
    """For each element: (format or 0, stride of its buffer)."""
    bound = context.bound
    key = (bound.elements, doubles, vertex_layout(bound))
    known = context.draws.plans
    rows = known.get(key)
    if rows is None:
        if len(known) >= 1024:
            known.clear()
        rows = known[key] = _planned(context, doubles)
    return rows


def _planned(context: VulkanContext, doubles: frozenset[int]) -> tuple[Any, ...]:
    bound = context.bound
    rows = []
    for index, element in enumerate(bound.elements.state):
        buffers = bound.vertex_buffers
        buffer = buffers[element.buffer_index] if element.buffer_index < len(buffers) else None
        stride = 0 if buffer is None else buffer.stride
        offset = 0 if buffer is None else buffer.offset
        number = 0
        if buffer is not None:
            number = _native(context, element, stride, offset, index in doubles)
        rows.append((number, stride))
    return tuple(rows)


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
    doubles = link.programs[0].doubles
    plan = _plan(context, doubles)
    for index, element in enumerate(bound.elements.state):
        number, stride = plan[index]
        rate = element.instance_divisor
        if not number:
            number, size = _converted_format(element.src_format, index in doubles)
            stride = size if _has_buffer(context, element) else 0
            if stride and not plan[index][1]:
                stride = 0
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


def _has_buffer(context: VulkanContext, element: VertexElement) -> bool:
    buffers = context.bound.vertex_buffers
    return element.buffer_index < len(buffers) and buffers[element.buffer_index] is not None


def vertex_inputs(
    context: VulkanContext, doubles: frozenset[int]
) -> list[tuple[DeviceBuffer | VulkanBuffer, int] | None]:
    """The buffer and offset of each binding; elements that the device cannot read are converted."""
    bound = context.bound
    found: list[tuple[DeviceBuffer | VulkanBuffer, int] | None] = []
    plan = _plan(context, doubles)
    for index, element in enumerate(bound.elements.state):
        number, double = plan[index][0], index in doubles
        if not _has_buffer(context, element):
            found.append(None)
            continue
        buffer = bound.vertex_buffers[element.buffer_index]
        assert buffer is not None
        resource = buffer.buffer
        assert isinstance(resource, VulkanBuffer)
        offset = buffer.offset + element.src_offset
        if number:
            if offset >= resource.desc.width:
                found.append(None)
            else:
                found.append((resource, offset))
            continue
        context.on_host(resource)
        key = ("vertices", element.src_format, offset, buffer.stride, double)
        if resource.live:
            found.append(
                (_converted(resource, element.src_format, offset, buffer.stride, double), 0)
            )
        else:
            make = partial(_converted, resource, element.src_format, offset, buffer.stride, double)
            made = resource.derive(key, make)
            found.append((made, 0))
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
