"""Following a run: every call of the pipe that can touch the pixel, and what it held around it.

A scene, shader_test or capture runs in this process on the driver; the pipe's drawing methods are
wrapped. Draws are also shown to a `PixelWitness`, fragment by fragment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.capture.targets import run_target
from gallette.compiler.errors import GalletteError
from gallette.history.records import Fragment, History, PixelEvent, Stored, numbers
from gallette.history.witness import PixelWitness
from gallette.pipe import codecs
from gallette.pipe.enums import ClearFlags, MapFlags
from gallette.pipe.state import Box, Surface

__all__ = ["Examine", "pixel_history", "watch_pixel"]

Examine = Callable[[Fragment, int, Any, Any, Any, int], None]
"""Looks at a fragment that is about to be shaded: the fragment, the call's number, the draw, its
fragment program, the lanes and which of them it is.
"""

WATCHED = (
    "clear",
    "clear_render_target",
    "clear_depth_stencil",
    "draw_vbo",
    "blit",
    "resource_copy_region",
    "transfer_unmap",
    "launch_grid",
)


def pixel_history(target: str, x: int, y: int, driver: str = "numpipe", sample: int = 0) -> History:
    """The history of pixel (x, y) of everything that a scene, shader_test or capture draws to.

    >>> history = pixel_history("gradient", 100, 90)
    >>> history.events[-1].fragments[-1].verdict
    'written'
    """
    return watch_pixel(target, x, y, driver, sample)


def watch_pixel(
    target: str,
    x: int,
    y: int,
    driver: str = "numpipe",
    sample: int = 0,
    *,
    examine: Examine | None = None,
    created: Callable[[Any], None] | None = None,
) -> History:
    """The same; `examine` is shown each fragment before it is shaded, `created` each context."""
    history = History(target, driver, x, y)
    recorder = _Recorder(history, sample, examine)

    def watch(gl: Any) -> None:
        if created is not None:
            created(gl)
        recorder.watch(gl)

    history.outcome = run_target(target, driver, watch)
    drawn = [e for e in history.events if e.attachments]
    if not drawn:
        raise GalletteError(f"nothing that {target} draws to has a pixel {x},{y}")
    last = drawn[-1].attachments
    history.resource = last.get("colour 0") or next(iter(last.values()))
    return history


class _Recorder:
    """Wraps the pipe of one context."""

    def __init__(self, history: History, sample: int, examine: Examine | None) -> None:
        self.history = history
        self._sample = sample
        self._pipe: Any = None
        self._gl: Any = None
        self._number = 0
        self._witness = PixelWitness(history.x, history.y, self._read)
        if examine is not None:
            self._witness.examine = lambda seen, *rest: examine(seen, self._number, *rest)
        self._inside = False

    def watch(self, gl: Any) -> None:
        """From now on."""
        pipe, self._gl = gl.pipe, gl
        watch = getattr(pipe, "watch", None)
        if watch is None:
            raise GalletteError(
                f"driver {self.history.driver!r} cannot show its fragments; numpipe can"
            )
        self._pipe = pipe
        watch(self._witness)
        for name in WATCHED:
            self._wrap(name)

    def _wrap(self, name: str) -> None:
        original = getattr(self._pipe, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return original(*args, **kwargs)
            return self._recorded(name, original, args, kwargs)

        setattr(self._pipe, name, call)

    def _recorded(self, name: str, original: Any, args: Any, kwargs: Any) -> Any:
        self._inside = True
        try:
            self._number += 1
            before = self._read()
            self._witness.begin()
            result = original(*args, **kwargs)
            if name == "draw_vbo":
                self._pipe.settle()
            after = self._read()
            event = PixelEvent(
                self._number, name, _in_words(name, args, kwargs), self._names(), before, after
            )
            event.gl_call = getattr(self._gl, "replayed_call", 0)
            event.fragments, event.missing = self._witness.fragments, self._witness.missing
            if event.changed or (name in ("draw_vbo", "clear") and before):
                self.history.events.append(event)
            return result
        finally:
            self._inside = False

    # -- reading ---------------------------------------------------------------------------------

    def _attachments(self) -> dict[str, Surface]:
        state = self._pipe.bound.framebuffer
        x, y = self.history.x, self.history.y
        if not (0 <= x < state.width and 0 <= y < state.height):
            return {}
        found = {f"colour {i}": c for i, c in enumerate(state.cbufs) if c is not None}
        if state.zsbuf is not None:
            found["depth"] = state.zsbuf
        return found

    def _names(self) -> dict[str, str]:
        return {k: _label(s) for k, s in self._attachments().items()}

    def _read(self) -> dict[str, Stored]:
        """What the pixel holds now in every attachment that is bound."""
        outer, self._inside = self._inside, True
        try:
            held: dict[str, Stored] = {}
            for name, surface in self._attachments().items():
                if name == "depth":
                    held |= self._depth(surface)
                else:
                    data = self._texel(surface)
                    rgba = codecs.unpack(surface.format, data)[0, 0]
                    held[name] = Stored(data.tobytes(), numbers(rgba))
            return held
        finally:
            self._inside = outer

    def _depth(self, surface: Surface) -> dict[str, Stored]:
        data = self._texel(surface)
        raw = codecs.texels(surface.format, data)
        held = {}
        if surface.format.has_depth:
            z = codecs.unpack_depth(surface.format, raw).reshape(-1)
            held["depth"] = Stored(z.tobytes(), numbers(z[:1]))
        if surface.format.has_stencil:
            s = codecs.unpack_stencil(surface.format, raw).reshape(-1)
            held["stencil"] = Stored(s.tobytes(), numbers(s[:1]))
        return held

    def _texel(self, surface: Surface) -> Any:
        samples = max(1, surface.resource.desc.samples)
        layer = surface.first_layer * samples + min(self._sample, samples - 1)
        box = Box(self.history.x, self.history.y, layer, 1, 1, 1)
        transfer = self._pipe.transfer_map(surface.resource, surface.level, MapFlags.READ, box)
        data = np.ascontiguousarray(transfer.data[0]).copy()
        self._pipe.transfer_unmap(transfer)
        return data


def _label(surface: Surface) -> str:
    resource = surface.resource
    text = resource.desc.label or f"resource {id(resource) & 0xFFFFF:x}"
    return f"{text} ({surface.format.name})"


def _in_words(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    if name == "draw_vbo":
        info = args[0]
        instances = f", {info.instance_count} instances" if info.instance_count != 1 else ""
        return f"{info.mode.name.lower()}, {info.count} vertices{instances}"
    if name == "clear":
        flags, color, depth, stencil = args[:4]
        parts = []
        if flags & ClearFlags.COLOR:
            parts.append("colour (" + ", ".join(f"{c:.6g}" for c in color) + ")")
        if flags & ClearFlags.DEPTH:
            parts.append(f"depth {depth:g}")
        if flags & ClearFlags.STENCIL:
            parts.append(f"stencil {stencil}")
        return ", ".join(parts)
    return ""
