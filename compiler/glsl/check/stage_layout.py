"""Declarations without a variable: `layout(...) in;`, defaults of blocks, sizes they settle."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.layout_values import LayoutValueChecker
from gallette.compiler.glsl.check.layouts import PRIMITIVES
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t

__all__ = ["StageLayoutChecker"]


class StageLayoutChecker(LayoutValueChecker):
    """What a shader declares about its stage."""

    sized_inputs: list[tuple[hir.Variable, s.Node]]

    def default_layout(self, node: s.Declaration) -> None:
        """`layout(...) in;` and its kin."""
        quals = self.qualifiers(node.quals, "default-")
        storage = quals.storage
        if storage not in ("in", "out", "uniform", "buffer"):
            raise self.abort("this declares nothing", node)
        if not node.quals.layout:
            if storage in ("uniform", "buffer") or not self.lang.es:
                raise self.abort("expected a declaration or a layout", node)
            return
        if storage in ("uniform", "buffer"):
            self.block_defaults.setdefault(storage, set())
            defaults = self.block_defaults[storage]
            if quals.flags & {"std140", "std430", "shared", "packed"}:
                defaults -= {"std140", "std430", "shared", "packed"}
            if quals.flags & {"row_major", "column_major"}:
                defaults -= {"row_major", "column_major"}
            defaults |= quals.flags
            bindless = quals.flags & {
                "bindless_sampler",
                "bound_sampler",
                "bindless_image",
                "bound_image",
            }
            for flag in bindless:
                key = f"default_{flag.partition('_')[2]}"
                self.shader.layout[key] = flag
            if "offset" in quals.layout and "binding" in quals.layout:
                self.counter_offsets[quals.layout["binding"]] = quals.layout["offset"]
            elif "offset" in quals.layout:
                self.error("a default offset needs a binding", node)
            return
        self.stage_layout(quals, node)

    block_defaults: dict[str, set[str]]

    def stage_layout(self, quals: hir.Quals, node: s.Node) -> None:
        layout = self.shader.layout
        flags = quals.flags

        def settle(key: str, value: object, what: str) -> None:
            if layout.setdefault(key, value) != value:
                self.error(f"{what} is declared twice with different values", node)

        if self.stage == "geometry":
            primitives = flags & (set(PRIMITIVES) | {"line_strip", "triangle_strip"})
            for name in primitives:
                if quals.storage == "in":
                    settle("input_primitive", name, "the input primitive")
                    self.set_vertices_in(PRIMITIVES[layout["input_primitive"]], node)
                else:
                    settle("output_primitive", name, "the output primitive")
            if "max_vertices" in quals.layout:
                if quals.layout["max_vertices"] > self.limits.max_geometry_output_vertices:
                    self.error("max_vertices exceeds the limit", node)
                settle("max_vertices", quals.layout["max_vertices"], "max_vertices")
            if "invocations" in quals.layout:
                if quals.layout["invocations"] > self.limits.max_geometry_shader_invocations:
                    self.error("invocations exceeds the limit", node)
                settle("invocations", quals.layout["invocations"], "invocations")
            if "stream" in quals.layout:
                if quals.layout["stream"] >= self.limits.max_vertex_streams:
                    self.error("stream exceeds the limit", node)
                layout["default_stream"] = quals.layout["stream"]
        elif self.stage == "tess_ctrl" and "vertices" in quals.layout:
            if quals.layout["vertices"] > self.limits.max_patch_vertices:
                self.error("vertices exceeds the limit", node)
            settle("vertices_out", quals.layout["vertices"], "the output patch size")
            self.size_patch_outputs(layout["vertices_out"], node)
        elif self.stage == "tess_eval":
            for key, names in (
                ("primitive", {"triangles", "quads", "isolines"}),
                ("spacing", {"equal_spacing", "fractional_even_spacing", "fractional_odd_spacing"}),
                ("order", {"cw", "ccw"}),
            ):
                for name in flags & names:
                    settle(f"tess_{key}", name, f"the tessellation {key}")
            if "point_mode" in flags:
                layout["point_mode"] = True
        elif self.stage == "compute":
            self.compute_layout(quals, node)
        elif self.stage == "fragment":
            for name in flags:
                layout[name] = True
        if "xfb_buffer" in quals.layout:
            layout["default_xfb_buffer"] = quals.layout["xfb_buffer"]
            if quals.layout["xfb_buffer"] >= self.limits.max_transform_feedback_buffers:
                self.error("xfb_buffer exceeds the limit", node)
        if "xfb_stride" in quals.layout:
            buffer = quals.layout.get("xfb_buffer", layout.get("default_xfb_buffer", 0))
            self.merge_xfb_stride(buffer, quals.layout["xfb_stride"], node)

    def set_vertices_in(self, count: int, node: s.Node) -> None:
        """The input primitive is known: size what waited for it."""
        layout = self.shader.layout
        layout["vertices_in"] = count
        for var in [*self.shader.globals, *self.shader.builtins.values()]:
            if (
                var.type.is_array
                and var.type.length == 0
                and var.quals.storage == "in"
                and (var.builtin in ("", "block") or var.name.endswith("In"))
                and var.type.element is not None
            ):
                if var.max_index >= count:
                    self.error(f"'{var.name}' has been indexed beyond {count} vertices", node)
                var.type = t.array(var.type.element, count)
        for var, where in self.sized_inputs:
            if var.type.length != count:
                self.error(
                    f"'{var.name}' has {var.type.length} elements, the input primitive "
                    f"{count} vertices",
                    where,
                )

    def size_patch_outputs(self, count: int, node: s.Node) -> None:
        for var in [*self.shader.globals, *self.shader.builtins.values()]:
            if (
                var.type.is_array
                and var.quals.storage == "out"
                and not var.quals.patch
                and var.builtin in ("", "block")
                and var.type.element is not None
            ):
                if var.type.length == 0:
                    var.type = t.array(var.type.element, count)
                elif var.type.length != count:
                    self.error(
                        f"'{var.name}' has {var.type.length} elements, the output patch "
                        f"{count} vertices",
                        node,
                    )

    def compute_layout(self, quals: hir.Quals, node: s.Node) -> None:
        layout = self.shader.layout
        for name in quals.flags:
            layout[name] = True
        if not any(k.startswith("local_size") for k in quals.layout):
            return
        size = tuple(quals.layout.get(f"local_size_{axis}", 1) for axis in "xyz")
        if layout.setdefault("local_size", size) != size:
            self.error("the workgroup size is declared twice with different values", node)
        for value, limit in zip(size, self.limits.max_compute_work_group_size, strict=True):
            if value > limit:
                self.error(f"the workgroup size exceeds the limit of {limit}", node)
        if size[0] * size[1] * size[2] > self.limits.max_compute_work_group_invocations:
            self.error("the workgroup has too many invocations", node)
