"""What is asked of an X server, seen by one that only writes down: no X server is needed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.egl.constants import Error
from gallette.egl.errors import EglError

pytest.importorskip("Xlib")

from Xlib import error as xerror

from gallette.egl import x11 as module
from gallette.egl.x11 import X11, Client, XWindow

TRUE_COLOR, DIRECT_COLOR, Z_PIXMAP = 4, 5, 2  # as X11/X.h has them


class Drawable:
    """A window that writes down."""

    def __init__(self, said: list[Any], depth: int):
        self.said, self.depth = said, depth
        self.gone = False

    def get_geometry(self) -> Any:
        self.said.append("geometry")
        if self.gone:
            raise xerror.ConnectionClosedError("server")
        return SimpleNamespace(width=7, height=5, depth=self.depth)

    def create_gc(self) -> Any:
        self.said.append("gc")
        return SimpleNamespace(id=77, free=lambda: self.said.append("gc freed"))

    def put_image(self, gc: Any, *given: Any) -> None:
        self.said.append(("put", *given))


def visual(number: int, kind: int, *masks: int) -> dict[str, int]:
    names = ("red_mask", "green_mask", "blue_mask")
    return {"visual_id": number, "visual_class": kind} | dict(zip(names, masks, strict=True))


def server(said: list[Any], depth: int = 24, root: int = 24, longest: int = 65535) -> X11:
    """A connection to nowhere, with one window."""
    made = object.__new__(X11)
    drawable = Drawable(said, depth)
    made.client = Client(0)

    def resource(kind: str, number: int) -> Drawable:
        said.append((kind, number))
        return drawable

    made.display = SimpleNamespace(
        create_resource_object=resource,
        sync=lambda: said.append("sync"),
        flush=lambda: said.append("flush"),
        display=SimpleNamespace(info=SimpleNamespace(max_request_length=longest)),
    )
    made.screen = SimpleNamespace(root_visual=0x21, root_depth=root, allowed_depths=[])
    made.shares = False
    return made


BYTES = (0xFF0000, 0xFF00, 0xFF)
FIRST = {"depth": 24, "visuals": [visual(0x30, DIRECT_COLOR, *BYTES),
                                  visual(0x31, TRUE_COLOR, *BYTES),
                                  visual(0x32, TRUE_COLOR, *BYTES)]}  # fmt: skip
ALPHA = {"depth": 32, "visuals": [visual(0x40, TRUE_COLOR, *BYTES)]}
WORDS = {"depth": 16, "visuals": [visual(0x50, TRUE_COLOR, 0xF800, 0x7E0, 0x1F)]}
GRAY = {"depth": 8, "visuals": [visual(0x60, 1, 0, 0, 0)]}


@pytest.mark.parametrize(
    ("root", "depths", "wanted"),
    [
        # The root's own visual stands for all opaque ones, and for those whose alpha does not show;
        # after it comes the one whose alpha does.
        (24, [FIRST, ALPHA, GRAY], {(8, 8, 8, 0): [0x21], (8, 8, 8, 8): [0x21, 0x40]}),
        (24, [FIRST], {(8, 8, 8, 0): [0x21], (8, 8, 8, 8): [0x21]}),
        # A root of another depth has a visual of other bits: the first that fits is taken.
        (16, [WORDS, FIRST, ALPHA],
         {(5, 6, 5, 0): [0x50], (8, 8, 8, 0): [0x31], (8, 8, 8, 8): [0x31, 0x40]}),
        (32, [ALPHA], {(8, 8, 8, 8): [0x40]}),
        (16, [WORDS, GRAY], {(5, 6, 5, 0): [0x50]}),
        (8, [GRAY], {}),
    ],
)  # fmt: skip
def test_visuals_by_their_bits(
    root: int, depths: list[Any], wanted: dict[tuple[int, ...], list[int]]
) -> None:
    made = server([], root=root)
    made.screen.allowed_depths = depths
    assert made.visuals() == {
        bits: tuple((number, TRUE_COLOR) for number in numbers) for bits, numbers in wanted.items()
    }


def test_only_visuals_of_four_bytes_are_used() -> None:
    said: list[Any] = []
    made = server(said)
    for number in (0, -1, 1 << 32):
        assert made.open(number) is None
    assert said == []
    for number in (1, (1 << 32) - 1):
        opened = made.open(number)
        assert opened is not None and opened.native == number
    assert said == [
        ("drawable", 1), "geometry", ("drawable", (1 << 32) - 1), "geometry",
    ]  # fmt: skip


def test_a_destroyed_window() -> None:
    made = server([])
    opened = made.open(3)
    assert opened is not None
    opened.drawable.gone = True
    assert made.open(3) is None
    with pytest.raises(EglError) as caught:
        opened.size()
    assert caught.value.code is Error.BAD_NATIVE_WINDOW


@pytest.mark.parametrize(("depth", "alpha"), [(16, False), (24, False), (32, True)])
def test_a_windows_depth_is_its_own(depth: int, alpha: bool) -> None:
    window = XWindow(server([], depth=depth, root=15), 5)
    assert window.depth == 15
    assert window.size() == (7, 5)
    assert (window.depth, window.has_alpha) == (depth, alpha)


def sent(depth: int, longest: int, shape: tuple[int, int]) -> tuple[list[Any], Any]:
    said: list[Any] = []
    window = XWindow(server(said, depth, longest=longest), 5)
    window.size()
    pixels = np.random.default_rng(3).integers(0, 256, (*shape, 4), np.uint8)
    window.present(pixels)
    window.present(pixels)
    window.close()
    window.close()
    return said[2:], pixels


@pytest.mark.parametrize("depth", [24, 32])
def test_a_picture_is_sent_in_stripes(depth: int) -> None:
    # rows of 12 bytes; 22 words less 64 bytes are 24: two rows at a time
    said, pixels = sent(depth, 22, (5, 3))
    rows = pixels[..., [2, 1, 0, 3]]
    stripes = [
        ("put", 0, top, 3, count, Z_PIXMAP, depth, 0, rows[top : top + count].tobytes())
        for top, count in ((0, 2), (2, 2), (4, 1))
    ]
    assert said == ["gc", *stripes, "sync", *stripes, "sync", "gc freed"]


def test_a_row_at_least_is_sent_and_words_fill_whole_rows() -> None:
    said, pixels = sent(16, 16, (2, 3))
    stripes = []
    for top in range(2):
        words = [(int(r) >> 3) * 2048 + (int(g) >> 2) * 32 + (int(b) >> 3)
                 for r, g, b, _ in pixels[top]]  # fmt: skip
        data = np.array([*words, 0], np.uint16).tobytes()
        stripes.append(("put", 0, top, 3, 1, Z_PIXMAP, 16, 0, data))
    assert said == ["gc", *stripes, "sync", *stripes, "sync", "gc freed"]


class Memory:
    """Shared memory that writes down."""

    def __init__(self, said: list[Any], size: int):
        self.said, self.size = said, size
        self.bytes = np.zeros(size, np.uint8)
        said.append(("made", size))

    def put(self, *given: Any) -> None:
        self.said.append(("shown", *given))

    def close(self) -> None:
        self.said.append("closed")


def test_shared_memory_is_kept_while_it_is_large_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    made = server(said)
    made.shares = True
    make = SimpleNamespace(make=lambda display, size: Memory(said, size))
    monkeypatch.setattr(module, "SharedPicture", make)
    window = XWindow(made, 5)
    said.clear()

    def shown(height: int, width: int) -> list[Any]:
        window.present(np.full((height, width, 4), (1, 2, 3, 4), np.uint8))
        before, said[:] = list(said), []
        return before

    put = ("shown", 5, 77)
    assert shown(2, 3) == ["gc", ("made", 24), (*put, (2, 3), 24), "flush"]
    # The server may still be reading: its answer is waited for, once.
    assert shown(3, 2) == ["sync", (*put, (3, 2), 24), "flush"]
    assert window._shared is not None
    assert window._shared.bytes.tolist() == [3, 2, 1, 4] * 6
    window.size()
    assert said.pop() == "geometry"  # whatever was asked before is done with the answer
    assert shown(1, 1) == [(*put, (1, 1), 24), "flush"]
    assert shown(5, 5) == ["sync", "closed", ("made", 100), (*put, (5, 5), 24), "flush"]
    window.close()
    window.close()
    assert said == ["closed", "gc freed"]
    assert made.shares


def test_a_server_without_shared_memory_is_queried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    made = server(said)
    made.shares = True

    def make(display: Any, size: int) -> None:
        said.append("refused")

    monkeypatch.setattr(module, "SharedPicture", SimpleNamespace(make=make))
    window = XWindow(made, 5)
    for _ in range(2):
        window.present(np.zeros((1, 1, 4), np.uint8))
    assert said.count("refused") == 1 and not made.shares
    assert [what for what in said if what[0] == "put"] == [
        ("put", 0, 0, 1, 1, Z_PIXMAP, 24, 0, bytes(4))
    ] * 2


def test_a_server_that_shares_no_more_is_sent_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    made = server(said)
    made.shares = True
    left = [Memory(said, 4)]
    make = SimpleNamespace(make=lambda display, size: left.pop() if left else None)
    monkeypatch.setattr(module, "SharedPicture", make)
    window = XWindow(made, 5)
    window.present(np.zeros((1, 1, 4), np.uint8))
    said.clear()
    for _ in range(2):
        window.present(np.zeros((1, 2, 4), np.uint8))
    put = ("put", 0, 0, 2, 1, Z_PIXMAP, 24, 0, bytes(8))
    # It was reading what it shared, once; then it is through with each picture it is sent.
    assert said == ["sync", "closed", put, "sync", put, "sync"]
