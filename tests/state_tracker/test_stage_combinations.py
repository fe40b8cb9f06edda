"""Which shaders may run together (section 11.1.3.11 of OpenGL 4.6, 7.4.1 of OpenGL ES 3.2).

A row has what is in use: `VF` is a program of a vertex and a fragment shader, `VF>F` one of which a
pipeline uses the fragment shader only; several make a pipeline. Then whether triangles and whether
patches are drawn, and whether the pipeline is valid: `+` or `-`. Where native GL answers otherwise
stands why.
"""

from __future__ import annotations

from typing import Any

import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import errors, linked

KINDS = {
    "V": ("VERTEX", "void main() { gl_Position = vec4(0); }"),
    "C": ("TESS_CONTROL", "layout(vertices = 3) out; void main() { "
          "gl_out[gl_InvocationID].gl_Position = vec4(0); gl_TessLevelOuter[0] = 1.; }"),
    "E": ("TESS_EVALUATION", "layout(triangles) in; "
          "void main() { gl_Position = gl_in[0].gl_Position; }"),
    "G": ("GEOMETRY", "layout(triangles) in; layout(triangle_strip, max_vertices = 3) out; "
          "void main() { gl_Position = gl_in[0].gl_Position; EmitVertex(); }"),
    "F": ("FRAGMENT", "out vec4 c; void main() { c = vec4(1); }"),
    "K": ("COMPUTE", "layout(local_size_x = 1) in; void main() {}"),
}  # fmt: skip
INTO, OUT = (
    "in gl_PerVertex { vec4 gl_Position; } gl_in[];",
    "out gl_PerVertex { vec4 gl_Position; }",
)
BLOCKS = {
    "V": f"{OUT};",
    "C": f"{INTO} {OUT} gl_out[];",
    "E": f"{INTO} {OUT};",
    "G": f"{INTO} {OUT};",
}
USED = "glUseProgram of native GL lets stages after the vertex shader run without it"
VALID = "native GL finds valid what it does not draw with"

ROWS: dict[str, tuple[str, str, str]] = {
    # in use: core, es, why native GL differs
    "": ("---", "---", ""),
    "VF": ("+-+", "+-+", ""),
    "V": ("+-+", "+-+", ""),
    "F": ("+-+", "+-+", ""),  # no vertices: nothing is drawn
    "K": ("+-+", "+-+", ""),
    "VGF": ("+-+", "+-+", ""),
    "VCEF": ("-++", "-++", ""),
    "VEF": ("-++", "---", VALID),
    "VCF": ("---", "---", VALID),
    "VC": ("---", "---", VALID),
    "G": ("---", "---", USED),
    "GF": ("---", "---", USED),
    "C": ("---", "---", ""),
    "E": ("---", "---", USED),
    "CE": ("---", "---", USED),
    "CEF": ("---", "---", USED),
    "CEGF": ("---", "---", USED),
    "V F": ("+-+", "+-+", ""),
    "V G F": ("+-+", "+-+", ""),
    "V C E F": ("-++", "-++", ""),
    "V E F": ("-++", "---", VALID),
    "V C F": ("---", "---", VALID),
    "C E F": ("---", "---", ""),
    "G F": ("---", "---", ""),
    "VF>V F": ("---", "---", ""),
    "V VF>F": ("---", "---", ""),
    "VF>V": ("---", "---", ""),
    "VGF>VF": ("---", "---", ""),
    "VGF>VG F": ("---", "---", ""),
    "VG F": ("+-+", "+-+", ""),
    "VF G": ("---", "---", ""),
    "VF K": ("+-+", "+-+", ""),
    "VG CE F": ("---", "---", ""),
    "VCE GF": ("-++", "-++", ""),
}
BITS = {"V": 1, "F": 2, "G": 4, "C": 8, "E": 16, "K": 32}


def program_of(gl: Any, es: bool, letters: str) -> int:
    head = "#version 320 es\nprecision highp float;\n" if es else "#version 450\n"
    texts = {}
    for letter in letters:
        kind, text = KINDS[letter]
        texts[kind] = head + ("" if es else BLOCKS.get(letter, "")) + text
    return linked(gl, separable=True, used=False, **texts)


def answers(gl: Any, es: bool, row: str) -> list[str]:
    """What a program and a pipeline of a row may draw, and whether the pipeline is valid."""
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.patch_parameteri(GL.PATCH_VERTICES, 3)
    (pipeline,) = gl.gen_program_pipelines(1)
    gl.bind_program_pipeline(pipeline)
    programs = []
    for word in row.split():
        letters, _, some = word.partition(">")
        programs.append(program_of(gl, es, letters))
        gl.use_program_stages(pipeline, sum(BITS[x] for x in some or letters), programs[-1])
    gl.validate_program_pipeline(pipeline)
    valid = "-+"[gl.get_program_pipelineiv(pipeline, GL.VALIDATE_STATUS)[0]]
    assert errors(gl) == []
    found = []
    for name in [0, *programs] if len(programs) == 1 and ">" not in row else [0]:
        gl.use_program(name)
        drawn = ""
        for mode in (GL.TRIANGLES, GL.PATCHES):
            gl.draw_arrays(mode, 0, 3)
            drawn += "-" if errors(gl) == ["GL_INVALID_OPERATION"] else "+"
        found.append(drawn + valid)
    gl.use_program(0)
    return found


