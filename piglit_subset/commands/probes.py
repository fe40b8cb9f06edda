"""Checks of pixels: `probe ...` and `relative probe ...`."""

from __future__ import annotations

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.session import Session
from gallette.piglit_subset.text import Words

Box = tuple[int, int, int, int]


def _probe(session: Session, words: Words, box: Box, kind: str = "float") -> None:
    """Compare a box with the colour that follows: four channels, or three and any fourth."""
    if "rgba" in words.texts:
        expected = words.numbers(4, "a colour channel")
        words.end()
    else:
        expected = words.numbers(3, "a colour channel")
        words.numbers(len(words), "a number")
    x, y, width, height = box
    if width <= 0 or height <= 0:
        raise words.line.error(f"an empty rectangle to probe: {width} x {height}")
    result = "warn" if "warn" in session.head else "fail"
    session.judge(session.compare(x, y, width, height, expected, kind), result, box)


def _kind(words: Words) -> str:
    return words.optional("int", "uint") or "float"


@command("probe all rgba", "probe all rgb", "probe warn all rgba")
def probe_all(session: Session, words: Words) -> None:
    """probe [warn] all rgba R G B A: every pixel of the window (warn: else a mere warning)"""
    kind = _kind(words)
    _probe(session, words, (0, 0, *session.read_size), kind)


@command("probe rgba", "probe rgb", "probe rect rgba", "probe rect rgb")
def probe(session: Session, words: Words) -> None:
    """probe [rect] rgba X Y [W H] R G B A: a pixel or a rectangle, from the bottom left"""
    kind, rect = _kind(words), "rect" in session.head
    x, y, *size = (int(v) for v in words.numbers(4 if rect else 2, "a coordinate"))
    width, height = size or (1, 1)
    _probe(session, words, (x, y, width, height), kind)


@command(
    *("relative probe rgba", "relative probe rgb"),
    *("relative probe rect rgba", "relative probe rect rgb"),
)
def probe_relative(session: Session, words: Words) -> None:
    """relative probe [rect] rgba X Y [W H] R G B A: coordinates as fractions of the window"""
    kind, (across, up) = _kind(words), session.read_size
    if "rect" in session.head:
        x, y, width, height = words.numbers(4, "a coordinate")
        box = (int(x * across), int(y * up), int(width * across), int(height * up))
    else:  # a coordinate of 1.0 means the last pixel, not the one after it
        x, y = words.numbers(2, "a coordinate")
        box = (min(int(x * across), across - 1), min(int(y * up), up - 1), 1, 1)
    _probe(session, words, box, kind)


@command("probe depth", reads="2 integer a coordinate, number a depth")
def probe_depth(session: Session, x: int, y: int, expected: float) -> None:
    """probe depth X Y Z: the depth buffer at one pixel"""
    seen = session.read_depth(x, y)
    if abs(seen - expected) > 0.01:
        session.wrong(f"depth at ({x}, {y}): expected {expected:g}, observed {seen:g}")


@command("tolerance", reads="* number a tolerance")
def tolerance(session: Session, *channels: float) -> None:
    """tolerance R G B A: the permitted error of each channel in later probes"""
    if not 1 <= len(channels) <= 4:
        raise session.line.error("expected a tolerance for 1 to 4 channels")
    session.tolerance.channels[: len(channels)] = channels
