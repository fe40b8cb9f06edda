"""The programs of a draw: variants chosen by bound state, joined with bound resources.

Both steps are cached: variants by the identities of the state objects they depend on, and a program
joined with its resources until its stage's bindings change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.info import ShaderInfo
from gallette.compiler.nir.ir.modes import BETWEEN
from gallette.drivers.common.bound import Bound, StageBindings
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.output.fragment_state import FragmentShader
from gallette.drivers.common.program import BoundProgram, DriverShader, Program
from gallette.drivers.common.storage import image_unit
from gallette.drivers.common.texture import texture_unit
from gallette.drivers.common.variants.keys import FragmentKey, Inlined, VariantKey, VertexKey
from gallette.drivers.common.variants.standard import saturated
from gallette.drivers.common.work import Work
from gallette.pipe.enums import Primitive
from gallette.pipe.state import SamplerState, StreamOutputInfo

ConstantTables = Mapping[int, npt.NDArray[np.uint8]]
"""Constant blocks of many draws by their number, a row each: those with something bound that
differ between draws, and block 0.
"""


@lazy_dataclass(frozen=True)
class Selection:
    """The variants that serve one combination of state."""

    stages: Mapping[Stage, Program]  # those before the rasterizer, in order
    infos: Mapping[Stage, ShaderInfo]  # what their shaders declare
    fragment: Program | None
    flat_slots: frozenset[int]
    linear_slots: frozenset[int]
    stream_output: StreamOutputInfo | None
    origin: tuple[tuple[DriverShader, VariantKey], ...]  # vertex, fragment
    mergeable: bool

    @property
    def last(self) -> Program:
        """The program whose outputs are rasterized."""
        return list(self.stages.values())[-1]


_MOST_SELECTIONS = 4096
_MOST_MERGED = 16  # variants for many draws that are remembered
_NOTHING: Mapping[Stage, Inlined] = {}


def inlined(bound: Bound) -> Mapping[Stage, Inlined]:
    """The uniforms to be constants in this draw: seldom any, and never those of a shared buffer.

    A vertex shader whose outputs go to another shader keeps its uniforms: a position may depend on
    any of them.
    """
    found: dict[Stage, Inlined] = {}
    for stage in (Stage.VERTEX, Stage.FRAGMENT):
        shader: DriverShader | None = bound.shaders.get(stage)
        if shader is None or not shader.reads.deciding:
            continue
        if stage is Stage.VERTEX and any(bound.shaders.get(s) for s in BETWEEN):
            continue
        constants = bound.stages[stage].constants
        block = constants[0] if constants else None
        if block is not None and block.buffer is None:
            found[stage] = shader.values_to_inline(block.data)
    return found


def select(
    bound: Bound,
    primitive: Primitive,
    selections: dict[Any, Selection],
    values: Mapping[Stage, Inlined] = _NOTHING,
) -> Selection | None:
    """Variants for the bound state, remembered in `selections`; None without a vertex shader.

    `values` are the uniforms that become constants (see `inlined`).
    """
    vertex: DriverShader | None = bound.shaders.get(Stage.VERTEX)
    if vertex is None:
        return None
    middle = tuple(bound.shaders.get(stage) for stage in BETWEEN)
    fragment: DriverShader | None = bound.shaders.get(Stage.FRAGMENT)
    if bound.rasterizer.state.rasterizer_discard:
        fragment = None
    colormask = _written_channels(bound)
    key = (
        vertex,
        middle,
        fragment,
        bound.rasterizer,
        bound.depth_stencil_alpha,
        primitive == Primitive.POINTS,
        colormask != 0,
        None if fragment is None else sampler_masks(bound, fragment),
        bound.framebuffer.alpha_test_bits,
        None if fragment is None else fragment.compiler.target_kind(bound.framebuffer),
        *values.items(),
    )
    selection = selections.get(key)
    if selection is None:
        if len(selections) >= _MOST_SELECTIONS:
            selections.clear()
        selection = selections[key] = _select(
            bound, vertex, middle, fragment, primitive, colormask, values
        )
    return selection


def sampler_masks(bound: Bound, fragment: DriverShader) -> tuple[int, int, int]:
    """Masks of the fragment stage's samplers that wrap with GL_CLAMP, per coordinate."""
    if not fragment.reads.samplers:
        return 0, 0, 0
    return saturated(fragment.reads, _samplers(bound))


