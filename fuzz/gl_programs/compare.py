"""What was seen in two runs, and which differences the specification leaves room for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

# Every allowed difference has a name, a bound and the reason.
ALLOWED = {
    "rounding": (
        "colours of 8 bits may differ by two steps, and one more for each draw since the clear",
        "the specification asks for rounding to nearest or one step beside it (2.3.5.2), and what "
        "is blended again carries the step along",
    ),
    "encoded": (
        "dark sRGB colours may differ by what a step of bright ones is worth, 0.009, for each draw "
        "but the first",
        "what was rounded when it was bright is seen larger where later draws take away from it: a "
        "step near black is thirty times smaller",
    ),
    "depth": (
        "depth may differ by 2 in 2**24",
        "depth is interpolated with implementation's precision",
    ),
    "steep": (
        "depth may differ by 8 in 2**24 where the next pixel's is further away than a sixteenth",
        "the same precision: what is added per pixel is rounded, and is large",
    ),
    "slivers": (
        "two pixels of a picture may differ in any way",
        "three corners on one line that are clipped: where the new corners are rounded to decides "
        "whether the triangle has an area, and which depth",
    ),
    "logic": (
        "one colour in fifty may differ in any way where a logic operation was on, one in ten with "
        "less than 8 bits",
        "its operands are bits: the step of rounding from 127 to 128 changes all of them",
    ),
    "squared": (
        "one colour in fifty may differ in any way where what is there was multiplied by itself, "
        "one in ten with less than 8 bits",
        "what was rounded is twice as far off behind each layer of a draw, and far off with 5 "
        "bits: there a quarter more of 1 is 1, of 2 is 3, and so on for all of a triangle",
    ),
    "growing": (
        "one colour in fifty may differ in any way where what is there, in floats, was multiplied "
        "by colours that are drawn",
        "those are not between 0 and 1 there: a step of rounding grows with each layer of a draw, "
        "and the sum of what grew may be near nothing",
    ),
    "environments": (
        "colours may differ from llvmpipe's in any way where units of fixed function added up what "
        "is not clamped, or were given lit colours that are not",
        "what clamps fragment colours clamps all that units are given and yield (16.1 of the "
        "compatibility profile); llvmpipe clamps what they yield, and that in any case",
    ),
    "coarse": (
        "one colour in fifty may differ in any way where a picture with values of less than 8 bits "
        "was drawn and sampled, one in ten where what is seen has less, too",
        "the same step of rounding is large there: alpha of one bit is none or all of it",
    ),
    "unknown": (
        "pixel types of desktop OpenGL are INVALID_ENUM in ES, or INVALID_OPERATION",
        "what is in no table of OpenGL ES is no type (8.4.2); llvmpipe calls it a wrong pair",
    ),
}
_DESKTOP_TYPES = re.compile(
    r"gl\.tex_(sub_)?image[23]d\(.*GL\.UNSIGNED_"
    r"(BYTE_3_3_2|BYTE_2_3_3_REV|SHORT_5_6_5_REV|SHORT_1_5_5_5_REV|SHORT_4_4_4_4_REV"
    r"|INT_8_8_8_8|INT_8_8_8_8_REV|INT_10_10_10_2)\b"
)
_ENUM_OR_PAIR = {"GL_INVALID_ENUM", "GL_INVALID_OPERATION"}
DEPTH_STEP = 1.0 / ((1 << 24) - 1)
STEEP = 1 / 16
SLIVER_PIXELS = 2
AMPLIFIED_SHARE = 50
COARSE_SHARE = 10
BRIGHT_STEP = 0.009
"""what the last step of sRGB is worth"""


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
        wrong &= np.abs(_linear(a) - _linear(b)) > (mine.draws - 1) * BRIGHT_STEP
    if (
        (mine.unclamped and not same)
        or not wrong.any()
        or (wrong.ndim == 3 and wrong.any(axis=2).sum() <= SLIVER_PIXELS)
    ):
        return ""
    share = AMPLIFIED_SHARE if mine.step == 1 else COARSE_SHARE
    if mine.amplified and int(wrong.sum()) * share <= wrong.size:
        return ""
    place = tuple(int(i[0]) for i in np.nonzero(wrong))
    return (
        f"{int(wrong.sum())} of {wrong.size} values differ, the first at {place}: "
        f"{mine.value[place]!r}, the other {other.value[place]!r}"
    )


def _bound(seen: Seen) -> float | np.ndarray[Any, np.dtype[np.float64]]:
    if seen.value.dtype == np.uint8:
        return (2.0 + seen.draws) * seen.step
    if seen.what.startswith("depth"):
        return np.where(_steep(seen.value), 8.001, 2.001) * DEPTH_STEP
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
