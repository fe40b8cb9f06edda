"""Two replays of one capture, compared after every call that draws: the first that differs.

Colours of 8 bits are compared in steps of 1/255, as `gallette diff` does with scenes, other floats
in the same unit, depths in steps of 1/65535, integers as they are. With a tolerance, a share of a
draw's pixels may be beyond it, by default a thousandth; with tolerance 0 every bit counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gallette.capture.container import CaptureError
from gallette.capture.snapshot import Snapshot, Snapshots, start_snapshots
from gallette.capture.story import Call, Capture, open_capture
from gallette.compiler.lazy_dataclass import field, lazy_dataclass

SHARE = 0.001


@lazy_dataclass()
class AttachmentDiff:
    """One attachment on both sides after one call."""

    attachment: str
    beyond: int  # pixels that differ by more than the tolerance
    pixels: int
    largest: float
    place: tuple[int, int]
    ours: tuple[float, ...]
    theirs: tuple[float, ...]


@lazy_dataclass()
class DrawDiff:
    """A call after which the two sides differ."""

    call: Call
    attachments: list[AttachmentDiff] = field(default_factory=list)
    samples: tuple[int, int] = (0, 0)  # of the framebuffer on either side, if it has several


@lazy_dataclass()
class CaptureDiff:
    """All differences; `first` is the first call that differs."""

    capture: Capture
    ours: str
    theirs: str
    frame: int | None = None  # the one whose draws are compared, or all
    compared: int = 0
    draws: list[DrawDiff] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        sides = f"{self.ours} against {self.theirs}"
        return f"<CaptureDiff of {sides}: {len(self.draws)} of {self.compared} draws differ>"

    def _repr_html_(self) -> str:
        from gallette.reports import cells

        return cells.capture_diff(self)

    @property
    def first(self) -> DrawDiff | None:
        return self.draws[0] if self.draws else None

    @property
    def ok(self) -> bool:
        return not self.draws and not self.notes


def _difference(a: Any, b: Any, attachment: str) -> Any:
    if a.dtype == np.uint8 or a.dtype.kind in "iu":
        return np.abs(a.astype(np.float64) - b.astype(np.float64)).max(axis=-1)
    scale = 65535.0 if attachment == "depth" else 255.0
    with np.errstate(invalid="ignore"):
        found = np.abs(a.astype(np.float64) - b.astype(np.float64)) * scale
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    found = np.where(same, 0.0, found)
    return np.where(np.isnan(found), np.inf, found).max(axis=-1)


def _compare(
    attachment: str, a: Any, b: Any, tolerance: float, share: float
) -> AttachmentDiff | None:
    if a.shape != b.shape:
        size = int(np.prod(a.shape[:2]))
        return AttachmentDiff(attachment, size, size, np.inf, (0, 0), (), ())
    found = _difference(a, b, attachment)
    beyond = found > tolerance * (1 + 1e-4)  # resolved bytes are floats: a step is not exactly one
    count = int(beyond.sum())
    allowed = share * found.size if tolerance else 0
    if count <= allowed:
        return None
    at = int(np.argmax(np.where(beyond, found, -1)))
    y, x = divmod(at, found.shape[1])
    return AttachmentDiff(
        attachment,
        count,
        int(found.size),
        float(found.max()),
        (x, y),
        tuple(v.item() for v in a[y, x]),
        tuple(v.item() for v in b[y, x]),
    )


def _pairs(ours: Snapshots, theirs: Snapshots) -> Iterator[tuple[Snapshot, Snapshot]]:
    """The snapshots that both sides took after a call; each side is read to its end."""
    others = iter(theirs.taken)
    other = next(others, None)
    for mine in ours.taken:
        while other is not None and other.read_after < mine.read_after:
            other = next(others, None)
        if other is not None and other.read_after == mine.read_after:
            yield mine, other
    for _ in others:
        pass


def compare_snapshots(
    capture: Capture,
    ours: Snapshots,
    theirs: Snapshots,
    tolerance: float,
    share: float = SHARE,
    frame: int | None = None,
) -> CaptureDiff:
    """Compare snapshots call by call; a call is listed if a difference appears with it."""
    result = CaptureDiff(capture, ours.driver, theirs.driver, frame)
    known: set[tuple[str, str]] = set()
    for mine, other in _pairs(ours, theirs):
        diff = DrawDiff(capture.call(mine.call), [], (mine.samples, other.samples))
        for attachment, (name, picture) in mine.pictures.items():
            if attachment not in other.pictures:
                continue
            result.compared += 1
            other_name, other_picture = other.pictures[attachment]
            if name == other_name or (name, other_name) in known:
                continue
            known.add((name, other_name))
            found = _compare(attachment, picture, other_picture, tolerance, share)
            if found is not None:
                diff.attachments.append(found)
        last = result.first and result.draws[-1]
        if last and last.call.number == mine.call:  # what it captured was read later
            last.attachments += diff.attachments
        elif diff.attachments:
            result.draws.append(diff)
    for side in (ours, theirs):
        result.notes += [f"{side.driver}: {e}" for e in side.errors[:3]]
    return result


def diff_capture(
    path: str | Path,
    ours: str,
    theirs: str,
    tolerance: float = 1.0,
    frame: int | None = None,
    share: float | None = None,
) -> CaptureDiff:
    """Replay a capture on two drivers, each in a process of its own, and compare.

    >>> diff_capture("frame.gcap", "numpipe", "native").first
    """
    capture = open_capture(path)
    share = SHARE if share is None else share
    with start_snapshots(path, ours, frame) as mine, start_snapshots(path, theirs, frame) as other:
        found = compare_snapshots(capture, mine, other, tolerance, share, frame)
    if not found.compared:
        drawn = "no attachment can be read" if capture.draws(frame) else "no call draws"
        why = found.notes or [drawn if frame is None else f"{drawn} in frame {frame}"]
        raise CaptureError(f"{path}: there is nothing to compare: {'; '.join(why)}")
    return found
