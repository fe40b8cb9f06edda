"""The fragment engine of a draw: from spans to memory.

It chooses one of three orders per draw, its `Strategy`. Where there are many fragments, those
hidden by earlier draws are not generated at all (`hierarchical_depth`).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.drivers.common.lanes import HELD_DEPTH, Value
from gallette.drivers.common.program import FragmentOutputs, ProgramFacts
from gallette.drivers.common.queries import Counters
from gallette.drivers.common.raster.batch import FragmentSink
from gallette.drivers.common.raster.fragments import (
    Fragments,
    expand_pixels,
    expand_quads,
    lanes_of_quads,
    pieces,
)
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import ChunkLanes, PrimitiveInfo
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.threads import in_order, thread_count
from gallette.drivers.common.vertex.masks import ends_of, every
from gallette.drivers.common.vertex.masks import where as where_set
from gallette.drivers.common.work import FRAGMENT
from gallette.pipe.resource import Resource

from .color import ColorTarget, Prepared
from .depth import held
from .fragment_state import FragmentShader, FragmentState
from .fragment_tests import Codes, FragmentTests
from .hierarchical_depth import can_be_hidden, nearest_first, visible_pieces
from .order import (
    OPAQUE_FUNCS,
    Scratch,
    by_program,
    cannot_change_tests,
    exported_stencil,
    lanes_left,
    layers,
    layers_of,
    plain_lanes,
    real_lanes,
    screened,
    visible,
)
from .visibility import VisiblePrimitives

if TYPE_CHECKING:
    from gallette.drivers.common.raster.batch import Batch, RasterContext
    from gallette.drivers.common.vertex.vertices import VertexSet

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

PIECE = 1 << 16
"""Fragments resolved at a time: enough to amortise NumPy's calls, few enough for the cache."""

_WORTH_DEFERRING = PIECE + PIECE // 2
WORTH_A_THREAD = 1 << 13
"""Lanes per chunk from which NumPy releases the lock long enough for another thread to shade."""

PreparedColors = list[tuple[ColorTarget, Prepared]]
_Shaded = tuple[ChunkLanes, FragmentOutputs, PreparedColors]


class Strategy(enum.Enum):
    """The order in which fragments are tested and shaded."""

    SHADE_FIRST = "shade first"
    """The shader discards or computes depth. Fragments that certainly fail are dropped, the others
    are shaded, then tested in order."""
    VISIBLE = "visible"
    """The order of fragments cannot be observed (no blending, no stencil, no sample counting).
    Depth is resolved first, and only the visible fragment of a pixel is shaded."""
    TESTS_FIRST = "tests first"
    """The shader cannot change the outcome of the tests, or requests early tests, so fragments are
    tested in order, then the survivors are shaded."""


@lazy_dataclass()
class FragmentRun(FragmentSink):
    """The fragments of one draw: an engine and the program to run (a `FragmentSink`)."""

    engine: FragmentEngine
    shader: FragmentShader

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        """Run the fragments of some primitives."""
        self.engine.draw(self.shader, spans, source, info)

    def fill(
        self, context: RasterContext, vertices: VertexSet, batch: Batch, inside: bool = False
    ) -> int:
        """Fill primitives with the program's compiled code, if it has any for them; returns how
        many of the first ones are done.
        """
        program, several = self.shader.program, self.shader.several
        if program is None or several is not None:
            return 0
        return program.fill(self.engine, context, vertices, batch, inside)


