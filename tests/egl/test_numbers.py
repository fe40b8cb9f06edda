"""EGL's numbers are the API's: programs that were compiled against it know no names."""

from __future__ import annotations

import re
from pathlib import Path

from gallette.egl.constants import EGL, Error

TABLE = Path(__file__).with_name("numbers.txt")
HEADERS = Path("/usr/include/EGL")


def _known() -> dict[str, int]:
    rows = (line.split() for line in TABLE.read_text().splitlines() if line[0] != "#")
    return {name: int(number, 0) for name, number in rows}


def _ours() -> dict[str, int]:
    named = {n: v for n, v in vars(EGL).items() if isinstance(v, int) and n[0] != "_"}
    return named | {error.name: int(error) for error in Error}


def test_every_number_is_the_apis() -> None:
    assert _ours() == _known()


def test_the_table_is_that_of_the_systems_headers() -> None:
    """Where they are installed; the table itself was made from them."""
    defined = {}
    for header in sorted(HEADERS.glob("*.h")):
        for name, number in re.findall(
            r"#define EGL_(\w+)\s+(?:EGL_CAST\(\w+,)?(-?(?:0x)?[0-9A-F]+)\)?\s", header.read_text()
        ):
            defined[name] = int(number, 0)
    for name in list(defined):  # numbers of extensions that EGL itself took over
        defined.setdefault(re.sub("_(KHR|EXT)$", "", name), defined[name])
    known = _known()
    off = {n: (known[n], v) for n, v in defined.items() if n in known and known[n] != v}
    assert off == {}
    assert not defined or len(defined.keys() & known.keys()) > 100
