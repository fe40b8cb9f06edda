"""Texture views: other objects over the same texels."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.pipe.formats import Format
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS
from tests.conftest import native_context
from tests.state_tracker.helpers import errors

BOTH = [
    pytest.param(create_context, id="numpipe"),
    pytest.param(native_context, id="native", marks=pytest.mark.native),
]


_CHOICES = {
    internal: info.candidates
    for internal, info in INTERNAL_FORMATS.items()
    if len(info.candidates) > 1
    and not (info.is_compressed or info.candidates[0].is_pure_integer)
    and internal != GL.YCBCR_MESA
}


def test_a_view_of_the_same_format_reads_the_stored_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the driver refuses what is best, and takes another with texels as large."""
    gl = create_context("numpipe", profile="compat", version=(4, 3), size=(8, 8))
    supported = gl.screen.is_format_supported
    refused: list[Format] = []
    monkeypatch.setattr(
        type(gl.screen),
        "is_format_supported",
        lambda self, format, *rest: format not in refused and supported(format, *rest),
    )
    texels = np.random.default_rng(4).uniform(0.0, 1.0, (4, 4, 4)).astype(np.float32)
    count = 0
    for internal, candidates in _CHOICES.items():
        for number in range(len(candidates)):
            refused[:] = candidates[:number]
            texture, view = gl.gen_textures(2)
            gl.bind_texture(GL.TEXTURE_2D, texture)
            gl.tex_storage2d(GL.TEXTURE_2D, 1, internal, 4, 4)
            if gl.get_error():
                continue  # an unsized format, or there is nothing to store it in
            depth = "DEPTH" in GL.name_of(internal)
            layout = (GL.DEPTH_COMPONENT if depth else GL.RGBA, GL.FLOAT)
            gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 4, 4, *layout, texels)
            wanted = gl.get_tex_image(GL.TEXTURE_2D, 0, *layout)
            gl.texture_view(view, GL.TEXTURE_2D, texture, internal, 0, 1, 0, 1)
            assert gl.get_error() == GL.NO_ERROR, GL.name_of(internal)
            gl.bind_texture(GL.TEXTURE_2D, view)
            assert gl.get_tex_image(GL.TEXTURE_2D, 0, *layout) == wanted, GL.name_of(internal)
            stored, seen = (gl.textures.names.require(n).images[0][0] for n in (texture, view))
            assert seen.format is stored.format, GL.name_of(internal)
            count += candidates.index(stored.format) == number > 0
    assert count > 10
    gl.release()


# (texture, target of the view, its first layer and how many)
LAYERED = {
    "layer": ("TEXTURE_2D_ARRAY", "TEXTURE_2D", 2, 1),
    "layers": ("TEXTURE_2D_ARRAY", "TEXTURE_2D_ARRAY", 2, 3),
    "face": ("TEXTURE_CUBE_MAP", "TEXTURE_2D", 3, 1),
    "cube of layers": ("TEXTURE_2D_ARRAY", "TEXTURE_CUBE_MAP", 1, 6),
    "layers of cubes": ("TEXTURE_CUBE_MAP_ARRAY", "TEXTURE_2D_ARRAY", 5, 3),
    "cube of cubes": ("TEXTURE_CUBE_MAP_ARRAY", "TEXTURE_CUBE_MAP", 6, 6),
}


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("layered", LAYERED)
@pytest.mark.parametrize("make", BOTH)
def test_copies_of_layers_of_a_view(make: object, layered: str, into: bool) -> None:
    of, kind, first, count = LAYERED[layered]
    gl = make(profile="core", version=(4, 5), size=(8, 8))  # type: ignore[operator]

    def texture(target: int, layers: int, values: int) -> int:
        name: int = gl.create_textures(target, 1)[0]
        if target == GL.TEXTURE_CUBE_MAP:
            gl.texture_storage2d(name, 1, GL.R8, 2, 2)
        else:
            gl.texture_storage3d(name, 1, GL.R8, 2, 2, layers)
        texels = np.arange(values, values + layers, dtype=np.uint8).repeat(4)
        gl.texture_sub_image3d(name, 0, 0, 0, 0, 2, 2, layers, GL.RED, GL.UNSIGNED_BYTE, texels)
        return name

    def stored(name: int, layers: int) -> list[int]:
        out = np.zeros(4 * layers, np.uint8)
        gl.get_texture_image(name, 0, GL.RED, GL.UNSIGNED_BYTE, out.nbytes, out)
        return [int(v) for v in out[::4]]

    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    layers = 6 if of == "TEXTURE_CUBE_MAP" else 12
    whole, plain = texture(getattr(GL, of), layers, 0), texture(GL.TEXTURE_2D_ARRAY, 4, 100)
    (view,) = gl.gen_textures(1)
    gl.texture_view(view, getattr(GL, kind), whole, GL.R8, 0, 1, first, count)
    z = min(1, count - 1)
    seen, other = (view, getattr(GL, kind), 0, 0, 0, z), (plain, GL.TEXTURE_2D_ARRAY, 0, 0, 0, 2)
    gl.copy_image_sub_data(*(other + seen if into else seen + other), 2, 2, 1)
    expected, beside = list(range(layers)), list(range(100, 104))
    if into:
        expected[first + z] = beside[2]
    else:
        beside[2] = expected[first + z]
    assert (stored(whole, layers), stored(plain, 4), errors(gl)) == (expected, beside, [])
    gl.release()
