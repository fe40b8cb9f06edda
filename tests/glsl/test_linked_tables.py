"""What linking leaves in its tables, for declarations few programs have."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from gallette.compiler.glsl import LinkOptions, link_program
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from tests.glsl.shaders import compiled, link

V, F, G = Stage.VERTEX, Stage.FRAGMENT, Stage.GEOMETRY
VERTEX = (V, "#version 430\nvoid main() { gl_Position = vec4(0.0); }")


def located(declared: str, read: str) -> dict[str, int]:
    """Locations of the uniforms of a fragment shader."""
    source = f"#version 430\n{declared}\nout vec4 out_; void main() {{ out_ = vec4({read}); }}"
    program = link(VERTEX, (F, source))
    assert program.ok, program.info_log
    return {u.name.removesuffix("[0]"): u.location for u in program.uniforms}


def test_locations_are_found_around_those_that_are_given() -> None:
    """The first room that is wide enough; what is narrower comes to stand in front of it."""
    given = "layout(location = 1) uniform float g; layout(location = 5) uniform vec4 h[2];"
    found = located(
        f"{given} uniform float a[2]; uniform float b; uniform float c; uniform float d[2];"
        "uniform float e;",
        "g + h[0].x + h[1].x + a[0] + a[1] + b + c + d[0] + d[1] + e",
    )
    assert found == {"g": 1, "h": 5, "a": 2, "b": 0, "c": 4, "d": 7, "e": 9}
    found = located(f"{given} uniform float a; uniform float b[9];", "g + h[1].x + a + b[8]")
    assert found == {"g": 1, "h": 5, "a": 0, "b": 7}


def test_an_explicit_location_of_an_unused_variable_is_reserved() -> None:
    assert located("layout(location = 0) uniform vec4 n; uniform float a, b;", "a + b") == {
        "a": 1,
        "b": 2,
    }


def test_structures_are_written_member_by_member() -> None:
    """Initial values at the offsets that the tables tell."""
    source = """#version 430
        struct N { ivec2 k[2]; mat2x3 m; }; struct S { float f; N n; dvec2 d; bool b; uint u; };
        uniform S s[2] = S[](
            S(1.0, N(ivec2[](ivec2(2, -3), ivec2(4, 5)), mat2x3(6, 7, 8, 9, 10, 11)),
              dvec2(0.25LF, -12.5LF), true, 13u),
            S(21.0, N(ivec2[](ivec2(22, -23), ivec2(24, 25)), mat2x3(26, 27, 28, 29, 30, 31)),
              dvec2(0.75LF, -32.5LF), false, 4000000000u));
        out vec4 c;
        void main() {
            c = vec4(s[0].f + s[1].f + s[0].n.m[1] + s[1].n.m[1] + s[0].n.k[1].xyx, 1.0);
            c += vec4(s[0].d + s[1].d, s[0].b ? s[0].u : s[1].u, s[1].b) + s[1].n.k[1].xyxy;
        }"""
    program = link(VERTEX, (F, source))
    assert program.ok, program.info_log
    data, found = program.default_block_initial, {}
    for u in program.uniforms:
        columns = u.type.columns if u.type.is_matrix else 1
        rows = u.type.rows
        values: list[float] = []
        for i in range(max(1, u.array_size)):
            for c in range(columns):
                at = u.offset + i * u.array_stride + c * u.matrix_stride
                word = {"float": "f", "int": "i", "uint": "I", "bool": "I", "double": "d"}
                letter = word[u.type.base.name.lower()]
                values += struct.unpack_from(f"<{rows}{letter}", data, at)
        found[u.name] = values
    assert {k: v for k, v in found.items() if k.startswith("s[0]")} == {
        "s[0].f": [1.0],
        "s[0].n.k[0]": [2, -3, 4, 5],
        "s[0].n.m": [6, 7, 8, 9, 10, 11],
        "s[0].d": [0.25, -12.5],
        "s[0].b": [1],
        "s[0].u": [13],
    }
    assert found["s[1].f"] == [21.0]
    assert found["s[1].n.k[0]"] == [22, -23, 24, 25]
    assert found["s[1].n.m"] == [26, 27, 28, 29, 30, 31]
    assert (found["s[1].d"], found["s[1].b"]) == ([0.75, -32.5], [0])
    assert found["s[1].u"] == [4000000000]


@pytest.mark.parametrize("kind", ["uniform", "buffer"])
def test_unused_blocks_with_a_fixed_layout_are_kept(kind: str) -> None:
    declared = "".join(
        f"layout({packing}) {kind} {packing.upper()}_{used} {{ vec4 {packing}{used}; }};"
        for packing in ("packed", "shared", "std140")
        for used in range(2)
    )
    read = " + ".join(f"{packing}1" for packing in ("packed", "shared", "std140"))
    source = f"#version 430\n{declared} out vec4 c; void main() {{ c = {read}; }}"
    program = link(VERTEX, (F, source))
    blocks = program.uniform_blocks if kind == "uniform" else program.storage_blocks
    assert sorted(b.name for b in blocks) == [
        "PACKED_1", "SHARED_0", "SHARED_1", "STD140_0", "STD140_1",
    ]  # fmt: skip


@pytest.mark.parametrize("count", [3, 4, 5, 8])
def test_distances_are_captured_four_a_slot(count: int) -> None:
    writes = "".join(f"gl_ClipDistance[{i}] = {i}.0;" for i in range(count))
    source = (
        f"#version 430\nout float gl_ClipDistance[{count}]; out float a;\n"
        f"void main() {{ gl_Position = vec4(0.0); a = 1.0; {writes} }}"
    )
    plain = (F, "#version 430\nvoid main() {}")
    program = link((V, source), plain, xfb_varyings=["gl_ClipDistance", "a"])
    assert program.ok and program.xfb is not None, program.info_log
    first = int(VaryingSlot.CLIP_DIST0)
    places = [(int(o.slot), o.component, o.num_components, o.offset) for o in program.xfb.outputs]
    assert places[:-1] == [(first + i // 4, i % 4, 1, 4 * i) for i in range(count)]
    assert places[-1] == (int(VaryingSlot.VAR0), 0, 1, 4 * count)
    assert program.xfb.strides == (4 * count + 4,)
    assert program.shaders[V].info.has_transform_feedback
    assert not program.shaders[F].info.has_transform_feedback
    assert not link((V, source), plain).shaders[V].info.has_transform_feedback


def test_each_column_of_a_captured_matrix_has_a_slot() -> None:
    source = (
        "#version 430\nout mat3x2 m[2]; out dvec3 d;\nvoid main() { gl_Position = vec4(0.0);"
        "m[0] = m[1] = mat3x2(1.0); d = dvec3(1.0); }"
    )
    plain = (F, "#version 430\nvoid main() {}")
    program = link((V, source), plain, xfb_varyings=["m", "d"])
    assert program.ok and program.xfb is not None, program.info_log
    places = [(o.buffer, o.component, o.num_components, o.offset) for o in program.xfb.outputs]
    assert places == [
        *((0, 0, 2, 8 * i) for i in range(6)),
        (0, 0, 4, 48),
        (0, 0, 2, 64),
    ]
    slots = [int(o.slot) for o in program.xfb.outputs]
    assert len(set(slots)) == 8
    assert slots[1:6] == [slots[0] + i for i in range(1, 6)]
    assert slots[7] == slots[6] + 1
    assert program.xfb.strides == (72,)


# -- what is said outside of the shader ------------------------------------------------------------

GEOMETRY = """#version 120
#extension GL_ARB_geometry_shader4 : enable
void main() {
    for (int i = 0; i < gl_VerticesIn; i++) {
        gl_Position = gl_PositionIn[i] + vec4(float(gl_VerticesIn));
        EmitVertex();
    }
    EndPrimitive();
}"""


@pytest.mark.parametrize(
    ("primitive", "vertices"),
    [
        ("points", 1),
        ("lines", 2),
        ("lines_adjacency", 4),
        ("triangles", 3),
        ("triangles_adjacency", 6),
    ],
)
@pytest.mark.parametrize("optimize", [True, False])
def test_primitives_may_be_set_from_outside(primitive: str, vertices: int, optimize: bool) -> None:
    shader = compiled(G, GEOMETRY)
    assert shader.ok, shader.info_log
    program = link_program(
        [compiled(*VERTEX), shader],
        LinkOptions(
            api="compat",
            geometry_input=primitive,
            geometry_output="line_strip",
            geometry_max_vertices=7,
            optimize=optimize,
        ),
    )
    assert program.ok, program.info_log
    nir = program.shaders[G]
    info = nir.info
    assert (info.input_primitive, info.output_primitive) == (primitive, "line_strip")
    assert info.vertices_out == 7
    if optimize:
        given: dict[Any, Any] = {
            (int(VaryingSlot.POS), c, v): np.array([10.0 * v + c])
            for v in range(1, vertices)
            for c in range(4)
        }
        given |= {(int(VaryingSlot.POS), c): np.array([1.0 * c]) for c in range(4)}
        result = interpret(nir, Environment(lanes=1, inputs=given))
        seen = [
            [float(out[int(VaryingSlot.POS), c].view(np.float32)[0]) for c in range(4)]
            for _, _, out in result.vertices
        ]
        assert seen == [[10.0 * v + c + vertices for c in range(4)] for v in range(vertices)]
    for left in program.shaders.values():
        left.unref()


def test_a_shader_that_says_its_primitives_keeps_them() -> None:
    source = (
        "#version 150\nlayout(triangles) in; layout(points, max_vertices = 2) out;\n"
        "void main() { gl_Position = gl_in[2].gl_Position; EmitVertex(); }"
    )
    program = link(
        VERTEX,
        (G, source),
        geometry_input="lines",
        geometry_output="line_strip",
        geometry_max_vertices=7,
    )
    info = program.shaders[G].info
    assert (info.input_primitive, info.output_primitive) == ("triangles", "points")
    assert info.vertices_out == 2


@pytest.mark.parametrize(
    "pragma", ["", "#pragma STDGL invariant(all)\n", "#pragma invariant(all)\n"]
)
def test_a_pragma_makes_all_outputs_invariant(pragma: str) -> None:
    """Those of a user, too: before GLSL 4.20 the next stage has to say that they are."""
    source = f"#version 330\n{pragma}in vec4 a; out vec4 o; vec4 g; flat out int i;\n"
    source += "void main() { gl_Position = g = a; o = a * a + a; gl_PointSize = a.x; i = 1; }"
    shader = compiled(V, source)
    assert shader.ok and shader.tree is not None
    everything = "STDGL" in pragma
    tree = shader.tree
    assert {v.name for v in tree.globals if v.quals.precise} == (
        {"o", "i"} if everything else set()
    )
    expected = {"gl_Position", "gl_PointSize"} if everything else set()
    assert {n for n, v in tree.builtins.items() if v.quals.invariant} == expected
    assert {v.name for v in tree.globals if v.quals.invariant} == (
        {"o", "i"} if everything else set()
    )
    word = "invariant " if everything else ""
    read = f"#version 330\n{word}in vec4 o; {word}flat in int i; out vec4 c;"
    assert link((V, source), (F, f"{read} void main() {{ c = o * float(i); }}")).ok


def test_what_is_linked_can_be_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """GALLETTE_DEBUG=glsl:dump: every stage, before any pass has run."""
    body = (
        F,
        "#version 430\nuniform float u; void main() { float unused = u * u; }",
    )
    assert link(VERTEX, body).ok
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("GALLETTE_DEBUG", "glsl:dump")
    assert link(VERTEX, body).ok
    told = capsys.readouterr().err
    assert told.count("shader vertex") == 1 and told.count("shader fragment") == 1, told
    assert "fmul" in told  # what nobody needs is still there
