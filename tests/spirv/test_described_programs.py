"""Programs from modules are described as those from the GLSL that the modules were made of.

glslang makes the modules, in OpenGL's dialect; names, places, strides, units and what transform
feedback captures are compared one by one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conversions import run_tool

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.glsl.link.program import LinkedProgram, LinkOptions
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.spirv.link import SpirvShader, link_spirv
from gallette.compiler.spirv.module import read_module

SUFFIXES = {"vert": Stage.VERTEX, "tesc": Stage.TESS_CTRL, "tese": Stage.TESS_EVAL}
SUFFIXES |= {"geom": Stage.GEOMETRY, "frag": Stage.FRAGMENT, "comp": Stage.COMPUTE}
HEAD = "#version 450\nstruct S { float f; vec3 v[2]; mat2 m; };\n"
PLAIN = {"vert": "void main() { gl_Position = vec4(0.0); }"}


def linked(
    parts: dict[str, str], folder: Path, separable: bool = False
) -> tuple[LinkedProgram, LinkedProgram]:
    """The program of modules, and the program of the GLSL."""
    modules, shaders = [], []
    for suffix, text in parts.items():
        source, module = folder / f"shader.{suffix}", folder / f"{suffix}.spv"
        source.write_text(HEAD + text)
        run_tool("glslangValidator", "-G", source, "-o", module)
        modules.append(SpirvShader(SUFFIXES[suffix], read_module(module.read_bytes())))
        shader = compile_shader(SUFFIXES[suffix], [HEAD + text], CompileOptions())
        assert shader.ok, shader.info_log
        shaders.append(shader)
    options = LinkOptions(optimize=False, separable=separable)
    programs = link_spirv(modules, options), link_program(shaders, options)
    for program in programs:
        assert program.ok, program.info_log
    return programs


def named(found: Any) -> dict[str, Any]:
    return {item.name: item for item in found}


RESOURCES = {
    "frag": """
        layout(location = 3) uniform float one;
        layout(location = 4) uniform vec3 some[3];
        layout(location = 9) uniform mat3x2 m;
        layout(location = 10) uniform S s;
        layout(location = 20) uniform S t[2];
        layout(location = 30, binding = 2) uniform sampler2D tex;
        layout(location = 31, binding = 4) uniform sampler2DArray more[3];
        layout(location = 35, binding = 1, rgba8) uniform readonly image2D img;
        layout(location = 36, binding = 7) uniform samplerCube cube;
        layout(location = 60, binding = 10) uniform sampler2D rows[2][3];
        layout(location = 40) uniform dvec2 d;
        layout(location = 41) uniform bool b;
        layout(binding = 3, std140) uniform Block {
            vec4 a; float k[3]; S in_block; layout(row_major) mat4x3 rm; } block;
        layout(binding = 5, std140) uniform Other { vec4 a; } other[2];
        layout(binding = 1, std430) buffer Store {
            uint n; vec3 list[2]; S inner; float tail[]; } store;
        layout(location = 1) out vec4 c;
        layout(location = 2) out uvec2 several[2];
        void main() {
            c = vec4(one + some[1].x + m[1].x + s.v[1].x + t[1].v[0].x + t[0].m[1].y + float(d.x));
            c += texture(tex, vec2(0.0)) + texture(more[2], vec3(0.0)) + imageLoad(img, ivec2(0));
            c += texture(rows[1][2], vec2(0.0)) + texture(rows[0][0], vec2(0.0));
            c += texture(cube, vec3(0.0)) + other[1].a + other[0].a + block.a + block.k[1];
            if (b) c += block.in_block.f + block.rm[0].xyzz + store.tail[1] + store.inner.f;
            c += store.list[1].x; store.n = 2; several[0] = several[1] = uvec2(0);
        }""",
    "vert": """
        layout(location = 3) uniform float one;
        layout(location = 31, binding = 4) uniform sampler2DArray more[3];
        layout(location = 50, binding = 9) uniform sampler2D own;
        layout(binding = 3, std140) uniform Block {
            vec4 a; float k[3]; S in_block; layout(row_major) mat4x3 rm; } block;
        layout(location = 1) in vec3 p;
        layout(location = 2) in mat2 q;
        layout(location = 5) in float r[2];
        void main() {
            gl_Position = block.a * one + vec4(p, q[1].x) + textureLod(own, vec2(0.0), 0.0) * r[1];
            gl_Position += textureLod(more[0], vec3(0.0), 0.0);
        }""",
}
LISTS = ("uniforms", "uniform_blocks", "buffer_variables", "storage_blocks", "attributes")


def described(item: Any) -> dict[str, Any]:
    """All fields but the units in each stage, which are each linker's own."""
    return {name: getattr(item, name) for name in item.__slots__ if name != "opaque_index"}


