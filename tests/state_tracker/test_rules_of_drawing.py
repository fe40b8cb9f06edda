"""Rules about draws, dispatches and what they read and write: a table each, with what comes out.

Native GL says the same, but where a test says why not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.native.context import NativeContext
from tests.conftest import native_context
from tests.state_tracker.helpers import errors, linked, pixels, program

FULL = """#version 450
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }"""
WHITE = "#version 450\nout vec4 c; void main() { c = vec4(1, 1, 1, ALPHA); MORE }"


@pytest.fixture(params=["numpipe", "jit", pytest.param("native", marks=pytest.mark.native)])
def gl(request: pytest.FixtureRequest) -> Iterator[Any]:
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (8, 8)}
    if request.param == "jit":
        pytest.importorskip("llvmlite")
    native = request.param == "native"
    context = native_context(**options) if native else create_context(request.param, **options)
    context.bind_vertex_array(context.gen_vertex_arrays(1)[0])
    yield context
    assert errors(context) == []
    context.release()


def buffer(gl: Any, target: int, data: Any) -> int:
    (name,) = gl.gen_buffers(1)
    gl.bind_buffer(target, name)
    gl.buffer_data(target, len(bytes(data)), data, GL.STATIC_DRAW)
    return int(name)


def capturing(gl: Any, text: str, names: list[str], room: int = 256) -> int:
    """A vertex shader whose outputs go into a buffer."""
    name = linked(gl, captured=names, vertex="#version 450\n" + text)
    gl.enable(GL.RASTERIZER_DISCARD)
    gl.bind_buffer_base(
        GL.TRANSFORM_FEEDBACK_BUFFER, 0, buffer(gl, GL.TRANSFORM_FEEDBACK_BUFFER, bytes(room))
    )
    return int(name)


# -- images of one sample (section 9.2.4: at least as many samples as asked for) -------------------

UNCOVERED = {
    "gl_SampleMask": ("1", "gl_SampleMask[0] = 0;", None),
    "SAMPLE_MASK": ("1", "", GL.SAMPLE_MASK),
    "SAMPLE_COVERAGE": ("1", "", GL.SAMPLE_COVERAGE),
    "SAMPLE_ALPHA_TO_COVERAGE": ("0", "", GL.SAMPLE_ALPHA_TO_COVERAGE),
}


@pytest.mark.parametrize("how", UNCOVERED)
@pytest.mark.parametrize("storage", ["renderbuffer", "texture", "none"])
def test_one_sample_is_multisampling(gl: Any, storage: str, how: str) -> None:
    if storage == "none" and (how == "SAMPLE_ALPHA_TO_COVERAGE" or isinstance(gl, NativeContext)):
        pytest.skip(
            "nothing has an alpha, and llvmpipe takes masks only where something is drawn to"
        )
    gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
    if storage == "renderbuffer":
        (name,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, name)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, 1, GL.RGBA8, 8, 8)
        place = GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, name
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, *place)
    elif storage == "texture":
        (name,) = gl.gen_textures(1)
        target = GL.TEXTURE_2D_MULTISAMPLE
        gl.bind_texture(target, name)
        gl.tex_storage2d_multisample(target, 1, GL.RGBA8, 8, 8, True)
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, target, name, 0)
    else:
        for letter in ("WIDTH", "HEIGHT"):
            place = GL.FRAMEBUFFER, getattr(GL, f"FRAMEBUFFER_DEFAULT_{letter}")
            gl.framebuffer_parameteri(*place, 8)
        gl.framebuffer_parameteri(GL.FRAMEBUFFER, GL.FRAMEBUFFER_DEFAULT_SAMPLES, 1)
    assert gl.get_integerv(GL.SAMPLE_BUFFERS)[0] == 1
    assert gl.get_integerv(GL.SAMPLES)[0] >= 1
    alpha, more, switch = UNCOVERED[how]
    program(gl, FULL, WHITE.replace("ALPHA", alpha).replace("MORE", more))
    gl.sample_maski(0, 0)
    gl.sample_coverage(0.0, False)
    if switch is not None:
        gl.enable(switch)
    (query,) = gl.gen_queries(1)
    gl.begin_query(GL.ANY_SAMPLES_PASSED, query)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.end_query(GL.ANY_SAMPLES_PASSED)
    assert not gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0]


# -- what is captured in one buffer is tightly packed (section 13.3.2) -----------------------------

PACKED = (
    ("float a; double b; vec3 c; dvec2 d", [0, 4, 12, 24, 40]),
    ("double a; float b", [0, 8, 12]),
    ("float a; dmat2 b; float c", [0, 4, 36, 40]),
    ("vec2 a; dvec3 b; uint c; double d", [0, 8, 32, 36, 44]),
)


@pytest.mark.parametrize("outputs", PACKED, ids=lambda row: row[0])
def test_captured_values_follow_one_another(gl: Any, outputs: tuple[str, list[int]]) -> None:
    declared, offsets = outputs
    pairs = [d.split() for d in declared.split("; ")]
    text = "".join(f"flat out {d};" for d in declared.split("; "))
    body = "".join(f"{name} = {kind}({i + 1});" for i, (kind, name) in enumerate(pairs))
    name = capturing(
        gl, f"{text} void main() {{ gl_Position = vec4(0); {body} }}", [n for _, n in pairs]
    )
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 2)
    gl.end_transform_feedback()
    stride = gl.get_program_resourceiv(
        name, GL.TRANSFORM_FEEDBACK_BUFFER, 0, 1, [GL.TRANSFORM_FEEDBACK_BUFFER_STRIDE]
    )
    varying, wanted = GL.TRANSFORM_FEEDBACK_VARYING, [GL.OFFSET]
    found = [gl.get_program_resourceiv(name, varying, i, 1, wanted)[0] for i in range(len(pairs))]
    assert [*found, stride[0]] == offsets
    raw = bytes(gl.get_buffer_sub_data(GL.TRANSFORM_FEEDBACK_BUFFER, 0, 2 * offsets[-1]))
    for vertex in (0, offsets[-1]):
        for i, (kind, _) in enumerate(pairs):
            dtype = {"d": "<f8", "u": "<u4"}.get(kind[0], "<f4")
            assert np.frombuffer(raw, dtype, 1, vertex + offsets[i])[0] == i + 1


# -- drawing as many vertices as were captured (section 13.3.3) ------------------------------------


def test_a_capture_that_has_ended_is_drawn_whatever_goes_on(gl: Any) -> None:
    objects = gl.gen_transform_feedbacks(2)
    for other in reversed(objects):
        gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, other)
        capturing(gl, "out float a; void main() { gl_Position = vec4(0); a = 1; }", ["a"])
    (query,) = gl.gen_queries(1)
    drawn: list[Any] = []

    def draw(name: int) -> None:
        gl.begin_query(GL.VERTICES_SUBMITTED, query)
        gl.draw_transform_feedback(GL.POINTS, name)
        gl.end_query(GL.VERTICES_SUBMITTED)
        error = errors(gl)
        drawn.append(error or gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0])

    draw(objects[0])  # nothing has ended yet
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 5)
    draw(objects[0])
    gl.end_transform_feedback()
    draw(objects[0])
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 3)
    draw(objects[0])  # again: as many as the last time
    gl.pause_transform_feedback()
    draw(objects[0])
    gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, objects[1])
    draw(objects[0])
    draw(objects[1])
    gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, objects[0])
    gl.resume_transform_feedback()
    gl.end_transform_feedback()
    draw(objects[0])
    refused = ["GL_INVALID_OPERATION"]
    if isinstance(gl, NativeContext):  # llvmpipe does not count vertices of these draws
        drawn = [
            d if d == refused else w for d, w in zip(drawn, [0, 0, 5, 5, 5, 5, 0, 8], strict=True)
        ]
    assert drawn == [refused, refused, 5, 5, 5, 5, refused, 8]


# -- conditional rendering (section 10.9) ----------------------------------------------------------

COUNT = """#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Count { uint count; }; void main() { count += 1u; }"""
DISPATCHES = {
    "direct": lambda gl: gl.dispatch_compute(1, 1, 1),
    "indirect": lambda gl: gl.dispatch_compute_indirect(0),
}


