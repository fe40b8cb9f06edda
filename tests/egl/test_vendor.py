"""What glvnd's libEGL asks of a vendor, asked in this process by a libEGL made up."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

from gallette.egl import vendor
from gallette.egl.constants import EGL, Error
from gallette.egl.display import DEVICE
from gallette.egl.errors import last_error
from gallette.egl.functions import eglInitialize, eglTerminate
from gallette.egl.registry import prototype

SIGNATURES = {
    # name in glvnd's interface: what C sees, place in the table of exports
    "thread_init": (":v", 0), "fetch": ("pi:p", 6), "set_error": ("i:v", 7),
    "set_vendor": ("p:u", 8), "vendor_of": ("p:p", 9), "vendor_of_device": ("p:p", 10),
}  # fmt: skip
IMPORTS = ("get_platform_display", "get_supports_api", "get_vendor_string", "get_proc_address",
           "get_dispatch_address", "set_dispatch_index")  # fmt: skip
OURS, OTHERS = 0x1000, 0x2000


class Libegl:
    """glvnd's side: which vendor has which display, and what was called."""

    def __init__(self) -> None:
        self.called: list[tuple[Any, ...]] = []
        self.vendors: dict[int, int] = {}
        self.functions: dict[int, int] = {}
        self.kept: list[Any] = []
        self.exports = (ctypes.c_void_p * 11)()
        self.imports = (ctypes.c_void_p * (len(vendor._IMPORTS) + vendor._OPTIONAL))()
        for name, (signature, place) in SIGNATURES.items():
            pointer = prototype(signature)(self._told(name))
            self.kept.append(pointer)
            self.exports[place] = ctypes.cast(pointer, ctypes.c_void_p).value
        self.answer = vendor.__dict__["__egl_Main"](
            0, ctypes.addressof(self.exports), OURS, ctypes.addressof(self.imports)
        )

    def _told(self, name: str) -> Any:
        def told(*args: Any) -> Any:
            self.called.append((name, *(a or 0 for a in args)))
            if name in ("vendor_of", "vendor_of_device"):
                return self.vendors.get(args[0] or 0, 0)
            return self.functions.get(args[1], 0) if name == "fetch" else 1

        return told

    def call(self, name: str, *args: Any) -> Any:
        """One of the functions the vendor has given."""
        place, signature = next(
            (i, s) for i, (n, s) in enumerate(vendor._IMPORTS) if n == name
        )  # fmt: skip
        return prototype(signature)(self.imports[place])(*args)


@pytest.fixture
def libegl(monkeypatch: pytest.MonkeyPatch) -> Iterator[Libegl]:
    monkeypatch.setattr(vendor, "_GLVND", vendor._Glvnd())
    monkeypatch.setattr(vendor, "_DISPATCHERS", {})
    made = Libegl()
    assert made.answer == 1
    yield made
    last_error()


def text(value: bytes) -> Any:
    return ctypes.create_string_buffer(value)


def test_another_interface_is_refused() -> None:
    main = vendor.__dict__["__egl_Main"]
    assert main(1 << 16, 0, OURS, 0) == 0


def test_everything_that_is_needed_is_given(libegl: Libegl) -> None:
    assert tuple(name for name, _ in vendor._IMPORTS) == IMPORTS
    assert [bool(p) for p in libegl.imports] == [True] * 6 + [False] * 5
    assert vendor._GLVND.vendor == OURS


def test_displays_and_strings(libegl: Libegl) -> None:
    ask = "get_platform_display"
    display = libegl.call(ask, EGL.PLATFORM_SURFACELESS_MESA, 0, 0)
    assert display
    assert not libegl.call(ask, 0x1234, 0, 0)
    bad = libegl.call(ask, EGL.PLATFORM_DEVICE_EXT, 77, 0)
    assert not bad
    assert last_error() == Error.BAD_PARAMETER
    apis = EGL.OPENGL_API, EGL.OPENGL_ES_API, 0x30A1
    assert [libegl.call("get_supports_api", api) for api in apis] == [1, 1, 0]
    found = ctypes.cast(libegl.call("get_vendor_string", 0), ctypes.c_char_p).value or b""
    assert b"EGL_MESA_platform_surfaceless" in found.split()
    assert not libegl.call("get_vendor_string", 1)


