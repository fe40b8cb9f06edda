"""Shader storage buffers, atomic counters and transform feedback buffers, and probes of them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.commands.uniforms import TYPES
from gallette.piglit_subset.requirements import COMPARE
from gallette.piglit_subset.session import Session
from gallette.piglit_subset.text import Words
from gallette.state_tracker.entry_points.enums import GL


def _make(session: Session, target: int, index: int, data: npt.NDArray[Any]) -> None:
    """Create a buffer bound at target[index], replacing an earlier one."""
    gl, key = session.gl, (str(target), index)
    if key not in session.buffers:
        session.buffers[key] = gl.gen_buffers(1)[0]
    gl.bind_buffer(target, session.buffers[key])
    gl.buffer_data(target, data.nbytes, data, GL.DYNAMIC_DRAW)
    gl.bind_buffer_base(target, index, session.buffers[key])


def _bind(session: Session, target: int, index: int) -> None:
    """Bind a buffer that the test has created."""
    if (str(target), index) not in session.buffers:
        missing = f"no buffer was made at index {index}"
        if target == GL.ATOMIC_COUNTER_BUFFER:
            missing = f"no atomic counter buffer at binding {index}"
        raise session.line.error(missing)
    session.gl.bind_buffer(target, session.buffers[str(target), index])


def _write(
    session: Session, target: int, index: int, offset: int, values: npt.NDArray[Any]
) -> None:
    _bind(session, target, index)
    session.gl.buffer_sub_data(target, offset, values.nbytes, values)


def _read(session: Session, target: int, index: int, offset: int, dtype: Any) -> Any:
    gl = session.gl
    _bind(session, target, index)
    out = np.zeros(1, dtype)
    if session.is_es:
        address = gl.map_buffer_range(target, offset, out.nbytes, GL.MAP_READ_BIT)
        if address:
            out = np.frombuffer(ctypes.string_at(address, out.nbytes), dtype)
            gl.unmap_buffer(target)
    else:
        gl.get_buffer_sub_data(target, offset, out.nbytes, out)
    return out[0]


def _type(words: Words, name: str) -> Any:
    """A type of buffer data: GLSL's, or `int64` and `uint64`, which piglit writes without `_t`."""
    name = f"{name}_t" if name.endswith("int64") else name
    if name not in TYPES:
        raise words.error(f"unknown type {name!r}")
    return TYPES[name]


def _scalar_type(words: Words) -> Any:
    name = words.word("a type")
    kind = _type(words, name)
    if kind.components != 1:
        raise words.error(f"expected a scalar type, not {name!r}")
    return kind.dtype


@command("ssbo")
def ssbo(session: Session, words: Words) -> None:
    """ssbo INDEX SIZE: a zeroed storage buffer; or ssbo INDEX subdata TYPE OFFSET VALUES..."""
    index = words.integer("an index")
    if not words.optional("subdata"):
        (size,) = words.sizes(1, 1 << 24)
        words.end()
        _make(session, GL.SHADER_STORAGE_BUFFER, index, np.zeros(size, np.uint8))
        return
    dtype = _type(words, words.word("a type")).dtype
    offset = words.integer("an offset")
    values = words.array(dtype, len(words))
    _write(session, GL.SHADER_STORAGE_BUFFER, index, offset, values)


@command("probe ssbo")
def probe_ssbo(session: Session, words: Words) -> None:
    """probe ssbo TYPE INDEX OFFSET OP VALUE"""
    dtype = _scalar_type(words)
    index, offset = words.integer("an index"), words.integer("an offset")
    symbol = words.choice("a comparison", *COMPARE)
    expected = words.array(dtype, 1)[0]
    words.end()
    seen = _read(session, GL.SHADER_STORAGE_BUFFER, index, offset, dtype)
    if symbol == "==" and np.issubdtype(dtype, np.floating):
        close = abs(seen - expected) < np.finfo(np.float64).eps
        same = bool(close or seen == expected or (np.isnan(seen) and np.isnan(expected)))
    else:
        same = bool(COMPARE[symbol](seen, expected))
    if not same:
        session.wrong(f"observed {seen}")


@command("atomic counters", reads="bytes a count")
def atomic_counters(session: Session, count: int) -> None:
    """atomic counters N: a buffer of N zeroed counters at binding 0"""
    _make(session, GL.ATOMIC_COUNTER_BUFFER, 0, np.zeros(count, np.uint32))


@command("atomic counter buffer", reads="integer a binding, bytes a count")
def atomic_buffer(session: Session, binding: int, count: int) -> None:
    """atomic counter buffer BINDING N: a buffer of N zeroed counters"""
    _make(session, GL.ATOMIC_COUNTER_BUFFER, binding, np.zeros(count, np.uint32))


@command("atomic counter", reads="3 integer an integer")
def atomic_counter(session: Session, binding: int, index: int, value: int) -> None:
    """atomic counter BINDING INDEX VALUE: set one counter"""
    _write(session, GL.ATOMIC_COUNTER_BUFFER, binding, index * 4, np.array([value], np.uint32))


def _probe_counter(session: Session, words: Words, binding: int, scale: int) -> None:
    offset = words.integer("a counter") * scale
    symbol = words.choice("a comparison", *COMPARE)
    expected = words.integer("a value") & 0xFFFFFFFF
    words.end()
    seen = int(_read(session, GL.ATOMIC_COUNTER_BUFFER, binding, offset, np.uint32))
    if not COMPARE[symbol](seen, expected):
        session.wrong(f"observed {seen}")


@command("probe atomic counter")
def probe_counter(session: Session, words: Words) -> None:
    """probe atomic counter INDEX OP VALUE"""
    _probe_counter(session, words, 0, 4)


@command("probe atomic counter buffer")
def probe_counter_buffer(session: Session, words: Words) -> None:
    """probe atomic counter buffer BINDING OFFSET OP VALUE: the offset is in bytes"""
    _probe_counter(session, words, words.integer("a binding"), 1)


@command("xfb buffer object", reads="integer an index, bytes a size")
def feedback_buffer(session: Session, index: int, size: int) -> None:
    """xfb buffer object INDEX SIZE: where captured vertices go"""
    _make(session, GL.TRANSFORM_FEEDBACK_BUFFER, index, np.zeros(size, np.uint8))


@command("probe xfb buffer")
def probe_feedback(session: Session, words: Words) -> None:
    """probe xfb buffer TYPE INDEX ELEMENT VALUE"""
    dtype = _scalar_type(words)
    index, element = words.integers(2)
    expected = words.array(dtype, 1)[0]
    words.end()
    offset = element * np.dtype(dtype).itemsize
    seen = _read(session, GL.TRANSFORM_FEEDBACK_BUFFER, index, offset, dtype)
    if not abs(float(seen) - float(expected)) < session.tolerance.channels[0]:
        session.wrong(f"observed {seen}")
