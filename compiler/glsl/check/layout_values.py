"""Values of layout qualifiers on variables: bindings, offsets, formats, components."""

from __future__ import annotations

from gallette.compiler.glsl.availability import LOCATIONS, SEPARATE_STAGES
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.check.layouts import IMAGE_FORMATS, ONE_WORD
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir.types import Base, Type

__all__ = [
    "check_atomic_counter",
    "check_captured",
    "check_component",
    "check_image",
    "check_layout_use",
    "check_stream",
    "default_counter_offset",
    "feedback_buffer",
    "inherit_defaults",
    "merge_xfb_stride",
]


_ONE_WAY = ("readonly", "writeonly")


def check_image(c: Checker, var: hir.Variable, d: s.Node) -> None:
    quals = var.quals
    formats = quals.flags & IMAGE_FORMATS
    if not formats:
        exempt = "writeonly" in quals.memory and not (c.lang.es and var.kind != "param")
        if not exempt and not c.lang.has("EXT_shader_image_load_formatted"):
            if c.lang.es or var.kind != "param":
                if not c.lang.has("EXT_shader_image_load_store"):
                    c.error(
                        f"image '{var.name}' needs a format or 'writeonly'",
                        d,
                        "e.g. layout(rgba8)",
                    )
        return
    name = next(iter(formats))
    sampled = var.type.without_array.sampled
    kind = Base.UINT if name.endswith("ui") else Base.INT if name.endswith("i") else Base.FLOAT
    if kind is not sampled:
        c.error(f"format '{name}' does not fit '{var.type.without_array}'", d)
    if c.lang.es and not c.lang.has("NV_image_formats"):
        if name not in ONE_WORD and quals.memory.isdisjoint(_ONE_WAY):
            c.error(f"images of format '{name}' must be readonly or writeonly", d)


def check_atomic_counter(c: Checker, var: hir.Variable, d: s.Declarator) -> None:
    layout = var.quals.layout
    if "binding" not in layout:
        c.error(f"atomic counter '{d.name}' needs a binding", d, "layout(binding = 0)")
        return
    binding = layout["binding"]
    if binding >= c.limits.max_atomic_counter_bindings:
        c.error(f"binding {binding} exceeds the limit of atomic counter bindings", d)
    if var.type.is_unsized_array:
        c.error("arrays of atomic counters need a size", d)
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


def check_stream(c: Checker, quals: hir.Quals, node: s.Node) -> None:
    if quals.layout.get("stream", 0) >= c.limits.max_vertex_streams:
        c.error("stream exceeds the limit", node)


def check_layout_use(c: Checker, var: hir.Variable, d: s.Declarator) -> None:
    """Check the values of location, component, binding and similar qualifiers."""
    inherit_defaults(c, var.quals)
    check_stream(c, var.quals, d)
    layout, type_, storage = var.quals.layout, var.type, var.quals.storage
    element = type_.without_array
    if "location" in layout and storage in ("in", "out"):
        when = LOCATIONS
        edge = (c.stage, storage) in (("vertex", "in"), ("fragment", "out"))
        if c.lang.es and edge and storage == "in" and c.lang.version < 300:
            when = "es300"
        if not edge:
            when = SEPARATE_STAGES
        c.need(when, f"location of {c.stage} '{storage}' variables", d)
        if edge and storage == "out":
            if layout["location"] >= c.limits.max_draw_buffers:
                c.error(f"location {layout['location']} exceeds the number of outputs", d)
        elif edge and layout["location"] + 1 > c.limits.max_vertex_attribs:
            c.error(f"location {layout['location']} exceeds the number of inputs", d)
    if "location" in layout and storage == "uniform":
        c.need("430 ARB_explicit_uniform_location es310", "location of uniforms", d)
        if element.base is Base.ATOMIC_UINT:
            c.error("atomic counters have no location", d)
    if "index" in layout:
        if "location" not in layout:
            c.error("'index' needs a 'location'", d)
        elif layout["index"] > 1:
            c.error("'index' must be 0 or 1", d)
    if "component" in layout:
        check_component(c, var.quals, var.type, d, "location" in layout)
    if "binding" in layout and storage == "uniform":
        check_binding(c, var, d)
    if "offset" in layout and element.base is not Base.ATOMIC_UINT:
        c.error("'offset' is for atomic counters and block members", d)
    check_captured(c, layout, type_, feedback_buffer(c, layout, d), d)


def feedback_buffer(c: Checker, layout: dict[str, int], node: s.Node) -> int:
    """The transform feedback buffer of a variable or block."""
    buffer = layout.get("xfb_buffer", 0)
    if buffer >= c.limits.max_transform_feedback_buffers:
        c.error(f"xfb_buffer {buffer} exceeds the limit", node)
    return buffer


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
    if stride % 4:
        c.error("xfb_stride must be a multiple of 4", node)
    if stride > 4 * c.limits.max_transform_feedback_interleaved_components:
        c.error("xfb_stride exceeds the limit", node)


def check_component(c: Checker, quals: hir.Quals, type_: Type, d: s.Node, located: bool) -> None:
    """Check the first component of a variable or member, `located` if it has a location."""
    component, element = quals.layout["component"], type_.without_array
    if not located:
        c.error("'component' needs a 'location'", d)
    if element.is_matrix or element.is_struct:
        c.error(f"'component' cannot be used on '{element}'", d)
        return
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
    elif element.base is Base.ATOMIC_UINT:
        return
    else:
        c.error("'binding' is for blocks and opaque types", d)
        return
    if binding + count > limit:
        c.error(f"binding {binding} exceeds the limit of {limit}", d)
