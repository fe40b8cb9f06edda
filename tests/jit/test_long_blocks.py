"""Basic blocks of machine code have a bounded length: LLVM takes the square of it in time."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest

from gallette.drivers.common.work import ShaderBudgetError, Work
from gallette.drivers.jit.llvm import engine, text
from gallette.drivers.jit.llvm.codegen import optimised


def _sum(terms: int) -> str:
    """A function that adds numbers of memory, with a variable in the middle."""
    b = text.Builder()
    (at,) = b.begin("main", [("ptr", "at")])
    total = b.load(at, "i32", 16)
    for term in range(terms):
        with b.in_entry():
            constant = b.load(at, "i32", 16) & 1
            kept = b.var("i32", 16, constant)
        total = total + kept.get() + term
    b.store(at, total)
    b.end()
    return b.text()


def _longest(module: str) -> int:
    lengths = [0]
    for line in module.splitlines():
        lengths.append(0 if re.match(r"\w+:", line) else lengths[-1] + 1)
    return max(lengths)


def _result(module: str) -> list[int]:
    values = np.arange(32, dtype=np.int32)
    aligned = values[-values.ctypes.data % 64 // 4 :][:16]
    code = engine.compile_module(module, ("main",), None)
    code.function("main", ctypes.c_void_p)(aligned.ctypes.data)
    return aligned.tolist()


def test_long_blocks_are_cut_and_mean_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _sum(100)
    assert not text.is_cut(whole)
    monkeypatch.setattr(text, "_LONGEST_BLOCK", 80)
    monkeypatch.setattr(text, "_CUT_BLOCK", 30)
    module = _sum(100)
    assert text.is_cut(module)
    entry, _, rest = module.partition("cut0:")
    assert entry.count("alloca") == 100  # all of them, or they would take stack again and again
    assert _longest(rest) <= 32
    assert _longest(str(optimised(module, quick=True))) <= 32
    assert _result(module) == _result(whole)


def test_short_blocks_stay_whole() -> None:
    assert not text.is_cut(_sum(text._LONGEST_BLOCK // 10))


def test_long_blocks_are_optimised_only_in_small_modules() -> None:
    short, long = "define\ncut0:\n", "x" * engine._LONGEST_CUT
    assert engine.is_worth_optimising(short)
    assert engine.is_worth_optimising(long)
    assert not engine.is_worth_optimising(short + long)


def test_waiting_for_a_compilation_is_not_charged_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    work = Work(1000, time_limit=10.0)
    work.spend(1)
    now[0] += 30.0
    work.exclude(25.0)
    work.spend(1)
    now[0] += 6.0
    with pytest.raises(ShaderBudgetError, match="longer than its time limit of 10 s"):
        work.spend(1)


def test_many_variables_in_many_blocks_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    module = _sum(100)
    assert not text.has_too_many_variables(module)
    assert str(optimised(module, quick=True)).count("alloca") == 0
    monkeypatch.setattr(text, "_MOST_PLACES", 150)
    assert text.has_too_many_variables(module)
    assert not engine.is_worth_optimising(module)
    assert str(optimised(module, quick=True)).count("alloca") == 100
    assert _result(module) == _result(_sum(100))
