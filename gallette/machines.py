"""The instruction sets of drivers that simulate a machine, for `asm` and `disasm`.

python -m gallette.machines docs/reference    writes their pages of the reference
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.drivers.machines.isa.reference import page
from gallette.drivers.machines.isa.table import Isa

DEFAULT_MACHINE = "simd"


def _simd() -> Isa[Any]:
    from gallette.drivers.machines.simd.isa.table import ISA

    return ISA


def _tiler() -> Isa[Any]:
    from gallette.drivers.machines.tiler.isa.table import ISA

    return ISA


MACHINES: dict[str, Callable[[], Isa[Any]]] = {"simd": _simd, "tiler": _tiler}


def machine_named(name: str) -> Isa[Any]:
    """The machine of a driver."""
    found = MACHINES.get(name)
    if found is None:
        close = get_close_matches(name, MACHINES, 1)
        hint = f"; did you mean {close[0]}?" if close else f": there are {', '.join(MACHINES)}"
        raise GalletteError(f"no machine is called {name!r}{hint}")
    return found()


def pages() -> dict[str, str]:
    """The instruction sets' pages of the reference, by file name."""
    return {f"{name}_instructions.md": page(load()) for name, load in MACHINES.items()}


if __name__ == "__main__":
    for file, text in pages().items():
        Path(sys.argv[1], file).write_text(text, encoding="utf-8")
