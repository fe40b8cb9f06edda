"""What a program looks at: pictures, buffers, queries, as `see.*` in its lines."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from fuzz.gl_programs.common import EDGE, SIZE, UNITS
from fuzz.gl_programs.compare import Seen
from fuzz.gl_programs.world import World
from gallette.state_tracker import GL


class Eyes:
    """The `see.*` functions of a program."""

    def __init__(self, world: World, seen: list[Seen]) -> None:
        self.gl, self.world, self.seen = world.gl, world, seen
        self.es = world.profile == "es"
        self.draws = 0
        self.amplified = False
        self.unclamped = False

    def _read(self, format: int, type: int, dtype: Any, width: int) -> Any:
        """Pixels as [y, x, channel]; nothing where the call failed."""
        size = SIZE * SIZE * width * np.dtype(dtype).itemsize
        raw = bytes(self.gl.read_pixels(0, 0, SIZE, SIZE, format, type))
        return np.frombuffer(raw if len(raw) == size else bytes(size), dtype).reshape(
            SIZE, SIZE, width
        )

    def color(self, index: int = 0, of: int | None = None) -> None:
        """A colour buffer of the bound framebuffer as bytes (a resolved one of another, `of`)."""
        self.gl.read_buffer(GL.COLOR_ATTACHMENT0 + index)
        pixels = self._read(GL.RGBA, GL.UNSIGNED_BYTE, np.uint8, 4)
        step = self.step(index, of)
        encoded = of is None and self._is_encoded(index)
        amplified = self.amplified
        self.seen.append(
            Seen(f"colour {index}", pixels, self.draws, step, amplified, encoded, self.unclamped)
        )

    def _is_encoded(self, index: int) -> bool:
        """Does this colour buffer hold sRGB?"""
        attachment = (GL.READ_FRAMEBUFFER, GL.COLOR_ATTACHMENT0 + index)
        found = self.gl.get_framebuffer_attachment_parameteriv(
            *attachment, GL.FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING
        )
        return bool(found[0] == GL.SRGB)

    def step(self, index: int, of: int | None = None) -> int:
        """One step of the coarsest channel of a colour buffer, in 255ths."""
        gl = self.gl
        if of is not None:
            gl.bind_framebuffer(GL.READ_FRAMEBUFFER, of)
        point = (GL.READ_FRAMEBUFFER, GL.COLOR_ATTACHMENT0 + index)
        sizes = [
            gl.get_framebuffer_attachment_parameteriv(*point, channel)[0]
            for channel in (
                GL.FRAMEBUFFER_ATTACHMENT_RED_SIZE,
                GL.FRAMEBUFFER_ATTACHMENT_GREEN_SIZE,
                GL.FRAMEBUFFER_ATTACHMENT_BLUE_SIZE,
                GL.FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE,
            )
        ]
        kind = gl.get_framebuffer_attachment_parameteriv(
            *point, GL.FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE
        )[0]
        bits = min((size for size in sizes if size), default=8)
        if kind == GL.FLOAT:
            bits -= 4  # small floats have five bits of exponent, no sign, and a hidden bit
        if of is not None:
            (bound,) = gl.get_integerv(GL.DRAW_FRAMEBUFFER_BINDING)
            gl.bind_framebuffer(GL.READ_FRAMEBUFFER, bound)
        return max(1, -(-255 // ((1 << bits) - 1)))

    def integers(self, index: int, kind: str) -> None:
        """A colour buffer of integers."""
        self.gl.read_buffer(GL.COLOR_ATTACHMENT0 + index)
        type, dtype = (GL.INT, np.int32) if kind == "i" else (GL.UNSIGNED_INT, np.uint32)
        pixels = self._read(GL.RGBA_INTEGER, type, dtype, 4)
        self.seen.append(Seen(f"integers {index}", pixels.astype(np.int64)))

    def packed(self, format: int, x: int, y: int, index: int) -> None:
        """5 x 3 pixels in a buffer, as pixel storage lays them out, and the bytes around them."""
        gl = self.gl
        gl.read_buffer(GL.COLOR_ATTACHMENT0 + index)
        (name,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.PIXEL_PACK_BUFFER, name)
        gl.buffer_data(GL.PIXEL_PACK_BUFFER, 512, np.full(512, 0xAB, np.uint8), GL.STREAM_READ)
        gl.read_pixels(x, y, 5, 3, format, GL.UNSIGNED_BYTE, 0)
        raw = self._bytes(GL.PIXEL_PACK_BUFFER, 512)
        gl.bind_buffer(GL.PIXEL_PACK_BUFFER, 0)
        gl.delete_buffers(1, np.array([name], np.uint32))
        step = self.step(index)
        self.seen.append(Seen("packed", np.frombuffer(raw, np.uint8), self.draws, step))

    def depth(self) -> None:
        self.seen.append(Seen("depth", self._read(GL.DEPTH_COMPONENT, GL.FLOAT, np.float32, 1)))

    def stencil(self) -> None:
        values = self._read(GL.STENCIL_INDEX, GL.UNSIGNED_BYTE, np.uint8, 1)
        self.seen.append(Seen("stencil", values.astype(np.int32)))

    def query(self, name: int) -> None:
        self.seen.append(Seen("query", self.gl.get_query_objectuiv(name, GL.QUERY_RESULT)[0]))

    def captured(self, name: int, size: int) -> None:
        """What transform feedback wrote, and what it left alone."""
        gl = self.gl
        gl.bind_buffer(GL.TRANSFORM_FEEDBACK_BUFFER, name)
        raw = self._bytes(GL.TRANSFORM_FEEDBACK_BUFFER, size)
        self.seen.append(Seen("captured", np.frombuffer(raw, np.float32)))

    def mapping(self, target: int, offset: int, size: int) -> None:
        """Bytes read through a mapping."""
        self.seen.append(Seen("mapping", self._mapped(target, offset, size)))

    def _mapped(self, target: int, offset: int, size: int) -> bytes:
        address = self.gl.map_buffer_range(target, offset, size, GL.MAP_READ_BIT)
        raw = ctypes.string_at(address, size) if address else b""
        if address:
            self.gl.unmap_buffer(target)
        return raw

    def _bytes(self, target: int, size: int) -> bytes:
        """What the bound buffer holds; OpenGL ES has no other way than to map it."""
        if self.es:
            return self._mapped(target, 0, size)
        return bytes(self.gl.get_buffer_sub_data(target, 0, size))

    def layers(self, target: tuple[int, int], kind: str, samples: int) -> None:
        """All layers of a target of `new`; samples resolved."""
        gl, (name, texture) = self.gl, target
        if samples:
            plain = self.world.layered("2d", 0, False)
            gl.bind_framebuffer(GL.READ_FRAMEBUFFER, name)
            box = (0, 0, SIZE, SIZE)
            gl.disable(GL.SCISSOR_TEST)
            gl.blit_framebuffer(*box, *box, GL.COLOR_BUFFER_BIT, GL.NEAREST)
            texture, kind = plain[1], "2d"
        layers = {"2d": 1, "cube": 6}.get(kind, 2)
        size = layers * SIZE * SIZE * 4
        raw = bytes(gl.get_texture_image(texture, 0, GL.RGBA, GL.UNSIGNED_BYTE, size))
        pixels = np.frombuffer(raw, np.uint8).reshape(layers * SIZE, SIZE, 4)
        self.seen.append(Seen("layers", pixels, self.draws))

    def counts(self, image: int) -> None:
        """An image that shaders count in."""
        self.gl.memory_barrier(GL.ALL_BARRIER_BITS)
        size = EDGE * EDGE * 4
        raw = bytes(self.gl.get_texture_image(image, 0, GL.RED_INTEGER, GL.UNSIGNED_INT, size))
        self.seen.append(Seen("counts", np.frombuffer(raw, np.uint32).astype(np.int64)))

    def words(self, buffer: int, size: int, dtype: str) -> None:
        """The beginning of a buffer that shaders write."""
        self.gl.memory_barrier(GL.ALL_BARRIER_BITS)
        raw = bytes(self.gl.get_named_buffer_sub_data(buffer, 0, size))
        found = np.frombuffer(raw, dtype)
        self.seen.append(Seen("words", found if dtype == "f4" else found.astype(np.int64)))

    def sampled(self, target: int, index: int) -> None:
        """A picture that later draws may sample, with what was rounded in it."""
        self.amplified |= self.step(index, target) > 1

    def blended(self) -> None:
        """A draw whose result depends on what was rounded before."""
        gl = self.gl
        self.draws += 1
        self.unclamped = self.unclamped or self._adds_up()
        if self.amplified:
            return
        factor = gl.get_integerv(GL.BLEND_DST_RGB)[0] if gl.is_enabled(GL.BLEND) else GL.ONE
        grows = factor in _DRAWN and self._is_float()
        self.amplified = bool(factor in _OWN or grows or gl.is_enabled(GL.COLOR_LOGIC_OP))

    def _adds_up(self) -> bool:
        """Are there colours above 1 before or behind a unit of fixed function?"""
        gl = self.gl
        if gl.profile != "compat" or gl.get_integerv(GL.CURRENT_PROGRAM)[0]:
            return False
        vertex, fragment = (
            self._clamps(gl.get_integerv(which)[0])
            for which in (GL.CLAMP_VERTEX_COLOR, GL.CLAMP_FRAGMENT_COLOR)
        )
        if fragment and (vertex or not gl.is_enabled(GL.LIGHTING)):
            return False
        (active,) = gl.get_integerv(GL.ACTIVE_TEXTURE)
        modes = set()
        for unit in range(UNITS):
            gl.active_texture(GL.TEXTURE0 + unit)
            if any(map(gl.is_enabled, _TEXTURES)):
                modes.add(gl.get_tex_enviv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE)[0])
        gl.active_texture(active)
        return bool(modes) if not vertex else not modes.isdisjoint(_SUMS)

    def _clamps(self, how: int) -> bool:
        """Does a setting of glClampColor clamp what is drawn to this framebuffer?"""
        return how == GL.TRUE or (how == GL.FIXED_ONLY and not self._is_float())

    def _is_float(self) -> bool:
        """Is what is drawn to the first colour buffer neither clamped nor rounded to steps?"""
        attachment = (GL.DRAW_FRAMEBUFFER, GL.COLOR_ATTACHMENT0)
        found = self.gl.get_framebuffer_attachment_parameteriv(
            *attachment, GL.FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE
        )
        return bool(found[0] == GL.FLOAT)


_SUMS = (GL.ADD, GL.COMBINE, GL.COMBINE4_NV)
_TEXTURES = (GL.TEXTURE_1D, GL.TEXTURE_2D, GL.TEXTURE_3D, GL.TEXTURE_CUBE_MAP, GL.TEXTURE_RECTANGLE)
_OWN = (GL.DST_COLOR, GL.ONE_MINUS_DST_COLOR, GL.DST_ALPHA, GL.ONE_MINUS_DST_ALPHA)
"""Factors that multiply the destination by itself."""

_DRAWN = (GL.SRC_COLOR, GL.ONE_MINUS_SRC_COLOR, GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
"""Factors that multiply the destination by the source."""