@pytest.mark.parametrize("how", DISPATCHES)
@pytest.mark.parametrize("mode", ["QUERY_WAIT", "QUERY_WAIT_INVERTED", ""])
def test_a_condition_discards_dispatches(gl: Any, mode: str, how: str) -> None:
    (query,) = gl.gen_queries(1)
    gl.begin_query(GL.SAMPLES_PASSED, query)
    gl.end_query(GL.SAMPLES_PASSED)
    linked(gl, compute=COUNT)
    counter = buffer(gl, GL.SHADER_STORAGE_BUFFER, bytes(4))
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, counter)
    buffer(gl, GL.DISPATCH_INDIRECT_BUFFER, np.ones(3, np.uint32))
    if mode:
        gl.begin_conditional_render(query, getattr(GL, mode))
    DISPATCHES[how](gl)
    if mode:
        gl.end_conditional_render()
    gl.memory_barrier(GL.BUFFER_UPDATE_BARRIER_BIT)
    found = bytes(gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, 4))[0]
    assert found == (mode != "QUERY_WAIT")


# -- depth as floats (section 8.4.4.5: final conversion clamps depth) ------------------------------

DEPTHS = [
    ("DEPTH_COMPONENT16", "DEPTH_COMPONENT", "FLOAT"),
    ("DEPTH_COMPONENT32", "DEPTH_COMPONENT", "FLOAT"),
    ("DEPTH_COMPONENT32F", "DEPTH_COMPONENT", "FLOAT"),
    ("DEPTH_COMPONENT32F", "DEPTH_COMPONENT", "HALF_FLOAT"),
    ("DEPTH32F_STENCIL8", "DEPTH_COMPONENT", "FLOAT"),
    ("DEPTH32F_STENCIL8", "DEPTH_STENCIL", "FLOAT_32_UNSIGNED_INT_24_8_REV"),
]


