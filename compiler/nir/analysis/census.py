"""Census: what kinds of variables does a shader declare?

A pass may say what it looks for (`@nir_pass(..., looks_for=...)`); a sequence of passes leaves it
out for shaders that have none of it. Only declarations are looked at, so asking costs next to
nothing: a shader without uniforms needs no walk over its code to find that out.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.shader import Shader

STRUCT, WIDE = "struct", "64 bits"


def census(shader: Shader) -> set[str]:
    """Modes of all variables, `struct` and `64 bits` if one has such a type."""
    found: set[str] = set()
    modes = 0
    for var in shader.variables:
        modes |= var.mode
        inner = var.type.without_array
        if inner.is_struct:
            found.update((STRUCT, WIDE))
        elif inner.bit_size == 64:
            found.add(WIDE)
    for impl in shader.impls():
        for var in impl.locals:
            modes |= Mode.FUNCTION_TEMP
            if var.type.without_array.is_struct:
                found.add(STRUCT)
    found.update(name for bit, name in _MODES if modes & bit)
    return found


_MODES = [(int(mode), mode.text) for mode in Mode if mode is not Mode.ALL]
