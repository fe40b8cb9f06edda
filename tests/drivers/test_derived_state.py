"""What drivers derive from state and keep is what they would derive now.

A walk from state to state (`state_walk`) leaves the same behind whether everything is derived anew
at each draw or not. Faults that are planted, such as a key without one of its fields, are seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from gallette.drivers.common.binding import BindingContext
from gallette.drivers.common.bound import PARAMETERS, StageBindings
from gallette.drivers.common.context import HostContext
from gallette.drivers.common.draw import snapshot_cache
from gallette.drivers.common.draw.draw_states import DrawStates
from gallette.drivers.common.draw.programs import Joiner
from gallette.drivers.common.draw.queue import DrawQueue
from gallette.drivers.common.draw.snapshot_cache import SnapshotCache
from gallette.drivers.common.memory.resource import HostResource
from tests.drivers.state_walk import PARTS, Scene


class Shorter(dict[Any, Any]):
    """A memory whose keys lack a field."""

    def __init__(self, field: int) -> None:
        super().__init__()
        self.field = field

    def _short(self, key: tuple[Any, ...]) -> tuple[Any, ...]:
        return key[: self.field] + key[self.field + 1 :]

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(self._short(key), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(self._short(key), value)


Plant = Callable[[pytest.MonkeyPatch, DrawStates], None]


def _without(owner: Any, name: str, field: int) -> Plant:
    """A field of the tuple that something answers is always the same."""

    def plant(patch: pytest.MonkeyPatch, _: DrawStates) -> None:
        original = getattr(owner, name)

        def method(*snapshot: Any) -> tuple[Any, ...] | None:
            key = original(*snapshot)
            if key is None:
                return None
            assert field < len(key)
            return (*key[:field], None, *key[field + 1 :])

        patch.setattr(owner, name, method)

    return plant


def _in_no_key(parameter: str) -> Plant:
    """Keys do not tell values of a parameter apart."""

    def plant(patch: pytest.MonkeyPatch, _: DrawStates) -> None:
        rows = snapshot_cache._PARAMETERS
        patch.setattr(snapshot_cache, "_PARAMETERS", [row for row in rows if row[0] != parameter])
        if PARAMETERS[parameter].window:
            number = SnapshotCache._number_of

            def same(self: SnapshotCache, name: str, value: Any) -> int:
                return -1 if name == parameter else number(self, name, value)

            patch.setattr(SnapshotCache, "_number_of", same)

    return plant


def _nobody_hears(owner: Any, name: str) -> Plant:
    return lambda patch, _: patch.setattr(owner, name, lambda *snapshot: None)


def _always(owner: Any, name: str) -> Plant:
    return lambda patch, _: patch.setattr(owner, name, lambda *snapshot: True)


def _selections(field: int) -> Plant:
    return lambda patch, states: patch.setattr(states, "_selections", Shorter(field))


def _found(field: int) -> Plant:
    """The queue's memory is another in each walk."""

    def plant(patch: pytest.MonkeyPatch, states: DrawStates) -> None:
        original = SnapshotCache.__init__

        def init(self: SnapshotCache, *snapshot: Any) -> None:
            original(self, *snapshot)
            self._found = Shorter(field)

        patch.setattr(SnapshotCache, "__init__", init)

    return plant


def _no_revision(name: str, field: str) -> Plant:
    """A change of bindings that does not count."""

    def plant(patch: pytest.MonkeyPatch, _: DrawStates) -> None:
        original = getattr(BindingContext, name)

        def method(self: BindingContext, *snapshot: Any, **named: Any) -> None:
            records = [self.bound, *self.bound.stages.values()]
            before = [getattr(r, field, 0) for r in records]
            original(self, *snapshot, **named)
            for record, number in zip(records, before, strict=True):
                if hasattr(record, field):
                    setattr(record, field, number)

        patch.setattr(BindingContext, name, method)

    return plant


def _one_hook_less(name: str, hook: str) -> Plant:
    """A method of the pipe forgets to tell."""

    def plant(patch: pytest.MonkeyPatch, _: DrawStates) -> None:
        original, told = getattr(BindingContext, name), getattr(HostContext, hook)
        silent = [False]

        def method(*snapshot: Any, **named: Any) -> None:
            silent[0] = True
            try:
                original(*snapshot, **named)
            finally:
                silent[0] = False

        def hears(*snapshot: Any) -> None:
            if not silent[0]:
                told(*snapshot)

        patch.setattr(BindingContext, name, method)
        patch.setattr(HostContext, hook, hears)

    return plant


def _without_kind(kind: str) -> Plant:
    def plant(patch: pytest.MonkeyPatch, _: DrawStates) -> None:
        original = snapshot_cache._key_of_stage

        def key_of_stage(bindings: StageBindings) -> tuple[Any, ...]:
            some = replace(bindings)
            setattr(some, kind, [])
            return original(some)

        patch.setattr(snapshot_cache, "_key_of_stage", key_of_stage)

    return plant


