"""Shaders for `compile_bombs`, read from `bombs.txt`: one construct each, as often as asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_VALUE = re.compile(r"\$(?:([kn])|\(((?:[^()]|\([^()]*\))*)\))")
_COUNT = re.compile(r"([\w()+\-*/, ]+)\|")
_JOINED = {"*": "", ",": ", ", "_": " ", "-": "\n"}
_DEFAULTS = {"before": "", "names": "", "types": "", "functions": "", "locals": "", "value": "%x"}
_SLOT = re.compile(rf"^({'|'.join(_DEFAULTS)}): ", re.M)


@dataclass(frozen=True)
class Bomb:
    """A construct of a language; `frame` is the shader around it."""

    language: str
    name: str
    frame: str
    slots: Mapping[str, str]
    most: int
    """the largest size that is tried"""

    def make(self, size: int) -> str:
        """The text of a shader that has so many of it."""
        text = self.frame
        for slot, template in self.slots.items():
            text = text.replace(f"${slot}", _filled(template.replace("\\n", "\n"), {"n": size}))
        return text


def _filled(template: str, values: dict[str, int]) -> str:
    """The template with its repetitions written out."""
    found: list[str] = []
    while "«" in template:
        before, _, rest = template.partition("«")
        end = _closing(rest)
        found += [_valued(before, values), _repeated(rest[:end], values)]
        template = rest[end + 1 :]
    return "".join(found) + _valued(template, values)


def _closing(text: str) -> int:
    """Where the repetition ends that begins before the text."""
    depth = 1
    for place in re.finditer("[«»]", text):
        depth += 1 if place[0] == "«" else -1
        if not depth:
            return place.start()
    raise ValueError(text)


def _repeated(text: str, values: dict[str, int]) -> str:
    how = text[0] if text[0] in _JOINED else ""
    text = text.removeprefix(how)
    count = _COUNT.match(text)
    many = eval(count[1], {}, values) if count else values["n"]
    order = reversed(range(many)) if how == "-" else range(many)
    template = text[count.end() :] if count else text
    return _JOINED.get(how, "\n").join(_filled(template, values | {"k": k}) for k in order)


def _valued(text: str, values: dict[str, int]) -> str:
    def value(found: re.Match[str]) -> str:
        return str(eval(found[1] or found[2], {}, values))

    return _VALUE.sub(value, text)


def _read() -> dict[str, Bomb]:
    found: dict[str, Bomb] = {}
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for section in text.split("\n== ")[1:]:
        head, *constructs = section.rstrip("\n").split("\n-- ")
        language, _, frame = head.partition("\n")
        for construct in constructs:
            title, _, body = construct.partition("\n")
            name, most = title.split()
            parts = _SLOT.split(f"\n{body}")
            named = {
                slot: part.rstrip("\n") for slot, part in zip(parts[1::2], parts[2::2], strict=True)
            }
            slots = _DEFAULTS | {"body": parts[0].strip("\n")} | named
            found[f"{language}/{name}"] = Bomb(language, name, frame + "\n", slots, int(most))
    return found


BOMBS = _read()
