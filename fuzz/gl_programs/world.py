"""What a generated line may call beside the GL itself: programs, meshes, textures, targets.

Everything is made from small exact numbers. Positions are multiples of 1/16 of a clip unit and
targets are powers of two, so window coordinates fall on the sub-pixel grid of any rasterizer; depth
is constant over a primitive; colours are sums of few bits. What then still differs is a defect, or
stands in the table of `compare`.

A world may serve many programs: `reset` takes a context back to where the first one found it.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fuzz.gl_programs.common import EDGE, SIZE, UNITS
from fuzz.gl_programs.es import in_es
from fuzz.gl_programs.programs import Programs
from fuzz.gl_programs.settings import PROFILES, resets
from gallette.state_tracker import GL

KINDS = ("buffers", "textures", "samplers", "queries", "vertex_arrays", "framebuffers",
         "renderbuffers")  # fmt: skip
_TARGETS = {
    "1d": GL.TEXTURE_1D,
    "2d": GL.TEXTURE_2D,
    "3d": GL.TEXTURE_3D,
    "cube": GL.TEXTURE_CUBE_MAP,
    "array": GL.TEXTURE_2D_ARRAY,
    "cubes": GL.TEXTURE_CUBE_MAP_ARRAY,
    "rect": GL.TEXTURE_RECTANGLE,
    "buffer": GL.TEXTURE_BUFFER,
    "i": GL.TEXTURE_2D,
    "u": GL.TEXTURE_2D,
    "ms": GL.TEXTURE_2D_MULTISAMPLE,
}
"""by what a shader reads"""
_UNITS_HAVE = ("1d", "2d", "3d", "cube", "rect")
"""kinds of textures that units of fixed function sample"""
_MAPPING = {
    "": 0,
    "invalidate": GL.MAP_INVALIDATE_RANGE_BIT,
    "flush": GL.MAP_FLUSH_EXPLICIT_BIT,
    "unsynchronized": GL.MAP_UNSYNCHRONIZED_BIT,
}
_RESET = {
    profile: compile(
        "\n".join(in_es(resets(profile)) if profile == "es" else resets(profile)),
        "<reset>",
        "exec",
    )
    for profile in PROFILES
}


def _on_lines(places: Any) -> Any:
    """The second and third of three points that follow each other and are on one line."""
    if len(places) < 3:
        return np.zeros(0, np.intp)
    (x, y), (u, v) = (places[1:-1] - places[:-2]).T, (places[2:] - places[1:-1]).T
    return np.unique(np.flatnonzero(x * v == u * y)[:, None] + [1, 2])


_NAMING = threading.RLock()
"""Whose a name is changes hands with the name."""


class World(Programs):
    """The helpers of one context."""

    def __init__(self, gl: Any, profile: str, share: World | None = None) -> None:
        super().__init__(gl, profile)
        self._whose: dict[tuple[str, int], World] = {} if share is None else share._whose
        self.made: dict[str, list[int]] = {kind: [] for kind in KINDS}

    def reset(self) -> None:
        """Delete every object but programs, which are kept for the next one; initial state."""
        gl = self.gl
        gl.use_program(0)
        gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
        gl.bind_vertex_array(0)
        for kind in KINDS:
            self.delete(kind)
        self.uses.clear()
        exec(_RESET[self.profile], {"gl": gl, "GL": GL, "np": np, "w": self})
        while gl.get_error():
            pass

    def delete(self, kind: str) -> None:
        """Everything of one kind that the program has made, but what others have made since."""
        with _NAMING:
            names = [n for n in self.made[kind] if self._whose[kind, n] is self]
            self.made[kind].clear()
            if names:
                getattr(self.gl, f"delete_{kind}")(len(names), np.array(names, np.uint32))

    def gen(self, kind: str) -> int:
        with _NAMING:
            (name,) = getattr(self.gl, f"gen_{kind}")(1)
            self.keep(kind, int(name))
        return int(name)

    def keep(self, kind: str, name: int) -> None:
        """An object that the program has made: who had its name before has deleted that."""
        self.made[kind].append(name)
        self._whose[kind, name] = self

    # -- buffers -------------------------------------------------------------------------------

    def buffer(self) -> int:
        """A buffer of zeros: what a draw reads from unwritten memory is undefined."""
        gl, name = self.gl, self.gen("buffers")
        gl.bind_buffer(GL.COPY_WRITE_BUFFER, name)
        gl.buffer_data(GL.COPY_WRITE_BUFFER, 4096, bytes(4096), GL.STATIC_DRAW)
        gl.bind_buffer(GL.COPY_WRITE_BUFFER, 0)
        return name

    def storage(self, data: Any) -> int:
        """A buffer of this data, which is not left bound."""
        gl, name = self.gl, self.buffer()
        gl.bind_buffer(GL.COPY_WRITE_BUFFER, name)
        gl.buffer_data(GL.COPY_WRITE_BUFFER, data.nbytes, data, GL.DYNAMIC_DRAW)
        gl.bind_buffer(GL.COPY_WRITE_BUFFER, 0)
        return name

    def query(self) -> int:
        return self.gen("queries")

    @staticmethod
    def f(*values: float) -> Any:
        return np.array(values, np.float32)

    def colors(self, seed: int) -> Any:
        """512 bytes of colours."""
        return np.random.default_rng(seed).integers(0, 5, 128).astype(np.float32) / 4

    def bytes(self, seed: int, count: int) -> Any:
        return np.random.default_rng(seed).integers(0, 256, count, np.uint8)

    def vertices(self, seed: int, count: int) -> Any:
        """Interleaved position, colour and coordinates; each three share a depth.

        No three that follow each other are on one line: what has no area is drawn nowhere, but
        where clipping moves a corner a little some pixels of it may be, and llvmpipe loses what it
        drew before under some of them.
        """
        random = np.random.default_rng(seed)
        data = np.zeros((count, 10), np.float32)
        data[:, 0:2] = random.integers(-20, 21, (count, 2)) / 16
        data[:, 2] = np.repeat(random.integers(-8, 9, -(-count // 3)) / 8, 3)[:count]
        data[:, 3] = 1
        data[:, 4:8] = random.integers(0, 5, (count, 4)) / 4
        data[:, 8:10] = random.integers(-8, 17, (count, 2)) / 8
        while len(moved := _on_lines(data[:, 0:2])):
            data[moved, 0:2] = random.integers(-20, 21, (len(moved), 2)) / 16
        return data

    def quad(self, seed: int, most: int = 32) -> Any:
        """Two triangles that make one rectangle within `most` / 16, in the layout of `vertices`."""
        random = np.random.default_rng(seed)
        left, low = random.integers(-16 if most > 16 else -most, 8, 2) / 16
        right, high = left + random.integers(2, 24) / 16, low + random.integers(2, 24) / 16
        right, high = min(right, most / 16), min(high, most / 16)
        data = self.vertices(seed, 6)
        data[:, 0] = [left, right, right, left, right, left]
        data[:, 1] = [low, low, high, low, high, high]
        data[:, 2] = data[0, 2]
        data[:, 4:8] = data[0, 4:8]
        return data

    def array(self, buffer: int) -> int:
        """A vertex array reading a buffer of `vertices`."""
        gl, name = self.gl, self.gen("vertex_arrays")
        gl.bind_vertex_array(name)
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        for index, (size, offset) in enumerate(((4, 0), (4, 16), (2, 32))):
            gl.enable_vertex_attrib_array(index)
            gl.vertex_attrib_pointer(index, size, GL.FLOAT, 0, 40, offset)
        return name

    def _filled(self, target: int, data: Any) -> int:
        name = self.buffer()
        self.gl.bind_buffer(target, name)
        self.gl.buffer_data(target, data.nbytes, data, GL.STATIC_DRAW)
        return name

    def block(self, seed: int) -> int:
        """512 bytes of colours for the block of `blocks`."""
        return self._filled(GL.UNIFORM_BUFFER, self.colors(seed))

    def pixels(self, seed: int, count: int) -> int:
        """A buffer of bytes to unpack from; it is not left bound."""
        name = self._filled(GL.PIXEL_UNPACK_BUFFER, self.bytes(seed, count))
        self.gl.bind_buffer(GL.PIXEL_UNPACK_BUFFER, 0)
        return name

    @contextmanager
    def store(self, side: str, **values: int) -> Iterator[None]:
        """Pixel storage for one line: what runs next finds it as it was."""
        gl = self.gl
        initial = {"ALIGNMENT": 1 if side == "PACK" else 4}
        try:
            for name, value in values.items():
                gl.pixel_storei(getattr(GL, f"{side}_{name}"), value)
            yield
        finally:
            for name in values:
                gl.pixel_storei(getattr(GL, f"{side}_{name}"), initial.get(name, 0))

    @contextmanager
    def bound(self, target: int, buffer: int) -> Iterator[None]:
        """A buffer bound for one line."""
        self.gl.bind_buffer(target, buffer)
        try:
            yield
        finally:
            self.gl.bind_buffer(target, 0)

    def captured(self, size: int, offset: int) -> int:
        """A buffer full of ones, bound to take what transform feedback captures."""
        name = self._filled(GL.TRANSFORM_FEEDBACK_BUFFER, np.ones(size // 4, np.float32))
        self.gl.bind_buffer_range(GL.TRANSFORM_FEEDBACK_BUFFER, 0, name, offset, size - offset)
        return name

    def indirect(self, command: list[int], draw: Callable[[], None]) -> None:
        """`draw` with this command behind GL_DRAW_INDIRECT_BUFFER."""
        name = self._filled(GL.DRAW_INDIRECT_BUFFER, np.array(command, np.uint32))
        draw()
        self.gl.delete_buffers(1, np.array([name], np.uint32))

    def mapped(self, target: int, offset: int, data: Any, how: str) -> None:
        """Write through a mapping."""
        gl, raw = self.gl, data.tobytes()
        access = GL.MAP_WRITE_BIT | _MAPPING[how]
        address = gl.map_buffer_range(target, offset, len(raw), access)
        if not address:
            return
        ctypes.memmove(address, raw, len(raw))
        if how == "flush":
            gl.flush_mapped_buffer_range(target, 0, len(raw))
        gl.unmap_buffer(target)

    # -- state without programs ----------------------------------------------------------------

    def untextured(self) -> None:
        """No textures in any unit."""
        for unit in range(UNITS):
            self.gl.active_texture(GL.TEXTURE0 + unit)
            for kind in _UNITS_HAVE:
                self.gl.disable(_TARGETS[kind])
        self.gl.active_texture(GL.TEXTURE0)

    def initial_current(self) -> None:
        """Current values, which arrays leave undefined; coordinates that are a direction."""
        gl = self.gl
        gl.color4f(1.0, 1.0, 1.0, 1.0)
        gl.secondary_color3f(0.0, 0.0, 0.0)
        gl.normal3f(0.0, 0.0, 1.0)
        gl.fog_coordf(0.0)
        for unit in range(UNITS):
            gl.multi_tex_coord4f(GL.TEXTURE0 + unit, 0.5, 0.25, 0.125, 1.0)

    # -- textures and targets ------------------------------------------------------------------

    def texels(self, seed: int, width: int, height: int) -> Any:
        random = np.random.default_rng(seed)
        return (random.integers(0, 5, (height, width, 4)) * 63).astype(np.uint8)

    def _texture(
        self, target: int, levels: int = 1, filter: int = GL.NEAREST, wrap: int = 0
    ) -> int:
        gl, name = self.gl, self.gen("textures")
        gl.bind_texture(target, name)
        gl.tex_parameteri(target, GL.TEXTURE_MAX_LEVEL, levels - 1)
        gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, filter)
        gl.tex_parameteri(target, GL.TEXTURE_MAG_FILTER, filter)
        for axis in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T, GL.TEXTURE_WRAP_R) if wrap else ():
            gl.tex_parameteri(target, axis, wrap)
        return name

    def image(
        self, target: int, internal: int, texels: Any, level: int = 0, format: int = GL.RGBA
    ) -> None:
        """An image of the bound texture; texels have their axes in the order of memory."""
        *size, _ = texels.shape
        type = GL.BYTE if texels.dtype == np.int8 else GL.UNSIGNED_BYTE
        upload = getattr(self.gl, f"tex_image{len(size)}d")
        upload(target, level, internal, *reversed(size), 0, format, type, texels)

    def texture(self, internal: int, seed: int, size: int, levels: int = 1) -> int:
        name = self._texture(GL.TEXTURE_2D, levels)
        for level in range(levels):
            edge = max(size >> level, 1)
            self.image(GL.TEXTURE_2D, internal, self.texels(seed + level, edge, edge), level)
        return name

    def layers(self, internal: int, seed: int, size: int, count: int) -> int:
        """An array texture."""
        name = self._texture(GL.TEXTURE_2D_ARRAY)
        data = self.texels(seed, size, size * count).reshape(count, size, size, 4)
        self.image(GL.TEXTURE_2D_ARRAY, internal, data)
        return name

    def smooth(self, target: int, internal: int, seed: int, wrap: int) -> int:
        """A filtered texture in which neighbours differ by little, as the faces of a cube do."""
        gl = self.gl
        gl.active_texture(GL.TEXTURE0 + UNITS)  # which is not drawn with
        name = self._texture(target, filter=GL.LINEAR, wrap=wrap)
        axes = {GL.TEXTURE_1D: 1, GL.TEXTURE_3D: 3}.get(target, 2)
        cube = target == GL.TEXTURE_CUBE_MAP
        phases = np.random.default_rng(seed).integers(0, 8, (3 if cube else axes, 4)) / 8
        for face in range(6 if cube else 1):
            places = _directions(face) if cube else _grid((EDGE,) * axes)
            at = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face if cube else target
            self.image(at, internal, _waves(places, phases))
        gl.bind_texture(target, 0)
        gl.active_texture(GL.TEXTURE0)
        return name

    def nearest(self, kind: str, seed: int) -> int:
        """A texture of 8 texels along each axis, whose filter is the nearest."""
        gl, target = self.gl, _TARGETS[kind]
        random = np.random.default_rng(seed)
        if kind == "buffer":
            name = self.gen("textures")
            gl.bind_texture(target, name)
            gl.tex_buffer(target, GL.RGBA32F, self.storage(self.colors(seed)))
            return name
        if kind == "ms":  # samples cannot be uploaded: they have the colours of a clear
            name = self._stored("2d", 4, GL.RGBA8, EDGE)
            color = (random.integers(0, 5, 4) * 63).astype(np.uint8)
            gl.clear_tex_image(name, 0, GL.RGBA, GL.UNSIGNED_BYTE, color)
            return name
        name = self._texture(target, wrap=GL.CLAMP_TO_EDGE if kind == "rect" else GL.REPEAT)
        internal = {"i": GL.RGBA8I, "u": GL.RGBA8UI}.get(kind, GL.RGBA8)
        format = GL.RGBA_INTEGER if kind in ("i", "u") else GL.RGBA
        depth = {"3d": (8,), "array": (3,), "cubes": (12,), "cube": (6,)}.get(kind, ())
        shape = (EDGE, 4) if kind == "1d" else (*depth, EDGE, EDGE, 4)
        texels = (random.integers(0, 5, shape) * 63).astype(np.int8 if kind == "i" else np.uint8)
        for face in range(6 if kind == "cube" else 0):
            self.image(GL.TEXTURE_CUBE_MAP_POSITIVE_X + face, internal, texels[face].copy())
        if kind != "cube":
            self.image(target, internal, texels, format=format)
        return name

    def counts(self) -> int:
        """An image of zeros."""
        name = self._stored("2d", 0, GL.R32UI, EDGE)
        zero = np.zeros(1, np.uint32)
        self.gl.clear_tex_image(name, 0, GL.RED_INTEGER, GL.UNSIGNED_INT, zero)
        return name

    def depths(self, internal: int, seed: int, size: int, compare: int) -> int:
        """A depth texture to compare with."""
        name = self._texture(GL.TEXTURE_2D)
        # Never the value that a quarter is stored as, and none between two that can be stored.
        known = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], np.float32)
        values = known[np.random.default_rng(seed).integers(0, 6, (size, size))]
        stencil = internal in (GL.DEPTH24_STENCIL8, GL.DEPTH32F_STENCIL8)
        format, type, data = GL.DEPTH_COMPONENT, GL.FLOAT, values
        if stencil:
            format, type = GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8
            data = (np.round(values.astype(np.float64) * 0xFFFFFF).astype(np.uint32) << 8) | 3
        if internal == GL.DEPTH32F_STENCIL8:
            type, data = GL.FLOAT_32_UNSIGNED_INT_24_8_REV, np.zeros((size, size, 2), np.float32)
            data[..., 0] = values
        self.gl.tex_image2d(GL.TEXTURE_2D, 0, internal, size, size, 0, format, type, data)
        self.gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_COMPARE_MODE, GL.COMPARE_REF_TO_TEXTURE)
        self.gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_COMPARE_FUNC, compare)
        return name

    def sampler(self) -> int:
        return self.gen("samplers")

    def drawn(self, target: int, index: int) -> int:
        """The texture behind a colour of a target made of textures."""
        gl = self.gl
        gl.bind_framebuffer(GL.FRAMEBUFFER, target)
        (name,) = gl.get_framebuffer_attachment_parameteriv(
            GL.FRAMEBUFFER,
            GL.COLOR_ATTACHMENT0 + index,
            GL.FRAMEBUFFER_ATTACHMENT_OBJECT_NAME,
        )[:1]
        return int(name)

    def target(
        self, colors: list[int], depth: int | None, samples: int = 0, textures: bool = False
    ) -> int:
        """A framebuffer with attachments of these formats, cleared, bound to draw."""
        gl, name = self.gl, self.gen("framebuffers")
        gl.bind_framebuffer(GL.FRAMEBUFFER, name)
        points = [(GL.COLOR_ATTACHMENT0 + i, f) for i, f in enumerate(colors)]
        if depth is not None:
            stencil = depth in (GL.DEPTH24_STENCIL8, GL.DEPTH32F_STENCIL8)
            point = GL.DEPTH_STENCIL_ATTACHMENT if stencil else GL.DEPTH_ATTACHMENT
            points.append((point, depth))
        for point, format in points:
            if textures:
                texture = self._texture(GL.TEXTURE_2D)
                gl.tex_storage2d(GL.TEXTURE_2D, 1, format, SIZE, SIZE)
                gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, GL.TEXTURE_2D, texture, 0)
                continue
            buffer = self.gen("renderbuffers")
            gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
            gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, format, SIZE, SIZE)
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
        self._clear(len(colors), depth is not None)
        return name

    def _clear(self, colors: int, depth: bool) -> None:
        """Everything, whatever is masked: the next program may not see what memory held."""
        gl = self.gl
        buffers = [GL.COLOR_ATTACHMENT0 + i for i in range(colors)]
        gl.draw_buffers(len(buffers), np.array(buffers, np.uint32))
        gl.read_buffer(buffers[0])
        gl.disable(GL.SCISSOR_TEST)
        gl.disable(GL.RASTERIZER_DISCARD)
        gl.color_mask(1, 1, 1, 1)
        gl.depth_mask(1)
        gl.stencil_mask(255)
        integer = not self._is_float()
        if integer:
            for index in range(colors):
                gl.clear_bufferiv(GL.COLOR, index, np.arange(4, dtype=np.int32))
        else:
            gl.clear(GL.COLOR_BUFFER_BIT)
        if depth:
            gl.clear(GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)

    def _is_float(self) -> bool:
        (kind,) = self.gl.get_framebuffer_attachment_parameteriv(
            GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE
        )[:1]
        return int(kind) not in (GL.INT, GL.UNSIGNED_INT)

    def layered(self, kind: str, samples: int, depth: bool) -> tuple[int, int]:
        """A framebuffer with layers or samples, cleared and bound, and its texture."""
        gl, name = self.gl, self.gen("framebuffers")
        texture = self._stored(kind, samples, GL.RGBA8, SIZE)
        gl.bind_framebuffer(GL.FRAMEBUFFER, name)
        gl.framebuffer_texture(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, texture, 0)
        if depth:
            other = self._stored(kind, samples, GL.DEPTH_COMPONENT24, SIZE)
            gl.framebuffer_texture(GL.FRAMEBUFFER, GL.DEPTH_ATTACHMENT, other, 0)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        return name, texture

    def _stored(self, kind: str, samples: int, format: int, edge: int) -> int:
        """A texture whose storage is to be written by the GL."""
        gl, texture = self.gl, self.gen("textures")
        at = GL.TEXTURE_2D_MULTISAMPLE if samples else _TARGETS[kind]
        gl.bind_texture(at, texture)
        if samples:
            gl.tex_storage2d_multisample(at, samples, format, edge, edge, 1)
        elif kind in ("2d", "cube"):
            gl.tex_storage2d(at, 1, format, edge, edge)
        else:
            gl.tex_storage3d(at, 1, format, edge, edge, 2)
        gl.bind_texture(at, 0)
        return texture


def _grid(edges: tuple[int, ...]) -> Any:
    """Where the texels are, from 0 to 1 along each axis."""
    return np.stack(np.meshgrid(*[np.arange(edge) / edge for edge in edges]), -1)


def _directions(face: int) -> Any:
    """Where the texels of a face are around the middle of a cube, in waves of a third."""
    t, s = np.meshgrid(*[(np.arange(EDGE) + 0.5) / EDGE * 2 - 1] * 2, indexing="ij")
    one = np.ones_like(s)
    x, y, z = [
        (one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one), (-s, -t, -one)
    ][face]  # fmt: skip
    return np.stack([x, y, z], -1) / np.sqrt(x * x + y * y + z * z)[..., None] / 3


def _waves(places: Any, phases: Any) -> Any:
    """Colours at these places: a wave of each channel along each axis, summed up; what is repeated
    meets itself."""
    total = np.sin(2 * np.pi * (places[..., None] + phases)).sum(axis=-2)
    return np.round(127.5 + 100 / len(phases) * total).astype(np.uint8)
