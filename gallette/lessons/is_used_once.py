"""Lesson: how a use count in an optimisation rule becomes visible in the picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gallette.compare import to_rgb8
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.text.printer import print_shader
from gallette.lessons.page import Block, Code, Diff, Page, Pictures, Table, lesson
from gallette.render import render_scenes
from gallette.scenes.depth_prepass import FRAGMENT, VERTEX

__all__ = ["REMEDIES", "Remedy", "alu_count", "variants_under"]


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way to run the same frames: a name and the driver's options."""

    name: str
    used_once: Literal["always", "never", "not_position"]
    invariant: bool = False

    @property
    def driver_options(self) -> dict[str, str]:
        options: dict[str, str] = {"inexact_used_once": self.used_once}
        if self.invariant:
            options["position_invariant"] = "1"
        return options

    @property
    def optimizer(self) -> OptimizeOptions:
        return OptimizeOptions(
            fuse_ffma=True,
            inexact_used_once=self.used_once,
            position_invariant=self.invariant,
            scalar=True,
        )


REMEDIES = (
    Remedy("the bug: no remedy", "always"),
    Remedy("a. never in inexact rules", "never"),
    Remedy("b. every position invariant", "always", invariant=True),
    Remedy("c. never for what feeds the position", "not_position"),
)


def alu_count(shader: Shader) -> int:
    """Arithmetic instructions of a shader."""
    from gallette.compiler.nir.ir import Alu

    return sum(
        isinstance(instr, Alu)
        for impl in shader.impls()
        for block in impl.blocks()
        for instr in block.instrs()
    )


def variants_under(shader: Shader, remedy: Remedy) -> tuple[Shader, Shader]:
    """The full and the depth-only variant as a driver would make them; both are the caller's."""
    full = clone_shader(shader)
    optimize(full, remedy.optimizer)
    depth_only = clone_shader(shader)
    run_passes(depth_only, ["lower_depth_only"])
    optimize(depth_only, remedy.optimizer)
    return full, depth_only


@lesson(
    "is_used_once", "is_used_once breaks multi-pass rendering", chapter="The compiler", place=10
)
def run(page: Page, driver: str) -> None:
    """A depth pre-pass, the same shader again with GL_EQUAL, and holes in the picture.

    See the bug, flip each remedy on, count what it costs.
    """
    page.section(
        "The idiom",
        """Draw depth only first. Then draw again, with colour, where the depth is exactly
        EQUAL: every visible pixel is shaded once. Both passes use the very same program, so
        what could differ?""",
    )
    page.add(Code(VERTEX.strip(), "glsl", "the vertex shader of both passes"))
    page.section(
        "What the driver does",
        """For the first pass nobody reads the varyings, so the driver makes a depth-only
        variant without them. In the full shader `scaled` is used twice: by the position and by
        the varying `local`. In the depth-only variant it is used once, and the rule that fuses
        a multiplication into an addition asks for exactly that, so as not to compute the
        product twice. A fused multiply-add rounds once instead of twice: the last bit of the
        position changes.""",
    )
    shaders = _compiled()
    vertex = shaders["vertex"]
    bug = REMEDIES[0]
    full, depth_only = variants_under(vertex, bug)
    page.add(Diff(print_shader(full), print_shader(depth_only), "full variant, depth-only variant"))
    full.unref()
    depth_only.unref()
    _pictures(page, driver, vertex)
    _costs(page)
    page.section(
        "Whose duty is it?",
        """The specification's appendix on invariance promises equal results for equal state, and
        lists state whose change must have no side effect on anything else: write masks and the
        choice of colour buffers to draw into are in its *required* list. A pre-pass made by
        switching the colour mask off, or by drawing into no colour buffer, therefore has to give
        the same depth as the pass that follows, and the driver alone is responsible: it is the
        driver's depth-only variant that breaks the promise. An application that makes more of a
        difference than that (another program, attached buffers, clip planes) has no such promise.
        It writes `invariant gl_Position` in both programs, and then every remedy, and even no
        remedy, must honour it.""",
    )
    page.section(
        "What to take home",
        """Remedy (a) is safe everywhere and gives up some code quality. Remedy (b) promises
        invariance for positions computed the same way, and does not help when position data
        makes a detour through a texture. Remedy (c) touches only what contributes to the
        position; that is what numpipe does by default. A fourth, (d), is a file of settings that
        turns (b) on for a named program: the bug stays for everybody who is not named.""",
    )
    page.ask(
        "A program draws its pre-pass with `glColorMask` off. Does it need `invariant`?",
        """No. Write masks are in the list of state whose change must not affect anything else: the
        promise is the driver's to keep.""",
    )
    page.ask(
        "And if the pre-pass uses a program of its own, with an empty fragment shader?",
        """Then it is another program, and nothing is promised. Both vertex shaders must declare
        `invariant gl_Position`, and compute it by the same expressions.""",
    )
    page.ask(
        "Why do the holes form speckles and not a smooth shape?",
        """Whether rounding once or twice gives another last bit depends on the bits that are cut
        off, which look random from one vertex to the next; and where it does, the plane of the
        whole triangle moves by that much.""",
    )
    page.tries(
        (
            "gallette diff depth_prepass --option inexact_used_once=always --html holes.html",
            "the bug on; every lost pixel links to its history",
        ),
        (
            "gallette diff depth_prepass --option inexact_used_once=never",
            "remedy (a): no differences",
        ),
        ("gallette pixel depth_prepass 120,90", "the depth test of one pixel, with both numbers"),
    )
    for shader in shaders.values():
        shader.unref()


