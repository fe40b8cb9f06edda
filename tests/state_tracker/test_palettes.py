"""OES_compressed_paletted_texture: what images an array of a palette and indices stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.texturing import paletted
from gallette.state_tracker.texturing.teximage import tex_image
from tests.state_tracker.helpers import errors

# Name: bits of an index, bytes of an entry, format and type of the plain image.
KINDS = {
    f"PALETTE{bits}_{name}_OES": (bits, size, format, type)
    for bits in (4, 8)
    for name, size, format, type in (
        ("RGB8", 3, GL.RGB, GL.UNSIGNED_BYTE),
        ("RGBA8", 4, GL.RGBA, GL.UNSIGNED_BYTE),
        ("R5_G6_B5", 2, GL.RGB, GL.UNSIGNED_SHORT_5_6_5),
        ("RGBA4", 2, GL.RGBA, GL.UNSIGNED_SHORT_4_4_4_4),
        ("RGB5_A1", 2, GL.RGBA, GL.UNSIGNED_SHORT_5_5_5_1),
    )
}
Images = list[tuple[Any, ...]]


@pytest.fixture
def es1(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Images]]:
    """A context and the plain images that were defined in it."""
    gl = create_context("numpipe", profile="es", version=(1, 1), size=(8, 8))
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    made: Images = []
    define = tex_image

    def watched(ctx: Any, *arguments: Any) -> None:
        made.append((*arguments, ctx.unpack.alignment))
        define(ctx, *arguments)

    monkeypatch.setattr(paletted, "tex_image", watched)
    yield gl, made
    gl.release()


def data_of(kind: str, sizes: list[tuple[int, int]]) -> tuple[bytes, list[bytes]]:
    """A palette and indices, and what each level is by them."""
    bits, size, _, _ = KINDS[kind]
    chance = np.random.default_rng(3)
    palette = chance.integers(0, 256, (1 << bits, size)).astype(np.uint8)
    parts, levels = [palette.tobytes()], []
    for width, height in sizes:
        codes = chance.integers(0, 1 << bits, width * height)
        levels.append(palette[codes].tobytes())
        if bits == 4:  # the first of two is the high half
            padded = [*codes.tolist(), 0][: len(codes) + len(codes) % 2]
            codes = np.array(
                [a << 4 | b for a, b in zip(padded[::2], padded[1::2], strict=True)], np.int64
            )
        parts.append(codes.astype(np.uint8).tobytes())
    return b"".join(parts), levels


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("deepest", [0, 1, 3])
def test_every_level_is_what_its_indices_say(
    es1: tuple[Any, Images], kind: str, deepest: int
) -> None:
    gl, made = es1
    sizes = [(8, 2), (4, 1), (2, 1), (1, 1)][: deepest + 1]
    data, levels = data_of(kind, sizes)
    _, _, format, type = KINDS[kind]
    before = gl.get_integerv(GL.UNPACK_ALIGNMENT)
    gl.compressed_tex_image2d(GL.TEXTURE_2D, -deepest, getattr(GL, kind), 8, 2, 0, len(data), data)
    assert errors(gl) == []
    assert gl.get_integerv(GL.UNPACK_ALIGNMENT) == before
    assert made == [
        (2, GL.TEXTURE_2D, i, format, (*size, 1), 0, format, type, levels[i], 1)
        for i, size in enumerate(sizes)
    ]
