"""The type keywords of GLSL: name, type, and which language has it."""

from __future__ import annotations

from gallette.compiler.glsl.availability import (
    ARRAYS,
    DOUBLES,
    IMAGE_LOAD_STORE,
    INTEGERS,
    INTEGERS_64,
)
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Dim, Type

TYPE_NAMES: dict[str, Type] = {}
TYPE_AVAILABILITY: dict[str, str] = {}

_RECT_MATRIX = ARRAYS


_ARRAY_1D = "130 EXT_texture_array EXT_gpu_shader4"
_ARRAY_2D = "130 es300 EXT_texture_array EXT_gpu_shader4"
_ARRAY_CUBE = (
    "400 ARB_texture_cube_map_array es320 OES_texture_cube_map_array EXT_texture_cube_map_array"
)
_RECTANGLE = "140 EXT_gpu_shader4+ARB_texture_rectangle"
_INTEGERS = "130 EXT_gpu_shader4 es300"
_TEXTURES = (
    # samplers of floats, of integers if other than those, images beside those of
    # IMAGE_LOAD_STORE, and samplers of shadows
    ("1D", "desktop", "130 EXT_gpu_shader4", "", "desktop"),
    ("2D", "*", _INTEGERS, "es310", "desktop es300"),
    ("3D", "desktop es300 OES_texture_3D", _INTEGERS, "es310", ""),
    ("Cube", "*", _INTEGERS, "es310", _INTEGERS),
    ("2DRect", "140 ARB_texture_rectangle EXT_gpu_shader4+ARB_texture_rectangle", _RECTANGLE, "",
     "140 ARB_texture_rectangle"),
    ("Buffer", "140 EXT_gpu_shader4 es320 EXT_texture_buffer OES_texture_buffer", "",
     "es320 OES_texture_buffer EXT_texture_buffer", ""),
    ("2DMS", "150 ARB_texture_multisample es310", "", "", ""),
    ("1DArray", _ARRAY_1D, "130 EXT_gpu_shader4", "", _ARRAY_1D),
    ("2DArray", _ARRAY_2D, _INTEGERS, "es310", _ARRAY_2D),
    ("CubeArray", _ARRAY_CUBE, "",
     "es320 OES_texture_cube_map_array EXT_texture_cube_map_array", _ARRAY_CUBE),
    ("2DMSArray", "150 ARB_texture_multisample es320 OES_texture_storage_multisample_2d_array", "",
     "", ""),
)  # fmt: skip
"""When there are which types of textures."""


def _add(name: str, type: Type, availability: str) -> None:
    TYPE_NAMES[name] = type
    TYPE_AVAILABILITY[name] = availability


def _build() -> None:
    _add("void", t.VOID, "*")
    for base, when in (
        (Base.FLOAT, "*"),
        (Base.INT, "*"),
        (Base.BOOL, "*"),
        (Base.UINT, INTEGERS),
        (Base.DOUBLE, DOUBLES),
        (Base.INT64, INTEGERS_64),
        (Base.UINT64, INTEGERS_64),
    ):
        for n in (1, 2, 3, 4):
            type_ = t.vec(base, n)
            _add(str(type_), type_, when)
    for base, prefix in ((Base.FLOAT, ""), (Base.DOUBLE, "d")):
        for columns in (2, 3, 4):
            for rows in (2, 3, 4):
                when = DOUBLES if prefix else (_RECT_MATRIX if columns != rows else "*")
                type_ = t.mat(base, columns, rows)
                _add(f"{prefix}mat{columns}x{rows}", type_, when if prefix else _RECT_MATRIX)
                if columns == rows:
                    _add(f"{prefix}mat{columns}", type_, when)
    for name, floats, integers, images, shadows in _TEXTURES:
        dim, array = Dim(name.removesuffix("Array")), name.endswith("Array")
        for base, letter in ((Base.FLOAT, ""), (Base.INT, "i"), (Base.UINT, "u")):
            when = integers if letter and integers else floats
            _add(f"{letter}sampler{name}", t.sampler(dim, False, array, base), when)
            when = f"{IMAGE_LOAD_STORE} {images}".rstrip()
            _add(f"{letter}image{name}", t.image(dim, array, base), when)
        if shadows:
            _add(f"sampler{name}Shadow", t.sampler(dim, True, array), shadows)
    _add(
        "samplerExternalOES",
        t.sampler(Dim.EXTERNAL),
        "OES_EGL_image_external OES_EGL_image_external_essl3",
    )
    _add("atomic_uint", t.ATOMIC_UINT, "420 ARB_shader_atomic_counters es310")


_build()