def test_uniforms_blocks_and_handles_are_described_alike(tmp_path: Path) -> None:
    ours, theirs = linked(RESOURCES, tmp_path)
    for kind in (*LISTS, "frag_outputs"):
        found = {item.name: described(item) for item in getattr(ours, kind)}
        wanted = {item.name: described(item) for item in getattr(theirs, kind)}
        assert wanted
        assert found == wanted, kind
    assert ours.default_block_size == theirs.default_block_size
    units = [
        (stage, uniform.type.is_image, first + i)
        for uniform in ours.uniforms
        for stage, first in uniform.opaque_index.items()
        for i in range(max(1, uniform.array_size))
    ]
    assert len(set(units)) == len(units) == 16
    assert max(unit for _, _, unit in units) == 10  # of the fragment shader's


CAPTURED = {
    "vert": """
        layout(location = 0, xfb_offset = 4, xfb_stride = 200) out float one;
        layout(location = 1, xfb_offset = 8) out vec3 some[2];
        layout(location = 3, component = 1, xfb_offset = 32) out vec2 part;
        layout(location = 4, xfb_offset = 40) out mat3x2 m;
        layout(location = 7, xfb_offset = 64) out S s;
        layout(location = 12, xfb_offset = 108) flat out int i[2];
        layout(location = 15, xfb_buffer = 1, xfb_offset = 8) out dvec3 d;
        layout(location = 17, xfb_buffer = 1, xfb_offset = 32) out double e[2];
        layout(location = 20, xfb_buffer = 2, xfb_offset = 0) out S t[2];
        layout(location = 30) out vec4 plain;
        layout(xfb_buffer = 3) out gl_PerVertex { layout(xfb_offset = 16) vec4 gl_Position; };
        void main() {
            gl_Position = vec4(0.0); one = 1.0; some[0] = some[1] = vec3(1.0); part = vec2(1.0);
            m = mat3x2(1.0); s.f = 1.0; s.v[0] = s.v[1] = vec3(0.0); s.m = mat2(1.0);
            i[0] = i[1] = 2; d = dvec3(1.0); e[0] = e[1] = 1.0; t[0] = t[1] = s; plain = vec4(0.0);
        }"""
}
STREAMS = {
    **PLAIN,
    "geom": """
        layout(points) in; layout(points, max_vertices = 2) out;
        layout(location = 0, stream = 0, xfb_buffer = 0, xfb_offset = 0) out vec2 a;
        layout(location = 1, stream = 2, xfb_buffer = 1, xfb_offset = 4) out vec3 b;
        void main() { a = vec2(1.0); EmitStreamVertex(0); b = vec3(2.0); EmitStreamVertex(2); }""",
}


@pytest.mark.parametrize("parts", [CAPTURED, STREAMS], ids=["vertex", "geometry"])
def test_what_is_captured_is_described_alike(parts: dict[str, str], tmp_path: Path) -> None:
    ours, theirs = linked(parts, tmp_path)
    assert ours.xfb is not None
    assert theirs.xfb is not None
    assert ours.xfb.strides == theirs.xfb.strides
    assert named(ours.xfb.varyings) == named(theirs.xfb.varyings)
    places = [
        {(o.slot, o.component, o.num_components, o.buffer, o.offset, o.stream) for o in xfb.outputs}
        for xfb in (ours.xfb, theirs.xfb)
    ]
    assert places[0] == places[1]


ENDS = {
    "vertex": CAPTURED,
    "control": {
        "tesc": """
        layout(vertices = 3) out;
        layout(location = 0) in vec4 a[]; layout(location = 1) in mat2 b[];
        layout(location = 0) out vec3 c[]; layout(location = 3) patch out vec2 d[2];
        void main() { gl_TessLevelOuter[0] = 1.0; c[gl_InvocationID] = a[0].xyz + b[0][1].x;
            d[0] = d[1] = vec2(1.0); }"""
    },
    "evaluation": {
        "tese": """
        layout(triangles) in;
        layout(location = 0) in vec3 c[]; layout(location = 2) in vec2 e[][3];
        layout(location = 6) patch in vec2 d[2]; layout(location = 1) out mat3 f;
        void main() { gl_Position = vec4(c[0] + d[1].x, e[1][2].x); f = mat3(1.0); }"""
    },
    "geometry": {
        "geom": """
        layout(lines) in; layout(points, max_vertices = 1) out;
        layout(location = 4) in mat3x2 a[]; layout(location = 0) out float b[3];
        void main() { b[0] = a[1][1].x; b[1] = b[2] = 1.0; EmitVertex(); }"""
    },
    "fragment": {
        "frag": """
        layout(location = 2) in vec3 a[2]; layout(location = 5) flat in ivec2 b;
        layout(location = 0) out vec4 c;
        void main() { c = vec4(a[1], float(b.x)); }"""
    },
}


@pytest.mark.parametrize("name", ENDS)
def test_interfaces_of_a_separable_program_have_equal_slots(name: str, tmp_path: Path) -> None:
    ours, theirs = linked(ENDS[name], tmp_path, separable=True)
    for kind in ("inputs", "outputs"):
        wanted = {
            v.name: (v.location, v.slots, v.stage, v.explicit, v.patch)
            for v in getattr(theirs, kind)
            if "." not in v.name
        }
        found = {
            v.name: (v.location, v.slots, v.stage, v.explicit, v.patch) for v in getattr(ours, kind)
        }
        assert found == wanted, kind
