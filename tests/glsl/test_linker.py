"""The linker: what matches, what does not, and the tables a GL implementation reads."""

import struct
from pathlib import Path

import pytest

from gallette.compiler.glsl import CompileOptions, LinkedProgram, compile_shader
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from tests.cases import Case, each
from tests.glsl.shaders import link

V, F, G = Stage.VERTEX, Stage.FRAGMENT, Stage.GEOMETRY
PLAIN_VERTEX = "#version 430\nin vec4 p; void main() { gl_Position = p; }"
PLAIN_FRAGMENT = "#version 430\nout vec4 c; void main() { c = vec4(1.0); }"


def vertex(declarations: str, body: str = "", version: int = 430) -> tuple[Stage, str]:
    return V, (
        f"#version {version}\nin vec4 p; {declarations}\nvoid main() {{ gl_Position = p; {body} }}"
    )


def fragment(declarations: str, value: str = "vec4(1.0)", version: int = 430) -> tuple[Stage, str]:
    return F, f"#version {version}\nout vec4 c; {declarations}\nvoid main() {{ c = {value}; }}"


def uniforms(program: LinkedProgram) -> dict[str, tuple[int, int]]:
    return {u.name: (u.location, u.offset) for u in program.uniforms}


# -- what must not link --------------------------------------------------------------------------


# -- tables --------------------------------------------------------------------------------------


def test_one_storage_serves_all_stages() -> None:
    program = link(
        vertex("uniform float a; uniform vec3 b;", "gl_Position.xyz += a * b;"),
        fragment("uniform vec3 b; uniform vec4 d[2]; uniform float unused;", "d[1] + b.xyzz"),
    )
    assert uniforms(program) == {"a": (0, 0), "b": (1, 16), "d[0]": (2, 32)}
    assert program.default_block_size == 64
    by_name = {u.name: u for u in program.uniforms}
    assert by_name["b"].stages == {V, F}
    assert (by_name["d[0]"].array_size, by_name["d[0]"].array_stride) == (2, 16)


def test_structures_are_enumerated_member_by_member() -> None:
    program = link(
        vertex(""),
        fragment(
            "struct S { float f; mat2 m; sampler2D t[2]; }; uniform S s[2];",
            "texture(s[1].t[1], vec2(s[0].f)) * s[1].m[0].x",
        ),
    )
    names = [u.name for u in program.uniforms]
    assert names == ["s[0].f", "s[0].m", "s[0].t[0]", "s[1].f", "s[1].m", "s[1].t[0]"]
    samplers = [u for u in program.uniforms if u.type.is_sampler]
    assert [u.opaque_index for u in samplers] == [{F: 0}, {F: 2}]
    assert [u.location for u in program.uniforms] == [0, 1, 2, 4, 5, 6]


def test_initial_values_are_in_the_initial_block() -> None:
    program = link(
        vertex(""), fragment("uniform vec2 u = vec2(1.0, -2.0); uniform int i = 7;", "u.xyxy * i")
    )
    assert program.default_block_initial[:12] == bytes.fromhex("0000803f000000c007000000")


@pytest.mark.parametrize("given", [0, 1])
def test_one_shader_of_a_stage_may_give_the_initial_value_of_all(given: int) -> None:
    declared = ["uniform float u;"] * 2
    declared[given] = "uniform float u = 3.0;"
    program = link(
        vertex(f"{declared[0]} float f();", "gl_Position *= u + f();"),
        (V, f"#version 430\n{declared[1]} float f() {{ return u; }}"),
    )
    assert program.default_block_initial[:4] == struct.pack("<f", 3.0)


def test_samplers_keep_their_binding() -> None:
    program = link(
        vertex(""), fragment("layout(binding = 5) uniform sampler2D s;", "texture(s, vec2(0.0))")
    )
    (u,) = program.uniforms
    assert (u.binding, u.opaque_index, u.offset) == (5, {F: 0}, -1)


