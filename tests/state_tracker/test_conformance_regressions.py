"""Regressions that C programs of a conformance suite found, each as a small test on native too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import compiled, errors

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
def test_depth_is_read_beside_no_stencil_in_es(driver: str) -> None:
    """NV_read_depth has UNSIGNED_INT_24_8 for depth alone; what does not fit is an enum error."""
    with made(driver, profile="es", version=(3, 0), size=(8, 8)) as gl:
        gl.clear_depthf(0.3)
        gl.clear_stencil(77)
        gl.clear(GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        found = np.zeros(1, np.uint32)
        gl.read_pixels(0, 0, 1, 1, GL.DEPTH_COMPONENT, GL.UNSIGNED_INT_24_8, found)
        assert errors(gl) == []
        assert found[0] & 255 == 0 and abs(int(found[0] >> 8) - 0.3 * 2**24) < 2
        for format, type in (
            (GL.STENCIL_INDEX, GL.UNSIGNED_INT_24_8),
            (GL.DEPTH_COMPONENT, GL.FLOAT_32_UNSIGNED_INT_24_8_REV),
        ):
            gl.read_pixels(0, 0, 1, 1, format, type, found)
            assert errors(gl) == ["GL_INVALID_ENUM"]


@DRIVERS
@pytest.mark.parametrize(("version", "links"), [("100", True), ("300 es", False)])
def test_unread_attributes_share_no_location_in_es3(driver: str, version: str, links: bool) -> None:
    word = "in" if "es" in version else "attribute"
    body = "void main() { gl_Position = vec4(0.0); }\n"
    vertex = f"#version {version}\n{word} highp float a, b;\n{body}"
    fragment = f"#version {version}\nvoid main() {{}}\n"
    with made(driver, profile="es", version=(3, 0)) as gl:
        name = gl.create_program()
        for kind, source in ((GL.VERTEX_SHADER, vertex), (GL.FRAGMENT_SHADER, fragment)):
            gl.attach_shader(name, compiled(gl, kind, source))
        gl.bind_attrib_location(name, 0, "a")
        gl.bind_attrib_location(name, 0, "b")
        gl.link_program(name)
        assert bool(gl.get_programiv(name, GL.LINK_STATUS)[0]) is links