def test_functions_by_name(libegl: Libegl) -> None:
    for name, there in ((b"glClear", True), (b"eglInitialize", True), (b"glNothing", False)):
        kept = text(name)
        assert bool(libegl.call("get_proc_address", ctypes.addressof(kept))) == there
    for name, there in ((b"eglDestroySyncKHR", True), (b"eglInitialize", False), (b"", False)):
        kept = text(name)
        first = libegl.call("get_dispatch_address", ctypes.addressof(kept))
        assert bool(first) == there
        assert libegl.call("get_dispatch_address", ctypes.addressof(kept)) == first


def test_calls_go_to_the_vendor_of_the_display(libegl: Libegl) -> None:
    from gallette.egl.display import get_display

    display = get_display(EGL.PLATFORM_DEVICE_EXT, id(DEVICE))
    eglInitialize(display, 0, 0)
    name = text(b"eglGetDisplayDriverName")
    function = prototype("p:p")(libegl.call("get_dispatch_address", ctypes.addressof(name)))
    libegl.call("set_dispatch_index", ctypes.addressof(name), 5)
    libegl.vendors = {display: OURS, 0x77: OTHERS, 0x78: OTHERS + 1}
    answer = ctypes.cast(function(display), ctypes.c_char_p).value
    assert answer == b"gallette"
    assert libegl.called == [("thread_init",), ("vendor_of", display), ("set_vendor", OURS)]

    seen: list[Any] = []
    theirs = prototype("p:p")(lambda display: seen.append(display) or 0x1234)
    libegl.functions = {5: ctypes.cast(theirs, ctypes.c_void_p).value or 0}
    libegl.called.clear()
    assert function(0x77) == 0x1234
    assert seen == [0x77]
    assert libegl.called[1:] == [
        ("vendor_of", 0x77), ("set_vendor", OTHERS), ("fetch", OTHERS, 5),
    ]  # fmt: skip
    libegl.functions = {}
    assert not function(0x78)
    libegl.called.clear()
    assert not function(0x99)  # nobody's display
    assert libegl.called == [
        ("thread_init",), ("vendor_of", 0x99), ("set_error", int(Error.BAD_DISPLAY)),
    ]  # fmt: skip
    eglTerminate(display)


def test_devices_have_vendors_too(libegl: Libegl) -> None:
    name = text(b"eglQueryDeviceStringEXT")
    function = prototype("pi:p")(libegl.call("get_dispatch_address", ctypes.addressof(name)))
    libegl.vendors = {id(DEVICE): OURS}
    found = ctypes.cast(function(id(DEVICE), EGL.VENDOR), ctypes.c_char_p).value
    assert found == b"gallette"
    assert libegl.called[1] == ("vendor_of_device", id(DEVICE))
    libegl.called.clear()
    assert not function(0x55, EGL.VENDOR)
    assert libegl.called[-1] == ("set_error", int(Error.BAD_DEVICE))


def test_mistakes_in_callbacks_are_errors() -> None:
    def broken(error: BaseException) -> Any:
        def call(*args: Any) -> Any:
            assert args == (0, 5)  # a null pointer is 0
            raise error

        return call

    from gallette.egl.errors import EglError

    last_error()
    for error, code in ((EglError(Error.BAD_MATCH, "x"), Error.BAD_MATCH),
                        (ValueError("x"), Error.BAD_ALLOC)):  # fmt: skip
        assert vendor._safe(broken(error), "pi:p")(None, 5) == 0
        assert last_error() == code
        assert vendor._safe(broken(error), "pi:v")(None, 5) is None
        assert last_error() == code
    assert vendor._safe(lambda: None, ":p")() == 0
    assert vendor._safe(lambda: 7, ":p")() == 7