@pytest.mark.parametrize("row", DEPTHS, ids="-".join)
def test_depths_are_between_0_and_1(gl: Any, row: tuple[str, str, str]) -> None:
    internal, format, type = (int(getattr(GL, name)) for name in row)
    values: npt.NDArray[Any] = np.array([-1, 2, 0.25, 1.5, 1, 0, -0.25, 1e30], np.float32)
    if row[2] == "HALF_FLOAT":
        values = values.clip(-9, 9).astype(np.float16)
    given: npt.NDArray[Any] = values
    if format == GL.DEPTH_STENCIL:
        given = np.stack([values, values * 0], -1)
    given, target = np.ascontiguousarray(given), GL.TEXTURE_2D
    wanted = values.clip(0, 1).astype(np.float32)
    (name,) = gl.gen_textures(1)
    gl.bind_texture(target, name)

    def stored() -> Any:
        raw = gl.get_tex_image(target, 0, GL.DEPTH_COMPONENT, GL.FLOAT)
        return np.frombuffer(bytes(raw), np.float32)

    gl.tex_image2d(target, 0, internal, 8, 1, 0, format, type, given)
    np.testing.assert_allclose(stored(), wanted, atol=1e-4)
    both = GL.DEPTH_STENCIL, GL.FLOAT_32_UNSIGNED_INT_24_8_REV
    least = np.array([-3, 0], np.float16 if row[2] == "HALF_FLOAT" else np.float32)
    gl.clear_tex_image(name, 0, *(both if "STENCIL" in row[0] else (format, type)), least)
    np.testing.assert_array_equal(stored(), 0)
    gl.tex_sub_image2d(target, 0, 0, 0, 8, 1, format, type, given)
    np.testing.assert_allclose(stored(), wanted, atol=1e-4)


# -- vertices by index -----------------------------------------------------------------------------

WRAPPED = [  # indices, base vertex, gl_VertexID (section 10.4: the sum wraps)
    ([0xFFFFFFFF, 0xFFFFFFFE, 2], 5, [4, 3, 7]),
    ([0xFFFFFF00, 0xFFFFFF01, 0xFFFFFF03], 0x103, [3, 4, 6]),
    ([3, 4, 5], -3, [0, 1, 2]),
    ([0x80000001, 0x80000002, 0x80000007], -0x7FFFFFFF, [2, 3, 8]),
    ([5, 0xFFFFFFFB, 0xFFFFFFFC], 5, [10, 0, 1]),
    ([2, 1, 0], 2, [4, 3, 2]),
]


@pytest.mark.parametrize("triangle", [False, True])
@pytest.mark.parametrize("row", WRAPPED, ids=str)
def test_the_base_vertex_is_added_with_32_bits(
    gl: Any, row: tuple[list[int], int, list[int]], triangle: bool
) -> None:
    indices, base, wanted = row
    buffer(gl, GL.ELEMENT_ARRAY_BUFFER, np.array(indices, np.uint32))
    floats = np.arange(100, 116, dtype=np.float32)
    if not triangle:
        text = """layout(location = 0) in float v; out float a; flat out int i;
            void main() { gl_Position = vec4(0); a = v; i = gl_VertexID; }"""
        capturing(gl, text, ["a", "i"])
        buffer(gl, GL.ARRAY_BUFFER, floats)
    else:
        text = """#version 450
            layout(location = 0) in float v;
            void main() { gl_Position = vec4(v == 1 ? 3 : -1, v == 2 ? 3 : -1, 0, 1); }"""
        floats[:] = [wanted.index(k) if k in wanted else 0 for k in range(16)]
        program(gl, text, WHITE.replace("ALPHA", "1").replace("MORE", ""))
        buffer(gl, GL.ARRAY_BUFFER, floats)
    gl.enable_vertex_attrib_array(0)
    gl.vertex_attrib_pointer(0, 1, GL.FLOAT, 0, 0, None)
    if triangle:
        gl.draw_elements_base_vertex(GL.TRIANGLES, 3, GL.UNSIGNED_INT, None, base)
        assert pixels(gl, 8, 8).all()
        return
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_elements_base_vertex(GL.POINTS, 3, GL.UNSIGNED_INT, None, base)
    gl.end_transform_feedback()
    raw = bytes(gl.get_buffer_sub_data(GL.TRANSFORM_FEEDBACK_BUFFER, 0, 24))
    assert np.frombuffer(raw, np.int32)[1::2].tolist() == wanted
    assert np.frombuffer(raw, np.float32)[::2].tolist() == [100 + w for w in wanted]


