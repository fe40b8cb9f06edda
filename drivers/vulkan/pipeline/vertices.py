"""Vertex buffers as the device reads them: formats, strides, and attributes that are converted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.drivers.common.bound import Bound
from gallette.drivers.vulkan.api.binding import Row, row
from gallette.drivers.vulkan.memory.formats import vulkan_format
from gallette.drivers.vulkan.memory.resources import VulkanBuffer
from gallette.drivers.vulkan.memory.storage import DeviceBuffer
from gallette.pipe.codecs import unpack
from gallette.pipe.formats import Format
from gallette.pipe.state import VertexBuffer, VertexElement

from .layouts import Link

if TYPE_CHECKING:
    from gallette.drivers.vulkan.context import VulkanContext


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


def vertex_input(context: VulkanContext, link: Link) -> Row:
    """The vertex input state of a pipeline. Every element has a binding of its own, so that its
    offset is one of the buffer's.
    """
    elements, program = context.bound.elements.state, link.programs[0]
    bindings, divisors, attributes = [], [], []
    plan = _plan(context, program.doubles)
    for index, location in link.attributes.items():
        number, stride, rate = 109, 0, 0  # zeros, where the attribute has no element
        if index < len(elements):
            number, stride, _ = plan[index]
            rate = max(elements[index].instance_divisor, 0)
        bindings.append(
            row("VertexInputBindingDescription", binding=index, stride=stride,
                inputRate=int(rate > 0))
        )  # fmt: skip
        if rate > 1:
            divisors.append(
                row("VertexInputBindingDivisorDescriptionEXT", binding=index, divisor=rate)
            )
        places = [(location, number, 0)]
        if index in program.wide_inputs:
            # A shorter attribute has nothing there: its beginning is as good as zero.
            wide = elements[index].dual_slot
            places.append((location + 1, 107 if wide else number, 16 * wide))
        attributes += [
            row("VertexInputAttributeDescription", location=at, binding=index, format=format,
                offset=offset)
            for at, format, offset in places
        ]  # fmt: skip
    chain = None
    if divisors:
        chain = row("PipelineVertexInputDivisorStateCreateInfoEXT", pVertexBindingDivisors=tuple(
            divisors), vertexBindingDivisorCount=len(divisors))  # fmt: skip
    return row(
        "PipelineVertexInputStateCreateInfo", pNext=chain,
        vertexBindingDescriptionCount=len(bindings), pVertexBindingDescriptions=tuple(bindings),
        vertexAttributeDescriptionCount=len(attributes),
        pVertexAttributeDescriptions=tuple(attributes),
    )  # fmt: skip


def vertex_inputs(
    context: VulkanContext, link: Link
) -> list[tuple[DeviceBuffer | VulkanBuffer, int]]:
    """The buffer and offset of each binding: zeros for an empty one. Elements that the device
    cannot read are converted.
    """
    bound, nothing = context.bound, (context.screen.samplers.zeros(), 0)
    found: list[tuple[DeviceBuffer | VulkanBuffer, int]] = []
    doubles = link.programs[0].doubles
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
    return found + [nothing] * (max(link.attributes, default=-1) + 1 - len(found))


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
