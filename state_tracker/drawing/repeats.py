"""Draws like one before: what made the pipe ready for them is not done again.

A program that draws many small things goes through the same few vertex arrays, textures and
switches again and again, with other uniforms in between. Where the driver lets draws wait, the
first of its kind leaves a *token* (`pipe.repeatable`), which stands for all that was bound and for
the call; those that follow hand over the token, their uniforms and where their vertices begin
(`pipe.repeat`), and no more.

Nothing is bound for a repeated draw, so what is dirty stays dirty until a draw takes the long way.
That may be trusted as long as nothing but `REPEATED` has changed, which the key of a draw tells
apart: `validate` forgets all tokens when it sees any other bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir import Stage
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.settings import SETTINGS, Settings
from gallette.state_tracker.vertices.vertex_arrays import VertexArray

if TYPE_CHECKING:
    from gallette.pipe.series import Series
    from gallette.pipe.state import DrawInfo
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable
    from gallette.state_tracker.vertices.vertex_input import Layout

__all__ = ["REPEATED", "Repeats"]

REPEATED = (
    Dirty.CONSTANTS
    | Dirty.BLEND_SWITCHED
    | Dirty.DEPTH_STENCIL_SWITCHED
    | Dirty.RASTERIZER_SWITCHED
    | Dirty.TEXTURES_BOUND
    | Dirty.CURRENT_ATTRIBS
    | Dirty.TRANSFORM_FEEDBACK
    | Dirty.UNIFORM_BUFFERS
    | Dirty.VIEWPORT
    | Dirty.SCISSOR
    | Dirty.PROGRAM_USED
    | Dirty.FRAMEBUFFER_BOUND
    | SETTINGS
)
"""What may have changed since a draw that is repeated: handed over with it, or told by its key."""

_MOST = 1024
_BOTH = {Stage.VERTEX, Stage.FRAGMENT}


@dataclass(frozen=True, slots=True)
class _Repeat:
    """What a draw was made of, so that it can be told that it is still the same."""

    layout: Layout
    layouts: Any  # those of its vertex array then: another object when that was changed
    token: Any  # the driver's


class Repeats:
    """The draws of a context that may come again."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._known: dict[Any, _Repeat] = {}
        self._last_key: Any = None  # of the draw made last, which programs make again
        self._last: _Repeat | None = None
        self.settings = Settings(ctx)
        self._generation = 0  # how often everything was forgotten
        # Only drivers whose draws wait have these; others take each draw as it comes.
        pipe: Any = ctx.pipe
        self._token: Any = getattr(pipe, "repeatable", None)
        self._repeat: Any = getattr(pipe, "repeat", None)
        self._repeat_all: Any = getattr(pipe, "repeat_all", None)
        # Elsewhere a draw depends on more than is told apart here.
        self.possible = self._token is not None and not (ctx.is_compat or ctx.lowers)

    def clear(self) -> None:
        """Something else has changed."""
        if self._known:
            self._known.clear()
            self._last_key = self._last = None
            self._generation += 1

    def drawn(self, call: tuple[Any, ...], first: int = 0) -> bool:
        """Make a draw like one before, from that vertex on; false if there was none, and nothing is
        done."""
        ctx = self._ctx
        executable = ctx.programs.executable
        if executable is None or first < 0:
            return False
        token = self._find(call, executable)
        if token is None or not self._repeat(token, executable.uniforms.data, first):
            return False
        ctx.replays.repeated(executable)
        return True

    def token(self, call: tuple[Any, ...]) -> Any:
        """The driver's token for a draw, if there was one like it before."""
        executable = self._ctx.programs.executable
        if executable is None or not self.possible or self._ctx.dirty & ~REPEATED:
            return None
        return self._find(call, executable)

    def situation(self, executables: Iterable[Executable]) -> tuple[Any, ...]:
        """All that their tokens depend on but the call: as long as it is the same, tokens are."""
        ctx = self._ctx
        keys: list[Any] = []
        for each in executables:
            keys.append(self._key((), each))
            keys += [numbers[element] for _, numbers, element, _, _, _ in each.samplers]
        return (
            *keys,
            self._generation,
            VertexArray.revision,
            ctx.group.epoch,
            ctx.arrays.names.changes,
            ctx.textures.names.changes,
            ctx.buffers.names.changes,
        )

    def drawn_together(self, series: Series) -> int:
        """Make draws that have tokens, otherwise as the driver knows, and what happens between
        them: how much of that could be done, from the first on."""
        done: int = self._repeat_all(series)
        return done

    def _find(self, call: tuple[Any, ...], executable: Executable) -> Any:
        ctx = self._ctx
        key = self._key(call, executable)
        found = self._last if key == self._last_key else self._known.get(key)
        if found is None:
            return None
        self._last_key, self._last = key, found
        layout, group = found.layout, ctx.group
        if (
            ctx.arrays.current.layouts is not found.layouts
            or layout.epoch != group.epoch
            or group.mapped
            or len(group.contexts) > 1
            or ctx.feedback.current.active
            or (executable.has_builtins and ctx.dirty & Dirty.FRAMEBUFFER_BOUND)
        ):
            return None
        return found.token

    def remember(self, call: tuple[Any, ...], info: DrawInfo) -> None:
        """A draw has been made the long way: it may come again."""
        ctx = self._ctx
        executable = ctx.programs.executable
        if executable is None or ctx.blends_advanced or executable.fill is not None:
            return
        if executable.linked.info.has_handles:
            return
        stages = ctx.programs.stages
        if stages.keys() != _BOTH or any(each is not executable for each in stages.values()):
            return
        layouts = ctx.arrays.current.layouts
        layout = layouts.get(executable.inputs)
        if layout is None or layout.clients or layout.current:
            return
        token = self._token(info)
        if token is not None:
            if len(self._known) >= _MOST:
                self.clear()
            key = self._last_key = self._key(call, executable)
            self._last = self._known[key] = _Repeat(layout, layouts, token)

    def _key(self, call: tuple[Any, ...], executable: Executable) -> tuple[Any, ...]:
        """All that tells apart draws which are repeated."""
        ctx, raster = self._ctx, self._ctx.raster
        # What sets one viewport of several, or its scissor, is not among `REPEATED`.
        key: tuple[Any, ...] = (
            call,
            ctx.switches,
            ctx.framebuffers.draw,
            ctx.arrays.current,
            executable,
            raster.viewports[0],
            raster.scissors[0],
            self.settings.numbers,
        )
        if executable.block_bindings:
            points = ctx.buffers.uniform
            for binding in executable.block_bindings:
                point = points[binding]
                key += (point.buffer, point.offset, point.size)
        if executable.samplers:
            key += self._sampled(executable)
        return key

    def _sampled(self, executable: Executable) -> tuple[Any, ...]:
        """The textures and samplers that are read: with those in `drawn`, a draw's key."""
        units = self._ctx.textures.units
        bound: list[Any] = []
        for _, numbers, element, target, _, _ in executable.samplers:
            unit = units[numbers[element]]
            bound += (unit.bound[target], unit.sampler)
        return tuple(bound)