@pytest.mark.parametrize("mode", ["POINTS", "LINES", "LINE_STRIP", "TRIANGLES", "TRIANGLE_STRIP"])
@pytest.mark.parametrize("restarts", [False, True])
def test_indices_that_restart_are_no_vertices(gl: Any, mode: str, restarts: bool) -> None:
    """Those of primitives that are not complete may be counted or not."""
    program(gl, FULL, WHITE.replace("ALPHA", "1").replace("MORE", ""))
    indices = np.array([0, 1, 2, 0xFFFF, 0, 1, 2, 0xFFFF, 0xFFFF, 1], np.uint16)
    buffer(gl, GL.ELEMENT_ARRAY_BUFFER, indices if restarts else indices & 15)
    if restarts:
        gl.enable(GL.PRIMITIVE_RESTART_FIXED_INDEX)
    (query,) = gl.gen_queries(1)
    gl.begin_query(GL.VERTICES_SUBMITTED, query)
    gl.draw_elements(getattr(GL, mode), 10, GL.UNSIGNED_SHORT, None)
    gl.end_query(GL.VERTICES_SUBMITTED)
    most = 7 if restarts else 10
    assert most - 3 <= gl.get_query_objectuiv(query, GL.QUERY_RESULT)[0] <= most


# -- formats without an alpha have one of 1 (section 17.3.6.1) -------------------------------------

WITHOUT_ALPHA = """R8 RG8 RGB8 RGB16 RGB565 R8_SNORM RG8_SNORM RGB8_SNORM RGB16_SNORM RGB16F RGB32F
    R11F_G11F_B10F SRGB8"""


def attach(gl: Any, format: int) -> None:
    """A framebuffer with one texel of a format."""
    (texture,) = gl.create_textures(GL.TEXTURE_2D, 1)
    gl.texture_storage2d(texture, 1, format, 1, 1)
    (framebuffer,) = gl.create_framebuffers(1)
    gl.named_framebuffer_texture(framebuffer, GL.COLOR_ATTACHMENT0, texture, 0)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)


@pytest.mark.parametrize("format", WITHOUT_ALPHA.split())
def test_blending_with_an_alpha_that_is_not_stored(gl: Any, format: str) -> None:
    attach(gl, getattr(GL, format))
    gl.viewport(0, 0, 1, 1)
    program(gl, FULL, WHITE.replace("ALPHA", "1").replace("MORE", ""))
    gl.enable(GL.BLEND)
    for factors, red in (
        ((GL.DST_ALPHA, GL.ZERO), 1.0),
        ((GL.ONE_MINUS_DST_ALPHA, GL.ONE), 0.5),
        ((GL.ZERO, GL.ONE_MINUS_DST_ALPHA), 0.0),
        ((GL.SRC_ALPHA_SATURATE, GL.ONE), 0.5),
    ):
        gl.clear_bufferfv(GL.COLOR, 0, [0.5, 0.5, 0.5, 0.25])
        gl.blend_func(*factors)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        found = np.frombuffer(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.FLOAT), np.float32)
        assert found[0] == pytest.approx(red, abs=0.03)


# -- colours are clamped when they are read, or not (section 18.2.8) -------------------------------


@pytest.mark.parametrize("type", ["FLOAT", "HALF_FLOAT"])
@pytest.mark.parametrize(
    ("format", "clamp", "clamped"),
    [
        ("RGBA8_SNORM", None, True),
        ("RGBA16_SNORM", None, True),
        ("RG8_SNORM", "FIXED_ONLY", True),
        ("RGBA8_SNORM", "FALSE", False),
        ("RGBA8_SNORM", "TRUE", True),
        ("RGBA16F", None, False),
        ("RGBA16F", "FALSE", False),
        ("RGBA32F", "TRUE", True),
    ],
)
def test_negative_colors_are_clamped_by_the_kind_of_buffer(
    gl: Any, format: str, clamp: str | None, clamped: bool, type: str
) -> None:
    attach(gl, getattr(GL, format))
    gl.clear_bufferfv(GL.COLOR, 0, [-1.0, 1.0, -1.0, 1.0])
    if clamp is not None:
        gl.clamp_color(GL.CLAMP_READ_COLOR, getattr(GL, clamp))
    raw = gl.read_pixels(0, 0, 1, 1, GL.RGBA, getattr(GL, type))
    found = np.frombuffer(raw, np.float32 if type == "FLOAT" else np.float16)
    assert found[:2].tolist() == [0.0 if clamped else -1.0, 1.0]