class FragmentEngine:
    """Runs fragments; `draw` may be called for several batches of a draw, in order."""

    deals: ClassVar[bool] = True
    """Callers may ask for fragments (`fragments`) and run some of them at a time (`run`)."""

    def __init__(self, state: FragmentState, scratch: Scratch, counters: Counters) -> None:
        self.state = state
        self.counters = counters
        self.origin = 0  # the number of the targets' first pixel
        self.derived: dict[Any, Any] = {}  # caches of a driver's compiled code
        self.scratch = scratch
        facts = state.facts
        self._colors = [(i, c) for i, c in enumerate(state.colors) if c and c.key.mask != 0]
        self.tests = FragmentTests(state, scratch)
        self._shades = facts is not None and (
            bool(self._colors)
            or facts.has_side_effects
            or facts.uses_discard
            or facts.writes_depth
            or facts.writes_stencil
            or facts.writes_sample_mask
        )
        self._in_order = self._shades and facts is not None and facts.in_order
        self._by_primitive = self._shades and facts is not None and _is_by_primitive(facts)
        self.strategy = next(strategy for strategy, fits in _STRATEGIES if fits(self))
        self.idle = not (self._shades or self.tests.stencil or self.tests.depth or state.counting)

    @property
    def _scratch_pixels(self) -> npt.NDArray[np.int32]:
        """A scratch array with one element per pixel, whose contents are undefined between uses."""
        return self.scratch.at_least(self.state.plane * self.state.layers)

    def resolves_with(self, other: FragmentEngine) -> bool:
        """Whether fragments of both engines can be resolved together before any of them is shaded.

        Their order cannot be observed, and a hidden fragment leaves no trace.
        """
        one, two = self.state, other.state
        if one.facts is None or two.facts is None:
            return False
        return (
            type(self) is type(other) is FragmentEngine
            and self.strategy is other.strategy is Strategy.VISIBLE
            and self._shades
            and other._shades
            and self.tests.depth == other.tests.depth
            and (one.tests == two.tests or not self.tests.depth)
            and one.facts.outputs == two.facts.outputs
            and [(i, c.key) for i, c in self._colors] == [(i, c.key) for i, c in other._colors]
        )

    @property
    def shades(self) -> bool:
        """Whether the shader runs, because something it does can be observed."""
        return self._shades

    @property
    def tests_first(self) -> bool:
        """Whether tests run before shading."""
        return self.strategy is not Strategy.SHADE_FIRST

    def _depends_on_shading(self) -> bool:
        """Whether the shader decides which fragments pass, or reads it."""
        return self._shades and not cannot_change_tests(self.state.facts)

    def _hides_order(self) -> bool:
        """Whether the order of fragments cannot be observed."""
        state, facts = self.state, self.state.facts
        return not (
            self.tests.stencil
            or self.tests.bounds
            or state.counting
            or self._in_order
            or (facts is not None and (facts.has_side_effects or facts.uses_discard))
            or any(color.ordered for _, color in self._colors)
            or (self.tests.depth and state.tests.depth_func not in OPAQUE_FUNCS)
        )

    # -- stages of a batch -------------------------------------------------------------------------

    def draw(
        self, shader: FragmentShader, spans: Spans, source: PlaneSource, info: PrimitiveInfo
    ) -> None:
        """Run the fragments of some primitives."""
        if self.idle or self.state.sample_mask & 1 == 0:
            return
        layered = self.state.layers > 1 and VaryingSlot.LAYER in source.vertices.varyings
        plain = info.screen is None and not layered
        seen = self.strategy is Strategy.VISIBLE and self._shades
        if seen and plain and _overdrawn(spans):
            self._deferred(shader, spans, source, info)
            return
        quads = shader.quads and self._shades
        # Fragments of each program are shaded separately.
        size = PIECE if shader.several is None else 4 * PIECE
        for piece in self._pieces(spans, source, size):
            self.run(shader, self.fragments(piece, source, info, quads), source, info)

    def _pieces(self, spans: Spans, source: PlaneSource, limit: int) -> Iterable[Spans]:
        """The spans in pieces; if there are many, without the spans that are hidden by then."""
        if self._hides(spans, source, limit):
            return visible_pieces(self, spans, source, limit)
        return pieces(spans, limit)

    def _hides(self, spans: Spans, source: PlaneSource, limit: int) -> bool:
        """Whether spans may hide others, in more than one piece."""
        many = spans.fragments > limit + limit // 2
        return many and not self.origin and can_be_hidden(self, source)

    def fragments(
        self, spans: Spans, source: PlaneSource, info: PrimitiveInfo, quads: bool
    ) -> Fragments:
        """The fragments of some primitives, in quads where the shader needs them."""
        expand = expand_quads if quads else expand_pixels
        lanes = self.placed(expand(spans, self.state.width))
        if info.screen is not None:
            lanes = screened(lanes, info.screen)
        if self.state.layers > 1 and VaryingSlot.LAYER in source.vertices.varyings:
            layer = layers_of(source, self.state.layers, lanes)
            lanes.renumber(lanes.pixel + layer * self.state.plane)
        return lanes

    def run(
        self, shader: FragmentShader, lanes: Fragments, source: PlaneSource, info: PrimitiveInfo
    ) -> None:
        """Run some fragments, in order."""
        apart = shader.several is not None and self.strategy is not Strategy.VISIBLE
        for turn in self._ordered_groups(lanes, apart):
            self._piece(shader, turn, source, info)

    def placed(self, lanes: Fragments) -> Fragments:
        """Lanes with pixels numbered from the beginning of the targets, which may be a tile."""
        if self.origin:
            lanes.renumber(lanes.pixel - self.origin)
        return lanes

    def _ordered_groups(self, lanes: Fragments, apart: bool = False) -> Sequence[Fragments]:
        """The lanes in groups that may be shaded together: all, or one fragment of each pixel at a
        time.

        `apart` says that lanes within a group may be reordered.
        """
        if not lanes.count:
            return ()
        quads = lanes.covered is not None
        if not (self._in_order or apart) or (lanes.distinct and not quads):
            return (lanes,)
        places = lanes.pixel[::4] if quads else lanes.pixel
        turns = []
        for layer in list(layers(places, self._scratch_pixels)):
            if layer is None:
                return (lanes,)
            if quads:
                layer = lanes_of_quads(layer)
            turns.append(lanes.take(layer))
        return turns

    def framebuffer(self, index: int, pixel: Ints, sample: int) -> list[Value]:
        """The contents of a colour buffer at some pixels; zeros if there is none.

        `HELD_DEPTH` instead of an index stands for depth and stencil.
        """
        if index == HELD_DEPTH:
            return held(self.state.depth, pixel)
        color = self.state.colors[index] if index < len(self.state.colors) else None
        if color is None:
            return [np.zeros((), np.float32)] * 4
        return color.read(color.address(pixel, self.state.width, self.state.plane))

    def _piece(
        self, shader: FragmentShader, lanes: Fragments, source: PlaneSource, info: PrimitiveInfo
    ) -> None:
        if self.strategy is Strategy.VISIBLE and self._shades and not self.tests.depth:
            # Writing hidden fragments, too, takes less time than finding them.
            if lanes.distinct or self._alike(shader, lanes, source) is not None:
                self.shade(shader, lanes, None, lanes.covered, source, info)
                return
        found = self._tested(lanes, source, info)
        if found is not None and self._shades:
            where, passing = found
            self.shade(shader, lanes, where, passing, source, info)

    def _tested(
        self, lanes: Fragments, source: PlaneSource, info: PrimitiveInfo
    ) -> tuple[Ints | None, Bools | None] | None:
        """Which lanes are fragments (None: all), and which of those pass or may pass; None if no
        lane is a fragment.
        """
        tested, where = real_lanes(lanes)
        if not tested.count:  # quads between the rows of a sliver
            return None
        codes = None
        facts = self.state.facts  # tests that run first use the primitive's depth
        computed = facts is not None and facts.writes_depth and not self.tests_first
        if self.tests.depth and not (self._shades and computed):
            codes = self.tests.codes(source, tested)
        if self.strategy is Strategy.VISIBLE:
            depth = self.state.depth if self.tests.depth else None
            passing = visible(tested.pixel, codes, depth, self.state.tests, self._scratch_pixels)
        elif self.tests_first:
            passing = self.tests.run(tested, codes, info)
            passed = tested.count if passing is None else int(np.count_nonzero(passing))
            self.counters.samples_passed += passed
            if self.counters.tally is not None:
                self._report_samples(tested, info, None if passing is None else where_set(passing))
        else:
            passing = self.tests.surely_failing(tested, codes)
        return where, passing

    def shade(
        self,
        shader: FragmentShader,
        lanes: Fragments,
        where: Ints | None,
        passing: Bools | None,
        source: PlaneSource,
        info: PrimitiveInfo,
    ) -> None:
        """Shade the lanes that passed, among those that are fragments (at `where`; None: all
        lanes).

        `lanes` is narrowed in place, so the memory of lanes that failed is freed even if the caller
        holds a reference.
        """
        if passing is not None:
            if where is not None:
                everywhere = np.zeros(lanes.count, np.bool_)
                everywhere[where] = passing
                passing = everywhere
            lanes.narrow(passing)
        if lanes.count:
            self._shade(shader, lanes, source, info)

    def _deferred(
        self, shader: FragmentShader, spans: Spans, source: PlaneSource, info: PrimitiveInfo
    ) -> None:
        """Resolve the visibility of all fragments first, then shade every pixel once."""
        owners = VisiblePrimitives(self.scratch, spans, self.state.width, self.origin)
        if self.tests.depth:
            self._find_nearest_visible(owners, spans, source)
        else:
            self._find_last_visible(owners, spans)
        for owned in owners.lanes(shader.quads, self.state.width, PIECE):
            self._shade(shader, self.placed(owned), source, info)

    def _find_last_visible(self, owners: VisiblePrimitives, spans: Spans) -> None:
        """Find the last fragment of each pixel, which is visible without a depth test, going
        backwards until all pixels are covered.
        """
        for piece in reversed(list(pieces(spans, PIECE))):
            lanes = self.placed(expand_pixels(piece, self.state.width))
            places = owners.places(lanes)
            free = owners.free(places)
            if not every(free):
                some = where_set(free)
                lanes, places = lanes.take(some), places.take(some)
            if lanes.count:
                last = visible(lanes.pixel, None, None, self.state.tests, self._scratch_pixels)
                owners.set_visible(lanes, places, last)
            if owners.complete:
                break

    def _find_nearest_visible(
        self, owners: VisiblePrimitives, spans: Spans, source: PlaneSource
    ) -> None:
        """Find the fragments that pass the depth test, in the order that rejects most."""
        state, turned = self.state, None
        if self._hides(spans, source, PIECE):
            turned = nearest_first(self, spans, source, PIECE)
        for piece in turned or self._pieces(spans, source, PIECE):
            lanes = self.placed(expand_pixels(piece, state.width))
            places = owners.places(lanes)
            ties = None if turned is None else owners.ties(lanes, places, state.tests.depth_func)
            codes = self.tests.codes(source, lanes)
            winners = visible(
                lanes.pixel, codes, state.depth, state.tests, self._scratch_pixels, ties
            )
            owners.set_visible(lanes, places, winners)

    # -- shading -------------------------------------------------------------------------------

    def _chunks(self, lanes: Fragments) -> Iterator[Fragments]:
        if self._is_chunk(lanes.count):
            yield lanes
            return
        facts = self.state.facts
        assert facts is not None
        many = -(-lanes.count // max(4, facts.chunk_lanes))
        size = 4 * -(-lanes.count // (4 * many))  # of equal length: a short rest costs as much
        for start in range(0, lanes.count, size):
            yield lanes.take(slice(start, start + size))

    def _is_chunk(self, lanes: int) -> bool:
        """Whether this many lanes are shaded at once."""
        facts = self.state.facts
        assert facts is not None
        size = max(4, facts.chunk_lanes & ~3)
        return lanes <= size + size // 4

    def _shade(
        self, shader: FragmentShader, lanes: Fragments, source: PlaneSource, info: PrimitiveInfo
    ) -> None:
        if shader.several is not None:
            parts = by_program(shader, shader.several, lanes, info)
            if lanes.count > PIECE:
                for one, some in parts:
                    self._shade(one, some, source, info)
                return
            shaded_parts = [
                (some.count, one.program.fragment(self._inputs(some, source, info)))
                for one, some in parts
                if one.program is not None
            ]
            result = FragmentOutputs.joined(shaded_parts)
            colors = self._prepared(lanes, result)
            self._leave(lanes, self._inputs(lanes, source, info), result, colors, source, info)
            return
        program = shader.program
        assert program is not None
        length = self._alike(shader, lanes, source)
        if length is not None:
            first = lanes.take(ends_of(length) - length)
            inputs = self._inputs(first, source, info)
            result = program.fragment(inputs)
            prepared = self._prepared(first, result)
            colors = [(color, values.repeated(length)) for color, values in prepared]
            self._leave(lanes, inputs, result, colors, source, info)
            return

        def shaded(chunk: Fragments) -> _Shaded:
            inputs = self._inputs(chunk, source, info)
            result = program.fragment(inputs)
            return inputs, result, self._prepared(chunk, result)

        def apart(chunk: Fragments) -> _Shaded:
            with np.errstate(all="ignore"):  # NumPy keeps this setting per thread
                return shaded(chunk)

        if self._is_chunk(lanes.count):
            self._leave(lanes, *shaded(lanes), source, info)
            return
        for chunk, found in in_order(apart, self._chunks(lanes), self._threads(lanes.count)):
            self._leave(chunk, *found, source, info)

    def _alike(self, shader: FragmentShader, lanes: Fragments, source: PlaneSource) -> Ints | None:
        """The lengths of runs of lanes with the same inputs, of which one each is shaded; None if
        all are.
        """
        program, facts = shader.program, self.state.facts
        assert program is not None and facts is not None
        if not self._by_primitive or program.watched or shader.several is not None:
            return None
        if lanes.covered is not None or lanes.samples is not None:
            return None
        for use in facts.inputs:
            if use.mode != "flat":
                if use.mode == "smooth" and not source.affine:
                    return None
                plane = source.plane(use.slot, use.component, False)
                if plane.dx is not None or plane.dy is not None:
                    return None
        length = lanes.primitives()[1]
        return length if 2 * len(length) <= lanes.count else None

    def _inputs(self, lanes: Fragments, source: PlaneSource, info: PrimitiveInfo) -> ChunkLanes:
        return ChunkLanes(source, info, lanes, None, self.framebuffer)

    def _leave(
        self,
        chunk: Fragments,
        inputs: ChunkLanes,
        result: FragmentOutputs,
        colors: PreparedColors,
        source: PlaneSource,
        info: PrimitiveInfo,
    ) -> None:
        """Count and store the shaded fragments."""
        self.counters.fs_invocations += chunk.count
        self.state.work.spend(FRAGMENT * chunk.count)
        if self.tests_first:
            which = lanes_left(chunk.covered, result.alive)
        else:
            which = self._late_tests(chunk, inputs, result, source, info)
        if which is None or len(which):
            self._write(chunk, colors, which)

    def _threads(self, lanes: int) -> int:
        """How many threads shade these lanes: one if chunks are few or short or depend on each
        other.
        """
        facts = self.state.facts
        assert facts is not None
        if facts.chunk_lanes < WORTH_A_THREAD or lanes < 2 * facts.chunk_lanes:
            return 1
        if facts.has_side_effects or facts.in_order:
            return 1
        # With chunks that fit a cache, threads mostly wait for Python's lock: one, unless
        # configured.
        return thread_count(1)

    def _late_tests(
        self,
        chunk: Fragments,
        inputs: ChunkLanes,
        result: FragmentOutputs,
        source: PlaneSource,
        info: PrimitiveInfo,
    ) -> Ints | None:
        """Run the tests after shading; returns the remaining lanes (None: all)."""
        # gl_SampleMask has no effect with a single sample.
        which = lanes_left(chunk.covered, result.alive)
        real = chunk if which is None else plain_lanes(chunk, which)
        codes = None
        if self.tests.depth:
            codes = self._late_codes(chunk, result, inputs, source, which)
        if real.count:
            exported = exported_stencil(result, chunk.count, which)
            passing = self.tests.run(real, codes, info, exported=exported)
            if passing is not None and not every(passing):
                kept_lanes = where_set(passing)
                which = kept_lanes if which is None else which[kept_lanes]
        self.counters.samples_passed += chunk.count if which is None else len(which)
        self._report_samples(chunk, info, which)
        return which

    def _report_samples(self, lanes: Fragments, info: PrimitiveInfo, which: Ints | None) -> None:
        """Report the number of passed samples for each draw, if a query is active: all samples of
        these lanes.
        """
        tally = self.counters.tally
        if tally is None or not self.state.counting:
            return
        if which is None:
            primitive, passed = lanes.primitives()
            tally.pass_samples(info.identity.take(primitive), passed)
        else:
            passed = np.bincount(lanes.primitive.take(which))
            tally.pass_samples(info.identity[: len(passed)], passed)

    def _late_codes(
        self,
        chunk: Fragments,
        result: FragmentOutputs,
        inputs: ChunkLanes,
        source: PlaneSource,
        which: Ints | None,
    ) -> Codes:
        written = result.outputs.get(FragResult.DEPTH)
        z = inputs.depth() if written is None or written[0] is None else written[0]
        codes = self.tests.codes_of(z, source, chunk)
        return codes if which is None else codes[which]

    # -- colours -------------------------------------------------------------------------------

    def _prepared(self, chunk: Fragments, result: FragmentOutputs) -> PreparedColors:
        """The shader's output in the form that the colour buffers store."""
        prepared = []
        for index, color in self._colors:
            values, second = self._values(result, index)
            if values is not None:
                prepared.append((color, color.prepare(values, second, chunk.count)))
        return prepared

    def _write(self, chunk: Fragments, colors: PreparedColors, which: Ints | None) -> None:
        pixel = chunk.pixel if which is None else chunk.pixel[which]
        for color, prepared in colors:
            self._store(color, pixel, prepared, which, chunk.distinct)

    @staticmethod
    def _values(
        result: FragmentOutputs, index: int
    ) -> tuple[list[Value | None] | None, list[Value | None] | None]:
        """The shader's output for a colour buffer, and its second colour."""
        slot = FragResult.DATA0 + index
        values = result.outputs.get(slot, result.outputs.get(FragResult.COLOR))
        return values, result.dual.get(slot, result.dual.get(FragResult.COLOR))

    def _store(
        self,
        color: ColorTarget,
        pixel: Ints,
        prepared: Prepared,
        which: Ints | None,
        distinct: bool = False,
    ) -> None:
        """Write lanes to their pixels, in order where that can be observed."""
        at = color.address(pixel, self.state.width, self.state.plane)
        if distinct or not color.ordered:
            color.write(at, prepared, which)
            return
        for layer in layers(pixel, self._scratch_pixels):
            if layer is None:
                color.write(at, prepared, which)
            else:
                some = layer if which is None else which.take(layer)
                color.write(at.take(layer), prepared, some)

    def finish(self) -> None:
        """Count the writes of the draw, so that caches of the contents are invalidated."""
        for resource in self.written:
            resource.touch()  # type: ignore[attr-defined]

    @property
    def written(self) -> list[Resource]:
        """The resources that draws may have changed."""
        found = [color.resource for _, color in self._colors]
        if self.state.depth is not None and (self.tests.depth or self.tests.stencil):
            found.append(self.state.depth.resource)
        return found


_STRATEGIES: tuple[tuple[Strategy, Callable[[FragmentEngine], bool]], ...] = (
    (Strategy.SHADE_FIRST, lambda engine: engine._depends_on_shading()),
    (Strategy.VISIBLE, lambda engine: engine._hides_order()),
    (Strategy.TESTS_FIRST, lambda engine: True),
)
"""The first one whose condition holds is the strategy of a draw."""


_OF_PRIMITIVES = frozenset(
    {"front_face", "layer_id", "primitive_id", "view_index", "viewport_index"}
)


def _is_by_primitive(facts: ProgramFacts) -> bool:
    """Whether inputs that are the same in all fragments of a primitive make their results the
    same.
    """
    return (
        bool(facts.inputs or facts.system_values)
        and facts.system_values <= _OF_PRIMITIVES
        and all(use.mode != "corner" for use in facts.inputs)
        and not (facts.has_side_effects or facts.in_order or facts.uses_discard)
        and not (facts.writes_depth or facts.writes_stencil)
    )


def _overdrawn(spans: Spans) -> bool:
    """Whether so many pixels are covered more than once that resolving visibility saves time."""
    fragments = spans.fragments
    if fragments < _WORTH_DEFERRING:
        return False
    width = int((spans.x + spans.length).max()) - int(spans.x.min())
    height = int(spans.y.max()) + 1 - int(spans.y.min())
    return fragments > 1.25 * width * height
