"""Variants: the keys that SPIR-V depends on, and which ones a draw needs.

Most state is lowered in NIR, some where variables are made. Keys come from bound state, stage by
stage. What a stage writes and the next one reads is compared for each pair, because a slot that is
read but not written has to be a constant in Vulkan.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.modes import DRAWING
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.run.pass_runner import PassLog, run_passes
from gallette.compiler.spirv.disassembler import disassemble
from gallette.drivers.common.bound import Bound
from gallette.drivers.common.variants.compiler import LoweringOptions, VariantCompiler
from gallette.drivers.common.variants.standard import FragmentKey, VertexKey
from gallette.pipe.enums import POINTS_AND_LINES, CullFace, PolygonMode, Primitive, Wrap
from gallette.pipe.keys import lowered, steers
from gallette.pipe.state import RasterizerState, StreamOutputInfo

from .lowering import control_shader
from .pipeline.textures import wraps
from .spirv.emitter import emit
from .spirv.program import Program

_BEFORE = DRAWING[:-1]
_FOLDS = {
    Wrap.CLAMP: "clamp",
    Wrap.MIRROR_CLAMP: "mirror, clamp",
    Wrap.MIRROR_CLAMP_TO_BORDER: "mirror",
}
"""What becomes of coordinates before a sampler clamps them to the border."""
_RED: tuple[int, ...] = (0, 1, 2, 3)


@lazy_dataclass(frozen=True)
class VulkanVertexKey(VertexKey):
    """The key of vertex, tessellation and geometry shaders."""

    clip_mask: int = steers(0, "clip distances that are in force")
    point_size: str = steers("", "where the size of points comes from")
    clip_points: bool = steers(False, "points beside the view are to be dropped")
    snap_points: bool = steers(False, "positions of points are rounded as OpenGL does it")
    zero_inputs: tuple[int, ...] = steers((), "slots the stage before does not write")
    stream_output: StreamOutputInfo | None = steers(None, "what is captured")
    lookups: tuple[Any, ...] = steers((), "what lookups do that Vulkan does not")


@lazy_dataclass(frozen=True)
class VulkanFragmentKey(FragmentKey):
    """The key of fragment shaders."""

    flat_by_state: bool = lowered("flatshade")
    upper_left: bool = steers(True, "point coordinates begin at the upper left")
    color_buffers: int = steers(1, "where a colour for every buffer goes")
    zero_inputs: tuple[int, ...] = steers((), "slots the stage before does not write")
    alpha_to_red: bool = steers(False, "the first colour buffer keeps alpha only")
    lookups: tuple[Any, ...] = steers((), "what lookups do that Vulkan does not")


@lazy_dataclass(frozen=True)
class ComputeKey:
    """The key of compute shaders."""

    block: tuple[int, int, int] | None = steers(None, "the size of a workgroup")
    lookups: tuple[Any, ...] = steers((), "what lookups do that Vulkan does not")


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


@lazy_dataclass(frozen=True)
class Selection:
    """The programs of a draw in the order of their stages, and what is rasterized."""

    programs: tuple[Program, ...]
    lines: bool  # lines come out of the last stage before the rasterizer
    writes_memory: bool
    last: Any  # the shader object whose outputs are captured


def rasterized(bound: Bound, mode: Primitive) -> Primitive:
    """The kind of primitive that the last stage before the rasterizer emits."""
    geometry, tess = bound.shaders.get(Stage.GEOMETRY), bound.shaders.get(Stage.TESS_EVAL)
    if geometry is not None:
        kinds = {"points": Primitive.POINTS, "line_strip": Primitive.LINES}
        return kinds.get(geometry.shader.info.output_primitive, Primitive.TRIANGLES)
    if tess is not None:
        info = tess.shader.info
        if info.tess_point_mode:
            return Primitive.POINTS
        return Primitive.LINES if info.tess_primitive == "isolines" else Primitive.TRIANGLES
    return mode


def polygon_mode(raster: RasterizerState) -> PolygonMode:
    """The polygon mode of the faces that the device draws, which is one (see `host`)."""
    return raster.fill_back if raster.cull_face & CullFace.FRONT else raster.fill_front


def select(bound: Bound, mode: Primitive, capturing: bool) -> Selection:
    """Variants for the bound state."""
    raster, samples = bound.rasterizer.state, max(1, bound.framebuffer.samples)
    chain = [bound.shaders[stage] for stage in _BEFORE if bound.shaders.get(stage) is not None]
    fragment = None if raster.rasterizer_discard else bound.shaders.get(Stage.FRAGMENT)
    out = rasterized(bound, mode)
    points = out is Primitive.POINTS
    several = raster.multisample and samples > 1
    last = chain[-1]
    programs: list[Program] = []
    for shader in chain:
        if shader is not last:
            key = VulkanVertexKey(clip_mask=0xFF, point_size="written")
        else:
            key = VulkanVertexKey.of(shader.reads, raster)
            own = shader.reads.writes_clip_distance or key.clip_planes
            # Size 1 is the rule for a stage that may write it but does not.
            size = "vertex" if raster.point_size_per_vertex else "state"
            key = replace(
                key,
                clip_mask=raster.clip_plane_enable if own else 0,
                point_size=size if points else "",
                # Devices differ in whether they draw such points, and lavapipe says it does not.
                clip_points=points and raster.point_clip_sides and not raster.rasterizer_discard,
                snap_points=points and not (raster.point_quad_rasterization or several),
                stream_output=shader.stream_output if capturing else None,
            )
        programs.append(_linked(bound, shader, key, programs))
    if fragment is not None:
        wanted = _fragment_key(bound, fragment, out, samples)
        programs.append(_linked(bound, fragment, wanted, programs))
    outlined = polygon_mode(raster) is PolygonMode.LINE
    lines = outlined if out not in POINTS_AND_LINES else not points
    writes_memory = any(program.writes_memory for program in programs)
    return Selection(tuple(programs), lines, writes_memory, last)


def _fragment_key(bound: Bound, shader: Any, out: Primitive, samples: int) -> VulkanFragmentKey:
    raster, framebuffer = bound.rasterizer.state, bound.framebuffer
    shading = bound.min_samples > 1 and samples > 1
    dsa = bound.depth_stencil_alpha.state
    key = VulkanFragmentKey.of(
        shader.reads, raster, dsa, framebuffer, out, (), sample_shading=shading
    )
    alpha = any(first and first.format.channels[0].name == "A" for first in framebuffer.cbufs[:1])
    return replace(
        key,
        depth_only=False,
        flat_colors=False,
        two_sided_color=key.two_sided_color and out not in POINTS_AND_LINES,
        upper_left=raster.sprite_coord_upper_left,
        color_buffers=max(1, len(framebuffer.cbufs)),
        alpha_to_red=alpha,
        flat_by_state=key.flat_colors,
    )


def lookups(bound: Bound, stage: Stage) -> tuple[Any, ...]:
    """The samplers of a stage that Vulkan does not have: the number of each, what becomes of
    coordinates, and how results of comparisons are spread.
    """
    bindings, found = bound.stages[stage], []
    for index in bound.shaders[stage].reads.samplers:
        view, state = bindings.view(index), bindings.sampler(index)
        if state is None:
            continue
        folds, swizzle = tuple([_FOLDS.get(wrap, "") for wrap in wraps(state)]), _RED
        if view is not None and state.compare_enabled:
            swizzle = tuple(map(int, view.swizzle))
        if any(folds) or swizzle != _RED:
            found.append((index, folds, swizzle))
    return tuple(found)


def texture_facts(bound: Bound) -> tuple[Any, ...]:
    """The properties of textures and samplers that the choice of variants depends on."""
    return tuple([
        lookups(bound, stage)
        for stage, shader in bound.shaders.items()
        if shader is not None and shader.reads.samplers and stage is not Stage.COMPUTE
    ])  # fmt: skip


def _linked(bound: Bound, shader: Any, key: Any, before: list[Program]) -> Program:
    """A shader's variant in which inputs that the previous stage does not write are constants."""
    key = replace(key, lookups=lookups(bound, shader.stage))
    program: Program = shader.variant_for(key).program
    if before:
        written = set(before[-1].outputs)
        missing = tuple(slot for slot in program.inputs if slot not in written)
        if missing:
            program = shader.variant_for(replace(key, zero_inputs=missing)).program
    return program
