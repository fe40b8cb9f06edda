"""The lesson: a frame in bins: two passes over the vertices, one over memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.drivers.machines.tiler.compile import BackendOptions, Compiled, compile_shader
from gallette.drivers.machines.tiler.lower import lowered_for_tiler
from gallette.drivers.machines.tiler.render_pass import PassReport
from gallette.lessons.experiments import draw_scene, link
from gallette.scenes import lit_mesh

SCENE = "lit_mesh"
MEMORIES = (512, 256, 128, 64, 32)
"""KiB of tile memory."""

RESOLVES: tuple[tuple[str, bool, bool], ...] = (
    ("by a blit afterwards", False, False),
    ("in the tiles", True, False),
    ("in the tiles, and the samples are invalidated", True, True),
)
"""Where samples become pixels: a name, in the tiles or not, forgotten afterwards or not."""


def drawn(
    memory: int = 256, bypass: bool = False, scene: str = SCENE
) -> tuple[list[PassReport], np.ndarray]:
    """A scene drawn: the reports of its passes, and its first picture."""
    passes, pipe = draw_scene("tiler", scene, tile_memory=memory, bypass=bypass)
    return list(pipe.reports), passes[0].color


def traffic(report: PassReport, pixel_bytes: int = 8) -> tuple[int, int]:
    """The bytes that a pass moved, and those of drawing directly: a colour and a depth per
    fragment.

    Directly, a fragment that is shaded reads its depth, and writes depth and colour.
    """
    shaded = sum(tile.shaded for tile in report.tiles)
    return report.moved, shaded * (pixel_bytes + pixel_bytes // 2)


def resolved(in_tile: bool, forgotten: bool) -> tuple[int, np.ndarray]:
    """A frame of four samples per pixel: the bytes that it moves until it is resolved, and the
    picture.

    A blit afterwards reads every sample of a pixel and writes one colour.
    """
    import moderngl

    from gallette.scenes import samples
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.entry_points.enums import GL

    window: Any = Context("tiler", tile_memory=64, resolve_in_tile=in_tile)
    try:
        ctx = moderngl.create_context(standalone=True, context=window)
        size = 256, 192
        shape = samples.star(ctx, ctx.program(samples.GLSL["vertex"], samples.GLSL["fragment"]))
        colors = ctx.renderbuffer(size, 4, samples=4)
        many = ctx.framebuffer([colors], ctx.depth_renderbuffer(size, samples=4))
        one = ctx.framebuffer([ctx.texture(size, 4)])
        many.use()
        many.clear()
        shape.render()
        ctx.copy_framebuffer(one, many)
        if forgotten:
            window.bind_framebuffer(GL.READ_FRAMEBUFFER, many.glo)
            names = [GL.COLOR_ATTACHMENT0, GL.DEPTH_ATTACHMENT]
            window.invalidate_framebuffer(GL.READ_FRAMEBUFFER, len(names), names)
        color = np.frombuffer(one.read(components=4), np.uint8).reshape(size[1], size[0], 4)
        report = window.pipe.reports[-1]
        blit = 0 if in_tile else size[0] * size[1] * (4 * 4 + 4)
        return report.moved + blit, color
    finally:
        ctx.release()
        window.release()


def vertex_variants() -> list[tuple[str, Compiled]]:
    """The scene's vertex shader for each of the passes."""
    found = []
    for name, binning in (("full", False), ("binning", True)):
        linked = link(lit_mesh.GLSL)
        vertex = linked["vertex"]
        if binning:
            run_passes(vertex, ["lower_depth_only"])
            optimize(vertex, OptimizeOptions(scalar=True))
        lowered_for_tiler(vertex, OptimizeOptions(scalar=True))
        found.append((name, compile_shader(vertex, BackendOptions())))
        for shader in linked.values():
            shader.unref()
    return found
