"""Which platform a pointer given to eglGetDisplay is of."""

from __future__ import annotations

import ctypes

import pytest

from gallette.egl.constants import EGL
from gallette.egl.display import default_platform, is_mapped

Pointer = ctypes.c_void_p


def made(name: bytes) -> tuple[int, list[object]]:
    """An object that begins as Wayland's do, and what keeps it alive."""
    text = ctypes.create_string_buffer(name)
    interface = (Pointer * 2)(ctypes.addressof(text), None)
    proxy = (Pointer * 4)(ctypes.addressof(interface), None, None, None)
    return ctypes.addressof(proxy), [text, interface, proxy]


@pytest.mark.parametrize(
    ("name", "platform"),
    [
        (b"wl_display", EGL.PLATFORM_WAYLAND),
        (b"wl_displays", EGL.PLATFORM_X11),
        (b"wl_surface", EGL.PLATFORM_X11),
        (b"", EGL.PLATFORM_X11),
    ],
)
def test_a_wayland_display_is_known_by_its_interface(
    name: bytes, platform: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EGL_PLATFORM", raising=False)
    address, kept = made(name)
    assert default_platform(address) == platform
    assert len(kept) == 3


@pytest.mark.parametrize("first", [0, 8, 0x1000, (1 << 47) - 8])
def test_unmapped_pointers_are_not_read(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EGL_PLATFORM", raising=False)
    display = (Pointer * 4)(first, None, None, None)
    assert default_platform(ctypes.addressof(display)) == EGL.PLATFORM_X11
    assert not is_mapped(first, 8)
