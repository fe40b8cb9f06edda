"""What a generated line may call beside the GL itself: programs, meshes, textures, targets.

Everything is made from small exact numbers. Positions are multiples of 1/16 of a clip unit and
targets are powers of two, so window coordinates fall on the sub-pixel grid of any rasterizer; depth
is constant over a primitive; colours are sums of few bits. What then still differs is a defect, or
stands in the table of `compare`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gallette.state_tracker import GL

SIZE = 32

VERTEX = {
    "plain": """
        in vec4 position; in vec4 color; in vec2 uv;
        uniform vec4 offset;
        out vec4 v_color; out vec2 v_uv;
        void main() {
            gl_Position = position + offset; v_color = color; v_uv = uv;
            gl_PointSize = 3.0;
        }""",
    "flat": """
        in vec4 position; in vec4 color; in vec2 uv;
        uniform vec4 offset;
        flat out vec4 v_color; out vec2 v_uv;
        void main() {
            gl_Position = position + offset; v_color = color; v_uv = uv; gl_PointSize = 5.0;
        }""",
    "clipped": """
        in vec4 position; in vec4 color; in vec2 uv;
        uniform vec4 offset;
        out vec4 v_color; out vec2 v_uv;
        out float gl_ClipDistance[2];
        void main() {
            gl_Position = position + offset; v_color = color; v_uv = uv; gl_PointSize = 1.0;
            gl_ClipDistance[0] = position.x + 0.5; gl_ClipDistance[1] = 0.5 - position.y;
        }""",
    "instanced": """
        in vec4 position; in vec4 color; in vec2 uv;
        uniform vec4 offset;
        out vec4 v_color; out vec2 v_uv;
        void main() {
            gl_Position = position + offset * float(gl_InstanceID + 1);
            v_color = color.gbra; v_uv = uv; gl_PointSize = float(2 + (gl_VertexID & 1));
        }""",
}
FRAGMENT = {
    "color": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result;
        void main() { result = v_color * tint; }""",
    "flat": """
        flat in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result;
        void main() { result = v_color * tint; }""",
    "textured": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; uniform sampler2D image; out vec4 result;
        void main() {
            // Coordinates that every implementation has exactly, on both sides of the borders.
            vec2 at = (gl_FragCoord.xy - 8.0 + 8.0 * tint.xy) / 16.0;
            result = texture(image, at) * v_color;
        }""",
    "fetched": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; uniform sampler2D image; out vec4 result;
        void main() { result = texelFetch(image, ivec2(gl_FragCoord.xy) & 3, 0) + tint * 0.25; }""",
    "discarding": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result;
        void main() {
            if (((int(gl_FragCoord.x) ^ int(gl_FragCoord.y)) & 1) == 0) discard;
            result = v_color * tint;
        }""",
    "facing": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result;
        void main() { result = gl_FrontFacing ? tint : vec4(tint.brg, 0.5); }""",
    "deep": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result;
        void main() { result = tint; gl_FragDepth = v_color.r > 0.4 ? 0.25 : 0.75; }""",
    "two": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result; out vec4 second;
        void main() { result = tint; second = v_color; }""",
    "dual": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint;
        layout(location = 0, index = 0) out vec4 result;
        layout(location = 0, index = 1) out vec4 factor;
        void main() { result = tint; factor = v_color; }""",
}
# Fixed-function vertex outputs, for what only a compatibility context has.
OLD_VERTEX = """
    attribute vec4 position; attribute vec4 color; attribute vec2 uv; uniform vec4 offset;
    void main() {
        gl_Position = position + offset; gl_ClipVertex = position; gl_PointSize = 3.0;
        gl_FrontColor = color; gl_BackColor = color.gbra; gl_TexCoord[0] = vec4(uv, 0.0, 1.0);
    }"""
OLD_FRAGMENT = """
    uniform vec4 tint;
    void main() { gl_FragColor = gl_Color * tint; }"""
ATTRIBUTES = ("position", "color", "uv")


class World:
    """The helpers of one run, bound to its context."""

    def __init__(self, gl: Any) -> None:
        self.gl = gl

    def program(self, vertex: str, fragment: str, capture: bool = False) -> int:
        """A linked program; its uniforms start at harmless values."""
        if vertex == "old":
            return self._link("#version 120\n" + OLD_VERTEX, "#version 120\n" + OLD_FRAGMENT, False)
        head = "#version 330\n"
        return self._link(head + VERTEX[vertex], head + FRAGMENT[fragment], capture)

    def _link(self, vertex: str, fragment: str, capture: bool) -> int:
        gl = self.gl
        name = gl.create_program()
        for kind, source in ((GL.VERTEX_SHADER, vertex), (GL.FRAGMENT_SHADER, fragment)):
            shader = gl.create_shader(kind)
            gl.shader_source(shader, source)
            gl.compile_shader(shader)
            gl.attach_shader(name, shader)
            gl.delete_shader(shader)
        for index, attribute in enumerate(ATTRIBUTES):
            gl.bind_attrib_location(name, index, attribute)
        if capture:
            gl.transform_feedback_varyings(name, 1, ["gl_Position"], GL.INTERLEAVED_ATTRIBS)
        gl.link_program(name)
        if not gl.get_programiv(name, GL.LINK_STATUS)[0]:
            raise RuntimeError(gl.get_program_info_log(name))
        return int(name)

    def uniform(self, program: int, name: str, *values: float) -> None:
        """Set a vec4 of the program in use."""
        location = self.gl.get_uniform_location(program, name)
        self.gl.uniform4f(location, *values)

    def vertices(self, seed: int, count: int, dtype: str = "f4") -> Any:
        """Interleaved position, colour and coordinates; each three share a depth."""
        random = np.random.default_rng(seed)
        data = np.zeros((count, 10), np.float32)
        data[:, 0:2] = random.integers(-20, 21, (count, 2)) / 16
        data[:, 2] = np.repeat(random.integers(-8, 9, -(-count // 3)) / 8, 3)[:count]
        data[:, 3] = 1
        data[:, 4:8] = random.integers(0, 5, (count, 4)) / 4
        data[:, 8:10] = random.integers(-8, 17, (count, 2)) / 8
        return data

    def quad(self, seed: int) -> Any:
        """Two triangles that make one rectangle, in the layout of `vertices`."""
        random = np.random.default_rng(seed)
        left, low = random.integers(-16, 8, 2) / 16
        right, high = left + random.integers(2, 24) / 16, low + random.integers(2, 24) / 16
        data = self.vertices(seed, 6)
        corners = [
            (left, low),
            (right, low),
            (right, high),
            (left, low),
            (right, high),
            (left, high),
        ]
        data[:, 0:2] = corners
        data[:, 2] = data[0, 2]
        data[:, 4:8] = data[0, 4:8]
        return data

    def array(self, buffer: int) -> int:
        """A vertex array reading a buffer of `vertices`."""
        gl = self.gl
        (vao,) = gl.gen_vertex_arrays(1)
        gl.bind_vertex_array(vao)
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        for index, (size, offset) in enumerate(((4, 0), (4, 16), (2, 32))):
            gl.enable_vertex_attrib_array(index)
            gl.vertex_attrib_pointer(index, size, GL.FLOAT, 0, 40, offset)
        return int(vao)

    def texels(self, seed: int, width: int, height: int) -> Any:
        random = np.random.default_rng(seed)
        return (random.integers(0, 5, (height, width, 4)) * 63).astype(np.uint8)

    def texture(self, internal: int, seed: int, size: int, levels: int = 1) -> int:
        gl = self.gl
        (name,) = gl.gen_textures(1)
        gl.bind_texture(GL.TEXTURE_2D, name)
        for level in range(levels):
            edge = max(size >> level, 1)
            data = self.texels(seed + level, edge, edge)
            gl.tex_image2d(
                GL.TEXTURE_2D, level, internal, edge, edge, 0, GL.RGBA, GL.UNSIGNED_BYTE, data
            )
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAX_LEVEL, levels - 1)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
        return int(name)

    def target(self, colors: list[int], depth: int | None, samples: int = 0) -> int:
        """A framebuffer with renderbuffers of these formats, cleared, bound to draw."""
        gl = self.gl
        (name,) = gl.gen_framebuffers(1)
        gl.bind_framebuffer(GL.FRAMEBUFFER, name)
        points = [(GL.COLOR_ATTACHMENT0 + i, f) for i, f in enumerate(colors)]
        if depth is not None:
            stencil = depth in (GL.DEPTH24_STENCIL8, GL.DEPTH32F_STENCIL8)
            point = GL.DEPTH_STENCIL_ATTACHMENT if stencil else GL.DEPTH_ATTACHMENT
            points.append((point, depth))
        for point, format in points:
            (buffer,) = gl.gen_renderbuffers(1)
            gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
            gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, format, SIZE, SIZE)
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
        buffers = [GL.COLOR_ATTACHMENT0 + i for i in range(len(colors))] or [GL.NONE]
        gl.draw_buffers(len(buffers), np.array(buffers, np.uint32))
        gl.read_buffer(buffers[0])
        gl.disable(GL.SCISSOR_TEST)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        return int(name)
