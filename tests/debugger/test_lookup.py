"""Stepping into a texture lookup: addresses, level of detail and filtering with their operands."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from gallette.debugger import Session, debug_fragment
from gallette.debugger.lookup import trace_lookup
from gallette.debugger.terminal import Stepper


@pytest.fixture(scope="module")
def sampled() -> Session:
    return debug_fragment("anisotropic", 40, 40)[0]


def test_a_filter_is_stepped_through_to_the_lookups_result(sampled: Session) -> None:
    (step,) = sampled.lookups
    inner = trace_lookup(sampled, step)
    assert inner is not None
    sections = {inner.code[s.line].section for s in inner.steps}
    assert {"linear fixed REPEAT", "level of detail", "mix bytes", "unpacked"} <= sections
    names = inner.watch(len(inner.steps) - 1)
    assert names["s"].values[0] is not None
    results = [
        inner.value(n)
        for n, s in enumerate(inner.steps)
        if inner.code[s.line].section == "unpacked" and "fdiv" in inner.code[s.line].text
    ]
    assert [value[0] for value in results if value is not None] == sampled.value(step)


def test_only_lookups_are_stepped_into(sampled: Session) -> None:
    assert all(trace_lookup(sampled, i) is None for i in range(len(sampled.steps))
               if i not in sampled.lookups)  # fmt: skip


def test_commands_go_into_a_lookup_and_back(sampled: Session) -> None:
    (step,) = sampled.lookups
    out = Console(width=120, record=True)
    stepper = Stepper(sampled, out)
    stepper.run(["i; u", f"n {step}; i; n; u"])
    text = out.export_text()
    assert "this is not a texture lookup that can be stepped into" in text
    assert "this is the shader itself" in text
    assert "inside 32x4" in text
    assert (stepper.session, stepper.at) == (sampled, step)


def test_lookups_are_no_part_of_the_plain_record(sampled: Session) -> None:
    assert json.loads(json.dumps(sampled.plain()))["lookups"] == {}
    assert sampled.lookups
