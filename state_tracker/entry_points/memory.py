"""Reading and writing the memory that a GL caller points at.

A pointer argument is an integer address when the call comes through C, and `None`, an address,
`bytes`, a NumPy array (or another object with the buffer protocol) or a list when it comes from
Python. Only the functions of this module distinguish these.

An application may point at any memory, and the size that a command reads follows from its
arguments. A range that no process can have (below zero, across the end of the address space) is
GL_INVALID_OPERATION: an address computed from an index or a stride never wraps around.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.state_tracker.entry_points.count_limits import MOST_NAMES, check_count
from gallette.state_tracker.entry_points.errors import invalid_operation, invalid_value
from gallette.state_tracker.entry_points.functions import CTYPES

# int and None are addresses; all other types are Python memory.
Pointer = Any


class MemoryListener(Protocol):
    """A listener that is called for every byte of the caller's memory that a GL function reads or
    writes.
    """

    def touched(self, address: int, size: int, lasting: bool) -> None:
        """Called before a GL function reads or writes C memory, now or (lasting) at any later time;
        an error raised here stops it.
        """

    def read(self, address: int, data: bytes) -> None:
        """Called when a GL function has read these bytes from C memory."""

    def wrote(self, pointer: Pointer, data: Any) -> None:
        """Called when a GL function has stored this data in the caller's memory."""


LISTENERS: list[MemoryListener] = []

# The whole address space as one view: slicing it takes half the time of other ways.
_MEMORY = memoryview((ctypes.c_char * sys.maxsize).from_address(0)).cast("B")
_IS_WIDE = sys.maxsize > 1 << 32  # addresses are below 2**48
_END = sys.maxsize if _IS_WIDE else 1 << 32

_DTYPES: dict[str, np.dtype[Any]] = {name: np.dtype(kind) for name, kind in CTYPES.items()}
_DTYPES |= {"char": np.dtype("u1"), "void": np.dtype("u1"), "half": np.dtype("f2")}


def dtype_of(gl_type: str) -> np.dtype[Any]:
    """The NumPy type of a GL type's name: `float` -> float32."""
    return _DTYPES[gl_type]


def _flat(pointer: Any) -> npt.NDArray[np.uint8]:
    """Python memory as a flat array of bytes."""
    if pointer is None:
        raise GalletteError("GL was given a null pointer to memory it needs")
    view = memoryview(pointer)
    if not view.c_contiguous:
        return np.ascontiguousarray(pointer).reshape(-1).view(np.uint8)
    if view.nbytes == 0:
        return np.empty(0, np.uint8)
    return np.frombuffer(view, np.uint8)


def address_of(pointer: Pointer, gl_type: str = "void") -> tuple[int | None, Any]:
    """An address for C, and the object that must stay alive while C uses it.

    That object is None where the caller passed an address; otherwise its buffer is the memory
    there.
    """
    if pointer is None or type(pointer) is int:
        return pointer, None
    if isinstance(pointer, list | tuple):
        pointer = np.array(pointer, dtype_of(gl_type))
    if isinstance(pointer, bytes):
        return ctypes.cast(ctypes.c_char_p(pointer), ctypes.c_void_p).value, pointer
    if isinstance(pointer, np.integer):
        return int(pointer), None
    flat = _flat(pointer)
    return flat.ctypes.data, flat


def _touch(address: int, size: int, lasting: bool = False) -> None:
    for listener in LISTENERS:
        listener.touched(address, size, lasting)


def shared_memory(pointer: Pointer, size: int) -> tuple[int | None, Any]:
    """`address_of` for memory of which `size` bytes will be read and written from now on."""
    address, keep = address_of(pointer)
    if keep is not None:
        read_bytes(keep, size)  # rejects memory that is too short
    elif address is not None:
        _touch(address, size, lasting=True)
    return address, keep


def read_kept(address: int, size: int, keep: Any) -> npt.NDArray[np.uint8]:
    """`size` bytes at an address that `address_of` returned along with `keep`."""
    if keep is None:
        return read_bytes(address, size)
    flat = _flat(keep)
    start = address - int(flat.ctypes.data)
    if start < 0 or start + size > flat.size:
        raise GalletteError(
            f"GL reads {size} bytes from byte {start} on, but only {flat.size} were passed"
        )
    data = flat[start : start + size]
    for listener in LISTENERS:
        listener.read(address, data.tobytes())
    return data


def advanced(pointer: Pointer, by: int) -> Pointer:
    """The pointer `by` bytes further on; a null pointer may be the offset 0."""
    if by == 0:
        return pointer
    if pointer is None or type(pointer) is int:
        return (pointer or 0) + by
    return _flat(pointer)[by:]


def _check_range(address: int, size: int) -> None:
    """Raise an error for a range that no process can have."""
    if not 0 < address <= _END - size:
        raise invalid_operation(f"no memory can be at {address:#x}, {size} bytes long")


def read_bytes(pointer: Pointer, size: int) -> npt.NDArray[np.uint8]:
    """`size` bytes at `pointer`, without copying; Python memory that is too short is rejected."""
    if size <= 0:
        if size < 0:
            raise invalid_value("a negative size or count")
        return np.empty(0, np.uint8)
    if type(pointer) is int:
        _check_range(pointer, size)
        if LISTENERS:
            _touch(pointer, size)
        if _IS_WIDE:
            memory = _MEMORY[pointer : pointer + size]
        else:
            memory = memoryview((ctypes.c_uint8 * size).from_address(pointer)).cast("B")
        for listener in LISTENERS:
            listener.read(pointer, bytes(memory))
        return np.frombuffer(memory, np.uint8)
    flat = _flat(pointer)
    if flat.size < size:
        raise GalletteError(f"GL reads {size} bytes, but only {flat.size} were passed")
    return flat[:size]


