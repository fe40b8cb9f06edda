"""An object of every kind that OpenGL has, made and used; what leak checks begin with.

    python -m tests.state_tracker.every_object numpipe jit

makes contexts of each driver with all of that, releases them, holds on to each, and prints as JSON
what is alive then, how many bytes more are in use after one more context, and how many of the
driver's contexts had to wait for the garbage collector.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import tracemalloc
from collections import Counter
from typing import Any
from weakref import ref

import numpy as np

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context

SIDE = 4
STAGES = {
    GL.VERTEX_SHADER: """#version 430 compatibility
layout(location = 0) in vec4 position; out vec4 one;
void main() { gl_Position = position; one = position; }""",
    GL.TESS_CONTROL_SHADER: """#version 430
layout(vertices = 3) out; in vec4 one[]; out vec4 two[];
void main() { two[gl_InvocationID] = one[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter = float[4](1.0, 1.0, 1.0, 1.0); gl_TessLevelInner = float[2](1.0, 1.0); }""",
    GL.TESS_EVALUATION_SHADER: """#version 430
layout(triangles) in; in vec4 two[]; out vec4 three;
void main() { three = two[0]; gl_Position = gl_TessCoord.x * gl_in[0].gl_Position
    + gl_TessCoord.y * gl_in[1].gl_Position + gl_TessCoord.z * gl_in[2].gl_Position; }""",
    GL.GEOMETRY_SHADER: """#version 430
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
in vec4 three[]; out vec4 kept;
void main() { for (int i = 0; i < 3; i++) {
    kept = three[i]; gl_Position = gl_in[i].gl_Position; EmitVertex(); } }""",
    GL.FRAGMENT_SHADER: """#version 430
uniform sampler2D flat_one; uniform samplerBuffer texels; uniform vec4 color;
layout(std140) uniform Block { vec4 more; };
layout(std430, binding = 0) buffer Store { vec4 stored; };
layout(rgba8, binding = 0) uniform image2D picture;
layout(binding = 0) uniform atomic_uint count;
in vec4 kept; out vec4 result;
void main() {
    result = kept + color + more + texture(flat_one, vec2(0.5)) + texelFetch(texels, 0);
    stored = result; imageStore(picture, ivec2(0), result); atomicCounterIncrement(count); }""",
}
COMPUTE = """#version 430
layout(local_size_x = 4) in; layout(std430, binding = 0) buffer Store { uint stored[]; };
void main() { stored[gl_LocalInvocationIndex] = gl_LocalInvocationIndex; }"""
_SAID = ctypes.CFUNCTYPE(None, *[ctypes.c_uint] * 4, ctypes.c_int, *[ctypes.c_void_p] * 2)


def everything(gl: Any) -> None:
    """All of it, in a compatibility context of version 4.6; nothing is deleted."""
    _buffers(gl)
    _textures(gl)
    _framebuffer(gl)
    program = _programs(gl)
    _draw(gl)
    _older(gl)
    _left_open(gl, program)
    assert gl.get_error() == GL.NO_ERROR


def _buffers(gl: Any) -> None:
    """Buffers 1 to 6: plain, mapped, mapped for good, immutable, sparse, for draw commands."""
    names = gl.gen_buffers(6)
    data = np.zeros(64, np.float32)
    data[:12] = [-1, -1, 0, 1, 3, -1, 0, 1, -1, 3, 0, 1]
    for name in names[:2]:
        gl.bind_buffer(GL.ARRAY_BUFFER, name)
        gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.DYNAMIC_DRAW)
    gl.map_buffer_range(GL.ARRAY_BUFFER, 0, 16, GL.MAP_WRITE_BIT)
    for name, flags in zip(names[2:4], (GL.MAP_PERSISTENT_BIT, 0), strict=True):
        gl.bind_buffer(GL.COPY_WRITE_BUFFER, name)
        access = GL.MAP_WRITE_BIT | flags
        gl.buffer_storage(GL.COPY_WRITE_BUFFER, 256, None, access)
        if flags:
            gl.map_buffer_range(GL.COPY_WRITE_BUFFER, 0, 256, access)
    gl.bind_buffer(GL.COPY_READ_BUFFER, names[4])
    gl.buffer_storage(GL.COPY_READ_BUFFER, 1 << 17, None, GL.SPARSE_STORAGE_BIT_ARB)
    gl.buffer_page_commitment_arb(GL.COPY_READ_BUFFER, 0, 1 << 16, 1)
    commands = np.array([3, 1, 0, 0], np.uint32)
    gl.bind_buffer(GL.DRAW_INDIRECT_BUFFER, names[5])
    gl.buffer_data(GL.DRAW_INDIRECT_BUFFER, 16, commands, GL.STATIC_DRAW)
    for target in (GL.UNIFORM_BUFFER, GL.SHADER_STORAGE_BUFFER, GL.ATOMIC_COUNTER_BUFFER):
        gl.bind_buffer_base(target, 0, names[3])


_SIZES: dict[int, tuple[str, tuple[int, ...]]] = {
    GL.TEXTURE_1D: ("tex_storage1d", (SIDE,)),
    GL.TEXTURE_2D: ("tex_storage2d", (SIDE, SIDE)),
    GL.TEXTURE_RECTANGLE: ("tex_storage2d", (SIDE, SIDE)),
    GL.TEXTURE_3D: ("tex_storage3d", (SIDE, SIDE, 2)),
    GL.TEXTURE_1D_ARRAY: ("tex_storage2d", (SIDE, 2)),
    GL.TEXTURE_2D_ARRAY: ("tex_storage3d", (SIDE, SIDE, 2)),
    GL.TEXTURE_CUBE_MAP: ("tex_storage2d", (SIDE, SIDE)),
    GL.TEXTURE_CUBE_MAP_ARRAY: ("tex_storage3d", (SIDE, SIDE, 6)),
}


def _textures(gl: Any) -> None:
    """A texture of every target, one of images, a view, a sampler, resident handles."""
    for unit, (target, (method, size)) in enumerate(_SIZES.items()):
        gl.active_texture(GL.TEXTURE4 + unit)
        gl.bind_texture(target, gl.gen_textures(1)[0])
        getattr(gl, method)(target, 1, GL.RGBA8, *size)
    for method, target, more in (
        ("tex_image2d_multisample", GL.TEXTURE_2D_MULTISAMPLE, ()),
        ("tex_image3d_multisample", GL.TEXTURE_2D_MULTISAMPLE_ARRAY, (2,)),
    ):
        gl.bind_texture(target, gl.gen_textures(1)[0])
        getattr(gl, method)(target, 4, GL.RGBA8, SIDE, SIDE, *more, 1)
    gl.active_texture(GL.TEXTURE1)
    gl.bind_texture(GL.TEXTURE_BUFFER, gl.gen_textures(1)[0])
    gl.tex_buffer(GL.TEXTURE_BUFFER, GL.RGBA32F, 4)
    gl.active_texture(GL.TEXTURE0)
    images, view = gl.gen_textures(2)
    gl.bind_texture(GL.TEXTURE_2D, images)
    texels = np.full((SIDE, SIDE, 4), 50, np.uint8)
    args = (GL.RGBA8, SIDE, SIDE, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    gl.tex_image2d(GL.TEXTURE_2D, 0, *args)
    gl.generate_mipmap(GL.TEXTURE_2D)
    gl.bind_sampler(0, gl.gen_samplers(1)[0])
    gl.texture_view(view, GL.TEXTURE_2D, 2, GL.RGBA8, 0, 1, 0, 1)  # of the first in _SIZES of 2D
    gl.bind_image_texture(0, images, 0, 0, 0, GL.READ_WRITE, GL.RGBA8)
    gl.make_texture_handle_resident_arb(gl.get_texture_handle_arb(view))
    handle = gl.get_image_handle_arb(view, 0, 0, 0, GL.RGBA8)
    gl.make_image_handle_resident_arb(handle, GL.READ_ONLY)


def _framebuffer(gl: Any) -> None:
    """A framebuffer of a texture and a renderbuffer; the window's is cleared, too."""
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_RECTANGLE, texture)
    gl.tex_storage2d(GL.TEXTURE_RECTANGLE, 1, GL.RGBA8, SIDE, SIDE)
    (renderbuffer,) = gl.gen_renderbuffers(1)
    gl.bind_renderbuffer(GL.RENDERBUFFER, renderbuffer)
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.DEPTH24_STENCIL8, SIDE, SIDE)
    gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
    point, rectangle = GL.COLOR_ATTACHMENT0, GL.TEXTURE_RECTANGLE
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, rectangle, texture, 0)
    point = GL.DEPTH_STENCIL_ATTACHMENT
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, renderbuffer)
    gl.viewport(0, 0, SIDE, SIDE)