def _samplers(bound: Bound) -> list[SamplerState | None]:
    found = bound.stages[Stage.FRAGMENT].samplers
    return [None if cso is None else cso.state for cso in found]


def _written_channels(bound: Bound) -> int:
    """The colour channels that the write mask of some bound colour buffer enables."""
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
    values: Mapping[Stage, Inlined],
) -> Selection:
    rasterizer = bound.rasterizer.state
    program: Program | None = None
    origin: list[tuple[DriverShader, VariantKey]] = []
    if fragment is not None:
        samplers = _samplers(bound)
        key = FragmentKey.of(
            fragment.reads,
            rasterizer,
            bound.depth_stencil_alpha.state,
            bound.framebuffer,
            primitive,
            samplers,
            colormask,
        )
        key = replace(key, inlined_uniforms=values.get(Stage.FRAGMENT, ()))
        key = fragment.compiler.adapted(key, bound.framebuffer)
        program = fragment.variant_for(key).program
        origin.append((fragment, key))
    inputs = program.facts.inputs if program is not None else frozenset()
    # With stream output every varying has a reader, whatever the fragment stage does.
    before = [shader for shader in (vertex, *middle) if shader is not None]
    last = next(s for s in (middle[2], middle[1], vertex) if s is not None)
    unread = not inputs and last.stream_output is None
    chosen = VertexKey.of(last.reads, rasterizer, depth_only=unread)
    chosen = replace(chosen, inlined_uniforms=values.get(last.stage, ()))
    keys = {
        shader: shader.compiler.adapted(
            chosen if shader is last else VertexKey(), bound.framebuffer
        )
        for shader in before
    }
    origin.insert(0, (vertex, keys[vertex]))
    return Selection(
        stages={s.stage: s.variant_for(key).program for s, key in keys.items()},
        infos={s.stage: s.shader.info for s in before},
        fragment=program,
        flat_slots=frozenset(use.slot for use in inputs if use.mode == "flat"),
        linear_slots=frozenset(use.slot for use in inputs if use.mode == "noperspective"),
        stream_output=last.stream_output,
        origin=tuple(origin),
        mergeable=last is vertex
        and not any(shader.reads.deciding for shader, _ in origin)
        and all(shader.variant_for(key).mergeable for shader, key in origin),
    )


# -- resources -----------------------------------------------------------------------------------


