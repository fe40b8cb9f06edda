"""Descriptors of messages: each field has bits of its own, and what a message does is known."""

from __future__ import annotations

from typing import Any

import pytest

from gallette.drivers.machines.isa.messages import (
    IMAGE_OPS,
    KINDS,
    MEMORY_OPS,
    PARAMS,
    RENDER_OPS,
    SPACES,
    TEX_OPS,
    UNITS,
    URB_OPS,
    WHERE,
    describe,
    latency_of,
    only_reads,
    pack,
    sees_live_pixels,
    unpack,
)


@pytest.mark.parametrize("unit", UNITS)
def test_fields_are_adjacent(unit: str) -> None:
    at = 0
    for name, bits in UNITS[unit][1]:
        for value in {0, 1, (1 << bits) - 1}:
            desc = pack(unit, **{name: value})
            assert desc == value << at
            assert unpack(unit, desc) == {n: value * (n == name) for n, _ in UNITS[unit][1]}
            assert describe(unit, desc) == (f"{name}={value}" if value else "")
        for value in (-1, 1 << bits):
            with pytest.raises(ValueError) as caught:
                pack(unit, **{name: value})
            assert str(caught.value) == f"{unit} message: {name} is {value}, but has {bits} bits"
        at += bits
    assert at <= 32
    every = {name: (1 << bits) - 1 for name, bits in UNITS[unit][1]}
    assert pack(unit, **every) == (1 << at) - 1 and unpack(unit, (1 << at) - 1) == every
    with pytest.raises(ValueError) as caught:
        pack(unit, moon=0, sun=1)
    assert str(caught.value) == f"{unit} message has no moon, sun"


def test_tables_fit_into_their_fields() -> None:
    tables: dict[tuple[str, str], Any] = {
        ("input", "kind"): KINDS, ("input", "where"): WHERE, ("sampler", "op"): TEX_OPS,
        ("memory", "op"): MEMORY_OPS, ("memory", "space"): SPACES, ("image", "op"): IMAGE_OPS,
        ("urb", "op"): URB_OPS, ("render", "op"): RENDER_OPS,
    }  # fmt: skip
    for (unit, field), table in tables.items():
        assert len(set(table)) == len(table) <= 1 << dict(UNITS[unit][1])[field]
    assert len(PARAMS) <= dict(UNITS["sampler"][1])["params"]
    # The nearer a unit, the sooner it answers.
    near = [
        "render",
        "urb",
        "gateway",
        "input",
        "scratch",
        "constant",
        "memory",
        "image",
        "sampler",
    ]
    assert sorted(UNITS, key=latency_of) == near


def kinds_of_messages() -> list[tuple[str, str, dict[str, int]]]:
    found = [("sampler", op, {"op": k}) for k, op in enumerate(TEX_OPS)]
    found += [("input", kind, {"kind": k}) for k, kind in enumerate(KINDS)]
    found += [("memory", op, {"op": k}) for k, op in enumerate(MEMORY_OPS)]
    found += [("image", op, {"op": k}) for k, op in enumerate(IMAGE_OPS)]
    found += [("urb", op, {"op": k}) for k, op in enumerate(URB_OPS)]
    found += [("render", op, {"op": k}) for k, op in enumerate(RENDER_OPS)]
    return [*found, ("constant", "", {}), ("scratch", "", {}), ("gateway", "", {})]


def test_messages_that_can_be_removed_if_the_reply_is_unused() -> None:
    reads = {"load", "size", "samples", "read", "peer"}
    for unit, name, fields in kinds_of_messages():
        wanted = unit in ("sampler", "input", "constant") or name in reads
        assert only_reads(unit, pack(unit, **fields)) == wanted, (unit, name)


def test_messages_that_depend_on_live_pixels() -> None:
    for unit, name, fields in kinds_of_messages():
        wanted = unit in ("memory", "image", "urb")
        assert sees_live_pixels(unit, pack(unit, **fields)) == wanted
        if unit == "input":
            desc = pack(unit, **fields, component=1)
            assert sees_live_pixels(unit, desc) == (name == "helper")
