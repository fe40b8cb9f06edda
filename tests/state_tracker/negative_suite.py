"""The negative suite: every argument of a valid call replaced by wrong values, on two GLs.

`negative_calls.txt` lists valid calls by topic. A topic runs in one context that has a few objects;
for each call every wrong variant comes first and the call itself last, so both GLs go through the
same states. What is compared is the error code of every call.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.compiler.text_tables import grouped_rows
from gallette.state_tracker import GL, GLInterface
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Param

ARRAYS = {
    "i": "i4", "u": "u4", "f": "f4", "d": "f8", "b": "u1", "c": "i1", "h": "f2", "s2": "i2",
    "w": "u2", "q": "i8", "U": "u8",
}  # fmt: skip
_ITEM = re.compile(r"(?:\(([^)]*)\)|([^,*()]+))(?:\*(\d+))?")
_PLAIN = re.compile(r"[-.,\d]*\d")
_BIG = 1 << 24
# Numbers that may be absurdly large without anybody reading that much memory.
_SIZES = ("width", "height", "depth", "level", "levels", "layer", "index", "unit", "samples")


@dataclass(frozen=True, slots=True)
class Case:
    """One call; `wrong` names the argument that was replaced."""

    method: str
    arguments: tuple[Any, ...]
    wrong: str

    def __str__(self) -> str:
        shown = [
            f"array[{a.size}]" if isinstance(a, np.ndarray) else str(a) for a in self.arguments
        ]
        return f"{self.method}({', '.join(shown)}){' with ' + self.wrong if self.wrong else ''}"


def _items(text: str) -> Iterator[Any]:
    """The numbers of `1,0.5*3,4..6,(0,255)*4`: what repeats, and what counts up."""
    for group, item, count in _ITEM.findall(text):
        first, dots, last = item.partition("..")
        if group:
            yield from list(_items(group)) * int(count or 1)
        elif dots:
            yield from range(int(first), int(last) + 1)
        else:
            yield from [value(item)] * int(count or 1)


def value(word: str) -> Any:
    """The argument that a word stands for."""
    kind, colon, rest = word.partition(":")
    if colon and kind in ARRAYS:
        if _PLAIN.fullmatch(rest) and ".." not in rest:
            numbers = [float(n) if "." in n else int(n) for n in rest.split(",")]
        else:
            numbers = list(_items(rest))
        exact = all(isinstance(number, int) for number in numbers)
        kept = np.array(numbers, object if exact else np.float64)
        return kept.astype(ARRAYS[kind])
    if colon and kind == "s":
        return rest
    if word == "null":
        return None
    if word.startswith("~"):
        return np.zeros(int(word[1:]), np.uint8)
    if word.lstrip("-").isdigit():
        return int(word)
    try:
        return float(word)
    except ValueError:
        return functools.reduce(operator.or_, map(GL.value_of, word.split("|")))


def _wrong(param: Param, value: Any, reads: bool) -> Iterator[tuple[str, Any]]:
    """Wrong values for one parameter, with a word for each."""
    if param.stars:
        return
    if param.type == "enum":
        for bad in (0x1234, 0, GL.FLOAT, GL.TEXTURE_2D, GL.COLOR_ATTACHMENT31):
            if bad != value:
                yield f"{param.name} = 0x{bad:X}", bad
    elif param.type in ("int", "sizei", "sizeiptr", "intptr", "uint"):
        if param.type != "uint":
            yield f"{param.name} = -1", -1
        elif not reads:
            yield f"{param.name} = 77777", 77777
        named = param.name in _SIZES or param.name.endswith("offset")
        if named and param.type != "sizeiptr" and not reads:
            yield f"{param.name} = {_BIG}", _BIG
        if param.type in ("intptr", "sizeiptr") and not reads:
            yield f"{param.name} = 3", 3
    elif param.type == "bitfield":
        yield f"{param.name} = 0x80000000", 0x80000000
    elif param.type in ("float", "double", "clampf"):
        yield f"{param.name} = -1000", -1000.0


def _variants(method: str, arguments: tuple[Any, ...]) -> Iterator[Case]:
    function = FUNCTIONS.method(method)
    reads = any(isinstance(a, np.ndarray) for a in arguments)
    for i, param in enumerate(function.params[: len(arguments)]):
        for what, bad in _wrong(param, arguments[i], reads):
            yield Case(method, (*arguments[:i], bad, *arguments[i + 1 :]), what)
    yield Case(method, arguments, "")


def topics() -> dict[str, list[tuple[str, tuple[Any, ...]]]]:
    """The valid calls of each topic."""
    found: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
    for topic, line in grouped_rows(Path(__file__).with_name("negative_calls.txt")):
        method, *words = line.split()
        found.setdefault(topic, []).append((method, tuple(value(w) for w in words)))
    return found


def cases(topic: str) -> list[Case]:
    """Every call of a topic in the order in which they are made."""
    return [case for call in topics()[topic] for case in _variants(*call)]


_VERTEX = "#version 150\nin vec4 position; void main() { gl_Position = position; }\n"
_FRAGMENT = (
    "#version 150\nuniform Block { vec4 more; }; uniform vec4 color; out vec4 result;\n"
    "void main() { result = color + more; }\n"
)


def prepare_objects(gl: GLInterface, textures: int = 2, framebuffers: int = 1) -> None:
    """Names 1, 2, 3 of most kinds: buffers with room, two textures, shaders 1 and 2 to come."""
    gl.gen_buffers(3)
    for name, target in ((1, GL.COPY_WRITE_BUFFER), (2, GL.COPY_READ_BUFFER), (1, GL.ARRAY_BUFFER)):
        gl.bind_buffer(target, name)
        gl.buffer_data(target, 64, None, GL.STATIC_DRAW)
    gl.bind_buffer(GL.COPY_WRITE_BUFFER, 2)
    gl.gen_vertex_arrays(1)
    gl.bind_vertex_array(1)
    gl.gen_textures(textures)
    gl.bind_texture(GL.TEXTURE_2D_ARRAY, 2)
    gl.tex_storage3d(GL.TEXTURE_2D_ARRAY, 1, GL.RGBA8, 4, 4, 2)
    gl.bind_texture(GL.TEXTURE_2D, 1)
    gl.gen_framebuffers(framebuffers)
    gl.gen_renderbuffers(framebuffers)
    gl.bind_renderbuffer(GL.RENDERBUFFER, 1)
    gl.gen_samplers(1)
    gl.gen_queries(3)
    gl.gen_program_pipelines(1)


def prepare_program(gl: GLInterface, vertex: str, fragment: str, *varyings: str) -> None:
    """Shaders 1 and 2, linked as program 3."""
    for kind, text in ((GL.VERTEX_SHADER, vertex), (GL.FRAGMENT_SHADER, fragment)):
        shader = gl.create_shader(kind)
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
    program = gl.create_program()
    for shader in (1, 2):
        gl.attach_shader(program, shader)
    if varyings:
        gl.transform_feedback_varyings(
            program, len(varyings), list(varyings), GL.INTERLEAVED_ATTRIBS
        )
    gl.link_program(program)
    assert program == 3 and gl.get_programiv(program, GL.LINK_STATUS)[0]
    assert gl.get_error() == GL.NO_ERROR


def prepare(gl: GLInterface) -> None:
    """Objects 1, 2, 3 of most kinds, so that names in the calls mean something."""
    prepare_objects(gl)
    gl.bind_vertex_array(0)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    prepare_program(gl, _VERTEX, _FRAGMENT)


def run(gl: GLInterface, topic: str) -> list[int | None]:
    """The error code of every case; None where this GL has no such function."""
    prepare(gl)
    codes: list[int | None] = []
    for case in cases(topic):
        try:
            getattr(gl, case.method)(*case.arguments)
        except (GalletteError, AttributeError):
            codes.append(None)
            while gl.get_error():
                pass
            continue
        codes.append(int(gl.get_error()))
        while gl.get_error():
            pass
    return codes
