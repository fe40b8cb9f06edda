"""Which native drivers can live in one process: two at a time, while they have contexts."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from gallette.compiler.errors import GalletteError
from gallette.state_tracker.native import egl
from gallette.state_tracker.native.egl import Display, EglContext, open_display


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Displays are begun and ended on paper only: what was, in order."""
    found: list[str] = []

    def begin(platform: int, driver: str) -> Display:
        found.append(f"begin {driver}")
        return Display(len(found), driver)

    def end(handle: int) -> None:
        found.append(f"end {found[handle - 1].split()[1]}")

    monkeypatch.setattr(egl, "_DISPLAYS", egl._Displays())
    monkeypatch.setattr(egl, "_initialise", begin)
    monkeypatch.setattr(egl, "egl", lambda: SimpleNamespace(eglTerminate=end))
    return found


def test_contexts_of_a_driver_share_a_display(log: list[str]) -> None:
    first = open_display("one")
    assert open_display("one") is first
    assert (first.users, log) == (2, ["begin one"])


def test_a_third_driver_waits_until_one_is_idle(log: list[str]) -> None:
    first, second = open_display("one"), open_display("two")
    assert open_display("one") is first
    for _ in range(2):
        with pytest.raises(GalletteError, match="one and two are in use"):
            open_display("three")
        first.users -= 1  # a context goes
    third = open_display("three")
    assert (third.driver, third.users, second.users) == ("three", 1, 1)
    assert log == ["begin one", "begin two", "end one", "begin three"]
    with pytest.raises(GalletteError, match="two and three are in use"):
        open_display("one")


def test_an_idle_driver_is_there_again_at_once(log: list[str]) -> None:
    first = open_display("one")
    first.users -= 1
    assert open_display("one") is first
    assert (first.users, log) == (1, ["begin one"])


def test_a_context_that_fails_uses_no_display(
    log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise GalletteError("no such version")

    monkeypatch.setattr(EglContext, "_create", refuse)
    for driver in ("one", "two", "three"):
        with pytest.raises(GalletteError, match="no such version"):
            EglContext(driver, "core", (9, 9))
    assert log == ["begin one", "end one", "begin two", "end two", "begin three"]


@pytest.mark.parametrize(
    ("extensions", "chosen"),
    [
        ([], None),
        ([b"EGL_EXT_device_drm"], 1),
        ([b"EGL_EXT_device_drm", b"EGL_EXT_device_drm"], 1),
        ([b"EGL_MESA_device_software", b"EGL_EXT_device_drm"], 1),
        ([b"EGL_EXT_device_drm", None, b"EGL_EXT_a EGL_MESA_device_software"], 3),
    ],
)
def test_the_software_device_is_taken_or_else_the_first(
    extensions: list[bytes | None], chosen: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def query(room: int, devices: Any, count: int) -> None:
        devices[: len(extensions)] = range(1, len(extensions) + 1)
        ctypes.c_int.from_address(count).value = len(extensions)

    found = {
        "eglQueryDevicesEXT": query,
        "eglQueryDeviceStringEXT": lambda device, name: extensions[device - 1],
    }
    monkeypatch.setattr(egl, "_extension", lambda name, *_: found[name])
    assert egl._device() == chosen
