"""Commands of shader_tests: what each says of a right and of a wrong expectation.

A row is a program (or its name), commands and the verdict: "pass", or a part of the reason. The
native GL decides alike, so that a row says what OpenGL does and not only what the stack does.
"""

from __future__ import annotations

import textwrap

import pytest

from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_text

pytestmark = pytest.mark.native

PLAIN = """
[require]
GLSL >= 3.30
SIZE 16 16
[vertex shader passthrough]
[fragment shader]
#version 330
uniform vec4 c;
out vec4 color;
void main() { color = c; }
[test]
"""
SAMPLES = """
[require]
GLSL >= 4.30
SIZE 16 16
[vertex shader passthrough]
[fragment shader]
#version 430
uniform KIND image;
out vec4 color;
void main() { color = vec4(LOOK); }
[test]
"""
BLOCKS = """
[require]
GLSL >= 4.30
SIZE 16 16
[vertex shader passthrough]
[fragment shader]
#version 430
layout(std140, binding = 1) uniform First { vec4 a; float b[2]; };
layout(std140, binding = 4) uniform Second { layout(row_major) mat2 m; vec4 z; } blocks[2];
layout(std430, binding = 2) buffer Third { uint numbers[4]; };
layout(location = 3) uniform float scale;
out vec4 color;
void main() {
    vec4 sum = blocks[0].z + vec4(blocks[1].m[0], blocks[1].m[1]);
    color = scale * (a + vec4(b[0], b[1], 0.0, 0.0)) + sum + float(numbers[1]) * vec4(0, 0, 1, 0);
}
[test]
ssbo 2 16
"""
INTERFACES = """
[require]
GLSL >= 4.30
SIZE 16 16
[vertex shader passthrough]
[fragment shader]
#version 430
layout(std140, binding = 3) uniform B { vec4 a; vec4 b; };
layout(std430, binding = 1) buffer D { uint n; int m; };
layout(binding = 2, offset = 4) uniform atomic_uint counter;
layout(location = 5) uniform float it;
layout(location = 0) out vec4 color;
void main() { color = a + b * it + float(m + n) * float(atomicCounter(counter)); }
[test]
"""
FEEDBACK = """
[require]
GLSL >= 4.40
SIZE 16 16
[vertex shader]
#version 440
layout(xfb_buffer = 0, xfb_offset = 0) out float doubled;
in vec4 vertex;
void main() { gl_Position = vertex; doubled = vertex.x * 2.0; }
[fragment shader]
#version 440
out vec4 color;
void main() { color = vec4(0, 1, 0, 1); }
[vertex data]
vertex/float/2
-0.5 -0.5
0.5 -0.5
0.25 0.5
1.0 1.0
[test]
xfb buffer object 0 64
"""
SEPARATE = """
[require]
GL >= 4.1
SSO ENABLED
SIZE 16 16
[vertex shader]
#version 410
uniform float left;
in vec4 piglit_vertex;
out gl_PerVertex { vec4 gl_Position; };
void main() { gl_Position = piglit_vertex + vec4(left, 0, 0, 0); }
[fragment shader]
#version 410
uniform float green;
layout(location = 0) out vec4 color;
void main() { color = vec4(0, green, 0, 1); }
[test]
clear
"""
SUBROUTINES = """
[require]
GLSL >= 4.00
SIZE 16 16
[vertex shader passthrough]
[fragment shader]
#version 400
subroutine vec4 Pick();
subroutine(Pick) vec4 red() { return vec4(1, 0, 0, 1); }
subroutine(Pick) vec4 blue() { return vec4(0, 0, 1, 1); }
subroutine uniform Pick one;
subroutine uniform Pick two;
out vec4 color;
void main() { color = gl_FragCoord.x < 8.0 ? one() : two(); }
[test]
"""
PLACED = SUBROUTINES.replace("4.00", "4.30").replace("#version 400", "#version 430")
PLACED = PLACED.replace(
    "subroutine uniform Pick one", "layout(location = 2) subroutine uniform Pick one[2]"
)
PLACED = PLACED.replace("one()", "one[1]()")
PLACED = PLACED.replace(
    "subroutine uniform Pick two", "layout(location = 6) subroutine uniform Pick two"
)
COMPUTE = """
[require]
GL >= 4.3
GLSL >= 4.30
GL_ARB_compute_variable_group_size
[compute shader]
#version 430
#extension GL_ARB_compute_variable_group_size : enable
layout(local_size_variable) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
void main() { atomicAdd(data[gl_WorkGroupID.x], gl_LocalGroupSizeARB.y); }
[test]
ssbo 0 16
"""
ASSEMBLY = """
[require]
GL COMPAT >= 2.1
GL_ARB_vertex_program
GL_ARB_fragment_program
SIZE 16 16
[vertex program]
!!ARBvp1.0
ADD result.position, vertex.position, program.env[1];
END
[fragment program]
!!ARBfp1.0
ADD result.color, program.local[2], program.env[3];
END
[test]
clear
"""
LEGACY = """
[require]
GL COMPAT >= 2.1
GLSL >= 1.20
SIZE 16 16
[vertex shader]
#version 120
void main() { gl_Position = gl_Vertex; }
[fragment shader]
#version 120
void main() { gl_FragColor = vec4(0, 1, 0, 1); }
[test]
clear
"""
GEOMETRY = PLAIN.replace("[test]", "[geometry layout]\nLAYOUT\n[test]")
ARRAYED = PLAIN.replace("vec4 c;", "vec4 c[2];").replace("color = c", "color = c[0] + c[1]")
ELEMENTS = FEEDBACK.replace("[test]", "[elements]\n0 1 2\n1, 3\n[test]").replace(
    "xfb buffer object 0 64", ""
)
LIT = LEGACY.replace(
    "void main() { gl_Position", "varying vec4 c;\nvoid main() { c = LOOK; gl_Position"
).replace(
    "void main() { gl_FragColor = vec4(0, 1, 0, 1)",
    "varying vec4 c;\nvoid main() { gl_FragColor = c",
)
BROKEN = PLAIN.replace("color = c", "colour = c")
UNLINKED = PLAIN.replace("uniform vec4 c;", "uniform vec4 c; vec4 there();").replace(
    "color = c", "color = there()"
)
GREEN = "draw rect -1 -1 2 2\nprobe all rgba 0 1 0 1\n"


