"""Lesson: a frame in bins: two passes over the vertices, one over memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallette.compare import to_rgb8
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.drivers.tiler.compile import BackendOptions, compile_shader
from gallette.drivers.tiler.lower import lowered_for_tiler
from gallette.drivers.tiler.picture import bins_picture
from gallette.drivers.tiler.render_pass import PassReport
from gallette.lessons.page import Page, Pictures, Table, lesson

__all__ = ["MEMORIES", "RESOLVES", "drawn", "resolved", "traffic"]

SCENE = "lit_mesh"
MEMORIES = (512, 128, 32)
"""KiB of tile memory."""

RESOLVES: tuple[tuple[str, bool, bool], ...] = (
    ("by a blit afterwards", False, False),
    ("in the tiles", True, False),
    ("in the tiles, and the samples are invalidated", True, True),
)
"""Where samples become pixels: a name, in the tiles or not, forgotten afterwards or not."""


@lesson("binning", "Binning: sort first, shade tile by tile", chapter="Machines", place=60)
def run(page: Page, driver: str) -> None:
    """What a tiler gains and pays: memory traffic against vertices that are shaded more than once.

    The same frame with smaller and smaller tiles, and directly to memory.
    """
    page.section(
        "Two passes",
        """A tiler cuts the framebuffer into tiles that fit into memory on the chip. Pass 1 runs
        the binning variant of every vertex shader, which computes the position and nothing else,
        and notes which primitives may touch which tile. Pass 2 goes from tile to tile: it loads
        the tile (or clears it on the chip, which costs no memory traffic), draws what is in its
        bin with the full shaders, and stores it once, however often its pixels were drawn to.""",
    )
    _variants(page)
    rows: list[tuple[str, ...]] = []
    pictures = []
    for memory in MEMORIES:
        page.progress(f"drawing with {memory} KiB of tile memory")
        reports, _ = drawn(memory)
        report = max(reports, key=lambda r: r.primitives)
        rows.append(_row(memory, report))
        pictures.append((f"{memory} KiB: red is shaded most often", bins_picture(report)))
    page.section(
        "Smaller and smaller tiles",
        """A primitive that crosses a border is in several bins, and its vertices are shaded in
        each of them: the fewer pixels a tile has, the more of that. A bar at a tile's left edge
        shows its share of the primitives.""",
    )
    columns = (
        "tile memory",
        "tiles",
        "primitives",
        "bin entries",
        "vertices binned",
        "vertices shaded",
        "bytes moved",
    )
    page.add(Table(columns, rows))
    page.add(Pictures(pictures))
    _costs(page)
    _resolves(page)


def _row(memory: int, report: PassReport) -> tuple[str, ...]:
    grid = report.grid
    return (
        f"{memory} KiB",
        f"{grid.columns * grid.rows} of {grid.tile_width}x{grid.tile_height}",
        str(report.primitives),
        str(report.entries),
        str(report.binned_vertices),
        str(sum(tile.vertices for tile in report.tiles)),
        str(report.moved),
    )


def drawn(memory: int = 256, bypass: bool = False) -> tuple[list[PassReport], np.ndarray]:
    """The scene in this process: what its passes did, and its first picture."""
    import moderngl

    from gallette.scenes import SCENES
    from gallette.state_tracker.context import Context

    window: Any = Context("tiler", tile_memory=memory, bypass=bypass)
    try:
        ctx = moderngl.create_context(standalone=True, context=window)
        passes = list(SCENES[SCENE].render(ctx, SCENES[SCENE].size))
        return list(window.pipe.reports), passes[0].color
    finally:
        ctx.release()
        window.release()


def traffic(report: PassReport, pixel_bytes: int = 8) -> tuple[int, int]:
    """Bytes a pass moved, and what drawing directly would: a colour and a depth per fragment.

    Directly, a fragment that is shaded reads its depth, and writes depth and colour.
    """
    shaded = sum(tile.shaded for tile in report.tiles)
    return report.moved, shaded * (pixel_bytes + pixel_bytes // 2)


def _variants(page: Page) -> None:
    from gallette.lessons.shaders import link
    from gallette.scenes import lit_mesh

    source = {"vertex": lit_mesh.VERTEX, "fragment": lit_mesh.FRAGMENT}
    rows: list[tuple[str, ...]] = []
    for name, binning in (("full", False), ("binning", True)):
        linked = link(source)
        vertex = linked["vertex"]
        if binning:
            run_passes(vertex, ["lower_depth_only"])
            optimize(vertex, OptimizeOptions(scalar=True))
        lowered_for_tiler(vertex, OptimizeOptions(scalar=True))
        made = compile_shader(vertex, BackendOptions())
        rows.append((name, str(made.instructions), str(made.registers), str(made.cycles)))
        for shader in linked.values():
            shader.unref()
    page.section("The binning variant", "The scene's vertex shader, for each of the passes.")
    page.add(Table(("variant", "instructions", "registers", "cycles"), rows))


def _costs(page: Page) -> None:
    reports, color = drawn(128)
    _, direct = drawn(128, bypass=True)
    report = max(reports, key=lambda r: r.primitives)
    tiled, directly = traffic(report)
    same = int((color != direct).any(axis=2).sum())
    page.section(
        "What it saves",
        f"""Directly to memory every shaded fragment would read and write its depth and write its
        colour: {directly} bytes. In tiles the pass moved {tiled}. The pictures differ in {same}
        pixels.""",
    )
    page.add(Pictures([("in tiles of 128 KiB", np.ascontiguousarray(to_rgb8(color)))]))


def resolved(in_tile: bool, forgotten: bool) -> tuple[int, np.ndarray]:
    """A frame of four samples a pixel: the bytes it moves until it is resolved, and the picture.

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
        shape = samples.star(ctx, ctx.program(samples.VERTEX, samples.FRAGMENT))
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


def _resolves(page: Page) -> None:
    found = [(name, resolved(in_tile, forgotten)) for name, in_tile, forgotten in RESOLVES]
    reference = found[0][1][1]
    page.section(
        "Samples",
        """A multisampled tile holds every sample of its pixels, and what is shown is one colour of
        each: their mean. A blit after the pass brings all samples back from memory for that. The
        tile has them on the chip: it resolves before it is stored. And where the program says that
        it does not want the samples any more (`glInvalidateFramebuffer`), they, and their depths,
        never leave the chip at all.""",
    )
    rows: list[tuple[str, ...]] = [
        (name, str(moved), str(int((color != reference).any(axis=2).sum())))
        for name, (moved, color) in found
    ]
    page.add(Table(("resolved", "bytes moved", "pixels that differ"), rows))
