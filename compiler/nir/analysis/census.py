"""Census: what kinds of variables does a shader declare?

A pass may say what it looks for (`@nir_pass(..., looks_for=...)`); a sequence of passes leaves it
out for shaders that have none of it. Only declarations are looked at, so asking costs next to
nothing: a shader without uniforms needs no walk over its code to find that out.
"""

from __future__ import annotations

from functools import lru_cache

from gallette.compiler.nir.ir.modes import TEMPORARIES, Mode, Stage
from gallette.compiler.nir.ir.shader import Shader

STRUCT, WIDE, MEMORY = "struct", "64 bits", "memory"


def census(shader: Shader) -> set[str]:
    """Modes of all variables, `struct` and `64 bits` if one has such a type, and `memory`."""
    found: set[str] = set()
    modes = 0
    for var in shader.variables:
        modes |= int(var.mode)
        inner = var.type.without_array
        if inner.is_struct:
            found.update((STRUCT, WIDE))
        elif inner.bit_size == 64:
            found.add(WIDE)
    for impl in shader.impls():
        for var in impl.locals:
            modes |= _LOCAL
            if var.type.without_array.is_struct:
                found.add(STRUCT)
    if modes & _MEMORY or shader.stage is Stage.TESS_CTRL:
        found.add(MEMORY)
    return found.union(_names(modes))


_LOCAL = int(Mode.FUNCTION_TEMP)
_MEMORY = int(TEMPORARIES | Mode.SSBO | Mode.SHARED | Mode.GLOBAL)
"""What is written and read again; so are the outputs of a patch."""


@lru_cache(maxsize=256)
def _names(modes: int) -> frozenset[str]:
    return frozenset(mode.text for mode in Mode if mode is not Mode.ALL and modes & mode)
