"""What a program may call beside the GL: objects that are mostly valid, and data of any kind."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from fuzz.gl_programs.shaders import link
from gallette.state_tracker import GL

from . import numbers
from .tables import FORMATS, IMAGE_FORMATS, TARGETS, kind_of, upload

__all__ = ["Helpers"]

_EDGES = (1, 2, 3, 4, 5, 7, 8, 8, 16, 16, 17, 33)
"""texels along an axis"""
_COLORS = ("RGBA8", "RGBA8", "RGBA16F", "RGBA32F", "R8", "RG16", "RGB10_A2", "R11F_G11F_B10F",
           "SRGB8_ALPHA8", "RGBA8I", "R32UI", "RGBA16UI", "RGB565", "RGBA8_SNORM")  # fmt: skip
_DEPTHS = {
    "DEPTH_COMPONENT16": GL.DEPTH_ATTACHMENT,
    "DEPTH_COMPONENT32F": GL.DEPTH_ATTACHMENT,
    "DEPTH24_STENCIL8": GL.DEPTH_STENCIL_ATTACHMENT,
    "DEPTH32F_STENCIL8": GL.DEPTH_STENCIL_ATTACHMENT,
    "STENCIL_INDEX8": GL.STENCIL_ATTACHMENT,
}
_TYPES = (GL.FLOAT, GL.FLOAT, GL.UNSIGNED_BYTE, GL.SHORT, GL.HALF_FLOAT, GL.INT, GL.FIXED)


class Helpers:
    """The helpers of one program; `refused` are logs of shaders that should have linked."""

    def __init__(self, gl: Any) -> None:
        self.gl = gl
        self.refused: list[str] = []
        self.buffers: list[int] = []
        self.textures: list[tuple[int, str, str]] = []  # name, target, format
        self.framebuffers: list[int] = []

    bytes = staticmethod(numbers.data)
    floats = staticmethod(numbers.floats)
    ints = staticmethod(numbers.integers)
    doubles = staticmethod(numbers.doubles)

    @staticmethod
    def uints(seed: int, count: int) -> Any:
        return numbers.integers(seed, count).view(np.uint32)

    @staticmethod
    def longs(seed: int, count: int) -> Any:
        """Offsets and sizes: most are small."""
        r = random.Random(seed)
        some = (0, 0, 4, 16, 64, 256, 1024, -1, 1 << 31, (1 << 62) - 1)
        return np.array([r.choice(some) for _ in range(count)], np.int64)

    @staticmethod
    def array(values: list[int | float], dtype: str) -> Any:
        """The values as the type holds them."""
        kind = np.dtype(dtype)
        if kind.kind == "f":
            return np.array(values, kind)
        bits = 8 * kind.itemsize
        raw = [int(value) & ((1 << bits) - 1) for value in values]
        return np.array(raw, f"u{kind.itemsize}").view(kind)

    # -- programs --------------------------------------------------------------------------------

    def program(self, captured: Any = (), mode: int = 0, **sources: str) -> int:
        """A program of all these stages."""
        return self._linked(sources, captured, mode, False)

    def pipeline(self, **sources: str) -> int:
        """A pipeline of a program for each stage."""
        gl = self.gl
        (name,) = gl.create_program_pipelines(1)
        for stage, source in sources.items():
            made = self._linked({stage: source}, (), 0, True)
            gl.use_program_stages(name, getattr(GL, f"{stage}_SHADER_BIT"), made)
        return int(name)

    def _linked(self, sources: dict[str, str], captured: Any, mode: int, separable: bool) -> int:
        name, log = link(self.gl, sources, captured, mode, separable)
        if log:
            self.refused.append(log)
        return name

    def uniforms(self, program: int, letter: str, seed: int) -> None:
        """Numbers for the uniforms of a stage; the next ones are for a part of them."""
        gl, r = self.gl, random.Random(seed)
        for call, uniform, count, data in (
            ("4fv", "floats", 3, self.floats(seed, 12)),
            ("4iv", "ints", 4, self.ints(seed, 16)),
            ("_matrix3x4fv", "matrices", 2, self.floats(seed, 24)),
            ("2dv", "doubles", 2, self.doubles(seed, 4)),
            ("1i64v_arb", "long", 1, self.ints(seed, 2).view(np.int64)),
        ):
            if uniform in ("floats", "ints") or r.random() < 0.3:
                place = gl.get_uniform_location(program, f"u_{uniform}_{letter}")
                turned = (0,) if "matrix" in call else ()
                getattr(gl, f"program_uniform{call}")(program, place, count, *turned, data)

    def bind(self, need: tuple[str, int, int, str, str], seed: int) -> None:
        """The textures that a shader names, in its units: present ones or new ones."""
        gl, r = self.gl, random.Random(seed)
        kind, first, count, target, texels = need
        for unit in range(first, first + count):
            if kind not in ("sampler", "image"):
                some = r.choice(self.buffers) if self.buffers and r.random() < 0.8 else None
                made = self.buffer(r.randrange(1 << 20)) if some is None else some
                gl.bind_buffer_base(getattr(GL, kind), unit, made)
                continue
            image = kind == "image"
            fits = [
                name
                for name, at, format in self.textures
                if at == target and texels == (format if image else kind_of(FORMATS[format]))
            ]
            if fits and r.random() < 0.8:
                name = r.choice(fits)
            else:
                known = [texels] if image else self._of_kind(target, texels)
                name = self.texture(target, r.choice(known), r.randrange(1 << 20))
            if image:
                access = r.choice((GL.READ_WRITE, GL.READ_WRITE, GL.READ_ONLY, GL.WRITE_ONLY))
                layered = r.choice((1, 1, 0))
                gl.bind_image_texture(unit, name, 0, layered, 0, access, getattr(GL, texels))
            else:
                gl.bind_texture_unit(unit, name)

    @staticmethod
    def _of_kind(target: str, kind: str) -> list[str]:
        """Formats with such texels."""
        known = IMAGE_FORMATS if target == "TEXTURE_BUFFER" else FORMATS
        return [name for name in known if kind_of(FORMATS[name]) == kind] or ["RGBA8"]

    # -- buffers and arrays ----------------------------------------------------------------------

    def buffer(self, seed: int, size: int = 0, data: Any = None) -> int:
        """A buffer of data, whose storage stays or does not."""
        gl, r = self.gl, random.Random(seed)
        (name,) = gl.create_buffers(1)
        self.buffers.append(int(name))
        size = size or (4096 if r.random() < 0.4 else r.choice(numbers.SIZES))
        if data is None and r.random() < 0.9:
            data = self.bytes(seed, size)
        if r.random() < 0.2:
            flags = GL.DYNAMIC_STORAGE_BIT
            for bit in (GL.MAP_READ_BIT, GL.MAP_WRITE_BIT, GL.MAP_READ_BIT | GL.MAP_PERSISTENT_BIT):
                flags |= bit if r.random() < 0.5 else 0
            if r.random() < 0.1:
                flags, data = flags & GL.DYNAMIC_STORAGE_BIT | GL.SPARSE_STORAGE_BIT_ARB, None
            gl.named_buffer_storage(name, size, data, flags)
        else:
            gl.named_buffer_data(name, size, data, GL.DYNAMIC_DRAW)
        return int(name)

    def vertex_array(self, attributes: list[tuple[int, str]], seed: int) -> int:
        """A vertex array, bound, with most attributes of a program and with indices."""
        gl, r = self.gl, random.Random(seed)
        (name,) = gl.create_vertex_arrays(1)
        gl.bind_vertex_array(name)
        for location, letter in attributes:
            if r.random() < 0.9:
                size, at = r.choice((1, 2, 3, 4, 4)), r.choice((0, 0, 0, 1, 4, 8, 100, 2047))
                if letter == "d":
                    gl.vertex_array_attrib_l_format(name, location, size, GL.DOUBLE, at)
                elif letter in "iu":
                    whole = r.choice((GL.INT, GL.UNSIGNED_INT, GL.BYTE, GL.UNSIGNED_SHORT))
                    gl.vertex_array_attrib_i_format(name, location, size, whole, at)
                else:
                    type = r.choice(_TYPES)
                    gl.vertex_array_attrib_format(name, location, size, type, r.randrange(2), at)
                self._filled(name, location, r)
        if r.random() < 0.8:
            word = r.choice(("u1", "u2", "u4"))
            size = r.choice((64, 256, 1000))
            data = self.indices(seed, size, word)
            gl.vertex_array_element_buffer(name, self.buffer(seed, size, data))
        return int(name)

    def _filled(self, array: int, location: int, r: random.Random) -> None:
        """An attribute has a buffer, at any offset and with any stride."""
        gl, binding = self.gl, r.choice((location, location, r.randrange(16)))
        gl.vertex_array_attrib_binding(array, location, binding)
        gl.enable_vertex_array_attrib(array, location)
        some = r.choice(self.buffers) if self.buffers and r.random() < 0.8 else None
        buffer = self.buffer(r.randrange(1 << 20)) if some is None else some
        offset = r.choice((0, 0, 4, 16, 60, 256, 4096, 70000, (1 << 31) - 1, (1 << 62) - 1))
        stride = r.choice((0, 1, 4, 12, 16, 16, 20, 32, 100, 2048))
        gl.vertex_array_vertex_buffer(array, binding, buffer, offset, stride)
        if r.random() < 0.15:
            gl.vertex_array_binding_divisor(array, binding, r.choice((1, 2, 3, 1 << 31)))

    @staticmethod
    def indices(seed: int, size: int, word: str) -> bytes:
        """Indices: small ones, restarts, edges."""
        r = random.Random(seed)
        top = (1 << 8 * int(word[1])) - 1
        edges = (top, top, top - 1, 1000, 300, 1 << 20, 1 << 30, (1 << 31) - 1, 1 << 31)
        values = [
            r.choice(edges) & top if r.random() < 0.08 else r.randrange(12)
            for _ in range(size // int(word[1]))
        ]
        return np.array(values, word).tobytes()

    def commands(self, seed: int, indexed: int) -> None:
        """Commands of indirect draws, and numbers of draws, where draws look for them."""
        r, gl = random.Random(seed), self.gl
        words: list[int] = []
        while len(words) < 64:
            wild = r.random() < 0.05
            count = r.choice((0x7FFFFFFF, 100_000, 0xFFFFFFFF) if wild else (0, 3, 3, 6, 9))
            instances = r.choice((0, 1, 1, 2)) if r.random() < 0.99 else 0xFFFFFFFF
            first = r.choice((1000, 0x7FFFFFFF, 0xFFFFFFFF) if wild else (0, 0, 1, 3))
            base = [numbers.integer(r) & 0xFFFFFFFF if wild else 0] if indexed else []
            words += [count, instances, first, *base, 0xFFFFFFFF if wild else r.choice((0, 1))]
        made = self.buffer(seed, 256, np.array(words[:64], np.uint32))
        gl.bind_buffer(GL.DRAW_INDIRECT_BUFFER, made)
        gl.bind_buffer(GL.PARAMETER_BUFFER, self._counts(r))

    def groups(self, seed: int) -> None:
        """Numbers of workgroups, where a dispatch looks for them."""
        self.gl.bind_buffer(GL.DISPATCH_INDIRECT_BUFFER, self._counts(random.Random(seed)))

    def _counts(self, r: random.Random) -> int:
        """A buffer of small numbers, seldom of others."""
        some = [
            r.choice((0, 1, 1, 2, 3)) if r.random() < 0.995 else r.choice((65535, 65536, 1 << 31))
            for _ in range(16)
        ]
        return self.buffer(r.randrange(1 << 20), 64, np.array(some, np.uint32))

    # -- textures and framebuffers ---------------------------------------------------------------

    def texture(self, at: str, of: str, seed: int) -> int:
        """A texture of a target and a format, most of the time with texels."""
        gl, r = self.gl, random.Random(seed)
        target, format, shape = getattr(GL, at), getattr(GL, of), TARGETS[at]
        extents = [r.choice(_EDGES) for _ in range(shape.sizes)]
        if "CUBE" in at:
            extents[1:2], extents[2:] = extents[:1], [6] * (len(extents) - 2)
        if extents and r.random() < 0.03:
            extents[-1] = r.choice((0, 300, 2048, -1, 1 << 30))
        (name,) = gl.create_textures(target, 1)
        self.textures.append((int(name), at, of))
        if at == "TEXTURE_BUFFER":
            gl.texture_buffer(name, format, self.buffer(seed))
        elif "MULTISAMPLE" in at:
            store = getattr(gl, f"texture_storage{len(extents)}d_multisample")
            store(name, r.choice((1, 2, 4, 4, 8)), format, *extents, r.randrange(2))
        elif r.random() < 0.7:
            levels = 1 if "RECT" in at else r.choice((1, 1, 2, 3, 5))
            getattr(gl, f"texture_storage{len(extents)}d")(name, levels, format, *extents)
            if not FORMATS[of].is_compressed and min(extents) > 0 and r.random() < 0.6:
                self._written(int(name), at, of, r)
        else:
            self._imaged(int(name), at, of, extents, r)
        if shape.plain and r.random() < 0.5:  # complete without levels
            gl.texture_parameteri(name, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
            gl.texture_parameteri(name, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
        return int(name)

    def _written(self, name: int, target: str, format: str, r: random.Random) -> None:
        """A texel of the first level, and its neighbours."""
        dimensions = TARGETS[target].sizes + (target == "TEXTURE_CUBE_MAP")
        how = (getattr(GL, word.removeprefix("GL.")) for word in upload(FORMATS[format]))
        sizes = [1] * dimensions
        call = getattr(self.gl, f"texture_sub_image{dimensions}d")
        call(name, 0, *[0] * dimensions, *sizes, *how, self.bytes(r.randrange(1000), 64))

    def _imaged(
        self, name: int, target: str, format: str, extents: list[int], r: random.Random
    ) -> None:
        """Level by level, where some may be missing or of another size."""
        gl, bound = self.gl, getattr(GL, target)
        gl.bind_texture(bound, name)
        how = [getattr(GL, word.removeprefix("GL.")) for word in upload(FORMATS[format])]
        faces = [bound]
        if target == "TEXTURE_CUBE_MAP":
            faces = [GL.TEXTURE_CUBE_MAP_POSITIVE_X + face for face in range(6)]
        layered = "ARRAY" in target
        for level in range(r.choice((1, 2, 4))):
            room = int(np.prod([min(max(e, 1), 2048) for e in extents])) * 16
            data = self.bytes(r.randrange(1000), min(room, 1 << 22)) if r.random() < 0.8 else None
            for face in faces:
                call = getattr(gl, f"tex_image{len(extents)}d")
                call(face, level, getattr(GL, format), *extents, 0, *how, data)
            last = len(extents) - layered
            extents = [max(1, e >> 1) if k < last else e for k, e in enumerate(extents)]
            if r.random() < 0.1:
                extents = [r.choice(_EDGES) for _ in extents]

    def framebuffer(self, seed: int) -> int:
        """One that is mostly complete, bound and cleared."""
        gl, r = self.gl, random.Random(seed)
        (name,) = gl.create_framebuffers(1)
        self.framebuffers.append(int(name))
        samples, layers = r.choice((0, 0, 0, 0, 2, 4, 8)), r.choice((0, 0, 0, 0, 2, 6))
        size = r.choice(((32, 32), (32, 32), (16, 40), (7, 5), (64, 1)))
        colors = r.choice((0, 1, 1, 1, 2, 4))
        points = [(GL.COLOR_ATTACHMENT0 + k, r.choice(_COLORS)) for k in range(colors)]
        if r.random() < 0.5:
            depth = r.choice([*_DEPTHS])
            points.append((_DEPTHS[depth], depth))
        for point, format in points:
            internal = getattr(GL, format)
            if not layers and r.random() < 0.3:
                (buffer,) = gl.create_renderbuffers(1)
                gl.named_renderbuffer_storage_multisample(buffer, samples, internal, *size)
                gl.named_framebuffer_renderbuffer(name, point, GL.RENDERBUFFER, buffer)
                continue
            kind = ("TEXTURE_2D_MULTISAMPLE" if samples else "TEXTURE_2D") + "_ARRAY" * bool(layers)
            (texture,) = gl.create_textures(getattr(GL, kind), 1)
            self.textures.append((int(texture), kind, format))
            extents = (*size, layers) if layers else size
            call = f"texture_storage{len(extents)}d" + "_multisample" * bool(samples)
            fixed = (1,) if samples else ()
            getattr(gl, call)(texture, samples or 1, internal, *extents, *fixed)
            if layers and r.random() < 0.4:
                gl.named_framebuffer_texture_layer(name, point, texture, 0, r.randrange(layers))
            else:
                gl.named_framebuffer_texture(name, point, texture, 0)
        if not points:
            gl.named_framebuffer_parameteri(name, GL.FRAMEBUFFER_DEFAULT_WIDTH, 32)
            gl.named_framebuffer_parameteri(name, GL.FRAMEBUFFER_DEFAULT_HEIGHT, 32)
        drawn = np.array([p for p, _ in points[:colors]], np.uint32)
        gl.named_framebuffer_draw_buffers(name, colors, drawn)
        gl.bind_framebuffer(GL.FRAMEBUFFER, name)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        return int(name)

    def whole(self) -> None:
        """The last framebuffer that is complete is drawn to, and no buffer is packed to."""
        gl = self.gl
        for target in (GL.PIXEL_PACK_BUFFER, GL.PIXEL_UNPACK_BUFFER):
            gl.bind_buffer(target, 0)
        for name in (*reversed(self.framebuffers), 0):
            gl.bind_framebuffer(GL.FRAMEBUFFER, name)
            if gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE:
                break