def bytes_at(address: int, size: int) -> memoryview | bytes:
    """Bytes of C memory, for immediate use: the fast way for small values."""
    if LISTENERS:
        return read_bytes(address, size).tobytes()
    data = _MEMORY[address : address + size] if _IS_WIDE else ctypes.string_at(address, size)
    if len(data) != size:
        _check_range(address, size)
    return data


def read_array(pointer: Pointer, gl_type: str, count: int) -> npt.NDArray[Any]:
    """`count` values of a GL type, as a private copy."""
    dtype = dtype_of(gl_type)
    if isinstance(pointer, list | tuple):
        array = np.array(pointer, dtype).reshape(-1)
        if array.size < count:
            raise GalletteError(f"GL reads {count} values, but only {array.size} were passed")
        return array[:count]
    if type(pointer) is np.ndarray and pointer.dtype is dtype and pointer.shape == (count,):
        return pointer.copy()
    return read_bytes(pointer, count * dtype.itemsize).view(dtype).copy()


_FEW_BYTES = 64
"""So few bytes are copied faster than their address is found."""


def write_bytes(pointer: Pointer, data: Any) -> None:
    """Store bytes (or an array's bytes) at `pointer`."""
    if type(pointer) is int and not LISTENERS:
        if type(data) is np.ndarray and data.nbytes <= _FEW_BYTES:
            _check_range(pointer, data.nbytes)
            data = data.tobytes()
        if type(data) is bytes:
            ctypes.memmove(pointer, data, len(data))
            return
    source = _flat(data)
    if source.size == 0:
        return
    if type(pointer) is int:
        _touch(pointer, source.size)
    for listener in LISTENERS:
        listener.wrote(pointer, source)
    if type(pointer) is int:
        _check_range(pointer, source.size)
        ctypes.memmove(pointer, source.ctypes.data, source.size)
        return
    view = memoryview(pointer)
    if view.readonly:
        raise GalletteError("GL writes to this argument, but it is read-only")
    if not view.c_contiguous:
        raise GalletteError("GL writes to this argument, but it is not contiguous")
    if view.nbytes < source.size:
        raise GalletteError(f"GL writes {source.size} bytes, but only {view.nbytes} were passed")
    np.frombuffer(view, np.uint8)[: source.size] = source


def wrote_in_place(pointer: int, data: npt.NDArray[np.uint8]) -> None:
    """Report to listeners that `data`, a view of C memory, was modified in place."""
    for listener in LISTENERS:
        listener.wrote(pointer, data)


def read_names(pointer: Pointer, count: int) -> list[int]:
    """The object names that a call lists."""
    check_count(count, MOST_NAMES, "names")
    return read_array(pointer, "uint", count).tolist()  # type: ignore[no-any-return]


def read_pointers(pointer: Pointer, count: int) -> list[Pointer]:
    """`const void* const*`: `count` pointers, from a list of them or from an address."""
    check_count(count, MOST_NAMES, "pointers")
    if isinstance(pointer, list | tuple):
        if len(pointer) < count:
            raise GalletteError(f"GL reads {count} pointers, but only {len(pointer)} were passed")
        return list(pointer[:count])
    found: list[Pointer] = read_array(pointer, "intptr", count).tolist()
    return found


def buffer_offset(pointer: Pointer) -> int:
    """The offset into a bound buffer that a pointer stands for."""
    if pointer is None or isinstance(pointer, int | np.integer):
        return int(pointer or 0)
    raise invalid_operation("data was given where a bound buffer is read")


def read_string(pointer: Pointer, length: int | None = None) -> str:
    """Text given as `str`, bytes, a NUL-terminated address, or `length` bytes at an address."""
    if isinstance(pointer, str):
        if length is None:
            return pointer
        pointer = pointer.encode()
    if pointer is None:
        return ""
    if type(pointer) is int:
        _touch(pointer, 1 if length is None else length)
        raw = ctypes.string_at(pointer) if length is None else ctypes.string_at(pointer, length)
        for listener in LISTENERS:
            listener.read(pointer, raw)
    else:
        raw = bytes(pointer)
        raw = raw[:length] if length is not None else raw.split(b"\0", 1)[0]
    return raw.decode("utf-8", "replace")


def read_strings(pointer: Pointer, count: int, lengths: Pointer = None) -> list[str]:
    """`const char* const*`: a list of `str`, or an address of addresses with optional lengths."""
    check_count(count, MOST_NAMES, "strings")
    if isinstance(pointer, str | bytes):
        return [read_string(pointer)]
    if isinstance(pointer, Sequence):
        return [read_string(item) for item in pointer[:count]]
    addresses = [int(a) for a in read_array(pointer, "intptr", count)]
    sizes = [-1] * count
    if lengths is not None:
        sizes = [int(n) for n in read_array(lengths, "int", count)]
    return [
        read_string(address or None, None if size < 0 else size)
        for address, size in zip(addresses, sizes, strict=True)
    ]