@pytest.mark.native
@pytest.mark.parametrize("profile", ["core", "es"])
def test_stages_that_run_together(profile: str) -> None:
    es = profile == "es"
    options: dict[str, Any] = {"profile": profile, "version": (3, 2) if es else (4, 5)}
    ours, theirs = (make(size=(4, 4), **options) for make in (create_ours, native_context))
    wrong, explained = [], {why for *_, why in ROWS.values() if why}
    for row, (core, other, why) in ROWS.items():
        wanted = other if es else core
        found, native = answers(ours, es, row), answers(theirs, es, row)
        if set(found) != {wanted}:
            wrong.append(f"{row}: {found}, not {wanted}")
        if found != native:
            explained.discard(why)
            wrong += [] if why else [f"{row}: {found}, native {native}"]
    assert wrong == []
    assert not explained
    ours.release()
    theirs.release()


def create_ours(**options: Any) -> Any:
    return create_context("numpipe", **options)


# Outputs of one program and inputs of the next in OpenGL ES: do they match?
MATCHES = [
    ("out vec4 v;", "in vec4 v;", True),
    ("out vec4 v;", "in vec3 v;", False),
    ("out vec4 v[2];", "in vec4 v[2];", True),
    ("out vec4 v[2];", "in vec4 v[3];", False),
    ("out vec4 v;", "in vec4 w;", False),
    ("out vec4 v; out vec4 w;", "in vec4 v;", False),
    ("out vec4 v;", "in vec4 v; in vec4 w;", False),
    ("layout(location = 1) out vec4 v;", "layout(location = 1) in vec4 w;", True),
    ("layout(location = 1) out vec4 v;", "layout(location = 2) in vec4 v;", False),
    ("flat out vec4 v;", "in vec4 v;", False),
    ("flat out vec4 v;", "flat in vec4 v;", True),
    ("flat out ivec4 v;", "flat in uvec4 v;", False),
    ("out B { vec4 v; } b;", "in B { vec4 v; } c;", True),
    ("out B { vec4 v; } b;", "in C { vec4 v; } c;", False),
    ("out B { vec4 v; } b;", "in vec4 v;", False),
    ("out B { vec4 v; } b;", "in B { vec4 w; } c;", False),
    ("out B { vec4 v; } b;", "in B { vec4 v; vec4 w; } c;", False),
    ("struct S { vec4 x; float y; }; out S v;", "struct S { vec4 x; float y; }; in S v;", True),
    ("struct S { vec4 x; float y; }; out S v;", "struct S { vec4 x; int y; }; flat in S v;", False),
    ("out mediump vec4 v;", "in highp vec4 v;", False),
    ("out highp vec4 v;", "in vec4 v;", True),
]


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_ends_of_es_programs_match(driver: str) -> None:
    options: dict[str, Any] = {"profile": "es", "version": (3, 2), "size": (4, 4)}
    gl = native_context(**options) if driver == "native" else create_ours(**options)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    wrong = []
    for out, into, wanted in MATCHES:
        (pipeline,) = gl.gen_program_pipelines(1)
        gl.bind_program_pipeline(pipeline)
        for kind, bit, text in (
            ("VERTEX", 1, f"{out} void main() {{ gl_Position = vec4(0); }}"),
            ("FRAGMENT", 2, f"{into} out vec4 color; void main() {{ color = vec4(1); }}"),
        ):
            head = "#version 320 es\nprecision highp float; precision highp int;\n"
            place = getattr(GL, f"{kind}_SHADER")
            name = gl.create_shader_programv(place, 1, [head + text])
            assert gl.get_programiv(name, GL.LINK_STATUS)[0], gl.get_program_info_log(name)
            gl.use_program_stages(pipeline, bit, name)
        gl.validate_program_pipeline(pipeline)
        valid = bool(gl.get_program_pipelineiv(pipeline, GL.VALIDATE_STATUS)[0])
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        drawn = errors(gl) == []
        wrong += [] if (valid, drawn) == (wanted, wanted) else [(out, into, valid, drawn)]
    assert wrong == []
    gl.release()


# What a vertex shader writes and a geometry shader of another program reads of gl_PerVertex: each
# may redeclare the block with other members.
POSITION, SIZE, DISTANCE = "vec4 gl_Position;", "float gl_PointSize;", "float gl_ClipDistance[1];"
MEMBERS = ("", POSITION, POSITION + SIZE, SIZE + POSITION, POSITION + DISTANCE)


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_members_of_built_in_blocks_invalidate_no_pipeline(driver: str) -> None:
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (4, 4)}
    gl = native_context(**options) if driver == "native" else create_ours(**options)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    wrong = []
    for out in MEMBERS:
        for into in MEMBERS:
            (pipeline,) = gl.gen_program_pipelines(1)
            gl.bind_program_pipeline(pipeline)
            written = f"out gl_PerVertex {{ {out} }};" if out else ""
            read = f"in gl_PerVertex {{ {into} }} gl_in[];" if into else ""
            for letter, block in (("V", written), ("G", f"{read} {OUT};"), ("F", "")):
                kind, text = KINDS[letter]
                shader = getattr(GL, f"{kind}_SHADER")
                name = gl.create_shader_programv(shader, 1, [f"#version 450\n{block}\n{text}"])
                assert gl.get_programiv(name, GL.LINK_STATUS)[0], gl.get_program_info_log(name)
                gl.use_program_stages(pipeline, BITS[letter], name)
            gl.validate_program_pipeline(pipeline)
            valid = gl.get_program_pipelineiv(pipeline, GL.VALIDATE_STATUS)[0]
            gl.draw_arrays(GL.TRIANGLES, 0, 3)
            if not valid or errors(gl):
                wrong.append((out, into))
    assert wrong == []
    gl.release()
