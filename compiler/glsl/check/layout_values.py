"""Values of layout qualifiers on variables: bindings, offsets, formats, components."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.qualifiers import IMAGE_FORMATS, ONE_WORD
from gallette.compiler.nir.ir.types import Base, Type

_ONE_WAY = ("readonly", "writeonly")


def check_image(c: Checker, var: hir.Variable, d: s.Node) -> None:
    """Check that the format of an image fits its type, and in GLSL ES its access (4.10)."""
    image = var.type.without_array
    for name in var.quals.flags & IMAGE_FORMATS:
        kind = Base.UINT if name.endswith("ui") else Base.INT if name.endswith("i") else Base.FLOAT
        if kind is not image.sampled:
            c.error(f"format '{name}' does not fit '{image}'", d)
        if c.lang.es and not c.lang.has("NV_image_formats"):
            if name not in ONE_WORD and var.quals.memory.isdisjoint(_ONE_WAY):
                c.error(f"images of format '{name}' must be readonly or writeonly", d)


def check_atomic_counter(c: Checker, var: hir.Variable, d: s.Declarator) -> None:
    layout = var.quals.layout
    binding = layout["binding"]
    if binding >= c.limits.max_atomic_counter_bindings:
        c.error(f"binding {binding} exceeds the limit of atomic counter bindings", d)
    offset = layout.get("offset", c.counter_offsets.get(binding, 0))
    if offset % 4:
        c.error("the offset of an atomic counter must be a multiple of 4", d)
    layout["offset"] = offset
    size = 4 * var.type.array_elements
    most = c.limits.max_atomic_counter_buffer_size
    if offset + size > most:
        c.error(f"atomic counter '{d.name}' ends behind byte {most} of its buffer", d)
    for begin, end in c.counter_ranges.get(binding, []):
        if offset < end and begin < offset + size:
            c.error(f"atomic counter '{d.name}' overlaps another one", d)
    c.counter_ranges.setdefault(binding, []).append((offset, offset + size))
    c.counter_offsets[binding] = offset + size


def default_counter_offset(c: Checker, quals: hir.Quals, node: s.Node) -> None:
    """Set the offset of the next counter: `layout(binding = 2, offset = 8) uniform
    atomic_uint;`.
    """
    if "binding" not in quals.layout:
        c.error("a default offset needs a binding", node)
        return
    c.counter_offsets[quals.layout["binding"]] = quals.layout["offset"]


def inherit_defaults(c: Checker, quals: hir.Quals) -> None:
    """Apply defaults such as `layout(xfb_buffer = 2) out;` and `layout(stream = 1) out;`."""
    if quals.storage != "out":
        return
    for key in ("xfb_buffer", "stream"):
        default = c.shader.layout.get(f"default_{key}")
        if default is not None:
            quals.layout.setdefault(key, default)


def check_layout_use(c: Checker, var: hir.Variable, d: s.Declarator) -> None:
    """Check the values of layout qualifiers that depend on the type."""
    inherit_defaults(c, var.quals)
    layout = var.quals.layout
    if "component" in layout:
        check_component(c, var, d)
    if "binding" in layout and var.quals.storage == "uniform":
        check_binding(c, var, d)
    check_captured(c, layout, var.type, layout.get("xfb_buffer", 0), d)


def check_captured(
    c: Checker, layout: dict[str, int], type_: Type, buffer: int, node: s.Node
) -> None:
    """Check the place in a buffer where transform feedback writes a variable, a block or
    a member.
    """
    if "xfb_offset" in layout:
        parts = [type_, *(f.type for f in type_.fields)]
        if any(part.is_unsized_array for part in parts):
            c.error("arrays captured by transform feedback need a size", node)
        unit = 8 if any(leaf.bit_size == 64 for leaf in type_.leaves()) else 4
        if layout["xfb_offset"] % unit:
            c.error(f"xfb_offset must be a multiple of {unit}", node)
    if "xfb_stride" in layout:
        merge_xfb_stride(c, buffer, layout["xfb_stride"], node)


def merge_xfb_stride(c: Checker, buffer: int, stride: int, node: s.Node) -> None:
    strides = c.shader.layout.setdefault("xfb_strides", {})
    if strides.setdefault(buffer, stride) != stride:
        c.error(f"buffer {buffer} has two different strides", node)


def check_component(c: Checker, var: hir.Variable, d: s.Node) -> None:
    layout, element = var.quals.layout, var.type.without_array
    component = layout["component"]
    size = element.rows * (2 if element.bit_size == 64 else 1)
    if component + size > 4:
        c.error(f"component {component} does not leave room for '{element}'", d)
    elif element.bit_size == 64 and component % 2:
        c.error(f"component {component} is not possible for '{element}'", d)


def check_binding(c: Checker, var: hir.Variable, d: s.Node) -> None:
    element = var.type.without_array
    binding = var.quals.layout["binding"]
    count = max(1, var.type.array_elements)
    if element.is_sampler:
        limit = c.limits.max_combined_texture_image_units
    elif element.is_image:
        limit = c.limits.max_image_units
    else:
        return
    if binding + count > limit:
        c.error(f"binding {binding} exceeds the limit of {limit}", d)
