"""OpenGL programs as lists of Python lines: how they are executed, saved, and made small."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from fuzz.harness import Fuzzer
from gallette.compiler.reduce import Reduction, reduce_text, without_runs

LINE = "\x1e"
"""parts the lines of a program while rules write it: a line may have ends of lines in it"""
_END = "\n#:\n"
_HEAD = re.compile(r"# (?P<profile>.*), (?P<samples>\d+) samples")


@dataclass(frozen=True)
class Program:
    """Lines, and the context that they are for."""

    lines: list[str]
    profile: str = "core"
    samples: int = 0

    def __str__(self) -> str:
        return _END.join([f"# {self.profile}, {self.samples} samples", *self.lines]) + "\n"

    @classmethod
    def read(cls, saved: bytes) -> Program:
        head, *lines = saved.decode().rstrip("\n").split(_END)
        found = _HEAD.fullmatch(head)
        assert found, head
        return cls(lines, found["profile"], int(found["samples"]))


def lines_of(texts: Iterable[str]) -> list[str]:
    """The lines that rules have written."""
    return [line for line in LINE.join(texts).split(LINE) if line]


_compiled = lru_cache(20_000)(compile)


def perform(line: str, names: dict[str, Any], failed: Callable[[Exception], None]) -> None:
    """Execute a line; `failed` hears of an error.

    Unless that is a name the line itself misses: the reducer took out the line that made it.
    """
    try:
        exec(_compiled(line, "<line>", "exec"), names)
    except Exception as error:
        if isinstance(error, NameError):
            if traceback.extract_tb(error.__traceback__)[-1].filename == "<line>":
                return
        if os.environ.get("FUZZ_RAISE"):
            raise
        failed(error)


def _shaders(state: Reduction[Program]) -> bool:
    """Shorten the shaders that are left, once nothing else can go."""
    helped = False
    for number, line in enumerate(state.value.lines):
        if '"""' not in line or state.spent:
            continue
        before = state.value

        def fails(text: str, number: int = number, before: Program = before) -> bool:
            lines = [*before.lines[:number], text, *before.lines[number + 1 :]]
            return state.accept(replace(before, lines=lines)) or text == before.lines[number]

        helped |= reduce_text(line, fails, limit=400).value != line
    return helped


def _fewer_lines(state: Reduction[Program]) -> bool:
    """A line stays whole: it is defined as it stands."""
    of = state.value
    return without_runs(lambda program: program.lines, lambda lines: replace(of, lines=lines))(
        state
    )


class ProgramFuzzer(Fuzzer[Program]):
    """A fuzzer whose inputs are programs."""

    steps = (_fewer_lines, _shaders)
    text = staticmethod(str)
    read = staticmethod(Program.read)

    @staticmethod
    def key(given: Program) -> tuple[str, ...]:
        return tuple(given.lines)
