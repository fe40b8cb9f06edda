"""Between rasterizer and fragment engine: passes on the fragments of one pixel one by one.

Primitives that do not cover the pixel are drawn as usual, those that do one at a time; before and
after each of them the pixel's memory is read. Primitives keep their order and their quads, so the
picture stays the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gallette.compiler.nir.ir.slots import FragResult
from gallette.drivers.common.draw.state import DrawState
from gallette.drivers.common.output.depth import compare
from gallette.drivers.common.output.engine import FragmentRun
from gallette.drivers.common.program import BoundProgram
from gallette.drivers.common.raster.batch import Batch, FragmentSink
from gallette.drivers.common.raster.fragments import expand_pixels
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import ChunkLanes, PrimitiveInfo
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.history.places import is_attachment
from gallette.history.records import Fragment, Stored, Test
from gallette.pipe.enums import CullFace

MOST_MISSING = 16


class PixelWitness:
    """Observes pixel (x, y); `read` returns the contents of its attachments."""

    def __init__(self, x: int, y: int, read: Callable[[], dict[str, Stored]]) -> None:
        self.x, self.y, self.read = x, y, read
        self.fragments: list[Fragment] = []
        self.missing: list[Fragment] = []
        self.examine: Callable[..., None] | None = None

    def begin(self) -> None:
        """Begin another call: forget everything observed."""
        self.fragments, self.missing = [], []

    def around(
        self, draw: DrawState, vertices: VertexSet, batch: Batch, run: FragmentRun
    ) -> PixelSink:
        """The sink that a draw's primitives are rasterized into."""
        return PixelSink(self, draw, vertices, batch, run)


class _Listening(BoundProgram):
    """A fragment program that records its outputs for a lane."""

    watched = True  # it is run for every fragment, also where one would do for a primitive

    def __init__(
        self, program: Any, x: int, y: int, before: Callable[[Any, int], None] | None
    ) -> None:
        self._program, self._place, self._before = program, (x, y), before
        self.result: Any = None
        self.lane = 0

    def fragment(self, lanes: Any) -> Any:
        at = np.flatnonzero((lanes._x == self._place[0]) & (lanes._y == self._place[1]))
        if len(at) and self._before is not None:
            self._before(lanes, int(at[0]))
        result = self._program.fragment(lanes)
        if len(at):
            self.lane, self.result = int(at[0]), result
        return result

    def output(self, slot: int) -> tuple[float, ...] | None:
        """The lane's output in a slot."""
        written = None if self.result is None else self.result.outputs.get(slot)
        if written is None:
            return None
        return tuple(self._of(v) for v in written if v is not None)

    @property
    def alive(self) -> bool:
        alive = getattr(self.result, "alive", None)
        return alive is None or bool(self._of(alive))

    def _of(self, value: Any) -> Any:
        flat = np.asarray(value).reshape(-1)
        return flat[min(self.lane, len(flat) - 1)].item()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)


