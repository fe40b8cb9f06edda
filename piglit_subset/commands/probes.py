"""Looking at pixels: `probe ...` and `relative probe ...`."""

from __future__ import annotations

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.session import Session
from gallette.piglit_subset.text import Line, Words

__all__: list[str] = []


def _probe(
    session: Session,
    line: Line,
    box: tuple[int, int, int, int],
    expected: list[float],
    kind: str = "float",
    result: str = "fail",
) -> None:
    x, y, width, height = box
    if width <= 0 or height <= 0:
        raise line.error(f"an empty rectangle to probe: {width} x {height}")
    session.judge(line, session.compare(x, y, width, height, expected, kind), result, box)


def _color(words: Words) -> list[float]:
    """The expected colour: four channels, or three and then whatever follows is ignored."""
    if "rgba" in words.texts:
        expected = words.numbers(4, "a colour channel")
        words.end()
        return expected
    expected = words.numbers(3, "a colour channel")
    words.numbers(len(words), "a number")
    return expected


def _kind(words: Words) -> str:
    return words.optional("int", "uint") or "float"


@command("probe all rgba", "probe all rgb")
def probe_all(session: Session, line: Line, words: Words) -> None:
    """probe all rgba R G B A: every pixel of the window has this colour"""
    kind = _kind(words)
    expected = _color(words)
    _probe(session, line, (0, 0, session.width, session.height), expected, kind)


@command("probe warn all rgba")
def probe_warn_all(session: Session, line: Line, words: Words) -> None:
    """probe warn all rgba R G B A: as `probe all`, but a mismatch is only a warning"""
    expected = words.numbers(4, "a colour channel")
    words.end()
    box = (0, 0, session.width, session.height)
    _probe(session, line, box, expected, result="warn")


@command("probe rgba", "probe rgb")
def probe_pixel(session: Session, line: Line, words: Words) -> None:
    """probe rgba X Y R G B A: one pixel, counted from the bottom left"""
    x, y = (int(v) for v in words.numbers(2, "a coordinate"))
    expected = _color(words)
    _probe(session, line, (x, y, 1, 1), expected)


@command("relative probe rgba", "relative probe rgb")
def probe_relative(session: Session, line: Line, words: Words) -> None:
    """relative probe rgba (X, Y) (R, G, B, A): one pixel, coordinates as fractions of the window"""
    x, y = words.numbers(2, "a coordinate")
    expected = _color(words)
    # A coordinate of 1.0 means the last pixel, not the one behind it.
    column = min(int(x * session.width), session.width - 1)
    row = min(int(y * session.height), session.height - 1)
    _probe(session, line, (column, row, 1, 1), expected)


@command("probe rect rgba", "probe rect rgb")
def probe_rectangle(session: Session, line: Line, words: Words) -> None:
    """probe rect rgba (X, Y, W, H) (R, G, B, A): a rectangle of pixels"""
    kind = _kind(words)
    x, y, width, height = (int(v) for v in words.numbers(4, "a coordinate"))
    expected = _color(words)
    _probe(session, line, (x, y, width, height), expected, kind)


@command("relative probe rect rgba", "relative probe rect rgb")
def probe_relative_rectangle(session: Session, line: Line, words: Words) -> None:
    """relative probe rect rgba (X, Y, W, H) (R, G, B, A): in fractions of the window"""
    kind = _kind(words)
    x, y, width, height = words.numbers(4, "a coordinate")
    expected = _color(words)
    box = (
        int(x * session.width),
        int(y * session.height),
        int(width * session.width),
        int(height * session.height),
    )
    _probe(session, line, box, expected, kind)


@command("probe depth")
def probe_depth(session: Session, line: Line, words: Words) -> None:
    """probe depth X Y Z: the depth buffer at one pixel"""
    x, y = words.integers(2, "a coordinate")
    expected = words.number("a depth")
    words.end()
    seen = session.read_depth(x, y)
    if abs(seen - expected) > 0.01:
        session.wrong(line, f"depth at ({x}, {y}): expected {expected:g}, observed {seen:g}")


@command("tolerance")
def tolerance(session: Session, line: Line, words: Words) -> None:
    """tolerance R G B A: how far off the channels of later probes may be"""
    session.tolerance.channels = words.numbers(4, "a tolerance")
    words.end()
