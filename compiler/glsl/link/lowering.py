"""One whole stage: globals, main, and the facts in `ShaderInfo`."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import constant_value
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageFacts, StageVariables
from gallette.compiler.glsl.lower.statements import StatementLowering
from gallette.compiler.glsl.lower.values import constant_bits, store
from gallette.compiler.glsl.qualifiers import BLEND_MODES
from gallette.compiler.link.program import LinkedProgram
from gallette.compiler.nir.ir import Mode, Shader, Stage, Variable
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.ir.types import stored_type


def lower_stage(unit: StageUnit, variables: StageVariables, program: LinkedProgram) -> Shader:
    """Lower the joined shaders of a stage; the caller owns the only reference."""
    shader = Shader(unit.stage, unit.stage.value)
    _fill_info(unit, shader, program)
    _add_variables(unit, shader, variables)
    coord = unit.builtins.get("gl_FragCoord")
    facts = StageFacts(
        bodies=unit.functions,
        subroutine_choices=_subroutines(unit, program),
        needs_helpers=_needs_helpers(unit),
        fragcoord_flags=frozenset(coord.quals.flags if coord is not None else ()),
        has_handles=unit.has_handles,
    )
    lowering = StatementLowering(shader, variables, facts)
    _initialize(unit, lowering, variables)
    assert unit.main is not None
    lowering.functions[unit.main] = shader.entry_function
    lowering.lines = unit.main.lines
    lowering.statements(unit.main.body or [])
    lowering.lower_called()
    lowering.b.impl.invalidate()
    return shader


def _needs_helpers(unit: StageUnit) -> bool:
    """Whether reachable code takes derivatives, explicitly or in a texture lookup."""
    prefixes = ("dFd", "fwidth", "texture", "shadow", "interpolate")
    return any(name.startswith(prefixes) for name in unit.uses)


def _add_variables(unit: StageUnit, shader: Shader, variables: StageVariables) -> None:
    """Add interface variables from the linker, and plain globals as shader temporaries.

    Constant initialisers of the latter become data of the variable.
    """
    initial = {unit.resolve(var): _constant(var) for var in unit.startup}
    seen: set[Variable] = set()
    groups = (variables.variables, variables.members, variables.blocks, variables.opaque)
    for group in groups:
        for nir in group.values():
            if nir not in seen:
                seen.add(nir)
                shader.variables.append(nir)
    for var in unit.globals.values():
        if var in variables.variables or var.block is not None:
            continue
        storage = var.quals.storage
        if storage in ("in", "uniform") and var not in unit.live:
            continue
        mode = Mode.SHARED if storage == "shared" else Mode.SHADER_TEMP
        data = initial.get(var)
        nir = Variable(
            var.name,
            stored_type(var.type),
            mode,
            precise=var.quals.precise,
            constant_initializer=None if data is None else constant_bits(var.type, data),
        )
        variables.variables[var] = nir
        shader.variables.append(nir)
    for name, var in unit.builtins.items():
        if var in variables.variables or var.builtin.startswith(("sv:", "const", "block")):
            continue
        if (
            name == "gl_LastFragData"
            or var.quals.storage == "out"
            or (var.quals.storage == "uniform" and var in unit.live)
        ):
            nir = Variable(name, var.type, Mode.SHADER_TEMP)
            variables.variables[var] = nir
            shader.variables.append(nir)


def _initialize(unit: StageUnit, lowering: StatementLowering, variables: StageVariables) -> None:
    """Lower initialisers of globals that are not data of their variables, as code before main."""
    _fetch_framebuffer(unit, lowering, variables)
    for var in unit.startup:
        target = unit.resolve(var)
        assert var.init is not None
        nir = variables.variables.get(target)
        if nir is not None and nir.constant_initializer is None:
            store(lowering.b, lowering.b.deref_var(nir), lowering.value(var.init))


def _constant(var: hir.Variable) -> hir.Value | None:
    assert var.init is not None
    return constant_value(var.init)


def _fetch_framebuffer(
    unit: StageUnit, lowering: StatementLowering, variables: StageVariables
) -> None:
    """Initialise `inout` outputs and gl_LastFragData with the framebuffer's contents."""
    b = lowering.b
    wanted = [v for v in unit.globals.values() if "framebuffer_fetch" in v.quals.flags]
    last = unit.builtins.get("gl_LastFragData")
    if last is not None and last in unit.live:
        wanted.append(last)
    for var in wanted:
        nir = variables.variables.get(var)
        if nir is None or var not in unit.live:
            continue
        first = nir.location if nir.location >= 0 else int(FragResult.DATA0)
        element = nir.type.without_array
        whole = lowering.variable(nir)
        for i in range(nir.type.length if nir.type.is_array else 1):
            value = b.intrinsic(
                "load_output",
                [b.imm_int(0)],
                num_components=element.components,
                bit_size=element.bit_size,
                location=FragResult(first + i),
                dest_type=f"{'float' if element.is_float else 'int'}{element.bit_size}",
            )
            b.store_deref(b.deref_array_imm(whole, i) if nir.type.is_array else whole, value)


