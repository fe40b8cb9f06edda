"""Any function of OpenGL by its own name: `call` and `check` (not in piglit).

Most of OpenGL has no command of its own in a `[test]` section, and needs none: the table of
functions describes every parameter, so a line can be parsed by it.

    call glCreateBuffers 1 -> buffer
    call glNamedBufferData $buffer 8 float(1 2) GL_STATIC_DRAW
    check glGetNamedBufferSubData $buffer 4 4 = float(2)
    call glEnable GL_CULL_FACE_MODE
    check glGetError = GL_INVALID_ENUM

Outputs (return values, and what a function writes through its last pointers) are not arguments but
results of the call: `->` stores them under names, `check` compares them. `=` allows an error of
single precision, `~` an error of a hundredth, as for pixels.
"""

from __future__ import annotations

import ctypes
import difflib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.requirements import COMPARE
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Line, Words, as_array, parser_of
from gallette.state_tracker.entry_points.functions import CTYPES, FUNCTIONS, Function, Kind, Param
from gallette.state_tracker.entry_points.memory import dtype_of

_TOKEN = re.compile(r'\s*("[^"]*"|->|>=|<=|!=|[=~](?=\s|$)|[\w$.+|-]+|[(),])')
_NEAR = {"=": 2e-6, "~": 0.0125}
_ORDER = ("!=", ">=", "<=")
_STAGES = ("vertex", "fragment", "geometry", "compute")


class _Reader:
    """A cursor over a line's tokens, which keep the parentheses that words lose."""

    def __init__(self, line: Line, start: int):
        self.line, self.tokens = line, list[tuple[str, int]]()
        text = line.text.rstrip()
        while start < len(text):
            found = _TOKEN.match(text, start)
            if found is None:
                at = start + len(text[start:]) - len(text[start:].lstrip())
                raise line.error(f"unexpected {text[at]!r}", at, at + 1)
            self.tokens.append((found[1], found.start(1)))
            start = found.end()
        self.at = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self, what: str) -> str:
        if not self.next:
            end = len(self.line.text.rstrip())
            raise self.line.error(f"expected {what}", end, end + 1)
        self.at += 1
        return self.tokens[self.at - 1][0]

    def fail(self, message: str) -> Exception:
        """An error at the token read last."""
        text, start = self.tokens[self.at - 1]
        return self.line.error(message, start, start + len(text))


