"""Every limit of what is advertised can be asked for, and is at least the specification's."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import pytest

from gallette.compiler.glsl.builtins.limits import CONSTANTS
from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

# Name, the least OpenGL 4.6 allows, the least OpenGL ES 3.2 allows ("-": it has no such limit).
# "<": a limit that may not be larger.
_MINIMA = """
MAX_CLIP_DISTANCES 8 -
MAX_CULL_DISTANCES 8 -
MAX_COMBINED_CLIP_AND_CULL_DISTANCES 8 -
SUBPIXEL_BITS 4 4
MAX_3D_TEXTURE_SIZE 2048 256
MAX_TEXTURE_SIZE 16384 2048
MAX_ARRAY_TEXTURE_LAYERS 2048 256
MAX_TEXTURE_LOD_BIAS 2 2
MAX_CUBE_MAP_TEXTURE_SIZE 16384 2048
MAX_RENDERBUFFER_SIZE 16384 2048
MAX_VIEWPORTS 16 -
VIEWPORT_SUBPIXEL_BITS 0 -
MAX_ELEMENTS_INDICES 1 1
MAX_ELEMENTS_VERTICES 1 1
MAX_ELEMENT_INDEX 4294967295 16777215
MAX_TEXTURE_MAX_ANISOTROPY 16 -
NUM_COMPRESSED_TEXTURE_FORMATS 1 10
NUM_EXTENSIONS 1 1
NUM_PROGRAM_BINARY_FORMATS 0 0
NUM_SHADER_BINARY_FORMATS 1 0
NUM_SHADING_LANGUAGE_VERSIONS 3 -
NUM_SPIR_V_EXTENSIONS 0 -
SHADER_COMPILER 1 1
MAX_VERTEX_ATTRIB_RELATIVE_OFFSET 2047 2047
MAX_VERTEX_ATTRIB_BINDINGS 16 16
MAX_VERTEX_ATTRIB_STRIDE 2048 2048
MAX_VERTEX_ATTRIBS 16 16
MAX_VERTEX_UNIFORM_COMPONENTS 1024 1024
MAX_VERTEX_UNIFORM_VECTORS 256 256
MAX_VERTEX_UNIFORM_BLOCKS 14 12
MAX_VERTEX_OUTPUT_COMPONENTS 64 64
MAX_VERTEX_TEXTURE_IMAGE_UNITS 16 16
MAX_VERTEX_ATOMIC_COUNTER_BUFFERS 0 0
MAX_VERTEX_ATOMIC_COUNTERS 0 0
MAX_VERTEX_SHADER_STORAGE_BLOCKS 0 0
MAX_VERTEX_IMAGE_UNIFORMS 0 0
MAX_TESS_GEN_LEVEL 64 64
MAX_PATCH_VERTICES 32 32
MAX_TESS_CONTROL_UNIFORM_COMPONENTS 1024 1024
MAX_TESS_CONTROL_TEXTURE_IMAGE_UNITS 16 16
MAX_TESS_CONTROL_OUTPUT_COMPONENTS 128 64
MAX_TESS_PATCH_COMPONENTS 120 120
MAX_TESS_CONTROL_TOTAL_OUTPUT_COMPONENTS 4096 2048
MAX_TESS_CONTROL_INPUT_COMPONENTS 128 64
MAX_TESS_CONTROL_UNIFORM_BLOCKS 14 12
MAX_TESS_CONTROL_ATOMIC_COUNTER_BUFFERS 0 0
MAX_TESS_CONTROL_ATOMIC_COUNTERS 0 0
MAX_TESS_CONTROL_SHADER_STORAGE_BLOCKS 0 0
MAX_TESS_CONTROL_IMAGE_UNIFORMS 0 0
MAX_TESS_EVALUATION_UNIFORM_COMPONENTS 1024 1024
MAX_TESS_EVALUATION_TEXTURE_IMAGE_UNITS 16 16
MAX_TESS_EVALUATION_OUTPUT_COMPONENTS 128 64
MAX_TESS_EVALUATION_INPUT_COMPONENTS 128 64
MAX_TESS_EVALUATION_UNIFORM_BLOCKS 14 12
MAX_TESS_EVALUATION_ATOMIC_COUNTER_BUFFERS 0 0
MAX_TESS_EVALUATION_ATOMIC_COUNTERS 0 0
MAX_TESS_EVALUATION_SHADER_STORAGE_BLOCKS 0 0
MAX_TESS_EVALUATION_IMAGE_UNIFORMS 0 0
MAX_GEOMETRY_UNIFORM_COMPONENTS 1024 1024
MAX_GEOMETRY_UNIFORM_BLOCKS 14 12
MAX_GEOMETRY_INPUT_COMPONENTS 64 64
MAX_GEOMETRY_OUTPUT_COMPONENTS 128 64
MAX_GEOMETRY_OUTPUT_VERTICES 256 256
MAX_GEOMETRY_TOTAL_OUTPUT_COMPONENTS 1024 1024
MAX_GEOMETRY_TEXTURE_IMAGE_UNITS 16 16
MAX_GEOMETRY_SHADER_INVOCATIONS 32 32
MAX_VERTEX_STREAMS 4 -
MAX_GEOMETRY_ATOMIC_COUNTER_BUFFERS 0 0
MAX_GEOMETRY_ATOMIC_COUNTERS 0 0
MAX_GEOMETRY_SHADER_STORAGE_BLOCKS 0 0
MAX_GEOMETRY_IMAGE_UNIFORMS 0 0
MAX_FRAGMENT_UNIFORM_COMPONENTS 1024 1024
MAX_FRAGMENT_UNIFORM_VECTORS 256 256
MAX_FRAGMENT_UNIFORM_BLOCKS 14 12
MAX_FRAGMENT_INPUT_COMPONENTS 128 60
MAX_TEXTURE_IMAGE_UNITS 16 16
MAX_PROGRAM_TEXTURE_GATHER_OFFSET 7 7
MAX_FRAGMENT_ATOMIC_COUNTER_BUFFERS 1 1
MAX_FRAGMENT_ATOMIC_COUNTERS 8 8
MAX_FRAGMENT_SHADER_STORAGE_BLOCKS 8 4
MAX_FRAGMENT_IMAGE_UNIFORMS 8 4
MAX_COMPUTE_WORK_GROUP_INVOCATIONS 1024 128
MAX_COMPUTE_UNIFORM_BLOCKS 14 12
MAX_COMPUTE_TEXTURE_IMAGE_UNITS 16 16
MAX_COMPUTE_ATOMIC_COUNTER_BUFFERS 8 1
MAX_COMPUTE_ATOMIC_COUNTERS 8 8
MAX_COMPUTE_SHARED_MEMORY_SIZE 32768 16384
MAX_COMPUTE_UNIFORM_COMPONENTS 1024 1024
MAX_COMPUTE_IMAGE_UNIFORMS 8 4
MAX_COMPUTE_SHADER_STORAGE_BLOCKS 8 4
MAX_PROGRAM_TEXEL_OFFSET 7 7
MAX_UNIFORM_BUFFER_BINDINGS 84 72
MAX_UNIFORM_BLOCK_SIZE 16384 16384
UNIFORM_BUFFER_OFFSET_ALIGNMENT <256 <256
MAX_COMBINED_UNIFORM_BLOCKS 84 60
MAX_VARYING_COMPONENTS 60 60
MAX_VARYING_VECTORS 15 15
MAX_COMBINED_TEXTURE_IMAGE_UNITS 96 96
MAX_SUBROUTINES 256 -
MAX_SUBROUTINE_UNIFORM_LOCATIONS 1024 -
MAX_UNIFORM_LOCATIONS 1024 1024
MAX_ATOMIC_COUNTER_BUFFER_BINDINGS 1 1
MAX_ATOMIC_COUNTER_BUFFER_SIZE 32 32
MAX_COMBINED_ATOMIC_COUNTER_BUFFERS 1 1
MAX_COMBINED_ATOMIC_COUNTERS 8 8
MAX_IMAGE_UNITS 8 4
MAX_COMBINED_IMAGE_UNIFORMS 8 4
MAX_COMBINED_SHADER_OUTPUT_RESOURCES 8 4
MAX_IMAGE_SAMPLES 0 -
MAX_SHADER_STORAGE_BUFFER_BINDINGS 8 4
MAX_SHADER_STORAGE_BLOCK_SIZE 134217728 134217728
MAX_COMBINED_SHADER_STORAGE_BLOCKS 8 4
SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT <256 <256
MAX_DEBUG_MESSAGE_LENGTH 1 1
MAX_DEBUG_LOGGED_MESSAGES 1 1
MAX_DEBUG_GROUP_STACK_DEPTH 64 64
MAX_LABEL_LENGTH 256 256
MAX_FRAMEBUFFER_WIDTH 16384 2048
MAX_FRAMEBUFFER_HEIGHT 16384 2048
MAX_FRAMEBUFFER_LAYERS 2048 256
MAX_FRAMEBUFFER_SAMPLES 4 4
MAX_COLOR_ATTACHMENTS 8 4
MAX_DRAW_BUFFERS 8 4
MAX_DUAL_SOURCE_DRAW_BUFFERS 1 -
MAX_SAMPLES 4 4
MAX_COLOR_TEXTURE_SAMPLES 1 1
MAX_DEPTH_TEXTURE_SAMPLES 1 1
MAX_INTEGER_SAMPLES 1 1
MAX_SAMPLE_MASK_WORDS 1 1
MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS 64 64
MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS 4 4
MAX_TRANSFORM_FEEDBACK_SEPARATE_COMPONENTS 4 4
MAX_TRANSFORM_FEEDBACK_BUFFERS 4 -
MAX_RECTANGLE_TEXTURE_SIZE 16384 -
MAX_TEXTURE_BUFFER_SIZE 65536 65536
TEXTURE_BUFFER_OFFSET_ALIGNMENT <256 <256
MIN_MAP_BUFFER_ALIGNMENT 64 -
FRAGMENT_INTERPOLATION_OFFSET_BITS 4 4
MAX_FRAGMENT_INTERPOLATION_OFFSET 0.4375 0.4375
MAX_SERVER_WAIT_TIMEOUT 0 0
FRAGMENT_SHADER_DISCARDS_SAMPLES_EXT 1 1
MAX_COMBINED_VERTEX_UNIFORM_COMPONENTS 58368 50176
MAX_COMBINED_FRAGMENT_UNIFORM_COMPONENTS 58368 50176
MAX_COMBINED_GEOMETRY_UNIFORM_COMPONENTS 58368 50176
MAX_COMBINED_TESS_CONTROL_UNIFORM_COMPONENTS 58368 50176
MAX_COMBINED_TESS_EVALUATION_UNIFORM_COMPONENTS 58368 50176
MAX_COMBINED_COMPUTE_UNIFORM_COMPONENTS 58368 50176
"""
NEWEST = {"core": (4, 6), "compat": (4, 6), "es": (3, 2)}
_COMPAT = """
MAX_TEXTURE_UNITS 2
MAX_TEXTURE_COORDS 8
MAX_LIGHTS 8
MAX_CLIP_PLANES 6
MAX_MODELVIEW_STACK_DEPTH 32
MAX_PROJECTION_STACK_DEPTH 2
MAX_TEXTURE_STACK_DEPTH 2
MAX_ATTRIB_STACK_DEPTH 16
MAX_CLIENT_ATTRIB_STACK_DEPTH 16
MAX_LIST_NESTING 64
MAX_NAME_STACK_DEPTH 64
MAX_EVAL_ORDER 8
MAX_PIXEL_MAP_TABLE 32
MAX_VARYING_FLOATS 60
"""
_RANGES = {  # must hold this range
    "VIEWPORT_BOUNDS_RANGE": (-32768, 32767),
    "POINT_SIZE_RANGE": (1, 1),
    "SMOOTH_LINE_WIDTH_RANGE": (1, 1),
    "ALIASED_LINE_WIDTH_RANGE": (1, 1),
}
_GROUPS = {
    "MAX_COMPUTE_WORK_GROUP_COUNT": ((65535,) * 3, (65535,) * 3),
    "MAX_COMPUTE_WORK_GROUP_SIZE": ((1024, 1024, 64), (128, 128, 64)),
}


def _rows(text: str, column: int) -> list[tuple[str, str]]:
    rows = [line.split() for line in text.strip().splitlines()]
    return [(row[0], row[column]) for row in rows if row[column] != "-"]


@pytest.mark.parametrize("profile", ["core", "compat", "es"])
def test_limits_are_at_least_the_specifications(profile: str) -> None:
    context = create_context("numpipe", profile=profile, version=NEWEST[profile])
    rows = _rows(_MINIMA, 2 if profile == "es" else 1)
    if profile == "compat":
        rows += _rows(_COMPAT, 1)
    wrong = []
    for name, text in rows:
        value = context.get_floatv(getattr(GL, name))[0]
        error = context.get_error()
        most = text.startswith("<")
        bound = float(text.lstrip("<"))
        if error or (value > bound if most else value < bound):
            wrong.append((name, value, text, error))
    if profile != "es":
        for name, (low, high) in _RANGES.items():
            found = context.get_floatv(getattr(GL, name))
            if context.get_error() or found[0] > low or found[1] < high:
                wrong.append((name, found, f"{low}..{high}", 0))
    for name, wanted in _GROUPS.items():
        seen = [context.get_integeri_v(getattr(GL, name), i)[0] for i in range(3)]
        if any(a < b for a, b in zip(seen, wanted[profile == "es"], strict=True)):
            wrong.append((name, seen, str(wanted), 0))
    negative = {"MIN_PROGRAM_TEXEL_OFFSET": -8, "MIN_PROGRAM_TEXTURE_GATHER_OFFSET": -8}
    for name, most_allowed in negative.items():
        if context.get_integerv(getattr(GL, name))[0] > most_allowed:
            wrong.append((name, most_allowed, "", 0))
    assert wrong == []
    edge = context.get_integerv(GL.MAX_TEXTURE_SIZE)[0]
    assert min(context.get_integerv(GL.MAX_VIEWPORT_DIMS)[:2]) >= edge
    assert context.get_error() == GL.NO_ERROR


# Constants of GLSL whose limit has another name, or none of its own that can be asked for.
_OTHER_NAMES = {
    "gl_MaxCombinedImageUnitsAndFragmentOutputs": "MAX_COMBINED_SHADER_OUTPUT_RESOURCES",
    "gl_MaxAtomicCounterBindings": "MAX_ATOMIC_COUNTER_BUFFER_BINDINGS",
    "gl_MaxDualSourceDrawBuffersEXT": "MAX_DUAL_SOURCE_DRAW_BUFFERS",
    "gl_MaxGeometryVaryingComponents": "MAX_GEOMETRY_OUTPUT_COMPONENTS",
}
_HEADS = {
    "core": "#version 460",
    "compat": "#version 460 compatibility",
    "es": "#version 320 es\n#extension GL_EXT_clip_cull_distance : enable\n"
    "#extension GL_EXT_blend_func_extended : enable",
    "native": "#version 450",
}


@pytest.mark.parametrize(
    "profile", [*list(NEWEST), pytest.param("native", marks=pytest.mark.native)]
)
def test_constants_of_glsl_are_the_queried_limits(profile: str) -> None:
    if profile == "native":
        gl: GLInterface = native_context(profile="core", version=(4, 5), size=(4, 4))
    else:
        gl = create_context("numpipe", profile=profile, version=NEWEST[profile])
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.SHADER_STORAGE_BUFFER, 12, bytes(12), GL.STATIC_DRAW)
    found, wanted = {}, {}
    for name in CONSTANTS:
        shader = gl.create_shader(GL.COMPUTE_SHADER)
        gl.shader_source(
            shader,
            f"""{_HEADS[profile]}
            layout(local_size_x = 1) in; layout(std430, binding = 0) buffer Told {{ int told[3]; }};
            void main() {{ for (int i = 0; i < 3; i++) told[i] = ivec3({name})[i]; }}""",
        )
        gl.compile_shader(shader)
        if not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
            continue
        program = gl.create_program()
        gl.attach_shader(program, shader)
        gl.link_program(program)
        gl.use_program(program)
        gl.dispatch_compute(1, 1, 1)
        place = gl.map_buffer_range(GL.SHADER_STORAGE_BUFFER, 0, 12, GL.MAP_READ_BIT)
        found[name] = list((ctypes.c_int32 * 3).from_address(place))
        gl.unmap_buffer(GL.SHADER_STORAGE_BUFFER)
        plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removeprefix("gl_")).upper()
        pname = getattr(GL, _OTHER_NAMES.get(name, plain))
        if name.startswith("gl_MaxComputeWorkGroup"):
            wanted[name] = [gl.get_integeri_v(pname, i)[0] for i in range(3)]
        else:
            wanted[name] = [gl.get_integerv(pname)[0]] * 3
    assert found == wanted
    assert len(found) >= 50
    assert gl.get_error() == GL.NO_ERROR
    gl.release()


@pytest.mark.parametrize(
    ("profile", "version", "language"),
    [
        ("core", "4.6 (Core", "4.60"),
        ("compat", "4.6 (Compat", "4.60"),
        ("es", "OpenGL ES 3.2", "OpenGL ES GLSL ES 3.20"),
    ],
)
def test_the_newest_versions_are_advertised(profile: str, version: str, language: str) -> None:
    context = create_context("numpipe", profile=profile, version=NEWEST[profile])
    assert context.get_string(GL.VERSION).startswith(version)
    assert context.get_string(GL.SHADING_LANGUAGE_VERSION) == language


_BLOCKS = {"uniform": "UNIFORM_BLOCKS", "buffer": "SHADER_STORAGE_BLOCKS"}


@pytest.mark.parametrize("storage", _BLOCKS)
@pytest.mark.parametrize("stage", ["VERTEX", "FRAGMENT", "COMPUTE"])
@pytest.mark.parametrize(
    "make", [create_context, pytest.param(native_context, marks=pytest.mark.native)]
)
def test_as_many_blocks_as_are_told_are_linked_and_no_more(
    make: Any, stage: str, storage: str
) -> None:
    gl = make(profile="core", version=(4, 5), size=(8, 8))
    limit = int(gl.get_integerv(getattr(GL, f"MAX_{stage}_{_BLOCKS[storage]}"))[0])
    found = []
    for count in (limit, limit + 1):
        blocks = "".join(f"{storage} B{i} {{ float v{i}; }};\n" for i in range(count))
        values = " + ".join(f"v{i}" for i in range(count))
        result = "buffer O { float result; };" if storage == "uniform" else ""
        body = {"VERTEX": f"gl_Position = vec4({values});", "FRAGMENT": f"c = vec4({values});"}
        head = {"FRAGMENT": "out vec4 c;", "COMPUTE": f"layout(local_size_x = 1) in; {result}"}
        body["COMPUTE"] = f"{'result' if result else 'v0'} = {values};"
        shader = gl.create_shader(getattr(GL, f"{stage}_SHADER"))
        text = f"#version 450\n{head.get(stage, '')}\n{blocks}void main() {{ {body[stage]} }}"
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        program = gl.create_program()
        gl.attach_shader(program, shader)
        gl.link_program(program)
        found.append(bool(gl.get_programiv(program, GL.LINK_STATUS)[0]))
    assert found == [True, False]
    gl.release()
