"""GL programs as data: the calls of a program, what each answers, and the errors that it sets.

`programs/*.txt` hold the programs, tests/README.md describes their lines. `run` makes the calls of
one on a context and says in which line an answer is another one than the file's.
"""

from __future__ import annotations

import ctypes
import math
import random
import re
import shlex
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.state_tracker import GL, GLInterface
from tests.state_tracker.helpers import compiled, errors, quad
from tests.state_tracker.negative_suite import ARRAYS, value

_HEADER = re.compile(r"\[(.+)\] (core|compat|es) (\d)\.(\d) (\d+)x(\d+)((?: \w+)*)")
_STAGES = ("vertex", "fragment", "geometry", "tess_control", "tess_evaluation", "compute")
_KINDS = {"shader": (*_STAGES, "assembly"), "data": tuple(ARRAYS)}
_ALIKE = re.compile(r"(?:native(?: ~(\d+))?(?: but (\d+))?|numpipe)")

_COLORS = re.compile(r"(\d+) colors")
_CHANCE = re.compile(r"\?(\d*)\(([^()]*)\)")

_DRAWS = ("begin ", "call_list ")

EACH = "for each row"
TOGETHER = "drawn_together"
_FILLING = ("get_", "read_pixels", "getn_", "readn_pixels")  # the memory they are given


class ProgramError(Exception):
    """A line that cannot be read, or whose answer is another one."""


@dataclass(frozen=True, slots=True)
class Line:
    """One call with the answer it must have (None: any) and the error it must set."""

    number: int
    words: tuple[str, ...]
    answer: str | None = None
    error: str = "NO_ERROR"
    kept: str = ""  # the name that later lines have for the answer


@dataclass(slots=True, eq=False)
class Program:
    """A program with the values of one of its rows."""

    name: str
    profile: str
    version: tuple[int, int]
    size: tuple[int, int]
    drivers: tuple[str, ...]
    body: list[tuple[int, str]]  # numbered lines, in which nothing is repeated or chosen yet
    file: Path
    # Texts of shaders with their stages, and arrays with the letters of their types.
    blocks: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def lines(self) -> list[Line]:
        return _lines(self)

    @property
    def reference(self) -> str:
        """The implementation whose answers to the same calls some answers are; or nothing."""
        answers = {text.partition(" -> ")[2].split(" ")[0] for _, text in self.body}
        return next((name for name in ("native", "numpipe") if name in answers), "")

    @property
    def has_several_draws(self) -> bool:
        draws = sum(text.lstrip().startswith(_DRAWS) or "draw_" in text for _, text in self.body)
        return draws > 1 or (draws > 0 and any("repeat" in text for _, text in self.body))

    @property
    def has_draws_in_series(self) -> bool:
        """Whether two draws follow one another before anything is asked, which executes them."""
        draws = 0
        for _, text in self.body:
            draws = 0 if " -> " in text or " ! " in text else draws + ("draw_" in text)
            if draws > 1 or "repeat" in text:
                return True
        return False


# -- reading ---------------------------------------------------------------------------------------


def _line(number: int, text: str) -> Line:
    text, _, error = text.partition(" ! ")
    call, arrow, answer = text.partition(" -> ")
    words = shlex.split(call) if "'" in call or '"' in call else call.split()
    kept = words[0] if words[1:2] == ["="] else ""
    words = words[2 if kept else 0 :]
    if not words or (not arrow and "->" in words):
        raise ProgramError(f"line {number}: no call in {text!r}")
    return Line(number, tuple(words), answer.strip() if arrow else None, error or "NO_ERROR", kept)


def _drawn(found: re.Match[str], chance: random.Random) -> str:
    """The words of `?3(0.1..0.7)` or `?(LESS,GREATER)`, drawn by chance."""
    count = int(found[1] or 1)
    words = [word.strip() for word in found[2].split(",")]
    low, dots, high = words[0].partition("..")
    if dots and "." in low + high:
        first, last = float(low), float(high)
        return ",".join([f"{chance.uniform(first, last):.5g}" for _ in range(count)])
    if dots:
        words = list(map(str, range(int(low), int(high) + 1)))
    return ",".join(chance.choices(words, k=count))


