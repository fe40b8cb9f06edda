"""A context with two of everything, and a walk that changes one thing after the other.

After each change it draws: pending, at once, and pending again. What the draws leave in attachments
and buffers tells whether each of them was drawn in its own state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import linked

HEAD = "#version 430 compatibility\n"
VERTEX = (
    HEAD
    + """layout(std140, binding = 0) uniform Block { vec4 shift, more; };
layout(binding = 1) uniform sampler2D heights;
layout(location = 0) in vec4 position; layout(location = 0) out vec4 color;
out gl_PerVertex { vec4 gl_Position; vec4 gl_FrontColor; vec4 gl_ClipVertex; vec4 gl_TexCoord[1]; };
void main() {
    vec3 moved = shift.xyz + 0.5 * more.xyz + textureLod(heights, position.xy, 0.0).xyz;
    gl_Position = vec4(position.xyz + 0.2 * moved, 1.0);
    gl_ClipVertex = color = gl_FrontColor = gl_TexCoord[0] = position;
}"""
)
FRAGMENT = (
    HEAD
    + """layout(binding = 0) uniform sampler2D picture; uniform vec4 tint;
layout(location = 0) in vec4 color; layout(location = 0) out vec4 result;
layout(std140, binding = 1) uniform Other { vec4 less, more; };
void main() {
    result = 0.02 + 0.01 * (color * tint + less + more + gl_Color) + 0.02 * gl_TexCoord[0]
        + 0.1 * texture(picture, color.xy);
}"""
)
PLAIN = HEAD + "layout(location = 0) out vec4 result; void main() { result = vec4(0.04); }"
STORING = (
    HEAD
    + """layout(std430, binding = 0) buffer Store { vec4 kept; };
layout(rgba8, binding = 0) uniform image2D image; layout(location = 0) out vec4 result;
void main() { kept = imageLoad(image, ivec2(0)); result = 0.1 * kept; }"""
)
SPLITTING = (
    HEAD
    + """layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
