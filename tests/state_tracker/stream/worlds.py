"""A context whose calls come from C pointers, and random things to do to it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.stream import ring
from gallette.state_tracker.stream.stream import Stream
from tests.state_tracker.helpers import linked

SIZE = 96
VERTEX = """
#version 330
layout(location = 0) in vec2 position; uniform vec4 place; out vec2 uv;
void main() {
    uv = position * 0.5 + 0.5;
    gl_Position = vec4(position * place.w + place.xy, place.z, 1.0);
}
"""
TEXTURED = """
#version 330
uniform sampler2D image; uniform vec4 tint; in vec2 uv; out vec4 o;
void main() { o = texture(image, uv) * tint + vec4(0.1); }
"""
MOVED = """
#version 330
uniform mat4 move; uniform vec2 others[9]; uniform vec4 tint; in vec2 uv; out vec4 o;
void main() { o = move * vec4(uv, others[8]) + tint; }
"""
PLAIN = """
#version 330
layout(std140) uniform Paint { vec4 base; }; uniform vec4 tint; in vec2 uv; out vec4 o;
void main() { o = mix(base, tint, uv.x); }
"""


class World:
    """A context with a few of everything, and random things to do to it."""

    def __init__(self, driver: str, seed: int, profile: str = "core") -> None:
        version = (3, 2) if profile == "es" else (3, 3)
        self.gl: Any = create_context(driver, profile=profile, version=version, size=(SIZE, SIZE))
        self.profile = profile
        self.random = np.random.default_rng(seed)
        self.programs = [self._program(source) for source in (TEXTURED, PLAIN, MOVED)]
        self.places = [
            [self.gl.get_uniform_location(program, name) for name in ("place", "tint")]
            for program in self.programs
        ]
        self.told: list[Any] = []
        gl = self.gl
        square = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1], [0.2, 0.1]], np.float32)
        self.buffers = gl.gen_buffers(3)
        for buffer, scale in zip(self.buffers, (1, 0.6, 1.4), strict=True):
            gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
            gl.buffer_data(GL.ARRAY_BUFFER, 40, square * np.float32(scale), GL.STATIC_DRAW)
        self.indices = gl.gen_buffers(1)[0]
        self.arrays = [self._array(buffer) for buffer in self.buffers]
        self.textures = gl.gen_textures(3)
        for texture in self.textures:
            gl.bind_texture(GL.TEXTURE_2D, texture)
            self.image()
        self.sampler = gl.gen_samplers(1)[0]
        self.paints = gl.gen_buffers(2)
        for paint in self.paints:
            gl.bind_buffer(GL.UNIFORM_BUFFER, paint)
            gl.buffer_data(GL.UNIFORM_BUFFER, 16, self.numbers(4), GL.STATIC_DRAW)
        gl.bind_buffer_base(GL.UNIFORM_BUFFER, 0, self.paints[0])
        self.query = gl.gen_queries(1)[0]
        self.counting = False
        self.images = gl.gen_textures(2)
        for image in self.images:
            gl.bind_texture(GL.TEXTURE_2D, image)
            self.storage(16)
        gl.bind_texture(GL.TEXTURE_2D, self.textures[0])
        self.depth, several = gl.gen_renderbuffers(2)
        gl.bind_renderbuffer(GL.RENDERBUFFER, self.depth)
        gl.renderbuffer_storage(GL.RENDERBUFFER, GL.DEPTH_COMPONENT24, 16, 16)
        gl.bind_renderbuffer(GL.RENDERBUFFER, several)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, 4, GL.RGBA8, SIZE, SIZE)
        self.targets = gl.gen_framebuffers(3)
        for target, image in zip(self.targets, self.images, strict=False):
            gl.bind_framebuffer(GL.FRAMEBUFFER, target)
            gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, image, 0)
        gl.bind_framebuffer(GL.FRAMEBUFFER, self.targets[2])
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, several)
        gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
        self.use(0)
        gl.bind_vertex_array(self.arrays[0])

    def numbers(self, count: int) -> Any:
        return self.random.random(count).astype(np.float32)

    def pick(self, things: Any) -> Any:
        return things[int(self.random.integers(len(things)))]

    def _program(self, fragment: str) -> int:
        head = "#version 300 es\nprecision highp float;" if self.profile == "es" else "#version 330"
        texts = (text.replace("#version 330", head).strip() for text in (VERTEX, fragment))
        return self.program_of(self.gl, *texts)

    @staticmethod
    def program_of(gl: Any, vertex: str, fragment: str) -> int:
        return linked(gl, vertex=vertex, fragment=fragment, used=False)

    def _array(self, buffer: int) -> int:
        gl = self.gl
        array: int = gl.gen_vertex_arrays(1)[0]
        gl.bind_vertex_array(array)
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, 0)
        gl.enable_vertex_attrib_array(0)
        gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, self.indices)
        gl.buffer_data(
            GL.ELEMENT_ARRAY_BUFFER, 12, np.array([0, 1, 2, 2, 1, 3], np.uint16), GL.STATIC_DRAW
        )
        return array

    def use(self, which: int) -> None:
        self.gl.use_program(self.programs[which])
        self.place, self.tint = self.places[which]

    def image(self) -> None:
        side = self.pick((2, 4))
        raw = self.random.integers(0, 256, side * side * 4, dtype=np.uint8)
        gl = self.gl
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, side, side, 0, GL.RGBA, GL.UNSIGNED_BYTE, raw)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, self.pick((GL.LINEAR, GL.NEAREST)))

    def storage(self, side: int) -> None:
        """An image that can be drawn to, and read where it is not drawn to."""
        gl = self.gl
        raw = self.random.integers(0, 256, side * side * 4, dtype=np.uint8)
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, side, side, 0, GL.RGBA, GL.UNSIGNED_BYTE, raw)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.LINEAR)

    def draw(self) -> None:
        gl, random = self.gl, self.random
        if random.random() < 0.9:
            gl.uniform4f(self.place, *random.uniform(-1, 1, 3), random.uniform(0.1, 0.3))
        gl.uniform4fv(self.tint, 1, self.numbers(4))
        if random.random() < 0.3:
            gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 0)
        else:
            gl.draw_arrays(GL.TRIANGLE_STRIP, int(random.integers(2)), 4)

    # -- what may be repeated over ------------------------------------------------------------

    def switch(self) -> None:
        cap = self.pick((GL.BLEND, GL.DEPTH_TEST, GL.CULL_FACE, GL.STENCIL_TEST))
        (self.gl.enable if self.random.random() < 0.5 else self.gl.disable)(cap)

    def set(self) -> None:
        """Settings that come again and again, in combinations."""
        gl, what = self.gl, self.random.random()
        if what < 0.1:
            gl.stencil_func(self.pick((GL.EQUAL, GL.LEQUAL)), self.pick((0, 1, 2)), 255)
        elif what < 0.2:
            gl.blend_color(*self.pick(((1, 0.5, 0, 1), (0, 0.5, 1, 0.5))))
            gl.blend_func(GL.CONSTANT_COLOR, GL.ONE_MINUS_CONSTANT_COLOR)
        elif what < 0.3:
            gl.blend_func(self.pick((GL.ONE, GL.SRC_ALPHA)), self.pick((GL.ONE, GL.DST_COLOR)))
        elif what < 0.5:
            gl.blend_equation(self.pick((GL.FUNC_ADD, GL.MAX)))
        elif what < 0.6:
            gl.color_mask(1, *(int(v) for v in self.random.integers(0, 2, 3)))
        elif what < 0.8:
            gl.depth_func(self.pick((GL.LESS, GL.GEQUAL, GL.ALWAYS)))
        elif what < 0.9:
            gl.depth_mask(int(self.random.integers(2)))
        else:
            gl.stencil_op(GL.KEEP, GL.KEEP, self.pick((GL.INCR, GL.INVERT)))

    def bind(self) -> None:
        what = self.random.random()
        if what < 0.2:
            number = int(self.random.integers(4))
            self.gl.bind_framebuffer(GL.FRAMEBUFFER, [*self.targets, 0][number])
            # What is drawn to the one is read by the other.
            texture = self.images[1 - number] if number < 2 else self.pick(self.images)
            self.gl.bind_texture(GL.TEXTURE_2D, texture)
        elif what < 0.4:
            self.gl.bind_vertex_array(self.pick(self.arrays))
        elif what < 0.8:
            self.gl.bind_texture(GL.TEXTURE_2D, self.pick(self.textures))
        else:
            self.gl.bind_sampler(0, self.pick((0, self.sampler)))

    # -- what may not -------------------------------------------------------------------------

    def change(self) -> None:
        gl, random = self.gl, self.random
        number = int(random.integers(22))
        gl.bind_buffer(GL.ARRAY_BUFFER, self.pick(self.buffers))
        if number == 0:
            gl.viewport(*(int(v) for v in random.integers(0, 20, 2)), 80, 70)
        elif number == 1:
            gl.blend_func(self.pick((GL.ONE, GL.SRC_ALPHA)), self.pick((GL.ONE, GL.DST_COLOR)))
        elif number == 2:
            gl.depth_func(self.pick((GL.LESS, GL.GEQUAL, GL.ALWAYS)))
        elif number == 3:
            gl.scissor(*(int(v) for v in random.integers(0, 20, 2)), 60, 70)
            (gl.enable if random.random() < 0.5 else gl.disable)(GL.SCISSOR_TEST)
        elif number == 4:
            self.image()
        elif number == 5:
            raw = random.integers(0, 256, 4, dtype=np.uint8)
            gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, raw)
        elif number == 6:
            gl.buffer_data(GL.ARRAY_BUFFER, 48, self.numbers(12) * 2 - 1, GL.STATIC_DRAW)
        elif number == 7:
            gl.buffer_sub_data(GL.ARRAY_BUFFER, 8, 8, self.numbers(2))
        elif number == 8:
            gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, self.pick((8, 4)), self.pick((0, 8)))
        elif number == 9:
            self.use(int(random.integers(3)))
        elif number == 10:
            gl.bind_buffer_base(GL.UNIFORM_BUFFER, 0, self.pick(self.paints))
        elif number == 11:
            gl.bind_buffer(GL.UNIFORM_BUFFER, self.pick(self.paints))
            gl.buffer_sub_data(GL.UNIFORM_BUFFER, 0, 16, self.numbers(4))
        elif number == 12 and not self.counting:
            gl.begin_query(GL.SAMPLES_PASSED, self.query)
            self.counting = True
        elif number in (12, 13) and self.counting:
            gl.end_query(GL.SAMPLES_PASSED)
            self.counting = False
            self.told.append(gl.get_query_objectuiv(self.query, GL.QUERY_RESULT))
        elif number == 13:
            gl.sampler_parameteri(self.sampler, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
        elif number == 14:
            gl.map_buffer_range(GL.ARRAY_BUFFER, 0, 8, GL.MAP_READ_BIT)
            self.draw()
            gl.unmap_buffer(GL.ARRAY_BUFFER)
            self.told.append(gl.get_error())
        elif number == 15:
            old = self.arrays.pop(0)
            gl.delete_vertex_arrays(1, [old])
            self.arrays.append(self._array(self.pick(self.buffers)))
        elif number == 16:
            gl.color_mask(*(int(v) for v in random.integers(0, 2, 4)))
        else:
            self.change_targets(number - 17)

    def change_targets(self, number: int) -> None:
        """What is drawn to, whether it is bound or not."""
        gl, random = self.gl, self.random
        if number == 0:
            gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        elif number == 1:
            gl.bind_texture(GL.TEXTURE_2D, self.pick(self.images))
            self.storage(self.pick((8, 16, 32)))
            gl.bind_texture(GL.TEXTURE_2D, self.textures[1])
        elif number == 2:
            bound = gl.get_integerv(GL.DRAW_FRAMEBUFFER_BINDING)[0]
            gl.bind_framebuffer(GL.FRAMEBUFFER, self.pick(self.targets[:2]))
            depth = self.pick((0, self.depth))
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.DEPTH_ATTACHMENT, GL.RENDERBUFFER, depth)
            gl.bind_framebuffer(GL.FRAMEBUFFER, bound)
        elif number == 3:
            gl.bind_renderbuffer(GL.RENDERBUFFER, self.depth)
            side = self.pick((16, 20))
            gl.renderbuffer_storage(GL.RENDERBUFFER, GL.DEPTH_COMPONENT24, side, side)
        elif gl.get_integerv(GL.DRAW_FRAMEBUFFER_BINDING)[0]:
            gl.draw_buffers(1, [self.pick((GL.NONE, GL.COLOR_ATTACHMENT0))])
            gl.sample_maski(0, int(random.integers(1, 16)))

    def run(self, steps: int) -> Any:
        gl = self.gl
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        for _ in range(steps):
            what = self.random.random()
            step: Callable[[], None] = self.draw
            if what < 0.1:
                step = self.switch
            elif what < 0.15:
                step = self.set
            elif what < 0.3:
                step = self.bind
            elif what < 0.34:
                step = self.change
            step()
        pixels = self.read(0)
        for target in self.targets[:2]:
            pixels += self.read(target)
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, self.targets[2])
        gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, 0)
        gl.disable(GL.SCISSOR_TEST)
        box = (0, 0, SIZE, SIZE)
        gl.blit_framebuffer(*box, *box, GL.COLOR_BUFFER_BIT, GL.NEAREST)
        pixels += self.read(0)
        gl.release()
        return np.frombuffer(pixels, np.uint8)

    def read(self, target: int) -> bytes:
        gl = self.gl
        gl.bind_framebuffer(GL.FRAMEBUFFER, target)
        pixels: bytes = gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE)
        self.told.append(gl.get_error())
        return pixels


THROUGH_C = (
    *("use_program", "bind_vertex_array", "active_texture", "bind_texture", "enable", "disable"),
    *("uniform4fv", "uniform4f", "draw_arrays", "draw_arrays_instanced", "draw_elements"),
    *("draw_elements_instanced", "bind_sampler", "bind_buffer", "buffer_sub_data", "scissor"),
    *("viewport", "begin_query", "end_query", "bind_buffer_base", "bind_buffer_range", "clear"),
    *("clear_color", "clear_depth", "clear_depthf", "clear_stencil", "color_mask", "color_maski"),
    *("depth_mask", "bind_framebuffer", "draw_buffers", "blend_func", "blend_equation"),
    *("depth_func", "stencil_op", "finish", "tex_sub_image2d", "pixel_storei"),
    *("read_buffer", "clamp_color", "tex_parameteri", "tex_parameterf", "sampler_parameteri"),
    *("sampler_parameterf", "blend_color", "stencil_func", "depth_range", "vertex_attrib_pointer"),
    *("draw_range_elements", "draw_elements_base_vertex", "draw_elements_instanced_base_vertex"),
    *("enable_vertex_attrib_array", "disable_vertex_attrib_array", "vertex_attrib_divisor"),
)
OLD_THROUGH_C = (
    *("begin", "end", "vertex2f", "color3f", "call_list", "push_matrix", "pop_matrix"),
    *("load_identity", "translatef"),
)
CLEARED = (
    GL.COLOR_BUFFER_BIT,
    GL.DEPTH_BUFFER_BIT,
    GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT,
    GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT,
)


class Through:
    """A context some of whose functions are called through their C pointers."""

    def __init__(self, gl: Any, names: Iterable[str] = THROUGH_C) -> None:
        self._gl = gl
        for name in names:
            function = FUNCTIONS.method(name)
            address = gl.load_opengl_function(function.c_name)
            if not address:
                continue
            pointer = ctypes.CFUNCTYPE(function.restype, *function.argtypes)(address)
            setattr(self, name, self._call(pointer))

    @staticmethod
    def _call(pointer: Any) -> Callable[..., None]:
        def call(*given: Any) -> None:
            args = [np.array(a, np.uint32) if isinstance(a, list) else a for a in given]
            pointer(*[a.ctypes.data if isinstance(a, np.ndarray) else a for a in args])

        return call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gl, name)


class Recorded(World):
    """The same as a C program."""

    def __init__(self, driver: str, seed: int, profile: str = "core") -> None:
        super().__init__(driver, seed, profile)
        names = THROUGH_C + (OLD_THROUGH_C if profile == "compat" else ())
        self.plain, self.gl = self.gl, Through(self.gl, names)
        if profile == "compat":
            self.list_()
        self.queries = self.gl.gen_queries(4)
        self.asked = False
        for query in self.queries:
            self.gl.begin_query(GL.SAMPLES_PASSED, query)
            self.gl.end_query(GL.SAMPLES_PASSED)

    def draw(self) -> None:
        gl, random = self.gl, self.random
        if random.random() < 0.04:
            self.in_turn()
        if random.random() < 0.1:
            self.attribute()
        if self.profile == "compat" and random.random() < 0.04:
            self.old()
        if random.random() < 0.2:
            self.clear()
        if random.random() < 0.9:
            place = np.append(random.uniform(-1, 1, 3), random.uniform(0.1, 0.3))
            gl.uniform4fv(self.place, 1, place.astype(np.float32))
        (gl.uniform4fv if random.random() < 0.8 else self.one_by_one)(self.tint, 1, self.numbers(4))
        if random.random() < 0.3:
            self.between()
        how = random.random()
        if how < 0.2:
            gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 0)
        elif how < 0.3:
            gl.draw_elements_instanced(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, 0, 2)
        elif how < 0.4:
            gl.draw_elements_base_vertex(GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, 0, int(how * 30) % 2)
        elif how < 0.6:
            gl.draw_arrays_instanced(GL.TRIANGLE_STRIP, int(random.integers(2)), 4, 1)
        else:
            gl.draw_arrays(GL.TRIANGLE_STRIP, int(random.integers(2)), 4)

    def attribute(self) -> None:
        """The vertices of an array are others, or it has none."""
        gl, what = self.gl, self.random.random()
        if what < 0.6:
            gl.bind_buffer(GL.ARRAY_BUFFER, self.pick(self.buffers))
            gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, self.pick((8, 4)), self.pick((0, 8)))
        elif what < 0.8:
            gl.bind_buffer(GL.ARRAY_BUFFER, self.pick(self.buffers))
            gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, 0)
            gl.bind_buffer(GL.ARRAY_BUFFER, self.pick(self.buffers))
        elif what < 0.9:
            gl.vertex_attrib_divisor(0, int(self.random.integers(2)))
        else:
            gl.disable_vertex_attrib_array(0)
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            gl.enable_vertex_attrib_array(0)

    def list_(self) -> None:
        """A display list that sets what calls set otherwise."""
        gl = self.gl
        self.listed = gl.gen_lists(1)
        gl.new_list(self.listed, GL.COMPILE)
        gl.disable(GL.BLEND)
        gl.bind_texture(GL.TEXTURE_2D, self.textures[1])
        gl.color_mask(1, 0, 1, 1)
        gl.use_program(self.programs[0])
        gl.end_list()

    def old(self) -> None:
        """What only the compatibility profile has, between calls that it has, too."""
        gl, what = self.gl, self.random.random()
        if what < 0.3:
            gl.color3f(*self.numbers(3).tolist())
            gl.begin(GL.TRIANGLES)
            for _ in range(3):
                gl.vertex2f(*(self.numbers(2) * 2 - 1).tolist())
            if what < 0.05:
                gl.enable(GL.BLEND)  # an error
            gl.end()
        elif what < 0.5:
            gl.call_list(self.listed)
            self.use(0)
        elif what < 0.6:
            gl.push_matrix()
            gl.translatef(0.5, 0.0, 0.0)
            gl.pop_matrix()
        elif what < 0.7:
            gl.push_attrib(GL.ALL_ATTRIB_BITS)
            self.set()
            gl.pop_attrib()
        elif what < 0.8:
            gl.new_list(gl.gen_lists(1), GL.COMPILE)
            self.set()
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            gl.end_list()
        elif what < 0.9:
            gl.render_mode(GL.FEEDBACK)
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            self.told.append(gl.render_mode(GL.RENDER))
        else:
            gl.alpha_func(GL.GREATER, float(self.numbers(1)[0]))
            gl.enable(GL.ALPHA_TEST)
        self.told.append(gl.get_error())

    def in_turn(self) -> None:
        """One place of a buffer is written, then comes a draw, again and again."""
        gl, random = self.gl, self.random
        gl.bind_buffer(GL.ARRAY_BUFFER, self.pick(self.buffers))
        first = int(random.integers(5))
        many = int(random.integers(1, 6 - first))
        for number in range(int(random.integers(3, 14))):
            vertices = self.numbers(2 * many) * 2 - 1
            size = 8 * many - 4 * (number == 9)
            gl.buffer_sub_data(GL.ARRAY_BUFFER, 8 * first, size, vertices)
            if number % 3:
                gl.uniform4fv(self.tint, 1, self.numbers(4))
            if number % 4 == 1:
                texels = random.integers(0, 256, 4, dtype=np.uint8)
                box = (number % 2, 0, 1, 1)
                gl.tex_sub_image2d(GL.TEXTURE_2D, 0, *box, GL.RGBA, GL.UNSIGNED_BYTE, texels)
            gl.draw_arrays(GL.TRIANGLE_STRIP, first % 2, 4)

    def clear(self) -> None:
        """A part or all is cleared, mostly with what is so already said once more."""
        gl, random = self.gl, self.random
        if random.random() < 0.5:
            gl.clear_color(*self.numbers(4).tolist())
            depth = random.random()
            (gl.clear_depthf if self.profile == "es" else gl.clear_depth)(depth)
        if random.random() < 0.2:
            gl.clear_depthf(float(self.numbers(1)[0]))
            gl.clear_stencil(int(random.integers(-3, 300)))
        if random.random() < 0.5:
            gl.color_mask(1, 2, 4, 8)
            gl.color_maski(0, 1, 1, 1, 1)
            gl.depth_mask(1)
        if random.random() < 0.8:
            gl.enable(GL.SCISSOR_TEST)
            gl.scissor(*(int(v) for v in random.integers(-9, 80, 2)), 14, 9)
        gl.clear(self.pick(CLEARED))
        if random.random() < 0.9:
            gl.disable(GL.SCISSOR_TEST)

    def one_by_one(self, location: int, count: int, values: Any) -> None:
        self.gl.uniform4f(location, *values.tolist())

    def between(self) -> None:
        """Commands between draws."""
        gl, random = self.gl, self.random
        what = random.random()
        if what < 0.3:
            gl.bind_buffer(GL.ARRAY_BUFFER, self.pick(self.buffers))
            first = int(random.integers(5))
            many = int(random.integers(1, 6 - first))
            vertices = self.numbers(2 * many) * 2 - 1
            gl.buffer_sub_data(GL.ARRAY_BUFFER, 8 * first, 8 * many, vertices)
        elif what < 0.5:
            gl.bind_buffer(GL.UNIFORM_BUFFER, self.pick(self.paints))
            gl.buffer_sub_data(GL.UNIFORM_BUFFER, 4, 12, self.numbers(3))
        elif what < 0.7:
            gl.scissor(*(int(v) for v in random.integers(-9, 20, 2)), 60, int(random.integers(90)))
        elif what < 0.74:
            gl.bind_buffer_base(GL.UNIFORM_BUFFER, int(random.integers(4)), self.pick(self.paints))
        elif what < 0.78:
            gl.bind_buffer_range(GL.UNIFORM_BUFFER, 0, self.pick(self.paints), 0, 16)
        elif what < 0.8:
            self.use(int(random.integers(3)))
        elif what < 0.83:
            gl.viewport(*(int(v) for v in random.integers(-9, 20, 2)), 80, 70)
        elif what < 0.9:
            self.filter()
        elif self.asked:
            gl.end_query(GL.SAMPLES_PASSED)
            self.asked = False
        elif not self.counting:
            gl.begin_query(GL.SAMPLES_PASSED, self.pick(self.queries))
            self.asked = True

    def filter(self) -> None:
        """A parameter of the bound texture, of the sampler or of another unit's texture is set."""
        gl, random = self.gl, self.random
        pname, values = self.pick(
            (
                (GL.TEXTURE_MIN_FILTER, (GL.NEAREST, GL.LINEAR, GL.NEAREST_MIPMAP_NEAREST)),
                (GL.TEXTURE_MAG_FILTER, (GL.NEAREST, GL.LINEAR)),
                (GL.TEXTURE_WRAP_S, (GL.REPEAT, GL.CLAMP_TO_EDGE)),
            )
        )
        value, what = self.pick(values), random.random()
        if what < 0.5:
            gl.tex_parameteri(GL.TEXTURE_2D, pname, value)
        elif what < 0.6:
            gl.tex_parameterf(GL.TEXTURE_2D, pname, float(value))
        elif what < 0.7:
            gl.sampler_parameteri(self.sampler, pname, value)
        elif what < 0.8:
            gl.sampler_parameterf(self.sampler, pname, float(value))
        else:
            gl.active_texture(GL.TEXTURE1)
            gl.tex_parameteri(GL.TEXTURE_2D, pname, value)
            gl.active_texture(GL.TEXTURE0)

    def change(self) -> None:
        if self.asked:
            self.gl.end_query(GL.SAMPLES_PASSED)
            self.asked = False
        for query in self.queries:
            self.told.append(self.gl.get_query_objectuiv(query, GL.QUERY_RESULT))
        super().change()

    def bind(self) -> None:
        super().bind()
        self.gl.active_texture(GL.TEXTURE1)
        self.gl.bind_texture(GL.TEXTURE_2D, self.pick(self.textures))
        self.gl.active_texture(GL.TEXTURE0)


def draw(world: Recorded, times: int) -> None:
    gl = world.gl
    for number in range(times):
        gl.uniform4fv(world.tint, 1, np.full(4, number, np.float32))
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)


def pending() -> bool:
    """Are there commands in the ring?"""
    return bool(ring.words[ring.PENDING])


def switch_off(patch: pytest.MonkeyPatch) -> None:
    """From now on no call becomes a command."""
    patch.setattr(Stream, "may_record", lambda self: False)
    ring.own(None)