class PixelSink(FragmentSink):
    """A fragment sink that lets everything through, the pixel's fragments singly."""

    def __init__(
        self,
        witness: PixelWitness,
        draw: DrawState,
        vertices: VertexSet,
        batch: Batch,
        run: FragmentRun,
    ) -> None:
        self._witness, self._draw, self._run = witness, draw, run
        self._missing(vertices, batch)

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        """Draw fragments; see `gallette.drivers.common.raster.batch.FragmentSink`."""
        x, y = self._witness.x, self._witness.y
        hit = (spans.y == y) & (spans.x <= x) & (x < spans.x + spans.length)
        done = -1
        for primitive in np.unique(spans.primitive[hit]):
            self._between(spans, done, int(primitive), source, info)
            self._single(spans.take(spans.primitive == primitive), source, info)
            done = int(primitive)
        self._between(spans, done, int(spans.primitive.max(initial=0)) + 1, source, info)

    def _between(
        self, spans: Spans, after: int, before: int, source: PlaneSource, info: PrimitiveInfo
    ) -> None:
        """The primitives that do not cover the pixel, up to the next one that does."""
        which = (spans.primitive > after) & (spans.primitive < before)
        if which.all():
            self._run.draw(spans, source, info)
        elif which.any():
            self._run.draw(spans.take(which), source, info)

    def _single(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        """One primitive that covers the pixel, as a whole, so that its quads stay the same."""
        witness, run = self._witness, self._run
        primitive, one = int(spans.primitive[0]), np.array([1], np.int64)
        place = Spans(one * primitive, one * witness.y, one * witness.x, one)
        lanes = expand_pixels(place, run.engine.state.width)
        corners = source.corners[:, primitive]
        seen = Fragment(
            int(info.identity[primitive]),
            tuple(int(v) for v in corners),
            _weights(source.vertices, corners, witness.x + 0.5, witness.y + 0.5),
            bool(info.front[primitive]),
            float(np.asarray(ChunkLanes(source, info, lanes).depth()).reshape(-1)[0]),
            before=witness.read(),
        )
        look = None
        if witness.examine is not None:
            examine = witness.examine

            def look(lanes: Any, lane: int) -> None:
                examine(seen, self._draw, run, lanes, lane)

        listening = _Listening(run.shader.program, witness.x, witness.y, look)
        shader = replace(run.shader, program=listening) if run.shader.program else run.shader
        run.engine.draw(shader, spans, source, info)
        seen.after = witness.read()
        self._judge(seen, listening)
        self._unmissed(seen.primitive)
        witness.fragments.append(seen)

    def _unmissed(self, primitive: int) -> None:
        missing = self._witness.missing
        self._witness.missing = [m for m in missing if m.primitive != primitive]

    # -- verdicts ------------------------------------------------------------------------------

    def _judge(self, seen: Fragment, program: _Listening) -> None:
        state = self._run.engine.state
        for slot in (FragResult.COLOR, *(FragResult.DATA0 + i for i in range(8))):
            written = program.output(slot)
            if written is not None:
                name = "colour" if slot == FragResult.COLOR else f"colour {slot - FragResult.DATA0}"
                number = max(0, slot - FragResult.DATA0)
                target = state.colors[number] if number < len(state.colors) else None
                seen.outputs[name] = _as_stored(written, target)
        written = program.output(FragResult.DEPTH)
        if written:
            seen.depth = written[0]
            seen.outputs["depth"] = written
        if program.result is not None and not program.alive:
            seen.verdict = "discarded by the shader"
            return
        if self._run.engine.tests.stencil:
            seen.tests.append(self._stencil_test(seen))
        if self._run.engine.tests.depth and state.depth is not None and "depth" in seen.before:
            seen.tests.append(self._depth_test(seen))
        failed = next((t for t in seen.tests if not t.passed), None)
        if failed is not None:
            seen.verdict = f"{failed.name} test failed"
            return
        seen.blend = "; ".join(
            f"colour {i}: {_blend_text(c.state)}" for i, c in enumerate(state.colors) if c
        )
        if any(seen.before.get(k) != v for k, v in seen.after.items() if is_attachment(k)):
            seen.verdict = "written"
        elif any(c is not None and c.key.mask != 0 for c in state.colors):
            seen.verdict = "written, and the same as before"
        else:
            seen.verdict = "passed; no colour is written (masks)"

    def _depth_test(self, seen: Fragment) -> Test:
        state = self._run.engine.state
        depth, func = state.depth, state.tests.depth_func
        assert depth is not None and seen.depth is not None
        z = seen.depth
        if state.depth_clamp is not None:
            z = min(max(z, state.depth_clamp[0]), state.depth_clamp[1])
        code = depth.codes(np.array([z], np.float32))
        stored = seen.before["depth"].value[0]
        held = depth.codes(np.array([stored], np.float32))
        passed = bool(compare(func, code, held)[0])
        return Test("depth", f"{z:.8g} {func.name} {stored:.8g}", passed)

    def _stencil_test(self, seen: Fragment) -> Test:
        state = self._run.engine.state
        two_sided = state.tests.stencil[1].enabled and not seen.front
        side = state.tests.stencil[1 if two_sided else 0]
        reference = state.references[1 if two_sided else 0] & side.valuemask
        stored = int(seen.before["stencil"].value[0]) & side.valuemask
        passed = bool(compare(side.func, np.array([reference]), np.array([stored]))[0])
        text = f"{reference} {side.func.name} {stored} (mask 0x{side.valuemask:02x})"
        return Test("stencil", text, passed)

    # -- why nothing was drawn -------------------------------------------------------------------

    def _missing(self, vertices: VertexSet, batch: Batch) -> None:
        """Triangles that cover the pixel, as if all were missing; their fragments remove them from
        the list.
        """
        if batch.corners.shape[1] != 3 or not len(batch.corners):
            return
        context = self._draw.fixed.raster
        window = np.asarray(vertices.window, np.float64)
        x, y = window[0][batch.corners], window[1][batch.corners]
        with np.errstate(all="ignore"):
            inside, area = _covers(x, y, self._witness.x + 0.5, self._witness.y + 0.5)
        target = context.target
        within = (
            target.x0 <= self._witness.x < target.x1 and target.y0 <= self._witness.y < target.y1
        )
        for row in np.flatnonzero(inside)[: MOST_MISSING * 4]:
            corners = batch.corners[row]
            reason = self._reason(area[row], within, window[:, corners])
            if reason and len(self._witness.missing) < MOST_MISSING:
                names = tuple(int(v) for v in corners)
                story = Fragment(int(batch.identity[row]), names, verdict=reason)
                self._witness.missing.append(story)

    def _reason(self, area: float, within: bool, window: Any) -> str:
        state = self._draw.fixed.raster.state
        front = (area > 0) == bool(state.front_ccw)
        culled = {
            CullFace.NONE: False,
            CullFace.FRONT: front,
            CullFace.BACK: not front,
            CullFace.FRONT_AND_BACK: True,
        }[state.cull_face]
        if culled:
            return f"culled: a {'front' if front else 'back'} face"
        if not within:
            return "outside the scissor rectangle"
        z = window[2]
        if (z < 0).all() or (z > 1).all():
            return "clipped: outside the near or far plane"
        return "clipped, or its edge leaves the pixel's centre out"


def _as_stored(values: tuple[float, ...], target: Any) -> tuple[float, ...]:
    """A shader's output as its target stores it: raw bits are integers for integer formats."""
    format = getattr(target, "format", None)
    if format is None or not format.name.endswith(("UINT", "SINT")):
        return values
    dtype = np.uint32 if format.name.endswith("UINT") else np.int32
    return tuple(int(np.float32(v).view(dtype)) if isinstance(v, float) else int(v) for v in values)


def _covers(x: Any, y: Any, px: float, py: float) -> tuple[Any, Any]:
    """Which triangles contain the point, and their doubled signed areas."""

    def side(i: int, j: int) -> Any:
        return (x[:, j] - x[:, i]) * (py - y[:, i]) - (y[:, j] - y[:, i]) * (px - x[:, i])

    a, b, c = side(0, 1), side(1, 2), side(2, 0)
    inside = ((a >= 0) & (b >= 0) & (c >= 0)) | ((a <= 0) & (b <= 0) & (c <= 0))
    return inside & (a + b + c != 0), a + b + c


def _weights(vertices: VertexSet, corners: Any, px: float, py: float) -> tuple[float, ...]:
    """Barycentric coordinates of a point in window space (empty for lines and points)."""
    if len(corners) != 3:
        return ()
    x = np.asarray(vertices.window[0][corners], np.float64)[None]
    y = np.asarray(vertices.window[1][corners], np.float64)[None]

    def side(i: int, j: int) -> float:
        return float((x[0, j] - x[0, i]) * (py - y[0, i]) - (y[0, j] - y[0, i]) * (px - x[0, i]))

    parts = (side(1, 2), side(2, 0), side(0, 1))
    whole = sum(parts)
    return tuple(p / whole for p in parts) if whole else ()


def _blend_text(state: Any) -> str:
    """How a colour buffer blends, in words."""
    mask = "".join(c for i, c in enumerate("RGBA") if state.colormask >> i & 1) or "nothing"
    if not state.blend_enable:
        return f"replaces {mask}"
    return (
        f"source x {state.rgb_src_factor.name} {state.rgb_func.name} "
        f"destination x {state.rgb_dst_factor.name}, writes {mask}"
    )
