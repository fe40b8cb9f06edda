"""Lesson: texture results that land late, and who must wait for them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from gallette.compare import to_rgb8
from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.drivers.tiler.backend.schedule import Barriers
from gallette.drivers.tiler.compile import BackendOptions, Compiled, compile_shader
from gallette.drivers.tiler.explain import listing
from gallette.drivers.tiler.lower import lowered_for_tiler
from gallette.drivers.tiler.machine.executable import LANDING, TextureWrites
from gallette.lessons.page import Code, Page, Pictures, Table, lesson
from gallette.render import render_scenes
from gallette.scenes.common import Pass
from gallette.scenes.late_texels import FRAGMENT, VERTEX

__all__ = ["SETTINGS", "Cost", "costs", "wrong_pixels"]

SCENE = "late_texels"
Setting = tuple[TextureWrites, Barriers]
SETTINGS: dict[Setting, str] = {
    ("in_order", "reads"): "answers land at once: readers wait, nobody else needs to",
    ("late", "reads"): "the bug: answers land late, and only readers wait",
    ("late", "writes"): "the remedy: whoever writes the register waits, too",
}


@dataclass(slots=True)
class Cost:
    """What a setting costs over a corpus."""

    shaders: int = 0
    instructions: int = 0
    waits: int = 0  # instructions with (sy)
    cycles: int = 0

    def count(self, made: Compiled) -> None:
        self.shaders += 1
        self.instructions += made.instructions
        self.waits += made.waits
        self.cycles += made.cycles


@lesson("texture_scoreboard", "Texture results that land late", chapter="Machines", place=65)
def run(page: Page, driver: str) -> None:
    """A branch that ignores a texel uses its registers again, and the texel lands in them.

    See the wrong picture, the barrier that mends it, and what the barrier costs.
    """
    page.section(
        "The program",
        """A fragment shader fetches a texel, then decides whether it wants it. In every other
        square of the picture it does not, and computes something else.""",
    )
    page.add(Code(FRAGMENT.strip(), "glsl", "the fragment shader"))
    page.section(
        "What goes wrong",
        f"""The instruction `sam` asks for the texel and goes on; the answer lands in its registers
        {LANDING} or more instructions later. An instruction that reads it carries (sy), and waits.
        On the other side of the branch nobody reads it: to the register allocator its registers
        are free there, and to a scoreboard that looks for readers nothing is outstanding. So they
        are used for other values, and then the texel lands in them.""",
    )
    shader = _fragment()
    naive = compile_shader(shader, BackendOptions(barriers="reads"))
    page.add(Code(listing(naive), "text", "only readers wait: (sy) is on one side of the branch"))
    shader.unref()
    _pictures(page)
    page.section(
        "The remedy",
        """What may be outstanding is followed along all branches, and an instruction that writes a
        register an answer may still land in waits for it, whether anybody wants the answer or
        not. Machines whose answers land in the order of instructions need no such barrier.""",
    )
    _costs(page)


def _fragment() -> Shader:
    from gallette.lessons.shaders import link

    linked = link({"vertex": VERTEX, "fragment": FRAGMENT})
    fragment = linked.pop("fragment")
    for other in linked.values():
        other.unref()
    lowered_for_tiler(fragment, OptimizeOptions(scalar=True, select_limit=12))
    return fragment


@functools.cache
def _right() -> Pass:
    """The scene on numpipe."""
    return render_scenes("numpipe", [SCENE]).passes[SCENE][0]


def wrong_pixels(setting: Setting) -> tuple[int, np.ndarray]:
    """Pixels of the scene that differ from numpipe's, and the picture."""
    right = _right()
    options = {"texture_writes": setting[0], "barriers": setting[1], "half_colors": "never"}
    rendering = render_scenes("tiler", [SCENE], options=options)
    if SCENE in rendering.errors:
        raise GalletteError(rendering.errors[SCENE])
    found = rendering.passes[SCENE][0]
    return int((found.color != right.color).any(axis=2).sum()), found.color


def _pictures(page: Page) -> None:
    page.section("The picture under each setting")
    rows: list[tuple[str, ...]] = []
    pictures = []
    for setting, name in SETTINGS.items():
        page.progress(f"rendering with texture_writes={setting[0]}, barriers={setting[1]}")
        wrong, color = wrong_pixels(setting)
        rows.append((name, *setting, str(wrong)))
        caption = f"{setting[0]}, {setting[1]}: {wrong} pixels wrong"
        pictures.append((caption, np.ascontiguousarray(to_rgb8(color))))
    page.add(Table(("setting", "texture_writes", "barriers", "wrong pixels"), rows))
    page.add(Pictures(pictures))


def _corpus() -> Iterator[Shader]:
    """Every fourth bundled pair of shaders, lowered; the caller's to drop."""
    from gallette.lessons.shaders import corpus, link

    for _, sources in islice(corpus(), 0, None, 4):
        for shader in link(sources).values():
            lowered_for_tiler(shader, OptimizeOptions(scalar=True))
            yield shader


def costs() -> dict[Barriers, Cost]:
    """What each choice of who waits needs for the bundled shaders."""
    found: dict[Barriers, Cost] = {"reads": Cost(), "writes": Cost()}
    for shader in _corpus():
        for barriers, cost in found.items():
            cost.count(compile_shader(shader, BackendOptions(barriers=barriers)))
        shader.unref()
    return found


def _costs(page: Page) -> None:
    page.section(
        "What the barrier costs",
        "Every fourth pair of shaders bundled with gallette; cycles if every block runs once.",
    )
    page.progress("compiling the bundled shaders")
    rows: list[tuple[str, ...]] = [
        (name, str(c.shaders), str(c.instructions), str(c.waits), str(c.cycles))
        for name, c in costs().items()
    ]
    page.add(Table(("barriers", "shaders", "instructions", "with (sy)", "cycles"), rows))