class Joiner:
    """Programs joined with what is bound to their stage, kept until a binding changes.

    `changes` counts how often a program was joined or forgotten; while it is constant, programs are
    the same.
    """

    __slots__ = ("_bound", "_joined", "_merged", "_resources", "_work", "changes")

    def __init__(self, bound: Bound, work: Work) -> None:
        self._bound = bound
        self._work = work
        self._resources: dict[Stage, ShaderResources] = {}
        self._joined: dict[Stage, tuple[Program, FragmentShader]] = {}
        self._merged: dict[Any, tuple[VariantKey, Program]] = {}
        self.changes = 0

    def forget(self, stage: Stage) -> None:
        """Forget joined programs, because the stage's resources have changed."""
        self.changes += 1
        self._resources.pop(stage, None)
        self._joined.pop(stage, None)
        self._merged.clear()

    def rebind(self, stage: Stage) -> None:
        """Another constant block 0 was bound, and nothing else changed. Programs that can continue
        with it are kept, because joining them again takes much longer.
        """
        found, resources = self._joined.get(stage), self._resources.get(stage)
        program = found[1].program if found else None
        if program is None or not program.rebinds or resources is None:
            self.forget(stage)
            return
        block = self._bound.stages[stage].constants[0]
        resources.constants[0] = None if block is None else block.data
        program.rebind()

    def release(self, stage: Stage) -> None:
        """Constant block 0 is released, and nothing is drawn for a while. Programs must not keep
        its resources alive, so only those without other resources continue.
        """
        resources = self._resources.get(stage)
        if resources is None or resources.textures or resources.images or resources.buffers:
            self.forget(stage)
            return
        self.rebind(stage)

    def resources(self, stage: Stage) -> ShaderResources:
        """The resources of a stage."""
        found = self._resources.get(stage)
        if found is None:
            found = self._resources[stage] = _resources(
                self._bound, self._bound.stages[stage], self._work
            )
        return found

    def join(self, stage: Stage, compiled: Program) -> FragmentShader:
        """The program with the resources bound to its stage."""
        found = self._joined.get(stage)
        if found is None or found[0] is not compiled:
            resources = self.resources(stage)
            quads = stage is Stage.FRAGMENT and compiled.facts.needs_quads(resources)
            joined = FragmentShader(compiled.bind(resources), quads)
            self.changes += 1
            found = self._joined[stage] = compiled, joined
        return found[1]

    def program(self, stage: Stage, compiled: Program) -> BoundProgram:
        """The joined program of a stage whose lanes never come in quads."""
        program = self.join(stage, compiled).program
        assert program is not None
        return program

    def merged(
        self, selection: Selection, tables: Mapping[Stage, ConstantTables]
    ) -> list[BoundProgram]:
        """The programs (vertex, fragment) that run many draws at once, with what each reads."""
        return [
            self._merged_one(shader, key, tables[shader.stage]) for shader, key in selection.origin
        ]

    def merged_fragment(self, selection: Selection, tables: ConstantTables) -> BoundProgram:
        """The fragment program of `merged` alone."""
        return self._merged_one(*selection.origin[1], tables)

    def _merged_one(
        self, shader: DriverShader, key: VariantKey, tables: ConstantTables
    ) -> BoundProgram:
        strides = {number: table.shape[1] for number, table in tables.items()}
        found = self.resources(shader.stage)
        constants = found.constants
        if 0 in strides and _same(shader.reads.words, tables[0]):
            del strides[0]  # the shader reads equal words in all rows: the first row serves for all
        if tables:
            constants = list(constants)
            constants += [None] * (max(tables) + 1 - len(constants))
            for number, table in tables.items():
                constants[number] = table.reshape(-1) if number in strides else table[0]
        resources = ShaderResources(
            constants,
            found.textures,
            found.images,
            found.buffers,
            found.clip_planes,
            found.alpha_ref,
            found.work,
        )
        program = self._merged_program(shader, key, tuple(sorted(strides.items())))
        return program.bind(resources)

    def _merged_program(
        self,
        shader: DriverShader,
        key: VariantKey,
        strides: tuple[tuple[int, int], ...],
    ) -> Program:
        """The variant that reads a row of these constant blocks for each draw."""
        asked = shader, id(key), strides
        found = self._merged.get(asked)
        if found is None or found[0] is not key:
            if len(self._merged) >= _MOST_MERGED:
                self._merged.clear()
            blocks = dict(strides)
            wanted = replace(key, merged=blocks.pop(0, 0), merged_blocks=tuple(blocks.items()))
            found = self._merged[asked] = key, shader.variant_for(wanted).program
        return found[1]


def _same(words: tuple[int, ...] | None, table: npt.NDArray[np.uint8]) -> bool:
    """Whether all rows of a table agree in the words a shader reads (None: it may read any)."""
    found = table.view(np.uint32)
    if words is not None:
        inside = [word for word in words if word < found.shape[1]]
        found = found.take(inside, axis=1) if inside else found[:, :0]
    return bool((found == found[0]).all())


def _resources(bound: Bound, bindings: StageBindings, work: Work) -> ShaderResources:
    textures: list[Any] = []
    for index, view in enumerate(bindings.views):
        textures.append(None if view is None else texture_unit(view, bindings.sampler(index)))
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
        work=work,
    )
