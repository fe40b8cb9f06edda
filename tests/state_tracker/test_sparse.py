"""ARB_sparse_buffer and ARB_sparse_texture: what is committed holds data, and what is an error.

No native GL here has them; what is expected is the specification's.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import errors

PAGE = 65536


@pytest.fixture
def gl() -> Iterator[GLInterface]:
    context = create_context("numpipe", version=(4, 6), size=(8, 8))
    yield context
    context.release()


def _buffer(gl: GLInterface, size: int) -> int:
    (name,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, name)
    flags = GL.SPARSE_STORAGE_BIT_ARB | GL.DYNAMIC_STORAGE_BIT
    gl.buffer_storage(GL.ARRAY_BUFFER, size, None, flags)
    return int(name)


def test_only_committed_pages_of_a_buffer_take_data(gl: GLInterface) -> None:
    assert gl.get_integerv(GL.SPARSE_BUFFER_PAGE_SIZE_ARB)[0] == PAGE
    _buffer(gl, 3 * PAGE + 100)
    gl.buffer_page_commitment_arb(GL.ARRAY_BUFFER, PAGE, PAGE, 1)
    data = np.arange(3 * PAGE + 100).astype(np.uint8)
    gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, data.nbytes, data)
    found = np.frombuffer(gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, data.nbytes), np.uint8)
    inside = slice(PAGE, 2 * PAGE)
    assert (found[inside] == data[inside]).all()
    assert not found[:PAGE].any()
    assert not found[2 * PAGE :].any()
    gl.buffer_page_commitment_arb(GL.ARRAY_BUFFER, 0, 3 * PAGE + 100, 1)  # keeps what was committed
    found = np.frombuffer(gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, data.nbytes), np.uint8)
    assert (found[inside] == data[inside]).all()
    gl.buffer_page_commitment_arb(GL.ARRAY_BUFFER, PAGE, PAGE, 0)
    found = np.frombuffer(gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, data.nbytes), np.uint8)
    assert not found.any()
    assert errors(gl) == []


def _texture(gl: GLInterface, target: int = GL.TEXTURE_2D, size: int = 256, levels: int = 2) -> int:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(target, name)
    gl.tex_parameteri(target, GL.TEXTURE_SPARSE_ARB, 1)
    gl.tex_storage2d(target, levels, GL.RGBA8, size, size)
    return int(name)


def _read(gl: GLInterface, size: int = 256) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    found = np.zeros((size, size, 4), np.uint8)
    gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE, found)
    return found


def test_pages_of_a_texture(gl: GLInterface) -> None:
    """A page that is given up and taken again holds nothing; the others keep what they have."""
    ask = gl.get_internalformativ
    assert ask(GL.TEXTURE_2D, GL.RGBA8, GL.NUM_VIRTUAL_PAGE_SIZES_ARB, 1) == [1]
    shape = [GL.VIRTUAL_PAGE_SIZE_X_ARB, GL.VIRTUAL_PAGE_SIZE_Y_ARB, GL.VIRTUAL_PAGE_SIZE_Z_ARB]
    assert [ask(GL.TEXTURE_2D, GL.RGBA8, p, 1)[0] for p in shape] == [128, 128, 1]
    assert [ask(GL.TEXTURE_3D, GL.R8, p, 1)[0] for p in shape] == [64, 32, 32]
    assert ask(GL.TEXTURE_1D, GL.RGBA8, GL.NUM_VIRTUAL_PAGE_SIZES_ARB, 1) == [0]
    _texture(gl)
    get = gl.get_tex_parameteriv
    assert get(GL.TEXTURE_2D, GL.TEXTURE_SPARSE_ARB) == [1]
    assert get(GL.TEXTURE_2D, GL.NUM_SPARSE_LEVELS_ARB) == [2]
    commit = gl.tex_page_commitment_arb
    commit(GL.TEXTURE_2D, 0, 0, 0, 0, 256, 256, 1, 1)
    data = np.full((256, 256, 4), 200, np.uint8)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 256, 256, GL.RGBA, GL.UNSIGNED_BYTE, data)
    commit(GL.TEXTURE_2D, 0, 128, 0, 0, 128, 128, 1, 1)  # is committed: keeps its content
    assert (_read(gl) == 200).all()
    commit(GL.TEXTURE_2D, 0, 128, 0, 0, 128, 128, 1, 0)
    commit(GL.TEXTURE_2D, 0, 128, 0, 0, 128, 128, 1, 1)
    found = _read(gl)
    assert not found[:128, 128:].any()
    assert (found[128:] == 200).all()
    assert (found[:, :128] == 200).all()
    assert errors(gl) == []


@pytest.mark.parametrize("level", [1, 2])
def test_a_tail_is_committed_as_a_whole(level: int, gl: GLInterface) -> None:
    """Whichever of its levels is named; what was not committed before has no content then."""
    name = _texture(gl, GL.TEXTURE_2D, 128, 3)
    edge = 128 >> level
    data = np.arange(1, edge * edge + 1, dtype=np.uint32)
    bytes_of = data.view(np.uint8)[: edge * edge * 4]

    def stored() -> bool:
        found = np.zeros(edge * edge * 4, np.uint8)
        gl.get_texture_image(name, level, GL.RGBA, GL.UNSIGNED_BYTE, found.nbytes, found)
        return bool((found == bytes_of).all())

    def store() -> None:
        gl.tex_sub_image2d(
            GL.TEXTURE_2D, level, 0, 0, edge, edge, GL.RGBA, GL.UNSIGNED_BYTE, bytes_of
        )

    for commit, kept in ((1, False), (1, True), (0, False), (0, None), (1, False)):
        store()
        gl.tex_page_commitment_arb(GL.TEXTURE_2D, 3 - level, 0, 0, 0, 128 >> 3 - level,
                                   128 >> 3 - level, 1, commit)  # fmt: skip
        assert kept is None or stored() == kept, commit
    assert errors(gl) == []


@pytest.mark.parametrize("target", [GL.TEXTURE_2D_ARRAY, GL.TEXTURE_CUBE_MAP, GL.TEXTURE_2D])
def test_pages_through_a_view(gl: GLInterface, target: int) -> None:
    """Layers of a view are counted from where it begins; the others keep what they have."""
    size, count = 512, {GL.TEXTURE_2D: 1, GL.TEXTURE_CUBE_MAP: 6}.get(target, 3)
    whole, view = gl.gen_textures(2)
    gl.bind_texture(GL.TEXTURE_2D_ARRAY, whole)
    gl.tex_parameteri(GL.TEXTURE_2D_ARRAY, GL.TEXTURE_SPARSE_ARB, 1)
    gl.tex_storage3d(GL.TEXTURE_2D_ARRAY, 2, GL.R8, size * 2, size * 2, 9)
    gl.texture_view(view, target, whole, GL.R8, 1, 1, 2, count)
    assert errors(gl) == []
    pages = (GL.VIRTUAL_PAGE_SIZE_X_ARB, GL.VIRTUAL_PAGE_SIZE_Y_ARB)
    wide, high = (int(gl.get_internalformativ(target, GL.R8, p, 1)[0]) for p in pages)
    assert wide < size and high < size
    gl.texture_page_commitment_ext(whole, 1, 0, 0, 0, size, size, 9, 1)
    data = np.arange(1, 10, dtype=np.uint8).repeat(size * size)
    gl.texture_sub_image3d(whole, 1, 0, 0, 0, size, size, 9, GL.RED, GL.UNSIGNED_BYTE, data)
    wanted = data.reshape(9, size, size).copy()
    layer = count - 1
    wanted[2 + layer, size - high :, size - wide :] = 0
    for commit in (0, 1):
        at = (0, size - wide, size - high, layer)
        gl.texture_page_commitment_ext(view, *at, wide, high, 1, commit)
        found = np.zeros_like(wanted)
        gl.get_texture_image(whole, 1, GL.RED, GL.UNSIGNED_BYTE, found.nbytes, found)
        assert (found == wanted).all()
    assert errors(gl) == []
