"""Pictures in memory that the X server reads itself (the extension MIT-SHM).

A server on this machine maps the same System V segment, so a frame is written once and no bytes go
through the connection. One segment serves a window: before it is written again, the server must
have finished reading it (`XWindow` ensures that).
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from gallette.egl.xcb import Connection

_NAME = b"MIT-SHM"
_ATTACH, _DETACH, _PUT, _Z_PIXMAP = 1, 2, 3, 2
_PRIVATE, _MAKE, _REMOVE = 0, 0o1600, 0
_FAILED = ctypes.c_void_p(-1).value


def _libc() -> Any:
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
    libc.shmget.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_int]
    libc.shmdt.argtypes = [ctypes.c_void_p]
    libc.shmctl.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
    return libc


class SharedPicture:
    """Shared memory for pictures of up to this many bytes."""

    def __init__(self, server: Connection, opcode: int, size: int, address: int, segment: int):
        self._server, self._opcode, self._segment = server, opcode, segment
        self._address = address
        self.size = size
        self.bytes = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

    @classmethod
    def make(cls, server: Connection, size: int) -> SharedPicture | None:
        """Create the memory; returns None if the server cannot access this process's memory."""
        opcode = server.extension(_NAME)
        if not opcode:
            return None
        libc = _libc()
        memory = libc.shmget(_PRIVATE, size, _MAKE)
        if memory < 0:
            return None
        address = libc.shmat(memory, None, 0)
        segment = server.number()
        attached = address != _FAILED and server.accepted(
            opcode, _ATTACH, "IIB3x", segment, memory, True
        )
        libc.shmctl(memory, _REMOVE, None)  # it is freed with its last mapping
        if address == _FAILED:
            return None
        if not attached:
            libc.shmdt(address)
            return None
        return cls(server, opcode, size, address, segment)

    def put(
        self, drawable: int, context: int, shape: tuple[int, int], depth: int, at: tuple[int, int]
    ) -> None:
        """Show the contents of the memory as a picture of this height and width at a place."""
        height, width = shape
        self._server.tell(
            self._opcode, _PUT, "II6H2hBBBxII", drawable, context, width, height, 0, 0, width,
            height, *at, depth, _Z_PIXMAP, False, self._segment, 0,
        )  # fmt: skip

    def close(self) -> None:
        """Unmap the memory: in this process now, in the server when it processes the request."""
        self._server.tell(self._opcode, _DETACH, "I", self._segment)
        self._server.flush()
        del self.bytes
        _libc().shmdt(self._address)
