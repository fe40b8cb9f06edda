"""Comparing two renderings, pass by pass: coverage, largest difference, share over tolerance.

The requirement is equal coverage, pixel for pixel, and at most one step of 8 bits of difference in
99.9 % of the pixels. `Verdict` is whether a pass meets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.pictures import grey_range, to_rgb8
from gallette.render import Rendering
from gallette.scenes.common import Pass

Image = npt.NDArray[Any]
CLOSE_ENOUGH = 0.999


@lazy_dataclass()
class PassDiff:
    """One pass on both sides. Differences are in steps of 1/255."""

    name: str
    ours: Image
    theirs: Image
    heat: Image
    coverage_mismatch: int
    covered: int
    max_difference: float
    over_tolerance: float
    pixels: int
    note: str = ""
    shown: tuple[float, float] = (0.0, 1.0)  # what is black and what is white in the pictures

    @property
    def identical(self) -> bool:
        return self.max_difference == 0 and self.coverage_mismatch == 0

    @property
    def ok(self) -> bool:
        return self.coverage_mismatch == 0 and self.over_tolerance <= 1 - CLOSE_ENOUGH

    @property
    def verdict(self) -> str:
        if self.identical:
            return "identical"
        return "close" if self.ok else "different"


@lazy_dataclass()
class SceneDiff:
    """A scene on both sides."""

    name: str
    doc: str
    passes: list[PassDiff] = field(default_factory=list)
    error: str = ""
    seconds: tuple[float, float] = (0.0, 0.0)

    @property
    def ok(self) -> bool:
        return not self.error and bool(self.passes) and all(p.ok for p in self.passes)

    @property
    def verdict(self) -> str:
        """The worst verdict of its passes."""
        if self.error or not self.passes:
            return "error"
        order = ("identical", "close", "different")
        return max((p.verdict for p in self.passes), key=order.index)


# Black, blue, magenta, orange, yellow, white: equal steps look equally far apart.
_HEAT = np.array(
    [(0, 0, 4), (59, 15, 112), (140, 41, 129), (222, 73, 104), (254, 159, 109), (252, 253, 191)],
    np.float64,
)


def heat_map(difference: Image, tolerance: float) -> Image:
    """Colours for differences: black is equal, the scale is logarithmic, white is 255 steps."""
    with np.errstate(divide="ignore"):
        # From half a step on a difference must be seen; what is finer stays nearly black.
        t = np.log2(1 + difference) / 8.0
        t = np.where(difference >= 0.5, 0.12 + 0.88 * t, t)
    t = np.clip(t, 0, 1) * (len(_HEAT) - 1)
    low = np.minimum(t.astype(int), len(_HEAT) - 2)
    f = (t - low)[..., None]
    colors = _HEAT[low] * (1 - f) + _HEAT[low + 1] * f
    out: Image = np.ascontiguousarray(colors.astype(np.uint8)[::-1])
    return out


def _steps(color: Image) -> Image:
    values: Image = color.astype(np.float64)
    return values if color.dtype == np.uint8 else values * 255


def compare_passes(ours: Pass, theirs: Pass, tolerance: float) -> PassDiff:
    if ours.color.shape != theirs.color.shape:
        raise ValueError(f"pass {ours.name!r} has different sizes on the two sides")
    with np.errstate(invalid="ignore"):
        difference = np.abs(_steps(ours.color) - _steps(theirs.color))
    difference = np.where(np.isnan(difference), 255.0, difference).max(axis=-1)
    if ours.color.dtype != np.uint8:
        # Floats are compared in the same steps; what is left below a hundredth is rounding.
        difference[difference < 0.01] = 0
    missing = ours.coverage != theirs.coverage
    seen = np.where(missing, 255.0, difference)
    shown = grey_range(ours.color, theirs.color)
    return PassDiff(
        ours.name,
        to_rgb8(ours.color, shown),
        to_rgb8(theirs.color, shown),
        heat_map(seen, tolerance),
        int(missing.sum()),
        int(theirs.coverage.sum()),
        float(difference.max()),
        float((difference > tolerance).mean()),
        int(difference.size),
        ours.note,
        shown,
    )


def compare(
    ours: Rendering, theirs: Rendering, scenes: Sequence[str], tolerance: float
) -> list[SceneDiff]:
    """The diffs of every scene, in order."""
    from gallette.scenes import find_scene

    result = []
    for name in scenes:
        times = (ours.seconds.get(name, 0.0), theirs.seconds.get(name, 0.0))
        scene = find_scene(name)
        diff = SceneDiff(name, scene.doc if scene else "", seconds=times)
        result.append(diff)
        for side in (ours, theirs):
            if name in side.errors:
                diff.error += f"{side.driver}: {side.errors[name]}\n"
        if diff.error:
            continue
        mine, other = ours.passes[name], theirs.passes.get(name)
        if other is None:
            diff.error = f"{theirs.driver}: no picture of this scene"
            continue
        if [p.name for p in mine] != [p.name for p in other]:
            diff.error = "the two sides have different passes"
            continue
        diff.passes = [compare_passes(a, b, tolerance) for a, b in zip(mine, other, strict=True)]
    return result
