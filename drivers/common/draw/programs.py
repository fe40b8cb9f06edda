"""The programs of a draw: variants chosen by bound state, joined with bound resources.

Selecting is cached twice: the variants by the identities of the state objects they depend on (in
`HostContext.selections`), and a program's joining with its resources until a binding changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import Bound, StageBindings
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.program import BoundProgram, DriverShader, Program
from gallette.drivers.common.storage import image_unit
from gallette.drivers.common.texture import texture_unit
from gallette.drivers.common.variants.keys import FragmentKey, VariantKey, VertexKey
from gallette.drivers.common.variants.merging import can_merge
from gallette.drivers.common.variants.shader import ShaderObject
from gallette.pipe.enums import Primitive
from gallette.pipe.state import StreamOutputInfo

if TYPE_CHECKING:
    from gallette.compiler.nir.ir import Shader
    from gallette.drivers.common.context import HostContext

__all__ = [
    "ConstantTable",
    "Joined",
    "Selection",
    "create_shader",
    "join",
    "merged_programs",
    "select",
]

ConstantTable = npt.NDArray[np.uint8] | None
"""Constant block 0 of many draws, a row each; None when nothing is bound there."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The variants that serve one combination of state."""

    vertex: Program
    fragment: Program | None
    flat_slots: frozenset[int]
    linear_slots: frozenset[int]
    origin: tuple[tuple[DriverShader, VariantKey], ...]  # what they are variants of
    mergeable: bool
    control: Program | None = None
    evaluation: Program | None = None
    geometry: Program | None = None

    @property
    def last(self) -> Program:
        """The program whose outputs are rasterized."""
        return self.geometry or self.evaluation or self.vertex


def create_shader(
    context: HostContext, stage: Stage, shader: Shader, stream_output: StreamOutputInfo | None
) -> DriverShader:
    """A shader object; takes over one reference to `shader` whatever happens."""
    if stage is Stage.KERNEL:
        shader.unref()
        raise GalletteError(f"this driver has no {stage.value} stage")
    return ShaderObject(shader, context.screen.compiler, context.variant_log, stream_output)


_MIDDLE = (Stage.TESS_CTRL, Stage.TESS_EVAL, Stage.GEOMETRY)


def select(context: HostContext, primitive: Primitive) -> Selection | None:
    """Variants for the bound state; None when no vertex shader is bound."""
    bound = context.bound
    vertex: DriverShader | None = bound.shaders.get(Stage.VERTEX)
    if vertex is None:
        return None
    middle = tuple(bound.shaders.get(stage) for stage in _MIDDLE)
    fragment: DriverShader | None = bound.shaders.get(Stage.FRAGMENT)
    if bound.rasterizer.state.rasterizer_discard:
        fragment = None
    colormask = _written_channels(bound)
    samplers = bound.stages[Stage.FRAGMENT].samplers
    key = (
        vertex,
        middle,
        fragment,
        bound.rasterizer,
        bound.depth_stencil_alpha,
        primitive == Primitive.POINTS,
        colormask != 0,
        tuple(samplers) if fragment is not None and fragment.reads.samplers else (),
    )
    selection = context.selections.get(key)
    if selection is None:
        if len(context.selections) > 4096:
            context.selections.clear()
        selection = context.selections[key] = _select(
            bound, vertex, middle, fragment, primitive, colormask
        )
    return selection


def _written_channels(bound: Bound) -> int:
    """Colour channels any bound colour buffer lets through."""
    blend = bound.blend.state
    written = 0
    for index, surface in enumerate(bound.framebuffer.cbufs):
        if surface is not None:
            written |= blend.target(index).colormask
    return written