def test_arrays_of_blocks_are_several_blocks() -> None:
    program = link(
        vertex(""),
        fragment(
            "layout(std140, binding = 2) uniform B { float x; mat3 m; } b[2];", "vec4(b[1].x)"
        ),
    )
    assert [(b.name, b.binding, b.size) for b in program.uniform_blocks] == [
        ("B[0]", 2, 64),
        ("B[1]", 3, 64),
    ]
    assert [(u.name, u.offset, u.matrix_stride) for u in program.uniforms] == [
        ("B.x", 0, 0),
        ("B.m", 16, 16),
    ]
    assert program.uniform_blocks[1].nir_index == {F: 2}


def test_attribute_locations() -> None:
    source = "#version 430\nlayout(location = 2) in vec4 a; in mat3 m; in float f; in vec4 unused;"
    program = link(
        (V, source + "void main() { gl_Position = a + f + m[0].xyzz; }"),
        attrib_bindings={"f": 0, "a": 9},
    )
    assert {a.name: a.location for a in program.attributes} == {"a": 2, "m": 3, "f": 0}


def test_fragment_data_bindings() -> None:
    source = "#version 430\nout vec4 a; out vec4 b[2]; void main() { a = b[0] = b[1] = vec4(1.0); }"
    program = link((V, PLAIN_VERTEX), (F, source), frag_data_bindings={"a": (3, 0)})
    assert {o.name: (o.location, o.array_size) for o in program.frag_outputs} == {
        "a": (3, 0),
        "b": (0, 2),
    }


def test_varyings_no_one_reads_are_not_written() -> None:
    program = link(
        vertex("out vec4 used; out vec4 unused;", "used = p; unused = p;"),
        fragment("in vec4 used;", "used"),
    )
    assert program.ok


def test_transform_feedback_interleaves() -> None:
    program = link(
        vertex("out vec3 a; out float b[2];", "a = p.xyz; b[0] = b[1] = p.x;"),
        xfb_varyings=["b", "gl_SkipComponents2", "a", "gl_NextBuffer", "gl_Position"],
    )
    assert program.ok, program.info_log
    assert program.xfb is not None
    assert program.xfb.strides == (28, 16)
    assert [(v.name, v.buffer, v.offset, v.num_components) for v in program.xfb.varyings] == [
        ("b", 0, 0, 2),
        ("gl_SkipComponents2", 0, 0, 0),
        ("a", 0, 16, 3),
        ("gl_NextBuffer", 0, 0, 0),
        ("gl_Position", 1, 0, 4),
    ]
    position = program.xfb.outputs[-1]
    assert position.slot == VaryingSlot.POS


def test_transform_feedback_layouts() -> None:
    program = link(
        (
            V,
            "#version 440\nlayout(xfb_buffer = 1, xfb_stride = 32) out; layout(xfb_offset"
            " = 8) out vec2 a;"
            "void main() { gl_Position = vec4(0.0); a = vec2(1.0); }",
        )
    )
    assert program.ok, program.info_log
    assert program.xfb is not None
    assert program.xfb.strides == (0, 32)
    assert [(v.name, v.buffer, v.offset) for v in program.xfb.varyings] == [("a", 1, 8)]


def test_defaults_of_buffer_and_stream_speak_for_what_comes_after_them() -> None:
    program = link(
        (V, PLAIN_VERTEX),
        (
            G,
            """#version 440
            layout(points) in; layout(points, max_vertices = 1) out;
            layout(xfb_offset = 0) out float before;
            layout(xfb_buffer = 2, stream = 1) out;
            layout(xfb_offset = 0) out float after;
            out Block { layout(xfb_offset = 4) float inside; };
            layout(xfb_buffer = 3, xfb_offset = 0, stream = 2) out float told;
            void main() {
                before = 1.0; EmitStreamVertex(0);
                after = inside = 2.0; EmitStreamVertex(1);
                told = 3.0; EmitStreamVertex(2);
            }""",
        ),
    )
    assert program.ok, program.info_log
    assert program.xfb is not None
    captured = {v.name: (v.buffer, v.offset) for v in program.xfb.varyings}
    assert captured == {"before": (0, 0), "after": (2, 0), "inside": (2, 4), "told": (3, 0)}
    assert sorted((o.buffer, o.stream) for o in program.xfb.outputs) == [
        (0, 0), (2, 1), (2, 1), (3, 2),
    ]  # fmt: skip


