"""ATI_fragment_shader: objects, bindings, and the executables for the fragment stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets
from gallette.state_tracker.objects import GLObject, NameTable, swap
from gallette.state_tracker.optional.ati.programs import CONSTANTS, Program
from gallette.state_tracker.optional.ati.source import ati_source
from gallette.state_tracker.optional.compatibility.fixed_function import TARGETS
from gallette.state_tracker.shading.programs import Executable

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


class AtiShader(GLObject):
    """A shader object: its program, and the executable for each state it was used in."""

    kind = "ATI fragment shader"

    def __init__(self, name: int):
        super().__init__(name)
        self.program = Program()
        self.executables: dict[Any, Executable] = {}

    def destroy(self) -> None:
        for executable in self.executables.values():
            executable.destroy()
        self.executables.clear()


class AtiState:
    """Names, the bound shader, global constants, and whether a shader is being defined."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self.names: NameTable[AtiShader] = ctx.group.table("ATI fragment shader")
        self.default = AtiShader(0)
        self.bound: AtiShader = self.default.retain()
        self.constants = np.zeros((CONSTANTS, 4), np.float32)
        self.enabled = False
        self.defining: Program | None = None
        ctx.programs.providers.append(self.provide)

    def provide(self, stages: dict[Stage, Executable]) -> None:
        """Use the bound shader, if shaders are enabled and there is no other fragment shader."""
        if self.enabled and Stage.FRAGMENT not in stages and not self._ctx.raster.discard:
            stages[Stage.FRAGMENT] = self.executable()

    def executable(self) -> Executable:
        """The bound shader's executable for the current textures and fog."""
        ctx, shader = self._ctx, self.bound
        s = ctx.lighting
        fog = s.fog_mode if s.fog_enabled else 0
        targets = {}
        for index, unit in enumerate(ctx.textures.units[:8]):
            found = next((name for target, name in TARGETS if target in unit.enabled), None)
            if found is not None:
                targets[index] = found
        key = (fog, tuple(targets.items()))
        executable = shader.executables.get(key)
        if executable is None:
            executable = _compile(ctx, ati_source(shader.program, targets, fog))
            executable.fill = lambda user: user.ati.fill(shader, executable)
            shader.executables[key] = executable
        return executable

    def fill(self, shader: AtiShader, executable: Executable) -> None:
        """Write the constants; the shader's own override the global ones."""
        for uniform in executable.linked.uniforms:
            if uniform.name == "ati_constants[0]":
                for i in range(uniform.array_size):
                    values = shader.program.constants.get(i, self.constants[i])
                    at = uniform.offset + i * uniform.array_stride
                    raw = np.asarray(values, "<f4").tobytes()
                    executable.uniforms.data[at : at + 16] = raw

    def release_all(self) -> None:
        self.bound.release()
        self.default.release()


def _compile(ctx: Context, source: str) -> Executable:
    options = CompileOptions(api="compat", version_limit=120, limits=ctx.limits.glsl_limits)
    compiled = compile_shader(Stage.FRAGMENT, source, options, ["ATI fragment shader"])
    linked = link_program([compiled], LinkOptions(separable=True, api="compat"))
    if not compiled.ok or not linked.ok:
        raise GalletteError(f"{compiled.info_log}{linked.info_log}\n{source}")
    executable = Executable(ctx, linked, 120)
    for index, uniform in enumerate(linked.uniforms):
        if uniform.name.startswith("texture_"):
            executable.uniforms.units[index][:] = [int(uniform.name.removeprefix("texture_"))]
    return executable


# -- objects ---------------------------------------------------------------------------------------


def _outside(ctx: Context) -> AtiState:
    if ctx.ati.defining is not None:
        raise invalid_operation("a fragment shader is being defined")
    return cast(AtiState, ctx.ati)


def _program(ctx: Context) -> Program:
    if ctx.ati.defining is None:
        raise invalid_operation("no fragment shader is being defined")
    return cast(Program, ctx.ati.defining)


@entry
def gen_fragment_shaders_ati(ctx: Context, range: int) -> int:
    state = _outside(ctx)
    if range == 0:
        raise invalid_value("no shaders")
    return state.names.reserve_block(range)


@entry
def bind_fragment_shader_ati(ctx: Context, id: int) -> None:
    state = _outside(ctx)
    found = state.names.bind(id, AtiShader, False) if id else state.default
    state.bound = swap(state.bound, found) or found
    ctx.dirty |= Dirty.PROGRAM | Dirty.BUILTINS


@entry
def delete_fragment_shader_ati(ctx: Context, id: int) -> None:
    state = _outside(ctx)
    found = state.names.pop(id)
    if found is None:
        return
    if state.bound is found:
        bind_fragment_shader_ati(ctx, 0)
    found.release()


@entry
def begin_fragment_shader_ati(ctx: Context) -> None:
    _outside(ctx).defining = Program()


@entry
def end_fragment_shader_ati(ctx: Context) -> None:
    program, shader = _program(ctx), ctx.ati.bound
    ctx.ati.defining = None
    shader.destroy()  # the executables of the old program
    shader.program = program
    ctx.dirty |= Dirty.ALL
    program.finish()


# -- program definition ----------------------------------------------------------------------------


@entry
def pass_tex_coord_ati(ctx: Context, dst: int, coord: int, swizzle: int) -> None:
    _program(ctx).set_up(dst, coord, swizzle, False)


@entry
def sample_map_ati(ctx: Context, dst: int, interp: int, swizzle: int) -> None:
    _program(ctx).set_up(dst, interp, swizzle, True)


def _operations() -> None:
    def color(ctx: Context, op: int, dst: int, mask: int, modifiers: int, *given: int) -> None:
        _program(ctx).operate(False, op, dst, mask, modifiers, given)

    def alpha(ctx: Context, op: int, dst: int, modifiers: int, *given: int) -> None:
        _program(ctx).operate(True, op, dst, 0, modifiers, given)

    for count in (1, 2, 3):
        register(FUNCTIONS[f"ColorFragmentOp{count}ATI"].method, color)
        register(FUNCTIONS[f"AlphaFragmentOp{count}ATI"].method, alpha)


_operations()


@entry
def set_fragment_shader_constant_ati(ctx: Context, dst: int, value: Pointer) -> None:
    """Set constants of one shader inside its definition, global ones outside."""
    index = dst - GL.CON_0_ATI
    if not 0 <= index < CONSTANTS:
        raise invalid_enum(dst, "constant")
    values = tuple(read_array(value, "float", 4).tolist())
    if ctx.ati.defining is not None:
        ctx.ati.defining.constants[index] = values
    else:
        ctx.ati.constants[index] = values
        ctx.dirty |= Dirty.BUILTINS


gets(
    {
        "NUM_FRAGMENT_CONSTANTS_ATI": lambda c: CONSTANTS,
    },
    profiles="compat",
)
