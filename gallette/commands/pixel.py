"""Show the history of a pixel: every clear, draw and copy that touched it, in order.

Each fragment is listed with its primitive, its depth, stencil and other tests with their operands,
what the shader wrote and what was stored. Where nothing was drawn, the reason is given.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from gallette import default_driver
from gallette.capture.targets import check_target
from gallette.compiler.errors import GalletteError
from gallette.compiler.output_files import write_whole
from gallette.history import Fragment, History, PixelEvent, pixel_history
from gallette.terminal import console

_COLORS = {"written": "green", "culled": "yellow", "clipped": "yellow", "outside": "yellow"}


def place_of(text: str) -> tuple[int, int]:
    x, comma, y = text.partition(",")
    if not (comma and x.strip().isdigit() and y.strip().isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a pixel; use X,Y, such as 17,4")
    return int(x), int(y)


VALUES = {"place": place_of}


def run(options: argparse.Namespace) -> int:
    target = options.target
    check_target(target, "gallette pixel")
    x, y = options.place
    history = pixel_history(target, x, y, options.driver or default_driver(), options.sample)
    if options.buffer is not None:
        history.resource = _buffer(history, options.buffer)
    if options.json is not None:
        events = [_plain(e) for e in _events(history, options.everything)]
        write_whole(options.json, json.dumps(events, indent=1) + "\n")
    print_history(console(), history, options.everything)
    return 0


def _buffer(history: History, number: int) -> str:
    """The last resource attached as that colour buffer."""
    name = f"colour {number}"
    found = [e.attachments[name] for e in history.events if name in e.attachments]
    if not found:
        raise GalletteError(f"gallette pixel: no framebuffer with this pixel has a buffer {name!r}")
    return found[-1]


def _events(history: History, everything: bool) -> list[PixelEvent]:
    return history.events if everything else history.about(history.resource)


def _plain(event: PixelEvent) -> dict[str, Any]:
    def text(value: Any) -> Any:
        return value.hex() if isinstance(value, bytes) else value

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: walk(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [walk(v) for v in value]
        return text(value)

    return dict(walk(asdict(event)))


def print_history(out: Console, history: History, everything: bool = False) -> None:
    """Print everything that changed the pixel, in all framebuffers or in the one last drawn to."""
    out.print(
        f"pixel {history.x},{history.y} of {history.resource}, {history.driver} on "
        f"{history.target}",
        style="bold",
        markup=False,
    )
    for event in _events(history, everything):
        if event.touched:
            _print_event(out, event)
    held = "; ".join(f"{k} {v}" for k, v in history.final.items())
    out.print(f"at the end: {held}", markup=False)


def _print_event(out: Console, event: PixelEvent) -> None:
    out.print(Text(f"\n{event.place}: {event.call} ", style="bold cyan"), event.text, markup=False)
    for fragment in event.fragments:
        _print_fragment(out, fragment)
    for fragment in event.missing:
        line = f"       no fragment of primitive {fragment.primitive}: {fragment.verdict}"
        out.print(Text(line, style="bright_black"))
    if event.call == "draw_vbo" and not event.fragments and not event.missing:
        out.print(Text("       no primitive covers the pixel", style="bright_black"))
    for name, after in event.after.items():
        before = event.before.get(name)
        if before != after:
            out.print(f"       {name}: {before} -> {after}", markup=False)


def _print_fragment(out: Console, fragment: Fragment) -> None:
    side = "front" if fragment.front else "back"
    at = ", ".join(f"{w:.3f}" for w in fragment.weights)
    vertices = " ".join(map(str, fragment.vertices))
    style = _COLORS.get(fragment.verdict.split(":")[0].split(",")[0], "red")
    out.print(
        f"       primitive {fragment.primitive} (vertices {vertices}; {side} face"
        f"{f'; weights {at}' if at else ''}):",
        Text(fragment.verdict, style=style),
        markup=False,
    )
    for name, value in fragment.outputs.items():
        shown = ", ".join(f"{v:.6g}" for v in value)
        out.print(f"         shader wrote {name} ({shown})", markup=False)
    for text in fragment.stores:
        out.print(f"         shader stored {text}", markup=False)
    for test in fragment.tests:
        out.print(Text(f"         {test}", style="" if test.passed else "red"))
    if fragment.blend and fragment.verdict.startswith("written"):
        out.print(Text(f"         {fragment.blend}", style="bright_black"))
