"""The interface of compiled shader programs: their facts, and the calls that run them.

A `Program` is the generated code of one shader variant. A draw uses it in three steps:

1. `facts = program.facts` says, before anything runs, which inputs the program reads, which outputs
   it writes, and whether it needs 2x2 quads (`facts.needs_quads(resources)`).
2. `bound = program.bind(resources)` binds the constants and textures of the draw (microseconds).
3. `bound.vertex(lanes)` or `bound.fragment(lanes)` runs one chunk of at most `facts.chunk_lanes`
   lanes (more is allowed, but slower). Chunks are independent: they may run in any order and in
   several threads at once.

Returned values are *read-only*: they may alias the inputs, a constant or each other, and have shape
`(lanes.count,)`, or `()` when every lane has the same value. Raw 32-bit integers are `int32` or
`uint32` arrays; a reader that needs other bits uses `.view`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Intrinsic, Shader, Stage
from gallette.compiler.nir.ir.slots import COLOR_SLOTS, FragResult
from gallette.compiler.nir.ir.texops import FIRST_HANDLE
from gallette.drivers.common.lanes import (
    ComputeLanes,
    ControlLanes,
    EvaluationLanes,
    FragmentLanes,
    GeometryLanes,
    ShaderResources,
    Value,
    VertexLanes,
)

if TYPE_CHECKING:
    from gallette.drivers.common.draw.emissions import Expanded
    from gallette.drivers.common.draw.snapshot import Plan
    from gallette.drivers.common.draw.state import DrawState
    from gallette.drivers.common.output.engine import FragmentEngine
    from gallette.drivers.common.raster.batch import Batch, RasterContext
    from gallette.drivers.common.variants.keys import VariantKey
    from gallette.drivers.common.variants.shader import ShaderObject
    from gallette.drivers.common.vertex.vertices import VertexSet
    from gallette.pipe.enums import Primitive

LONGEST_BLOCK = 1 << 16
"""Bytes at the beginning of a constant block that code may read without a bounds check, because
binding pads shorter blocks with zeros. It is GL_MAX_UNIFORM_BLOCK_SIZE; SPIR-V may access offsets
far beyond, which are read with a check.
"""

Outputs = dict[int, list[Value | None]]
"""By slot (VaryingSlot or FragResult): four components, None where the shader writes nothing."""


Emission = tuple[int, npt.NDArray[np.intp], "list[Value] | None"]
"""What a geometry shader does in one place: (stream, lanes, values of the program's `places`).

Each of the lanes emits a vertex with these values or, if there are none, ends its primitive. A
lane's emissions happen in list order.
"""


@lazy_dataclass(frozen=True)
class InputUse:
    """One component a shader reads: a vertex element's or a varying's.

    `slot` is the vertex element index (vertex) or the VaryingSlot (fragment). `mode` is `attribute`
    for vertex inputs, and `flat`, `smooth` or `noperspective` for fragment inputs; `where` is
    `pixel`, `centroid`, `sample` or `at` (an offset known only when the shader runs).
    """

    slot: int
    component: int
    mode: str
    where: str = "pixel"


def interpolation(load: Intrinsic, flat_colors: bool) -> tuple[str, str, Intrinsic]:
    """How a `load_interpolated_input` is interpolated: the mode, where in the pixel, and the
    instruction that says so.
    """
    bary = load.srcs[0].value.instr
    assert isinstance(bary, Intrinsic)
    mode = bary["interp"]
    if mode == "none":  # a colour without an interpolation qualifier
        mode = "flat" if flat_colors and load["location"] in COLOR_SLOTS else "smooth"
    return mode, bary.name.removeprefix("load_barycentric_"), bary


HELD_TESTED = frozenset({"last_depth", "last_stencil"})
"""System values read from the depth and stencil buffer."""
HELD = frozenset({"output"}) | HELD_TESTED
"""System values read from the framebuffer, which change with each fragment of a pixel."""
PER_SAMPLE = frozenset({"sample_id", "sample_pos"}) | HELD
"""System values that differ between samples, so that a fragment shader runs once per sample."""


MOST_LOCALS = 1 << 26
"""The limit of numbers in the local arrays of all lanes of a chunk: 256 MiB."""

_LEAST_LANES = 64


def lanes_with_room(lanes: int, numbers: int) -> int:
    """The lanes of a chunk, at most `lanes`, if each has `numbers` numbers in local arrays."""
    return max(_LEAST_LANES, min(lanes, MOST_LOCALS // max(1, numbers) & ~3))


def textures_from(first: int) -> range:
    """The units a dynamic index may select: all of them, or (from FIRST_HANDLE on) any handle."""
    return range(FIRST_HANDLE + 1 if first >= FIRST_HANDLE else FIRST_HANDLE)


@lazy_dataclass(frozen=True)
class ProgramFacts:
    """Facts about a program that are known without running it."""

    stage: str  # "vertex", "tess_ctrl", "tess_eval", "geometry" or "fragment"
    inputs: frozenset[InputUse]
    outputs: dict[int, int]  # slot -> mask of components written
    system_values: frozenset[str]  # `frag_coord`, `vertex_id`, ... as `lanes.system` is asked
    textures: frozenset[int]  # texture indices that may be sampled (see `textures_from`)
    implicit_lod: frozenset[int]  # those of them sampled with an implicit level of detail
    uses_derivatives: bool  # explicit dFdx and friends: quads are needed whatever is bound
    uses_discard: bool  # fragments may be killed: depth must not be written early
    writes_depth: bool
    writes_stencil: bool
    writes_sample_mask: bool
    has_side_effects: bool  # stores to buffers or images: shading order and count are observable
    early_fragment_tests: bool  # `layout(early_fragment_tests) in`
    uses_sample_shading: bool  # reads gl_SampleID or `sample` inputs: one run per sample
    chunk_lanes: int  # the chunk size that fits the cache
    in_order: bool  # fragments of a pixel are shaded in order
    post_depth_coverage: bool  # gl_SampleMaskIn is the coverage after early tests

    @classmethod
    def of(
        cls,
        shader: Shader,
        inputs: Iterable[InputUse],
        outputs: Iterable[tuple[int, int]],
        system: Iterable[str],
        textures: Iterable[int],
        implicit: Iterable[int],
        *,
        derivatives: bool,
        discards: bool,
        effects: bool,
        lanes: int,
    ) -> ProgramFacts:
        """The facts that follow from what a shader's code reads, does and writes; of outputs, slots
        and components.
        """
        read, values, written = frozenset(inputs), frozenset(system), dict[int, int]()
        for slot, component in outputs:
            written[slot] = written.get(slot, 0) | 1 << component
        fragment, info = shader.stage is Stage.FRAGMENT, shader.info
        return cls(
            stage=shader.stage.value,
            inputs=read,
            outputs=written,
            system_values=values,
            textures=frozenset(textures),
            implicit_lod=frozenset(implicit) if fragment else frozenset(),
            uses_derivatives=derivatives,
            uses_discard=discards,
            writes_depth=fragment and FragResult.DEPTH in written,
            writes_stencil=fragment and FragResult.STENCIL in written,
            writes_sample_mask=fragment and FragResult.SAMPLE_MASK in written,
            has_side_effects=effects,
            early_fragment_tests=info.early_fragment_tests,
            uses_sample_shading=bool(values & PER_SAMPLE)
            or any(use.where == "sample" for use in read),
            chunk_lanes=lanes,
            in_order=info.interlocks or bool(values & HELD),
            post_depth_coverage=info.post_depth_coverage,
        )

    @property
    def is_empty(self) -> bool:
        """Whether running it has no effect: no outputs, no discard, no side effects."""
        return not (self.outputs or self.uses_discard or self.has_side_effects)

    def needs_quads(self, resources: ShaderResources) -> bool:
        """Whether fragments must come as whole 2x2 quads (with helpers) for these textures."""
        units = resources.textures
        if self.uses_derivatives:
            return True
        if FIRST_HANDLE in self.implicit_lod:
            return any(unit is not None and unit.needs_lod for unit in units)
        return any(
            index < len(units) and (unit := units[index]) is not None and unit.needs_lod
            for index in self.implicit_lod
        )


@lazy_dataclass()
class FragmentOutputs:
    """What one chunk of fragments produced.

    `outputs` has FragResult slots (COLOR and DATA0.. with up to four components; DEPTH, STENCIL and
    SAMPLE_MASK with one). `alive` is None when no lane was discarded, else a bool array; helper
    lanes are not cleared in it. `dual` has the second colours of dual-source blending.
    """

    outputs: Outputs
    alive: npt.NDArray[np.bool_] | None
    dual: Outputs

    @classmethod
    def joined(cls, parts: Sequence[tuple[int, FragmentOutputs]]) -> FragmentOutputs:
        """The outputs of consecutive lanes; each part has its number of lanes and their outputs,
        by the same code.
        """
        counts, results = [count for count, _ in parts], [result for _, result in parts]
        if len(parts) == 1:
            return results[0]

        def plane(values: tuple[Value | None, ...]) -> Value | None:
            if values[0] is None:
                return None
            pairs = zip(values, counts, strict=True)
            return np.concatenate(
                [v if v.shape == (n,) else np.broadcast_to(v, n) for v, n in pairs if v is not None]
            )

        def slots(found: list[Outputs]) -> Outputs:
            return {
                slot: list(map(plane, zip(*[one[slot] for one in found], strict=True)))
                for slot in found[0]
            }

        alive = None
        if any(result.alive is not None for result in results):
            every = np.ones(max(counts), np.bool_)
            found = zip(counts, results, strict=True)
            alive = np.concatenate([every[:n] if r.alive is None else r.alive for n, r in found])
        return cls(slots([r.outputs for r in results]), alive, slots([r.dual for r in results]))


class BoundProgram:
    """A program joined with the resources of one draw.

    Drivers implement the methods of the stages that they compile. The methods from `fill` on are
    for drivers that compile more than shaders; the others keep the defaults.
    """

    __slots__ = ()

    rebinds: ClassVar[bool] = False
    """Whether `rebind` may be called: not if the driver holds programs until it draws."""
    watched: ClassVar[bool] = False
    """Whether an observer expects each of its fragments to run."""

    def vertex(self, lanes: VertexLanes) -> Outputs:
        """Run one chunk of vertices; returns outputs by VaryingSlot."""
        raise NotImplementedError

    def geometry(self, lanes: GeometryLanes) -> list[Emission]:
        """Run one chunk of primitives."""
        raise NotImplementedError

    def strips(self, lanes: GeometryLanes) -> dict[int, Expanded] | None:
        """Run all primitives; returns the vertices of each stream, always including the first
        stream. None: `geometry` is to be called for each chunk.
        """
        return None

    def control(self, lanes: ControlLanes) -> tuple[Outputs, Outputs]:
        """Run one chunk of control invocations: (per-vertex outputs, outputs of whole patches).

        A chunk holds all invocations of its patches, in order.
        """
        raise NotImplementedError

    def compute(self, lanes: ComputeLanes) -> None:
        """Run whole workgroups, all invocations of each."""
        raise NotImplementedError

    def evaluate(self, lanes: EvaluationLanes) -> Outputs:
        """Run one chunk of tessellated vertices; returns outputs by VaryingSlot."""
        raise NotImplementedError

    def fragment(self, lanes: FragmentLanes) -> FragmentOutputs:
        """Run one chunk of fragments; `lanes.quads` must hold if `needs_quads` said so."""
        raise NotImplementedError

    def fill(
        self,
        engine: FragmentEngine,
        context: RasterContext,
        vertices: VertexSet,
        batch: Batch,
        inside: bool,
    ) -> int:
        """Fill primitives, after clipping them if they are not `inside` of all planes; returns how
        many of the first ones are done. The shared rasterizer draws the others.
        """
        return 0

    def plan(self, draw: DrawState, mode: Primitive) -> Plan | None:
        """The fast path of single draws in a state; None if there is none."""
        return None

    def rebind(self) -> None:
        """Continue with other constant blocks in the same resources."""
        raise NotImplementedError


class Program(Protocol):
    """One shader variant as executable code."""

    facts: ProgramFacts
    places: tuple[tuple[int, int, int], ...]  # (slot, component, 0) of an emitted vertex's values
    code: str  # the generated Python source, for `explain`

    def bind(self, resources: ShaderResources) -> BoundProgram:
        """Bind the resources of a draw, which must not change while the result is in use."""
        ...


DriverShader: TypeAlias = "ShaderObject[VariantKey, Program]"
"""A shader of a driver whose code implements the protocols above."""
