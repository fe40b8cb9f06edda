"""Bit fields of instruction words, written and read from the lowest bit up."""

from __future__ import annotations

__all__ = ["BitReader", "BitWriter"]


class BitWriter:
    """Writes fields, from the lowest bit up."""

    def __init__(self) -> None:
        self.word = 0
        self.at = 0

    def put(self, value: int, bits: int) -> None:
        if not 0 <= value < 1 << bits:
            raise ValueError(f"{value} does not fit into {bits} bits of an instruction")
        self.word |= value << self.at
        self.at += bits


class BitReader:
    """Reads fields, from the lowest bit up."""

    def __init__(self, word: int) -> None:
        self.word = word
        self.at = 0

    def take(self, bits: int) -> int:
        found = self.word >> self.at & (1 << bits) - 1
        self.at += bits
        return found