_PARAMETERS = {
    "framebuffer": "targets",
    "viewports": "shapes",
    "scissors": "shapes",
    "blend_color": "fixed",
    "stencil_ref": "fixed",
    "sample_mask": "targets",
    "min_samples": "targets",
    "sample_locations": "targets",
    "clip_planes": "shapes",
    "polygon_stipple": "shapes",
}
_STATES = ("fixed", "shapes", "fixed", "vertices", "stages", "stages", "fixed", "fixed",
           "textures_and_blocks")  # fmt: skip
_KEYS = ("fixed", "textures_and_blocks", "vertices", "shapes", "textures_and_blocks")
_VARIANTS = ("stages", "stages", "stages", "shapes", "fixed", "shapes", "fixed",
             "textures_and_blocks", "targets")  # fmt: skip
# But for those that something else says as well before every draw.
_BLOCKS = "textures_and_blocks"
_HOOKS = {
    "_set": ("fixed", "rebound", "changing"),
    "_bind": ("fixed", "rebound", "changing"),
    "bind_sampler_states": (_BLOCKS, "stage_rebound", "changing"),
    "bind_shader_state": ("stages", "rebound"),
    "set_clip_planes": ("shapes", "changing"),
    "set_sampler_views": (_BLOCKS, "stage_rebound", "changing"),
    "set_constant_buffer": (_BLOCKS, "stage_rebound", "changing"),
    "set_shader_images": ("stages", "stage_rebound"),
    "set_shader_buffers": ("stages", "stage_rebound"),
    "set_vertex_buffers": ("vertices", "changing"),
}

PLANTED: dict[str, tuple[str, Plant]] = {
    "a write nobody hears of": (_BLOCKS, _nobody_hears(HostResource, "touch")),
    "states that keep all": ("fixed", _nobody_hears(DrawStates, "forget")),
    "a joiner that keeps all": (_BLOCKS, _nobody_hears(Joiner, "forget")),
    "a joiner that keeps constants": (_BLOCKS, _nobody_hears(Joiner, "rebind")),
    "a state that keeps its buffers": ("vertices", _always(DrawStates, "_is_current")),
    "a queue that keeps what is given": ("fixed", _nobody_hears(DrawQueue, "rebinding")),
    **{f"a draw's key without field {n}": (part, _found(n)) for n, part in enumerate(_KEYS)},
    **{
        f"a key without field {n}": (part, _without(SnapshotCache, "_state_key", n))
        for n, part in enumerate(_STATES)
    },
    **{f"{name} is in no key": (part, _in_no_key(name)) for name, part in _PARAMETERS.items()},
    **{
        f"a block without its {name}": (_BLOCKS, _without(snapshot_cache, "_key_of_block", n))
        for n, name in enumerate(("buffer", "offset", "size"))
    },
    "a stage without its samplers": (_BLOCKS, _without_kind("samplers")),
    "a stage without its views": (_BLOCKS, _without_kind("views")),
    **{
        f"variants without field {n}": (part, _selections(n))
        for n, part in enumerate(_VARIANTS)
        if n != 7  # GL_CLAMP, for which texture units clamp all the same
    },
    "parameters do not count": ("fixed", _no_revision("_set", "revision")),
    "samplers do not count": (_BLOCKS, _no_revision("bind_sampler_states", "revision")),
    "planes do not count": ("shapes", _no_revision("set_clip_planes", "revision")),
    "blocks do not count": (_BLOCKS, _no_revision("set_constant_buffer", "revision")),
    "views do not count": (_BLOCKS, _no_revision("set_sampler_views", "revision")),
    **{
        f"{name} without `{hook}`": (part, _one_hook_less(name, hook))
        for name, (part, *hooks) in _HOOKS.items()
        for hook in hooks
    },
}


@pytest.fixture(scope="module", params=["numpipe", "jit"])
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    """A context of each driver."""
    made = Scene(request.param)
    yield made
    made.gl.release()


def test_a_fault_is_planted_for_every_parameter() -> None:
    assert [*_PARAMETERS] == [*PARAMETERS]


@pytest.mark.parametrize("part", PARTS)
def test_draws_leave_what_they_leave_when_nothing_is_kept(part: str, scene: Scene) -> None:
    assert scene.walk(part) == scene.walk(part, forgets=True)
    assert len(scene.gl.pipe.counters.apart) <= 1  # forgotten memory is not kept for its counters


@pytest.fixture(scope="module")
def sound() -> Iterator[tuple[Scene, dict[str, list[bytes]]]]:
    """A context, and what the parts of the walk leave behind without a fault."""
    made = Scene()
    yield made, {part: made.walk(part, forgets=True) for part in PARTS}
    made.gl.release()


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_seen(
    fault: str, sound: tuple[Scene, dict[str, list[bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    part, plant = PLANTED[fault]
    scene, expected = sound
    scene.gl.pipe.forget_derived()
    with monkeypatch.context() as patch:
        plant(patch, scene.gl.pipe._states)
        scene.gl.pipe.forget_derived()
        found = scene.walk(part, until=expected[part])
    scene.gl.pipe.forget_derived()
    assert found != expected[part]