def _inner(body: list[tuple[int, str]], at: int) -> list[tuple[int, str]]:
    """The lines after one that are indented by more than it."""
    depth = _depth(body[at][1])
    end = at + 1
    while end < len(body) and _depth(body[end][1]) > depth:
        end += 1
    return body[at + 1 : end]


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())


def _unrolled(body: list[tuple[int, str]], chance: random.Random) -> Iterator[tuple[int, str]]:
    """The calls of a body: blocks are repeated and chosen, and numbers drawn."""
    at = 0
    while at < len(body):
        number, text = body[at]
        words = text.split()
        inner = _inner(body, at)
        at += 1 + len(inner)
        if not inner:
            yield number, _CHANCE.sub(lambda found: _drawn(found, chance), text.strip())
        elif words[0] == "repeat":
            for _ in range(int(words[1])):
                yield from _unrolled(inner, chance)
        elif words[0] == "perhaps":
            if chance.random() < float(words[1]):
                yield from _unrolled(inner, chance)
        elif words == ["one", "of"]:
            starts = [i for i, (_, t) in enumerate(inner) if _depth(t) == _depth(inner[0][1])]
            start = chance.choice(starts)
            yield from _unrolled(inner[start : start + 1] + _inner(inner, start), chance)
        elif words == ["all", "of"]:
            yield from _unrolled(inner, chance)
        else:
            raise ProgramError(f"line {number}: no block begins with {text.strip()!r}")


@lru_cache(maxsize=2)
def _lines(program: Program) -> list[Line]:
    """The calls of a program; what is drawn by chance is the same in every run."""
    chance = random.Random(zlib.crc32(program.name.encode()))
    return [_line(*call) for call in _unrolled(program.body, chance)]


def _filled(
    program: Program, body: list[tuple[int, str]], cell: dict[str, str]
) -> Iterator[tuple[int, str]]:
    """A body with the cells of a row, and with the calls of blocks where they are named."""
    for number, text in body:
        try:
            text = re.sub(r"\$(\w+)", lambda found: cell[found[1]], text)
        except KeyError as error:
            raise ProgramError(f"line {number}: no column {error}") from None
        words = text.split()
        if words[0] != "calls":
            yield number, text
            continue
        kind, calls = program.blocks.get(words[1], ("", ""))
        if kind != "calls":
            raise ProgramError(f"line {number}: there are no calls {words[1]}")
        indent = text[: _depth(text)]
        yield number, indent + "all of"
        inner = [(number, f"{indent}    {call}") for call in calls.splitlines() if call]
        given = dict(word.split("=", 1) for word in words[2:])
        yield from _filled(program, inner, cell | given)


def _rows(
    program: Program, body: list[tuple[int, str]], table: list[tuple[int, str]]
) -> Iterator[Program]:
    """The program with each row of its table; its first row names the columns.

    Calls after `for each row` are made with the values of one row after another, in one program.
    """
    names, *rows = ([cell.strip() for cell in text[1:].split(" | ")] for _, text in table)
    cells = []
    for (number, _), row in zip(table[1:], rows, strict=True):
        if len(row) != len(names):
            raise ProgramError(f"line {number}: {len(row)} cells for {len(names)} columns")
        cells.append(dict(zip(names, row, strict=True)))
    texts = [text for _, text in body]
    if EACH in texts:
        start = texts.index(EACH)
        calls = list(_filled(program, body[:start], {}))
        for cell in cells:
            calls += _filled(program, body[start + 1 :], cell)
        program.body = calls
        yield program
        return
    for cell in cells:
        made = replace(program, name=f"{program.name}: {', '.join(cell.values())}")
        made.body = list(_filled(program, body, cell))
        yield made


