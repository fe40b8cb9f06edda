"""Shader storage buffers, atomic counters and transform feedback buffers, and looking into them."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.piglit_subset.commands.registry import LONGEST, calls, command
from gallette.piglit_subset.commands.uniforms import TYPES, read_numbers
from gallette.piglit_subset.session import Session
from gallette.piglit_subset.text import Line, Words
from gallette.state_tracker.entry_points.enums import GL

__all__: list[str] = []

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _make(session: Session, target: str, index: int, data: npt.NDArray[Any]) -> None:
    """A buffer bound at target[index]; made again if it was there."""
    gl, value = session.gl, int(getattr(GL, target))
    key = (target, index)
    if key not in session.buffers:
        session.buffers[key] = gl.gen_buffers(1)[0]
    gl.bind_buffer(value, session.buffers[key])
    gl.buffer_data(value, data.nbytes, data, GL.DYNAMIC_DRAW)
    gl.bind_buffer_base(value, index, session.buffers[key])


def _read(session: Session, line: Line, target: str, index: int, offset: int, dtype: Any) -> Any:
    gl, value = session.gl, int(getattr(GL, target))
    if (target, index) not in session.buffers:
        raise line.error(f"no buffer was made at index {index}")
    gl.bind_buffer(value, session.buffers[target, index])
    out = np.zeros(1, dtype)
    if session.is_es:
        address = gl.map_buffer_range(value, offset, out.nbytes, GL.MAP_READ_BIT)
        if address:
            out = np.frombuffer(ctypes.string_at(address, out.nbytes), dtype)
            gl.unmap_buffer(value)
    else:
        gl.get_buffer_sub_data(value, offset, out.nbytes, out)
    return out[0]


def _scalar_type(words: Words) -> Any:
    name = words.word("a type")
    if name not in TYPES or TYPES[name].components != 1:
        raise words.error(f"expected a scalar type, not {name!r}")
    return TYPES[name].dtype


@command("ssbo")
def ssbo(session: Session, line: Line, words: Words) -> None:
    """ssbo INDEX SIZE: a zeroed storage buffer; or ssbo INDEX subdata TYPE OFFSET VALUES..."""
    index = words.integer("an index")
    if not words.optional("subdata"):
        (size,) = words.sizes(1, LONGEST)
        words.end()
        _make(session, "SHADER_STORAGE_BUFFER", index, np.zeros(size, np.uint8))
        return
    name = words.word("a type")
    if name not in TYPES:
        raise words.error(f"unknown type {name!r}")
    offset = words.integer("an offset")
    dtype = TYPES[name].dtype
    values = read_numbers(words, dtype)
    key = ("SHADER_STORAGE_BUFFER", index)
    if key not in session.buffers:
        raise line.error(f"no buffer was made at index {index}")
    session.gl.bind_buffer(GL.SHADER_STORAGE_BUFFER, session.buffers[key])
    session.gl.buffer_sub_data(GL.SHADER_STORAGE_BUFFER, offset, values.nbytes, values)


@command("probe ssbo")
def probe_ssbo(session: Session, line: Line, words: Words) -> None:
    """probe ssbo TYPE INDEX OFFSET OP VALUE"""
    dtype = _scalar_type(words)
    index, offset = words.integer("an index"), words.integer("an offset")
    symbol = words.choice("a comparison", *_COMPARE)
    expected = read_numbers(words, dtype, 1)[0]
    words.end()
    seen = _read(session, line, "SHADER_STORAGE_BUFFER", index, offset, dtype)
    if symbol == "==" and np.issubdtype(dtype, np.floating):
        same = bool(abs(seen - expected) <= 0.01) or bool(np.isnan(seen) and np.isnan(expected))
    else:
        same = bool(_COMPARE[symbol](seen, expected))
    if not same:
        session.wrong(line, f"observed {seen}")


@command("atomic counter")
def atomic_counter(session: Session, line: Line, words: Words) -> None:
    """atomic counter BINDING INDEX VALUE: set one counter"""
    binding, index, value = words.integers(3)
    words.end()
    key = ("ATOMIC_COUNTER_BUFFER", binding)
    if key not in session.buffers:
        raise line.error(f"no atomic counter buffer at binding {binding}")
    data = np.array([value], np.uint32)
    session.gl.bind_buffer(GL.ATOMIC_COUNTER_BUFFER, session.buffers[key])
    session.gl.buffer_sub_data(GL.ATOMIC_COUNTER_BUFFER, index * 4, 4, data)


def _probe_counter(session: Session, line: Line, words: Words, binding: int, scale: int) -> None:
    offset = words.integer("a counter") * scale
    symbol = words.choice("a comparison", *_COMPARE)
    expected = words.integer("a value") & 0xFFFFFFFF
    words.end()
    seen = int(_read(session, line, "ATOMIC_COUNTER_BUFFER", binding, offset, np.uint32))
    if not _COMPARE[symbol](seen, expected):
        session.wrong(line, f"observed {seen}")


@command("probe atomic counter")
def probe_counter(session: Session, line: Line, words: Words) -> None:
    """probe atomic counter INDEX OP VALUE"""
    _probe_counter(session, line, words, 0, 4)


@command("probe atomic counter buffer")
def probe_counter_buffer(session: Session, line: Line, words: Words) -> None:
    """probe atomic counter buffer BINDING OFFSET OP VALUE: the offset is in bytes"""
    _probe_counter(session, line, words, words.integer("a binding"), 1)


@command("probe xfb buffer")
def probe_feedback(session: Session, line: Line, words: Words) -> None:
    """probe xfb buffer TYPE INDEX ELEMENT VALUE"""
    dtype = _scalar_type(words)
    index, element = words.integers(2)
    expected = read_numbers(words, dtype, 1)[0]
    words.end()
    offset = element * np.dtype(dtype).itemsize
    seen = _read(session, line, "TRANSFORM_FEEDBACK_BUFFER", index, offset, dtype)
    if not abs(float(seen) - float(expected)) <= 0.01:
        session.wrong(line, f"observed {seen}")


calls(
    (
        ("atomic counters", "N: a buffer of N zeroed counters at binding 0",
         lambda session, count: _make(
             session, "ATOMIC_COUNTER_BUFFER", 0, np.zeros(count, np.uint32)
         ), "length"),
        ("atomic counter buffer", "BINDING N: a buffer of N zeroed counters",
         lambda session, binding, count: _make(
             session, "ATOMIC_COUNTER_BUFFER", binding, np.zeros(count, np.uint32)
         ), "integer a binding, length"),
        ("xfb buffer object", "INDEX SIZE: where captured vertices go",
         lambda session, index, size: _make(
             session, "TRANSFORM_FEEDBACK_BUFFER", index, np.zeros(size, np.uint8)
         ), "integer an index, length"),
    )
)  # fmt: skip
