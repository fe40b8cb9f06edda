"""The lesson: how a use count in an optimisation rule becomes visible in the picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.lessons.experiments import corpus, draw_scene, link, marked
from gallette.pictures import to_rgb8
from gallette.scenes.depth_prepass import GLSL


@lazy_dataclass(frozen=True)
class Remedy:
    """One way to run the same frames: a name and the driver's options."""

    name: str
    used_once: Literal["always", "never", "not_position"]
    invariant: bool = False

    @property
    def driver_options(self) -> dict[str, Any]:
        return {"inexact_used_once": self.used_once, "position_invariant": self.invariant}

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
    """The full and the depth-only variant as a driver would build them; the caller owns both."""
    full = clone_shader(shader)
    optimize(full, remedy.optimizer)
    depth_only = clone_shader(shader)
    run_passes(depth_only, ["lower_depth_only"])
    optimize(depth_only, remedy.optimizer)
    return full, depth_only


def compiled() -> Shader:
    """The scene's vertex shader; the caller owns it."""
    linked = link(GLSL)
    linked["fragment"].unref()
    return linked["vertex"]


def lost_pixels(driver: str, remedy: Remedy) -> tuple[int, int, npt.NDArray[Any]]:
    """The pixels that the depth pass drew and the colour pass lost, and their total; the marked
    picture.
    """
    (before, after), _ = draw_scene(driver, "depth_prepass", **remedy.driver_options)
    lost = before.coverage & ~after.coverage
    picture = marked(to_rgb8(after.color), lost[::-1])
    return int(lost.sum()), int(before.coverage.sum()), picture


def costs(progress: Callable[[str], None]) -> tuple[int, list[tuple[str, int, float, int]]]:
    """The number of vertex shaders, of every fourth bundled pair, and for each remedy: the
    arithmetic instructions in both variants of all of them, relative to the first remedy's, and how
    many shaders it changes.
    """
    totals = dict.fromkeys(REMEDIES, 0)
    changed = dict.fromkeys(REMEDIES, 0)
    shaders = corpus()[::4]
    for name, sources in shaders:
        progress(f"counting instructions: {name}")
        linked = link(sources)
        counts = []
        for remedy in REMEDIES:
            variants = variants_under(linked["vertex"], remedy)
            counts.append(sum(map(alu_count, variants)))
            for shader in variants:
                shader.unref()
            totals[remedy] += counts[-1]
            changed[remedy] += counts[-1] != counts[0]
        for shader in linked.values():
            shader.unref()
    first = totals[REMEDIES[0]]
    return len(shaders), [(r.name, totals[r], totals[r] / first - 1, changed[r]) for r in REMEDIES]
