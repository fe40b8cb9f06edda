"""Entry points of shader and program objects, and glUseProgram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets
from gallette.state_tracker.shading.program_queries import get_programiv
from gallette.state_tracker.shading.programs import STAGES, ProgramObject, ShaderObject
from gallette.state_tracker.shading.sampler_units import sampler_conflict

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


# -- shaders ---------------------------------------------------------------------------------------


@entry
def create_shader(ctx: Context, type: int) -> int:
    if type not in STAGES:
        raise invalid_enum(type, "shader type")
    return ctx.programs.names.add(lambda name: ShaderObject(name, type)).name


@entry
def is_shader(ctx: Context, shader: int) -> int:
    return int(isinstance(ctx.programs.names.get(shader), ShaderObject))


@entry
def delete_shader(ctx: Context, shader: int) -> None:
    if shader == 0:
        return
    found = ctx.programs.shader(shader)
    found.delete_pending = True
    if found.refs == 1:
        ctx.programs.free(found)


@entry
def shader_source(
    ctx: Context, shader: int, count: int, string: list[str], length: Pointer
) -> None:
    found = ctx.programs.shader(shader)
    text, _, _ = "".join(string).partition("\0")  # lengths may count the byte that ends a text
    found.source, found.has_source = text, True
    if found.spirv:
        found.drop()


@entry
def compile_shader(ctx: Context, shader: int) -> None:
    found = ctx.programs.shader(shader)
    if found.spirv:
        raise invalid_operation("the shader holds SPIR-V, which is specialised")
    found.compile(ctx)


@entry
def get_shaderiv(ctx: Context, shader: int, pname: int) -> list[int]:
    found = ctx.programs.shader(shader)
    log = found.info_log
    values: dict[int, int] = {
        GL.SHADER_TYPE: found.type,
        GL.DELETE_STATUS: int(found.delete_pending),
        GL.COMPILE_STATUS: int(found.ok),
        GL.COMPLETION_STATUS_KHR: 1,
        GL.INFO_LOG_LENGTH: _text_size(log),
        GL.SHADER_SOURCE_LENGTH: len(found.source.encode()) + 1 if found.has_source else 0,
        GL.SPIR_V_BINARY: int(bool(found.spirv)),
    }
    if pname not in values:
        raise invalid_enum(pname, "shader parameter")
    return [values[pname]]


def _text_size(text: str) -> int:
    """Length as GL counts it: including the final NUL, 0 for no text."""
    return len(text.encode()) + 1 if text else 0


@entry
def get_shader_info_log(ctx: Context, shader: int) -> str:
    return ctx.programs.shader(shader).info_log


@entry
def get_shader_source(ctx: Context, shader: int) -> str:
    return ctx.programs.shader(shader).source


@entry
def get_shader_precision_format(
    ctx: Context, shader_type: int, precision_type: int
) -> tuple[list[int], int]:
    if shader_type not in (GL.VERTEX_SHADER, GL.FRAGMENT_SHADER):
        raise invalid_enum(shader_type, "shader type")
    if precision_type in (GL.LOW_FLOAT, GL.MEDIUM_FLOAT, GL.HIGH_FLOAT):
        return [127, 127], 23
    if precision_type in (GL.LOW_INT, GL.MEDIUM_INT, GL.HIGH_INT):
        return [31, 30], 0
    raise invalid_enum(precision_type, "precision type")


@entry
def release_shader_compiler(ctx: Context) -> None:
    pass


# -- programs --------------------------------------------------------------------------------------


@entry
def create_program(ctx: Context) -> int:
    return ctx.programs.names.add(ProgramObject).name


@entry
def is_program(ctx: Context, program: int) -> int:
    return int(isinstance(ctx.programs.names.get(program), ProgramObject))


@entry
def delete_program(ctx: Context, program: int) -> None:
    if program == 0:
        return
    found = ctx.programs.program(program)
    found.delete_pending = True
    if found.refs == 1:
        ctx.programs.free(found)


@entry
def attach_shader(ctx: Context, program: int, shader: int) -> None:
    target, found = ctx.programs.program(program), ctx.programs.shader(shader)
    if found in target.attached:
        raise invalid_operation("the shader is attached already")
    if ctx.profile == "es" and any(s.type == found.type for s in target.attached):
        raise invalid_operation("a shader of this type is attached already")
    target.attach(found)


@entry
def detach_shader(ctx: Context, program: int, shader: int) -> None:
    target, found = ctx.programs.program(program), ctx.programs.shader(shader)
    if found not in target.attached:
        raise invalid_operation("the shader is not attached")
    target.detach(found)
    if found.delete_pending and found.refs == 1:
        ctx.programs.free(found)


@entry
def link_program(ctx: Context, program: int) -> None:
    found = ctx.programs.program(program)
    if ctx.feedback.captures(found.executable):
        raise invalid_operation("transform feedback is active with this program")
    found.link(ctx)


@entry
def use_program(ctx: Context, program: int) -> None:
    current, executable = ctx.programs.current, ctx.programs.executable
    if current is not None and executable is not None and current.name == program:
        # The program in use again: the commonest call does nothing.
        again = current.link_ok and not executable.linked.subroutine_uniforms
        if again and not ctx.feedback.current.active:
            return
    found = ctx.programs.program(program) if program else None
    if ctx.feedback.current.running:
        raise invalid_operation("transform feedback is active")
    if found is not None:
        found.require_linked()
    if ctx.subroutines.reset():
        ctx.dirty |= Dirty.CONSTANTS
    ctx.programs.use(found)


@entry
def validate_program(ctx: Context, program: int) -> None:
    found = ctx.programs.program(program)
    executable = found.executable
    conflict = sampler_conflict([executable]) if executable is not None else ""
    found.validate_ok = found.link_ok and not conflict
    if conflict:
        found.info_log = f"error: {conflict}\n"


@entry
def program_parameteri(ctx: Context, program: int, pname: int, value: int) -> None:
    found = ctx.programs.program(program)
    if pname not in (GL.PROGRAM_SEPARABLE, GL.PROGRAM_BINARY_RETRIEVABLE_HINT):
        raise invalid_enum(pname, "program parameter")
    if value not in (0, 1):
        raise invalid_value("a boolean is expected")
    if pname == GL.PROGRAM_SEPARABLE:
        found.separable = bool(value)
    else:
        found.binary_retrievable = bool(value)


@entry
def bind_attrib_location(ctx: Context, program: int, index: int, name: str) -> None:
    ctx.programs.program(program).bind_attribute(ctx, index, name)


@entry
def bind_frag_data_location_indexed(
    ctx: Context, program: int, color: int, index: int, name: str
) -> None:
    ctx.programs.program(program).bind_output(ctx, color, index, name)


@entry
def bind_frag_data_location(ctx: Context, program: int, color: int, name: str) -> None:
    ctx.programs.program(program).bind_output(ctx, color, 0, name)


@entry
def transform_feedback_varyings(
    ctx: Context, program: int, count: int, varyings: list[str], buffer_mode: int
) -> None:
    ctx.programs.program(program).choose_varyings(ctx, varyings, buffer_mode)


@entry
def get_program_info_log(ctx: Context, program: int) -> str:
    return ctx.programs.program(program).info_log


@entry
def get_attached_shaders(ctx: Context, program: int) -> list[int]:
    return [s.name for s in ctx.programs.program(program).attached]


# -- ARB_shader_objects: one kind of handle for both -----------------------------------------------


def _is_program(ctx: Context, name: int) -> bool:
    return isinstance(ctx.programs.names.get(name), ProgramObject)


@entry
def create_shader_object_arb(ctx: Context, type: int) -> int:
    return create_shader(ctx, type)


@entry
def create_program_object_arb(ctx: Context) -> int:
    return create_program(ctx)


@entry
def delete_object_arb(ctx: Context, obj: int) -> None:
    if _is_program(ctx, obj):
        delete_program(ctx, obj)
    else:
        delete_shader(ctx, obj)


@entry
def attach_object_arb(ctx: Context, program: int, shader: int) -> None:
    attach_shader(ctx, program, shader)


@entry
def detach_object_arb(ctx: Context, program: int, shader: int) -> None:
    detach_shader(ctx, program, shader)


@entry
def get_info_log_arb(ctx: Context, obj: int) -> str:
    if _is_program(ctx, obj):
        return get_program_info_log(ctx, obj)
    return get_shader_info_log(ctx, obj)


@entry
def get_object_parameteriv_arb(ctx: Context, obj: int, pname: int) -> list[int]:
    if pname == GL.OBJECT_TYPE_ARB:
        return [GL.PROGRAM_OBJECT_ARB if _is_program(ctx, obj) else GL.SHADER_OBJECT_ARB]
    if pname == GL.OBJECT_SUBTYPE_ARB:
        pname = GL.SHADER_TYPE
    if _is_program(ctx, obj):
        return get_programiv(ctx, obj, pname)
    return get_shaderiv(ctx, obj, pname)


@entry
def get_object_parameterfv_arb(ctx: Context, obj: int, pname: int) -> list[float]:
    return [float(v) for v in get_object_parameteriv_arb(ctx, obj, pname)]


def _current(ctx: Context) -> Any:
    return ctx.programs.current.name if ctx.programs.current is not None else 0


gets({"CURRENT_PROGRAM": _current})
