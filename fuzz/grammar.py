"""Random text from a grammar: the programs and shaders of fuzzers are written by rules.

A rule is a name and its alternatives, one of which is chosen by weight, among those whose condition
holds; a rule of which none holds writes nothing.

    draw:
      4 gl.draw_arrays({mode}, 0, {3 6 9})
      1 if w.core | gl.draw_arrays_instanced({mode}, 0, 3, {number:4})
    mode: GL.{TRIANGLES TRIANGLE_STRIP}

A line with two more blanks goes on with an alternative; so does the next one after a backslash, as
if there were no line's end between them. In braces stand

    name        a variable, another rule, or a word (a method of the writer: `number:4`)
    a b c       one of these, $NAME a group of enumerators of `fuzz/calls/arguments.txt`
    A | B       one of these texts, in which braces may stand
    30% A       the text in three of ten cases
    2..5 A      the text as many times, each with lines of its own
    =CODE       the value of an expression of Python
    !CODE       a statement of Python; it sets variables of this rule and of the rules in it
    NAME <- A   a variable whose value is a text

Variables are looked up in the rules around, then among the attributes of the writer, `w`. In code,
`write(rule, NAME=VALUE)` is what a rule writes, and `lines(texts)` are lines of their own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

from fuzz.calls.arguments import group

_HEAD = re.compile(r"(\w+):(?: (.*))?", re.DOTALL)
_ROW = re.compile(r"  (\d[\d.]*)(?: if (.*?) \|)?(?: (.*))?", re.DOTALL)
_NAME = re.compile(r"([A-Za-z_]\w*)((?::\w+)*)")
_ASSIGNED = re.compile(r"(\w+) <- (.*)", re.DOTALL)
_TIMES = re.compile(r"(\d+)\.\.(\d+) (.*)", re.DOTALL)
_CHANCE = re.compile(r"(\d+)% (.*)", re.DOTALL)
_PLACE = re.compile(r"\$(?:(?P<word>[a-z])(?P<size>\d?)\b|(?=\{))")

Scope = dict[str, Any]
Part = Callable[[Scope], str]


class Writer(Protocol):
    """What writes a text: its choices, and its methods as words."""

    r: random.Random


def choices(words: str) -> list[str]:
    """The words, groups written out."""
    found: list[str] = []
    for word in words.split():
        found += [f"GL.{name}" for name in group(word[1:])] if word.startswith("$") else [word]
    return found


class Grammar:
    """The rules of a text.

    `between` stands between the lines of an alternative. With `dollars`, braces are plain text
    unless a dollar stands before them, and $f4 is the word f with this argument.
    """

    def __init__(self, text: str, between: str = "\n", dollars: bool = False) -> None:
        self.between, self._dollars = between, dollars
        self.rules: dict[str, list[tuple[float, Any, Part]]] = {}
        name = ""
        for row in _rows(text, between):
            head = _HEAD.fullmatch(row)
            if head:
                name = head[1]
                assert name not in self.rules, f"{name} has rules already"
                self.rules[name] = []
                row = f"  1 {head[2]}" if head[2] is not None else ""
            if row:
                found = _ROW.fullmatch(row)
                assert found and name, f"no rule: {row}"
                weight, condition, alternative = found.groups()
                holds = compile(condition, f"<{name}>", "eval") if condition else None
                self.rules[name].append((float(weight), holds, self.template(alternative or "")))

    def write(self, rule: str, w: Writer, **variables: Any) -> str:
        """What a rule writes."""
        scope = {"w": w, "write": partial(self.write, w=w), "lines": self.between.join}
        return self._rule(rule, scope | variables)

    def _rule(self, rule: str, scope: Scope) -> str:
        fits = [
            (weight, part)
            for weight, holds, part in self.rules[rule]
            if holds is None or eval(holds, scope)
        ]
        if not fits:
            return ""
        if len(fits) == 1:
            return fits[0][1](dict(scope))
        chosen = scope["w"].r.choices([part for _, part in fits], [weight for weight, _ in fits])
        return str(chosen[0](dict(scope)))

    # -- templates -----------------------------------------------------------------------------

    def template(self, text: str) -> Part:
        """A text with places in it."""
        parts = [*self._parts(text)]
        if len(parts) == 1 and callable(parts[0]):
            return parts[0]
        return lambda scope: "".join(p if isinstance(p, str) else p(scope) for p in parts)

    def _parts(self, text: str) -> Iterator[str | Part]:
        at = start = 0
        while at < len(text):
            if self._dollars:
                place = _PLACE.match(text, at)
                if place and place["word"]:
                    yield text[start:at]
                    yield self._word(place["word"], [place["size"]] if place["size"] else [])
                    at = start = place.end()
                    continue
                if not place:
                    at += 1
                    continue
            elif text[at] != "{":
                at += 1
                continue
            yield text[start:at]
            at += self._dollars
            end = _closed(text, at)
            yield self._place(text[at + 1 : end])
            at = start = end + 1
        yield text[start:]

    def _place(self, text: str) -> Part:
        """What stands in braces."""
        if text.startswith("!"):
            statement = compile(text[1:], text, "exec")
            return lambda scope: exec(statement, scope) or ""  # type: ignore[func-returns-value]
        if text.startswith("="):
            code = compile(text[1:], text, "eval")
            return lambda scope: str(eval(code, scope))
        if found := _ASSIGNED.fullmatch(text):
            name, part = found[1], self.template(found[2])
            return lambda scope: scope.update({name: part(scope)}) or ""  # type: ignore[func-returns-value]
        if found := _TIMES.fullmatch(text):
            low, high, inner = int(found[1]), int(found[2]), self.template(found[3])
            return lambda scope: self.between.join(
                inner(scope) for _ in range(scope["w"].r.randint(low, high))
            )
        if found := _CHANCE.fullmatch(text):
            chance, part = int(found[1]) / 100, self.template(found[2])
            return lambda scope: part(scope) if scope["w"].r.random() < chance else ""
        if len(texts := [*_split(text)]) > 1:
            several = [self.template(each) for each in texts]
            return lambda scope: str(scope["w"].r.choice(several)(scope))
        if found := _NAME.fullmatch(text):
            return self._named(found[1], found[2].split(":")[1:])
        words = choices(text)
        assert words, f"nothing in {text!r}"
        return lambda scope: str(scope["w"].r.choice(words))

    def _named(self, name: str, arguments: list[str]) -> Part:
        """A variable, a rule or a word."""
        word = self._word(name, arguments)
        if arguments:
            return word

        def write(scope: Scope) -> str:
            if name in scope:
                return str(scope[name])
            return self._rule(name, scope) if name in self.rules else word(scope)

        return write

    @staticmethod
    def _word(name: str, arguments: list[str]) -> Part:
        given = [int(each) if each.isdigit() else each for each in arguments]

        def write(scope: Scope) -> str:
            found = getattr(scope["w"], name)
            return str(found(*given) if callable(found) else found)

        return write


def _rows(text: str, between: str) -> Iterator[str]:
    """Heads and alternatives, each with the lines that go on with it."""
    row = ""
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if row.endswith("\\"):
            row = row[:-1] + line.strip()
        elif line.startswith("    "):
            row += between + line[4:]
        else:
            if row:
                yield row
            row = line
    yield row


def _closed(text: str, at: int) -> int:
    """Where the brace is closed that stands here."""
    depth = 0
    for end in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return end
    raise AssertionError(f"a brace stays open: {text[at:]}")


def _split(text: str) -> Iterator[str]:
    """The texts between bars that stand in no braces."""
    depth = start = 0
    for at, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth == 0 and text.startswith(" | ", at):
            yield text[start:at]
            start = at + 3
    yield text[start:]
