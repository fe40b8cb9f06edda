"""Pictures in memory that the X server reads itself (the extension MIT-SHM).

A server on this machine maps the same System V segment, so a frame is written once and no bytes go
through the connection. One segment serves a window: before it is written again, the server must
have finished reading it (`XWindow` ensures that). python-xlib has no such extension; its three
requests are spelled out here.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from Xlib import X
from Xlib import error as xerror
from Xlib.protocol import rq

__all__ = ["SharedPicture"]

_NAME = "MIT-SHM"
_PRIVATE, _MAKE, _REMOVE = 0, 0o1600, 0
_FAILED = ctypes.c_void_p(-1).value


class _Attach(rq.Request):  # type: ignore[misc]
    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(1),
        rq.RequestLength(),
        rq.Card32("segment"),
        rq.Card32("memory"),
        rq.Bool("read_only"),
        rq.Pad(3),
    )


class _Detach(rq.Request):  # type: ignore[misc]
    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(2), rq.RequestLength(), rq.Card32("segment"))


class _Put(rq.Request):  # type: ignore[misc]
    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(3),
        rq.RequestLength(),
        rq.Card32("drawable"),
        rq.Card32("context"),
        rq.Card16("total_width"),
        rq.Card16("total_height"),
        rq.Int16("from_x"),
        rq.Int16("from_y"),
        rq.Card16("width"),
        rq.Card16("height"),
        rq.Int16("to_x"),
        rq.Int16("to_y"),
        rq.Card8("depth"),
        rq.Card8("format"),
        rq.Bool("tell"),
        rq.Pad(1),
        rq.Card32("segment"),
        rq.Card32("offset"),
    )


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

    def __init__(self, display: Any, opcode: int, size: int, address: int, segment: int):
        self._display, self._opcode, self._segment = display, opcode, segment
        self._address = address
        self.size = size
        self.bytes = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

    @classmethod
    def make(cls, display: Any, size: int) -> SharedPicture | None:
        """Create the memory; returns None if the server cannot access this process's memory."""
        found = display.query_extension(_NAME)
        if found is None:
            return None
        libc = _libc()
        memory = libc.shmget(_PRIVATE, size, _MAKE)
        if memory < 0:
            return None
        address = libc.shmat(memory, None, 0)
        segment = display.display.allocate_resource_id()
        refused = xerror.CatchError()
        if address != _FAILED:
            _Attach(
                display=display.display,
                onerror=refused,
                opcode=found.major_opcode,
                segment=segment,
                memory=memory,
                read_only=True,
            )
            display.sync()
        libc.shmctl(memory, _REMOVE, None)  # it is freed with its last mapping
        if address == _FAILED:
            return None
        if refused.get_error() is not None:
            libc.shmdt(address)
            return None
        return cls(display, found.major_opcode, size, address, segment)

    def put(self, drawable: int, context: int, shape: tuple[int, int], depth: int) -> None:
        """Show the contents of the memory as a picture of this height and width."""
        height, width = shape
        _Put(
            display=self._display.display,
            opcode=self._opcode,
            drawable=drawable,
            context=context,
            total_width=width,
            total_height=height,
            from_x=0,
            from_y=0,
            width=width,
            height=height,
            to_x=0,
            to_y=0,
            depth=depth,
            format=X.ZPixmap,
            tell=False,
            segment=self._segment,
            offset=0,
        )

    def close(self) -> None:
        """Unmap the memory: in this process now, in the server when it processes the request."""
        _Detach(display=self._display.display, opcode=self._opcode, segment=self._segment)
        self._display.flush()
        del self.bytes
        _libc().shmdt(self._address)