@each(Path(__file__).with_name("captured.txt"))
def test_the_built_in_block_is_captured_as_any_other(case: Case) -> None:
    """Mesa overlooks what is said of it, so nothing here is compared with it."""
    writes = "gl_Position = vec4(0.0);"
    writes += "gl_PointSize = 1.0;" if "Size" in case.text else ""
    writes += "gl_ClipDistance[1] = 1.0;" if "Clip" in case.text else ""
    source = f"#version 440\n{case.text} void main() {{ {writes} }}"
    if "=" not in case.answer:
        compiled = compile_shader(V, [source], CompileOptions())
        assert not compiled.ok
        assert case.answer in compiled.info_log
        return
    program = link((V, source))
    assert program.ok, program.info_log
    assert program.xfb is not None
    found = [f"{v.name}={v.buffer},{v.offset}" for v in program.xfb.varyings]
    assert sorted(found) == sorted(case.answer.split())


def test_unknown_feedback_varyings_are_refused() -> None:
    program = link((V, PLAIN_VERTEX), xfb_varyings=["nothing"])
    assert "'nothing' is not an output of the vertex shader" in program.info_log


def test_atomic_counters_share_buffers() -> None:
    program = link(
        vertex(""),
        fragment(
            "layout(binding = 1) uniform atomic_uint a[2]; layout(binding = 1) uniform"
            " atomic_uint b;",
            "vec4(atomicCounter(a[1]) + atomicCounterIncrement(b))",
        ),
    )
    assert [(b.binding, b.size) for b in program.atomic_buffers] == [(1, 12)]
    assert {u.name: u.offset for u in program.uniforms} == {"a[0]": 0, "b": 8}


def test_subroutines_list_their_functions() -> None:
    program = link(
        vertex(""),
        fragment(
            "subroutine vec4 T(float); subroutine(T) vec4 one(float x) { return vec4(x); }"
            "subroutine(T) vec4 two(float x) { return vec4(-x); } subroutine uniform T pick[2];",
            "pick[0](1.0) + pick[1](2.0)",
        ),
    )
    assert program.ok, program.info_log
    assert program.subroutines[F] == ["one", "two"]
    (uniform,) = program.subroutine_uniforms
    assert (uniform.name, uniform.array_size, uniform.compatible) == ("pick", 2, (0, 1))


def test_clip_distances_are_as_many_as_the_shader_declares() -> None:
    program = link(vertex("out float gl_ClipDistance[3];", "gl_ClipDistance[2] = 1.0;"))
    sizes = {v.name: v.type.length for v in program.shaders[V].variables}
    assert sizes["gl_ClipDistance"] == 3


@pytest.mark.parametrize("name", ["gl_ClipDistance", "gl_CullDistance", "gl_TexCoord"])
@pytest.mark.parametrize("declared", [False, True])
def test_built_in_arrays_without_a_size_are_as_long_as_needed(name: str, declared: bool) -> None:
    """Each stage's by its own indices, declared again or not."""
    version, kind = ("450 compatibility", "vec4" if name == "gl_TexCoord" else "float")
    written, read = (f"{way} {kind} {name}[];" if declared else "" for way in ("out", "in"))
    program = link(
        (V, f"#version {version}\n{written} void main() {{ {name}[2] = {kind}(1.0); }}"),
        (F, f"#version {version}\n{read} void main() {{ gl_FragColor = vec4({name}[1]); }}"),
    )
    assert program.ok, program.info_log
    sizes = [{v.name: v.type.length for v in s.variables}[name] for s in program.shaders.values()]
    assert sizes == [3, 2]