@cache
def programs_of(path: Path) -> list[Program]:
    """The programs of a file, one for each row of those with a table."""
    blocks: dict[str, tuple[str, str]] = {}
    found: list[Program] = []
    program: Program | None = None
    body: list[tuple[int, str]] = []
    table: list[tuple[int, str]] = []
    block = ""

    def finish() -> None:
        if program is None:
            return
        if table:
            found.extend(_rows(program, body, table))
        else:
            program.body = list(_filled(program, body, {}))
            found.append(program)

    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split()
        if block and (line.startswith("    ") or not words):
            kind, text = blocks[block]
            blocks[block] = kind, text + line[4:] + "\n"
        elif not words or line.startswith("#"):
            continue
        elif len(words) == 3 and words[2] in _KINDS.get(words[0], ()):
            block = words[1]
            blocks[block] = words[2], ""
        elif words[0] == "calls" and program is None:
            block = words[1]
            blocks[block] = "calls", ""
        elif line.startswith("["):
            header = _HEADER.fullmatch(line)
            if header is None:
                raise ProgramError(f"line {number}: {line!r} is no header")
            finish()
            name, profile, major, minor, width, height, drivers = header.groups()
            program = Program(
                name, profile, (int(major), int(minor)), (int(width), int(height)),
                tuple(drivers.split()) or ("numpipe", "native"), [], path, blocks,
            )  # fmt: skip
            body, table, block = [], [], ""
        elif program is None:
            raise ProgramError(f"line {number}: a call before the first header")
        elif line.startswith("|"):
            table.append((number, line))
        else:
            body.append((number, line))
    finish()
    return found


# -- running ---------------------------------------------------------------------------------------


def _value(program: Program, word: str) -> Any:
    """What a word stands for; `data:NAME` is an array of the file."""
    kind, colon, name = word.partition(":")
    if colon and kind == "data":
        letter, text = program.blocks[name]
        return value(f"{letter}:{''.join(text.split())}")
    return value(word)


def _argument(program: Program, word: str, kept: dict[str, Any]) -> Any:
    if word.startswith("@"):
        return kept[word]
    if word.startswith("t:"):
        return word[2:].split(",")
    if word.startswith("source:"):
        return program.blocks[word[7:]][1]
    if word.startswith("sources:"):
        return [program.blocks[name][1] for name in word[8:].split(",")]
    return _value(program, word)


def _linked(gl: GLInterface, program: Program, shaders: tuple[str, ...]) -> int:
    name = int(gl.create_program())
    for shader in shaders:
        stage, text = program.blocks[shader]
        made = compiled(gl, getattr(GL, f"{stage.upper()}_SHADER"), text)
        gl.attach_shader(name, made)
        gl.delete_shader(made)
    gl.link_program(name)
    if not gl.get_programiv(name, GL.LINK_STATUS)[0]:
        raise ProgramError(gl.get_program_info_log(name))
    gl.use_program(name)
    return name


def _assembled(gl: GLInterface, text: str) -> None:
    """An assembly program is made, bound and enabled."""
    target = GL.VERTEX_PROGRAM_ARB if "!!ARBvp" in text else GL.FRAGMENT_PROGRAM_ARB
    gl.enable(target)
    gl.bind_program_arb(target, gl.gen_programs_arb(1)[0])
    gl.program_string_arb(target, GL.PROGRAM_FORMAT_ASCII_ARB, len(text), text.encode())


