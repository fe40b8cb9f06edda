"""Draws that are repeated look like draws that take the long way, whatever happens in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.context import HostContext
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.drawing import validate
from gallette.state_tracker.drawing.blending import blend_state
from gallette.state_tracker.drawing.repeats import Repeats
from tests.state_tracker import anew

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

CLIENTS = """#version 300 es
layout(location = 0) in vec2 position;
void main() { gl_Position = vec4(position, 0.0, 1.0); }
"""
WHITE = """#version 300 es
out highp vec4 o;
void main() { o = vec4(1.0); }
"""


class World:
    """A context with a few of everything, and random things to do to it."""

    def __init__(self, driver: str, seed: int, repeats: bool) -> None:
        self.gl: Any = create_context(driver, profile="core", version=(3, 3), size=(SIZE, SIZE))
        self.gl.repeats.possible &= repeats
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
        return self.program_of(self.gl, VERTEX, fragment)

    @staticmethod
    def program_of(gl: Any, vertex: str, fragment: str) -> int:
        program: int = gl.create_program()
        for kind, source in ((GL.VERTEX_SHADER, vertex), (GL.FRAGMENT_SHADER, fragment)):
            shader = gl.create_shader(kind)
            gl.shader_source(shader, source)
            gl.compile_shader(shader)
            gl.attach_shader(program, shader)
        gl.link_program(program)
        return program

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
        if what < 0.3:
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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_repeated_draws_look_like_others(
    driver: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeated: list[bool] = []
    drawn = Repeats.drawn

    def counted(self: Repeats, *args: Any) -> bool:
        repeated.append(drawn(self, *args))
        return repeated[-1]

    monkeypatch.setattr(Repeats, "drawn", counted)
    worlds = [World(driver, seed, repeats) for repeats in (True, False)]
    images = [world.run(400) for world in worlds]
    assert sum(repeated) > 20
    assert worlds[0].told == worlds[1].told
    np.testing.assert_array_equal(*images)
    assert len(np.unique(images[0])) > 10


def test_settings_that_come_again_are_not_derived_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World("numpipe", 4, True)
    gl, made = world.gl, []
    draw_vbo = HostContext.draw_vbo
    monkeypatch.setattr(HostContext, "draw_vbo", lambda *args: made.append(1) or draw_vbo(*args))
    gl.enable(GL.BLEND)
    gl.enable(GL.DEPTH_TEST)
    for turn in range(3):
        for factor in (GL.ONE, GL.ZERO, GL.SRC_ALPHA):
            for function in (GL.LESS, GL.ALWAYS):
                gl.blend_func(factor, GL.ONE)
                gl.depth_func(function)
                gl.clear(GL.DEPTH_BUFFER_BIT)
                gl.uniform4f(world.place, 0.0, 0.0, 0.0, 1.0)
                gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        assert len(made) == 6, turn  # of all combinations the first
    gl.cull_face(GL.FRONT)  # which is told by nothing
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert len(made) == 7
    gl.release()


def test_what_is_owed_to_the_pipe_is_paid_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings made before draws that were repeated are derived at the next one that is not."""
    world = World("numpipe", 4, True)
    gl, derived = world.gl, []

    def counted(ctx: Any) -> Any:
        derived.append(ctx.fragment.blend[0].src_rgb)
        return blend_state(ctx)

    monkeypatch.setattr(anew, "MOST", 0)  # which derives everything
    monkeypatch.setattr(validate, "blend_state", counted)
    gl.enable(GL.BLEND)
    for _ in range(3):
        for factor in (GL.ONE, GL.ZERO):
            gl.blend_func(factor, GL.ONE)
            gl.uniform4f(world.place, 0.0, 0.0, 0.0, 1.0)
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert derived == [GL.ONE, GL.ZERO]
    for face in (GL.FRONT, GL.BACK, GL.FRONT, GL.FRONT_AND_BACK):
        gl.cull_face(face)  # which is told by nothing
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert derived == [GL.ONE, GL.ZERO, GL.ZERO]
    gl.release()


def test_whoever_watches_the_pipe_sees_every_draw() -> None:
    world = World("numpipe", 1, True)
    gl, seen = world.gl, []
    world.draw()
    world.draw()
    draw_vbo = gl.pipe.draw_vbo

    def watched(info: Any) -> None:
        seen.append(info)
        draw_vbo(info)

    gl.pipe.draw_vbo = watched
    for _ in range(3):
        world.draw()
    assert len(seen) == 3
    del gl.pipe.draw_vbo
    gl.release()


def test_indices_may_be_in_memory_of_the_caller() -> None:
    gl = create_context("numpipe", profile="es", version=(3, 0), size=(4, 4))
    program = World.program_of(gl, CLIENTS, WHITE)
    gl.use_program(program)
    corners = np.array([[-1, -1], [3, -1], [-1, 3], [9, 9]], np.float32)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, corners)
    gl.enable_vertex_attrib_array(0)
    for indices, lit in (([3, 3, 3], 0), ([0, 1, 2], 255), ([0, 1, 2], 255)):
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, np.array(indices, np.uint16))
        assert gl.get_error() == GL.NO_ERROR
        assert gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)[0] == lit
    gl.release()
