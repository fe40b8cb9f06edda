"""Shaders given as SPIR-V (ARB_gl_spirv): glShaderBinary, glSpecializeShader, linking them.

The SPIR-V compiler is imported on first use: most programs do not need it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, read_array, read_bytes
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.shading.shader_sources import ShaderSource

if TYPE_CHECKING:
    from gallette.compiler.glsl import LinkedProgram, LinkOptions
    from gallette.compiler.nir.ir import Stage
    from gallette.compiler.spirv.link import SpirvShader
    from gallette.compiler.spirv.module import Module
    from gallette.state_tracker.context import Context


@lazy_dataclass()
class SpirvState:
    """The module of a shader object, if any, and its specialisation."""

    module: Module | None = None
    code: bytes = b""
    specialized: SpirvShader | None = None
    log: str = ""

    def __bool__(self) -> bool:
        return self.module is not None

    @property
    def ok(self) -> bool:
        return self.specialized is not None

    def take(self, code: bytes) -> None:
        """Set the module; raises if the code is invalid."""
        from gallette.compiler.spirv.module import read_module

        self.module, self.code = read_module(code), code

    def specialize(self, stage: Stage, entry: str, constants: tuple[tuple[int, int], ...]) -> None:
        """Choose an entry point and the values of constants.

        Failures are reported in `log`; a GL error is raised if the module has no such entry point
        or constant.
        """
        from gallette.compiler.spirv.link import SpirvShader
        from gallette.compiler.spirv.read.translate import spirv_to_nir

        assert self.module is not None
        _check(self.module, stage, entry, [number for number, _ in constants])
        given = SpirvShader(stage, self.module, entry, constants)
        try:
            spirv_to_nir(self.module, given.stage, given.entry, given.specialize).unref()
        except GalletteError as error:
            self.log = f"error: {error}\n"
            return
        self.log, self.specialized = "", given


@entry
def shader_binary(
    ctx: Context, count: int, shaders: Pointer, format: int, binary: Pointer, length: int
) -> None:
    if count < 0 or length < 0:
        raise invalid_value("negative count or length")
    names = read_array(shaders, "uint", count).tolist() if count else []
    found = [ctx.programs.shader(name) for name in names]
    if format != GL.SHADER_BINARY_FORMAT_SPIR_V or ctx.profile == "es":
        raise invalid_enum(format, "shader binary format")
    if len({s.type for s in found}) != len(found):
        raise invalid_operation("two shaders of one type")
    taken = SpirvState()
    try:
        taken.take(bytes(read_bytes(binary, length)) if length else b"")
    except GalletteError as error:
        raise invalid_value(str(error)) from None
    for shader in found:
        shader.drop()
        shader.spirv = replace(taken)


@entry
def specialize_shader(
    ctx: Context,
    shader: int,
    p_entry_point: str,
    num_specialization_constants: int,
    p_constant_index: Pointer,
    p_constant_value: Pointer,
) -> None:
    found = ctx.programs.shader(shader)
    state = found.spirv
    if state.module is None:
        raise invalid_operation("the shader holds no SPIR-V")
    if state.ok:
        raise invalid_operation("the shader has been specialised")
    count = num_specialization_constants
    indices = read_array(p_constant_index, "uint", count).tolist() if count else []
    values = read_array(p_constant_value, "uint", count).tolist() if count else []
    constants = tuple(zip(indices, values, strict=True))
    state.specialize(found.stage, p_entry_point, constants)
    found.origin = ShaderSource(
        found.type, code=state.code, entry=p_entry_point, constants=constants
    )


def _check(module: Module, stage: Stage, name: str, indices: list[int]) -> None:
    """Check for GL's own errors: an entry point or a constant that the module does not have."""
    from gallette.compiler.spirv.read.declarations import Declarations
    from gallette.compiler.spirv.read.translate import entry_points

    try:
        if (stage, name) not in entry_points(module):
            raise invalid_value(f"the module has no {stage.value} entry point {name!r}")
        unknown = set(indices) - set(Declarations(module).spec_ids)
    except GalletteError:
        return  # a malformed module: reported in the log
    if unknown:
        raise invalid_value(f"no specialisation constant has number {min(unknown)}")


@entry
def specialize_shader_arb(
    ctx: Context,
    shader: int,
    p_entry_point: str,
    num_specialization_constants: int,
    p_constant_index: Pointer,
    p_constant_value: Pointer,
) -> None:
    specialize_shader(
        ctx,
        shader,
        p_entry_point,
        num_specialization_constants,
        p_constant_index,
        p_constant_value,
    )


def link_binaries(shaders: list[SpirvState], options: LinkOptions) -> LinkedProgram:
    """Link a program whose shaders are all SPIR-V."""
    from gallette.compiler.spirv.link import link_spirv

    given = [s.specialized for s in shaders if s.specialized is not None]
    if len(given) == len(shaders):
        return link_spirv(given, options)
    from gallette.compiler.glsl import LinkedProgram

    return LinkedProgram(info_log="error: SPIR-V and GLSL shaders cannot be linked together\n")
