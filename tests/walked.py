"""A context with two of everything, and a walk that changes one thing after the other.

After each change it draws in the ways that have memories of their own: alone, waiting for others,
made once more. `tests.remembered` looks at what is remembered meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.drivers.common.draw.known_snapshots import KnownSnapshots
from gallette.state_tracker import GL, create_context
from tests.remembered import Watch
from tests.state_tracker.helpers import compiled

__all__ = ["Scene"]

HEAD = "#version 430 compatibility\n"
VERTEX = (
    HEAD
    + """layout(std140, binding = 0) uniform Block { vec4 shift; };
layout(binding = 1) uniform sampler2D heights;
layout(location = 0) in vec4 position; layout(location = 0) out vec4 color;
out gl_PerVertex { vec4 gl_Position; vec4 gl_FrontColor; vec4 gl_ClipVertex; vec4 gl_TexCoord[1]; };
void main() {
    gl_Position = position + shift + textureLod(heights, position.xy, 0.0);
    gl_ClipVertex = color = gl_FrontColor = gl_TexCoord[0] = position;
}"""
)
FRAGMENT = (
    HEAD
    + """layout(binding = 0) uniform sampler2D picture; uniform vec4 tint;
layout(location = 0) in vec4 color; layout(location = 0) out vec4 result;
layout(std140, binding = 1) uniform Other { vec4 more; };
void main() {
    result = color * tint + more + gl_Color + gl_TexCoord[0] + texture(picture, color.xy);
}"""
)
PLAIN = HEAD + "layout(location = 0) out vec4 result; void main() { result = vec4(1); }"
STORING = (
    HEAD
    + """layout(std430, binding = 0) buffer Store { vec4 kept; };
layout(rgba8, binding = 0) uniform image2D image; layout(location = 0) out vec4 result;
void main() { kept = result = imageLoad(image, ivec2(0)); }"""
)
SPLITTING = (
    HEAD
    + """layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