def _linked(gl: Any, sources: dict[int, str], captured: list[str]) -> int:
    program = gl.create_program()
    for stage, source in sources.items():
        shader = gl.create_shader(stage)
        gl.shader_source(shader, source)
        gl.compile_shader(shader)
        gl.attach_shader(program, shader)
    if captured:
        gl.transform_feedback_varyings(program, len(captured), captured, GL.INTERLEAVED_ATTRIBS)
    gl.link_program(program)
    assert gl.get_programiv(program, GL.LINK_STATUS)[0], gl.get_program_info_log(program)
    return int(program)


def _programs(gl: Any) -> int:
    """A program of all stages that captures, a compute program, a pipeline of stages."""
    text = "#define NAMED 1"
    gl.named_string_arb(GL.SHADER_INCLUDE_ARB, 2, "/a", len(text), text)
    compute = _linked(gl, {GL.COMPUTE_SHADER: COMPUTE}, [])
    gl.use_program(compute)
    gl.dispatch_compute(1, 1, 1)
    alone = gl.create_shader_programv(GL.COMPUTE_SHADER, 1, [COMPUTE])
    (pipeline,) = gl.gen_program_pipelines(1)
    gl.bind_program_pipeline(pipeline)
    gl.use_program_stages(pipeline, GL.COMPUTE_SHADER_BIT, alone)
    gl.use_program(0)
    gl.dispatch_compute(1, 1, 1)
    program = _linked(gl, STAGES, ["kept"])
    gl.use_program(program)
    gl.uniform1i(gl.get_uniform_location(program, "texels"), 1)
    gl.uniform4f(gl.get_uniform_location(program, "color"), 0, 0, 0, 1)
    return program


