"""Layout declarations without a variable: primitives, workgroup sizes, block defaults."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.check.layout_values import check_stream, merge_xfb_stride
from gallette.compiler.glsl.check.layouts import MATRIX_LAYOUTS, PACKINGS, PRIMITIVES
from gallette.compiler.glsl.check.per_vertex import size_by_vertices
from gallette.compiler.glsl.check.qualifiers import read_qualifiers
from gallette.compiler.glsl.parse import syntax as s

__all__ = ["default_layout"]


def default_layout(c: Checker, node: s.Declaration) -> None:
    """Check `layout(...) in;` and similar declarations."""
    quals = read_qualifiers(c, node.quals, "default-")
    storage = quals.storage
    if storage not in ("in", "out", "uniform", "buffer"):
        raise c.abort("this declares nothing", node)
    if not node.quals.layout:
        if storage in ("uniform", "buffer") or not c.lang.es:
            raise c.abort("expected a declaration or a layout", node)
        return
    if storage in ("uniform", "buffer"):
        c.block_defaults.setdefault(storage, set())
        defaults = c.block_defaults[storage]
        for group in (PACKINGS, MATRIX_LAYOUTS):
            if quals.flags & group:
                defaults -= group
        defaults |= quals.flags
        for kind in ("sampler", "image"):
            for flag in quals.flags & {f"bindless_{kind}", f"bound_{kind}"}:
                if c.shader.layout.setdefault(f"default_{kind}", flag) != flag:
                    c.error(f"{kind}s are declared both bound and bindless", node)
        return
    declare_stage_layout(c, quals, node)


def declare_stage_layout(c: Checker, quals: hir.Quals, node: s.Node) -> None:
    layout = c.shader.layout
    flags = quals.flags

    def settle(key: str, value: object, what: str) -> None:
        if layout.setdefault(key, value) != value:
            c.error(f"{what} is declared twice with different values", node)

    if c.stage == "geometry":
        primitives = flags & (set(PRIMITIVES) | {"line_strip", "triangle_strip"})
        for name in primitives:
            if quals.storage == "in":
                settle("input_primitive", name, "the input primitive")
                layout["vertices_in"] = PRIMITIVES[layout["input_primitive"]]
                size_by_vertices(c, "in", layout["vertices_in"], node)
            else:
                settle("output_primitive", name, "the output primitive")
        if "max_vertices" in quals.layout:
            if quals.layout["max_vertices"] > c.limits.max_geometry_output_vertices:
                c.error("max_vertices exceeds the limit", node)
            settle("max_vertices", quals.layout["max_vertices"], "max_vertices")
        if "invocations" in quals.layout:
            if quals.layout["invocations"] > c.limits.max_geometry_shader_invocations:
                c.error("invocations exceeds the limit", node)
            settle("invocations", quals.layout["invocations"], "invocations")
        if "stream" in quals.layout:
            check_stream(c, quals, node)
            layout["default_stream"] = quals.layout["stream"]
    elif c.stage == "tess_ctrl" and "vertices" in quals.layout:
        if quals.layout["vertices"] > c.limits.max_patch_vertices:
            c.error("vertices exceeds the limit", node)
        settle("vertices_out", quals.layout["vertices"], "the output patch size")
        size_by_vertices(c, "out", layout["vertices_out"], node)
    elif c.stage == "tess_eval":
        for key, names in (
            ("primitive", {"triangles", "quads", "isolines"}),
            ("spacing", {"equal_spacing", "fractional_even_spacing", "fractional_odd_spacing"}),
            ("order", {"cw", "ccw"}),
        ):
            for name in flags & names:
                settle(f"tess_{key}", name, f"the tessellation {key}")
        if "point_mode" in flags:
            layout["point_mode"] = True
    elif c.stage == "compute":
        compute_layout(c, quals, node)
    elif c.stage == "fragment":
        for name in flags:
            layout[name] = True
    if "xfb_buffer" in quals.layout:
        layout["default_xfb_buffer"] = quals.layout["xfb_buffer"]
        if quals.layout["xfb_buffer"] >= c.limits.max_transform_feedback_buffers:
            c.error("xfb_buffer exceeds the limit", node)
    if "xfb_stride" in quals.layout:
        buffer = quals.layout.get("xfb_buffer", layout.get("default_xfb_buffer", 0))
        merge_xfb_stride(c, buffer, quals.layout["xfb_stride"], node)


def compute_layout(c: Checker, quals: hir.Quals, node: s.Node) -> None:
    layout = c.shader.layout
    for name in quals.flags:
        layout[name] = True
    if not any(k.startswith("local_size") for k in quals.layout):
        return
    size = tuple(quals.layout.get(f"local_size_{axis}", 1) for axis in "xyz")
    if layout.setdefault("local_size", size) != size:
        c.error("the workgroup size is declared twice with different values", node)
    for value, limit in zip(size, c.limits.max_compute_work_group_size, strict=True):
        if value > limit:
            c.error(f"the workgroup size exceeds the limit of {limit}", node)
    if size[0] * size[1] * size[2] > c.limits.max_compute_work_group_invocations:
        c.error("the workgroup has too many invocations", node)
