"""Regressions that C programs of a conformance suite found, each as a small test on native too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import compiled

DRIVERS = pytest.mark.parametrize(
    "driver", ["numpipe", pytest.param("native:llvmpipe", marks=pytest.mark.native)]
)


@contextmanager
def made(driver: str, **options: object) -> Iterator[GLInterface]:
    """A context of that driver for a while."""
    make = native_context if driver.startswith("native") else partial(create_context, driver)
    gl = make(**options)  # type: ignore[operator]
    yield gl
    gl.release()


def test_a_forward_compatible_context_says_so() -> None:
    gl = create_context("noop", size=(8, 8))
    assert gl.get_integerv(GL.CONTEXT_FLAGS) == [0]
    gl.forward_compatible = True  # type: ignore[attr-defined]
    assert gl.get_integerv(GL.CONTEXT_FLAGS) == [GL.CONTEXT_FLAG_FORWARD_COMPATIBLE_BIT]
    gl.release()


@DRIVERS
def test_arrays_of_cubes_include_their_functions(driver: str) -> None:
    source = (
        "#extension GL_ARB_texture_cube_map_array : require\n"
        "uniform samplerCubeArray cubes;\n"
        "void main() { gl_FragColor = texture(cubes, vec4(1.0)); }\n"
    )
    with made(driver, profile="compat", version=(4, 5)) as gl:
        compiled(gl, GL.FRAGMENT_SHADER, source)
