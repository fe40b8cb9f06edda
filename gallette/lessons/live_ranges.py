"""Lesson: values that wait, and what writes over them on a SIMD machine."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from gallette.compare import to_rgb8
from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.drivers.common.machine.register_picture import map_picture
from gallette.drivers.simd.backend.liveness import LiveRanges
from gallette.drivers.simd.backend.register_map import register_map
from gallette.drivers.simd.compile import BackendOptions, Compiled, compile_shader
from gallette.drivers.simd.explain import listing
from gallette.lessons.page import Block, Code, Page, Pictures, Table, lesson
from gallette.render import render_scenes
from gallette.scenes.common import Pass
from gallette.scenes.waiting_lanes import FRAGMENT, VERTEX

__all__ = ["SETTINGS", "Cost", "costs", "wrong_pixels"]

SCENE = "waiting_lanes"
SETTINGS: dict[LiveRanges, str] = {
    "naive": "the bug: live from definition to use",
    "loop_extended": "a. ranges extended over what they leave",
    "mask_aware": "b. masked definitions spare waiting channels",
}


@dataclass(slots=True)
class Cost:
    """What a setting costs over a corpus."""

    shaders: int = 0
    registers: int = 0
    spills: int = 0
    instructions: int = 0
    cycles: int = 0

    def count(self, made: Compiled) -> None:
        self.shaders += 1
        self.registers += made.registers
        self.spills += made.allocation.spills
        self.instructions += made.instructions
        self.cycles += made.cycles


@lesson("live_ranges", "Live ranges on a SIMD machine", chapter="Machines", place=10)
def run(page: Page, driver: str) -> None:
    """A value from before a divergent break is overwritten by a header that ignores the mask.

    See the wrong picture, the registers over time, both remedies and what they cost.
    """
    page.section(
        "The program",
        """A fragment shader looks like a program for one pixel. The machine runs it for sixteen
        at a time, with a mask that says who takes part. Pixels leave this loop in different
        rounds; `light` and `shade` are computed in front of the `break` and used behind the
        loop.""",
    )
    page.add(Code(FRAGMENT.strip(), "glsl", "the fragment shader"))
    page.section(
        "What goes wrong",
        """For one pixel, `light` is needed from its computation, through the break, to its use;
        a pixel that stays computes it anew in the next round. So after the break its register is
        free, says plain liveness, and ordinary instructions may indeed use it: they write only
        the channels that are still in the loop. But the texture fetch has an offset, which
        travels in a message header, and headers are written by all channels, whatever the mask
        says. The header gets the register, and the pixels that wait behind the loop lose what
        they carry.""",
    )
    shader = _fragment()
    naive = compile_shader(shader, BackendOptions(live_ranges="naive"))
    page.add(Code(listing(naive), "text", "naive live ranges: see where `nomask` writes"))
    _pictures(page)
    _maps(page, shader)
    shader.unref()
    _costs(page)
    page.section(
        "The remedies",
        """(a) Whatever is needed behind a construct, or at the head of a loop, is live in all of
        it: simple, and right, but it keeps registers from values that could never meet. (b)
        Channels that wait are told apart from channels that run: two values whose channels lie
        in the same places may share a register, because a masked write spares the others. Only
        what ignores the mask, or puts its channels elsewhere (64 and 16 bits, halves of SIMD16),
        must keep away from values that wait, and only where channels part at all.""",
    )
    page.ask(
        "Would a machine that executes one pixel at a time have the problem?",
        """No. A pixel that has left the loop runs no more of its instructions. It is running lanes
        together, and an instruction that ignores who takes part, that make a value wait.""",
    )
    page.ask(
        "Why not let the header respect the mask?",
        """The message is one thing for all channels: its header is not a value per pixel. With
        the mask on, the channels that wait would be missing from it.""",
    )
    page.tries(
        (
            "gallette diff waiting_lanes --driver simd --against numpipe "
            "--option live_ranges=naive --html wrong.html",
            "the scene with the bug on",
        ),
        ("gallette explain shader.frag --driver simd", "the machine code of your own shader"),
    )


def _fragment() -> Shader:
    from gallette.lessons.shaders import link

    linked = link({"vertex": VERTEX, "fragment": FRAGMENT})
    fragment = linked.pop("fragment")
    for other in linked.values():
        other.unref()
    optimize(fragment, OptimizeOptions(scalar=True))
    return fragment


@functools.cache
def _right() -> Pass:
    """The scene on numpipe."""
    return render_scenes("numpipe", [SCENE]).passes[SCENE][0]


def wrong_pixels(setting: LiveRanges) -> tuple[int, np.ndarray]:
    """Pixels of the scene that differ from numpipe's, and the picture."""
    right = _right()
    rendering = render_scenes("simd", [SCENE], options={"live_ranges": setting})
    if SCENE in rendering.errors:
        raise GalletteError(rendering.errors[SCENE])
    found = rendering.passes[SCENE][0]
    return int((found.color != right.color).any(axis=2).sum()), found.color


