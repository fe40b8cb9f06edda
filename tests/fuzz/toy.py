"""A fuzzer whose inputs are lists of numbers, some of which do harm."""

from __future__ import annotations

import os
import time

from fuzz.harness import Finding, Fuzzer
from gallette.compiler.reduce import without_runs


class Toy(Fuzzer[list[int]]):
    """Case N is the numbers up to N; 7, 11 and 13 together, 40, 50 and 60 do harm."""

    limit = 20.0
    steps = (without_runs(list, list),)

    def make(self, number: int) -> list[int]:
        return list(range(number + 1)) if number < 30 else [number]

    def attempt(self, given: list[int]) -> str:
        self.say(f"looking at {given}")
        if {7, 11, 13} <= set(given):
            raise Finding("unlucky", "these")
        if 40 in given:
            raise ZeroDivisionError
        if 50 in given:
            os._exit(3)
        if 60 in given:
            time.sleep(60)
        return "even" if len(given) % 2 == 0 else "odd"

    @staticmethod
    def key(given: list[int]) -> tuple[int, ...]:
        return tuple(given)

    @staticmethod
    def text(given: list[int]) -> str:
        return " ".join(map(str, given))

    @staticmethod
    def read(saved: bytes) -> list[int]:
        return list(map(int, saved.split()))


FUZZER = Toy
