"""A driver in a page: it counts how often each pixel is covered, and shows the count.

Clears, copies, bindings, transfers, queries and their checks are inherited; vertex shaders run in
the reference interpreter; fragment shaders do not run at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gallette.compiler.nir.interp.environment import Environment
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import Intrinsic, Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import PassLog, run_passes
from gallette.drivers.common.memory.context import MemoryContext
from gallette.drivers.common.memory.screen import MemoryScreen
from gallette.drivers.common.output.color import ColorTarget
from gallette.drivers.common.raster.batch import Batch, FragmentSink, RasterContext
from gallette.drivers.common.raster.fragments import expand_pixels
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.primitives import rasterize
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.raster.triangles import DepthOffset
from gallette.drivers.common.variants.compiler import VariantCompiler
from gallette.drivers.common.variants.reads import instructions
from gallette.drivers.common.variants.shader import ShaderObject
from gallette.drivers.common.vertex.assembly import assemble
from gallette.drivers.common.vertex.clip import ClipPlanes
from gallette.drivers.common.vertex.fetch import FetchedVertices
from gallette.drivers.common.vertex.stream import resolved, vertex_stream
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.caps import Caps
from gallette.pipe.state import DrawInfo

RAMP = np.array([[0, 0, 0], [0.1, 0.3, 0.8], [0.2, 0.7, 0.4], [0.9, 0.8, 0.2], [0.9, 0.2, 0.1]])


@dataclass(frozen=True)
class Key:
    """The variant key: no bound state becomes code, so every draw uses the one variant."""


class Code:
    """A shader ready to be interpreted, and the attribute of each of its inputs."""

    def __init__(self, shader: Shader) -> None:
        self.shader = shader
        loads = [i for i in instructions(shader) if isinstance(i, Intrinsic)]
        self.attributes = {i["location"]: i["base"] for i in loads if i.name == "load_input"}


class Compiler(VariantCompiler[Key, Code]):
    """The compiler: NIR is interpreted, so the first round only lowers and optimises."""

    name = "overdraw"

    def null_key(self, stage: Stage) -> Key:
        return Key()

    def first_round(self, shader: Shader, log: PassLog | None) -> None:
        super().first_round(shader, log)
        run_passes(shader, ["gather_info"], log)

    def generate(self, shader: Shader, key: Any) -> Code:
        return Code(shader)


class World(Environment):
    """The environment of a vertex shader: its inputs, and the bound buffers."""

    def __init__(self, count: int, bindings: Any, read: Callable[[int, int], Any]) -> None:
        super().__init__(count)
        self.bindings, self.read = bindings, read

    def input(self, slot: int, component: int, bit_size: int, vertex: int = 0) -> Any:
        row = np.ascontiguousarray(np.broadcast_to(self.read(slot, component), self.lanes))
        return row.view(np.uint32)

    def buffer(self, kind: str, index: int) -> Any:
        data = np.zeros(65536, np.uint8)  # a block that is not bound, or ends early, reads as zero
        bound = self.bindings.constants[index] if index < len(self.bindings.constants) else None
        if bound is not None:
            data[: bound.data.size] = bound.data[: data.size]
        return data


class OverdrawContext(MemoryContext, FragmentSink):
    """Draws are counted per pixel."""

    def __init__(self, screen: MemoryScreen) -> None:
        super().__init__(screen)
        self.compiler = Compiler()
        self.counts: dict[Any, Any] = {}  # of each resource drawn to

    def create_shader_state(self, stage: Any, shader: Any, stream_output: Any = None) -> Any:
        made = ShaderObject(shader, self.compiler, self.variant_log, stream_output)
        self.shaders.add(made)
        return made

    def clear(self, *args: Any, **named: Any) -> None:
        super().clear(*args, **named)
        self.counts.clear()

    def draw_vbo(self, info: DrawInfo) -> None:
        bound, state = self.bound, self.bound.rasterizer.state
        if not any(bound.framebuffer.cbufs):
            return
        target = Rect.of(bound.framebuffer, bound.scissors[0] if state.scissor else None)
        raster = RasterContext(
            state, target, self.counters, ClipPlanes.of(state, {}), frozenset(), frozenset(),
            DepthOffset(0.0),
        )  # fmt: skip
        with np.errstate(all="ignore"):
            for single in resolved(info):
                stream, runs, source = vertex_stream(single)
                made = assemble(single.mode, runs, state.flatshade_first)
                if len(made.corners) and made.corners.shape[1] == 3:
                    corners, provoking = stream[made.corners], stream[made.provoking]
                    batch = Batch(
                        corners, provoking, np.arange(len(corners), dtype=np.int32), made.edges
                    )
                    rasterize(raster, self, self.shade_vertices(source), batch)

    def shade_vertices(self, source: Any) -> VertexSet:
        """Shade every vertex once, all of them together."""
        bound = self.bound
        code = bound.shaders[Stage.VERTEX].null.program
        lanes = FetchedVertices(source, bound.elements.state, bound.vertex_buffers, 0, source.lanes)

        def read(slot: int, component: int) -> Any:
            return lanes.attribute(code.attributes[slot], component)

        result = interpret(code.shader, World(source.lanes, bound.stages[Stage.VERTEX], read))
        written: dict[int, list[Any]] = {}
        for (slot, component), row in result.outputs.items():
            values = written.setdefault(slot, [None] * 4)
            values[component] = row.astype(np.uint32).view(np.float32)
        return VertexSet.from_outputs(source.lanes, written, bound.viewports[0])

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        """Add one to every pixel that a primitive of the batch covers."""
        surface = self.bound.framebuffer.cbufs[0]
        assert surface is not None  # `draw_vbo` has looked
        color = ColorTarget(surface, self.bound.blend.state, 0, (0.0,) * 4)
        counts = self.counts.setdefault(surface.resource, np.zeros(color.plane, int))
        pixels = expand_pixels(spans, color.stride).pixel
        counts += np.bincount(pixels, minlength=color.plane)
        touched = np.unique(pixels)
        shade = RAMP[np.minimum(counts[touched], len(RAMP) - 1)].astype(np.float32)
        rows = [*shade.T, np.ones(len(touched), np.float32)]
        everyone = np.arange(len(touched))
        color.write(touched, color.prepare(rows, None, len(touched)), everyone)
        color.resource.touch()  # type: ignore[attr-defined]


class OverdrawScreen(MemoryScreen):
    """The screen; what it cannot do, the state tracker lowers."""

    name = "overdraw"

    def __init__(self) -> None:
        super().__init__(Caps(max_render_targets=1, instancing=False, lower_clamp_color=True))

    def context_create(self) -> OverdrawContext:
        return OverdrawContext(self)
