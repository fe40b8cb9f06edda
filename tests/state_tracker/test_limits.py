"""Every limit of what is advertised can be asked for, and is at least the specification's."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.compiler.glsl.builtins.limits import CONSTANTS
from gallette.compiler.text_tables import table_rows
from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.differential import answers
from tests.state_tracker.helpers import errors, linked

NEWEST = {"core": (4, 6), "compat": (4, 6), "es": (3, 2)}
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


def _rows(column: int) -> list[tuple[str, str]]:
    rows = [line.split() for line in table_rows(Path(__file__).with_name("least_limits.txt"))]
    return [(row[0], row[column]) for row in rows if row[column] != "-"]


@pytest.mark.parametrize("profile", ["core", "compat", "es"])
def test_limits_are_at_least_the_specifications(profile: str) -> None:
    context = create_context("numpipe", profile=profile, version=NEWEST[profile])
    rows = _rows({"core": 1, "es": 2, "compat": 3}[profile])
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
    "gl_MaxVertexOutputVectors": "MAX_VERTEX_OUTPUT_COMPONENTS",
    "gl_MaxFragmentInputVectors": "MAX_FRAGMENT_INPUT_COMPONENTS",
}
_VECTORS = "gl_MaxVertexOutputVectors", "gl_MaxFragmentInputVectors"  # of four components
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
        vectors = 4 if name in _VECTORS else 1
        pname = getattr(GL, _OTHER_NAMES.get(name, plain))
        if name.startswith("gl_MaxComputeWorkGroup"):
            wanted[name] = [gl.get_integeri_v(pname, i)[0] for i in range(3)]
        else:
            wanted[name] = [gl.get_integerv(pname)[0] // vectors] * 3
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


BLOCKS = """#version 430
{blocks}
{ends}
vec4 sum() {{ return {sum}; }}
void main() {{ {main} }}"""


@pytest.mark.native
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize(("kind", "layout"), [("uniform", "std140"), ("buffer", "std430")])
def test_every_stage_has_as_many_blocks_as_it_may(driver: str, kind: str, layout: str) -> None:
    """The blocks of a stage are not limited by those of the others."""
    count = 14

    def stage(letter: str, ends: str, main: str) -> str:
        names = [f"{letter}{i}" for i in range(count)]
        blocks = "\n".join(f"layout({layout}) {kind} B{n} {{ vec4 {n}; }};" for n in names)
        return BLOCKS.format(blocks=blocks, ends=ends, main=main, sum=" + ".join(names))

    def ask(gl: Any) -> Any:
        corner = "gl_Position = vec4(4 * (gl_VertexID & 1) - 1, 2 * (gl_VertexID & 2) - 1, 0, 1);"
        name = linked(
            gl,
            vertex=stage("v", "flat out vec4 a;", f"a = sum(); {corner}"),
            geometry=stage(
                "g",
                "layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;"
                "flat in vec4 a[]; flat out vec4 b;",
                "for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position;"
                " b = a[i] + 64 * sum(); EmitVertex(); }",
            ),
            fragment=stage("f", "flat in vec4 b; out vec4 c;", "c = b + 4096 * sum();"),
        )
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        storage = kind == "buffer"
        target = GL.SHADER_STORAGE_BUFFER if storage else GL.UNIFORM_BUFFER
        bind = gl.shader_storage_block_binding if storage else gl.uniform_block_binding
        for number, buffer in enumerate(gl.gen_buffers(3 * count)):
            block = GL.SHADER_STORAGE_BLOCK if storage else GL.UNIFORM_BLOCK
            of = f"B{'vgf'[number // count]}{number % count}"
            bind(name, gl.get_program_resource_index(name, block, of), number)
            gl.bind_buffer_base(target, number, buffer)
            data = np.array([1, number, number % 2, number % 3], np.float32)
            gl.buffer_data(target, data.nbytes, data, GL.STATIC_DRAW)
        gl.bind_renderbuffer(GL.RENDERBUFFER, gl.gen_renderbuffers(1)[0])
        gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA32F, 4, 4)
        gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
        point = GL.COLOR_ATTACHMENT0
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, 1)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        assert errors(gl) == []
        return np.frombuffer(gl.read_pixels(1, 1, 1, 1, GL.RGBA, GL.FLOAT), np.float32)

    numbers = np.arange(3 * count)
    weight = 64.0 ** (numbers // count)
    columns = (weight, weight * numbers, weight * (numbers % 2), weight * (numbers % 3))
    for found in answers(ask, version=(4, 5), driver=driver):
        np.testing.assert_array_equal(found, [column.sum() for column in columns])