def _variables(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = session.uniform_cache.setdefault("call variables", {})
    return found


def _variable(session: Session, reader: _Reader, name: str) -> Any:
    if name in ("program", "pipeline", "window"):
        return getattr(session, name)
    if name in session.stage_programs:
        return session.stage_programs[name]
    found = _variables(session)
    if name not in found:
        raise reader.fail(f"nothing has been kept as {name!r}")
    return found[name]


def _number(session: Session, reader: _Reader, text: str, kind: str) -> Any:
    """A number, an enum, several joined by `|`, or a stored value.

    `kind` is a GL type, which decides whether `0x3f800000` is an integer or the bits of a float.
    """
    if text[0] == "$":
        return _variable(session, reader, text[1:])
    if text.startswith("GL_"):
        value = 0
        for name in text.split("|"):
            value |= enum(reader.line, name)
        return value
    dtype: np.dtype[Any] = dtype_of(kind)
    try:
        return parser_of(dtype)(text)
    except ValueError:
        wanted = "a number" if dtype.kind == "f" else "an integer"
        raise reader.fail(f"expected {wanted}, not {text!r}") from None


def _list(session: Session, reader: _Reader, kind: str) -> Any:
    """The contents of parentheses, the first of which has been read: numbers, or texts."""
    values: list[Any] = []
    while (token := reader.take("')'")) != ")":
        if token == ",":
            continue
        if token[0] == '"':
            values.append(token[1:-1])
        else:
            values.append(_number(session, reader, token, kind))
    if any(isinstance(value, str) for value in values):
        return values
    return as_array(values, dtype_of(kind))


def _typed(session: Session, reader: _Reader, name: str) -> Any:
    """`float(1 2)`: values of a GL type; `source(vertex)`: the text of a section."""
    name_at = reader.at
    reader.take("'('")
    if name == "source":
        stage = reader.take("a stage")
        found = [s for s in session.test.shaders if s.stage.lower().startswith(stage)]
        if not found:
            raise reader.fail(f"the test has no {stage} shader")
        reader.take("')'")
        return [found[0].text]
    if name == "zeros":
        count = _number(session, reader, reader.take("a count of bytes"), "int")
        reader.take("')'")
        return np.zeros(min(int(count), 1 << 20), np.uint8)
    if name not in CTYPES:
        reader.at = name_at
        raise reader.fail(f"{name!r} is no type of OpenGL's")
    return _list(session, reader, name)


def _argument(session: Session, reader: _Reader, param: Param) -> Any:
    token = reader.take(f"{param.name} ({param.type})")
    if token[0] == '"':
        text = token[1:-1]
        if param.kind is Kind.POINTER:
            return text.encode()
        return text if param.kind is Kind.STRING else [text]
    if token == "null":
        return None
    if token == "(":
        return _list(session, reader, "intptr" if param.stars > 1 else param.type)
    if reader.next == "(" and token.isalpha():
        return _typed(session, reader, token)
    if param.kind is Kind.VALUE and not param.stars:
        return _number(session, reader, token, param.type)
    return _number(session, reader, token, "intptr")  # an offset into a buffer, an address


def _function(reader: _Reader) -> Function:
    name = reader.take("a function of OpenGL")
    if name.startswith("gl") and name[2:] in FUNCTIONS:
        return FUNCTIONS[name[2:]]
    close = difflib.get_close_matches(name.removeprefix("gl"), FUNCTIONS, 1, 0.7)
    hint = f"; did you mean 'gl{close[0]}'?" if close else ""
    raise reader.fail(f"OpenGL has no function {name!r}{hint}")


def _call(session: Session, reader: _Reader, stops: Sequence[str]) -> list[Any]:
    """Parse a call up to one of `stops`, execute it, and return its values as a flat list."""
    function = _function(reader)
    arguments: list[Any] = []
    for param in function.params:
        if not reader.next or reader.next in stops:
            break
        arguments.append(_argument(session, reader, param))
    if len(arguments) < function.required:
        raise reader.line.error(f"expected more arguments: {function}")
    if reader.next and reader.next not in stops:
        reader.take("the end")
        raise reader.fail(f"unexpected {reader.tokens[reader.at - 1][0]!r}: {function}")
    if session.gl.leaves_out(function):
        raise GalletteError(f"{function.c_name} is not available in this context")
    written = [a for a, p in zip(arguments, function.params, strict=False) if p.kind.is_output]
    result = getattr(session.gl, function.method)(*arguments)
    values = list(result) if isinstance(result, tuple | list) else [result]
    flat: list[Any] = []
    for value in values:
        flat += value if isinstance(value, list) else [value]
    return [memory.tobytes() for memory in written if isinstance(memory, np.ndarray)] or flat


def _start(line: Line) -> int:
    return line.text.index(line.text.split()[0]) + len(line.text.split()[0])


@command("call")
def call(session: Session, words: Words) -> None:
    """call glFUNCTION ARGUMENTS [-> NAMES]: any function of OpenGL (not in piglit)"""
    reader = _Reader(words.line, _start(words.line))
    values = _call(session, reader, ("->",))
    names = [name for name, _ in reader.tokens[reader.at + 1 :]]
    if len(names) > len(values):
        raise words.line.error(f"{len(names)} names for {len(values)} values")
    _variables(session).update(zip(names, values, strict=False))


@command("check")
def check(session: Session, words: Words) -> None:
    """check glFUNCTION ARGUMENTS =|~|!=|>=|<= VALUES: compare results (not in piglit)"""
    reader = _Reader(words.line, _start(words.line))
    _compare(session, reader, _call(session, reader, (*_NEAR, *_ORDER)))


def _memory(session: Session, words: Words) -> tuple[_Reader, int]:
    """What follows the address of mapped memory, and that address."""
    reader = _Reader(words.line, words.line.text.index("memory") + len("memory"))
    address = _number(session, reader, reader.take("an address"), "intptr")
    if not address:
        raise words.line.error("there is no memory at a null pointer")
    return reader, int(address)


@command("check memory")
def check_memory(session: Session, words: Words) -> None:
    """check memory $ADDRESS = TYPE(VALUES): mapped memory (not in piglit)"""
    reader, address = _memory(session, words)
    _compare(session, reader, [address], memory=True)


@command("store memory")
def store_memory(session: Session, words: Words) -> None:
    """store memory $ADDRESS TYPE(VALUES): write to mapped memory (not in piglit)"""
    reader, address = _memory(session, words)
    data = _typed(session, reader, reader.take("a type"))
    if reader.next:
        superfluous = reader.take("nothing")
        raise reader.fail(f"unexpected {superfluous!r} after the command")
    ctypes.memmove(address, data.ctypes.data, data.nbytes)


def _compare(session: Session, reader: _Reader, seen: list[Any], memory: bool = False) -> None:
    how = reader.take("a comparison (= ~ != >= <=)")
    if how not in _NEAR and how not in _ORDER:
        raise reader.fail(f"expected a comparison (= ~ != >= <=), not {how!r}")
    wanted: list[Any] = []
    while reader.next:
        token = reader.take("a value")
        if reader.next == "(":
            array = _typed(session, reader, token)
            wanted += array.tolist()
            seen = _as_type(seen, array, memory)
        elif token[0] == '"':
            wanted.append(token[1:-1])
        else:
            floating = token[0] != "$" and not re.fullmatch(r"-?(0x)?[0-9a-fA-F]+|GL_.*", token)
            wanted.append(_number(session, reader, token, "double" if floating else "int"))
    if not wanted:
        raise reader.line.error("expected values to compare with")
    if len(seen) < len(wanted) or not all(
        _agree(how, a, b) for a, b in zip(seen, wanted, strict=False)
    ):
        shown = " ".join(_shown(value) for value in seen[: max(len(wanted), 1)])
        session.wrong(f"observed {shown}")


def _as_type(seen: list[Any], array: Any, memory: bool) -> list[Any]:
    """Bytes that a function wrote, or those at an address, as the type to compare."""
    if memory:
        raw = ctypes.string_at(seen[0], array.nbytes)
    elif len(seen) and isinstance(seen[0], bytes):
        raw = seen[0][: array.nbytes]
    else:
        return seen
    found: list[Any] = np.frombuffer(
        raw[: len(raw) // array.itemsize * array.itemsize], array.dtype
    ).tolist()
    return found


def _agree(how: str, seen: Any, wanted: Any) -> bool:
    if how in _ORDER:
        return COMPARE[how](seen, wanted)
    if isinstance(seen, float) or isinstance(wanted, float):
        return bool(abs(seen - wanted) <= _NEAR[how] * max(1.0, abs(wanted))) or seen == wanted
    if isinstance(seen, int) and isinstance(wanted, int) and how == "~":
        return abs(seen - wanted) <= 2
    return bool(seen == wanted)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.9g}"
    return value[:32].hex(" ") if isinstance(value, bytes) else repr(value)
