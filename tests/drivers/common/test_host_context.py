"""When draws that wait are drawn, joined or forgotten: `HostContext` and its queue.

The queue is replaced by one that writes down what it is told, so that each rule is seen by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.context import HostContext
from gallette.pipe.enums import Primitive, QueryType, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.loader import create_screen
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import ComputeInfo, DrawInfo
from gallette.pipe.taps import PipeCall, tap

DRAW = DrawInfo(Primitive.TRIANGLES, 0, 3)


class Queue:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.joining = False
        self.failure: Exception | None = None
        self.full_at = -1

    def joins(self, info: DrawInfo) -> bool:
        return self.joining

    def submit(self, info: DrawInfo) -> None:
        self.told.append("submit")

    def flush(self) -> None:
        self.told.append("flush")
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure

    def rebinding(self) -> None:
        self.told.append("rebinding")

    def forget(self) -> None:
        self.told.append("forget")

    def prepared(self, info: DrawInfo) -> str:
        return "token"

    def extend(self, series: Any, first: int) -> tuple[int, bool]:
        """Up to an entry that takes a flush, and no entry of `None`."""
        self.told.append(f"extend {first}")
        if self.full_at >= first:
            done, self.full_at = self.full_at - first, -1
            return done, True
        return sum(each is not None for each in series[first:]), False


@pytest.fixture
def queued() -> Iterator[tuple[Any, Queue]]:
    screen = create_screen("numpipe")
    context: Any = screen.context_create()
    real, context._queue = context._queue, Queue()
    yield context, context._queue
    context._queue = real
    context.destroy()
    screen.destroy()


def told(queue: Queue, do: Callable[[], Any]) -> list[str]:
    queue.told.clear()
    do()
    return list(queue.told)


def test_a_draw_joins_the_batch_or_flushes_it_first(queued: tuple[Any, Queue]) -> None:
    context, queue = queued
    assert told(queue, lambda: context.draw_vbo(DRAW)) == ["flush", "submit"]
    queue.joining = True
    assert told(queue, lambda: context.draw_vbo(DRAW)) == ["submit"]


def test_a_draw_that_a_condition_forbids_is_not_submitted(queued: tuple[Any, Queue]) -> None:
    context, queue = queued
    query = context.create_query(QueryType.OCCLUSION_COUNTER)  # nothing passed
    assert told(queue, lambda: context.render_condition(query, False, True)) == ["flush"]
    queue.joining = True
    assert told(queue, lambda: context.draw_vbo(DRAW)) == []
    assert context.draw_series(["a"]) == 0
    context.render_condition(query, True, True)
    assert told(queue, lambda: context.draw_vbo(DRAW)) == ["submit"]
    context.render_condition(None, False, True)
    assert context.draw_series(["a"]) == 1


@pytest.mark.parametrize("failure", [GalletteError("late"), MemoryError("late")])
def test_a_deferred_failure_is_raised_by_the_next_draw(
    failure: Exception, queued: tuple[Any, Queue]
) -> None:
    context, queue = queued
    queue.failure = failure
    context.execute_deferred()
    assert context.draw_series(["a"]) == 0
    queue.joining = True
    with pytest.raises(type(failure), match="late"):
        context.draw_vbo(DRAW)
    assert "submit" not in queue.told
    assert told(queue, lambda: context.draw_vbo(DRAW)) == ["submit"]
    queue.failure = failure
    with pytest.raises(type(failure), match="late"):
        context.launch_grid(ComputeInfo((1, 1, 1), (1, 1, 1)))


def test_a_fault_of_the_driver_is_not_put_off(queued: tuple[Any, Queue]) -> None:
    context, queue = queued
    queue.failure = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        context.execute_deferred()


def test_a_new_observer_is_called_for_later_draws(queued: tuple[Any, Queue]) -> None:
    context, queue = queued
    epoch, witness = context.bound.epoch, object()
    assert told(queue, lambda: context.watch(witness)) == ["flush"]
    assert context._states.witness is witness and context.bound.epoch == epoch + 1
    context.watch(None)


@pytest.mark.parametrize(
    ("stage", "index", "in_buffer", "waits"),
    [
        (Stage.VERTEX, 0, False, True),
        (Stage.FRAGMENT, 0, False, True),
        (Stage.VERTEX, 1, False, False),
        (Stage.FRAGMENT, 0, True, False),
        (Stage.GEOMETRY, 0, False, False),
        (Stage.COMPUTE, 0, False, False),
    ],
)
def test_pending_draws_keep_a_copy_of_block_0_only(
    stage: Stage, index: int, in_buffer: bool, waits: bool, queued: tuple[Any, Queue]
) -> None:
    context, queue = queued
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], 64)
    buffer = context.screen.resource_create(desc)
    what = (None, buffer, 0, 16) if in_buffer else (b"0123",)
    for _ in range(2):
        heard = told(queue, lambda: context.set_constant_buffer(stage, index, *what))
        assert heard == ([] if waits else ["rebinding"])
    context.set_constant_buffer(stage, index)
    buffer.unref()


def test_derived_state_is_invalidated_by_changes(
    queued: tuple[Any, Queue], monkeypatch: pytest.MonkeyPatch
) -> None:
    context, queue = queued
    forgotten: list[Any] = []
    states = SimpleNamespace(forget=lambda: forgotten.append("all"))
    monkeypatch.setattr(context, "_states", states)
    monkeypatch.setattr(context, "_joiner", SimpleNamespace(forget=forgotten.append))
    assert told(queue, lambda: context.set_sample_mask(1)) == ["rebinding"]
    context.set_clip_planes([(1.0, 0.0, 0.0, 0.0)])
    assert forgotten == ["all", *Stage]


def test_a_destroyed_context_executes_pending_draws_and_forgets_them() -> None:
    screen = create_screen("numpipe")
    context: Any = screen.context_create()
    context._queue = queue = Queue()
    context.destroy()
    assert queue.told[:2] == ["flush", "forget"]
    screen.destroy()


def test_a_driver_that_overrides_draw_vbo_gets_each_draw(queued: tuple[Any, Queue]) -> None:
    context, _ = queued
    assert context.prepared_draw(DRAW) == "token"

    class Seeing(HostContext):
        def draw_vbo(self, info: DrawInfo) -> None:
            raise NotImplementedError

    assert Seeing.prepared_draw(context.__class__.__new__(Seeing), DRAW) is None
    assert context.draw_series(["a"]) == 1
    tap(context, ["draw_vbo"], PipeCall.run)
    assert context.draw_series(["a"]) == 0


def test_a_series_is_drawn_up_to_what_is_not_known(queued: tuple[Any, Queue]) -> None:
    """The batch is flushed where that is what it takes."""
    context, queue = queued
    assert context.draw_series(["a", "b", None, None]) == 2
    queue.full_at = 1
    assert told(queue, lambda: context.draw_series(["a", "b", "c"])) == [
        "extend 0", "flush", "extend 1",
    ]  # fmt: skip
    queue.full_at, queue.failure = 1, GalletteError("late")
    assert context.draw_series(["a", "b", "c"]) == 1
    with pytest.raises(GalletteError, match="late"):
        context.flush()