in gl_PerVertex { vec4 gl_Position; } gl_in[]; out gl_PerVertex { vec4 gl_Position; };
void main() { for (int i = 0; i < 3; ++i) { gl_Position = gl_in[i].gl_Position; EmitVertex(); } }"""
)
_STAGES = {
    "vertex": (GL.VERTEX_SHADER, GL.VERTEX_SHADER_BIT, VERTEX),
    "another vertex": (GL.VERTEX_SHADER, GL.VERTEX_SHADER_BIT, VERTEX),
    "fragment": (GL.FRAGMENT_SHADER, GL.FRAGMENT_SHADER_BIT, FRAGMENT),
    "plain": (GL.FRAGMENT_SHADER, GL.FRAGMENT_SHADER_BIT, PLAIN),
    "another plain": (GL.FRAGMENT_SHADER, GL.FRAGMENT_SHADER_BIT, PLAIN),
    "storing": (GL.FRAGMENT_SHADER, GL.FRAGMENT_SHADER_BIT, STORING),
    "splitting": (GL.GEOMETRY_SHADER, GL.GEOMETRY_SHADER_BIT, SPLITTING),
}

Steps = Iterator[int | None]


class Scene:
    """A context with two of everything, and the draws."""

    def __init__(self) -> None:
        gl = self.gl = create_context("numpipe", profile="compat", version=(4, 5), size=(8, 8))
        self.programs: dict[str, int] = {}
        for name, (kind, _, text) in _STAGES.items():
            made = self.programs[name] = gl.create_program()
            gl.program_parameteri(made, GL.PROGRAM_SEPARABLE, 1)
            gl.attach_shader(made, compiled(gl, kind, text))
            if kind == GL.VERTEX_SHADER:
                varyings = ["gl_Position"]
                gl.transform_feedback_varyings(made, 1, varyings, GL.INTERLEAVED_ATTRIBS)
            gl.link_program(made)
            assert gl.get_programiv(made, GL.LINK_STATUS)[0], gl.get_program_info_log(made)
        (self.pipeline,) = gl.gen_program_pipelines(1)
        gl.bind_program_pipeline(self.pipeline)
        corners = np.array([-1, -1, 0, 1, 1, -1, 0, 1, -1, 1, 0, 1] * 8, np.float32)
        self.buffers = list(gl.gen_buffers(5))
        for each in self.buffers:
            gl.bind_buffer(GL.ARRAY_BUFFER, each)
            data = np.tile(corners, 4)
            gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
        self.textures = list(gl.gen_textures(6))
        formats = (GL.RGBA8, GL.RGB565, GL.RGBA8, GL.RGBA8, GL.RGBA16F, GL.RGBA16F)
        for each, format in zip(self.textures, formats, strict=True):
            gl.bind_texture(GL.TEXTURE_2D, each)
            texels = np.arange(64, dtype=np.uint8)
            gl.tex_image2d(GL.TEXTURE_2D, 0, format, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
            for which in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
                gl.tex_parameteri(GL.TEXTURE_2D, which, GL.LINEAR)
        (self.sampler,) = gl.gen_samplers(1)
        for which in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
            gl.sampler_parameteri(self.sampler, which, GL.NEAREST)
        self.framebuffer, self.sampled = gl.gen_framebuffers(2)
        point = GL.COLOR_ATTACHMENT0
        gl.bind_framebuffer(GL.FRAMEBUFFER, self.sampled)
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, 4, GL.RGBA8, 4, 4)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
        (self.query,) = gl.gen_queries(1)
        (self.captured,) = gl.gen_transform_feedbacks(1)
        gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, self.captured)
        self.start()
        gl.begin_transform_feedback(GL.TRIANGLES)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        gl.end_transform_feedback()
        gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, 0)
        assert gl.get_error() == GL.NO_ERROR
        self.written = 0

    def start(self) -> None:
        """Everything as it is at the beginning, whatever was done before."""
        gl = self.gl
        gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
        for binding in (0, 1):
            gl.bind_buffer_range(GL.UNIFORM_BUFFER, binding, self.buffers[2], 0, 16)
            gl.bind_sampler(binding, 0)
            gl.active_texture(GL.TEXTURE0 + binding)
            gl.bind_texture(GL.TEXTURE_2D, self.textures[2 * binding])
        gl.active_texture(GL.TEXTURE0)
        gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, 0)
        gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, self.buffers[4])
        gl.bind_image_texture(0, 0, 0, 0, 0, GL.READ_ONLY, GL.RGBA8)
        gl.bind_buffer(GL.ARRAY_BUFFER, self.buffers[0])
        gl.vertex_attrib_pointer(0, 4, GL.FLOAT, 0, 16, None)
        gl.enable_vertex_attrib_array(0)
        gl.use_program_stages(self.pipeline, GL.ALL_SHADER_BITS, 0)
        self.use("vertex", "fragment")

    def use(self, *names: str) -> None:
        """Some stages of the pipeline are others."""
        for name in names:
            self.gl.use_program_stages(self.pipeline, _STAGES[name][1], self.programs[name])

    def draw(self, mode: int) -> None:
        """In the ways with memories of their own."""
        gl = self.gl
        for _ in range(2):
            gl.draw_arrays(mode, 0, 3)
        gl.draw_transform_feedback(mode, self.captured)  # which never waits
        gl.draw_arrays(mode, 0, 3)

    # One thing is other at each step; answers a mode, if it is not triangles.

    def fixed(self) -> Steps:
        gl = self.gl
        gl.enable(GL.BLEND)
        gl.blend_func(GL.CONSTANT_COLOR, GL.ONE)
        yield None
        gl.blend_color(0.5, 0.25, 0.0, 1.0)
        yield None
        gl.color_mask(0, 0, 0, 0)
        yield None
        gl.color_mask(1, 1, 1, 1)
        gl.enable(GL.DEPTH_TEST)
        gl.enable(GL.STENCIL_TEST)
        gl.stencil_func(GL.LEQUAL, 1, 255)
        yield None
        gl.stencil_func(GL.LEQUAL, 2, 255)
        yield None
        gl.enable(GL.ALPHA_TEST)
        gl.alpha_func(GL.GREATER, 0.25)
        yield None
        gl.alpha_func(GL.LESS, 0.5)
        yield None
        gl.begin_query(GL.SAMPLES_PASSED, self.query)
        yield None
        gl.end_query(GL.SAMPLES_PASSED)
        yield None

    def shapes(self) -> Steps:
        gl = self.gl
        yield None
        gl.enable(GL.CULL_FACE)
        yield None
        gl.shade_model(GL.FLAT)
        yield None
        gl.enable(GL.SCISSOR_TEST)
        gl.scissor(0, 0, 4, 4)
        yield None
        gl.scissor(1, 0, 4, 4)
        yield None
        gl.viewport(0, 0, 4, 4)
        yield None
        gl.enable(GL.POLYGON_STIPPLE)
        yield None
        gl.polygon_stipple(np.full(128, 0x55, np.uint8))
        yield None
        gl.enable(GL.CLIP_PLANE0)
        yield None
        gl.clip_plane(GL.CLIP_PLANE0, (1.0, 0.0, 0.0, 0.5))
        yield None
        gl.enable(GL.POINT_SPRITE)
        gl.tex_envi(GL.POINT_SPRITE, GL.COORD_REPLACE, 1)
        yield GL.POINTS
        yield GL.LINES

    def vertices(self) -> Steps:
        gl = self.gl
        yield None
        gl.vertex_attrib_pointer(0, 4, GL.FLOAT, 0, 16, 16)
        yield None
        gl.vertex_attrib_pointer(0, 4, GL.FLOAT, 0, 32, 16)
        yield None
        gl.bind_buffer(GL.ARRAY_BUFFER, self.buffers[1])
        gl.vertex_attrib_pointer(0, 4, GL.FLOAT, 0, 32, 16)
        yield None
        gl.vertex_attrib_pointer(0, 3, GL.FLOAT, 0, 32, 16)
        yield None
        gl.begin_transform_feedback(GL.TRIANGLES)
        yield None
        gl.end_transform_feedback()
        yield None

    def textures_and_blocks(self) -> Steps:
        gl = self.gl
        for unit in (0, 1):
            gl.active_texture(GL.TEXTURE0 + unit)
            gl.bind_texture(GL.TEXTURE_2D, self.textures[2 * unit])
            yield None
            gl.bind_texture(GL.TEXTURE_2D, self.textures[2 * unit + 1])
            yield None
            self.written += 1
            texels = np.full(64, self.written, np.uint8)
            gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, texels)
            yield None
            gl.bind_sampler(unit, self.sampler)
            yield None
            gl.sampler_parameteri(self.sampler, GL.TEXTURE_WRAP_S, GL.CLAMP)
            yield None
            gl.sampler_parameteri(self.sampler, GL.TEXTURE_WRAP_S, GL.REPEAT)
        for binding in (0, 1):
            for buffer, start, size in ((2, 256, 16), (2, 256, 64), (3, 256, 64)):
                where = self.buffers[buffer], start, size
                gl.bind_buffer_range(GL.UNIFORM_BUFFER, binding, *where)
                yield None
        tint = gl.get_uniform_location(self.programs["fragment"], "tint")
        gl.program_uniform4f(self.programs["fragment"], tint, 1.0, 0.5, 0.0, 1.0)
        yield None

    def targets(self) -> Steps:
        gl = self.gl
        gl.bind_framebuffer(GL.FRAMEBUFFER, self.framebuffer)
        for texture in self.textures[-2:]:
            point = GL.COLOR_ATTACHMENT0
            gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, GL.TEXTURE_2D, texture, 0)
            yield None
        gl.enable(GL.ALPHA_TEST)
        gl.alpha_func(GL.GREATER, 0.25)
        yield None
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, GL.TEXTURE_2D, self.textures[2], 0)
        yield None
        gl.bind_framebuffer(GL.FRAMEBUFFER, self.sampled)
        yield None
        gl.enable(GL.SAMPLE_MASK)
        gl.sample_maski(0, 1)
        yield None
        gl.sample_maski(0, 2)
        yield None
        gl.enable(GL.SAMPLE_SHADING)
        gl.min_sample_shading(1.0)
        yield None
        gl.min_sample_shading(0.5)
        yield None

    def stages(self) -> Steps:
        gl = self.gl
        self.use("plain")
        yield None
        self.use("another vertex")
        yield None
        self.use("another plain")
        yield None
        self.use("splitting")
        yield None
        gl.use_program_stages(self.pipeline, GL.GEOMETRY_SHADER_BIT, 0)
        yield None
        self.use("storing")
        yield None
        gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, self.buffers[2])
        yield None
        gl.bind_buffer_range(GL.SHADER_STORAGE_BUFFER, 0, self.buffers[2], 256, 32)
        yield None
        gl.bind_image_texture(0, self.textures[0], 0, 0, 0, GL.READ_ONLY, GL.RGBA8)
        yield None
        gl.bind_image_texture(0, self.textures[2], 0, 0, 0, GL.READ_ONLY, GL.RGBA8)
        yield None

    def walk(self, watch: Watch, *parts: str) -> list[str]:
        """Some parts, or all, until something is wrong."""
        watch.begin()
        watch.looks = 1 << 20
        gl = self.gl
        for part in parts or PARTS:
            gl.push_attrib(GL.ALL_ATTRIB_BITS)
            self.start()
            steps: Steps = getattr(self, part)()
            for mode in steps:
                self.draw(GL.TRIANGLES if mode is None else mode)
                assert gl.get_error() == GL.NO_ERROR
                if watch.wrong:
                    break
            gl.end_query(GL.SAMPLES_PASSED)
            gl.end_transform_feedback()
            gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
            gl.pop_attrib()
            while gl.get_error():
                pass
        gl.finish()
        found = sorted(set(watch.wrong))
        watch.begin()
        return found

    def forget(self) -> None:
        """Nothing is remembered that was derived before."""
        pipe: Any = self.gl.pipe
        pipe.settle()
        pipe._states.forget_shaders()
        pipe._queue.forget()
        pipe._queue._memory = KnownSnapshots(pipe._states)
        for resource in pipe.screen.resources.live:
            resource.derived.clear()


PARTS = ("fixed", "shapes", "vertices", "textures_and_blocks", "targets", "stages")
