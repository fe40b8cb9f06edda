"""Taps on a context: who sees a call, in which order, and what is not shown."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gallette.pipe.derived_methods import calls
from gallette.pipe.interface import Context
from gallette.pipe.taps import DRAWING, PipeCall, is_tapped, tap, untap


class Pipe:
    """A context that writes down its calls."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    def draw_vbo(self, info: Any) -> None:
        self.said.append(("draw", info))

    def transfer_map(self, resource: Any, level: int, flags: Any, box: Any) -> Any:
        self.said.append(("map", resource))
        return SimpleNamespace(level=level)

    def flush(self) -> None:
        self.said.append("flush")
        self.draw_vbo("from inside")


def seeing(pipe: Pipe, name: str) -> Callable[[PipeCall], None]:
    def look(call: PipeCall) -> None:
        pipe.said.append((name, call.name))
        call.run()
        pipe.said.append((name, "after"))

    return look


def test_taps_see_arguments_by_name_and_the_answer() -> None:
    pipe, seen = Pipe(), list[Any]()

    def look(call: PipeCall) -> None:
        seen.append(dict(call.arguments))
        call.arguments["level"] = 3
        call.run()
        seen.append(call.result.level)

    tap(pipe, ["transfer_map"], look)
    assert pipe.transfer_map("r", 1, box="b", flags=2).level == 3
    assert seen == [{"resource": "r", "level": 1, "flags": 2, "box": "b"}, 3]


def test_taps_are_called_in_order_and_once_each() -> None:
    pipe = Pipe()
    first, second = seeing(pipe, "first"), seeing(pipe, "second")
    for each in (first, second, first):
        tap(pipe, ["draw_vbo"], each)
    pipe.draw_vbo(1)
    assert pipe.said == [
        ("first", "draw_vbo"), ("second", "draw_vbo"), ("draw", 1),
        ("second", "after"), ("first", "after"),
    ]  # fmt: skip
    assert is_tapped(pipe, "draw_vbo") and not is_tapped(pipe, "flush")
    assert not is_tapped(Pipe(), "draw_vbo")


def test_a_tap_is_taken_off() -> None:
    pipe = Pipe()
    first, second = seeing(pipe, "first"), seeing(pipe, "second")
    tap(pipe, ["draw_vbo", "flush"], first)
    tap(pipe, ["draw_vbo"], second)
    untap(pipe, ["draw_vbo"], first)
    pipe.draw_vbo(1)
    assert pipe.said == [("second", "draw_vbo"), ("draw", 1), ("second", "after")]
    untap(pipe, ["draw_vbo"], second)
    assert is_tapped(pipe, "flush") and not is_tapped(pipe, "draw_vbo")
    pipe.draw_vbo(2)
    assert pipe.said[3:] == [("draw", 2)]
    tap(pipe, ["draw_vbo"], first)
    pipe.draw_vbo(3)
    assert pipe.said[4:] == [("first", "draw_vbo"), ("draw", 3), ("first", "after")]


def test_calls_of_taps_and_of_the_driver_are_not_shown() -> None:
    pipe = Pipe()

    def reads(call: PipeCall) -> None:
        pipe.transfer_map("read", 0, 0, None)
        call.run()

    tap(pipe, ["flush"], reads)
    tap(pipe, ["draw_vbo", "transfer_map"], seeing(pipe, "never"))
    pipe.flush()
    assert pipe.said == [("map", "read"), "flush", ("draw", "from inside")]


def test_a_call_that_fails_is_followed_by_others_that_are_seen() -> None:
    pipe, names = Pipe(), list[str]()

    def look(call: PipeCall) -> None:
        names.append(call.name)
        if len(names) == 1:
            raise ValueError(call.name)
        call.run()

    tap(pipe, ["draw_vbo"], look)
    with pytest.raises(ValueError, match="draw_vbo"):
        pipe.draw_vbo(1)
    pipe.draw_vbo(2)
    assert pipe.said == [("draw", 2)]
    assert names == ["draw_vbo"] * 2


def test_drawing_calls_are_methods_of_the_interface() -> None:
    assert set(DRAWING) <= set(calls(Context))