def _subroutines(
    unit: StageUnit, program: LinkedProgram
) -> dict[hir.Variable, list[tuple[int, hir.Function]]]:
    choices: dict[hir.Variable, list[tuple[int, hir.Function]]] = {}
    functions = {f.name: f for f in unit.functions.values() if f.subroutine_types}
    names = program.subroutines.get(unit.stage, [])
    for uniform in program.subroutine_uniforms:
        if uniform.stage is unit.stage:
            var = unit.globals[uniform.name.partition("[")[0]]
            choices[var] = [(i, functions[names[i]]) for i in uniform.compatible]
    return choices


_DEPTH = {
    "depth_any": "any",
    "depth_greater": "greater",
    "depth_less": "less",
    "depth_unchanged": "unchanged",
}


def _fill_info(unit: StageUnit, shader: Shader, program: LinkedProgram) -> None:
    info, layout = shader.info, unit.layout
    facts = program.info
    if unit.stage is Stage.FRAGMENT:
        info.post_depth_coverage = bool(layout.get("post_depth_coverage"))
        info.early_fragment_tests = info.post_depth_coverage or bool(
            layout.get("early_fragment_tests")
        )
        if layout:
            info.interlocks = any("interlock" in key for key in layout)
            if any(key.startswith("blend_support_") for key in layout):
                everything = layout.get("blend_support_all_equations")
                for number, mode in enumerate(BLEND_MODES):
                    if everything or layout.get(mode):
                        info.blend_equations_advanced |= 1 << number
        depth = unit.builtins.get("gl_FragDepth")
        if depth is not None:
            for flag, name in _DEPTH.items():
                if flag in depth.quals.flags:
                    info.depth_layout = name
        info.color_is_dual_source = any(o.index for o in program.frag_outputs)
    elif unit.stage is Stage.GEOMETRY:
        info.input_primitive = layout.get("input_primitive", "")
        info.output_primitive = layout.get("output_primitive", "")
        info.vertices_out = layout.get("max_vertices", 0)
        info.invocations = layout.get("invocations", 1)
    elif unit.stage is Stage.TESS_CTRL:
        info.vertices_out = layout.get("vertices_out", 0)
    elif unit.stage is Stage.TESS_EVAL:
        info.tess_primitive = layout.get("tess_primitive", "")
        info.tess_spacing = layout.get("tess_spacing", "equal_spacing")
        info.tess_ccw = layout.get("tess_order", "ccw") == "ccw"
        info.tess_point_mode = bool(layout.get("point_mode"))
    elif unit.stage is Stage.COMPUTE:
        size = layout.get("local_size", (0, 0, 0))
        info.workgroup_size = facts.local_size = (size[0], size[1], size[2])
        info.workgroup_size_variable = bool(layout.get("local_size_variable"))
        facts.local_size_variable = info.workgroup_size_variable
    if program.xfb is not None and unit.stage is not Stage.FRAGMENT:
        info.has_transform_feedback = True
