"""Rules about whole stages and the set of stages in a program."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.qualifiers import PRIMITIVES
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.link.stages import check_stages
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir import types as t

_PER_VERTEX = frozenset(("gl_Position", "gl_PointSize", "gl_ClipDistance", "gl_CullDistance"))
_COMPUTE, _TESS_CTRL, _TESS_EVAL = Stage.COMPUTE, Stage.TESS_CTRL, Stage.TESS_EVAL


def check_program(
    units: dict[Stage, StageUnit], languages: list[Language], options: LinkOptions, log: LinkLog
) -> None:
    """Check which stages may be linked together, and in which versions."""
    if not units:
        if options.api != "compat":
            log.error("the program has no shaders")
        return
    es = [lang for lang in languages if lang.es]
    if es:
        if len(es) < len(languages):
            log.error("GLSL ES and desktop GLSL shaders cannot be linked together")
        elif len({lang.version for lang in languages}) > 1:
            log.error("all shaders must use the same version of GLSL ES")
        if not options.separable and _COMPUTE not in units:
            for stage in (Stage.VERTEX, Stage.FRAGMENT):
                if stage not in units:
                    log.error(f"the program has no {stage.value} shader")
    check_stages(units.keys(), options.separable, log)
    if options.separable:
        return
    if es and _TESS_EVAL in units and _TESS_CTRL not in units:
        log.error("a tessellation evaluation shader needs a tessellation control shader")
    if Stage.VERTEX in units:
        _check_position(units[Stage.VERTEX], log)


def check_stage(unit: StageUnit, limits: Limits, log: LinkLog) -> None:
    """Check the layouts that a stage must declare, and built-ins that exclude each other."""
    rule = _LAYOUTS.get(unit.stage)
    if rule is not None:
        rule(unit, limits, log)
    if len(unit.per_vertex) > 1:
        _check_per_vertex(unit, log)
    if unit.builtins:
        _check_exclusive(unit, limits, log)


def _check_geometry(unit: StageUnit, limits: Limits, log: LinkLog) -> None:
    layout = unit.layout
    for key, what in (
        ("input_primitive", "input primitive"),
        ("output_primitive", "output primitive"),
        ("max_vertices", "max_vertices"),
    ):
        if key not in layout and not unit.language.has("ARB_geometry_shader4"):
            log.error(f"the geometry shaders declare no {what}")
    streams = layout.get("streams", set())
    if any(not 0 <= s < limits.max_vertex_streams for s in streams):
        log.error("a geometry shader emits to a stream that does not exist")
    if any(s > 0 for s in streams) and layout.get("output_primitive") != "points":
        log.error("several vertex streams need the output primitive points")
    _size_by_vertices(unit, "in", PRIMITIVES.get(layout.get("input_primitive", ""), 0), log)


def _check_control(unit: StageUnit, _: Limits, log: LinkLog) -> None:
    if "vertices_out" not in unit.layout:
        log.error("the tessellation control shaders declare no output patch size")
    _size_by_vertices(unit, "out", unit.layout.get("vertices_out", 0), log)


def _check_evaluation(unit: StageUnit, _: Limits, log: LinkLog) -> None:
    if "tess_primitive" not in unit.layout:
        log.error("the tessellation evaluation shaders declare no primitive")


def _check_compute(unit: StageUnit, _: Limits, log: LinkLog) -> None:
    layout = unit.layout
    variable = "local_size_variable" in layout
    if "local_size" not in layout and not variable:
        log.error("the compute shaders declare no workgroup size")
    size = layout.get("local_size", (1, 1, 1))
    if "derivative_group_quadsNV" in layout and (size[0] % 2 or size[1] % 2):
        log.error("derivative groups of quads need even workgroup sizes in x and y")
    if "derivative_group_linearNV" in layout and size[0] * size[1] * size[2] % 4:
        log.error("linear derivative groups need a multiple of 4 invocations")
    if "local_size" in layout and variable:
        log.error("the workgroup size is both fixed and variable")


_LAYOUTS = {
    Stage.GEOMETRY: _check_geometry,
    _TESS_CTRL: _check_control,
    _TESS_EVAL: _check_evaluation,
    _COMPUTE: _check_compute,
}


def _check_per_vertex(unit: StageUnit, log: LinkLog) -> None:
    """Check that shaders which use members of gl_PerVertex redeclare it alike, or not at all."""
    found = {
        redeclared and frozenset(redeclared)
        for shader, redeclared in unit.per_vertex
        if any(n in _PER_VERTEX and (v.written or v.used) for n, v in shader.builtins.items())
    }
    if len(found) > 1:
        log.error(f"{unit.name} shaders redeclare gl_PerVertex differently")


def _check_position(unit: StageUnit, log: LinkLog) -> None:
    """Check that before GLSL 1.40 a vertex shader writes gl_Position, unless it is linked alone."""
    position = unit.builtins.get("gl_Position")
    if unit.language.has("110-130") and not (position is not None and position.written):
        log.error("the vertex shader does not write gl_Position")


def _check_exclusive(unit: StageUnit, limits: Limits, log: LinkLog) -> None:
    written = {name for name, var in unit.builtins.items() if var.written}
    if "gl_ClipVertex" in written and written & {"gl_ClipDistance", "gl_CullDistance"}:
        log.error("gl_ClipVertex cannot be written together with gl_ClipDistance")
    if {"gl_FragColor", "gl_FragData"} <= written:
        log.error("gl_FragColor and gl_FragData cannot both be written")
    clip, cull = unit.builtins.get("gl_ClipDistance"), unit.builtins.get("gl_CullDistance")
    if clip is not None and cull is not None:
        if clip.type.length + cull.type.length > limits.max_combined_clip_and_cull_distances:
            log.error("too many clip and cull distances together")


def _size_by_vertices(unit: StageUnit, storage: str, vertices: int, log: LinkLog) -> None:
    """Size what has an element for each vertex of a primitive or patch, whichever shader declares
    how many these have (GLSL 4.60, 4.3.4 and 4.3.6).
    """
    if not vertices:
        return
    instances = [block.instance for block in unit.blocks.values() if block.instance is not None]
    for var in (*unit.globals.values(), *unit.builtins.values(), *instances):
        length = var.type.length
        if var.quals.storage != storage or var.quals.patch or var.type.element is None:
            continue
        if var.builtin not in ("", "block") and not _is_array_of_vertices(var):
            continue
        if length != vertices:
            if var.max_index >= vertices or length not in (0, max(1, var.max_index + 1)):
                of = "input primitive" if storage == "in" else "output patch"
                log.error(f"'{var.name}' has {length} elements, the {of} {vertices} vertices")
            else:
                var.type = t.array(var.type.element, vertices)


def _is_array_of_vertices(var: hir.Variable) -> bool:
    """Whether it is a built-in array such as gl_PositionIn (ARB_geometry_shader4)."""
    return var.name.endswith("In") and var.name != "gl_PrimitiveIDIn"
