"""What was seen in two runs, and which differences the specification leaves room for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_TEXT = Path(__file__).with_name("differences.txt").read_text(encoding="utf-8")
BOUNDS = {name: float(bound) for name, bound in re.findall(r"^(\w+) ([\d.]+)$", _TEXT, re.M)}
"""of the allowed differences, by name"""
_DESKTOP_TYPES = re.compile(
    r"gl\.tex_(sub_)?image[23]d\(.*GL\.UNSIGNED_"
    r"(BYTE_3_3_2|BYTE_2_3_3_REV|SHORT_5_6_5_REV|SHORT_1_5_5_5_REV|SHORT_4_4_4_4_REV"
    r"|INT_8_8_8_8|INT_8_8_8_8_REV|INT_10_10_10_2)\b"
)
_ENUM_OR_PAIR = {"GL_INVALID_ENUM", "GL_INVALID_OPERATION"}
DEPTH_STEP = 1.0 / ((1 << 24) - 1)
STEEP = 1 / 16


@dataclass(frozen=True, slots=True)
class Seen:
    """One observation: its name, its value, how many draws may have rounded."""

    what: str
    value: Any
    draws: int = 0
    step: int = 1
    amplified: bool = False  # by a logic operation, squared, growing, or from few bits
    encoded: bool = False
    unclamped: bool = False  # there were colours above 1 about units of fixed function


def difference(ours: list[Seen], theirs: list[Seen], same: bool = False) -> str:
    """The first difference that is not allowed, in words; "" if there is none.

    `same`: both are the same driver, and nothing is another's way.
    """
    for mine, other in zip(ours, theirs, strict=False):
        if mine.what != other.what:
            return f"saw {mine.what!r} where the other saw {other.what!r}"
        text = _differs(mine, other, same)
        if text:
            return f"{mine.what}: {text}"
    if len(ours) != len(theirs):
        longer = max(ours, theirs, key=len)
        return f"only one run saw {longer[min(len(ours), len(theirs))].what!r}"
    return ""


def _differs(mine: Seen, other: Seen, same: bool) -> str:
    if not isinstance(mine.value, np.ndarray):
        if {str(mine.value), str(other.value)} == _ENUM_OR_PAIR:
            if _DESKTOP_TYPES.search(mine.what):
                return ""
        return "" if mine.value == other.value else f"{mine.value!r}, the other {other.value!r}"
    if mine.value.shape != other.value.shape:
        return f"shape {mine.value.shape}, the other {other.value.shape}"
    bound = _bound(mine)
    a, b = mine.value.astype(np.float64), other.value.astype(np.float64)
    with np.errstate(invalid="ignore"):
        wrong = ~((np.abs(a - b) <= bound) | (a == b) | (np.isnan(a) & np.isnan(b)))
    if mine.encoded and mine.draws > 1 and wrong.any():
        wrong &= np.abs(_linear(a) - _linear(b)) > (mine.draws - 1) * BOUNDS["encoded"]
    if (
        (mine.unclamped and not same)
        or not wrong.any()
        or (wrong.ndim == 3 and wrong.any(axis=2).sum() <= BOUNDS["slivers"])
    ):
        return ""
    share = BOUNDS["amplified" if mine.step == 1 else "coarse"]
    if mine.amplified and int(wrong.sum()) * share <= wrong.size:
        return ""
    place = tuple(int(i[0]) for i in np.nonzero(wrong))
    return (
        f"{int(wrong.sum())} of {wrong.size} values differ, the first at {place}: "
        f"{mine.value[place]!r}, the other {other.value[place]!r}"
    )


def _bound(seen: Seen) -> float | np.ndarray[Any, np.dtype[np.float64]]:
    if seen.value.dtype == np.uint8:
        return (BOUNDS["rounding"] + seen.draws) * seen.step
    if seen.what.startswith("depth"):
        return np.where(_steep(seen.value), BOUNDS["steep"], BOUNDS["depth"]) * (
            DEPTH_STEP * 1.0001
        )
    return 1e-5 if seen.value.dtype.kind == "f" else 0.0


def _linear(bytes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What encoded colours stand for (alpha, which is not encoded, has steps of its own)."""
    value = bytes / 255.0
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    linear[..., 3] = bytes[..., 3]
    return np.asarray(linear)


def _steep(depth: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where a pixel is far from one of the four beside it."""
    found = np.zeros(depth.shape, bool)
    for axis in (0, 1):
        far = np.abs(np.diff(depth.astype(np.float64), axis=axis)) > STEEP
        nothing = np.zeros_like(far.take([0], axis=axis))
        found |= np.concatenate([far, nothing], axis=axis)
        found |= np.concatenate([nothing, far], axis=axis)
    return found
