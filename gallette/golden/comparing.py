"""Compares two pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.golden.pictures import Picture
from gallette.golden.tolerance import Tolerance


@lazy_dataclass()
class Comparison:
    """The result of comparing a picture with its golden.

    `status` is one of

    * `identical`, or `close`: within the tolerance;
    * `different`, or `other size`;
    * `no golden`: there is none of that name, or `not drawn`: there is one, and no picture of it;
    * `written`, `removed`: the golden was updated.
    """

    name: str
    status: str
    tolerance: Tolerance
    golden: Path | None = None
    seen: Picture | None = None
    expected: Picture | None = None
    pixels: int = 0
    differing: int = 0
    """Pixels that differ by more than the tolerance's steps."""
    largest: int = 0
    """The largest difference of any channel, in steps of 1/255."""
    first: tuple[int, int] | None = None
    """Column and row (from the top) of the first pixel that differs by more."""
    perceptual: float | None = None
    heat: Any = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        return self.status in ("identical", "close", "written", "removed")

    def __str__(self) -> str:
        """One line for people."""
        if self.status == "other size":
            assert self.seen is not None and self.expected is not None
            return f"{_size(self.seen)} pixels, where the golden has {_size(self.expected)}"
        if self.status in ("different", "close"):
            where = "" if self.first is None else f", the first at {self.first[0]},{self.first[1]}"
            text = (
                f"{self.differing} of {self.pixels} pixels differ by more than "
                f"{self.tolerance.steps:g}/255{where}; the largest difference is {self.largest}/255"
            )
            if self.perceptual is not None:
                text += f"; FLIP error {self.perceptual:.4f}"
            return text
        return {
            "identical": "every pixel is the same",
            "no golden": "there is no golden image yet",
            "not drawn": "the program did not draw this picture",
            "written": "the golden image was written",
            "removed": "the golden image was removed: the program does not draw it any more",
        }[self.status]

    def data(self) -> dict[str, Any]:
        """The comparison for scripts, as JSON can hold it."""
        return {
            "name": self.name,
            "status": self.status,
            "ok": self.ok,
            "golden": None if self.golden is None else str(self.golden),
            "pixels": self.pixels,
            "differing": self.differing,
            "largest": self.largest,
            "first": self.first,
            "perceptual": self.perceptual,
            "tolerance": str(self.tolerance),
            "message": str(self),
        }


def _size(picture: Picture) -> str:
    return f"{picture.shape[1]}x{picture.shape[0]}"


def compare_pictures(
    seen: Picture, expected: Picture, tolerance: Tolerance, name: str = "picture"
) -> Comparison:
    """Compare RGBA bytes; `status` is `identical`, `close`, `different` or `other size`."""
    from gallette.compare import heat_map

    found = Comparison(name, "other size", tolerance, seen=seen, expected=expected)
    if seen.shape != expected.shape:
        return found
    difference = np.abs(seen.astype(np.int16) - expected).max(axis=2)
    beyond = difference > tolerance.steps
    found.pixels, found.differing = difference.size, int(beyond.sum())
    found.largest = int(difference.max(initial=0))
    if found.differing:
        row, column = np.unravel_index(int(beyond.argmax()), beyond.shape)
        found.first = int(column), int(row)
    same = found.differing <= tolerance.share * found.pixels
    if tolerance.perceptual is not None and found.largest:
        found.perceptual = flip_error(seen, expected)
        same = found.perceptual <= tolerance.perceptual
    found.status = "identical" if not found.largest else "close" if same else "different"
    if found.largest:
        found.heat = heat_map(difference[::-1].astype(np.float64), tolerance.steps)
    return found


def flip_error(seen: Picture, expected: Picture) -> float:
    """The mean FLIP error of two pictures, each laid over black where it is transparent."""
    try:
        import flip_evaluator
    except ImportError:
        raise GalletteError(
            "a perceptual tolerance needs FLIP: pip install 'gallette[perceptual]'"
        ) from None
    sides = [
        np.ascontiguousarray(side[..., :3] * (side[..., 3:] / np.float32(255)) / np.float32(255))
        for side in (expected, seen)
    ]
    _, mean, _ = flip_evaluator.evaluate(*sides, "LDR", applyMagma=False)
    return float(mean)
