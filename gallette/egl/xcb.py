"""A connection to an X server through libxcb: the program's own, if it has one.

Requests are spelled out as the bytes that the protocol has. On the program's connection they are in
order with its own, and the server answers them while the program keeps it from answering others
(XGrabServer). Errors of gallette's requests are taken from the connection, so that the program's
error handler never sees them.
"""

from __future__ import annotations

import atexit
import ctypes
import struct
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from gallette.egl.constants import EGL, Error
from gallette.egl.errors import EglError

_P, _I, _U = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint
_CHECKED, _DISCARD_REPLY = 1, 4  # flags of xcb_send_request
_LENGTH_OF_REPLY = 32  # what is longer counts in words at byte 4
_QUERY_EXTENSION, _GET_INPUT_FOCUS = 98, 43
_LEFT_FREE = 2  # libxcb puts its own in front of a request's parts

_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "xcb_connect": (_P, ctypes.c_char_p, _P),
    "xcb_connection_has_error": (_I, _P),
    "xcb_disconnect": (None, _P),
    "xcb_flush": (_I, _P),
    "xcb_generate_id": (ctypes.c_uint32, _P),
    "xcb_get_maximum_request_length": (ctypes.c_uint32, _P),
    "xcb_get_setup": (_P, _P),
    "xcb_request_check": (_P, _P, _U),
    "xcb_send_request": (_U, _P, _I, _P, _P),
    "xcb_wait_for_reply": (_P, _P, _U, _P),
}


class _Part(ctypes.Structure):
    """`struct iovec`."""

    _fields_ = [("data", _P), ("size", ctypes.c_size_t)]


class _Kind(ctypes.Structure):
    """`xcb_protocol_request_t`. Extensions are called by their numbers, as the core is."""

    _fields_ = [("parts", ctypes.c_size_t), ("extension", _P), ("opcode", ctypes.c_uint8),
                ("no_reply", ctypes.c_uint8)]  # fmt: skip


class Visual(NamedTuple):
    depth: int
    number: int
    kind: int
    masks: tuple[int, int, int]


class Screen(NamedTuple):
    root: int
    visual: int
    depth: int
    visuals: list[Visual]


def missing() -> str | None:
    """What is said of a library that windows need and the machine lacks."""
    try:
        _xcb(), _xlib()
    except OSError as error:
        return f"windows of X11 need libxcb and libX11-xcb: {error}"
    return None


@cache
def _xcb() -> Any:
    library = ctypes.CDLL("libxcb.so.1")
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@cache
def _free() -> Any:
    free = ctypes.CDLL(None).free
    free.restype, free.argtypes = None, [_P]
    return free


class Connection:
    """Requests, their replies, and what the server said of itself."""

    def __init__(self, platform: int, native: int, ended: Callable[[], None]):
        """`native` is an Xlib `Display`, an `xcb_connection_t` (by platform), or 0: a connection of
        our own. Before Xlib closes its connection, `ended` is called.
        """
        self._xcb, self._own, number = _xcb(), not native, ctypes.c_int(0)
        if self._own:
            self._address = self._xcb.xcb_connect(None, ctypes.byref(number)) or 0
        elif platform == EGL.PLATFORM_XCB_EXT:
            self._address = native
        else:
            self._address, number.value = _of_xlib(native, ended)
        if not self._address or self._xcb.xcb_connection_has_error(self._address):
            self.close()
            raise EglError(Error.NOT_INITIALIZED, "no X server")
        setup = self._xcb.xcb_get_setup(self._address)
        size = 8 + 4 * struct.unpack_from("H", ctypes.string_at(setup, 8), 6)[0]
        self.setup = ctypes.string_at(setup, size)
        self.screen = screens(self.setup)[number.value]

    @property
    def is_open(self) -> bool:
        return self._address != 0

    @property
    def longest(self) -> int:
        """The most bytes of one request."""
        return 4 * int(self._xcb.xcb_get_maximum_request_length(self._address))

    def number(self) -> int:
        """A number for a new resource."""
        return int(self._xcb.xcb_generate_id(self._address))

    def _send(self, flags: int, opcode: int, no_reply: bool, parts: tuple[bytes, ...]) -> int:
        if not self._address:
            return 0
        vector = (_Part * (_LEFT_FREE + len(parts)))()
        first = ctypes.create_string_buffer(parts[0], len(parts[0]))  # libxcb writes to it
        kept = [first, *(ctypes.c_char_p(part) for part in parts[1:])]
        for at, (part, data) in enumerate(zip(parts, kept, strict=True), _LEFT_FREE):
            vector[at].data, vector[at].size = ctypes.cast(data, _P).value, len(part)
        kind = _Kind(len(parts), None, opcode, no_reply)
        begin = ctypes.addressof(vector) + _LEFT_FREE * ctypes.sizeof(_Part)
        return int(self._xcb.xcb_send_request(self._address, flags, begin, ctypes.addressof(kind)))

    def ask(self, opcode: int, byte: int = 0, form: str = "", *values: Any) -> bytes | None:
        """A request's reply; None if the server refuses it or the connection is closed.

        `byte` is the second of the request, `values` in a form of `struct` follow its length.
        """
        sent = self._send(_CHECKED, opcode, False, (_request(byte, form, *values),))
        error = _P()
        found = sent and self._xcb.xcb_wait_for_reply(self._address, sent, ctypes.byref(error))
        if error:
            _free()(error)
        if not found:
            return None
        words = struct.unpack_from("I", ctypes.string_at(found, 8), 4)[0]
        reply = ctypes.string_at(found, _LENGTH_OF_REPLY + 4 * words)
        _free()(found)
        return reply

    def tell(
        self, opcode: int, byte: int = 0, form: str = "", *values: Any, data: bytes = b""
    ) -> None:
        """A request without a reply. Nothing happens if the server refuses it."""
        parts = (_request(byte, form, *values), *((data, bytes(-len(data) % 4)) if data else ()))
        self._send(_CHECKED | _DISCARD_REPLY, opcode, True, parts)

    def accepted(self, opcode: int, byte: int = 0, form: str = "", *values: Any) -> bool:
        """Does the server accept this request, which has no reply?"""
        sent = self._send(_CHECKED, opcode, True, (_request(byte, form, *values),))
        error = self._xcb.xcb_request_check(self._address, sent) if sent else None
        if error:
            _free()(error)
        return bool(sent) and not error

    def extension(self, name: bytes) -> int:
        """The number of an extension's requests; 0 if the server lacks it."""
        padded = f"H2x{len(name)}s{-len(name) % 4}x"
        reply = self.ask(_QUERY_EXTENSION, 0, padded, len(name), name)
        return reply[9] if reply is not None and reply[8] else 0

    def flush(self) -> None:
        if self._address:
            self._xcb.xcb_flush(self._address)

    def sync(self) -> None:
        """Wait until the server has processed what it was sent."""
        self.ask(_GET_INPUT_FOCUS)

    def close(self) -> None:
        """Leave the program's connection, or end our own; later requests do nothing."""
        if self._address:
            if self._own:
                self._xcb.xcb_disconnect(self._address)
            else:
                self.flush()
        self._address = 0


