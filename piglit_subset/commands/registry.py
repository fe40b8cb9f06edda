"""The command table: `@command("draw rect ortho")` registers the handler of lines that begin so.

A handler gets the session and a cursor after its own words. Most need no cursor: `reads` describes
the words, and the function gets their values. Commands that only pass the values to one OpenGL
function are rows, which `calls` registers.

Lookup takes the longest registered head, so `probe rect rgba` takes precedence over `probe`. A head
that is not registered, or bad arguments, make the test *malformed*, so that it fails before
anything is drawn; heads named by `unsupported` are known but not implemented, and skip the test.
The first line of a handler's docstring is its usage line, printed by `gallette piglit commands`.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from gallette.compiler.errors import InputError
from gallette.piglit_subset.requirements import Skip
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Line, Words
from gallette.state_tracker.entry_points.enums import GL

Handler = Callable[[Session, Words], None]
Function = TypeVar("Function", bound=Callable[..., None])
COMMANDS: dict[tuple[str, ...], Handler] = {}
_LONGEST: dict[str, int] = {}  # first word -> words in the longest head

Row = tuple[str, str, str, str]
"""The command's words (and synonyms, after a comma), the rest of its usage line, an OpenGL method
and constants that it gets before the values (`X+`: the first value is added to X), and what the
command reads.
"""

_READ: dict[str, Callable[[Words, int, str], list[Any]]] = {
    "enum": lambda words, count, what: [enum(words.line, words.word(what)) for _ in range(count)],
    "integer": lambda words, count, what: words.integers(count, what),
    "number": lambda words, count, what: words.numbers(count, what),
    "double": lambda words, count, what: [words.double(what) for _ in range(count)],
    "floats": lambda words, count, what: [words.array(np.float32, count, what)],
    "doubles": lambda words, count, what: [words.array(np.float64, count, what)],
    "word": lambda words, count, what: [words.word(what) for _ in range(count)],
    "size": lambda words, count, what: words.sizes(count),
    "bytes": lambda words, count, what: words.sizes(count, 1 << 24),
}
_ARGUMENT = re.compile(r"(?:(\d|\*) )?([\w=|]+)(\??) (.+)")


def command(
    *heads: str, reads: str | None = None, usage: str = ""
) -> Callable[[Function], Function]:
    """Register a function under one or more heads.

    `reads` has a part for each argument, separated by commas: a kind of `_READ`, or the words to
    choose from (`flat=FLAT|smooth=SMOOTH`, each with an enum), and the noun for error messages. A
    count before the kind says how often it is read (`*`: to the end of the line), a `?` after it
    that the words are optional. `usage` is the usage line, unless the function has a docstring.
    """

    def register(function: Function) -> Function:
        handler = function if reads is None else _reading(function, reads)
        handler.__doc__ = usage or function.__doc__
        for head in heads:
            _add(head, handler)
        return function

    return register


def _reading(function: Callable[..., None], reads: str) -> Handler:
    parts = [_ARGUMENT.fullmatch(part) for part in filter(None, reads.split(", "))]

    @functools.wraps(function)
    def run(session: Session, words: Words) -> None:
        values: list[Any] = []
        for part in parts:
            assert part is not None, reads
            count, kind, optional, what = part.groups()
            if not (optional and words.done):
                times = len(words) if count == "*" else int(count or 1)
                read = _READ.get(kind) or functools.partial(_chosen, kind)
                values += read(words, times, what)
        words.end()
        function(session, *values)

    return run


def _chosen(choices: str, words: Words, count: int, what: str) -> list[int]:
    """The enums of words that a line chooses."""
    enums = dict(choice.split("=") for choice in choices.split("|"))
    return [int(getattr(GL, enums[words.choice(what, *enums)])) for _ in range(count)]


def calls(rows: Iterable[Row]) -> None:
    """Register commands that call one OpenGL function with the values they read."""
    for heads, rest, method, reads in rows:
        first, *others = heads.split(", ")
        usage = f"{first}{'' if rest[:1] == ':' else ' '}{rest}".strip()
        command(first, *others, reads=reads, usage=usage)(functools.partial(_call, method.split()))


def _call(method: Sequence[str], session: Session, *values: Any) -> None:
    name, *constants = method
    arguments = [int(getattr(GL, constant.rstrip("+"))) for constant in constants]
    if method[-1].endswith("+"):
        values = arguments.pop() + values[0], *values[1:]
    getattr(session.gl, name)(*arguments, *values)


def _add(head: str, handler: Handler) -> None:
    words = tuple(head.split())
    COMMANDS[words] = handler
    _LONGEST[words[0]] = max(_LONGEST.get(words[0], 0), len(words))


def unsupported(reason: str, *heads: str) -> None:
    """Register heads that this runner knows but does not implement, with the reason to print."""

    def refuse(session: Session, words: Words) -> None:
        line = words.line
        raise Skip(f"unsupported command (line {line.number}): {line.text.strip()}: {reason}")

    for head in heads:
        _add(head, refuse)


def lookup(line: Line) -> tuple[Handler, Words]:
    """The handler of a line's command, and the words after the command's name.

    An unknown command raises an `InputError`.
    """
    words = line.words()
    longest = _LONGEST.get(words.texts[0], 0) if words.texts else 0
    for length in range(min(longest, len(words.texts)), 0, -1):
        handler = COMMANDS.get(tuple(words.texts[:length]))
        if handler is not None:
            words.skip(length)
            return handler, words
    raise _unknown(words)


def _unknown(words: Words) -> InputError:
    """An error at the first word that fits no command, with a suggestion."""
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
