"""C programs without Python run on gallette: through our libEGL, and through glvnd's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

Host = Callable[..., str]

# mode -> what the program says; the modes of a row are tried in one process
PROCESSES = [
    {
        "draw": "51 gallette",
        "es1": "51 0 OpenGL ES-CM 1.1",
        "two": "51 102 51",  # two contexts in one thread, each with its own picture
        "threads": "84 51",  # four threads: each made current once, and drew twenty times
        "ended": "1 1 1 51",  # a thread's end takes what was current in it
        "contexts": "40 1",  # contexts that drew and were destroyed leave less than 100 KB each
        "errors": "500 0 0 300d 3000",  # INVALID_ENUM once; EGL_BAD_SURFACE once
    },
    {
        "unmade": "0",  # no current context: calls do nothing
        "terminated": "(nil) 3001 0 3001 51",  # a terminated display; the current context lives on
    },
    {
        "fork": "0 51",  # the child draws, and so does the parent
        "interrupt": "2 51 1 102",  # SIGINT ends a child; the program's own handler hears it
    },
    {"embedding": "51 1 0 102 51 0"},  # a program that starts Python holds its lock, and may draw
    {"finalized": "51 9 0 0 1"},  # calls after Python's end do nothing, but contexts become current
]


@pytest.mark.parametrize("modes", PROCESSES, ids=" ".join)
def test_a_c_program(host: Host, modes: dict[str, str]) -> None:
    assert dict(zip(modes, host(*modes).splitlines(), strict=True)) == modes


@pytest.mark.parametrize("host", ["direct"], indirect=True)
def test_what_ends_things_succeeds_after_pythons_end(host: Host) -> None:
    """glvnd has forgotten the display by then."""
    assert host("outlived") == "51 1 1 1"


@pytest.mark.parametrize("host", ["direct"], indirect=True)
def test_programs_at_once_and_many_calls(host: Host) -> None:
    """One makes 100,000 calls in a row; `bench/hosts.py` says what one costs."""
    with ThreadPoolExecutor(2) as pool:
        drawn, nanoseconds = pool.map(host, ["draw", "speed"])
    assert drawn == "51 gallette"
    assert float(nanoseconds) > 0.0
