"""GLSL types as GL enums: `vec3` is GL_FLOAT_VEC3, `isampler2D` GL_INT_SAMPLER_2D."""

from __future__ import annotations

import re
from functools import cache

from gallette.compiler.nir.ir.types import Dim, Type
from gallette.state_tracker.entry_points.enums import GL

_SCALARS = {
    "float": "FLOAT",
    "double": "DOUBLE",
    "int": "INT",
    "uint": "UNSIGNED_INT",
    "bool": "BOOL",
    "atomic_uint": "UNSIGNED_INT_ATOMIC_COUNTER",
    "int64_t": "INT64_ARB",
    "uint64_t": "UNSIGNED_INT64_ARB",
}
_VECTORS = {"vec": "FLOAT", "dvec": "DOUBLE", "ivec": "INT", "uvec": "UNSIGNED_INT", "bvec": "BOOL"}
_OPAQUE = re.compile(r"(i|u)?(sampler|image)(\w+?)(Array)?(Shadow)?$")
_DIMS = {
    "1D": "1D",
    "2D": "2D",
    "3D": "3D",
    "Cube": "CUBE",
    "2DRect": "2D_RECT",
    "Buffer": "BUFFER",
    "2DMS": "2D_MULTISAMPLE",
    "ExternalOES": "EXTERNAL_OES",
}


@cache
def _enum(name: str) -> int:
    if name in _SCALARS:
        return int(getattr(GL, _SCALARS[name]))
    match = re.fullmatch(r"([a-z]*vec)(\d)", name)
    if match:
        return int(getattr(GL, f"{_VECTORS[match[1]]}_VEC{match[2]}"))
    match = re.fullmatch(r"(d?)mat(\d)(?:x(\d))?", name)
    if match:
        shape = match[2] if match[3] in (None, match[2]) else f"{match[2]}x{match[3]}"
        return int(getattr(GL, f"{'DOUBLE' if match[1] else 'FLOAT'}_MAT{shape}"))
    match = _OPAQUE.fullmatch(name)
    if match is None:
        return int(GL.NONE)
    sign, kind, dim, array, shadow = match.groups()
    prefix = {"i": "INT_", "u": "UNSIGNED_INT_", None: ""}[sign]
    base = _DIMS[dim]
    if base == "CUBE" and (kind == "image" or array):
        base = "CUBE_MAP" if array and kind == "sampler" else base
    text = f"{prefix}{kind.upper()}_{base}{'_ARRAY' if array else ''}{'_SHADOW' if shadow else ''}"
    for candidate in (text, text.replace("CUBE_ARRAY", "CUBE_MAP_ARRAY")):
        if candidate in GL.names():
            return int(getattr(GL, candidate))
    return int(GL.NONE)


def gl_type(type: Type) -> int:
    """The GL enum of a type, or of the elements of an array."""
    return _enum(str(type.without_array))


def sampler_target(kind: Type) -> int:
    """The GL texture target that a sampler type reads."""
    dim, arrayed = kind.dim, kind.is_arrayed
    assert dim is not None
    name = {
        "1D": "TEXTURE_1D",
        "2D": "TEXTURE_2D",
        "3D": "TEXTURE_3D",
        "Cube": "TEXTURE_CUBE_MAP",
        "2DRect": "TEXTURE_RECTANGLE",
        "Buffer": "TEXTURE_BUFFER",
        "2DMS": "TEXTURE_2D_MULTISAMPLE",
        "ExternalOES": "TEXTURE_EXTERNAL_OES",
    }[dim.value]
    if dim is Dim.EXTERNAL:
        return int(getattr(GL, name))
    return int(getattr(GL, name + ("_ARRAY" if arrayed else "")))