def lit(look: str) -> str:
    return LIT.replace("LOOK", look)


def sampled(kind: str, look: str) -> str:
    return SAMPLES.replace("KIND", kind).replace("LOOK", look)


ARRAY1D = sampled("sampler1DArray", "texture(image, vec2(0.5, LAYER.0))")
INTEGERS = sampled("isampler2D", "texelFetch(image, ivec2(gl_FragCoord.xy), 0)")
UNSIGNED = sampled("usampler2D", "texelFetch(image, ivec2(gl_FragCoord.xy), 0)")
CUBE = sampled("samplerCubeShadow", "texture(image, vec4(1.0, 0.0, DEPTH, REF))")
FLAT = sampled("sampler2D", "texture(image, vec2(0.25))")

ROWS: list[tuple[str, str, str]] = [
    # uniforms
    (PLAIN, "uniform vec4 c", "expected at least one number"),
    (PLAIN, "uniform vec4 c 0 1\ndraw rect -1 -1 2 2\nprobe all rgba 0 1 0 0\n", "pass"),
    (PLAIN, "uniform vec4 c 0 1 0 1 1 1 1 1 1\n" + GREEN, "pass"),
    (ARRAYED, "uniform vec4 c 0 1 0 0 0 0 0 1\n" + GREEN, "pass"),
    (ARRAYED, "uniform vec4 c[1] 0 1 0 1\n" + GREEN, "pass"),
    (ARRAYED, "uniform vec4 c 0 1 0 1 0\n" + GREEN, "pass"),
    (PLAIN.replace("SIZE", "ignore_missing_uniforms\nSIZE"), "uniform vec4 d 1 1 1 1", "pass"),
    (
        BLOCKS,
        "uniform float 3 1\nuniform vec4 a 0 1 0 1\nuniform vec4 a 0\n" + GREEN,
        "pass",
    ),
    (PLAIN, "uniform vec5 c 1", "unknown uniform type 'vec5'"),
    (PLAIN, "uniform vec4 c 0 one 0 1", "expected a number, not 'one'"),
    (PLAIN, "uniform float b[1] 3", "'b[1]' is no active uniform of the program"),
    (BLOCKS, "uniform float 3 1\nuniform vec4 First.a 0 1 0 1\n" + GREEN, "is no active uniform"),
    (BLOCKS, "uniform float 3 0.5\nuniform vec4 a 0 2 0 2\n" + GREEN, "pass"),
    (
        BLOCKS,
        "uniform float 3 1\nuniform vec4 a 0 0.5 0 1\nuniform float b[1] 0.5\n" + GREEN,
        "pass",
    ),
    (
        BLOCKS,
        "uniform float 3 1\nblock binding 1\nblock offset 0\nuniform vec4 it 0 0.5 0 1\n"
        "block array stride 16\nblock offset 16\nuniform float it 0 0.5\n" + GREEN,
        "pass",
    ),
    (BLOCKS, "block binding 4\nblock offset 32\nuniform vec4 it 0 1 0 1\n" + GREEN, "pass"),
    (
        BLOCKS,
        "block binding 5\nblock row major 1\nblock matrix stride 16\n"
        "uniform mat2 it 0 1 0 1\n" + GREEN,
        "pass",
    ),
    (
        BLOCKS,
        "block binding 5\nblock row major 0\nuniform mat2 it 0 0 1 1\n" + GREEN,
        "pass",
    ),
    (
        BLOCKS,
        "block binding 4\nblock array index 1\nblock offset 32\nuniform vec4 it 0 1 0 1\n" + GREEN,
        "observed 0 0 0",
    ),
    (
        BLOCKS,
        "block binding 4\nblock array index 1\nblock offset 0\nblock row major 1\n"
        "block matrix stride 16\nuniform mat2 it 0 1 0 1\n" + GREEN,
        "pass",
    ),
    (BLOCKS, "block binding 6\nuniform vec4 it 0 1 0 1", "no uniform block is bound at 6"),
    (BLOCKS, "block array index 1\nuniform mat2 Second.m 0 1 0 1\n" + GREEN, "pass"),
    (BLOCKS, "ubo array index 1\nuniform mat2 Second.m 0 1 0 1\n" + GREEN, "pass"),
    (BLOCKS, "ubo array index 0\nuniform vec4 Second.z 0 1 0 1\n" + GREEN, "pass"),
    (BLOCKS, "ubo array index one", "expected an index, not 'one'"),
    # subroutines: all of a stage are set at once
    (
        SUBROUTINES,
        "subuniform GL_FRAGMENT_SHADER one red\nsubuniform GL_FRAGMENT_SHADER two blue\n"
        "draw rect -1 -1 2 2\nprobe rgba 7 8 1 0 0 1\nprobe rgba 8 8 0 0 1 1\n",
        "pass",
    ),
    (
        SUBROUTINES,
        "subuniform GL_FRAGMENT_SHADER two red\nsubuniform GL_FRAGMENT_SHADER one blue\n"
        "draw rect -1 -1 2 2\nprobe rgba 7 8 0 0 1 1\nprobe rgba 8 8 1 0 0 1\n",
        "pass",
    ),
    (
        PLACED,
        "subuniform GL_FRAGMENT_SHADER one[1] red\nsubuniform GL_FRAGMENT_SHADER two blue\n"
        "draw rect -1 -1 2 2\nprobe rgba 7 8 1 0 0 1\nprobe rgba 8 8 0 0 1 1\n"
        "subuniform GL_FRAGMENT_SHADER two red\n"
        "draw rect -1 -1 2 2\nprobe rgba 7 8 1 0 0 1\nprobe rgba 8 8 1 0 0 1\n",
        "pass",
    ),
    (SUBROUTINES, "subuniform GL_FRAGMENT_SHADER three red", "no such subroutine uniform or"),
    (SUBROUTINES, "subuniform GL_FRAGMENT_SHADER one green", "no such subroutine uniform or"),
    # compiling and linking
    (BROKEN, "compile error GL_FRAGMENT_SHADER", "pass"),
    (BROKEN, "compile error GL_VERTEX_SHADER", "the fragment shader does not compile"),
    (PLAIN, "compile error GL_FRAGMENT_SHADER", "the shader compiled"),
    (UNLINKED, "link error", "pass"),
    (UNLINKED, "link success", "linking failed:"),
    (UNLINKED, "clear", "linking failed:"),
    (UNLINKED, "link error\ndraw rect -1 -1 2 2", "the program did not link:"),
    (PLAIN, "link error", "linking succeeded"),
    (PLAIN, "link success", "pass"),
    (PLAIN, "program binary save restore\nuniform vec4 c 0 1 0 1\n" + GREEN, "pass"),
    (PLAIN, "program binary", "'program binary' wants 'save', 'restore' or both"),
    (PLAIN, "program binary safe", "'program binary' wants 'save', 'restore' or both"),
    (PLAIN, "program binary restore", "no program was saved"),
    # what can be asked of a program
    (BLOCKS, "verify program_query GL_ACTIVE_UNIFORM_BLOCKS 3", "pass"),
    (BLOCKS, "verify program_query GL_ACTIVE_UNIFORM_BLOCKS 2", "observed 3"),
    (BLOCKS, "verify program_interface_query GL_UNIFORM a GL_OFFSET 0", "pass"),
    (BLOCKS, "verify program_interface_query GL_UNIFORM b[0] GL_OFFSET 4", "observed 16"),
    (BLOCKS, "verify program_interface_query GL_UNIFORM c GL_OFFSET 4", "no resource 'c'"),
    (BLOCKS, "verify program_interface_query GL_UNIFORM a GL_TYPE GL_FLOAT_VEC4", "pass"),
    (BLOCKS, "active uniform a UNIFORM_SIZE 1", "pass"),
    (BLOCKS, "active uniform b[0] UNIFORM_SIZE 3", "observed 2"),
    (BLOCKS, "active uniform c UNIFORM_SIZE 1", "'c' is no active uniform"),
    (PLAIN, "enable GL_TRIANGLES\nverify error GL_INVALID_ENUM", "pass"),
    (PLAIN, "enable GL_TRIANGLES\nverify error GL_INVALID_VALUE", "observed GL_INVALID_ENUM"),
    (PLAIN, "verify error GL_INVALID_VALUE", "observed GL_NO_ERROR"),
    # feedback
    (
        FEEDBACK,
        "xfb draw arrays GL_POINTS 0 3\nprobe xfb buffer float 0 0 -1\n"
        "probe xfb buffer float 0 1 1\nprobe xfb buffer float 0 2 0.509\n"
        "probe xfb buffer float 0 3 0\n"
        "verify query_object GL_PRIMITIVES_GENERATED 3\n"
        "verify query_object GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN 3\n",
        "pass",
    ),
    (FEEDBACK, "xfb draw arrays GL_LINES 0 4\nverify query_object PRIMITIVES_GENERATED 2", "pass"),
    (
        FEEDBACK,
        "xfb draw arrays GL_LINE_STRIP 0 4\nverify query_object PRIMITIVES_GENERATED 3",
        "pass",
    ),
    (
        FEEDBACK,
        "xfb draw arrays GL_LINE_LOOP 0 4\nverify query_object PRIMITIVES_GENERATED 4",
        "pass",
    ),
    (
        FEEDBACK,
        "xfb draw arrays GL_TRIANGLES 1 3\nverify query_object PRIMITIVES_GENERATED 1\n"
        "probe xfb buffer float 0 0 1\n",
        "pass",
    ),
    (
        FEEDBACK,
        "xfb draw arrays GL_POINTS 0 3\nverify query_object PRIMITIVES_GENERATED 2",
        "observed 3",
    ),
    (FEEDBACK, "xfb draw arrays GL_POINTS 0 3\nprobe xfb buffer float 0 2 0.52", "observed 0.5"),
    (FEEDBACK, "verify query_object PRIMITIVES_GENERATED 2", "no query of PRIMITIVES_GENERATED"),
    (
        FEEDBACK,
        "tolerance 0.1\nxfb draw arrays GL_POINTS 0 3\nprobe xfb buffer float 0 2 0.58",
        "pass",
    ),
    (FEEDBACK, "probe xfb buffer float 1 0 0", "no buffer was made at index 1"),
    (FEEDBACK, "probe xfb buffer vec2 0 0 0", "expected a scalar type, not 'vec2'"),
    (FEEDBACK, "xfb buffer object 0 0", "a size must be from 1 to 16777216, not 0"),
    (FEEDBACK, "draw arrays GL_POINTS -1 2", "the first vertex must be at least 0 and the count"),
    (FEEDBACK, "draw arrays GL_POINTS 1 0", "the first vertex must be at least 0 and the count"),
    (FEEDBACK, "draw elements GL_TRIANGLES 0 1 4", "index 4, [vertex data] has 4 rows"),
    (FEEDBACK, "draw elements GL_TRIANGLES", "no indices to draw"),
    (FEEDBACK, "clear\ndraw elements GL_TRIANGLES 0 1 2\nprobe rgba 8 8 0 1 0 1", "pass"),
    (PLAIN, "draw elements GL_TRIANGLES 0 1 2", "this command needs a [vertex data] section"),
    (
        PLAIN.replace("color = c", "color = c / 2.0"),
        "enable GL_BLEND\nblend func GL_ONE GL_ONE\nclear\nuniform vec4 c 0 1 0 1\n"
        "draw instanced rect 2 -1 -1 2 2\nprobe all rgba 0 1 0 1\n",
        "pass",
    ),
    # storage buffers
    (BLOCKS, "uniform float 3 0\nssbo 2 subdata uint 4 3 7\nprobe ssbo uint 2 4 == 3", "pass"),
    (BLOCKS, "ssbo 2 subdata uint 4 3 7\nprobe ssbo uint 2 8 == 7", "pass"),
    (BLOCKS, "ssbo 2 subdata uint 4 3 7\nprobe ssbo uint 2 8 > 7", "observed 7"),
    (BLOCKS, "ssbo 2 subdata float 0 1.1\nprobe ssbo float 2 0 == 1.1", "pass"),
    (BLOCKS, "ssbo 2 subdata float 0 1.1\nprobe ssbo float 2 0 == 1.101", "observed 1.1"),
    (BLOCKS, "ssbo 2 subdata double 0 1.1\nprobe ssbo double 2 0 == 1.1", "pass"),
    (BLOCKS, "ssbo 2 subdata double 0 1.1\nprobe ssbo double 2 0 == 1.1000001", "observed 1.1"),
    (BLOCKS, "ssbo 2 subdata int64 8 -5\nprobe ssbo int64 2 8 == -5", "pass"),
    (BLOCKS, "ssbo 2 subdata int64_t 8 -5\nprobe ssbo int64_t 2 8 < -5", "observed -5"),
    (BLOCKS, "ssbo 2 subdata uint64 0 4294967296\nprobe ssbo uint 2 4 == 1", "pass"),
    (BLOCKS, "ssbo 2 subdata uint 4 1\nprobe ssbo uint64 2 0 == 4294967297", "observed 4294967296"),
    (BLOCKS, "ssbo 3 subdata uint 4 3", "no buffer was made at index 3"),
    (BLOCKS, "ssbo 2 subdata texel 4 3", "unknown type 'texel'"),
    (BLOCKS, "ssbo 2 subdata int 0 -1\nprobe ssbo uint 2 0 == 0xffffffff", "pass"),
    (PLAIN, "atomic counters 2\nprobe atomic counter 1 == 1", "observed 0"),
    # compute
    (
        COMPUTE,
        "compute group size 2 1 1 4 3 2\nprobe ssbo uint 0 0 == 72\nprobe ssbo uint 0 4 == 72\n"
        "probe ssbo uint 0 8 == 0\n",
        "pass",
    ),
    (COMPUTE, "compute group size 2 1 1 4 3", "expected a size"),
    # textures
    (ARRAY1D.replace("LAYER", "1"), "texture rgbw 1DArray 0 (4, 3)\n" + GREEN, "pass"),
    (
        ARRAY1D.replace("LAYER", "2"),
        "texture rgbw 1DArray 0 (4, 3)\ndraw rect -1 -1 2 2\nprobe all rgba 0 0 1 1\n",
        "pass",
    ),
    (
        INTEGERS,
        "texture rgbw 0 (16, 16) GL_RGBA8I\ndraw rect -1 -1 2 2\nprobe rgba 0 0 1 0 0 1\n"
        "probe rgba 8 7 0 1 0 1\nprobe rgba 7 8 0 0 1 1\nprobe rgba 8 8 1 1 1 1\n",
        "pass",
    ),
    (
        UNSIGNED,
        "texture rgbw 0 (16, 16) GL_RGBA16UI\ndraw rect -1 -1 2 2\nprobe rgba 8 7 0 1 0 1\n",
        "pass",
    ),
    (
        sampled("sampler2DArray", "texelFetch(image, ivec3(1, 0, 0), 0)"),
        "texture junk 2DArray 0 (2, 2, 1)\ndraw rect -1 -1 2 2\n"
        "probe all rgba 0.74117647 0.67058824 0.60392157 0.53333333\n",
        "pass",
    ),
    (
        CUBE.replace("DEPTH", "0.9").replace("REF", "0.5"),
        "texture shadowCube 0 (4, 4)\ndraw rect -1 -1 2 2\nprobe all rgba 1 1 1 1\n",
        "pass",
    ),
    (
        CUBE.replace("DEPTH", "-0.9").replace("REF", "0.5"),
        "texture shadowCube 0 (4, 4)\ndraw rect -1 -1 2 2\nprobe all rgba 0 0 0 0\n",
        "pass",
    ),
    (FLAT, "texture storage 0 4D GL_RGBA8 (1 2 2)", "unknown texture target '4D' (one of 1D, 2D"),
    (FLAT, "texture storage 0 3D GL_RGBA8 (1 2 2 2 2)", "a storage has 1 to 3 sizes"),
    (FLAT, "texture storage 0 2D GL_RGBA8 (1 0 2)", "a size must be from 1 to 16384, not 0"),
    (FLAT, "texture storage 0 3D GL_RGBA8 (1 8192 8192 2)", "this is too large to allocate"),
    (FLAT, "texparameter 2D wraps repeat", "unknown texture parameter 'wraps'"),
    (FLAT, "texparameter 2D wrap_s twice", "unknown value 'twice'"),
    (FLAT, "image texture 3 GL_RGBA8", "no texture was made on unit 3"),
    (
        FLAT,
        "texture rgbw 0 (2, 2)\ntexparameter 2D swizzle_g red\ntexparameter 2D swizzle_r zero\n"
        + GREEN,
        "pass",
    ),
    # framebuffers
    (PLAIN, "fb tex 2d", "expected at least one texture unit"),
    (PLAIN, "fb tex 2d 2", "no texture was made on unit 2"),
    (PLAIN, "fb tex slice 2D 2 0 0", "no texture was made on unit 2"),
    (PLAIN, "fb tex layered 2", "no texture was made on unit 2"),
    (PLAIN, "texture storage 0 2D GL_RGBA8 (1 4 4)\nfb tex slice 2D 0 5 0", "is not complete"),
    (PLAIN, "texture storage 0 2D GL_RGB9_E5 (1 4 4)\nfb tex 2d 0", "GL_FRAMEBUFFER_UNSUPPORTED"),
    *(
        (
            PLAIN,
            f"texture storage 0 {target} GL_RGBA8 ({size})\nfb tex slice {target} 0 {level} "
            f"{layer}\nuniform vec4 c 0 1 0 1\n{GREEN}fb winsys\nclear\nprobe all rgba 0 0 0 0\n"
            f"fb read tex slice {target} 0 {level} {layer}\nprobe rgba {corner} 0 1 0 1\n",
            "pass",
        )
        for target, size, level, layer, corner in (
            ("1D", "2 8", 1, 0, "3 0"),
            ("2D", "2 8 4", 1, 0, "3 1"),
            ("Rect", "1 8 4", 0, 0, "7 3"),
            ("Cube", "2 8 8", 1, 5, "3 3"),
            ("3D", "2 8 4 4", 1, 1, "3 1"),
            ("1DArray", "2 8 3", 1, 2, "3 0"),
            ("2DArray", "2 8 4 3", 0, 2, "7 3"),
        )
    ),
    (
        PLAIN,
        "texture rgbw 2DArray 0 (4, 4, 2)\nfb tex layered 0\nclear color 0 1 0 1\nclear\n"
        "fb tex slice 2DArray 0 0 1\nprobe rgba 3 3 0 1 0 1\n",
        "pass",
    ),
    (
        PLAIN,
        "fb ms GL_RGBA8 16 16 4\nclear color 0 1 0 1\nclear\nfb draw winsys\n"
        "blit color nearest\nfb winsys\nprobe all rgba 0 1 0 1\n",
        "pass",
    ),
    (
        PLAIN,
        "texture checkerboard 0 0 (16, 16) (1 0 0 1) (0 1 0 1)\nfb read tex 2d 0\n"
        "blit color linear\nfb winsys\nprobe rgba 7 7 1 0 0 1\nprobe rgba 8 7 0 1 0 1\n",
        "pass",
    ),
    (
        FLAT.replace("vec2(0.25)", "vec2(-0.25)"),
        "texture checkerboard 0 0 (4, 4) (0 0 1 1) (0 0 1 1)\nuniform int image 0\n"
        "draw rect -1 -1 2 2\nprobe all rgba 1 0 0 1\n"
        "texparameter 2D border_color 0 1 0 1\n" + GREEN,
        "pass",
    ),
    (
        PLAIN,
        "texture quads 0 0 (8, 8) (2, 4) (1 0 0 1) (0 1 0 1) (0 0 1 1) (1 1 1 1)\nfb tex 2d 0\n"
        "probe rgba 1 3 1 0 0 1\nprobe rgba 2 3 0 1 0 1\nprobe rgba 5 4 0 0 1 1\n"
        "probe rgba 7 7 1 1 1 1\n",
        "pass",
    ),
    (
        PLAIN,
        "texture rgbw 0 (8, 8)\nfb tex 2d -1 0\nclear color 0 1 0 1\nclear\n"
        "fb tex 2d 0\nprobe all rgb 0 1 0",
        "pass",
    ),
    # drawing elsewhere leaves the viewport as it is; sizes to draw to and to read from may differ
    (
        PLAIN,
        "texture rgbw 0 (8, 8)\nfb tex 2d 0\nuniform vec4 c 0 0 0 1\ndraw rect -1 -1 1 1\n"
        "probe all rgba 0 0 0 1\n",
        "pass",
    ),
    (
        PLAIN,
        "texture rgbw 0 (8, 8)\nfb read tex 2d 0\nblit color nearest\nfb winsys\n"
        "probe rect rgba (0, 0, 8, 8) (1, 0, 0, 1)\nprobe rgba 15 15 1 1 1 1\n",
        "pass",
    ),
    (
        PLAIN,
        "clear stencil 3\nclear\nfb ms GL_STENCIL_INDEX8 16 16 4\nblit stencil nearest",
        "is not complete",
    ),
    (
        PLAIN,
        "enable GL_STENCIL_TEST\nstencil func GL_EQUAL 3 255\nclear stencil 3\nclear\n"
        "blit stencil nearest\nuniform vec4 c 0 1 0 1\n" + GREEN,
        "pass",
    ),
    (PLAIN, "blit color sharp", "expected a filter (nearest, linear), not 'sharp'"),
    (PLAIN, "fb ms GL_RGBA8 16 16 4\nblit depth nearest", "pass"),
    # separate programs
    (
        SEPARATE,
        "active shader program GL_FRAGMENT_SHADER\nuniform float green 1\n"
        "active shader program GL_VERTEX_SHADER\nuniform float left -1\ndraw rect -1 -1 2 2\n"
        "probe rgba 7 8 0 1 0 1\nprobe rgba 8 8 0 0 0 0\n",
        "pass",
    ),
    (SEPARATE, "uniform float left 1\nuniform float green 1", "'green' is no active uniform"),
    (
        SEPARATE.replace("SSO ENABLED", "SEPARABLE PROGRAM ENABLED"),
        "uniform float green 1\n" + GREEN,
        "pass",
    ),
    (SEPARATE.replace("SSO", "SSE"), "clear", "unknown requirement 'SSE'"),
    (
        SEPARATE.replace("SSO ENABLED", "SEPARABLE SHADER ENABLED"),
        "clear",
        "expected PROGRAM (PROGRAM)",
    ),
    # programs in assembly language, display lists
    (
        ASSEMBLY,
        "parameter env_vp 1 (-1, 0, 0, 0)\nparameter local_fp 2 (0, 0.25, 0, 1)\n"
        "parameter env_fp 3 (0, 0.75, 0, 0)\ndraw rect -1 -1 2 2\nprobe rgba 7 8 0 1 0 1\n"
        "probe rgba 8 8 0 0 0 0\n",
        "pass",
    ),
    (ASSEMBLY.replace("ADD result.position", "ADDS result.position"), "clear", "program error: "),
    (
        LEGACY,
        "newlist GL_COMPILE\ndraw rect -1 -1 2 2\nendlist\nprobe all rgba 0 0 0 0\ncalllist\n"
        "probe all rgba 0 1 0 1\ndeletelist\nclear color 0 0 0 0\nclear\n"
        "calllist\nprobe all rgba 0 0 0 0\n",
        "pass",
    ),
    (GEOMETRY.replace("LAYOUT", "vertices in 3"), "clear", "unknown geometry layout 'vertices in'"),
    (GEOMETRY.replace("LAYOUT", "vertices out x"), "clear", "unknown GL enum 'x'"),
    (
        GEOMETRY.replace("LAYOUT", "input type GL_TRIANGLES\noutput type POINTS\nvertices out 3"),
        "uniform vec4 c 0 1 0 1\n" + GREEN,
        "pass",
    ),
    # probes and numbers
    (
        PLAIN,
        "clear\nprobe rect rgba (0, 0, 0, 4) (0, 0, 0, 0)",
        "an empty rectangle to probe: 0 x 4",
    ),
    (PLAIN, "clear\nprobe warn all rgba 0 0 0 1", "warn"),
    (PLAIN, "clear\nprobe warn all rgba 0 0 0 0", "pass"),
    # handles
    (PLAIN, "resident texture x", "expected a texture unit"),
    (PLAIN, "resident texture 3", "there is no texture 3"),
    (PLAIN, "uniform handle c 1", "texture 1 was not made resident"),
]
SEPARATE_BLOCK = (
    SEPARATE.replace("uniform float green;", "BLOCK { float green; };")
    .replace("BLOCK", "layout(std140, binding = 2) uniform Colors")
    .replace("4.1", "4.2")
    .replace("410", "420")
)
INCLUDING = """
[require]
GLSL >= 3.30
GL_ARB_shading_language_include
SIZE 16 16
[shader include]
/lib/green.glsl
vec4 green() { return vec4(0, 1, 0, 1); }
[shader include paths]
/lib/
[vertex shader passthrough]
[fragment shader]
#version 330
#extension GL_ARB_shading_language_include : enable
#include "green.glsl"
out vec4 color;
void main() { color = green(); }
[test]
"""
TABLE = """
[require]
GLSL >= 4.30
SIZE 16 16
[vertex shader]
#version 430
layout(location = 2) in dvec2 place;
layout(location = 4) in mat2 m;
layout(location = 7) in ivec2 i;
out vec4 c;
void main() {
    gl_Position = vec4(place, 0.0, 1.0);
    c = vec4(m[0].x, m[1].y, float(i.x), float(i.y) * 0.5);
}
[fragment shader]
#version 430
in vec4 c;
out vec4 color;
void main() { color = c; }
[vertex data]
COLUMNS
ROW
[test]
"""
SPIRV = """
[require]
SPIRV ONLY
GL >= 3.3
GLSL >= 4.50
SIZE 16 16
[vertex shader passthrough]
[fragment shader spirv]
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %color
OpExecutionMode %main OriginLowerLeft
OpDecorate %color Location 0
OpDecorate %amount SpecId 3
%void = OpTypeVoid
%type = OpTypeFunction %void
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%vec4 = OpTypeVector %float 4
%pointer = OpTypePointer Output %vec4
%color = OpVariable %pointer Output
%amount = OpSpecConstant %int 0
%main = OpFunction %void None %type
%start = OpLabel
%f = OpConvertSToF %float %amount
%value = OpCompositeConstruct %vec4 %f %f %f %f
OpStore %color %value
OpReturn
OpFunctionEnd
[fragment shader specializations]
# what stands for the constant
SPEC
[test]
"""
OLD = "[require]\nGL COMPAT >= 2.1\nSPIRV ONLY\n[fragment shader spirv]\nOpNop\n[test]\n"
SPIRV_BLOCK = """
[require]
SPIRV YES
GL >= 4.5
GLSL >= 4.50
[vertex shader passthrough]
[fragment shader spirv]
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %color
OpExecutionMode %main OriginLowerLeft
OpDecorate %color Location 0
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 5
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
%void = OpTypeVoid
%type = OpTypeFunction %void
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%vec4 = OpTypeVector %float 4
%block = OpTypeStruct %vec4
%blocks = OpTypePointer Uniform %block
%member = OpTypePointer Uniform %vec4
%b = OpVariable %blocks Uniform
%zero = OpConstant %int 0
%pointer = OpTypePointer Output %vec4
%color = OpVariable %pointer Output
%main = OpFunction %void None %type
%start = OpLabel
%place = OpAccessChain %member %b %zero
%value = OpLoad %vec4 %place
OpStore %color %value
OpReturn
OpFunctionEnd
[test]
"""