def _draw(gl: Any) -> None:
    """Draws from a vertex array object, captured, counted and conditional."""
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.bind_buffer(GL.ARRAY_BUFFER, 1)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, 1)
    gl.vertex_attrib_pointer(0, 4, GL.FLOAT, 0, 0, None)
    gl.enable_vertex_attrib_array(0)
    gl.patch_parameteri(GL.PATCH_VERTICES, 3)
    gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, gl.gen_transform_feedbacks(1)[0])
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, 3)
    counted, whole = gl.gen_queries(2)
    gl.begin_query(GL.PRIMITIVES_GENERATED, whole)
    gl.begin_query(GL.SAMPLES_PASSED, counted)
    gl.begin_transform_feedback(GL.TRIANGLES)
    gl.draw_arrays(GL.PATCHES, 0, 3)
    gl.end_transform_feedback()
    gl.end_query(GL.SAMPLES_PASSED)
    gl.draw_arrays_indirect(GL.PATCHES, None)
    gl.fence_sync(GL.SYNC_GPU_COMMANDS_COMPLETE, 0)
    gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
    gl.begin_conditional_render(counted, GL.QUERY_WAIT)
    gl.draw_arrays(GL.PATCHES, 0, 3)


_VERTEX_PROGRAM = """!!ARBvp1.0
MOV result.position, vertex.position; MOV result.color, program.local[0]; END"""
_FRAGMENT_PROGRAM = """!!ARBfp1.0
MOV result.color, fragment.color; END"""


