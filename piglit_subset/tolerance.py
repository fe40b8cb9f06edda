"""The suite's rule for correct pixels.

A colour channel of `b` bits may be off by less than 3/2^b (two steps of rounding and one of
arithmetic); a test can set its own tolerance per channel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first wrong pixel of a probe, and the number of wrong ones."""

    x: int
    y: int
    expected: tuple[float, ...]
    observed: tuple[float, ...]
    count: int
    total: int

    def __str__(self) -> str:
        def numbers(values: tuple[float, ...]) -> str:
            return " ".join(f"{v:.6g}" for v in values)

        return (
            f"probe at ({self.x}, {self.y}): expected {numbers(self.expected)}, "
            f"observed {numbers(self.observed)} ({self.count} of {self.total} pixels differ)"
        )


@dataclass(slots=True)
class Tolerance:
    """Per-channel bounds, red green blue alpha."""

    channels: list[float]

    def compare(self, image: Image, expected: list[float], x: int, y: int) -> Mismatch | None:
        """Compare every pixel of image[rows, columns, channels] with one colour."""
        channels = len(expected)
        seen = image[..., :channels].astype(np.float64)
        bound = np.array(self.channels[:channels])
        with np.errstate(invalid="ignore"):
            close = np.abs(seen - np.array(expected)) < np.maximum(bound, 1e-30)
        good = np.all(close, axis=-1)
        if good.all():
            return None
        rows, columns = np.nonzero(~good)
        r, c = int(rows[0]), int(columns[0])
        return Mismatch(
            x + c,
            y + r,
            tuple(expected),
            tuple(float(v) for v in seen[r, c]),
            len(rows),
            good.size,
        )