def _request(byte: int, form: str, *values: Any) -> bytes:
    """The bytes of a request; libxcb writes its number and its length into the first four."""
    return struct.pack(f"=xB2x{form}", byte, *values)


# -- Xlib ------------------------------------------------------------------------------------------

_ENDED: dict[int, Callable[[], None]] = {}
"""Display -> what is called before Xlib closes its connection."""
_EXTENSIONS: dict[int, int] = {}
"""Display -> the number under which Xlib calls us."""


def _closing(native: int, codes: int) -> int:
    _EXTENSIONS.pop(native, None)
    ended = _ENDED.pop(native, None)
    if ended is not None:
        ended()
    return 0


_HOOK = ctypes.CFUNCTYPE(_I, _P, _P)(_closing)


@cache
def _xlib() -> tuple[Any, Any]:
    """libX11, and the library that tells a Display's connection."""
    x11, joint = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libX11-xcb.so.1")
    for library, name, result, *arguments in (
        (x11, "XDefaultScreen", _I, _P),
        (x11, "XAddExtension", ctypes.POINTER(_I), _P),
        (x11, "XESetCloseDisplay", _P, _P, _I, _P),
        (joint, "XGetXCBConnection", _P, _P),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    atexit.register(_unhook)
    return x11, joint


def _unhook() -> None:
    """Xlib must not call Python after its end."""
    for native, extension in _EXTENSIONS.items():
        _xlib()[0].XESetCloseDisplay(native, extension, None)
    _EXTENSIONS.clear()


def _of_xlib(native: int, ended: Callable[[], None]) -> tuple[int, int]:
    """A Display's connection and its default screen."""
    x11, joint = _xlib()
    if native not in _EXTENSIONS:
        _EXTENSIONS[native] = extension = x11.XAddExtension(native)[0]
        x11.XESetCloseDisplay(native, extension, ctypes.cast(_HOOK, _P))
    _ENDED[native] = ended
    return joint.XGetXCBConnection(native) or 0, x11.XDefaultScreen(native)


# -- what a server says when it is connected to ----------------------------------------------------


def screens(setup: bytes) -> list[Screen]:
    """The screens that a server's answer to a connection describes."""
    vendor, _, roots, formats = struct.unpack_from("HHBB", setup, 24)
    at, found = 40 + (vendor + 3 & ~3) + 8 * formats, []
    for _ in range(roots):
        root, visual, depth, depths = struct.unpack_from("I28xIxxBB", setup, at)
        at += 40
        visuals = []
        for _ in range(depths):
            bits, several = struct.unpack_from("BxH4x", setup, at)
            at += 8
            for _ in range(several):
                number, kind, *masks = struct.unpack_from("IB3xIII4x", setup, at)
                visuals.append(Visual(bits, number, kind, (masks[0], masks[1], masks[2])))
                at += 24
        found.append(Screen(root, visual, depth, visuals))
    return found
