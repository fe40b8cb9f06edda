"""Lesson: colours in 16 bits, and why the variant key must know the colour buffer."""

from __future__ import annotations

import functools

import numpy as np

from gallette.compare import to_rgb8
from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.drivers.tiler.compile import BackendOptions, compile_shader
from gallette.drivers.tiler.explain import listing
from gallette.drivers.tiler.lower import lowered_for_tiler
from gallette.drivers.tiler.screen import HalfColors
from gallette.lessons.page import Code, Page, Pictures, Table, lesson
from gallette.render import render_scenes
from gallette.scenes.common import Pass
from gallette.scenes.contours import HEIGHTS, VERTEX

__all__ = ["SETTINGS", "wrong_pixels"]

SCENE = "contours"
SETTINGS: dict[HalfColors, str] = {
    "never": "32 bits everywhere",
    "always": "16 bits everywhere: a key that forgets the buffer",
    "auto": "16 bits where no buffer has more: the key's field `half_colors`",
}


@lesson("half_precision", "Half or full precision of colours", chapter="Machines", place=70)
def run(page: Page, driver: str) -> None:
    """A shader that writes colours in 16 bits is right for one colour buffer and wrong for another.

    See what becomes of heights kept in 32-bit floats, and what half precision saves.
    """
    page.section(
        "Two kinds of registers",
        """The machine has full registers and half registers, which lie over them two by two. A
        colour for a buffer of 8 bits a channel needs no 32: sent as halves it takes half the
        registers and half the way to tile memory. A 16-bit float has eleven significant bits: for
        8-bit colours that is three more than are kept.""",
    )
    page.add(Code(HEIGHTS.strip(), "glsl", "the first pass writes heights of about 1000"))
    _codes(page)
    page.section(
        "The same shader, another buffer",
        """The first pass keeps heights in a buffer of 32-bit floats; the second draws a contour
        line every quarter. Near 1000 neighbouring 16-bit floats are half a unit apart: all lines
        are gone. The state that decides is the format of the colour buffer, so it must be part of
        the variant's key: a cache that looks up variants without it returns whichever variant was
        there first.""",
    )
    rows: list[tuple[str, ...]] = []
    pictures = []
    for setting, name in SETTINGS.items():
        page.progress(f"rendering with half_colors={setting}")
        wrong, color = wrong_pixels(setting)
        rows.append((name, setting, str(wrong)))
        caption = f"{setting}: {wrong} pixels wrong"
        pictures.append((caption, np.ascontiguousarray(to_rgb8(color))))
    columns = ("setting", "option half_colors", "pixels wrong by more than 1/255")
    page.add(Table(columns, rows))
    page.add(Pictures(pictures))


def _codes(page: Page) -> None:
    from gallette.lessons.shaders import link

    linked = link({"vertex": VERTEX, "fragment": HEIGHTS})
    for half in (False, True):
        shader = linked["fragment"]
        lowered_for_tiler(shader, OptimizeOptions(scalar=True))
        made = compile_shader(shader, BackendOptions(), half_colors=half)
        name = "half" if half else "full"
        page.add(Code(listing(made), "text", f"{name} precision: {made.registers} registers"))
    for shader in linked.values():
        shader.unref()


@functools.cache
def _right() -> Pass:
    """The contour lines on numpipe."""
    return render_scenes("numpipe", [SCENE]).passes[SCENE][-1]


def wrong_pixels(setting: HalfColors) -> tuple[int, np.ndarray]:
    """Pixels of the lines that differ from numpipe's by more than 1/255, and the picture."""
    right = _right()
    rendering = render_scenes("tiler", [SCENE], options={"half_colors": setting})
    if SCENE in rendering.errors:
        raise GalletteError(rendering.errors[SCENE])
    found = rendering.passes[SCENE][-1]
    apart = np.abs(found.color.astype(np.int64) - right.color.astype(np.int64))
    return int((apart > 1).any(axis=2).sum()), found.color