def table(columns: str, *rows: str) -> str:
    return TABLE.replace("COLUMNS", columns).replace("ROW", "\n".join(rows))


DOUBLES = table("place/double/dvec2", "-1 -1", "1 -1", "-1 1", "1 1")
COLUMNS = "2/double/dvec2 m/float/mat2/0 4/float/mat2/1 i/int/ivec2"
MATRICES = table(COLUMNS, *(f"{xy} 0.25 9 9 0.5 1 2" for xy in ("-1 -1", "1 -1", "-1 1", "1 1")))
ROWS += [
    (
        SEPARATE_BLOCK,
        "active shader program GL_FRAGMENT_SHADER\nblock binding 2\nblock offset 0\n"
        "uniform float it 1\n" + GREEN,
        "pass",
    ),
    (
        SEPARATE_BLOCK,
        "check glIsProgram $VERTEX_SHADER = 1\ncheck glIsProgram $OTHER = 1",
        "kept as",
    ),
    (INCLUDING, GREEN, "pass"),
    (INCLUDING.replace("/lib/\n[v", "/other\n[v"), "clear", "does not compile"),
    (
        PLAIN.replace("out vec4 color;", "#line 7\nout vec4 colour;"),
        "clear",
        "t.shader_test:7: the",
    ),
    # tables of vertices
    (DOUBLES, "draw arrays GL_TRIANGLE_STRIP 0 4\nprobe all rgba 0 0 0 0", "pass"),
    (
        MATRICES,
        "draw arrays GL_TRIANGLE_STRIP 0 4\nprobe all rgba 0.25 0.5 1 1",
        "pass",
    ),
    (table("m/float/mat2/x", "0 1"), "clear", "the matrix column must be a number, not 'x'"),
    (table("2/double/dvec2", "0 1", "2 up"), "clear", "a number of type double, not 'up'"),
    (table("i/int/ivec2", "0 1", "2 1.5"), "clear", "3:3: error: expected a number of type int"),
    (
        table("a/float/vec2 i/int/ivec2", "0.5 1 0 1", "0.5 1 2 x"),
        "clear",
        "3:9: error: expected a number of type int",
    ),
    (
        table("place/double/dvec2 k/float/1", "-1 -1 0", "1 -1 0", "-1 1 0", "1 1 0"),
        "draw arrays GL_TRIANGLE_STRIP 0 4\nprobe all rgba 0 0 1 0",
        "note: k is no active attribute",
    ),
    # vertices that are named by number
    (ELEMENTS, "draw elements GL_TRIANGLES 3 0\nprobe rgba 8 8 0 1 0 1", "pass"),
    (ELEMENTS, "draw elements GL_LINES 2 3\nprobe rgba 14 14 0 1 0 1", "vertex data] has 4"),
    (ELEMENTS, "draw elements GL_TRIANGLES 3 1\nprobe rgba 12 10 0 1 0 1", "pass"),
    (ELEMENTS, "draw elements GL_POINTS 6 0", "expected a count up to 5 and a base vertex"),
    (ELEMENTS, "draw elements GL_POINTS 1 2 3", "expected a count up to 5 and a base vertex"),
    (
        ELEMENTS,
        "multidraw arrays GL_TRIANGLES 2 0 1 3 3\nprobe rgba 12 10 0 1 0 1\nprobe rgba 8 6 0 1 0 1",
        "pass",
    ),
    (ELEMENTS, "multidraw arrays GL_TRIANGLES 1 0 3\nprobe rgba 12 10 0 1 0 1", "observed 0 0 0"),
    (ELEMENTS, "multidraw arrays GL_POINTS 2 0 1 1", "expected 4 numbers after the count"),
    (ELEMENTS, "multidraw arrays GL_POINTS 1 3 2", "draws vertex 4, [vertex data] has 4"),
    (
        ELEMENTS,
        "draw arrays instanced base GL_TRIANGLES 0 3 2 5\nprobe rgba 8 8 0 1 0 1",
        "pass",
    ),
    # lights, coordinates, barriers
    (lit("gl_LightSource[2].diffuse"), "light 2 GL_DIFFUSE float 0 1 0 1\n" + GREEN, "pass"),
    (
        lit("vec4(gl_LightSource[1].spotExponent / 128.0)"),
        "light 1 GL_SPOT_EXPONENT int 128\ndraw rect -1 -1 2 2\nprobe all rgba 1 1 1 1",
        "pass",
    ),
    (lit("vec4(0)"), "light 1 GL_DIFFUSE double 1", "expected a type (float, int), not 'double'"),
    (lit("vec4(0)"), "light 1 GL_DIFFUSE float 1 1 1", "expected a number"),
    (lit("gl_MultiTexCoord3"), "texcoord 3 (0, 1, 0, 1)\n" + GREEN, "pass"),
    (PLAIN, "uniform vec4 c 0 1 0 1\nblend barrier\n" + GREEN, "pass"),
    # requirements without blanks
    (PLAIN.replace("GLSL >= 3.30", "GL>=3.3\nGLSL>=3.30"), "clear", "pass"),
    (PLAIN.replace("GLSL >= 3.30", "GL CORE>= 3.3\nGLSL >=3.30"), "clear", "pass"),
    (PLAIN.replace("SIZE", "GL_MAX_VERTEX_ATTRIBS>=999\nSIZE"), "clear", "requires GL_MAX_VER"),
    (PLAIN.replace("SIZE", "INT GL_MAX_VERTEX_ATTRIBS<999\nSIZE"), "clear", "pass"),
    (PLAIN.replace("SIZE", "!GL_NO_such\nSIZE"), "clear", "pass"),
    # resources, by name and by what is known of them
    *(
        (INTERFACES, f"verify program_interface_query {query}", verdict)
        for query, verdict in (
            ("interface GL_UNIFORM_BLOCK GL_ACTIVE_RESOURCES 1", "pass"),
            ("interface GL_UNIFORM_BLOCK GL_ACTIVE_RESOURCES 2", "observed 1"),
            ("GL_UNIFORM it GL_LOCATION 5", "pass"),
            ("resourceIndex GL_UNIFORM_BLOCK B 0", "pass"),
            ("resourceIndex GL_UNIFORM_BLOCK C GL_INVALID_INDEX", "pass"),
            ('resourceIndex GL_UNIFORM_BLOCK "" GL_INVALID_INDEX', "pass"),
            ("resourceLocation GL_UNIFORM it 5", "pass"),
            ("resourceLocation GL_UNIFORM him -1", "pass"),
            ("resourceLocationIndex GL_PROGRAM_OUTPUT color 0", "pass"),
            ("resourceLocationIndex GL_PROGRAM_OUTPUT color 1", "observed 0"),
            ("resourceByData GL_UNIFORM (var 5) GL_TYPE GL_FLOAT", "pass"),
            ("resourceByData GL_UNIFORM (var 6) GL_TYPE GL_FLOAT", "no resource as described"),
            ("resourceByData GL_UNIFORM (3 16) GL_TYPE GL_FLOAT_VEC4", "pass"),
            ("resourceByData GL_UNIFORM (4 16) GL_TYPE GL_FLOAT_VEC4", "no resource as described"),
            (
                "resourceByData GL_UNIFORM (atomic 2 4) GL_TYPE GL_UNSIGNED_INT_ATOMIC_COUNTER",
                "pass",
            ),
            ("resourceByData GL_BUFFER_VARIABLE (1 4) GL_TYPE GL_INT", "pass"),
            ("resourceByData GL_UNIFORM_BLOCK (3) GL_BUFFER_DATA_SIZE 32", "pass"),
            ("resourceByData GL_PROGRAM_OUTPUT (0 0) GL_TYPE GL_FLOAT_VEC4", "pass"),
            ("resourceByData GL_FRAGMENT_SUBROUTINE (0) GL_TYPE 1", "have names only"),
            ("resourceName GL_UNIFORM (var 5) 2 it", "pass"),
            ("resourceName GL_UNIFORM (var 5) 2 at", "observed (2, 'it')"),
            ("resourceName GL_UNIFORM (var 6) 2 it", "no resource as described"),
        )
    ),
    (INTERFACES, "verify program_query GL_LINK_STATUS GL_TRUE", "pass"),
    # modules of SPIR-V
    (SPIRV.replace("SPEC", "int 3 1"), "draw rect -1 -1 2 2\nprobe all rgba 1 1 1 1", "pass"),
    (SPIRV.replace("SPEC", "int 3 -1"), "draw rect -1 -1 2 2\nprobe all rgba 0 0 0 0", "pass"),
    (SPIRV.replace("SPEC", "uint 3 0x1"), "draw rect -1 -1 2 2\nprobe all rgba 1 1 1 1", "pass"),
    (SPIRV.replace("SPEC", "bool 3 1"), "clear", "expected `uint|int|float INDEX VALUE`"),
    (SPIRV.replace("SPEC", "int 3"), "clear", "32: expected `uint|int|float INDEX VALUE`"),
    (SPIRV.replace("SPEC", "int 3 x"), "clear", "expected `uint|int|float INDEX VALUE`"),
    (SPIRV.replace("SPEC", "int 4 1"), "clear", "the fragment shader cannot be specialised"),
    (SPIRV.replace("OpReturn", "OpRetrun"), "clear", "<fragment shader>:20:1: error: "),
    (SPIRV.replace("ONLY", "NO"), "clear", "requires SPIR-V shaders"),
    # what a test may ask for
    (PLAIN.replace("SIZE", "GL_NO_SUCH_LIMIT >= 3\nSIZE"), "clear", "which is unknown here"),
    (
        PLAIN.replace("SIZE", "GL_TRIANGLES_ADJACENCY >= 3\nSIZE"),
        "clear",
        "which this context does not have",
    ),
    (PLAIN.replace("SIZE", "GL_ARB_sync too\nSIZE"), "clear", "unexpected 'too' after the command"),
    (OLD.replace("SPIRV ONLY", ""), "clear", "requires SPIR-V shaders"),
    (
        SPIRV_BLOCK,
        "verify program_interface_query GL_UNIFORM_BLOCK B GL_BUFFER_DATA_SIZE 16",
        "no resource",
    ),
    (
        SPIRV_BLOCK,
        "block binding 5\nverify program_interface_query GL_UNIFORM_BLOCK B GL_BUFFER_DATA_SIZE 16",
        "pass",
    ),
    (
        SPIRV_BLOCK,
        "block binding 4\nverify program_interface_query GL_UNIFORM_BLOCK B GL_BUFFER_DATA_SIZE 16",
        "no resource",
    ),
    (
        SPIRV_BLOCK,
        "block binding 5\nverify program_interface_query GL_UNIFORM B GL_OFFSET 0",
        "no resource",
    ),
    (PLAIN, "uniform double c 1_0", "expected a number, not '1_0'"),
    (BLOCKS, "probe ssbo double 2 0 == x", "expected a number, not 'x'"),
    (
        FLAT,
        "texture rgbw 0 (2, 2)\nresident texture 0\nvertex attrib handle nobody 0",
        "no active attr",
    ),
    (PLAIN.replace("GLSL >= 3.30", "GL ES >= x"), "clear", "error: "),
    # looking into memory, comparing roughly
    (
        BLOCKS,
        "call glMapBufferRange GL_SHADER_STORAGE_BUFFER 0 16 GL_MAP_READ_BIT -> p\n"
        "check memory $p 0\n",
        "expected a comparison (= ~ != >= <=), not '0'",
    ),
    (PLAIN, "check glGetIntegerv GL_VIEWPORT = int(0 0 16 16)", "pass"),
    (PLAIN, "call glGenBuffers 1 -> b\ncheck memory 0 = int(1)", "there is no memory at a null"),
    (PLAIN, "store memory 0 int(1)", "there is no memory at a null pointer"),
    (PLAIN, "check glGetIntegerv GL_VIEWPORT ~ 2 0 14 18", "pass"),
    (PLAIN, "check glGetIntegerv GL_VIEWPORT ~ 0 0 13 16", "observed 0 0 16 16"),
]

# What llvmpipe does not do: without its cache it keeps no programs. (Asked for a block without a
# name it ends the process: SPIRV_BLOCK is not for it.)
_NOT_NATIVE = (
    "requires GL_ARB_compute_variable_group_size",
    "t.shader_test:12: program binary save restore: restoring failed:\n",
)


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_the_verdict_on_a_command(native: str, number: int) -> None:
    text, commands, verdict = ROWS[number]
    test = text + textwrap.dedent(commands) + "\n"
    for driver in ("numpipe",) if text == SPIRV_BLOCK else (native, "numpipe"):
        found = run_test(parse_text(test, "t.shader_test"), driver)
        if driver == native and found.reason in _NOT_NATIVE:
            continue
        if verdict in ("pass", "warn"):
            assert found.result == verdict, (driver, commands, found.reason)
        else:
            assert found.result != "pass" or "note:" in verdict, (driver, commands)
            assert verdict in "\n".join([found.reason, *found.messages]), (driver, commands)