def _answer(gl: GLInterface, program: Program, words: tuple[str, ...], kept: dict[str, Any]) -> Any:
    name, *rest = words
    if name == "program":
        return _linked(gl, program, tuple(rest))
    if name == "shader":
        stage, text = program.blocks[rest[0]]
        return compiled(gl, getattr(GL, f"{stage.upper()}_SHADER"), text)
    if name == "assembly":
        return _assembled(gl, _argument(program, rest[0], kept))
    if name == "quad":
        return quad(gl, int(rest[0]), *rest[1:])
    if name == "pixel":
        return gl.read_pixels(int(rest[0]), int(rest[1]), 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
    if name == "memory":
        return _value(program, rest[0])
    if name == "write_mapped":
        target, offset, access, data = (_value(program, word) for word in rest)
        address = gl.map_buffer_range(target, offset, data.nbytes, GL.MAP_WRITE_BIT | access)
        ctypes.memmove(address, data.ctypes.data, data.nbytes)
        return gl.unmap_buffer(target)
    if name == "read":
        return kept[rest[0]][: int(rest[1])].copy()
    if name == "picture":
        x, y, width, height = map(int, rest) if rest else (0, 0, *program.size)
        raw = gl.read_pixels(x, y, width, height, GL.RGBA, GL.UNSIGNED_BYTE)
        return np.frombuffer(raw, np.uint8).reshape(height, width, 4)
    arguments = [_argument(program, word, kept) for word in rest]
    kept.setdefault("memory", []).append(arguments)  # an array may be read by a later draw
    answer = getattr(gl, name)(*arguments)
    if answer is None and arguments and name.startswith(_FILLING):
        return arguments[-1]
    return answer


def _painted(size: tuple[int, int], text: str) -> npt.NDArray[Any]:
    """The picture of rectangles `x y w h = r g b a; ...`, painted in this order."""
    picture = np.zeros((size[1], size[0], 4), np.uint8)
    for part in text.split(";"):
        place, equals, color = part.partition("=")
        if not equals:
            raise ProgramError(f"no colour in {part!r}")
        x, y, w, h = map(int, place.split())
        picture[y : y + h, x : x + w] = [int(c) for c in color.split()]
    return picture


def _flat(answer: Any) -> list[Any]:
    """The numbers and texts of an answer, one after another."""
    if isinstance(answer, np.ndarray):
        return list(answer.reshape(-1).tolist())
    if isinstance(answer, bytes | bytearray):
        return list(answer)
    if isinstance(answer, list | tuple):
        return [word for part in answer for word in _flat(part)]
    return [answer]


def _close(found: Any, wanted: Any, allowed: float) -> bool:
    if found == wanted:
        return True
    if found is None or isinstance(found, str) or isinstance(wanted, str):
        return False
    if isinstance(found, int) and not allowed:
        return False
    # As `np.isclose`, which takes much longer for one number.
    if math.isnan(found) or math.isnan(wanted):
        return math.isnan(found) and math.isnan(wanted)
    if math.isinf(wanted):
        return False
    return bool(abs(found - wanted) <= (allowed or 1e-5) + 1e-5 * abs(wanted))


def _compare(program: Program, words: tuple[str, ...], answer: Any, expected: str) -> str:
    """What is wrong with an answer; nothing if it is as expected."""
    expected, _, tolerance = expected.partition(" ~")
    allowed = float(tolerance or 0)
    if colors := _COLORS.fullmatch(expected):
        rows = np.ascontiguousarray(answer.reshape(-1, 4))
        whole = rows.dtype == np.uint8  # a colour is one number then: rows take long to sort
        found = len(np.unique(rows.view(np.uint32)) if whole else np.unique(rows, axis=0))
        return "" if found >= int(colors[1]) else f"{found} colours, not {colors[1]} or more"
    if words[0] == "picture":
        wanted = _painted((answer.shape[1], answer.shape[0]), expected)
        off = (np.abs(answer.astype(int) - wanted) > allowed).any(axis=2)
        if off.any():
            y, x = np.argwhere(off)[0]
            return f"{off.sum()} pixels; at {x}, {y} it is {answer[y, x]}, not {wanted[y, x]}"
        return ""
    cells = [_value(program, cell) for cell in shlex.split(expected)]
    if len(cells) == 1 and isinstance(cells[0], np.ndarray):
        if isinstance(answer, bytes | bytearray):
            answer = np.frombuffer(answer, cells[0].dtype)
        cells = cells[0].tolist()
    numbers = _flat(answer)
    if len(numbers) == len(cells) and all(map(_close, numbers, cells, repeat(allowed))):
        return ""
    return f"{numbers}, not {expected}"


def _numbers(answer: Any) -> npt.NDArray[Any]:
    """An answer as an array: pictures keep their shape."""
    if isinstance(answer, np.ndarray):
        return answer
    if isinstance(answer, bytes | bytearray):
        return np.frombuffer(answer, np.uint8)
    return np.array(_flat(answer), np.float64)


def _alike(answer: Any, theirs: Any, expected: str) -> str:
    """Pictures and bytes may differ by `~n` levels in all places but some."""
    rule = _ALIKE.fullmatch(expected)
    if rule is None:
        raise ProgramError(f"{expected!r} allows nothing")
    ours, reference = _numbers(answer), _numbers(theirs)
    if ours.shape != reference.shape:
        return f"{ours.shape} numbers, not {reference.shape}"
    if np.array_equal(ours, reference):
        return ""
    ours, reference = ours.astype(np.float64), reference.astype(np.float64)
    least = 0.0 if expected == "numpipe" else 1e-5
    off = np.abs(ours - reference) > max(float(rule[1] or 0), least)
    if ours.ndim == 3:
        off = off.any(axis=2)
    if off.sum() <= int(rule[2] or 0):
        return ""
    return f"differs from the reference's in {off.sum()} places, first {np.argwhere(off)[0]}"


def run(
    gl: GLInterface,
    program: Program,
    reference: list[Any] | None = None,
    executed: list[int] | None = None,
    each_error: bool = True,
    another: Callable[[], GLInterface] | None = None,
) -> list[Any]:
    """Make the calls of a program; what the reference answered to each is compared with, if given.

    `executed` is filled with how many draws the driver executes at a time. Without `each_error`
    glGetError, which executes recorded calls, is called at lines with an answer or an error alone.
    `another` makes the contexts that share objects with the first. Returns what each call answered.
    """
    gl.make_current()
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    found: list[Any] = []
    kept: dict[str, Any] = {}
    begun = False
    contexts = {"1": gl}
    for line in program.lines:
        place = f"{program.file.name}:{line.number}: {' '.join(line.words)}"
        if line.words[0] == "context":
            number = line.words[1]
            if number not in contexts and another is not None:
                contexts[number] = another()
            gl = contexts[number]
            gl.make_current()
            found.append(None)
            continue
        if line.words == (TOGETHER,):
            found.append(None)
            if executed is not None:
                gl.finish()
                if wrong := _compare(program, line.words, executed, line.answer or ""):
                    raise ProgramError(f"{place}: {wrong}")
                executed.clear()
            continue
        try:
            answer = _answer(gl, program, line.words, kept)
        except (GalletteError, AttributeError, KeyError, ValueError, TypeError) as error:
            raise ProgramError(f"{place}: {error}") from error
        found.append(answer)
        if line.kept:
            kept[line.kept] = answer
        if line.words[0] in ("begin", "end"):
            begun = line.words[0] == "begin"
        asked = each_error or line.answer is not None or line.error != "NO_ERROR"
        if not begun and asked:  # glGetError is an error itself between glBegin and glEnd
            said = [name.removeprefix("GL_") for name in errors(gl)] or ["NO_ERROR"]
            if said != [line.error]:
                raise ProgramError(f"{place}: {', '.join(said)}, not {line.error}")
        if line.answer is None:
            continue
        wrong = ""
        if not line.answer.startswith(("native", "numpipe")):
            wrong = _compare(program, line.words, answer, line.answer)
        elif reference is not None:
            wrong = _alike(answer, reference[len(found) - 1], line.answer)
        if wrong:
            raise ProgramError(f"{place}: {wrong}")
    return found
