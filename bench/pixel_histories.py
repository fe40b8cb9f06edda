"""Random pixels of every scene: does the history end with the framebuffer's bytes, and does the
reference interpreter compute what the driver's code did?

    python bench/pixel_histories.py [--pixels 500] [--seed 1] [--driver numpipe]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gallette
from gallette.compiler.errors import GalletteError
from gallette.debugger import debug_fragment
from gallette.debugger.records import Session
from gallette.history import pixel_history
from gallette.history.records import Fragment
from gallette.scenes import SCENES

# Steps of the last place by which a result may differ where a shader uses functions that the
# specification leaves to the implementation; everything else is exact.
CLOSE = 2.0**-20
LEAST = 5  # fragments of a scene that are to be compared


@dataclass(slots=True)
class Verdict:
    """What the pixels of a scene showed."""

    pixels: int = 0
    wrong_bytes: list[tuple[int, int]] = field(default_factory=list)
    fragments: int = 0
    exact: int = 0
    wrong_values: list[tuple[int, int, float]] = field(default_factory=list)
    seconds: float = 0.0


def last_framebuffer(name: str, driver: str) -> tuple[Any, Any]:
    """What the scene's last framebuffer holds without an observer: [y, x, bytes] of colour 0, or
    of the depth where there is no colour."""
    import moderngl

    from gallette.pipe.enums import MapFlags
    from gallette.pipe.state import Box

    window: Any = gallette.moderngl_context(driver)
    ctx = moderngl.create_context(standalone=True, context=window)
    ctx.extra = window  # for scenes that call OpenGL itself
    list(SCENES[name].render(ctx, SCENES[name].size))
    state = window.pipe_framebuffer
    surface = state.cbufs[0] if state.cbufs else None
    data = None
    if surface is not None and surface.resource.desc.samples <= 1:
        box = Box(0, 0, surface.first_layer, state.width, state.height, 1)
        transfer = window.pipe.transfer_map(surface.resource, surface.level, MapFlags.READ, box)
        data = np.array(transfer.data[0]).reshape(state.height, state.width, -1).view(np.uint8)
        window.pipe.transfer_unmap(transfer)
    size = state.width, state.height
    window.release()
    return data, size


def compared(pairs: list[tuple[Fragment, Session]]) -> Iterator[float]:
    """For each shaded fragment: by how much the interpreter's colour differs, relatively."""
    for fragment, session in pairs:
        if session.note:
            continue  # discarded: what it wrote is nowhere
        for name, theirs in fragment.outputs.items():
            if not name.startswith("colour"):
                continue
            slot = "color" if name == "colour" else f"data{name.split()[1]}"
            mine = session.outputs.get(slot)
            if mine is None:
                yield float("inf")
                continue
            a, b = np.array(mine[: len(theirs)]), np.array(theirs)
            with np.errstate(all="ignore"):
                gap = np.abs(a - b) / np.maximum(1.0, np.abs(b))
            gap = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, gap)
            yield float(gap.max(initial=0.0))


def places(
    chosen: random.Random, picture: Any, size: tuple[int, int], count: int, verdict: Verdict
) -> Iterator[tuple[int, int]]:
    """Random pixels. If they are all background, some more, of those that are not."""
    width, height = size
    for _ in range(count):
        yield chosen.randrange(width), chosen.randrange(height)
    if verdict.fragments >= LEAST or picture is None:
        return
    colors, which = np.unique(picture.reshape(width * height, -1), axis=0, return_inverse=True)
    usual = np.bincount(which.reshape(-1), minlength=len(colors)).argmax()
    drawn = np.flatnonzero(which.reshape(-1) != usual)
    for _ in range(min(count, len(drawn))):
        if verdict.fragments < LEAST:
            y, x = divmod(int(chosen.choice(drawn)), width)
            yield x, y


def check(name: str, count: int, seed: str, driver: str) -> Verdict:
    """Some pixels of one scene."""
    verdict = Verdict()
    picture, size = last_framebuffer(name, driver)
    chosen = random.Random(f"{seed} {name}")
    start = time.perf_counter()
    for x, y in places(chosen, picture, size, count, verdict):
        verdict.pixels += 1
        try:
            _, history, pairs = debug_fragment(name, x, y, driver, keep=True)
        except GalletteError:  # nothing was shaded there
            history, pairs = pixel_history(name, x, y, driver), []
        if picture is not None and history.final["colour 0"].raw != picture[y, x].tobytes():
            verdict.wrong_bytes.append((x, y))
        for gap in compared(pairs):
            verdict.fragments += 1
            verdict.exact += gap == 0
            if not gap <= CLOSE:
                verdict.wrong_values.append((x, y, gap))
    verdict.seconds = time.perf_counter() - start
    return verdict


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pixels", type=int, default=500)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--driver", default="numpipe")
    parser.add_argument("scenes", nargs="*")
    options = parser.parse_args()
    names = options.scenes or list(SCENES)
    each = max(1, -(-options.pixels // len(names)))
    bad = 0
    for name in names:
        v = check(name, each, options.seed, options.driver)
        bad += len(v.wrong_bytes) + len(v.wrong_values)
        print(
            f"{name:<16} {v.pixels:>4} pixels, {v.fragments:>4} fragments, {v.exact} to the bit, "
            f"{len(v.wrong_bytes)} wrong bytes, {len(v.wrong_values)} wrong values, "
            f"{v.seconds:.1f} s {v.wrong_bytes[:2]} {v.wrong_values[:2]}",
            flush=True,
        )
    return bool(bad)


if __name__ == "__main__":
    raise SystemExit(main())
