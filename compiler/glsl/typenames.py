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
    for name, when in (
        ("1D", "desktop"),
        ("2D", "*"),
        ("3D", "desktop es300 OES_texture_3D"),
        ("Cube", "*"),
        ("2DRect", "140 ARB_texture_rectangle EXT_gpu_shader4+ARB_texture_rectangle"),
        ("Buffer", "140 EXT_gpu_shader4 es320 EXT_texture_buffer OES_texture_buffer"),
        ("2DMS", "150 ARB_texture_multisample es310"),
    ):
        dim = Dim(name)
        for base, letter in ((Base.FLOAT, ""), (Base.INT, "i"), (Base.UINT, "u")):
            integer = when
            if letter and name in ("1D", "2D", "3D", "Cube"):
                integer = "130 EXT_gpu_shader4" + (" es300" if name != "1D" else "")
            elif letter and name == "2DRect":
                integer = "140 EXT_gpu_shader4+ARB_texture_rectangle"
            _add(f"{letter}sampler{name}", t.sampler(dim, base=base), integer)
            images = {"1D": "", "2DRect": "", "Buffer": " es320 OES_texture_buffer"}
            image = IMAGE_LOAD_STORE
            if name != "2DMS":
                image += images.get(name, " es310")
            if name == "Buffer":
                image += " EXT_texture_buffer"
            _add(f"{letter}image{name}", t.image(dim, base=base), image)
    arrays = {
        "1D": "130 EXT_texture_array EXT_gpu_shader4",
        "2D": "130 es300 EXT_texture_array EXT_gpu_shader4",
        "Cube": "400 ARB_texture_cube_map_array es320 OES_texture_cube_map_array "
        "EXT_texture_cube_map_array",
        "2DMS": "150 ARB_texture_multisample es320 OES_texture_storage_multisample_2d_array",
    }
    for name, when in arrays.items():
        dim = Dim(name)
        for base, letter in ((Base.FLOAT, ""), (Base.INT, "i"), (Base.UINT, "u")):
            integer = when
            if letter and name in ("1D", "2D"):
                integer = "130 EXT_gpu_shader4" + (" es300" if name == "2D" else "")
            _add(f"{letter}sampler{name}Array", t.sampler(dim, False, True, base), integer)
            image = IMAGE_LOAD_STORE
            if name in ("2D", "Cube"):
                image += " es310" if name == "2D" else " es320 OES_texture_cube_map_array"
            if name == "Cube":
                image += " EXT_texture_cube_map_array"
            _add(f"{letter}image{name}Array", t.image(dim, True, base), image)
    for name, when in (
        ("1D", "desktop"),
        ("2D", "desktop es300"),
        ("Cube", "130 EXT_gpu_shader4 es300"),
        ("2DRect", "140 ARB_texture_rectangle"),
        ("1DArray", arrays["1D"]),
        ("2DArray", arrays["2D"]),
        ("CubeArray", arrays["Cube"]),
    ):
        dim = Dim(name.removesuffix("Array"))
        _add(f"sampler{name}Shadow", t.sampler(dim, True, name.endswith("Array")), when)
    _add(
        "samplerExternalOES",
        t.sampler(Dim.EXTERNAL),
        "OES_EGL_image_external OES_EGL_image_external_essl3",
    )
    _add("atomic_uint", t.ATOMIC_UINT, "420 ARB_shader_atomic_counters es310")


_build()
