"""Fields of instruction words: how a value is encoded as bits, and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Field:
    """A number, in decimal. Other fields override parts of this."""

    pattern = r"\d+"
    default: Any = 0
    meaning = "a number"  # for the reference page

    def code(self, value: Any, bits: int) -> int:
        """The bits that encode a value."""
        return int(value)

    def value(self, code: int, bits: int) -> Any:
        """The value that bits encode."""
        return code

    def text(self, value: Any) -> str:
        """A value in assembly."""
        return str(value)

    def read(self, text: str) -> Any:
        """The value of a text that matches `pattern`; raises ValueError if there is none."""
        return int(text)


class Text(Field):
    """A text that is not encoded in words."""

    default = ""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def read(self, text: str) -> str:
        return text


class Flag(Field):
    """A boolean. A template contains the text for true."""

    default = False
    meaning = "yes or no"

    def value(self, code: int, bits: int) -> bool:
        return bool(code)


class Bits(Field):
    """A bit pattern, in hexadecimal."""

    pattern = r"-?(?:0x[0-9a-f]+|[1-9]\d*|0)"
    meaning = "bits"

    def text(self, value: Any) -> str:
        return f"{value:#x}"

    def read(self, text: str) -> int:
        return int(text, 0) & 0xFFFFFFFF if text.startswith("-") else int(text, 0)


class Signed(Bits):
    """A 32-bit pattern that is the sign extension of fewer bits."""

    meaning = "bits, extended by their sign"

    def code(self, value: Any, bits: int) -> int:
        signed = int(value) - (1 << 32) if int(value) >> 31 else int(value)
        if not -1 << bits - 1 <= signed < 1 << bits - 1:
            raise ValueError(f"{value:#x} is no immediate of {bits} bits")
        return signed & (1 << bits) - 1

    def value(self, code: int, bits: int) -> int:
        return (code - (1 << bits) if code >> bits - 1 else code) & 0xFFFFFFFF


class Scaled(Field):
    """A multiple of a constant."""

    def __init__(self, unit: int) -> None:
        self.unit = unit
        self.meaning = f"a multiple of {unit}"

    def code(self, value: Any, bits: int) -> int:
        return int(value) // self.unit

    def value(self, code: int, bits: int) -> int:
        return code * self.unit


class FromOne(Field):
    """A number that is never 0; the encoding is one less."""

    meaning = "a number, less one"

    def code(self, value: Any, bits: int) -> int:
        return int(value) - 1

    def value(self, code: int, bits: int) -> int:
        return code + 1


class Choice(Field):
    """One of several values, encoded as its index or by an explicit code."""

    def __init__(
        self,
        values: Sequence[Any] | Mapping[Any, int],
        what: str,
        pattern: str,
        names: Mapping[Any, str] | None = None,
    ) -> None:
        """`what` completes "there is no ..."; `names` are texts that differ from the values."""
        given = values if isinstance(values, Mapping) else {v: k for k, v in enumerate(values)}
        self.codes: dict[Any, int] = dict(given)
        self.values = {code: value for value, code in self.codes.items()}
        self.default = next(iter(self.codes))
        self.what, self.pattern = what, pattern
        self.names = {value: (names or {}).get(value, str(value)) for value in self.codes}
        self.by_name = {name: value for value, name in self.names.items()}
        self.meaning = ", ".join(f"{self.names[v] or 'none'} {c}" for v, c in self.codes.items())

    def code(self, value: Any, bits: int) -> int:
        if value not in self.codes:
            raise ValueError(f"{value!r} is no {self.what}")
        return self.codes[value]

    def value(self, code: int, bits: int) -> Any:
        if code not in self.values:
            raise ValueError(f"no {self.what} has the code {code}")
        return self.values[code]

    def text(self, value: Any) -> str:
        return self.names.get(value) or str(value)

    def read(self, text: str) -> Any:
        if text not in self.by_name:
            raise ValueError(f"there is no {self.what} {text!r}")
        return self.by_name[text]


class Letters(Field):
    """A register or component by letters: `r3.y` is number 13, `.yxwz` selects four."""

    meaning = "four times the first number, and x, y, z or w"

    def __init__(self, form: str) -> None:
        """`form` is "register", "component" or "swizzle"."""
        self.form = form
        one = "[xyzw]"
        self.pattern = {"register": rf"\d+\.{one}", "component": one, "swizzle": one * 4}[form]
        if form == "swizzle":
            self.default, self.meaning = (), "whether there is one, and two bits for each channel"
        if form == "component":
            self.meaning = "x 0, y 1, z 2, w 3"

    def code(self, value: Any, bits: int) -> int:
        if self.form != "swizzle":
            return int(value)
        return int(sum(c << 2 * k + 1 for k, c in enumerate(value)) | bool(value))

    def value(self, code: int, bits: int) -> Any:
        if self.form != "swizzle":
            return code
        return tuple(code >> 2 * k + 1 & 3 for k in range(4)) if code & 1 else ()

    def text(self, value: Any) -> str:
        if self.form == "swizzle":
            return "".join("xyzw"[c] for c in value)
        return f"{value // 4}." * (self.form == "register") + "xyzw"[value % 4]

    def read(self, text: str) -> Any:
        if self.form == "swizzle":
            return tuple("xyzw".index(c) for c in text)
        number, _, letter = text.rpartition(".")
        return 4 * int(number or 0) + "xyzw".index(letter)
