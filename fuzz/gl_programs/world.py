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

from fuzz.gl_programs.common import SIZE
from fuzz.gl_programs.es import HEADER, in_es
from fuzz.gl_programs.old import Old
from fuzz.gl_programs.settings import PROFILES, resets
from fuzz.gl_programs.shaders import link, source
from gallette.state_tracker import GL

ATTRIBUTES = ("position", "color", "uv")
KINDS = ("buffers", "textures", "samplers", "queries", "vertex_arrays", "framebuffers",
         "renderbuffers")  # fmt: skip
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


class World:
    """The helpers of one context."""

    def __init__(self, gl: Any, profile: str, share: World | None = None) -> None:
        self.gl = gl
        self._whose: dict[tuple[str, int], World] = {} if share is None else share._whose
        self.profile = profile
        self.made: dict[str, list[int]] = {kind: [] for kind in KINDS}
        self.linked: dict[tuple[Any, ...], int] = {}
        self.uses: dict[tuple[str, str, bool], int] = {}

    def reset(self) -> None:
        """Delete every object but programs, which are kept for the next one; initial state."""
        gl = self.gl
        gl.use_program(0)
        gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
        gl.bind_vertex_array(0)
        for kind in KINDS:
            self.delete(kind)
        self.uses.clear()
        exec(_RESET[self.profile], {"gl": gl, "GL": GL, "np": np, "old": Old(self)})
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

    # -- programs ------------------------------------------------------------------------------

    def program(self, vertex: str, fragment: str, capture: bool = False) -> int:
        """A linked program no other line of this program has; its uniforms are zero."""
        kind = (vertex, fragment, capture)
        number = self.uses.get(kind, 0)
        self.uses[kind] = number + 1
        name = self.linked.get((*kind, number))
        if name is None:
            language = "old" if vertex == "old" else "plain"
            head = "#version 120\n" if vertex == "old" else "#version 330\n"
            head = HEADER if self.profile == "es" else head
            pair = (("vertex", vertex), ("fragment", fragment))
            sources = {stage: head + source(language, stage, of) for stage, of in pair}
            captured = ("gl_Position", "v_color") if capture else ()
            name = self.link(sources, captured=captured, attributes=ATTRIBUTES)
            self.linked[(*kind, number)] = name
        else:
            self.gl.use_program(name)
            for uniform in ("offset", "tint"):
                self.uniform(name, uniform, 0.0, 0.0, 0.0, 0.0)
        return name

    def link(self, sources: dict[str, str], **how: Any) -> int:
        """A program of these stages, which must link."""
        name, log = link(self.gl, sources, **how)
        if log:
            raise RuntimeError(log)
        return name

    def drop(self, program: int) -> None:
        """Delete a program."""
        for kind in [kind for kind, name in self.linked.items() if name == program]:
            del self.linked[kind]
        self.gl.delete_program(program)

    def uniform(self, program: int, name: str, *values: float) -> None:
        """Set a vec4 of the program in use."""
        location = self.gl.get_uniform_location(program, name)
        self.gl.uniform4f(location, *values)

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
        data = np.random.default_rng(seed).integers(0, 5, 128).astype(np.float32) / 4
        return self._filled(GL.UNIFORM_BUFFER, data)

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

    # -- textures and targets ------------------------------------------------------------------

    def texels(self, seed: int, width: int, height: int) -> Any:
        random = np.random.default_rng(seed)
        return (random.integers(0, 5, (height, width, 4)) * 63).astype(np.uint8)

    def _texture(self, target: int, levels: int = 1) -> int:
        gl, name = self.gl, self.gen("textures")
        gl.bind_texture(target, name)
        gl.tex_parameteri(target, GL.TEXTURE_MAX_LEVEL, levels - 1)
        gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
        gl.tex_parameteri(target, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
        return name

    def texture(self, internal: int, seed: int, size: int, levels: int = 1) -> int:
        name = self._texture(GL.TEXTURE_2D, levels)
        for level in range(levels):
            edge = max(size >> level, 1)
            data = self.texels(seed + level, edge, edge)
            self.gl.tex_image2d(
                GL.TEXTURE_2D, level, internal, edge, edge, 0, GL.RGBA, GL.UNSIGNED_BYTE, data
            )
        return name

    def layers(self, internal: int, seed: int, size: int, count: int) -> int:
        """An array texture."""
        name = self._texture(GL.TEXTURE_2D_ARRAY)
        data = self.texels(seed, size, size * count)
        self.gl.tex_image3d(
            GL.TEXTURE_2D_ARRAY, 0, internal, size, size, count, 0, GL.RGBA, GL.UNSIGNED_BYTE, data
        )
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