def _pictures(page: Page) -> None:
    page.section("The picture under each setting")
    rows: list[tuple[str, ...]] = []
    states: list[tuple[str, list[Block]]] = []
    for setting, name in SETTINGS.items():
        page.progress(f"rendering with live_ranges={setting}")
        wrong, color = wrong_pixels(setting)
        rows.append((name, setting, str(wrong)))
        caption = f"{setting}: {wrong} pixels wrong"
        picture = np.ascontiguousarray(to_rgb8(color))
        states.append((name, [Pictures([(caption, picture)])]))
    page.flip("flip the remedy on", *states)
    page.add(Table(("setting", "option live_ranges", "wrong pixels"), rows))


def _maps(page: Page, shader: Shader) -> None:
    page.section(
        "Registers over time",
        """Rows are registers, columns instructions; every value has a colour, and darker cells
        hold what channels outside the loop still need. Under (b) nothing that ignores the mask
        comes to lie on a dark cell.""",
    )
    states: list[tuple[str, list[Block]]] = []
    for setting, name in SETTINGS.items():
        made = compile_shader(shader, BackendOptions(live_ranges=setting, record=True))
        assert made.allocation.virtual is not None
        table = register_map(made.allocation.virtual, made.allocation.places, setting)
        caption = f"{setting}: {made.registers} registers"
        states.append((name, [Pictures([(caption, map_picture(table))])]))
    page.flip("the register map under", *states)


def _corpus() -> Iterator[Shader]:
    """Every fourth bundled pair of shaders, optimised; the caller's to drop."""
    from gallette.lessons.shaders import corpus, link

    for _, sources in islice(corpus(), 0, None, 4):
        for shader in link(sources).values():
            optimize(shader, OptimizeOptions(scalar=True))
            yield shader


def costs(registers: int = 128) -> dict[LiveRanges, Cost]:
    """What each setting needs for the bundled shaders, with that many registers, in SIMD16."""
    found = {setting: Cost() for setting in SETTINGS}
    for shader in _corpus():
        for setting, cost in found.items():
            options = BackendOptions(live_ranges=setting, width=16, registers=registers)
            cost.count(compile_shader(shader, options))
        shader.unref()
    return found


def _costs(page: Page) -> None:
    page.section(
        "What the remedies cost",
        """Every fourth pair of shaders bundled with gallette in SIMD16, with all 128 registers,
        and with 48, where they begin to spill.""",
    )
    rows: list[tuple[str, ...]] = []
    for registers in (128, 48):
        page.progress(f"compiling the bundled shaders for {registers} registers")
        for setting, cost in costs(registers).items():
            rows.append(
                (
                    f"{setting}, {registers} registers",
                    str(cost.registers),
                    str(cost.spills),
                    str(cost.instructions),
                    str(cost.cycles),
                )
            )
    page.add(Table(("setting", "registers in all", "spills", "instructions", "cycles"), rows))
