"""The fragment engine of multisampled targets.

A lane is a pixel of a primitive with a mask of covered samples. Tests run per sample, against the
sample's plane of the depth buffer; a pixel is shaded once if any sample is left (or once per
sample, if the shader requires it), and its colour is stored in the planes of the remaining samples.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.drivers.common.lanes import HELD_DEPTH, Value
from gallette.drivers.common.program import FragmentOutputs
from gallette.drivers.common.queries import Counters
from gallette.drivers.common.raster.fragments import (
    Fragments,
    expand_pixels,
    expand_samples,
    pieces,
    sample_quads,
)
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import ChunkLanes, PrimitiveInfo
from gallette.drivers.common.raster.samples import COUNTS, MASK, SamplePattern
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.work import FRAGMENT

from .color import ColorTarget
from .depth import DepthTarget, held
from .engine import PIECE, FragmentEngine, Strategy
from .fragment_state import FragmentShader, FragmentState
from .fragment_tests import Codes
from .order import Scratch, exported_stencil, layers_of, plain_lanes, screened, visible
from .visibility import UnwrittenSamples

_OPAQUE = np.ones((), np.float32)

Masks = npt.NDArray[MASK]
Ints = npt.NDArray[np.int64]


class MultisampleEngine(FragmentEngine):
    """Runs the fragments of one draw on targets of several samples per pixel.

    `colors[s]` and `depths[s]` are the planes of sample s; the state's own targets are those of
    sample 0.
    """

    deals = False

    def __init__(
        self,
        state: FragmentState,
        scratch: Scratch,
        counters: Counters,
        colors: Sequence[Sequence[ColorTarget | None]],
        depths: Sequence[DepthTarget | None],
        pattern: SamplePattern,
        per_sample: bool,
        multisampling: bool,
        alpha_to_coverage: bool,
        alpha_to_one: bool,
    ) -> None:
        super().__init__(state, scratch, counters)
        self._planes = colors
        self._depths = depths
        self.pattern = pattern
        self.per_sample = per_sample
        self.multisampling = multisampling
        """Without it nothing but the primitive decides which samples are covered (14.9.3)."""
        self.alpha_to_coverage = alpha_to_coverage and multisampling
        self.alpha_to_one = alpha_to_one and multisampling
        if self.alpha_to_coverage and self._shades:
            self.strategy = Strategy.SHADE_FIRST

    def draw(
        self, shader: FragmentShader, spans: Spans, source: PlaneSource, info: PrimitiveInfo
    ) -> None:
        """Run the fragments of some primitives."""
        if self.idle:
            return
        sampled = spans.bounds is not None
        layered = self.state.layers > 1 and VaryingSlot.LAYER in source.vertices.varyings
        every = self.state.sample_mask & self.pattern.every
        cut = list(pieces(spans, PIECE))
        uncovered = None
        if len(cut) > 1 and self._last_is_visible and not layered:
            uncovered = UnwrittenSamples(spans, every)
        for piece in cut if uncovered is None else reversed(cut):
            expand = expand_samples if sampled else expand_pixels
            lanes = self.placed(expand(piece, self.state.width))
            if lanes.samples is None:  # multisampling is off: all samples are at the centre
                lanes.samples = np.full(lanes.count, self.pattern.every, MASK)
            lanes.samples = lanes.samples & MASK(every)
            if info.screen is not None:
                lanes = screened(lanes, info.screen)
            if layered:
                layer = layers_of(source, self.state.layers, lanes)
                lanes.renumber(lanes.pixel + layer * self.state.plane)
            if uncovered is not None:
                if uncovered.nothing:
                    return
                lanes = uncovered.taken_by(lanes)
            for turn in self._ordered_groups(_some(lanes)):
                self._sampled_piece(shader, turn, source, info, sampled)

    def _hides_order(self) -> bool:
        """Not if colours depend on the samples that a fragment has, since hidden ones count."""
        facts = self.state.facts
        if facts is not None and (
            "sample_mask_in" in facts.system_values
            or any(each.where == "centroid" for each in facts.inputs)
        ):
            return False
        return super()._hides_order()

    @property
    def _last_is_visible(self) -> bool:
        """Whether only the last fragment's colour of each sample is visible."""
        return self.strategy is Strategy.VISIBLE and not self.tests.depth and self._shades

    @property
    def apart(self) -> tuple[int, list[int]]:
        """The distances in bytes between the planes of samples: of the depth buffer, and of each
        colour buffer.
        """
        first, second = self._depths[:2]
        depth = 0
        if first is not None and second is not None:
            depth = second.depth_words.ctypes.data - first.depth_words.ctypes.data
        colors = [
            0 if a is None or b is None else b.texels.ctypes.data - a.texels.ctypes.data
            for a, b in zip(*self._planes[:2], strict=True)
        ]
        return depth, colors

    def framebuffer(self, index: int, pixel: Ints, sample: int) -> list[Value]:
        """The contents of a sample's plane of a colour buffer."""
        if index == HELD_DEPTH:
            return held(self._depths[sample], pixel)
        planes = self._planes[sample]
        color = planes[index] if index < len(planes) else None
        if color is None:
            return super().framebuffer(index, pixel, sample)
        return color.read(color.address(pixel, self.state.width, self.state.plane))

    def _sampled_piece(
        self,
        shader: FragmentShader,
        lanes: Fragments,
        source: PlaneSource,
        info: PrimitiveInfo,
        sampled: bool,
    ) -> None:
        if not lanes.count:
            return
        if self.tests_first:
            facts = self.state.facts
            before = None
            if facts is not None and "sample_mask_in" in facts.system_values:
                before = None if facts.post_depth_coverage else lanes.samples
            lanes.samples = self._test_samples(lanes, source, info, sampled, None)
            lanes.seen = before
            lanes = _some(lanes)
            self._count(lanes.samples, lanes, info)
        if not (self._shades and lanes.count):
            return
        if shader.quads:
            lanes = self.placed(sample_quads(lanes, self.state.width, 0.5 * sampled))
        program = shader.program
        assert program is not None
        for chunk in self._chunks(lanes):
            for sample in range(self.pattern.count) if self.per_sample and sampled else (None,):
                part = chunk if sample is None else _of_sample(chunk, sample)
                if not part.count:
                    continue
                inputs = ChunkLanes(source, info, part, sample, self.framebuffer, self.pattern)
                result = program.fragment(inputs)
                self.counters.fs_invocations += part.count
                self.state.work.spend(FRAGMENT * part.count)
                assert part.samples is not None
                left = self._left(part.samples, result, part.count)
                if not self.tests_first:
                    late = Fragments(part.pixel, part.x, part.y, part.primitive, None, left)
                    left = self._test_samples(late, source, info, sampled, result)
                    self._count(left, late, info)
                self._write_samples(part, result, left)

    def _count(self, samples: Masks | None, lanes: Fragments, info: PrimitiveInfo) -> None:
        if samples is not None and self.state.counting:
            passed = COUNTS[samples]
            self.counters.samples_passed += int(passed.sum())
            if self.counters.tally is not None:
                self.counters.tally.pass_samples(info.identity.take(lanes.primitive), passed)

    def _left(self, samples: Masks, result: FragmentOutputs, count: int) -> Masks:
        """The samples that remain after the shader: not discarded, in its sample mask, in its alpha
        coverage.
        """
        if result.alive is not None:
            samples = np.where(result.alive, samples, MASK(0))
        written = result.outputs.get(FragResult.SAMPLE_MASK)
        if written is not None and written[0] is not None and self.multisampling:
            mask = np.broadcast_to(written[0].view(np.int32), count)
            samples = samples & mask.astype(MASK)
        if self.alpha_to_coverage:
            values = result.outputs.get(FragResult.DATA0, result.outputs.get(FragResult.COLOR))
            alpha = None if values is None else values[3]
            if alpha is not None:
                samples = samples & _alpha_coverage(
                    np.broadcast_to(alpha, count), self.pattern.count
                )
        return samples

    def _test_samples(
        self,
        lanes: Fragments,
        source: PlaneSource,
        info: PrimitiveInfo,
        sampled: bool,
        result: FragmentOutputs | None,
    ) -> Masks:
        """Run depth and stencil tests of every sample. Returns the mask of those that pass; where
        the order of fragments cannot be observed, of the visible ones.
        """
        assert lanes.samples is not None
        if not self.tests.any:
            return lanes.samples
        passed = lanes.samples.copy()
        for sample in range(self.pattern.count):
            which = np.flatnonzero(lanes.samples & MASK(1 << sample))
            if not len(which):
                continue
            some = plain_lanes(lanes, which)
            codes: Codes | None = None
            if self.tests.depth:
                codes = self._sample_codes(some, source, sample if sampled else None, result, which)
            depth = self._depths[sample]
            if self.strategy is Strategy.VISIBLE:
                tests, scratch = self.state.tests, self._scratch_pixels
                passing = visible(some.pixel, codes, depth, tests, scratch)
            else:
                exported = None
                if result is not None:
                    exported = exported_stencil(result, lanes.count, which)
                passing = self.tests.run(some, codes, info, depth, exported)
            if passing is not None:
                passed[which.compress(~passing)] &= MASK(~(1 << sample) & self.pattern.every)
        return passed

    def _sample_codes(
        self,
        lanes: Fragments,
        source: PlaneSource,
        sample: int | None,
        result: FragmentOutputs | None,
        which: Ints,
    ) -> Codes:
        written = None if result is None else result.outputs.get(FragResult.DEPTH)
        if written is not None and written[0] is not None:
            z = written[0]
            return self.tests.codes_of(z[which] if z.ndim else z, source, lanes)
        primitives = PrimitiveInfo(np.zeros(0, np.bool_), np.zeros(0, np.int32))
        z = ChunkLanes(source, primitives, lanes, sample, None, self.pattern).depth()
        return self.tests.codes_of(z, source, lanes)

    def _write_samples(self, chunk: Fragments, result: FragmentOutputs, left: Masks) -> None:
        for index, color in self._colors:
            values, second = self._values(result, index)
            if values is None:
                continue
            if self.alpha_to_one and not color.format.is_pure_integer:
                values = [*values[:3], _OPAQUE]
                second = None if second is None else [*second[:3], _OPAQUE]
            prepared = color.prepare(values, second, chunk.count)
            for sample in range(self.pattern.count):
                which = np.flatnonzero(left & MASK(1 << sample))
                plane = self._planes[sample][index]
                if len(which) and plane is not None:
                    self._store(plane, chunk.pixel[which], prepared, which)


def _some(lanes: Fragments) -> Fragments:
    """The lanes that have a sample left."""
    assert lanes.samples is not None
    some = lanes.samples != 0
    return lanes if some.all() else lanes.take(np.flatnonzero(some))


def _of_sample(lanes: Fragments, sample: int) -> Fragments:
    """The lanes that cover one sample; of quads all four lanes if one does, the others as
    helpers.
    """
    assert lanes.samples is not None
    samples = lanes.samples & MASK(1 << sample)
    covered = samples != 0
    quads = lanes.covered is not None
    kept = np.repeat(covered.reshape(-1, 4).any(axis=1), 4) if quads else covered
    part = lanes if kept.all() else lanes.take(np.flatnonzero(kept))
    return Fragments(
        part.pixel,
        part.x,
        part.y,
        part.primitive,
        covered[kept] if quads else None,
        samples[kept],
        part.seen,
    )


def _alpha_coverage(alpha: npt.NDArray[np.float32], samples: int) -> Masks:
    """Alpha as coverage: the first samples, in proportion to alpha."""
    count = np.floor(np.fmin(np.fmax(alpha, 0), 1) * samples + 0.5).astype(np.uint32)
    return np.asarray((np.uint32(1) << count) - np.uint32(1), MASK)
