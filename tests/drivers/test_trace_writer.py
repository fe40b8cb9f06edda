"""Names in a trace: each thing has its own, also where memory is used again for another."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from gallette.drivers.trace.writer import TraceWriter


class Thing:
    """Something that can be watched as it goes."""


class Bound:
    """Something that cannot."""

    __slots__ = ()


def test_a_thing_keeps_its_name_while_it_lives() -> None:
    writer = TraceWriter(lambda record: None)
    first, second = Thing(), Thing()
    assert [writer.name_of("thing", t) for t in (first, second, first)] == [
        "thing#1",
        "thing#2",
        "thing#1",
    ]
    assert writer.name_of("other", first) == "thing#1"  # the name it got first
    assert writer.name_of("other", Thing()) == "other#1"
    assert writer.plain([first, {"a": second}]) == ["thing#1", {"a": "thing#2"}]


@pytest.mark.parametrize("kind", [Thing, Bound])
def test_a_reused_address_gets_a_new_name(kind: type[Any]) -> None:
    writer = TraceWriter(lambda record: None)
    names, places = [], set()
    for _ in range(50):
        thing = kind()
        places.add(id(thing))
        names.append(writer.name_of("thing", thing))
        if kind is Bound:  # nobody else can tell
            writer.forget(thing)
        del thing
        gc.collect(0)
    assert names == [f"thing#{n}" for n in range(1, 51)]
    assert len(places) < 50


def test_a_new_name_replaces_the_old_one() -> None:
    writer = TraceWriter(lambda record: None)
    thing = Thing()
    assert writer.name_new("thing", thing) == "thing#1"
    assert writer.name_new("thing", thing) == "thing#2"
    assert writer.name_of("thing", thing) == "thing#2"
    writer.forget(thing)
    assert writer.name_of("thing", thing) == "thing#3"


def test_calls_are_counted_in_order() -> None:
    records: list[dict[str, Any]] = []
    writer = TraceWriter(records.append)
    for call in ("draw_vbo", "flush"):
        writer.record("context#1", call, args={})
    assert records == [
        {"n": 0, "on": "context#1", "call": "draw_vbo", "args": {}},
        {"n": 1, "on": "context#1", "call": "flush", "args": {}},
    ]


@pytest.mark.parametrize("size", [0, 1, 16, 17, 100])
def test_few_bytes_are_written_out(size: int) -> None:
    data = bytes(range(size))
    shown = TraceWriter(lambda record: None).plain(data)
    assert shown["bytes"] == size and len(shown["sha1"]) == 16
    assert shown.get("hex") == (data.hex() if size <= 16 else None)