in gl_PerVertex { vec4 gl_Position; } gl_in[]; out gl_PerVertex { vec4 gl_Position; };
void main() {
    for (int i = 0; i < 3; ++i) { gl_Position = gl_in[i].gl_Position + 0.3; EmitVertex(); }
}"""
)
_STAGES = {
    "vertex": (GL.VERTEX_SHADER, GL.VERTEX_SHADER_BIT, VERTEX),
    "another vertex": (GL.VERTEX_SHADER, GL.VERTEX_SHADER_BIT, VERTEX.replace("0.2", "0.3")),
    "fragment": (GL.FRAGMENT_SHADER, GL.FRAGMENT_SHADER_BIT, FRAGMENT),
    "plain": (GL.FRAGMENT_SHADER, GL.FRAGMENT_SHADER_BIT, PLAIN),
    "another plain": (GL.FRAGMENT_SHADER, GL.FRAGMENT_SHADER_BIT, PLAIN.replace("0.04", "0.06")),
    "storing": (GL.FRAGMENT_SHADER, GL.FRAGMENT_SHADER_BIT, STORING),
    "splitting": (GL.GEOMETRY_SHADER, GL.GEOMETRY_SHADER_BIT, SPLITTING),
}

Steps = Iterator[int | None]


class Scene:
    """A context with two of everything, and the draws."""

    def __init__(self, driver: str = "numpipe") -> None:
        gl = self.gl = create_context(driver, profile="compat", version=(4, 5), size=(16, 16))
        self.programs: dict[str, int] = {}
        for name, (kind, _, text) in _STAGES.items():
            captured = ["gl_Position"] if kind == GL.VERTEX_SHADER else []
            made = linked(gl, {kind: text}, captured, separable=True, used=False)
            self.programs[name] = made
        (self.pipeline,) = gl.gen_program_pipelines(1)
        gl.bind_program_pipeline(self.pipeline)
        self.buffers = list(gl.gen_buffers(5))
        self.textures = list(gl.gen_textures(6))
        (self.sampler,) = gl.gen_samplers(1)
        self.filter(GL.NEAREST)
        self.framebuffer, self.sampled = gl.gen_framebuffers(2)
        point = GL.COLOR_ATTACHMENT0
        gl.bind_framebuffer(GL.FRAMEBUFFER, self.sampled)
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, 4, GL.RGBA8, 4, 4)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
        self.fill()
        (self.query,) = gl.gen_queries(1)
        (self.captured,) = gl.gen_transform_feedbacks(1)
        gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, self.captured)
        self.start()
        gl.begin_transform_feedback(GL.TRIANGLES)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        gl.end_transform_feedback()
        gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, 0)
        assert gl.get_error() == GL.NO_ERROR

    def fill(self) -> None:
        """What buffers and textures hold at the beginning."""
        gl, random, self.written = self.gl, np.random.default_rng(4), 0
        gl.bind_framebuffer(GL.FRAMEBUFFER, self.sampled)
        gl.clear(GL.COLOR_BUFFER_BIT)
        for each in self.buffers:
            gl.bind_buffer(GL.ARRAY_BUFFER, each)
            corners = np.array(
                [-0.7, -0.7, 0, 1, 0.7, -0.7, 0, 1, -0.7, 0.7, 0, 1] * 32, np.float32
            )
            corners += random.uniform(-0.3, 0.3, corners.size).astype(np.float32)
            gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
        formats = (GL.RGBA8, GL.RGB565, GL.RGBA8, GL.RGBA8, GL.RGBA16F, GL.RGBA16F)
        for each, format in zip(self.textures, formats, strict=True):
            gl.bind_texture(GL.TEXTURE_2D, each)
            texels = random.integers(0, 256, 64, np.uint8)
            gl.tex_image2d(GL.TEXTURE_2D, 0, format, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
            for which in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
                gl.tex_parameteri(GL.TEXTURE_2D, which, GL.LINEAR)

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
        gl.disable(GL.SAMPLE_MASK)  # what `push_attrib` leaves alone
        gl.disable(GL.SAMPLE_SHADING)
        gl.sample_maski(0, 0xFFFFFFFF)
        gl.min_sample_shading(0.0)
        self.use("vertex", "fragment")
        tint = gl.get_uniform_location(self.programs["fragment"], "tint")
        gl.program_uniform4f(self.programs["fragment"], tint, 0.0, 1.0, 0.0, 0.5)

    def use(self, *names: str) -> None:
        """Some stages of the pipeline are others."""
        for name in names:
            self.gl.use_program_stages(self.pipeline, _STAGES[name][1], self.programs[name])

    def draw(self, mode: int, forgets: bool = False) -> None:
        """Two draws that are pending, one at once, and another one."""
        gl = self.gl
        draws = [lambda: gl.draw_arrays(mode, 0, 3)] * 4
        draws[2] = lambda: gl.draw_transform_feedback(mode, self.captured)
        for each in draws:
            if forgets:
                gl.pipe.forget_derived()
            each()

    def filter(self, filter: int) -> None:
        """How the sampler filters."""
        for which in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
            self.gl.sampler_parameteri(self.sampler, which, filter)

    # One thing changes at each step; the step answers a mode, if it is not triangles.

    def fixed(self) -> Steps:
        gl = self.gl
        gl.color_mask(0, 0, 0, 0)
        yield None
        gl.color_mask(1, 1, 1, 1)
        yield None
        gl.begin_query(GL.SAMPLES_PASSED, self.query)
        yield None
        gl.end_query(GL.SAMPLES_PASSED)
        yield None
        gl.blend_func(GL.CONSTANT_COLOR, GL.ONE)
        yield None
        gl.blend_color(0.5, 0.25, 0.0, 1.0)
        yield None
        gl.enable(GL.DEPTH_TEST)
        gl.enable(GL.STENCIL_TEST)
        gl.depth_func(GL.ALWAYS)
        gl.stencil_op(GL.KEEP, GL.KEEP, GL.REPLACE)
        gl.stencil_func(GL.ALWAYS, 1, 255)
        yield None
        gl.stencil_func(GL.ALWAYS, 2, 255)
        yield None
        gl.enable(GL.ALPHA_TEST)
        gl.alpha_func(GL.GREATER, 0.12)
        yield None
        gl.alpha_func(GL.LESS, 0.11)
        yield None

    def shapes(self) -> Steps:
        gl = self.gl
        yield None
        gl.enable(GL.CULL_FACE)
        yield None
        gl.shade_model(GL.FLAT)
        yield None
        gl.enable(GL.SCISSOR_TEST)
        gl.scissor(0, 0, 14, 14)
        yield None
        gl.scissor(5, 0, 14, 14)
        yield None
        gl.viewport(0, 0, 12, 12)
        yield None
        gl.enable(GL.POLYGON_STIPPLE)
        yield None
        gl.polygon_stipple(np.full(128, 0x55, np.uint8))
        yield None
        gl.enable(GL.CLIP_PLANE0)
        yield None
        gl.clip_plane(GL.CLIP_PLANE0, (1.0, 0.0, 0.0, -0.2))
        yield None
        gl.enable(GL.POINT_SPRITE)
        gl.tex_envi(GL.POINT_SPRITE, GL.COORD_REPLACE, 1)
        gl.point_size(5.0)
        yield GL.LINES
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
            texels = np.arange(64, dtype=np.uint8) * self.written
            gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, texels)
            yield None
            gl.bind_sampler(unit, self.sampler)
            yield None
            self.filter(GL.LINEAR)
            yield None
            gl.sampler_parameteri(self.sampler, GL.TEXTURE_WRAP_S, GL.CLAMP)
            yield None
            self.filter(GL.NEAREST)
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
        gl.viewport(0, 0, 4, 4)
        for texture in self.textures[-2:]:
            point = GL.COLOR_ATTACHMENT0
            gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, GL.TEXTURE_2D, texture, 0)
            yield None
        gl.enable(GL.ALPHA_TEST)
        gl.alpha_func(GL.EQUAL, 0.0405)  # for bytes it is what `PLAIN` writes, for floats it is not
        self.use("plain")
        yield None
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, GL.TEXTURE_2D, self.textures[3], 0)
        yield None
        gl.disable(GL.ALPHA_TEST)
        self.use("fragment")
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
        gl.disable(GL.SAMPLE_SHADING)
        gl.framebuffer_parameteri(
            GL.FRAMEBUFFER, GL.FRAMEBUFFER_PROGRAMMABLE_SAMPLE_LOCATIONS_ARB, 1
        )
        for where in (0.9, 0.1):
            locations = np.full(8, where, np.float32)
            gl.framebuffer_sample_locationsfv_arb(GL.FRAMEBUFFER, 0, 4, locations)
            yield None
        gl.framebuffer_parameteri(
            GL.FRAMEBUFFER, GL.FRAMEBUFFER_PROGRAMMABLE_SAMPLE_LOCATIONS_ARB, 0
        )

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
        gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, self.buffers[3])
        yield None
        gl.bind_buffer_range(GL.SHADER_STORAGE_BUFFER, 0, self.buffers[3], 256, 32)
        yield None
        gl.bind_image_texture(0, self.textures[0], 0, 0, 0, GL.READ_ONLY, GL.RGBA8)
        yield None
        gl.bind_image_texture(0, self.textures[2], 0, 0, 0, GL.READ_ONLY, GL.RGBA8)
        yield None

    def walk(
        self, part: str, forgets: bool = False, until: list[bytes] | None = None
    ) -> list[bytes]:
        """What the draws of a part leave behind. Each state is looked at, and each is met by draws
        that are pending from the state before. `forgets`: before each draw nothing is known.

        After what is not as in `until` nothing is drawn, though states are set to the end.
        """
        gl, found = self.gl, list[bytes]()
        for phase in (0, 1):
            if until is not None and found != until[: len(found)]:
                break
            gl.push_attrib(GL.ALL_ATTRIB_BITS)
            self.fill()
            self.start()
            gl.enable(GL.BLEND)  # each draw is seen, whatever is drawn over it
            gl.blend_func(GL.ONE, GL.ONE)
            gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
            steps: Steps = getattr(self, part)()
            for number, mode in enumerate(steps):
                self.draw(GL.TRIANGLES if mode is None else mode, forgets)
                if number % 2 == phase:
                    found.append(self.left())
                    if until is not None and found[-1] != until[len(found) - 1]:
                        for _ in steps:
                            pass
                        break
                    gl.clear(GL.COLOR_BUFFER_BIT)  # or they would all be white in the end
                assert gl.get_error() == GL.NO_ERROR
            found.append(self.left())
            if part == "fixed":
                found.append(str(gl.get_query_objectuiv(self.query, GL.QUERY_RESULT)).encode())
            gl.end_transform_feedback()
            gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
            gl.pop_attrib()
            while gl.get_error():
                pass
        return found

    def left(self) -> bytes:
        """What attachments and buffers hold now."""
        gl = self.gl
        gl.pipe.execute_deferred()
        state = gl.pipe_framebuffer
        resources: list[Any] = [s.resource for s in (*state.cbufs, state.zsbuf) if s is not None]
        resources += [gl.buffers.names.get(name).plain for name in self.buffers]
        return b"".join(each.backing().tobytes() for each in resources)


PARTS = ("fixed", "shapes", "vertices", "textures_and_blocks", "targets", "stages")
