"""The positions of fields in instruction words, and their encoding and decoding.

A layout is a text: `nr:7` is the field `nr` in the next seven bits, `bits:32@96` stands at bit 96,
`stride=0` is a field that has this value and takes no bits, and `src0(short)@39` is an operand in
the form `short`, from bit 39 on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass

from .fields import Field

_ITEM = re.compile(r"(\w+)(?:=(\d+)|\((\w+)\)|:(\d+))(?:@(\d+))?")


@lazy_dataclass(frozen=True)
class Form:
    """The possible operands at some place: a layout for each register file.

    `files` are the register files that the file's bits can encode, in the order of their codes.
    """

    files: str
    layouts: Mapping[str, str]  # by the files that share a layout
    style: str = "operand"  # how it is written


@lazy_dataclass(frozen=True)
class Format:
    """How some instructions are encoded, and what follows their name in assembly.

    Of the files in `once`, at most one source may use one.
    """

    layout: str
    text: tuple[str, ...] = ()
    once: str = ""


@lazy_dataclass(frozen=True)
class Token:
    """A field and its place in a word; one with a fixed value takes no bits."""

    name: str
    field: Field
    bits: int
    at: int | None = None  # behind the field before
    fixed: int | None = None

    def code(self, value: Any) -> int:
        """The bits of a value; raises ValueError if there are none."""
        code = self.field.code(value, self.bits)
        if not 0 <= code < 1 << self.bits:
            raise ValueError(f"{code} does not fit into {self.bits} bits of an instruction")
        return code


@lazy_dataclass(frozen=True)
class Slot:
    """An operand of a format."""

    name: str
    form_name: str
    form: Form
    by_file: Mapping[str, tuple[Token, ...]]
    at: int | None

    @property
    def file_bits(self) -> int:
        return (len(self.form.files) - 1).bit_length()


def items_of(
    layout: str, fields: Mapping[str, Field], forms: Mapping[str, Form]
) -> Iterator[Token | Slot]:
    """The fields and operands of a layout, in order."""
    for name, fixed, form, bits, at in _ITEM.findall(layout):
        place = int(at) if at else None
        if not form:
            known = int(fixed) if fixed else None
            yield Token(name, fields[name], int(bits or 0), place, known)
            continue
        by_file: dict[str, tuple[Token, ...]] = {}
        for files, text in forms[form].layouts.items():
            tokens = tuple(t for t in items_of(text, fields, {}) if isinstance(t, Token))
            by_file |= dict.fromkeys(files, tokens)
        yield Slot(name, form, forms[form], by_file, place)


class Word:
    """An instruction word that is written or read, from its lowest bit on."""

    def __init__(self, bits: int = 0) -> None:
        self.bits = bits
        self.at = 0

    def take(self, count: int, at: int | None = None) -> int:
        """Read the next `count` bits, or those from `at` on."""
        code = self.bits >> (self.at if at is None else at) & (1 << count) - 1
        self.at += count if at is None else 0
        return code

    def put(self, code: int, count: int, at: int | None = None) -> None:
        """Write `count` more bits, or those from `at` on."""
        self.bits |= code << (self.at if at is None else at)
        self.at += count if at is None else 0

    def take_value(self, token: Token) -> Any:
        """Read the value of a field."""
        if token.fixed is not None:
            return token.fixed
        return token.field.value(self.take(token.bits, token.at), token.bits)
