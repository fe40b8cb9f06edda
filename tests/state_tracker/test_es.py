"""OpenGL ES contexts, on our GL and on the native one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gallette.compiler.text_tables import table_rows
from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.entry_points.functions import DATA
from tests.conftest import native_context
from tests.state_tracker.conftest import IMPLEMENTATIONS


@pytest.fixture(params=IMPLEMENTATIONS)
def es(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    """An ES 3.0 context with a default framebuffer of 64x64."""
    options = {"profile": "es", "version": (3, 0), "size": (64, 64)}
    if request.param == "native":
        context = native_context(**options)
    else:
        context = create_context(request.param, **options)  # type: ignore[arg-type]
    context.clear(GL.COLOR_BUFFER_BIT)
    yield context
    context.release()


def test_an_es_context_has_its_own_queries_hints_and_extensions() -> None:
    gl = create_context("noop", profile="es", version=(3, 0))
    gl.hint(GL.GENERATE_MIPMAP_HINT, GL.NICEST)
    assert gl.get_error() == GL.NO_ERROR
    gl.get_integerv(GL.POLYGON_MODE)
    assert gl.get_error() == GL.INVALID_ENUM
    names = gl.get_string(GL.EXTENSIONS).split()
    assert "GL_OES_texture_npot" in names
    assert not [n for n in names if n.startswith("GL_ARB_")]
    gl.release()


def updates_of_images(gl: GLInterface) -> list[str]:
    """What glTexSubImage2D says to every client format and type, of images of every format."""
    rows = [line.split() for line in table_rows(DATA / "es_formats.txt")]
    pairs = sorted({(format, kind) for _, format, types, _ in rows for kind in types.split(",")})
    told = []
    for name, format, types, _ in rows:
        if "DEPTH" in name or "STENCIL" in name or name == "BGRA_EXT":
            continue  # llvmpipe takes any update of the last
        for own in types.split(","):
            if "FLOAT" in own and ("ALPHA" in name or "LUMINANCE" in name):
                continue  # llvmpipe takes none of these, whatever it is
            gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
            made = getattr(GL, name), 4, 4, 0, getattr(GL, format), getattr(GL, own)
            gl.tex_image2d(GL.TEXTURE_2D, 0, *made, None)
            if gl.get_error():
                continue
            for other, kind in pairs:
                given = getattr(GL, other), getattr(GL, kind)
                gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 2, 2, *given, bytes(64))
                told.append(f"{name} of {own}: {other} {kind}: {gl.get_error():x}")
    return told


@pytest.mark.native
def test_updates_are_those_of_native_es() -> None:
    found = []
    for driver in ("numpipe", "native:llvmpipe"):
        with create_context(driver, profile="es", version=(3, 2)) as gl:
            found.append(updates_of_images(gl))
    ours, native = found
    assert len(ours) == len(native) > 5000
    wrong = [pair for pair in zip(ours, native, strict=True) if pair[0] != pair[1]]
    assert not wrong
