"""Draw calls: indices, instances, capture, queries, clipping, targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from draw_scene import Canvas, color_fragment, position_vertex

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.drivers.common.output import engine
from gallette.pipe.enums import (
    ClearFlags,
    CompareFunc,
    CullFace,
    PolygonMode,
    Primitive,
    QueryType,
    Target,
)
from gallette.pipe.formats import format_named
from gallette.pipe.resource import LeakError, ResourceDesc
from gallette.pipe.state import (
    BlendState,
    DrawInfo,
    IndirectInfo,
    RenderTargetBlend,
    ScissorState,
    StreamOutput,
    StreamOutputInfo,
    StreamOutputTarget,
    Surface,
    VertexBuffer,
    VertexElement,
)

Make = Callable[..., Canvas]
EVERYWHERE = [[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]]
SQUARE = np.array([[-1, -1, 0, 1], [1, -1, 0, 1], [1, 1, 0, 1], [-1, 1, 0, 1]], np.float32)
RED, GREEN = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0)


def cell(x: int, y: int, count: int = 8) -> npt.NDArray[np.float32]:
    """The square (x, y) of a grid of `count` by `count`, as four corners."""
    size = 2 / count
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * size + [x * size - 1, y * size - 1]
    return np.concatenate((corners, np.tile([0.0, 1.0], (4, 1))), axis=1).astype(np.float32)


def covered_cells(canvas: Canvas, count: int = 8) -> set[tuple[int, int]]:
    """Which squares of the grid are fully drawn; none may be drawn in part."""
    drawn = canvas.pixels()[..., 3] > 0
    side = canvas.width // count
    blocks = drawn.reshape(count, side, count, side)
    full, some = blocks.all(axis=(1, 3)), blocks.any(axis=(1, 3))
    np.testing.assert_array_equal(full, some)
    return {(int(x), int(y)) for y, x in np.argwhere(full)}


def test_indices_restart_and_bias(canvas: Make) -> None:
    target = canvas(64, 64)
    positions = np.concatenate([cell(0, 0), cell(3, 1), cell(7, 7), cell(5, 2)])
    indices = [0, 1, 2, 3, 0xFFFF, 4, 5, 6, 7, 0xFFFF, 8, 9]
    target.draw(
        Primitive.TRIANGLE_FAN,
        positions,
        indices=indices,
        primitive_restart=True,
        restart_index=0xFFFF,
        index_bias=4,
    )
    assert covered_cells(target) == {(3, 1), (7, 7)}


@pytest.mark.parametrize("size", [1, 2, 4])
def test_index_sizes_and_unaligned_starts(size: int, canvas: Make) -> None:
    target = canvas(64, 64)
    target.vertices(np.concatenate([cell(0, 0), cell(2, 3)]))
    raw = np.array([9, 4, 5, 6, 4, 6, 7], f"<u{size}").tobytes()
    data = np.frombuffer(b"\xaa" * 3 + raw, np.uint8)
    buffer = target.buffer(data, np.uint8)
    info = DrawInfo(
        Primitive.TRIANGLES,
        start=1,
        count=6,
        index_size=size,
        index_buffer=buffer,
        index_offset=3,
    )
    target.context.draw_vbo(info)
    assert covered_cells(target) == {(2, 3)}


def test_indices_outside_the_buffers_read_zero(canvas: Make) -> None:
    target = canvas(64, 64)
    target.draw(Primitive.TRIANGLES, EVERYWHERE, indices=[0, 1, 77777, 4000000000, 1, 2], count=90)
    assert not target.pixels().any()


def test_sparse_indices_shade_only_what_is_used(canvas: Make) -> None:
    target = canvas(64, 64)
    positions = np.zeros((5000, 4), np.float32)
    positions[[0, 2500, 4999]] = EVERYWHERE
    target.draw(Primitive.TRIANGLES, positions, indices=[0, 2500, 4999])
    assert target.pixels()[..., 3].all()
    assert target.context.counters.vs_invocations == 3


def instanced_vertex() -> Shader:
    """Position plus an offset per instance; the colour says which instance it is."""
    b = Builder.shader_main(Stage.VERTEX, "instanced")
    zero = b.imm_int(0)
    place = b.intrinsic("load_input", [zero], num_components=4, base=0, location=0)
    offset = b.intrinsic("load_input", [zero], num_components=4, base=1, location=1)
    b.intrinsic(
        "store_output", [b.fadd(place, offset), zero], location=VaryingSlot.POS, write_mask=15
    )
    number = b.i2f32(b.load_system_value("instance_id"))
    red = b.fmul(number, b.imm_float(1 / 255))
    color = b.vec([red, b.imm_float(0.0), b.imm_float(0.0), b.imm_float(1.0)])
    b.intrinsic("store_output", [color, zero], location=VaryingSlot.VAR0, write_mask=15)
    return b.shader


@pytest.mark.parametrize(("divisor", "start"), [(1, 0), (1, 1), (2, 0)])
def test_instances_and_divisors(divisor: int, start: int, canvas: Make) -> None:
    target = canvas(64, 64)
    target.program(instanced_vertex(), color_fragment("flat"))
    context = target.context
    places = [(0, 0), (1, 2), (4, 4), (7, 1), (2, 6)]
    offsets = [[x / 4, y / 4, 0, 0] for x, y in places]
    format = format_named("R32G32B32A32_FLOAT")
    elements = (VertexElement(0, 0, format), VertexElement(0, 1, format, instance_divisor=divisor))
    context.bind_vertex_elements_state(context.create_vertex_elements_state(elements))
    buffers = [VertexBuffer(target.buffer(b), 0, 16) for b in (cell(0, 0), offsets)]
    context.set_vertex_buffers(buffers)
    context.draw_vbo(
        DrawInfo(Primitive.TRIANGLE_FAN, count=4, instance_count=4, start_instance=start)
    )
    wanted: dict[tuple[int, int], int] = {}
    for instance in range(4):
        wanted[places[instance // divisor + start]] = instance
    assert covered_cells(target) == set(wanted)
    for (x, y), instance in wanted.items():
        assert target.pixels()[y * 8, x * 8, 0] == instance


def test_a_missing_attribute_is_0001_and_a_short_buffer_reads_zero(canvas: Make) -> None:
    target = canvas(8, 8)
    context = target.context
    format = format_named("R32G32B32A32_FLOAT")
    elements = (VertexElement(0, 0, format), VertexElement(0, 1, format))
    context.bind_vertex_elements_state(context.create_vertex_elements_state(elements))
    place = target.buffer(EVERYWHERE)
    context.set_vertex_buffers([VertexBuffer(place, 0, 16), None])
    context.draw_vbo(DrawInfo(Primitive.TRIANGLES, count=3))
    assert target.pixels()[4, 4].tolist() == [0, 0, 0, 255]
    context.set_vertex_buffers([VertexBuffer(place, 0, 16), VertexBuffer(place, 40, 16)])
    context.draw_vbo(DrawInfo(Primitive.TRIANGLES, count=3))
    assert target.pixels()[4, 4].tolist() == [0, 0, 0, 0]


def test_indirect_draws(canvas: Make) -> None:
    target = canvas(64, 64)
    target.vertices(np.concatenate([cell(0, 0), cell(6, 5)]))
    commands = target.buffer([4, 1, 0, 0, 4, 1, 4, 0, 4, 1, 0, 0], np.uint32)
    counts = target.buffer([2], np.uint32)
    indirect = IndirectInfo(commands, 0, 16, draw_count=3, count_buffer=counts)
    target.context.draw_vbo(DrawInfo(Primitive.TRIANGLE_FAN, indirect=indirect))
    assert covered_cells(target) == {(0, 0), (6, 5)}


# -- capture and queries -------------------------------------------------------------------------


def capture_target(target: Canvas, size: int) -> StreamOutputTarget:
    buffer = target.buffer(np.zeros(size // 4))
    return StreamOutputTarget(buffer, 0, size)


def test_stream_output_keeps_whole_primitives(canvas: Make) -> None:
    target = canvas(8, 8)
    outputs = (
        StreamOutput(VaryingSlot.POS, 0, 2, 0, 0),
        StreamOutput(VaryingSlot.VAR0, 0, 4, 0, 8),
    )
    info = StreamOutputInfo(outputs, (24,))
    target.program(position_vertex(), None, info)
    context = target.context
    captured = capture_target(target, 24 * 7)
    context.set_stream_output_targets([captured])
    queries = [context.create_query(t) for t in _CAPTURE_QUERIES]
    for query in queries:
        context.begin_query(query)
    positions = np.arange(20, dtype=np.float32).reshape(5, 4) / 32
    target.draw(Primitive.TRIANGLE_STRIP, positions, positions * 2)
    for query in queries:
        context.end_query(query)
    assert [context.get_query_result(q, True) for q in queries] == [3, 2, 1]
    assert captured.written == 24 * 6
    found = np.frombuffer(context.buffer_read(captured.buffer, 0, 24 * 6), np.float32)
    order = [0, 1, 2, 2, 1, 3]
    wanted = np.concatenate((positions[order, :2], positions[order] * 2), axis=1)
    np.testing.assert_array_equal(found.reshape(6, 6), wanted)
    again = DrawInfo(Primitive.TRIANGLES, count_from_stream_output=captured)
    context.set_stream_output_targets([])
    context.draw_vbo(again)


_CAPTURE_QUERIES = (
    QueryType.PRIMITIVES_GENERATED,
    QueryType.PRIMITIVES_EMITTED,
    QueryType.SO_OVERFLOW_PREDICATE,
)


def test_occlusion_counts_samples_in_order(canvas: Make) -> None:
    target = canvas(16, 16, depth="Z24X8_UNORM")
    target.set_tests(depth_enabled=True)
    context = target.context
    counter = context.create_query(QueryType.OCCLUSION_COUNTER)
    context.begin_query(counter)
    far, near = SQUARE.copy(), SQUARE.copy()
    far[:, 2], near[:, 2] = 0.5, -0.5
    both = np.concatenate((far[[0, 1, 2]], far[[0, 2, 3]], near[[0, 1, 2]], near[[0, 2, 3]]))
    target.draw(Primitive.TRIANGLES, both)
    context.end_query(counter)
    assert context.get_query_result(counter, True) == 2 * 256
    hidden = context.create_query(QueryType.OCCLUSION_PREDICATE)
    context.begin_query(hidden)
    target.draw(Primitive.TRIANGLE_FAN, far)
    context.end_query(hidden)
    assert context.get_query_result(hidden, True) == 0
    context.clear(ClearFlags.COLOR, (0.0,) * 4, 0.0, 0)
    context.render_condition(hidden, False, True)
    target.draw(Primitive.TRIANGLE_FAN, near)
    context.clear(ClearFlags.COLOR, RED, 0.0, 0)
    assert not target.pixels().any()
    context.render_condition(hidden, True, True)
    context.clear(ClearFlags.COLOR, RED, 0.0, 0)
    assert target.pixels().any()


def test_pipeline_statistics(canvas: Make) -> None:
    target = canvas(16, 16)
    context = target.context
    query = context.create_query(QueryType.PIPELINE_STATISTICS)
    context.begin_query(query)
    target.draw(Primitive.TRIANGLE_FAN, SQUARE)
    context.end_query(query)
    found = context.get_query_result(query, True)
    assert {name: count for name, count in found.items() if count} == {
        "ia_vertices": 4,
        "ia_primitives": 2,
        "vs_invocations": 4,
        "c_invocations": 2,
        "c_primitives": 2,
        "ps_invocations": 256,
    }


# -- clipping, culling, filling ------------------------------------------------------------------


def test_clip_and_cull_distances(canvas: Make) -> None:
    slots = (VaryingSlot.VAR0, VaryingSlot.CLIP_DIST0)
    target = canvas(16, 16)
    target.program(position_vertex(slots), color_fragment())
    format = format_named("R32G32B32A32_FLOAT")
    context = target.context
    elements = tuple(VertexElement(16 * i, 0, format) for i in range(3))
    context.bind_vertex_elements_state(context.create_vertex_elements_state(elements))
    distance = SQUARE * [1, 1, 0, 0]  # inside: x >= 0, and y >= 0
    data = np.concatenate((SQUARE, np.ones((4, 4)), distance), axis=1)
    context.set_vertex_buffers([VertexBuffer(target.buffer(data), 0, 48)])
    for planes, wanted in ((0, 256), (1, 128), (3, 64)):
        context.clear(ClearFlags.COLOR, (0.0,) * 4, 0.0, 0)
        target.set_rasterizer(clip_plane_enable=planes)
        context.draw_vbo(DrawInfo(Primitive.TRIANGLE_FAN, count=4))
        assert np.count_nonzero(target.pixels()[..., 3]) == wanted
    slots = (VaryingSlot.VAR0, VaryingSlot.CULL_DIST0)
    target.program(position_vertex(slots), color_fragment())
    context.clear(ClearFlags.COLOR, (0.0,) * 4, 0.0, 0)
    data[:, 8] = [-1, -1, -1, 1]
    context.set_vertex_buffers([VertexBuffer(target.buffer(data), 0, 48)])
    context.draw_vbo(DrawInfo(Primitive.TRIANGLE_FAN, count=4))
    assert 100 < np.count_nonzero(target.pixels()[..., 3]) < 150


@pytest.mark.parametrize(("front_ccw", "cull", "drawn"), [
    (True, CullFace.NONE, True),
    (True, CullFace.BACK, True),
    (True, CullFace.FRONT, False),
    (False, CullFace.BACK, False),
    (False, CullFace.FRONT_AND_BACK, False),
])  # fmt: skip
def test_culling(front_ccw: bool, cull: CullFace, drawn: bool, canvas: Make) -> None:
    target = canvas(8, 8)
    target.set_rasterizer(front_ccw=front_ccw, cull_face=cull)
    target.draw(Primitive.TRIANGLES, EVERYWHERE)
    assert target.pixels().any() == drawn


def test_polygons_as_lines_have_no_inner_edges(canvas: Make) -> None:
    inner = SQUARE * [47 / 64, 47 / 64, 1, 1]  # corners on pixel centres
    images = []
    for mode in (Primitive.QUADS, Primitive.POLYGON, Primitive.LINE_LOOP):
        target = canvas(64, 64)
        target.set_rasterizer(fill_front=PolygonMode.LINE, fill_back=PolygonMode.LINE)
        target.draw(mode, inner)
        images.append(target.pixels()[..., 3] > 0)
    assert images[2].sum() >= 47 * 4 - 4  # ends are exclusive
    np.testing.assert_array_equal(images[0], images[2])
    np.testing.assert_array_equal(images[0], images[1])


def test_polygons_as_points(canvas: Make) -> None:
    target = canvas(64, 64)
    target.set_rasterizer(fill_front=PolygonMode.POINT, point_size=2.0)
    target.draw(Primitive.QUADS, SQUARE * [0.5, 0.5, 1, 1])
    drawn = target.pixels()[..., 3] > 0
    assert drawn.sum() == 16
    assert drawn[15:17, 15:17].all()


def test_scissor_and_viewport_bound_what_is_drawn(canvas: Make) -> None:
    target = canvas(64, 64)
    target.set_rasterizer(scissor=True)
    target.context.set_scissor_states(0, [ScissorState(8, 16, 24, 99)])
    target.draw(Primitive.TRIANGLES, EVERYWHERE)
    drawn = target.pixels()[..., 3] > 0
    assert drawn[16:, 8:24].all()
    assert drawn.sum() == 16 * 48


def test_nan_and_infinite_positions_draw_nothing(canvas: Make) -> None:
    target = canvas(16, 16)
    bad = np.array(EVERYWHERE, np.float32)
    for value in (np.nan, np.inf, -np.inf):
        for column in range(4):
            positions = bad.copy()
            positions[1, column] = value
            for mode in (Primitive.TRIANGLES, Primitive.LINES, Primitive.POINTS):
                target.draw(mode, positions)
    zero_w = np.zeros((3, 4), np.float32)
    target.draw(Primitive.TRIANGLES, zero_w)
    target.draw(Primitive.POINTS, zero_w)


# -- targets -------------------------------------------------------------------------------------


def quad_fragment() -> Shader:
    """The derivative of the colour: needs quads."""
    b = Builder.shader_main(Stage.FRAGMENT, "derivative")
    zero = b.imm_int(0)
    bary = b.intrinsic("load_barycentric_pixel", [], interp="smooth")
    value = b.intrinsic(
        "load_interpolated_input", [bary, zero], num_components=4, location=VaryingSlot.VAR0
    )
    color = b.fadd(b.alu("fddx", value), b.fmul(b.alu("fddy", value), b.imm_float(0.5)))
    b.intrinsic("store_output", [color, zero], location=FragResult.COLOR, write_mask=15)
    return b.shader


@pytest.mark.parametrize("deferred", [False, True])
def test_quads_see_their_primitive_beyond_its_edge(
    deferred: bool, canvas: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Derivatives of a linear varying are the same in every pixel, borders included."""
    if deferred:
        monkeypatch.setattr(engine, "_WORTH_DEFERRING", 1)
    target = canvas(33, 35, colors=("R32G32B32A32_FLOAT",), depth="Z32_FLOAT")
    target.set_tests(depth_enabled=True, depth_func=CompareFunc.LEQUAL)
    target.program(position_vertex(), quad_fragment())
    rng = np.random.default_rng(3)
    triangles = rng.uniform(-1, 1, (30, 3, 4)) * [1, 1, 0.9, 0] + [0, 0, 0, 1]
    colors = np.zeros((30, 3, 4))
    colors[..., 0] = triangles[..., 0] * 33
    colors[..., 1] = triangles[..., 1] * 35
    colors[..., 3] = np.arange(30)[:, None]
    target.draw(Primitive.TRIANGLES, triangles, colors)
    image = target.image()
    drawn = image[..., 0] != 0
    assert drawn.sum() > 300
    np.testing.assert_allclose(image[drawn][:, 0], 2.0, rtol=2e-3)
    np.testing.assert_allclose(image[drawn][:, 1], 1.0, rtol=2e-3)


