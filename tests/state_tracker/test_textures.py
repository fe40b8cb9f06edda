"""Texture images, parameters and completeness, on our GL and on the native one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import errors


def bound(gl: GLInterface, target: int = GL.TEXTURE_2D) -> int:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(target, name)
    return int(name)


PROXIES = {
    "1D": (16,),
    "2D": (16, 8),
    "RECTANGLE": (16, 8),
    "1D_ARRAY": (16, 8),
    "CUBE_MAP": (8, 8),
    "3D": (16, 8, 4),
    "2D_ARRAY": (16, 8, 5),
    "CUBE_MAP_ARRAY": (8, 8, 12),
}
STORED = "RGBA8 R16F DEPTH_COMPONENT24 RGBA COMPRESSED_RED_RGTC1 SRGB8_ALPHA8"
ASKED = "WIDTH HEIGHT DEPTH INTERNAL_FORMAT RED_SIZE DEPTH_SIZE COMPRESSED"


def proxies(gl: GLInterface) -> dict[str, Any]:
    """Errors of storage of proxies, and the sizes and formats of their levels after it."""
    edges = {"3D": GL.MAX_3D_TEXTURE_SIZE, "RECTANGLE": GL.MAX_RECTANGLE_TEXTURE_SIZE}
    edges |= dict.fromkeys(("CUBE_MAP", "CUBE_MAP_ARRAY"), GL.MAX_CUBE_MAP_TEXTURE_SIZE)
    layers = gl.get_integerv(GL.MAX_ARRAY_TEXTURE_LAYERS)[0]
    found: dict[str, Any] = {}
    for name, size in PROXIES.items():
        target, last = int(getattr(GL, f"PROXY_TEXTURE_{name}")), len(size) - 1
        limit = gl.get_integerv(edges.get(name, GL.MAX_TEXTURE_SIZE))[0]
        cases = {f"format {kind}": (1, kind, size) for kind in STORED.split()}
        cases |= {f"levels {levels}": (levels, "R16F", size) for levels in (0, 1, 2, 4, 5, 6, 40)}
        for axis in range(len(size)):
            most = layers - layers % 6 if "ARRAY" in name and axis == last else limit
            for what, edge in (("none", 0), ("negative", -1), ("many", most + 6)):
                other = list(size)
                other[axis] = edge
                if "CUBE" in name and axis < 2:
                    other[:2] = edge, edge
                cases[f"{what} along {axis}"] = (1, "R16F", tuple(other))
        for case, (levels, kind, extent) in cases.items():
            storage = getattr(gl, f"tex_storage{len(size)}d")
            storage(target, 1, GL.RG8, *(4, 4, 6)[: len(size)])
            assert errors(gl) == []
            storage(target, levels, getattr(GL, kind), *extent)
            error = errors(gl)
            told = range(1 if error else levels)
            found[f"{name} {case}"] = (
                error,
                [
                    gl.get_tex_level_parameteriv(target, level, getattr(GL, f"TEXTURE_{asked}"))[0]
                    for level in told
                    for asked in ASKED.split()
                ],
            )
            assert errors(gl) == []
    return found


@pytest.mark.native
def test_storage_of_proxies_is_checked_and_reported_as_on_native_gl() -> None:
    options: dict[str, Any] = {"profile": "compat", "version": (4, 5), "size": (4, 4)}
    native, ours = native_context(**options), create_context("numpipe", **options)
    theirs, found = proxies(native), proxies(ours)
    assert {key: (value, theirs[key]) for key, value in found.items() if value != theirs[key]} == {}
    for gl in (native, ours):
        gl.release()


def multisampled(gl: GLInterface) -> dict[str, Any]:
    """Errors of textures of several samples, as large as may be and beyond; proxies' sizes."""
    edge = gl.get_integerv(GL.MAX_TEXTURE_SIZE)[0]
    layers = gl.get_integerv(GL.MAX_ARRAY_TEXTURE_LAYERS)[0]
    sizes = [(4, 3, 2), (edge + 1, 1, 1), (1, edge + 1, 1), (1, 1, layers), (1, 1, layers + 1)]
    found: dict[str, Any] = {}
    for call, dimensions in itertools.product(("tex_image", "tex_storage"), (2, 3)):
        made = getattr(gl, f"{call}{dimensions}d_multisample")
        name = "TEXTURE_2D_MULTISAMPLE" + ("_ARRAY" if dimensions == 3 else "")
        for what, size in itertools.product(("", "PROXY_"), sizes):
            target, key = getattr(GL, what + name), f"{what}{name} {call} {size}"
            if not what:
                bound(gl, target)
            made(target, 2, GL.R8, *size[:dimensions], 1)
            found[key] = [errors(gl)]
            if what:
                found[key] += gl.get_tex_level_parameteriv(target, 0, GL.TEXTURE_WIDTH)
                found[key] += gl.get_tex_level_parameteriv(target, 0, GL.TEXTURE_DEPTH)
                for format, extent in ((GL.R8, (0, 3, 2)), (GL.RED, (4, 3, 2))):
                    made(target, 2, format, *extent[:dimensions], 1)
                    found[key].append(errors(gl))
    return found


