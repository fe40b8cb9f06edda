"""Registers and order on both machines, judged by oracles that know nothing of the back ends.

`python -m fuzz machine-code --count 1000` asks the same of a thousand programs.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Stage
from gallette.drivers.machines.backend import allocate, schedule
from tests.machines.programs import MACHINES, Checked, checked_program, judged

FEW = {"simd": {"registers": 32, "width": 16}, "tiler": {"registers": 16}}


def noticed(machine: str, seeds: range, **options: Any) -> bool:
    """Whether three programs have problems: those after them are not asked for."""
    found = 0
    for seed in seeds:
        found += bool(checked_program(machine, seed, **options).verdict.problems)
        if found == 3:
            return True
    return False


def problems(results: list[Checked]) -> list[tuple[int, str]]:
    return [(found.seed, found.verdict.problems[0]) for found in results if found.verdict.problems]


@pytest.mark.parametrize("machine", MACHINES)
def test_machine_code_does_what_selection_meant(machine: str) -> None:
    results = [checked_program(machine, seed) for seed in range(3000, 3010)]
    assert problems(results) == []
    effects = sum(found.verdict.effects for found in results)
    values = sum(found.verdict.values for found in results)
    undefined = sum(found.verdict.undefined for found in results)
    assert effects > 100 and values > effects
    assert undefined < values / 2  # channels that are elsewhere, mostly


@pytest.mark.parametrize("machine", MACHINES)
def test_with_few_registers_too(machine: str) -> None:
    results = [checked_program(machine, seed, **FEW[machine]) for seed in range(3000, 3008)]
    assert problems(results) == []
    assert sum(found.spills > 0 for found in results) >= 3


def test_the_other_remedy_keeps_waiting_values() -> None:
    results = [checked_program("simd", s, live_ranges="loop_extended") for s in range(3000, 3008)]
    assert problems(results) == []


def test_naive_live_ranges_are_noticed() -> None:
    assert noticed("simd", range(3000, 3030), live_ranges="naive")


def test_texels_without_a_wait_are_detected() -> None:
    assert noticed("tiler", range(3000, 3012), barriers="reads")


def _without_an_edge(rng: random.Random, real: Callable[..., Any]) -> Callable[..., Any]:
    """The dependence graph, but for one edge that is chosen by lot."""

    def found(*arguments: Any) -> Any:
        nodes = real(*arguments)
        edges = [(a, b) for b, node in enumerate(nodes) for a in node.before]
        if edges:
            first, second = rng.choice(edges)
            del nodes[second].before[first]
            nodes[first].after.remove(second)
        return nodes

    return found


def _without_a_range(rng: random.Random, real: Callable[..., Any]) -> Callable[..., Any]:
    """The interference graph, but nobody minds one value that is chosen by lot."""

    def found(*arguments: Any, **more: Any) -> Any:
        graph = real(*arguments, **more)
        some = [nr for nr, others in graph.items() if others.bit_count() > 2]
        if some:
            forgotten = rng.choice(some)
            graph[forgotten] = 0
            graph = {nr: others & ~(1 << forgotten) for nr, others in graph.items()}
        return graph

    return found


@pytest.mark.parametrize("machine", MACHINES)
def test_a_dependency_that_is_forgotten_is_noticed(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty = _without_an_edge(random.Random(1), schedule.dependencies)
    monkeypatch.setattr(schedule, "dependencies", faulty)
    assert noticed(machine, range(3000, 3015))


@pytest.mark.parametrize("machine", MACHINES)
def test_a_value_that_is_forgotten_is_noticed(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty = _without_a_range(random.Random(1), allocate.interference)
    monkeypatch.setattr(allocate, "interference", faulty)
    assert noticed(machine, range(3000, 3015))


@pytest.mark.parametrize("machine", MACHINES)
def test_helper_status_is_queried_after_demotion(machine: str) -> None:
    """The answer depends on the flag of live pixels, though no operand names it."""
    b = Builder.shader_main(Stage.FRAGMENT, "demoted")
    zero = b.imm_int(0)
    bary = b.intrinsic("load_barycentric_pixel", [], interp="smooth")
    given = b.intrinsic("load_interpolated_input", [bary, zero], num_components=1, location=32)
    slow = b.fsin(b.fsin(b.fsin(given)))
    low = b.flt(slow, b.imm_float(0.25))
    b.intrinsic("demote_if", [low])
    helper = b.intrinsic("is_helper_invocation", [], num_components=1)
    color = b.vec([b.b2f32(helper), given, slow, b.b2f32(low)])
    b.intrinsic("store_output", [color, zero], location=4, write_mask=15)
    assert judged(machine, b.shader, 1).verdict.problems == []