def _older(gl: Any) -> None:
    """Fixed function, lists, assembly programs, an ATI shader, evaluators, pixel rectangles."""
    gl.end_conditional_render()
    gl.use_program(0)
    gl.bind_program_pipeline(0)
    gl.bind_vertex_array(0)
    gl.bind_buffer(GL.ARRAY_BUFFER, 0)
    corners = np.zeros((3, 4), np.float32)
    gl.vertex_pointer(4, GL.FLOAT, 0, corners)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.new_list(gl.gen_lists(1), GL.COMPILE_AND_EXECUTE)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.begin(GL.TRIANGLES)
    for x in range(3):
        gl.color4f(x, 0, 0, 1)
        gl.vertex2f(x, x * x)
    gl.end()
    gl.bitmap(8, 1, 0.0, 0.0, 0.0, 0.0, b"\xaa")
    gl.end_list()
    gl.call_list(1)
    gl.map1f(GL.MAP1_VERTEX_3, 0, 1, 3, 2, np.arange(6, dtype=np.float32))
    gl.enable(GL.MAP1_VERTEX_3)
    gl.map_grid1f(2, 0, 1)
    gl.eval_mesh1(GL.LINE, 0, 2)
    gl.raster_pos2f(0, 0)
    gl.draw_pixels(1, 1, GL.RGBA, GL.UNSIGNED_BYTE, bytes(4))
    for target, text in (
        (GL.VERTEX_PROGRAM_ARB, _VERTEX_PROGRAM),
        (GL.FRAGMENT_PROGRAM_ARB, _FRAGMENT_PROGRAM),
    ):
        gl.bind_program_arb(target, gl.gen_programs_arb(1)[0])
        gl.program_string_arb(target, GL.PROGRAM_FORMAT_ASCII_ARB, len(text), text)
        gl.enable(target)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.draw_pixels(1, 1, GL.RGBA, GL.UNSIGNED_BYTE, bytes(4))
    gl.disable(GL.VERTEX_PROGRAM_ARB)
    gl.disable(GL.FRAGMENT_PROGRAM_ARB)
    gl.bind_fragment_shader_ati(gl.gen_fragment_shaders_ati(1))
    gl.begin_fragment_shader_ati()
    gl.color_fragment_op1_ati(
        GL.MOV_ATI, GL.REG_0_ATI, 0, 0, GL.PRIMARY_COLOR, GL.NONE, 0
    )  # fmt: skip
    gl.end_fragment_shader_ati()
    gl.enable(GL.FRAGMENT_SHADER_ATI)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.disable(GL.FRAGMENT_SHADER_ATI)
    gl.feedback_buffer(64, GL._3D_COLOR_TEXTURE, np.zeros(64, np.float32))
    gl.render_mode(GL.FEEDBACK)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.render_mode(GL.RENDER)


def _left_open(gl: Any, program: int) -> None:
    """What is under way when the context goes: queries, captures, conditions, lists, stacks."""
    gl.use_program(program)
    gl.bind_vertex_array(1)
    gl.push_attrib(GL.ALL_ATTRIB_BITS)
    gl.push_client_attrib(GL.ALL_ATTRIB_BITS)
    gl.debug_message_callback(_heard(gl), None)
    gl.enable(GL.DEBUG_OUTPUT)
    gl.object_label(GL.BUFFER, 1, -1, "labelled")
    gl.push_debug_group(GL.DEBUG_SOURCE_APPLICATION, 1, -1, "a group")
    gl.begin_query(GL.SAMPLES_PASSED, gl.gen_queries(1)[0])
    gl.begin_transform_feedback(GL.TRIANGLES)
    gl.draw_arrays(GL.PATCHES, 0, 3)
    gl.new_list(gl.gen_lists(1), GL.COMPILE)
    gl.vertex2f(0, 0)


def _heard(gl: Any) -> Any:
    """A callback as PyOpenGL gives one: it may hold on to anything."""
    kept = [gl]
    return _SAID(lambda *args: kept.clear())


# -- counting --------------------------------------------------------------------------------------


def live_objects() -> Counter[str]:
    """Instances of gallette's classes, by class."""
    gc.collect()
    return Counter(
        f"{type(o).__module__}.{type(o).__qualname__}"
        for o in gc.get_objects()
        if type(o).__module__.startswith("gallette.")
    )


def grown(driver: str) -> dict[str, Any]:
    """What is there more after three contexts, and the bytes of the one that took the fewest: what
    is kept of contexts is kept of each, while a method of a data class is compiled at its fifth
    call, whenever that comes.
    """
    held: list[Context] = []
    late = 0

    def one() -> None:
        nonlocal late
        gl = Context(driver, profile="compat", version=(4, 6), size=(SIDE, SIDE))
        held.append(gl)
        pipe = ref(gl.pipe)
        everything(gl)
        gc.disable()
        gl.release()
        late += pipe() is not None
        gc.enable()

    for _ in range(5):  # bounded caches fill, and methods of data classes are compiled
        one()
    objects = live_objects()
    tracemalloc.start()
    sizes = []
    for _ in range(3):
        one()
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    more = live_objects() - objects
    return {"objects": more, "bytes": min(np.diff(sizes).tolist()), "late": late}


if __name__ == "__main__":
    print(json.dumps({driver: grown(driver) for driver in sys.argv[1:]}))
