"""Where programs run: gallette's compiler in the reference interpreter, or any OpenGL.

`Interpreted` compiles, links, optimises and runs the NIR as a driver would receive it; `Drawn` goes
the whole way through an OpenGL (a gallette driver, or `native:llvmpipe`): buffers, a draw, pixels.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np

from fuzz.glsl_programs.lanes import LANES, Inputs, Outcome, Rejected
from gallette.compiler.glsl import LinkOptions, compile_shader, link_program
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import FragResult
from gallette.state_tracker import create_context
from gallette.state_tracker.entry_points.enums import GL

VERTEX = """#version 330
void main() {
    gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
"""
CLEAR = (-1, -2, -3, -4)
"""what a discarded lane leaves in the framebuffer"""


def _ints(values: list[int]) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


class Interpreted:
    """The compiler and the reference interpreter."""

    name = "interpreter"

    def run(self, text: str, inputs: Inputs) -> Outcome:
        shader = compile_shader(Stage.FRAGMENT, text)
        if not shader.ok:
            raise Rejected(shader.info_log)
        program = link_program([shader], LinkOptions())
        if not program.ok:
            raise Rejected(program.info_log)
        nir = program.shaders[Stage.FRAGMENT]
        lanes = np.arange(LANES) + 0.5
        half = np.full(LANES, 0.5)
        blocks = {b.name: b.nir_index.get(Stage.FRAGMENT) for b in program.storage_blocks}
        data = {"In": _ints(inputs.inp), "Out": _ints(inputs.outp)}
        environment = Environment(
            lanes=LANES,
            system_values={"frag_coord": np.array([lanes, half, half, np.ones(LANES)])},
            ubos={1: _ints(inputs.un)},
            ssbos={n: data[name] for name, n in blocks.items() if n is not None},
        )
        result = interpret(nir, environment)
        nir.unref()
        outp = inputs.outp
        if blocks.get("Out") is not None and ("ssbo", blocks["Out"]) in result.buffers:
            outp = result.buffers["ssbo", blocks["Out"]].view(np.int32).tolist()
        nothing = np.zeros(LANES, np.uint32)  # when every lane discards
        columns = [
            result.outputs.get((FragResult.DATA0, c), nothing).astype(np.uint32).view(np.int32)
            for c in range(4)
        ]
        colors = [
            (int(columns[0][i]), int(columns[1][i]), int(columns[2][i]), int(columns[3][i]))
            if alive
            else None
            for i, alive in enumerate(result.alive.tolist())
        ]
        return Outcome(colors, outp)


class Drawn:
    """An OpenGL: gallette with some driver, or the machine's own."""

    def __init__(self, driver: str) -> None:
        self.name = driver
        self.gl: Any = create_context(driver, profile="core", version=(4, 3))
        gl = self.gl
        gl.make_current()
        texture = gl.gen_textures(1)[0]
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA32I, LANES, 1)
        framebuffer = gl.gen_framebuffers(1)[0]
        gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
        gl.viewport(0, 0, LANES, 1)
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        self.buffers = gl.gen_buffers(3)
        self.vertex = self.compile(GL.VERTEX_SHADER, VERTEX)

    def compile(self, kind: int, text: str) -> int:
        gl = self.gl
        shader: int = gl.create_shader(kind)
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        if not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
            log = gl.get_shader_info_log(shader)
            gl.delete_shader(shader)
            raise Rejected(log)
        return shader

    def run(self, text: str, inputs: Inputs) -> Outcome:
        gl = self.gl
        gl.make_current()
        fragment = self.compile(GL.FRAGMENT_SHADER, text)
        program = gl.create_program()
        gl.attach_shader(program, self.vertex)
        gl.attach_shader(program, fragment)
        gl.link_program(program)
        try:
            if not gl.get_programiv(program, GL.LINK_STATUS)[0]:
                raise Rejected(gl.get_program_info_log(program))
            return self.draw(program, inputs)
        finally:
            gl.use_program(0)
            gl.delete_program(program)
            gl.delete_shader(fragment)

    def draw(self, program: int, inputs: Inputs) -> Outcome:
        gl = self.gl
        gl.use_program(program)
        given = (inputs.inp, inputs.outp, inputs.un)
        for i, (buffer, values) in enumerate(zip(self.buffers, given, strict=True)):
            target = GL.UNIFORM_BUFFER if i == 2 else GL.SHADER_STORAGE_BUFFER
            gl.bind_buffer_base(target, i % 2, buffer)
            gl.buffer_data(target, 4 * len(values), _ints(values), GL.DYNAMIC_DRAW)
        gl.clear_bufferiv(GL.COLOR, 0, list(CLEAR))
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        gl.memory_barrier(GL.ALL_BARRIER_BITS)
        pixels = ctypes.create_string_buffer(16 * LANES)
        gl.read_pixels(0, 0, LANES, 1, GL.RGBA_INTEGER, GL.INT, pixels)
        gl.bind_buffer(GL.SHADER_STORAGE_BUFFER, self.buffers[1])
        data = ctypes.create_string_buffer(4 * len(inputs.outp))
        gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, len(data), data)
        error = gl.get_error()
        if error:
            raise Rejected(f"GL error {GL.name_of(error)}")
        flat = struct.unpack(f"<{4 * LANES}i", pixels.raw)
        rows = [flat[i : i + 4] for i in range(0, len(flat), 4)]
        colors = [None if row == CLEAR else (row[0], row[1], row[2], row[3]) for row in rows]
        return Outcome(colors, list(struct.unpack(f"<{len(inputs.outp)}i", data.raw)))

    def close(self) -> None:
        self.gl.release()