@pytest.mark.native
def test_sizes_of_textures_of_several_samples_are_limited_as_on_native_gl() -> None:
    options: dict[str, Any] = {"profile": "compat", "version": (4, 5), "size": (4, 4)}
    native, ours = native_context(**options), create_context("numpipe", **options)
    theirs, found = multisampled(native), multisampled(ours)
    for key in theirs:
        if key.startswith("PROXY") and "tex_storage" in key:  # which Mesa does not take at all
            theirs[key][:3] = theirs[key.replace("tex_storage", "tex_image")][:3]
    assert {key: (value, theirs[key]) for key, value in found.items() if value != theirs[key]} == {}
    for gl in (native, ours):
        gl.release()


def test_buffer_textures_tell_what_they_show(gl: GLInterface) -> None:
    """A buffer or a part of it, in the last format; without a buffer, nothing."""

    def told() -> dict[str, int]:
        names = [f"{name}_{what}" for name in ("RED", "GREEN", "ALPHA", "DEPTH", "STENCIL")
                 for what in ("SIZE", "TYPE")][:-1]  # fmt: skip
        names += ["WIDTH", "HEIGHT", "DEPTH", "INTERNAL_FORMAT", "SAMPLES", "COMPRESSED"]
        names += ["BUFFER_DATA_STORE_BINDING", "BUFFER_OFFSET", "BUFFER_SIZE"]
        asked = [(name, getattr(GL, f"TEXTURE_{name}")) for name in names]
        values = {
            name: gl.get_tex_level_parameteriv(GL.TEXTURE_BUFFER, 0, value)[0]
            for name, value in asked
        }
        return {name: value for name, value in values.items() if value}

    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.TEXTURE_BUFFER, buffer)
    gl.buffer_data(GL.TEXTURE_BUFFER, 1024, None, GL.STATIC_DRAW)
    assert told() == {"INTERNAL_FORMAT": GL.R8}
    bound(gl, GL.TEXTURE_BUFFER)
    assert told() == {"INTERNAL_FORMAT": GL.R8}
    flat = {"HEIGHT": 1, "DEPTH": 1, "BUFFER_DATA_STORE_BINDING": buffer}
    for format, channels, bits, kind in (
        (GL.R8, ("RED",), 8, GL.UNSIGNED_NORMALIZED),
        (GL.RG16F, ("RED", "GREEN"), 16, GL.FLOAT),
        (GL.RG32I, ("RED", "GREEN"), 32, GL.INT),
        (GL.RGBA16UI, ("RED", "GREEN", "ALPHA"), 16, GL.UNSIGNED_INT),
    ):
        gl.tex_buffer(GL.TEXTURE_BUFFER, format, buffer)
        wanted = {f"{name}_SIZE": bits for name in channels}
        wanted |= {f"{name}_TYPE": kind for name in channels}
        texel = bits // 8 * (len(channels) + ("ALPHA" in channels))
        wanted |= {"WIDTH": 1024 // texel, "INTERNAL_FORMAT": format}
        assert told() == wanted | flat | {"BUFFER_SIZE": 1024}
        gl.tex_buffer_range(GL.TEXTURE_BUFFER, format, buffer, 256, 512)
        wanted["WIDTH"] //= 2
        assert told() == wanted | flat | {"BUFFER_OFFSET": 256, "BUFFER_SIZE": 512}
    gl.tex_buffer(GL.TEXTURE_BUFFER, GL.RGBA8, 0)
    assert told() == {"INTERNAL_FORMAT": GL.RGBA8}
    assert errors(gl) == []
