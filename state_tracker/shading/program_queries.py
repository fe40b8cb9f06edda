"""The contents of a linked program: glGetProgramiv, active uniforms, attributes, blocks,
outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir import Stage
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.gl_types import gl_type
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.shading.feedback import size_and_type
from gallette.state_tracker.shading.program_binaries import binary_of
from gallette.state_tracker.shading.programs import Executable, ProgramObject, of_stages

if TYPE_CHECKING:
    from gallette.compiler.glsl import LinkedProgram, Uniform
    from gallette.compiler.nir.link.feedback import StreamVarying
    from gallette.state_tracker.context import Context

INVALID_INDEX = 0xFFFFFFFF
_SUBSCRIPT = re.compile(r"^(.*)\[(\d+)\]$")


def linked_of(ctx: Context, name: int) -> Executable | None:
    """The executable of a program, None if it was never linked."""
    return ctx.programs.program(name).told


def uniform_name(uniform: Any) -> str:
    """The name that GL reports: arrays end in `[0]`. It is empty if a SPIR-V module has none."""
    if uniform.array_size and uniform.name and not uniform.name.endswith("]"):
        return f"{uniform.name}[0]"
    return str(uniform.name)


def split_subscript(name: str) -> tuple[str, int]:
    """Split a name such as `a[3]` into (`a`, 3); without a subscript the index is 0."""
    match = _SUBSCRIPT.match(name)
    if match is None or (len(match[2]) > 1 and match[2][0] == "0"):
        return name, 0
    return match[1], int(match[2])


def find_uniform(linked: LinkedProgram, name: str) -> tuple[int, Uniform, int] | None:
    """Index, uniform and array element for a name."""
    if not name:
        return None
    for index, uniform in enumerate(linked.uniforms):
        full = uniform_name(uniform)
        if name == full or (uniform.array_size and f"{name}[0]" == full):
            return index, uniform, 0
    base, element = split_subscript(name)
    if base != name:
        for index, uniform in enumerate(linked.uniforms):
            plain = uniform.name.removesuffix("[0]")
            if plain == base and uniform.array_size and element < uniform.array_size:
                return index, uniform, element
    return None


def _longest(names: list[str]) -> int:
    return max((len(n.encode()) + 1 for n in names), default=0)


def _captured(program: ProgramObject) -> tuple[StreamVarying, ...]:
    """The varyings the linked program captures: those that the shader has layouts for, or else
    those that the application named.
    """
    xfb = program.told.linked.xfb if program.told is not None else None
    return xfb.varyings if xfb is not None else ()


@entry
def get_programiv(ctx: Context, program: int, pname: int) -> list[int]:
    found = ctx.programs.program(program)
    linked = found.told.linked if found.told is not None else None
    # Of a program that captures nothing, the names set for the next link.
    captured = [v.name for v in _captured(found)] or found.xfb_varyings
    log = len(found.info_log.encode()) + 1 if found.info_log else 0
    values: dict[int, Any] = {
        GL.DELETE_STATUS: int(found.delete_pending),
        GL.LINK_STATUS: int(found.link_ok),
        GL.COMPLETION_STATUS_KHR: 1,
        GL.VALIDATE_STATUS: int(found.validate_ok),
        GL.INFO_LOG_LENGTH: log,
        GL.ATTACHED_SHADERS: len(found.attached),
        GL.PROGRAM_SEPARABLE: int(found.link_ok and found.was_separable),
        GL.PROGRAM_BINARY_RETRIEVABLE_HINT: int(found.binary_retrievable),
        GL.TRANSFORM_FEEDBACK_BUFFER_MODE: found.xfb_mode,
        GL.TRANSFORM_FEEDBACK_VARYINGS: len(captured),
        GL.TRANSFORM_FEEDBACK_VARYING_MAX_LENGTH: _longest(captured),
    }
    if pname in values:
        return [values[pname]]
    if pname == GL.PROGRAM_BINARY_LENGTH:
        return [len(binary_of(ctx, found)) if found.link_ok else 0]
    if pname == GL.COMPUTE_WORK_GROUP_SIZE:
        if linked is None or not found.link_ok or Stage.COMPUTE not in linked.shaders:
            raise invalid_operation("the program has no compute shader")
        return list(linked.shaders[Stage.COMPUTE].info.workgroup_size)
    return [_linked_parameter(found, linked, pname)]


def _linked_parameter(program: ProgramObject, linked: LinkedProgram | None, pname: int) -> int:
    uniforms = list(linked.uniforms) if linked is not None else []
    attributes = program.told.attributes if program.told is not None else []
    blocks = list(linked.uniform_blocks) if linked is not None else []
    atomics = list(linked.atomic_buffers) if linked is not None else []
    values: dict[int, int] = {
        GL.ACTIVE_UNIFORMS: len(uniforms),
        GL.ACTIVE_UNIFORM_MAX_LENGTH: _longest([uniform_name(u) for u in uniforms]),
        GL.ACTIVE_ATTRIBUTES: len(attributes),
        GL.ACTIVE_ATTRIBUTE_MAX_LENGTH: _longest([a.name for a in attributes]),
        GL.ACTIVE_UNIFORM_BLOCKS: len(blocks),
        GL.ACTIVE_UNIFORM_BLOCK_MAX_NAME_LENGTH: _longest([b.name for b in blocks]),
        GL.ACTIVE_ATOMIC_COUNTER_BUFFERS: len(atomics),
    }
    if pname in values:
        return values[pname]
    if pname in _STAGE_GETS:
        stage, field = _STAGE_GETS[pname]
        if linked is None or stage not in linked.shaders:
            raise invalid_operation(f"the program has no {stage.value} shader")
        value = getattr(linked.shaders[stage].info, field)
        if pname == GL.TESS_GEN_VERTEX_ORDER:
            return int(GL.CCW if value else GL.CW)
        return _LAYOUTS[value] if isinstance(value, str) else int(value)
    raise invalid_enum(pname, "program parameter")


_STAGE_GETS: dict[int, tuple[Stage, str]] = {
    GL.GEOMETRY_VERTICES_OUT: (Stage.GEOMETRY, "vertices_out"),
    GL.GEOMETRY_SHADER_INVOCATIONS: (Stage.GEOMETRY, "invocations"),
    GL.GEOMETRY_INPUT_TYPE: (Stage.GEOMETRY, "input_primitive"),
    GL.GEOMETRY_OUTPUT_TYPE: (Stage.GEOMETRY, "output_primitive"),
    GL.TESS_CONTROL_OUTPUT_VERTICES: (Stage.TESS_CTRL, "vertices_out"),
    GL.TESS_GEN_MODE: (Stage.TESS_EVAL, "tess_primitive"),
    GL.TESS_GEN_SPACING: (Stage.TESS_EVAL, "tess_spacing"),
    GL.TESS_GEN_VERTEX_ORDER: (Stage.TESS_EVAL, "tess_ccw"),
    GL.TESS_GEN_POINT_MODE: (Stage.TESS_EVAL, "tess_point_mode"),
}
_LAYOUTS: dict[str, int] = {
    "points": GL.POINTS,
    "lines": GL.LINES,
    "line_strip": GL.LINE_STRIP,
    "lines_adjacency": GL.LINES_ADJACENCY,
    "triangles": GL.TRIANGLES,
    "triangle_strip": GL.TRIANGLE_STRIP,
    "triangles_adjacency": GL.TRIANGLES_ADJACENCY,
    "quads": GL.QUADS,
    "isolines": GL.ISOLINES,
    "": GL.EQUAL,
    "equal": GL.EQUAL,
    "equal_spacing": GL.EQUAL,
    "fractional_even": GL.FRACTIONAL_EVEN,
    "fractional_even_spacing": GL.FRACTIONAL_EVEN,
    "fractional_odd": GL.FRACTIONAL_ODD,
    "fractional_odd_spacing": GL.FRACTIONAL_ODD,
}


# -- uniforms --------------------------------------------------------------------------------------


@entry
def get_uniform_location(ctx: Context, program: int, name: str) -> int:
    linked = ctx.programs.program(program).require_linked().linked
    found = find_uniform(linked, name)
    if found is None or found[1].location < 0:
        return -1
    return found[1].location + found[2]


def uniform_at(ctx: Context, program: int, index: int) -> Uniform:
    executable = linked_of(ctx, program)
    count = len(executable.linked.uniforms) if executable is not None else 0
    if executable is None or not 0 <= index < count:
        raise invalid_value(f"active uniform {index} is not below {count}")
    return executable.linked.uniforms[index]


@entry
def get_active_uniform(ctx: Context, program: int, index: int) -> tuple[int, int, str]:
    uniform = uniform_at(ctx, program, index)
    return max(1, uniform.array_size), gl_type(uniform.type), uniform_name(uniform)


@entry
def get_active_uniform_name(ctx: Context, program: int, index: int) -> str:
    return uniform_name(uniform_at(ctx, program, index))


@entry
def get_uniform_indices(ctx: Context, program: int, count: int, names: list[str]) -> list[int]:
    executable = linked_of(ctx, program)
    indices = []
    for name in names:
        found = find_uniform(executable.linked, name) if executable is not None else None
        indices.append(found[0] if found is not None and not found[2] else INVALID_INDEX)
    return indices


# -- attributes and outputs ------------------------------------------------------------------------


@entry
def get_attrib_location(ctx: Context, program: int, name: str) -> int:
    linked = ctx.programs.program(program).require_linked().linked
    attribute, element = _element(linked.attributes, name)
    if attribute is None or name.startswith("gl_"):
        return -1
    return int(attribute.location + element * max(1, attribute.type.columns))


@entry
def get_active_attrib(ctx: Context, program: int, index: int) -> tuple[int, int, str]:
    executable = linked_of(ctx, program)
    count = len(executable.attributes) if executable is not None else 0
    if executable is None or not 0 <= index < count:
        raise invalid_value(f"active attribute {index} is not below {count}")
    attribute = executable.attributes[index]
    return max(1, attribute.array_size), gl_type(attribute.type), attribute.name


def _element(items: Iterable[Any], name: str) -> tuple[Any, int]:
    """The attribute or output of a name, and the element of an array; None for no such name."""
    base, element = split_subscript(name)
    for item in items if name else ():
        full = uniform_name(item)
        if name == full or f"{name}[0]" == full:
            return item, 0
        if f"{base}[0]" == full and element < item.array_size:
            return item, element
    return None, 0


def _output(ctx: Context, program: int, name: str) -> tuple[Any, int]:
    return _element(ctx.programs.program(program).require_linked().linked.frag_outputs, name)


@entry
def get_frag_data_location(ctx: Context, program: int, name: str) -> int:
    output, element = _output(ctx, program, name)
    return -1 if output is None or name.startswith("gl_") else int(output.location) + element


@entry
def get_frag_data_index(ctx: Context, program: int, name: str) -> int:
    output, _ = _output(ctx, program, name)
    return -1 if output is None else int(output.index)


# -- uniform blocks --------------------------------------------------------------------------------


def _blocks(ctx: Context, program: int) -> list[Any]:
    executable = linked_of(ctx, program)
    return list(executable.linked.uniform_blocks) if executable is not None else []


@entry
def get_uniform_block_index(ctx: Context, program: int, name: str) -> int:
    blocks = _blocks(ctx, program)
    for index, block in enumerate(blocks):
        if name and block.name in (name, f"{name}[0]"):
            return index
    return INVALID_INDEX


def _block(ctx: Context, program: int, index: int) -> Any:
    blocks = _blocks(ctx, program)
    if not 0 <= index < len(blocks):
        raise invalid_value(f"uniform block {index} is not below {len(blocks)}")
    return blocks[index]


@entry
def get_active_uniform_block_name(ctx: Context, program: int, index: int) -> str:
    return str(_block(ctx, program, index).name)


_REFERENCED = of_stages("UNIFORM_BLOCK_REFERENCED_BY_{}_SHADER")


@entry
def get_active_uniform_blockiv(ctx: Context, program: int, index: int, pname: int) -> list[int]:
    block = _block(ctx, program, index)
    executable = linked_of(ctx, program)
    assert executable is not None
    members = [i for i, u in enumerate(executable.linked.uniforms) if u.block == index]
    if pname == GL.UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES:
        return members
    if pname in _REFERENCED:
        return [int(_REFERENCED[pname] in block.stages)]
    values: dict[int, int] = {
        GL.UNIFORM_BLOCK_BINDING: executable.block_bindings[index],
        GL.UNIFORM_BLOCK_DATA_SIZE: block.size,
        GL.UNIFORM_BLOCK_NAME_LENGTH: len(block.name.encode()) + 1,
        GL.UNIFORM_BLOCK_ACTIVE_UNIFORMS: len(members),
    }
    if pname not in values:
        raise invalid_enum(pname, "uniform block parameter")
    return [values[pname]]


@entry
def uniform_block_binding(ctx: Context, program: int, index: int, binding: int) -> None:
    executable = linked_of(ctx, program)
    count = len(executable.block_bindings) if executable is not None else 0
    if executable is None or not 0 <= index < count:
        raise invalid_value(f"uniform block {index} is not below {count}")
    if binding >= ctx.limits.max_uniform_buffer_bindings:
        raise invalid_value(f"there is no uniform buffer binding {binding}")
    executable.block_bindings[index] = binding
    ctx.dirty |= Dirty.UNIFORM_BUFFERS


@entry
def shader_storage_block_binding(ctx: Context, program: int, index: int, binding: int) -> None:
    executable = linked_of(ctx, program)
    count = len(executable.storage_bindings) if executable is not None else 0
    if executable is None or not 0 <= index < count:
        raise invalid_value(f"storage block {index} is not below {count}")
    if binding >= ctx.limits.max_storage_buffer_bindings:
        raise invalid_value(f"there is no storage buffer binding {binding}")
    executable.storage_bindings[index] = binding
    ctx.dirty |= Dirty.STORAGE


@entry
def get_transform_feedback_varying(ctx: Context, program: int, index: int) -> tuple[int, int, str]:
    found = ctx.programs.program(program)
    captured = _captured(found)
    if not 0 <= index < len(captured):
        raise invalid_value(f"there is no transform feedback varying {index}")
    return *size_and_type(captured[index]), captured[index].name