@pytest.mark.parametrize("squares", [1, 400])
def test_what_is_drawn_last_hides_the_rest_unseen(
    squares: int, canvas: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a depth test pieces are looked at from the last on, until every pixel is covered."""
    monkeypatch.setattr(engine, "_WORTH_DEFERRING", 1)
    monkeypatch.setattr(engine, "PIECE", 256)
    looked_at = []
    expand = engine.expand_pixels

    def counted(spans: Any, stride: int) -> Any:
        lanes = expand(spans, stride)
        looked_at.append(lanes.count)
        return lanes

    monkeypatch.setattr(engine, "expand_pixels", counted)
    rng = np.random.default_rng(5)
    corners = rng.uniform(-1, 1, (40, 3, 2))
    whole = np.tile(np.array(EVERYWHERE)[:, :2], (squares, 1, 1))
    triangles = np.concatenate((whole, corners))
    positions = np.concatenate((triangles, np.zeros((len(triangles), 3, 2))), axis=2)
    positions[..., 3] = 1
    colors = np.zeros((len(triangles), 3, 4))
    colors[..., 0] = np.arange(len(triangles))[:, None]
    both = []
    for last in (positions, positions[-41:]):  # alone, the last whole one and those after it
        target = canvas(32, 32, colors=("R32G32B32A32_FLOAT",))
        target.program(position_vertex(), color_fragment())
        target.draw(Primitive.TRIANGLES, last, colors[-len(last) :])
        both.append(target.image())
    np.testing.assert_array_equal(both[0], both[1])
    assert sum(looked_at) < 40 * 1024


def test_several_targets_of_different_formats(canvas: Make) -> None:
    names = ("R8G8B8A8_UNORM", "R16_FLOAT", "B5G6R5_UNORM", "R32G32_FLOAT", "R8G8B8A8_SRGB")
    target = canvas(8, 8, colors=names)
    masks = (0xF, 0xF, 0b1001, 0xF, 0xF)
    target.set_blend(BlendState(tuple(RenderTargetBlend(colormask=m) for m in masks), True))
    target.draw(Primitive.TRIANGLES, EVERYWHERE, (0.5, 0.25, 1.0, 1.0))
    wanted = [
        (128 / 255, 64 / 255, 1, 1),
        (0.5, 0, 0, 1),
        (16 / 31, 0, 0, 1),
        (0.5, 0.25, 0, 1),
        (0.5, 0.25, 1, 1),
    ]
    for index, color in enumerate(wanted):
        np.testing.assert_allclose(target.image(index)[3, 3], color, atol=3e-3)


def test_integer_targets_take_raw_integers(canvas: Make) -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "integers")
    value = b.imm_ivec(-7, 300, 65536, 1)
    b.intrinsic("store_output", [value, b.imm_int(0)], location=FragResult.DATA0, write_mask=15)
    target = canvas(8, 8, colors=("R32G32B32A32_SINT",))
    target.program(position_vertex(), b.shader)
    target.draw(Primitive.TRIANGLES, EVERYWHERE)
    assert target.image()[2, 2].tolist() == [-7, 300, 65536, 1]


def test_attachments_of_different_sizes(canvas: Make) -> None:
    target = canvas(16, 16)
    format = format_named("Z24X8_UNORM")
    wide = target.screen.resource_create(ResourceDesc(Target.TEXTURE_2D, format, 40, 24))
    state = target.framebuffer
    target.context.set_framebuffer_state(replace(state, zsbuf=Surface(wide, format)))
    target.context.clear(ClearFlags.DEPTH, (0.0,) * 4, 0.5, 0)
    target.set_tests(depth_enabled=True)
    half = SQUARE * [1, 1, 1, 1] + [
        [0, 0, -0.5, 0],
        [0, 0, 0.5, 0],
        [0, 0, 0.5, 0],
        [0, 0, -0.5, 0],
    ]
    target.draw(Primitive.TRIANGLE_FAN, half)
    drawn = target.pixels()[..., 3] > 0
    assert drawn[:, :8].all()
    assert not drawn[:, 8:].any()
    target.context.set_framebuffer_state(state)
    wide.unref()


DEPTHS = "Z16_UNORM Z24X8_UNORM Z24_UNORM_S8_UINT Z32_FLOAT Z32_FLOAT_S8X24_UINT"


@pytest.mark.parametrize("name", DEPTHS.split())
def test_depth_formats_agree_on_the_visible_surface(name: str, canvas: Make) -> None:
    target = canvas(32, 32, depth=name)
    target.set_tests(depth_enabled=True)
    rng = np.random.default_rng(8)
    for _ in range(6):
        corners = rng.uniform(-1, 1, (4, 4)) * [0, 0, 1, 0] + SQUARE
        target.draw(Primitive.TRIANGLE_FAN, corners, rng.random(4))
    first = target.pixels()
    target.set_tests(depth_enabled=True, depth_func=CompareFunc.GREATER)
    target.context.clear(ClearFlags.COLOR, (0.0,) * 4, 0.0, 0)
    target.draw(Primitive.TRIANGLES, EVERYWHERE - np.array([0, 0, 1, 0]))
    assert not target.pixels().any()
    assert first[..., 3].any()


def test_clears_respect_scissor_masks_and_layers(canvas: Make) -> None:
    target = canvas(8, 8, depth="Z24_UNORM_S8_UINT")
    context = target.context
    context.clear(ClearFlags.DEPTH | ClearFlags.STENCIL, (0.0,) * 4, 0.25, 0x55)
    context.clear(ClearFlags.STENCIL, (0.0,) * 4, 1.0, 0xAA, ScissorState(2, 2, 4, 99))
    words = target.mapped_depth().view(np.uint32)
    np.testing.assert_array_equal(words & 0xFFFFFF, np.rint(0.25 * 0xFFFFFF))
    assert (words[2:, 2:4] >> 24 == 0xAA).all()
    assert np.count_nonzero(words >> 24 == 0xAA) == 12
    surface = target.framebuffer.zsbuf
    assert surface is not None
    rect = ScissorState(0, 0, 8, 1)
    context.clear_depth_stencil(surface, ClearFlags.STENCIL, 0.0, 0xFF, rect, 0x0F)
    words = target.mapped_depth().view(np.uint32)
    assert (words[0] >> 24 == 0x5F).all()


def test_a_context_names_the_shaders_left_alive(canvas: Make) -> None:
    target = canvas(8, 8)
    other = target.screen.context_create()
    handle = other.create_shader_state(Stage.VERTEX, position_vertex())
    with pytest.raises(LeakError, match="position"):
        other.destroy()
    other.delete_shader_state(handle)