def _select(
    bound: Bound,
    vertex: DriverShader,
    middle: tuple[DriverShader | None, ...],
    fragment: DriverShader | None,
    primitive: Primitive,
    colormask: int,
) -> Selection:
    rasterizer = bound.rasterizer.state
    program: Program | None = None
    origin: list[tuple[DriverShader, VariantKey]] = []
    if fragment is not None:
        samplers = [
            None if cso is None else cso.state for cso in bound.stages[Stage.FRAGMENT].samplers
        ]
        key = FragmentKey.of(
            fragment.reads,
            rasterizer,
            bound.depth_stencil_alpha.state,
            bound.framebuffer,
            primitive,
            samplers,
            colormask,
        )
        program = fragment.variant_for(key).program
        origin.append((fragment, key))
    inputs = program.facts.inputs if program is not None else frozenset()
    # With stream output every varying has a reader, whatever the fragment stage does.
    _, evaluation, geometry = middle
    last = geometry or evaluation or vertex
    unread = not inputs and last.stream_output is None
    chosen = VertexKey.of(last.reads, rasterizer, depth_only=unread)
    programs = [
        None if each is None else each.variant_for(chosen if each is last else VertexKey()).program
        for each in middle
    ]
    if last is not vertex:
        chosen = VertexKey()
    origin.insert(0, (vertex, chosen))
    return Selection(
        vertex=vertex.variant_for(chosen).program,
        fragment=program,
        flat_slots=frozenset(use.slot for use in inputs if use.mode == "flat"),
        linear_slots=frozenset(use.slot for use in inputs if use.mode == "noperspective"),
        origin=tuple(origin),
        mergeable=last is vertex
        and all(can_merge(shader.variant_for(key).shader) for shader, key in origin),
        control=programs[0],
        evaluation=programs[1],
        geometry=programs[2],
    )


def merged_programs(
    bound: Bound, selection: Selection, tables: dict[Stage, ConstantTable]
) -> list[BoundProgram]:
    """The programs (vertex, fragment) that run many draws at once, with their constants."""
    programs: list[BoundProgram] = []
    for shader, key in selection.origin:
        stage = shader.stage
        table = tables[stage]
        row = 0 if table is None else table.shape[1]
        if row:
            compiled = shader.variant_for(replace(key, merged=row)).program
        else:
            compiled = shader.variant_for(key).program
        bindings = bound.stages[stage]
        resources = bindings.resources = bindings.resources or _resources(bound, bindings)
        if table is not None:
            constants = [table.reshape(-1), *resources.constants[1:]]
            resources = replace(resources, constants=constants)
        programs.append(compiled.bind(resources))
    return programs


# -- resources -----------------------------------------------------------------------------------


@dataclass(slots=True)
class Joined:
    """A program joined with the resources that were bound when it was."""

    compiled: Program
    program: BoundProgram
    quads: bool


def join(bound: Bound, stage: Stage, compiled: Program) -> Joined:
    """The program with the resources bound to its stage (kept while neither changes)."""
    bindings = bound.stages[stage]
    joined: Joined | None = bindings.joined
    if joined is None or joined.compiled is not compiled:
        resources = bindings.resources
        if resources is None:
            resources = bindings.resources = _resources(bound, bindings)
        quads = stage is Stage.FRAGMENT and compiled.needs_quads(resources)
        joined = bindings.joined = Joined(compiled, compiled.bind(resources), quads)
    return joined


def _resources(bound: Bound, bindings: StageBindings) -> ShaderResources:
    textures: list[Any] = []
    for index, view in enumerate(bindings.views):
        cso = bindings.samplers[index] if index < len(bindings.samplers) else None
        textures.append(
            None if view is None else texture_unit(view, None if cso is None else cso.state)
        )
    buffers: list[Any] = []
    for buffer in bindings.buffers:
        if buffer is None:
            buffers.append(None)
            continue
        resource = buffer.buffer
        assert isinstance(resource, HostResource)
        buffers.append(resource.bytes_at(buffer.offset, buffer.size))
    return ShaderResources(
        constants=[None if block is None else block.data for block in bindings.constants],
        textures=textures,
        images=[None if view is None else image_unit(view) for view in bindings.images],
        buffers=buffers,
        clip_planes=bound.clip_planes,
        alpha_ref=bound.depth_stencil_alpha.state.alpha_ref_value,
    )
