"""Unmodified moderngl on gallette draws what it draws on the native GL.

Coverage must be the same pixel for pixel, colours within 1/255 on 99.9 % of the pixels.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GLInterface, create_context
from tests import moderngl_scripts
from tests.conftest import native_context

SCRIPTS = sorted(m.name for m in pkgutil.iter_modules(moderngl_scripts.__path__))


def render(gl: GLInterface, script: str) -> dict[str, npt.NDArray[Any]]:
    """Run one script in a moderngl context on `gl`, and take both apart again."""
    module = importlib.import_module(f"tests.moderngl_scripts.{script}")
    ctx = moderngl.create_context(standalone=True, context=gl)
    try:
        images: dict[str, npt.NDArray[Any]] = module.render(ctx)
        assert ctx.error == "GL_NO_ERROR"
    finally:
        ctx.release()
    return images


def compare(name: str, ours: npt.NDArray[Any], reference: npt.NDArray[Any]) -> None:
    """Assert that two images are equal as far as two implementations must be."""
    assert ours.shape == reference.shape and ours.dtype == reference.dtype, name
    if ours.dtype.kind == "f":
        close = np.isclose(ours, reference, atol=1 / 255, rtol=1e-4)
        assert close.mean() >= 0.999, f"{name}: {(~close).sum()} of {close.size} values differ"
        return
    background = reference[0, 0]
    covered = [(image != background).any(axis=-1) for image in (ours, reference)]
    assert (covered[0] == covered[1]).all(), f"{name}: coverage differs"
    difference = np.abs(ours.astype(np.int64) - reference.astype(np.int64)).max(axis=-1)
    wrong = (difference > 1).sum()
    assert wrong <= 0.001 * difference.size, f"{name}: {wrong} pixels differ by more than 1"


@pytest.mark.native
@pytest.mark.parametrize("script", SCRIPTS)
def test_script_draws_the_same_as_on_native_gl(script: str) -> None:
    native = native_context()
    reference = render(native, script)
    native.release()
    ours = create_context("numpipe")
    images = render(ours, script)
    ours.release()
    assert images.keys() == reference.keys()
    for name, image in images.items():
        compare(f"{script}/{name}", image, reference[name])


def test_moderngl_reads_limits_and_strings() -> None:
    with create_context("noop") as gl:
        ctx = moderngl.create_context(standalone=True, context=gl)
        assert ctx.version_code == 460
        assert ctx.info["GL_RENDERER"].startswith("gallette noop")
        assert ctx.info["GL_MAX_TEXTURE_SIZE"] == 16384
        assert "GL_ARB_sampler_objects" in ctx.extensions
        assert ctx.error == "GL_NO_ERROR"


def test_a_glsl_error_reaches_moderngl_as_an_exception_with_the_log() -> None:
    with create_context("noop") as gl:
        ctx = moderngl.create_context(standalone=True, context=gl)
        with pytest.raises(moderngl.Error, match="vec5"):
            ctx.program(vertex_shader="#version 330\nvoid main() { vec5 a; }")


def test_a_second_context_released_leaves_the_first_in_use() -> None:
    import moderngl

    import gallette

    first, second, third = (
        moderngl.create_context(standalone=True, context=gallette.moderngl_context())
        for _ in range(3)
    )
    second.release()  # not current: nothing changes
    buffer = third.buffer(b"third")
    third.release()  # the second is gone, so the first
    assert first.buffer(b"first").read() == b"first"
    assert buffer.size == 5
    first.release()