def test_compatibility_state_appears_as_built_in_uniforms() -> None:
    program = link(
        (
            V,
            "void main() { gl_Position = ftransform(); gl_FrontColor ="
            " gl_LightSource[1].ambient; }",
        ),
        (F, "void main() { gl_FragColor = gl_Color; }"),
    )
    assert program.ok, program.info_log
    names = {u.name for u in program.uniforms}
    assert {"gl_ModelViewProjectionMatrix", "gl_LightSource[1].ambient"} <= names
    assert all(u.builtin and u.location == -1 for u in program.uniforms)


def test_several_shaders_of_a_stage_join() -> None:
    program = link(
        (V, "#version 430\nuniform vec4 u; vec4 f(); void main() { gl_Position = f() + u; }"),
        (V, "#version 430\nuniform vec4 u; float table[]; vec4 f() { table[2] = 1.0; return u; }"),
        (V, "#version 430\nfloat table[3];"),
        (F, PLAIN_FRAGMENT),
    )
    assert program.ok, program.info_log
    assert [u.name for u in program.uniforms] == ["u"]


def test_unsized_interface_arrays_take_the_largest_index() -> None:
    program = link(
        vertex("out vec4 v[2];", "v[1] = p;"),
        fragment("in vec4 v[];", "v[1]"),
    )
    assert program.ok, program.info_log


def test_geometry_inputs_take_the_size_of_the_primitive() -> None:
    program = link(
        vertex("out vec4 v;", "v = p;"),
        (
            G,
            "#version 430\nlayout(triangles) in; layout(points, max_vertices = 3) out; in vec4 v[];"
            "out vec4 w; void main() { for (int i = 0; i < v.length(); i++) {"
            "gl_Position = gl_in[i].gl_Position; w = v[i]; EmitVertex(); } }",
        ),
        fragment("in vec4 w;", "w"),
    )
    assert program.ok, program.info_log
    assert program.shaders[G].info.vertices_out == 3


def test_separable_programs_keep_open_ends() -> None:
    program = link(fragment("layout(location = 1) in vec4 v;", "v"), separable=True)
    assert program.ok, program.info_log
    assert [(i.name, i.location) for i in program.inputs] == [("v", 1)]


def test_many_small_varyings_share_slots() -> None:
    names = [f"v{i}" for i in range(60)]
    declared = "".join(f"out float {n};" for n in names) + "flat out int k; out vec2 w[2];"
    written = "".join(f"{n} = p.x;" for n in names) + "k = 1; w[0] = w[1] = p.xy;"
    program = link(
        vertex(declared, written),
        fragment(
            declared.replace("out ", "in "),
            "vec4(" + " + ".join(names) + ") + float(k) + w[1].xyxy",
        ),
        xfb_varyings=["v59", "w"],
    )
    assert program.ok, program.info_log
    assert program.xfb is not None
    slots = {(o.slot, o.component) for o in program.xfb.outputs}
    assert len(slots) == 3


def test_upper_left_origin_reads_a_hidden_uniform() -> None:
    program = link(
        vertex(""), fragment("layout(origin_upper_left) in vec4 gl_FragCoord;", "gl_FragCoord")
    )
    assert [(u.name, u.builtin) for u in program.uniforms] == [("gl_FbWposYTransform", True)]


def test_unnamed_structures_match_by_their_members() -> None:
    declaration = "uniform struct { vec4 a; float b; } u;"
    program = link(vertex(declaration, "gl_Position *= u.b;"), fragment(declaration, "u.a * u.b"))
    assert program.ok, program.info_log
    assert [u.name for u in program.uniforms] == ["u.a", "u.b"]


RECURSIONS = {
    "itself": "subroutine(S) void f() { s(); }",
    "by a function": "void g() { s(); } subroutine(S) void f() { g(); }",
    "by another": "subroutine void T(); subroutine uniform T t; subroutine(S) void f() { t(); } "
    "subroutine(T) void g() { s(); }",
}


@pytest.mark.parametrize("how", RECURSIONS)
def test_recursion_through_subroutines_does_not_link(how: str) -> None:
    head = "#version 400\nsubroutine void S(); subroutine uniform S s; "
    program = link((F, f"{head}{RECURSIONS[how]} void main() {{ s(); }}"))
    assert not program.ok
    assert "calls itself" in program.info_log
