"""Records every call of the pipe that can change the pixel, with its contents before and after.

A scene, shader_test or capture runs in this process on the driver, with a tap on the pipe's drawing
methods. Draws are also shown to a `PixelWitness`, fragment by fragment. `places` finds the surfaces
that a call may write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.capture.targets import run_target
from gallette.compiler.errors import GalletteError
from gallette.history.places import Places, in_words, is_attachment
from gallette.history.records import Fragment, History, PixelEvent, Stored, numbers
from gallette.history.witness import PixelWitness
from gallette.pipe import codecs
from gallette.pipe.enums import MapFlags
from gallette.pipe.state import Box, Surface
from gallette.pipe.taps import DRAWING, PipeCall, tap

Examine = Callable[[Fragment, Any, Any, Any, int], None]
"""Looks at a fragment that is about to be shaded: the fragment, the draw, its fragment program, the
lanes and which of them it is.
"""

# Calls that may write the pixel: recorded if it changed.
_PERHAPS = ("launch_grid", "generate_mipmap")


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
    """`pixel_history` with hooks: `examine` is called with each fragment before it is shaded,
    `created` with each new context.
    """
    history = History(target, driver, x, y)
    recorder = _Recorder(history, sample, examine)

    def watch(gl: Any) -> None:
        if created is not None:
            created(gl)
        recorder.watch(gl)

    history.outcome = run_target(target, driver, watch)
    drawn = [e for e in history.events if any(map(is_attachment, e.attachments))]
    if not drawn:
        raise GalletteError(f"no framebuffer of {target} has a pixel {x},{y}")
    last = drawn[-1].attachments
    history.resource = last.get("colour 0") or next(v for k, v in last.items() if is_attachment(k))
    return history


class _Recorder:
    """Taps the pipe of one context."""

    def __init__(self, history: History, sample: int, examine: Examine | None) -> None:
        self.history = history
        self._sample = sample
        self._pipe: Any = None
        self._gl: Any = None
        self._places = Places(history.x, history.y)
        self._surfaces: dict[str, Surface] = {}  # of the call that runs
        # Transfers for writing: what they may write, and what it held.
        self._mapped: dict[int, tuple[dict[str, Surface], dict[str, Stored]]] = {}
        self._witness = PixelWitness(history.x, history.y, lambda: self._read(self._surfaces))
        self._examine = examine
        self._witness.examine = self._shaded

    def watch(self, gl: Any) -> None:
        """Start recording."""
        pipe, self._gl = gl.pipe, gl
        watch = getattr(pipe, "watch", None)
        if watch is None:
            raise GalletteError(
                f"driver {self.history.driver!r} does not show its fragments; use numpipe"
            )
        self._pipe = pipe
        watch(self._witness)
        tap(pipe, (*DRAWING, "generate_mipmap", "transfer_unmap"), self._recorded)
        tap(pipe, ["transfer_map"], self._mapping)

    def _mapping(self, call: PipeCall) -> None:
        """Read the pixel before memory is mapped, because mapped memory may change at once."""
        call.run()
        if call.arguments["flags"] & MapFlags.WRITE:
            transfer = call.result
            surfaces = self._places.of(self._pipe, "transfer_unmap", {"transfer": transfer})
            if surfaces:
                self._mapped[id(transfer)] = surfaces, self._read(surfaces)

    def _recorded(self, call: PipeCall) -> None:
        name, given = call.name, call.arguments
        if name == "transfer_unmap":
            surfaces, before = self._mapped.pop(id(given["transfer"]), ({}, {}))
        else:
            surfaces = self._places.of(self._pipe, name, given)
            before = self._read(surfaces)
        if not surfaces:
            call.run()
            return
        self._surfaces = surfaces
        self._witness.begin()
        text = in_words(self._places, name, given)
        labels = {k: self._places.label(s) for k, s in surfaces.items()}
        call.run()
        if name == "draw_vbo":
            self._pipe.execute_deferred()
        number, draw = self._gl.call_number, self._gl.draw_number
        if name not in DRAWING:
            draw = 0
        event = PixelEvent(number, name, text, labels, before, self._read(surfaces), draw=draw)
        event.fragments, event.missing = self._witness.fragments, self._witness.missing
        if name in ("draw_vbo", "launch_grid"):
            event.sampled = self._places.sampled(self._pipe)
            event.images = self._stored_images(event, surfaces)
        if event.changed or (name not in _PERHAPS and event.after):
            self.history.events.append(event)

    def _stored_images(self, event: PixelEvent, surfaces: dict[str, Surface]) -> tuple[str, ...]:
        """Resources whose texel a shader changed; unchanged images are left out of the event."""
        images = [k for k in surfaces if not is_attachment(k)]
        same = [k for k in images if event.before.get(k) == event.after.get(k)]
        for held in (event.before, event.after, event.attachments):
            for name in same:
                held.pop(name, None)
        for fragment in event.fragments:
            for name in same:
                fragment.before.pop(name, None)
                fragment.after.pop(name, None)
        stored = [surfaces[k].resource for k in images if k not in same]
        return tuple(dict.fromkeys(self._places.resource_label(r) for r in stored))

    def _shaded(self, seen: Fragment, draw: Any, run: Any, lanes: Any, lane: int) -> None:
        """Record a fragment that is about to be shaded."""
        facts = run.engine.state.facts
        if facts is not None and facts.has_side_effects:
            from gallette.debugger.invocation import fragment_session

            session = fragment_session(self._gl, seen, draw, run, lanes, lane)
            seen.stores = session.stores if session is not None else []
        if self._examine is not None:
            self._examine(seen, draw, run, lanes, lane)

    # -- reading ---------------------------------------------------------------------------------

    def _read(self, surfaces: dict[str, Surface]) -> dict[str, Stored]:
        """The contents of the pixel in some surfaces."""
        held: dict[str, Stored] = {}
        for name, surface in surfaces.items():
            if name == "depth":
                held |= self._depth(surface)
            else:
                data = self._texel(surface)
                rgba = codecs.unpack(surface.format, data)[0, 0]
                held[name] = Stored(data.tobytes(), numbers(rgba))
        return held

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
