"""Before a draw: storage buffers, atomic counter buffers and images for the driver.

A stage's storage block is bound to the shader buffer slot that its NIR names; atomic counter
buffers follow: binding n is slot `caps.max_shader_buffers + n`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.nir.ir import Stage
from gallette.pipe.enums import Target
from gallette.pipe.state import ImageView, ShaderBuffer
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.shading.programs import Executable
from gallette.state_tracker.texturing.images import ImageUnit
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS
from gallette.state_tracker.vertices.buffers import IndexedBinding

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


def _range(point: IndexedBinding) -> ShaderBuffer | None:
    """A binding point as a buffer range; None if no buffer is bound."""
    resource = point.buffer.resource if point.buffer is not None else None
    if resource is None:
        return None
    offset, size = point.range()
    return ShaderBuffer(resource, offset, size)


def _slots(ctx: Context, stage: Stage, executable: Executable) -> dict[int, ShaderBuffer | None]:
    linked = executable.linked
    slots: dict[int, ShaderBuffer | None] = {}
    for block, binding in zip(linked.storage_blocks, executable.storage_bindings, strict=True):
        index = block.nir_index.get(stage)
        if index is not None:
            slots[index] = _range(ctx.buffers.storage[binding])
    for counters in linked.atomic_buffers:
        if stage in counters.stages:
            slot = ctx.caps.max_shader_buffers + counters.binding
            slots[slot] = _range(ctx.buffers.atomic[counters.binding])
    return slots


def bind_storage(ctx: Context) -> None:
    """Bind the buffers of the current programs' storage blocks and counters."""
    if not ctx.caps.max_shader_buffers:
        return
    for stage, executable in ctx.programs.stages.items():
        slots = _slots(ctx, stage, executable)
        if slots:
            buffers = [slots.get(i) for i in range(max(slots) + 1)]
            ctx.pipe.set_shader_buffers(stage, 0, buffers)


def image_view(unit: ImageUnit) -> ImageView | None:
    """The view for an image unit; None if no complete image is bound."""
    texture = unit.texture
    info = INTERNAL_FORMATS.get(unit.format)
    if texture is None or info is None:
        return None
    format = info.candidates[0]
    readable, writable = unit.access != GL.WRITE_ONLY, unit.access != GL.READ_ONLY
    if texture.target.pipe is Target.BUFFER:
        view = texture.view()
        if view is None:
            return None
        return ImageView(
            view.resource,
            format,
            readable=readable,
            writable=writable,
            buffer_offset=view.buffer_offset,
            buffer_size=view.buffer_size,
        )
    texture.finalize()
    resource = texture.resource
    level = unit.level + texture.first_level
    if resource is None or level > resource.desc.last_level:
        return None
    desc = resource.desc
    if desc.format.block_bytes != format.block_bytes:
        return None
    layers = texture.view_layers or desc.array_size
    if desc.target is Target.TEXTURE_3D:
        layers = max(1, desc.depth >> level)
    first, last = (0, layers - 1) if unit.layered else (unit.layer, unit.layer)
    if last >= layers:
        return None
    first, last = first + texture.first_layer, last + texture.first_layer
    return ImageView(resource, format, level, first, last, readable, writable)


def bind_images(ctx: Context) -> None:
    """Bind the images of the current programs' image variables."""
    if not ctx.caps.max_shader_images:
        return
    for stage, executable in ctx.programs.stages.items():
        views: dict[int, ImageView | None] = {}
        for index, uniform in executable.images:
            first = uniform.opaque_index.get(stage)
            if first is None:
                continue
            for i, unit in enumerate(executable.uniforms.units[index]):
                inside = unit < len(ctx.images)
                views[first + i] = image_view(ctx.images[unit]) if inside else None
        if views:
            images = [views.get(i) for i in range(max(views) + 1)]
            ctx.pipe.set_shader_images(stage, 0, images)
        if executable.linked.info.has_handles:
            ctx.bindless.bind_images(stage)
