"""The command table: `@command("draw rect ortho")` registers what runs on a line's first words.

A handler gets the session, the line, and a cursor behind its own words. Lookup takes the longest
registered head, so `probe rect rgba` wins over `probe`. A head nobody registered, or a registered
one with bad arguments, is *malformed*, which fails the test before anything is drawn; heads that
`unsupported` names are known and cannot be done here, which skips it. The first line of a handler's
docstring is its usage line, printed by `gallette piglit commands`.

Most commands only read numbers and enums and hand them to one function of OpenGL: `calls` registers
these from rows.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import Any

from gallette.compiler.errors import InputError
from gallette.piglit_subset.requirements import Skip
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Line, Words

__all__ = ["COMMANDS", "LONGEST", "Handler", "Row", "calls", "command", "lookup", "unsupported"]

Handler = Callable[[Session, Line, Words], None]
COMMANDS: dict[tuple[str, ...], Handler] = {}
_LONGEST: dict[str, int] = {}  # first word -> how many words the longest head that starts so has


def command(*heads: str) -> Callable[[Handler], Handler]:
    """Register a handler under one or several heads."""

    def register(handler: Handler) -> Handler:
        for head in heads:
            _add(head, handler)
        return handler

    return register


def _add(head: str, handler: Handler) -> None:
    words = tuple(head.split())
    COMMANDS[words] = handler
    _LONGEST[words[0]] = max(_LONGEST.get(words[0], 0), len(words))


Row = tuple[str, str, str | Callable[..., Any], str]
"""The command's words (and others that mean the same, after a comma), the rest of its usage line,
a function, its arguments.

The function is a method of OpenGL's, or one of ours, which gets the session first. Arguments are
separated by commas: a kind (`3 integer` for several) or the words to choose from (`flat|smooth`),
then what an error says was expected.
"""

LONGEST = 1 << 24
"""The most elements of a buffer."""

_ARGUMENT = re.compile(r"(?:(\d) )?([\w|]+)(?: (.+))?")
Read = Callable[[Line, Words, int, str], list[Any]]
_READ: dict[str, Read] = {
    "enum": lambda line, words, count, what: [enum(line, words.word(what)) for _ in range(count)],
    "integer": lambda line, words, count, what: words.integers(count, what),
    "number": lambda line, words, count, what: words.numbers(count, what),
    "double": lambda line, words, count, what: [words.double(what) for _ in range(count)],
    "size": lambda line, words, count, what: words.sizes(count),
    "length": lambda line, words, count, what: words.sizes(count, LONGEST),
}


def calls(rows: Iterable[Row]) -> None:
    """Register commands that call one function with what they read."""
    for heads, usage, function, arguments in rows:
        first, *others = heads.split(", ")
        usage = f"{first}{'' if usage[:1] == ':' else ' '}{usage}".strip()
        command(first, *others)(_call(usage, function, arguments))


def _choose(choices: list[str]) -> Read:
    return lambda line, words, count, what: [words.choice(what, *choices)]


def _call(usage: str, function: str | Callable[..., Any], arguments: str) -> Handler:
    readers = []
    for text in filter(None, arguments.split(", ")):
        match = _ARGUMENT.fullmatch(text)
        assert match is not None, text
        read = _choose(match[2].split("|")) if "|" in match[2] else _READ[match[2]]
        readers.append((read, int(match[1] or 1), match[3]))

    def run(session: Session, line: Line, words: Words) -> None:
        values = [v for read, count, what in readers for v in read(line, words, count, what)]
        words.end()
        if isinstance(function, str):
            getattr(session.gl, function)(*values)
        else:
            function(session, *values)

    run.__doc__ = usage
    return run


def unsupported(reason: str, *heads: str) -> None:
    """Register heads this runner knows and cannot do, with the reason to print."""

    def refuse(session: Session, line: Line, words: Words) -> None:
        raise Skip(f"unsupported command (line {line.number}): {line.text.strip()}: {reason}")

    for head in heads:
        _add(head, refuse)


def lookup(line: Line) -> tuple[Handler, Words]:
    """The handler for a line and the cursor behind its head; an error if there is none."""
    words = line.words()
    longest = _LONGEST.get(words.texts[0], 0) if words.texts else 0
    for length in range(min(longest, len(words.texts)), 0, -1):
        handler = COMMANDS.get(tuple(words.texts[:length]))
        if handler is not None:
            words.skip(length)
            return handler, words
    raise _unknown(line, words)


def _unknown(line: Line, words: Words) -> InputError:
    """Point at the first word that fits no command, and name what was probably meant."""
    heads = {head[:n] for head in COMMANDS for n in range(1, len(head) + 1)}
    fitting = 0
    while fitting < len(words.texts) and tuple(words.texts[: fitting + 1]) in heads:
        fitting += 1
    words.skip(fitting)
    length = max(1, min(max(_LONGEST.values()), len(words.texts)))
    typed = " ".join(words.texts[:length])
    close = difflib.get_close_matches(typed, [" ".join(head) for head in COMMANDS], 1, 0.6)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return words.error(f"unknown command{hint}", back=0)
