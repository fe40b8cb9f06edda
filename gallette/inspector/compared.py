"""Two runs side by side: the corresponding draws, and their differences."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

import numpy as np

from gallette.inspector.frames import Compared, Draw, Frame


def compare(frame: Frame, other: Frame) -> None:
    """Match the draws of two runs, and record in each draw of `frame` how its counterpart
    differs.
    """
    frame.against = other.title
    ours, theirs = ([_key(d) for d in f.draws] for f in (frame, other))
    matched = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    for a, b, count in matched:
        for k in range(count):
            frame.draws[a + k].compared = _compared(frame, frame.draws[a + k], other.draws[b + k],
                                                    other)  # fmt: skip


def _key(draw: Draw) -> tuple[Any, ...]:
    """The properties that two draws must share to be matched."""
    return draw.call, draw.size


def _compared(frame: Frame, draw: Draw, twin: Draw, other: Frame) -> Compared:
    found = Compared(twin.number)
    for name, mine in draw.attachments.items():
        theirs = twin.attachments.get(name)
        if theirs is None:
            continue
        a, b = frame.pictures[mine], other.pictures[theirs]
        found.attachments[name] = frame.keep(b)
        if mine == theirs:
            found.pixels[name] = 0
        elif a.shape != b.shape:
            found.pixels[name] = a.shape[0] * a.shape[1]
        else:
            differs = (a != b).any(axis=-1)
            found.pixels[name] = int(differs.sum())
            draw.overlays[f"differs {name}"] = frame.keep(differs.astype(np.uint8)[..., None])
    mine_, theirs_ = _recorded_texts(draw), _recorded_texts(twin)
    found.unlike = [
        (name, mine_.get(name, "-"), theirs_.get(name, "-"))
        for name in dict.fromkeys([*mine_, *theirs_])
        if mine_.get(name) != theirs_.get(name)
    ]
    return found


def _recorded_texts(draw: Draw) -> dict[str, str]:
    """All recorded texts of a draw, by name."""
    told = dict(draw.words) | draw.state | {name: value for name, _, value in draw.uniforms}
    told["primitives"], told["fragments"] = str(draw.primitives), str(draw.fragments)
    return told
