"""Calls with arrays in display lists: the list keeps what stood there, exactly as much as is read.

Each call is made in one context, and in another by way of a list, with just as many numbers as the
specification says, that are overwritten before the list is called. Then both contexts are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function, Kind
from gallette.state_tracker.entry_points.memory import dtype_of
from gallette.state_tracker.optional.compatibility.list_functions import compiled_functions
from tests.state_tracker.edges.digest import difference, digest
from tests.state_tracker.helpers import errors

VECTORS = re.compile(
    r"(Vertex|Color|SecondaryColor|Normal|TexCoord|MultiTexCoord|FogCoord|EdgeFlag|Index|RasterPos|"
    r"WindowPos|Rect|EvalCoord|VertexAttribI?|VertexAttribL)([1-4]?)(N?)"
    r"(b|s|i|f|d|h|ub|us|ui)?v(ARB|EXT|NV|MESA)?"
)
# Of those without a number in their name.
SIZES = {"FogCoord": 1, "EdgeFlag": 1, "Index": 1, "Rect": 2}
V1, V2 = GL.MAP1_VERTEX_3, GL.MAP2_VERTEX_3
# Function, its arguments before the array, how many numbers are read.
MORE: list[tuple[str, tuple[Any, ...], int]] = [
    *[(f"{verb}Matrix{t}", (), 16) for verb in ("Load", "Mult", "LoadTranspose",
                                                    "MultTranspose") for t in "fd"],
    *[("Lightfv", (GL.LIGHT1, getattr(GL, name)), size) for name, size in (
        ("AMBIENT", 4), ("DIFFUSE", 4), ("SPECULAR", 4), ("POSITION", 4), ("SPOT_DIRECTION", 3),
        ("SPOT_EXPONENT", 1), ("SPOT_CUTOFF", 1), ("CONSTANT_ATTENUATION", 1))],
    ("Lightiv", (GL.LIGHT1, GL.POSITION), 4),
    ("LightModelfv", (GL.LIGHT_MODEL_AMBIENT,), 4),
    ("LightModelfv", (GL.LIGHT_MODEL_TWO_SIDE,), 1),
    *[("Materialfv", (GL.BACK, getattr(GL, name)), size) for name, size in (
        ("AMBIENT", 4), ("DIFFUSE", 4), ("SPECULAR", 4), ("EMISSION", 4), ("SHININESS", 1),
        ("AMBIENT_AND_DIFFUSE", 4), ("COLOR_INDEXES", 3))],
    ("Fogfv", (GL.FOG_COLOR,), 4), ("Fogfv", (GL.FOG_DENSITY,), 1),
    ("TexEnvfv", (GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR), 4),
    ("TexEnvfv", (GL.TEXTURE_FILTER_CONTROL, GL.TEXTURE_LOD_BIAS), 1),
    ("TexGenfv", (GL.S, GL.OBJECT_PLANE), 4), ("TexGendv", (GL.T, GL.EYE_PLANE), 4),
    ("TexParameterfv", (GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR), 4),
    ("TexParameterIiv", (GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR), 4),
    ("TexParameterfv", (GL.TEXTURE_2D, GL.TEXTURE_MIN_LOD), 1),
    ("PointParameterfv", (GL.POINT_DISTANCE_ATTENUATION,), 3),
    ("PointParameterfv", (GL.POINT_SIZE_MIN,), 1),
    ("ClipPlane", (GL.CLIP_PLANE2,), 4),
    ("PixelMapfv", (GL.PIXEL_MAP_R_TO_R, 5), 5), ("PixelMapusv", (GL.PIXEL_MAP_R_TO_R, 3), 3),
    ("PixelMapuiv", (GL.PIXEL_MAP_I_TO_I, 4), 4), ("PixelMapuiv", (GL.PIXEL_MAP_I_TO_I, 1), 1),
    ("PatchParameterfv", (GL.PATCH_DEFAULT_OUTER_LEVEL,), 4),
    ("PatchParameterfv", (GL.PATCH_DEFAULT_INNER_LEVEL,), 2),
    ("ViewportArrayv", (1, 2), 8), ("ScissorArrayv", (2, 1), 4),
    ("DepthRangeArrayv", (1, 3), 6), ("ViewportIndexedfv", (3,), 4),
    ("ScissorIndexedv", (3,), 4),
    ("ProgramEnvParameter4fvARB", (GL.VERTEX_PROGRAM_ARB, 3), 4),
    ("ProgramEnvParameter4dvARB", (GL.FRAGMENT_PROGRAM_ARB, 3), 4),
    ("ProgramEnvParameters4fvEXT", (GL.VERTEX_PROGRAM_ARB, 3, 2), 8),
    ("Map1f", (V1, 0.0, 1.0, 3, 1), 3), ("Map1f", (V1, 0.0, 1.0, 3, 2), 6),
    ("Map1d", (V1, 0.0, 1.0, 5, 4), 18), ("Map1f", (GL.MAP1_INDEX, 0.0, 2.0, 1, 30), 30),
    ("Map1f", (GL.MAP1_TEXTURE_COORD_2, 0.0, 1.0, 3, 3), 8),
    ("Map2f", (V2, 0.0, 1.0, 3, 1, 0.0, 1.0, 3, 1), 3),
    ("Map2f", (V2, 0.0, 1.0, 3, 2, 0.0, 1.0, 6, 2), 12),
    ("Map2d", (V2, 0.0, 1.0, 4, 3, 0.0, 1.0, 12, 2), 23),
    ("Map2f", (GL.MAP2_COLOR_4, 0.0, 1.0, 8, 1, 0.0, 1.0, 4, 2), 8),
]  # fmt: skip


STATE = (
    "arrays", "lighting", "matrices", "evaluators", "transfer", "raster", "raster_position",
    "fragment", "textures", "assembly",
)  # fmt: skip


def vectors() -> Iterator[tuple[Function, tuple[Any, ...], int]]:
    """Every function that a list takes up and whose name says how many numbers it reads."""
    for function in compiled_functions():
        match = VECTORS.fullmatch(function.name)
        if match is None or function.params[-1].kind is not Kind.POINTER:
            continue
        size = int(match[2] or SIZES.get(match[1], 0))
        if match[1] == "Rect":  # two corners, in two arrays
            continue
        first = {"target": GL.TEXTURE1, "index": 3}
        yield function, tuple(first[p.name] for p in function.params[:-1]), size


@pytest.fixture
def both() -> Iterator[list[Any]]:
    """A context that is called, and one with a list."""
    made = [
        create_context("numpipe", profile="compat", version=(4, 6), size=(8, 8)) for _ in range(2)
    ]
    for gl in made:
        gl.gen_lists(2)
    yield made
    for gl in made:
        gl.release()


def same(
    both: list[Any], function: Function, first: tuple[Any, ...], count: int, parts: tuple[str, ...]
) -> None:
    """The direct call, the one by way of a list, and what both leave behind."""
    kind = next(p for p in function.params if p.kind is Kind.POINTER)
    values = (np.arange(count) % 7 + 1).astype(dtype_of(kind.type))
    if values.dtype.kind == "f":
        values = (values / 8).astype(values.dtype)
    direct, listed = both
    getattr(direct, function.method)(*first, values.copy())
    listed.new_list(1, GL.COMPILE)
    memory = values.copy()
    getattr(listed, function.method)(*first, memory)
    memory[:] = 0
    listed.end_list()
    listed.call_list(1)
    assert errors(direct) == errors(listed) == [], function.name
    for part in parts:
        held = [digest(getattr(gl, part)) for gl in both]
        # What counts by identity is not the same.
        found = [d for d in difference(*held) if not re.search(r": \d{9,} -> \d{9,}$", d)]
        assert not found, (function.name, first, part)


def test_vectors(both: list[Any]) -> None:
    count = 0
    for function, first, size in vectors():
        same(both, function, first, size, ("arrays", "raster_position"))
        count += 1
    assert count > 120


def test_other_arrays(both: list[Any]) -> None:
    for name, first, count in MORE:
        same(both, FUNCTIONS[name], first, count, STATE)
