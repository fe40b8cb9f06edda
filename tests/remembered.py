"""At any draw of any test: is what a driver remembers what it would derive now?

Drivers keep a lot from draw to draw: states by keys, programs joined with resources, copies of what
is bound, what follows from a texture's contents. All of it is there to save time, so that making it
anew must change nothing. `Watch` does that: whenever something is taken from such a memory, it is
derived once more without, and both are compared. So a forgotten field of a key, a binding that does
not make anything stale, a write that nobody is told of show wherever a test draws twice, whether or
not they would show in its picture.

It is in force in every test (see `conftest`); `LOOKS` bounds what that costs.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import numpy as np

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.binding import _SNAPSHOT_FIELDS
from gallette.drivers.common.bound import Bound, StageBindings
from gallette.drivers.common.draw import execution, finding, programs, queue
from gallette.drivers.common.draw import merging as gathering
from gallette.drivers.common.draw.known_snapshots import KnownSnapshots
from gallette.drivers.common.draw.programs import Joiner
from gallette.drivers.common.draw.resources import MERGED_STAGES
from gallette.drivers.common.draw.snapshot import Snapshot
from gallette.drivers.common.draw.state import fixed_state
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Primitive
from tests.sameness import difference

__all__ = ["LOOKS", "Watch"]

LOOKS = 16
"""How often a place (a context's states, what follows from a texture, ...) is looked at until only
every second time, every fourth, and so on."""

LARGE = 1 << 16
"""Bytes of a resource from which on nothing is derived again."""

_COUNTERS = ("revision", "epoch")
_ALWAYS = frozenset({"shaders", "stages", *_COUNTERS})  # compared in other ways
_OF_THEN = frozenset({"blend", "rasterizer", "depth_stencil_alpha", "elements", "vertex_buffers"})
"""What a draw that is made once more takes from the first, and what its maker looks at."""


_MAKERS: dict[tuple[Any, str], tuple[str, ...]] = {
    (finding, "fixed_state"): ("fixed",),
    (finding.DrawStates, "_state"): ("of",),
    (programs, "_select"): ("_find",),
    (programs, "_resources"): ("resources", "join"),
    (Snapshot, "__init__"): ("current", "submit"),
    (Snapshot, "_find_out"): ("can_be_pending",),
}
"""What makes something that is remembered: nothing was, by these methods, when it is called."""


class Watch:
    """Looks at what drivers remember, from `install` on."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.looks = LOOKS
        self._looks_at_jit = False
        self._busy = False
        self._made: list[str] = []  # all that was not remembered, in order
        self._fresh: frozenset[str] = frozenset()  # of that, during the call that is looked at
        self._looks: Counter[Any] = Counter()
        self._kept: list[Any] = []  # so that no number of theirs is used for another

    def begin(self) -> None:
        """A test begins: nothing was found, all may be looked at."""
        if not self._looks_at_jit and "gallette.drivers.jit.direct" in sys.modules:
            from tests.remembered_jit import MAKERS, JitLooks

            self._looks_at_jit = True
            self._put(JitLooks(self).places, MAKERS)
        self.looks = LOOKS
        self.wrong.clear()
        self._made.clear()
        self._looks.clear()
        self._kept.clear()

    def install(self, patch: Callable[[Any, str, Any], None] = setattr) -> None:
        """Put the looking in place."""
        places = (
            (finding.DrawStates, "_find", self._state),
            (finding.DrawStates, "of", self._drawn),
            (programs.Joiner, "resources", self._resources),
            (programs.Joiner, "join", self._joined),
            (KnownSnapshots, "current", self._snapshot),
            (queue.DrawQueue, "submit", self._submitted),
            (queue.DrawQueue, "repeat", self._repeated),
            (Snapshot, "can_be_pending", self._can_be_pending),
            (Snapshot, "merge_key", self._merge_keys),
            (HostResource, "derive", self._derived),
            (execution, "merge", self._families),
        )
        self._put(places, _MAKERS, patch)

    def _put(
        self, places: Any, makers: Any, patch: Callable[[Any, str, Any], None] = setattr
    ) -> None:
        for owner, name, look in places:
            patch(owner, name, self._looking(owner, name, look))
        for (owner, name), makes in makers.items():
            patch(owner, name, self._logged(owner, name, makes))

    def _looking(self, owner: Any, name: str, look: Callable[..., None]) -> Callable[..., Any]:
        original = owner.__dict__[name]

        @functools.wraps(original)
        def method(*snapshot: Any, **named: Any) -> Any:
            if self._busy:
                return original(*snapshot, **named)
            known = len(self._made)
            found = original(*snapshot, **named)
            self._fresh = frozenset(self._made[known:])
            if name not in self._fresh:
                self._busy = True
                try:
                    look(found, *snapshot, **named)
                finally:
                    self._busy = False
            return found

        return method

    def _logged(self, owner: Any, name: str, makes: tuple[str, ...]) -> Callable[..., Any]:
        """What is made now was not remembered."""
        original = owner.__dict__[name]

        @functools.wraps(original)
        def method(*snapshot: Any, **named: Any) -> Any:
            if not self._busy:
                self._made += makes
            return original(*snapshot, **named)

        return method

    def may_look(self, *about: Any) -> bool:
        """Has this place been looked at often enough?"""
        key = tuple(map(id, about))
        count = self._looks[key]
        if not count:
            self._kept.append(about)
        self._looks[key] = count + 1
        return not count % (1 << (count // self.looks).bit_length())

    def same(self, what: str, remembered: Any, anew: Any) -> None:
        found = difference(remembered, anew)
        if found is not None:
            self.wrong.append(f"{what}: {found}")

    # -- states ----------------------------------------------------------------------------------

    def _state(self, found: Any, states: finding.DrawStates, mode: Primitive) -> None:
        bound = states.bound
        if found is None or not self.may_look(states.scratch) or not _alive(bound):
            return
        values = programs.inlined(bound)
        points = finding._draws_points(finding._emitted_mode(bound, mode), bound.rasterizer.state)
        kind = Primitive.POINTS if points else Primitive.TRIANGLES
        with _uncounted(found.selection):
            selection = programs.select(bound, kind, {}, values)
        assert selection is not None
        self.same("variants of a draw", found.selection, selection)
        if "fixed" in self._fresh:
            return
        again = fixed_state(bound, found.selection, states.scratch, states.counters, states.work)
        self.same("fixed state of a draw", found, again)

    def _drawn(self, found: Any, states: finding.DrawStates, mode: Primitive) -> None:
        bound, joiner = states.bound, states.joiner
        there = all(_all_there(bindings) for bindings in bound.stages.values())
        if found is None or not there or not self.may_look(states.scratch, Joiner):
            return
        selection = found.fixed.selection
        again = {stage: joiner.program(stage, code) for stage, code in selection.stages.items()}
        fragment = finding._NO_FRAGMENTS
        if selection.fragment is not None:
            fragment = joiner.join(Stage.FRAGMENT, selection.fragment)
        self.same("state of a draw", found, states._state(found.fixed, again, fragment))
        for stage, program in (*found.programs.items(), (Stage.FRAGMENT, found.fragment.program)):
            if program is None:
                continue
            resources, remembered = _read(joiner, stage), joiner._resources.get(stage)
            self.same(f"what a {stage.value} program reads", remembered, resources)
            views_of = getattr(getattr(program, "program", None), "views_of", None)
            if views_of is not None:
                views = views_of(resources)
                self.same(f"constants of a {stage.value} program", program.views, views)

    def _resources(self, found: Any, joiner: programs.Joiner, stage: Stage) -> None:
        bindings = joiner._bound.stages[stage]
        if self.may_look(joiner._work, stage) and _all_there(bindings):
            again = _read(joiner, stage)
            self.same(f"what a {stage.value} program reads", found, again)

    def _joined(self, found: Any, joiner: programs.Joiner, stage: Stage, compiled: Any) -> None:
        bindings = joiner._bound.stages[stage]
        if not self.may_look(joiner._work, stage, Stage) or not _all_there(bindings):
            return
        resources = _read(joiner, stage)
        quads = stage is Stage.FRAGMENT and compiled.facts.needs_quads(resources)
        self.same(f"quads of a {stage.value} program", found.quads, quads)
        remembered = joiner._resources.get(stage)
        if remembered is not None:
            self.same(f"what a {stage.value} program reads", remembered, resources)

    # -- draws that wait ---------------------------------------------------------------------------

    def _snapshot(self, found: Snapshot, memory: KnownSnapshots) -> None:
        if self.may_look(memory):
            self._compare("what a draw was given", found.states.bound, memory._states.bound)

    def _submitted(self, _: None, draws: queue.DrawQueue, info: Any) -> None:
        snapshot = draws._snapshot
        if snapshot is not None and self.may_look(draws):
            self._compare("what a draw was given", snapshot.states.bound, draws._states.bound)

    def _repeated(
        self, done: bool, draws: queue.DrawQueue, draw: Any, data: bytes, start: int
    ) -> None:
        snapshot, bound = draw.snapshot.states.bound, draws._states.bound
        if not done or not self.may_look(draws, queue):
            return
        for each in fields(Bound):
            if each.name not in _ALWAYS | _OF_THEN | {*_SNAPSHOT_FIELDS}:
                name = f"what a draw was given that is repeated: {each.name}"
                self.same(name, getattr(snapshot, each.name), getattr(bound, each.name))
        for stage in MERGED_STAGES:
            for name in ("images", "buffers"):
                then, now = (getattr(b.stages[stage], name) for b in (snapshot, bound))
                self.same(f"what a draw was given that is repeated: {name}", then, now)

    def _compare(self, what: str, snapshot: Bound, bound: Bound, but: frozenset[str] = frozenset(),
                 blocks: bool = True, reads: bool = True) -> None:  # fmt: skip
        """Two records of all that is bound, but for constant blocks 0."""
        for each in fields(Bound):
            if each.name not in _ALWAYS | but:
                then, now = getattr(snapshot, each.name), getattr(bound, each.name)
                if then is not now and then != now:
                    self.wrong.append(f"{what}: {each.name}")
        for stage in Stage:
            if stage is Stage.COMPUTE:  # which is bound beside draws
                continue
            if snapshot.shaders.get(stage) is not bound.shaders.get(stage):
                self.wrong.append(f"{what}: the {stage.value} shader")
        for stage in MERGED_STAGES:
            then, now = snapshot.stages[stage], bound.stages[stage]
            names = ["images", "buffers"]
            if reads or stage is not Stage.FRAGMENT:
                names += "samplers", "views"
            for name in names:
                if _trimmed(getattr(then, name)) != _trimmed(getattr(now, name)):
                    self.wrong.append(f"{what}: {name} of the {stage.value} stage")
            if blocks:
                found = difference(then.constants[1:], now.constants[1:])
                if found is not None:
                    self.wrong.append(f"{what}: constants of the {stage.value} stage{found}")

    def _can_be_pending(self, found: bool, snapshot: Snapshot, mode: Primitive) -> None:
        if self.may_look(snapshot.states.scratch, Snapshot):
            self.same("may a draw wait", found, snapshot._find_out(mode))

    def _merge_keys(self, found: Any, snapshot: Snapshot, mode: Primitive) -> None:
        if snapshot._merge_keys.get(mode) is found and self.may_look(
            snapshot.states.scratch, KnownSnapshots
        ):
            kept, snapshot._merge_keys = snapshot._merge_keys, {}
            seen, snapshot._sees_start = snapshot._sees_start, None
            try:
                again = Snapshot.__dict__["merge_key"].__wrapped__(snapshot, mode)
                if seen is not None:
                    self.same("does a draw see its start", seen, snapshot.sees_start(mode))
            finally:
                snapshot._merge_keys, snapshot._sees_start = kept, seen
            self.same("relatives of a draw", found, again)

    def _families(self, found: list[gathering.MergedDraws], entries: Any) -> None:
        """Draws that become one differ in nothing that is not looked at draw by draw."""
        if sorted(n for merged in found for n in merged.numbers) != list(range(len(entries))):
            self.wrong.append("draws that wait are not all in a family")
        for merged in found:
            first, call, _ = merged.entries[0]
            bound = first.states.bound
            state = first.states.of(call.mode)
            draws = {id(snapshot): (snapshot, info) for snapshot, info, _ in merged.entries[1:]}
            for snapshot, info in list(draws.values())[:LOOKS]:
                if merged.end_to_end:
                    self.same("mode of draws end to end", info.mode, call.mode)
                else:
                    start = call.start if info.index_size == 0 else info.start
                    number = info.draw_id if snapshot.sees_start(info.mode) else call.draw_id
                    told = replace(info, start=start, draw_id=number)
                    self.same("call of draws in a family", told, call)
                if snapshot is first:
                    continue
                apart = frozenset({"vertex_buffers", "scissors", "viewports"})
                self._compare("what a family was given", snapshot.states.bound, bound, apart,
                              blocks=False, reads=False)  # fmt: skip
                other = snapshot.states.of(call.mode)
                if state is not None and other is not None:
                    self.same("fixed state of a family", _shared(state.fixed),
                               _shared(other.fixed))  # fmt: skip

    # -- contents ----------------------------------------------------------------------------------

    def _derived(self, found: Any, resource: HostResource, key: Any, make: Any) -> None:
        size = sum(level.size for level in resource.storage)
        if size < LARGE and not resource.live and self.may_look(resource, HostResource):
            with np.errstate(all="ignore"):
                self.same(f"what was derived from contents, {key[0]}", found, make())


def _shared(fixed: Any) -> Any:
    """What members of a family share of a fixed state."""
    engine = fixed.engine
    return fixed.selection, type(engine), engine.state, replace(
        fixed.raster, target=None, screen=None
    )  # fmt: skip


def _trimmed(slots: list[Any]) -> list[Any]:
    """Places with something in them: a shorter list may stand for a longer one."""
    kept = list(slots)
    while kept and kept[-1] is None:
        kept.pop()
    return kept


def _alive(bound: Bound) -> bool:
    surfaces = (*bound.framebuffer.cbufs, bound.framebuffer.zsbuf)
    return all(surface is None or surface.resource.refcount > 0 for surface in surfaces)


def _all_there(bindings: StageBindings) -> bool:
    return all(resource.refcount > 0 for resource in _named(bindings))


def _named(bindings: StageBindings) -> Iterator[Any]:
    """The resources a stage can reach."""
    for view in (*bindings.views, *bindings.images):
        if view is not None:
            yield view.resource
    for block in (*bindings.buffers, *bindings.constants):
        if block is not None and block.buffer is not None:
            yield block.buffer


def _read(joiner: programs.Joiner, stage: Stage) -> Any:
    """What a stage can reach."""
    bound, bindings = joiner._bound, joiner._bound.stages[stage]
    with _no_units(bindings):
        resources = programs._resources(bound, bindings, joiner._work)
    if stage is not Stage.FRAGMENT:  # which alone tests alpha
        before = joiner._resources.get(stage, resources)
        resources = replace(resources, alpha_ref=before.alpha_ref)
    return resources


@contextmanager
def _no_units(bindings: StageBindings) -> Iterator[None]:
    """Texture and image units are made anew."""
    kept = {id(r): (r, r.units, dict(r.derived)) for r in _named(bindings)}
    for resource, _, _ in kept.values():
        resource.units = {}
    try:
        yield
    finally:
        for resource, units, derived in kept.values():
            resource.units, resource.derived = units, derived


@contextmanager
def _uncounted(selection: programs.Selection) -> Iterator[None]:
    """Nobody asked shaders for their variants."""
    shaders = [shader for shader, _ in selection.origin]
    kept = [(s, s.hits, s.misses, list(s.variants)) for s in shaders]
    try:
        yield
    finally:
        for shader, hits, misses, order in kept:
            shader.hits, shader.misses = hits, misses
            now = shader.variants
            shader.variants = {k: now[k] for k in (*order, *(now.keys() - set(order))) if k in now}
