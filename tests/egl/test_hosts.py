"""C programs without Python run on gallette: through our libEGL, and through glvnd's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

Host = Callable[..., str]

# mode -> what the program says
MODES = {
    "draw": "51 gallette",
    "es1": "51 0 OpenGL ES-CM 1.1",
    "unmade": "0",  # no current context: calls do nothing
    "two": "51 102 51",  # two contexts in one thread, each with its own picture
    "threads": "84 51",  # four threads: each made current once, and drew twenty times
    "ended": "1 1 1 51",  # a thread's end takes what was current in it
    "fork": "0 51",  # the child draws, and so does the parent
    "interrupt": "2 51 1 102",  # SIGINT ends a child; the program's own handler hears it
    "terminated": "(nil) 3001 0 3001 51",  # a terminated display; the current context lives on
    "contexts": "40 1",  # contexts that drew and were destroyed leave less than 100 KB each
    "finalized": "51 9 0 0 0",  # calls after Python's end do nothing
    "errors": "500 0 0 300d 3000",  # INVALID_ENUM once; EGL_BAD_SURFACE once
}


@pytest.mark.parametrize("mode", MODES)
def test_a_c_program(host: Host, mode: str) -> None:
    assert host(mode) == MODES[mode]


def test_many_calls_end_well(host: Host) -> None:
    """100,000 calls in a row; `bench/hosts.py` says what one costs."""
    assert float(host("speed")) > 0.0


def test_several_programs_at_once(host: Host) -> None:
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(host, ["draw"] * 2)) == [MODES["draw"]] * 2