def _compiled() -> dict[str, Shader]:
    from gallette.lessons.shaders import link

    return link({"vertex": VERTEX, "fragment": FRAGMENT})


def _pictures(page: Page, driver: str, vertex: Shader) -> None:
    """Render the scene under every remedy and count the holes."""
    page.section("The same frames under each remedy")
    rows: list[tuple[str, ...]] = []
    states: list[tuple[str, list[Block]]] = []
    for remedy in REMEDIES:
        page.progress(f"rendering with {remedy.name}")
        rendering = render_scenes(driver, ["depth_prepass"], options=remedy.driver_options)
        counts = [alu_count(s) for s in variants_under(vertex, remedy)]
        if "depth_prepass" in rendering.errors:
            rows.append((remedy.name, rendering.errors["depth_prepass"].splitlines()[0], "", ""))
            continue
        before, after = rendering.passes["depth_prepass"]
        lost = int((before.coverage & ~after.coverage).sum())
        seen = int(before.coverage.sum())
        rows.append((remedy.name, f"{lost} of {seen}", str(counts[0]), str(counts[1])))
        picture = to_rgb8(after.color).copy()
        picture[(before.coverage & ~after.coverage)[::-1]] = (255, 0, 255)
        caption = f"{remedy.name}: {lost} pixels lost (magenta)"
        states.append((remedy.name, [Pictures([(caption, np.ascontiguousarray(picture))])]))
    columns = ("remedy", "pixels lost", "ALU, full variant", "ALU, depth-only variant")
    page.add(Table(columns, rows))
    page.flip("flip a remedy on", *states)


def _costs(page: Page) -> None:
    """Instruction counts of every remedy over all bundled shaders."""
    from gallette.lessons.shaders import corpus, link

    totals = dict.fromkeys(REMEDIES, 0)
    changed = dict.fromkeys(REMEDIES, 0)
    shaders = list(corpus())
    for name, sources in shaders:
        page.progress(f"counting instructions: {name}")
        linked = link(sources)
        vertex = linked["vertex"]
        baseline = None
        for remedy in REMEDIES:
            full, depth_only = variants_under(vertex, remedy)
            count = alu_count(full) + alu_count(depth_only)
            full.unref()
            depth_only.unref()
            baseline = count if baseline is None else baseline
            totals[remedy] += count
            changed[remedy] += count != baseline
        for shader in linked.values():
            shader.unref()
    page.section(
        "What the remedies cost",
        f"""Both variants (full and depth-only) of the {len(shaders)} vertex shaders bundled with
        gallette, compiled under each remedy with fused multiply-adds available. Only arithmetic
        counts, one instruction per component, and the first row is the baseline. `docs/nir.md`
        has another table: it counts all instructions, of vertex and fragment shaders and of
        random ones besides, in the full variant only and per vector: neither its percentages
        nor the order of (a) and (b) carry over.""",
    )
    first = totals[REMEDIES[0]]
    rows: list[tuple[str, ...]] = [
        (r.name, str(totals[r]), f"{(totals[r] / max(first, 1) - 1):+.2%}", str(changed[r]))
        for r in REMEDIES
    ]
    page.add(Table(("remedy", "ALU instructions", "against the bug", "shaders affected"), rows))
