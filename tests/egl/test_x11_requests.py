"""What is asked of an X server, seen by one that only writes down: no X server is needed."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.egl import x11 as module
from gallette.egl.constants import Error
from gallette.egl.errors import EglError
from gallette.egl.x11 import X11, XWindow
from gallette.egl.xcb import Connection, Screen, Visual, screens

TRUE_COLOR, DIRECT_COLOR, Z_PIXMAP = 4, 5, 2  # as X11/X.h has them
CONTEXT = 77


class Server(Connection):
    """A connection to nowhere, with one window, that writes down."""

    def __init__(self, said: list[Any], depth: int, screen: Screen, longest: int):
        self.said, self.depth, self.screen, self.gone = said, depth, screen, False
        self.words = longest

    def ask(self, opcode: int, byte: int = 0, form: str = "", *values: Any) -> bytes | None:
        assert opcode == 14  # GetGeometry
        self.said.append(("geometry", *values))
        return None if self.gone else struct.pack("=xB14xHH12x", self.depth, 7, 5)

    def tell(
        self, opcode: int, byte: int = 0, form: str = "", *values: Any, data: bytes = b""
    ) -> None:
        assert struct.calcsize(f"={form}") % 4 == 0, "a request consists of words"
        name = {55: "gc", 60: "gc freed", 72: "put"}[opcode]
        self.said.append((name, byte, *values, data) if name == "put" else name)

    @property
    def is_open(self) -> bool:
        return True

    @property
    def longest(self) -> int:
        return 4 * self.words

    def number(self) -> int:
        return CONTEXT

    def sync(self) -> None:
        self.said.append("sync")

    def flush(self) -> None:
        self.said.append("flush")


def server(
    said: list[Any], depth: int = 24, root: int = 24, longest: int = 65535,
    visuals: tuple[Visual, ...] = (),
) -> X11:  # fmt: skip
    made = X11(Server(said, depth, Screen(1, 0x21, root, list(visuals)), longest))
    made.shares = False
    return made


BYTES = (0xFF0000, 0xFF00, 0xFF)
FIRST = [Visual(24, 0x30, DIRECT_COLOR, BYTES), Visual(24, 0x31, TRUE_COLOR, BYTES),
         Visual(24, 0x32, TRUE_COLOR, BYTES)]  # fmt: skip
ALPHA = [Visual(32, 0x40, TRUE_COLOR, BYTES)]
WORDS = [Visual(16, 0x50, TRUE_COLOR, (0xF800, 0x7E0, 0x1F))]
GRAY = [Visual(8, 0x60, 1, (0, 0, 0))]


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
    made = server([], root=root, visuals=tuple(v for several in depths for v in several))
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
    assert said == [("geometry", 1), ("geometry", (1 << 32) - 1)]


def test_a_destroyed_window() -> None:
    made = server([])
    opened = made.open(3)
    assert opened is not None
    assert isinstance(made.server, Server)
    made.server.gone = True
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
    return said[1:], pixels


def put(width: int, height: int, top: int, depth: int, data: bytes) -> tuple[Any, ...]:
    return ("put", Z_PIXMAP, 5, CONTEXT, width, height, 0, top, 0, depth, data)


@pytest.mark.parametrize("depth", [24, 32])
def test_a_picture_is_sent_in_stripes(depth: int) -> None:
    # rows of 12 bytes; 22 words less 64 bytes are 24: two rows at a time
    said, pixels = sent(depth, 22, (5, 3))
    rows = pixels[..., [2, 1, 0, 3]]
    stripes = [
        put(3, count, top, depth, rows[top : top + count].tobytes())
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
        stripes.append(put(3, 1, top, 16, data))
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

    show = ("shown", 5, CONTEXT)
    assert shown(2, 3) == ["gc", ("made", 24), (*show, (2, 3), 24, (0, 0)), "flush"]
    # The server may still be reading: its answer is waited for, once.
    assert shown(3, 2) == ["sync", (*show, (3, 2), 24, (0, 0)), "flush"]
    assert window._shared is not None
    assert window._shared.bytes.tolist() == [3, 2, 1, 4] * 6
    window.size()
    assert said.pop() == ("geometry", 5)  # whatever was asked before is done with the answer
    assert shown(1, 1) == [(*show, (1, 1), 24, (0, 0)), "flush"]
    assert shown(5, 5) == ["sync", "closed", ("made", 100), (*show, (5, 5), 24, (0, 0)), "flush"]
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
    assert [what for what in said if what[0] == "put"] == [put(1, 1, 0, 24, bytes(4))] * 2


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
    sent = put(2, 1, 0, 24, bytes(8))
    # It was reading what it shared, once; then it is through with each picture it is sent.
    assert said == ["sync", "closed", sent, "sync", sent, "sync"]


def test_screens_are_read_from_what_a_server_says() -> None:
    """Two screens behind a vendor's name that is no whole word and a list of formats."""
    name, formats = b"gallette", 3
    name += b"!"
    said = struct.pack("=24xHHBB10x", len(name), 65535, 2, formats)
    said += name + bytes(-len(name) % 4) + bytes(8 * formats)
    for root, depths in ((7, [(24, FIRST), (8, [])]), (9, [(16, WORDS), (32, ALPHA)])):
        said += struct.pack("=I28xIxxBB", root, root + 1, 24, len(depths))
        for depth, visuals in depths:
            said += struct.pack("=BxH4x", depth, len(visuals))
            for v in visuals:
                said += struct.pack("=IB3xIII4x", v.number, v.kind, *v.masks)
    assert screens(said) == [Screen(7, 8, 24, FIRST), Screen(9, 10, 24, WORDS + ALPHA)]
