"""Layout declarations without a variable: primitives, workgroup sizes, block defaults."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.check.layout_values import merge_xfb_stride
from gallette.compiler.glsl.check.per_vertex import size_by_vertices
from gallette.compiler.glsl.check.qualifiers import read_qualifiers
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.qualifiers import (
    LAYOUTS,
    MATRIX_LAYOUTS,
    PACKINGS,
    PRIMITIVES,
    fitting,
)


def default_layout(c: Checker, node: s.Declaration) -> None:
    """Check `layout(...) in;` and similar declarations."""
    if not c.at_global_scope:
        raise c.abort("qualifiers without a variable must be global", node)
    quals = read_qualifiers(c, node.quals, "default")
    storage = quals.storage
    if storage not in ("in", "out", "uniform", "buffer"):
        return  # an error by the table of qualifiers
    if not node.quals.layout:
        if storage in ("uniform", "buffer") or not c.lang.es:
            raise c.abort("expected a declaration or a layout", node)
    elif storage in ("uniform", "buffer"):
        block_defaults(c, quals, node)
    else:
        stage_layout(c, quals, node)


def block_defaults(c: Checker, quals: hir.Quals, node: s.Node) -> None:
    defaults = c.block_defaults.setdefault(quals.storage, set())
    for group in (PACKINGS, MATRIX_LAYOUTS):
        if quals.flags & group:
            defaults -= group
    defaults |= quals.flags
    for kind in ("sampler", "image"):
        for flag in quals.flags & {f"bindless_{kind}", f"bound_{kind}"}:
            if c.shader.layout.setdefault(f"default_{kind}", flag) != flag:
                c.error(f"{kind}s are declared both bound and bindless", node)


def stage_layout(c: Checker, quals: hir.Quals, node: s.Node) -> None:
    """Record what the table of qualifiers says is settled once per shader, and the rest."""
    layout, place = c.shader.layout, f"default-{quals.storage}"
    for name in [*sorted(quals.flags & LAYOUTS.keys()), *quals.layout]:
        row = fitting(LAYOUTS[name], place, c.stage)
        if row is not None and row.settles:
            value = quals.layout.get(name, name)
            old = layout.setdefault(row.group, value)
            if old != value and name in quals.flags:
                c.error(f"'{name}' contradicts '{old}'", node)
            elif old != value:
                c.error(f"'{name}' is declared as {old} and as {value}", node)
        elif name in quals.flags:
            layout[name] = True
    if c.stage == "geometry" and quals.storage == "in" and "input_primitive" in layout:
        layout["vertices_in"] = PRIMITIVES[layout["input_primitive"]]
        size_by_vertices(c, "in", layout["vertices_in"], node)
    if "vertices" in quals.layout:
        size_by_vertices(c, "out", layout["vertices_out"], node)
    for name in ("stream", "xfb_buffer"):
        if name in quals.layout:
            layout[f"default_{name}"] = quals.layout[name]
    if "xfb_stride" in quals.layout:
        buffer = layout.get("default_xfb_buffer", 0)
        merge_xfb_stride(c, buffer, quals.layout["xfb_stride"], node)
    if any(k.startswith("local_size") for k in quals.layout):
        workgroup_size(c, quals, node)


def workgroup_size(c: Checker, quals: hir.Quals, node: s.Node) -> None:
    size = tuple(quals.layout.get(f"local_size_{axis}", 1) for axis in "xyz")
    if c.shader.layout.setdefault("local_size", size) != size:
        c.error("the workgroup size is declared twice with different values", node)
    for value, limit in zip(size, c.limits.max_compute_work_group_size, strict=True):
        if value > limit:
            c.error(f"the workgroup size exceeds the limit of {limit}", node)
    if size[0] * size[1] * size[2] > c.limits.max_compute_work_group_invocations:
        c.error("the workgroup has too many invocations", node)
