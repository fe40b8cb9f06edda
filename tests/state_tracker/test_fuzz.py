"""Random calls of every entry point: GL errors, never a Python exception, never a leak."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function, Kind, Param
from gallette.state_tracker.entry_points.registry import implementations

# Enums that lead somewhere; the rest of the enums are there as well.
_NAMES = """
TEXTURE_2D RGBA UNSIGNED_BYTE FLOAT TRIANGLES ARRAY_BUFFER FRAMEBUFFER RGBA8 COLOR VERTEX_SHADER
FRAGMENT_SHADER FRONT_AND_BACK RENDERBUFFER DEPTH_COMPONENT RED NEAREST TEXTURE_MIN_FILTER
STATIC_DRAW ELEMENT_ARRAY_BUFFER UNIFORM_BUFFER TEXTURE_3D QUADS TEXTURE_CUBE_MAP LIGHT0 AMBIENT
COLOR_ATTACHMENT0 SAMPLES_PASSED UNSIGNED_INT UNSIGNED_SHORT TEXTURE_CUBE_MAP_POSITIVE_X BLEND
DEPTH_TEST MODELVIEW REPEAT TEXTURE_WRAP_S
"""
COMMON = [getattr(GL, name) for name in _NAMES.split()]
ENUMS = sorted(set(GL.names().values()))
SHADER = "#version 110\nvoid main() { gl_Position = vec4(0.0); }\n"


def argument(rng: random.Random, param: Param) -> Any:
    """Something to pass for a parameter, sensible or not."""
    if param.kind is Kind.STRING:
        return rng.choice(["", "a", "gl_x", "pos[1]", SHADER])
    if param.kind is Kind.STRINGS:
        return [SHADER]
    if param.stars:
        if rng.random() < 0.5:
            return None
        return np.array([rng.choice([0, 1, 2, 3, -1, 70000]) for _ in range(512)], np.int64)
    if param.type in ("float", "double", "clampf", "clampd"):
        return rng.choice([0.0, 1.0, -1.0, 0.5, 1e30, float("nan"), float("inf")])
    if param.type == "enum":
        return rng.choice(COMMON if rng.random() < 0.7 else ENUMS)
    if param.type == "boolean":
        return rng.choice([0, 1])
    if param.type == "bitfield":
        return rng.choice([0, 1, 3, 0x4000, 0x4100, 0xFFFFFFFF])
    if param.type in ("sizei", "sizeiptr", "intptr"):
        return rng.choice([0, 1, 2, 4, 8, 16, -1])
    return rng.choice([0, 1, 2, 3, 4, 8, -1, 100])


def arguments(rng: random.Random, function: Function) -> list[Any]:
    count = function.required
    if function.is_raw:
        last = max((i for i, p in enumerate(function.params) if not p.kind.is_output), default=-1)
        count = last + 1  # memory to be filled may come between arguments
    return [argument(rng, p) for p in function.params[:count]]


@pytest.mark.parametrize("profile", ["core", "compat", "es"])
@pytest.mark.parametrize("seed", [11, 12])
def test_random_calls_set_errors_and_leave_nothing_behind(profile: str, seed: int) -> None:
    rng = random.Random(seed)
    version = (3, 0) if profile == "es" else (2, 1)
    gl = create_context("noop", profile=profile, version=version, size=(16, 16))
    assert isinstance(gl, Context)
    names = sorted(implementations() - {"debug_message_callback"})
    for _ in range(4000):
        function = FUNCTIONS.method(rng.choice(names))
        values = arguments(rng, function)
        try:
            getattr(gl, function.method)(*values)
        except GalletteError:
            pass  # Python memory too small, or none: for C that would be undefined behaviour
        except Exception as error:
            raise AssertionError(f"{function} with {values!r}") from error
        if gl.immediate.active and rng.random() < 0.2:
            gl.end()
        gl.get_error()
    gl.release()
