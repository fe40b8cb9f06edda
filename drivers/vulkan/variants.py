"""Variants: the state that SPIR-V depends on. Most of it is lowered in NIR, some only changes what
is emitted.

What the vertex stage before the rasterizer writes and the fragment stage reads is compared for each
pair, because a slot that is read but not written has to be a constant in Vulkan.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.run.pass_runner import PassLog, run_passes
from gallette.compiler.spirv.disassembler import disassemble
from gallette.drivers.common.variants.compiler import LoweringOptions, VariantCompiler
from gallette.drivers.common.variants.standard import FragmentKey, VertexKey
from gallette.pipe.keys import lowered, lowered_by, steers
from gallette.pipe.state import StreamOutputInfo

from .lowering import control_shader
from .spirv.emitter import emit
from .spirv.program import Program

__all__ = ["ComputeKey", "VulkanCompiler", "VulkanFragmentKey", "VulkanVertexKey", "with_control"]


@dataclass(frozen=True, slots=True)
class VulkanVertexKey(VertexKey):
    """The key of vertex, tessellation and geometry shaders."""

    clip_mask: int = steers(0, "clip distances that are in force")
    point_size: str = steers("", "where the size of points comes from")
    clip_points: bool = steers(False, "points beside the view are to be dropped")
    snap_points: bool = steers(False, "positions of points are rounded as OpenGL does it")
    zero_inputs: tuple[int, ...] = steers((), "slots the stage before does not write")
    stream_output: StreamOutputInfo | None = steers(None, "what is captured")  # noqa: RUF009
    smooth_points: bool = steers(False, "points are larger by what smoothing takes")
    folds: tuple[Any, ...] = steers((), "texture coordinates that are mirrored or clamped")


@dataclass(frozen=True, slots=True)
class VulkanFragmentKey(FragmentKey):
    """The key of fragment shaders."""

    flat_by_state: bool = lowered("flatshade")
    upper_left: bool = steers(True, "point coordinates begin at the upper left")
    color_buffers: int = steers(1, "where a colour for every buffer goes")
    zero_inputs: tuple[int, ...] = steers((), "slots the stage before does not write")
    stipple: bool = lowered_by(False, "polygon stipple", "vulkan_polygon_stipple")
    quads: str = steers("", "triangles that are one primitive of OpenGL")
    alpha_to_red: bool = steers(False, "the first colour buffer keeps alpha only")
    swizzles: tuple[Any, ...] = steers((), "how results of comparisons are spread")
    smooth_points: bool = lowered_by(
        False, "points are circles, of whose pixels alpha tells the share", "vulkan_smooth_points"
    )
    folds: tuple[Any, ...] = steers((), "texture coordinates that are mirrored or clamped")


@dataclass(frozen=True, slots=True)
class ComputeKey:
    """The key of compute shaders."""

    block: tuple[int, int, int] | None = steers(None, "the size of a workgroup")
    folds: tuple[Any, ...] = steers((), "texture coordinates that are mirrored or clamped")


def with_control(programs: tuple[Program, ...], patch: int) -> tuple[Program, ...]:
    """The programs of a draw with a control shader before the evaluation shader."""
    at = next(i for i, program in enumerate(programs) if program.stage is Stage.TESS_EVAL)
    read, written = programs[at].inputs, programs[at - 1].outputs
    slots = tuple(slot for slot in read if slot < VaryingSlot.PATCH0 and slot in written)
    return (*programs[:at], _control(slots, patch), *programs[at:])


@cache
def _control(slots: tuple[int, ...], patch: int) -> Program:
    return emit(control_shader(slots, patch), VulkanVertexKey())


class VulkanCompiler(VariantCompiler[Any, Program]):
    """Compiles NIR to SPIR-V."""

    name = "vulkan"

    def __init__(self) -> None:
        super().__init__(LoweringOptions(scalar=False))

    def null_key(self, stage: Stage) -> Any:
        if stage is Stage.COMPUTE:
            return ComputeKey()
        return VulkanFragmentKey() if stage is Stage.FRAGMENT else VulkanVertexKey()

    def second_round(self, shader: Shader, key: Any, log: PassLog | None) -> None:
        super().second_round(shader, key, log)
        run_passes(shader, ["gather_info"], log)

    def first_round(self, shader: Shader, log: PassLog | None) -> None:
        super().first_round(shader, log)
        run_passes(shader, ["vulkan_constant_indices", "gather_info"], log)

    def generate(self, shader: Shader, key: Any) -> Program:
        return emit(shader, key)

    def text(self, code: Program) -> str:
        return "" if code.module is None else disassemble(code.module)
