"""noop and trace, proven over every method of the pipe interface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.drivers.noop.context import ContractError
from gallette.pipe.derived_methods import calls
from gallette.pipe.enums import Bind, ClearFlags, MapFlags, Primitive, QueryType, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.interface import Context, Screen
from gallette.pipe.loader import create_screen
from gallette.pipe.resource import LeakError, Resource, ResourceDesc
from gallette.pipe.state import (
    BlendState,
    BlitInfo,
    Box,
    ComputeInfo,
    DepthStencilAlphaState,
    DrawInfo,
    FramebufferState,
    RasterizerState,
    SamplerState,
    ScissorState,
    Surface,
    ViewportState,
)

RGBA8 = FORMATS["R8G8B8A8_UNORM"]
TEXTURE = ResourceDesc(Target.TEXTURE_2D, RGBA8, 8, 8, last_level=3, label="picture")
BUFFER = ResourceDesc(Target.BUFFER, FORMATS["R8_UNORM"], 64)

STATES = {
    "blend_state": BlendState(dither=True),
    "rasterizer_state": RasterizerState(flatshade=True, line_width=2.0),
    "depth_stencil_alpha_state": DepthStencilAlphaState(depth_enabled=True),
    "sampler_state": SamplerState(lod_bias=1.0),
    "vertex_elements_state": (),
}


def arguments(name: str, texture: Resource, buffer: Resource) -> dict[str, Any]:
    """Arguments for a method that takes no handle; every such method must be listed here."""
    surface, rect = Surface(texture, RGBA8), ScissorState(0, 0, 4, 4)
    blit = BlitInfo(
        texture, 0, Box(width=4, height=4), RGBA8, texture, 0, Box(4, 4, 0, 4, 4), RGBA8
    )
    table: dict[str, dict[str, Any]] = {
        "set_framebuffer_state": {"state": FramebufferState(8, 8, cbufs=(surface, None))},
        "set_viewport_states": {"start": 0, "states": [ViewportState()]},
        "set_scissor_states": {"start": 0, "states": [rect]},
        "set_blend_color": {"color": (0.0, 0.5, float("inf"), 1.0)},
        "set_stencil_ref": {"front": 1, "back": 2},
        "set_sample_mask": {"mask": 0xFFFF},
        "set_min_samples": {"samples": 1},
        "set_sample_locations": {"locations": [(0.25, 0.75)]},
        "set_clip_planes": {"planes": [(1.0, 0.0, 0.0, 0.5)]},
        "set_polygon_stipple": {"pattern": tuple(range(32))},
        "set_constant_buffer": {"stage": Stage.VERTEX, "index": 0, "data": b"\x00" * 32},
        "set_sampler_views": {"stage": Stage.FRAGMENT, "start": 0, "views": [None]},
        "set_shader_images": {"stage": Stage.FRAGMENT, "start": 0, "images": [None]},
        "set_shader_buffers": {"stage": Stage.FRAGMENT, "start": 0, "buffers": [None]},
        "set_vertex_buffers": {"buffers": [None]},
        "set_stream_output_targets": {"targets": [None], "append": True},
        "draw_vbo": {"info": DrawInfo(Primitive.TRIANGLES, count=3)},
        "prepared_draw": {"info": DrawInfo(Primitive.TRIANGLES, count=3)},
        "prepared_call": {"token": None, "info": DrawInfo(Primitive.TRIANGLES, count=3)},
        "draw_series": {"series": ()},
        "launch_grid": {"info": ComputeInfo((1, 1, 1), (8, 1, 1))},
        "clear": {
            "flags": ClearFlags.COLOR0 | ClearFlags.DEPTH,
            "color": (0.0, 0.0, 0.0, 1.0),
            "depth": 1.0,
            "stencil": 0,
        },
        "clear_render_target": {"surface": surface, "color": (1.0, 0.0, 0.0, 1.0), "rect": rect},
        "clear_depth_stencil": {
            "surface": surface,
            "flags": ClearFlags.DEPTH,
            "depth": 0.5,
            "stencil": 3,
            "rect": rect,
        },
        "blit": {"info": blit},
        "resource_copy_region": {
            "dst": texture,
            "dst_level": 0,
            "dst_x": 4,
            "dst_y": 4,
            "dst_z": 0,
            "src": texture,
            "src_level": 0,
            "src_box": Box(width=4, height=4),
        },
        "invalidate_resource": {"resource": texture},
        "generate_mipmap": {
            "resource": texture,
            "format": RGBA8,
            "base_level": 0,
            "last_level": 3,
            "first_layer": 0,
            "last_layer": 0,
        },
        "buffer_subdata": {"resource": buffer, "offset": 8, "data": b"hello"},
        "buffer_read": {"resource": buffer, "offset": 8, "size": 5},
        "render_condition": {"query": None, "inverted": False, "wait": True},
        "set_failure_callback": {"callback": None},
        "flush": {},
        "memory_barrier": {},
    }
    return table[name]


def use_everything(screen: Screen) -> set[str]:
    """Call every method of a context; returns the names called."""
    context = screen.context_create()
    texture, buffer = screen.resource_create(TEXTURE), screen.resource_create(BUFFER)
    called = set()

    def call(name: str, *args: Any, **kwargs: Any) -> Any:
        called.add(name)
        return getattr(context, name)(*args, **kwargs)

    for kind, state in STATES.items():
        handle = call(f"create_{kind}", state)
        if kind == "sampler_state":
            call("bind_sampler_states", Stage.FRAGMENT, 0, [handle])
            call("bind_sampler_states", Stage.FRAGMENT, 0, [None])
        else:
            call(f"bind_{kind}", handle)
            call(f"bind_{kind}", None)
        call(f"delete_{kind}", handle)
    shader = Shader(Stage.VERTEX, "triangle")
    handle = call("create_shader_state", Stage.VERTEX, shader)
    call("bind_shader_state", Stage.VERTEX, handle)
    assert call("explain", handle)["name"] == "triangle"
    call("bind_shader_state", Stage.VERTEX, None)
    call("delete_shader_state", handle)
    assert shader.refcount == 0
    query = call("create_query", QueryType.OCCLUSION_COUNTER)
    call("begin_query", query)
    call("end_query", query)
    assert call("get_query_result", query, True) == 0
    call("destroy_query", query)
    transfer = call("transfer_map", texture, 1, MapFlags.WRITE, Box(1, 1, 0, 2, 2))
    transfer.data[...] = 7
    call("transfer_unmap", transfer)
    for name in calls(Context):
        if name not in called and name != "destroy":
            result = call(name, **arguments(name, texture, buffer))
            if name == "buffer_read":
                assert result == b"hello"
    texture.unref()
    buffer.unref()
    assert screen.resources.live == []
    call("destroy")
    screen.destroy()
    return called


def test_noop_accepts_every_call_of_the_interface() -> None:
    assert use_everything(create_screen("noop")) == set(calls(Context))


def test_trace_records_every_call_with_arguments_by_name() -> None:
    records: list[dict[str, Any]] = []
    use_everything(create_screen("trace:noop", sink=records.append))
    by_call = {r["call"]: r for r in records if r["on"].startswith("context")}
    methods = calls(Context)
    # The draws of a series are made one by one.
    unrecorded = {"prepared_draw", "prepared_call", "draw_series"}
    assert set(by_call) == set(methods) - unrecorded
    for name, record in by_call.items():
        assert set(record["args"]) <= set(methods[name].parameters)
        json.dumps(record, allow_nan=False)
    assert [r["n"] for r in records] == list(range(len(records)))
    assert by_call["create_rasterizer_state"]["args"]["state"] == {
        "type": "RasterizerState",
        "flatshade": True,
        "line_width": 2.0,
    }
    assert by_call["clear"]["args"]["flags"] == "DEPTH|COLOR0"
    assert by_call["set_blend_color"]["args"]["color"] == [0.0, 0.5, "inf", 1.0]
    assert by_call["buffer_subdata"]["args"]["data"]["hex"] == b"hello".hex()
    assert by_call["create_shader_state"]["args"]["shader"]["name"] == "triangle"
    assert by_call["transfer_unmap"]["data"]["bytes"] == 16
    assert by_call["blit"]["args"]["info"]["dst"] == "resource#1"
    assert by_call["bind_shader_state"]["args"] == {"stage": "VERTEX", "handle": None}


def test_trace_shows_the_life_of_resources() -> None:
    records: list[dict[str, Any]] = []
    screen = create_screen("trace:noop", sink=records.append)
    first = screen.resource_create(TEXTURE)
    first.unref()
    second = screen.resource_create(BUFFER)
    second.unref()
    assert [(r["call"], r.get("result") or r["args"]["resource"]) for r in records] == [
        ("resource_create", "resource#1"),
        ("resource_destroy", "resource#1"),
        ("resource_create", "resource#2"),
        ("resource_destroy", "resource#2"),
    ]
    assert records[0]["args"]["desc"]["label"] == "picture"


def test_trace_writes_json_lines_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "frame.jsonl"
    use_everything(create_screen("trace:noop", path=path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["call"] == "context_create"
    assert lines[-1]["call"] == "destroy"


def test_trace_takes_its_path_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GALLETTE_TRACE", str(tmp_path / "env.jsonl"))
    screen = create_screen("trace:noop")
    screen.context_create().destroy()
    screen.destroy()
    calls = [json.loads(line)["call"] for line in (tmp_path / "env.jsonl").open()]
    assert calls == ["context_create", "destroy", "destroy"]


def test_querying_the_caps_of_a_traced_driver_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GALLETTE_TRACE", raising=False)
    screen = create_screen("trace:noop")
    screen.describe()
    screen.destroy()
    assert list(tmp_path.iterdir()) == []


def test_trace_records_errors_and_forwards_them() -> None:
    records: list[dict[str, Any]] = []
    context = create_screen("trace:noop", sink=records.append).context_create()
    with pytest.raises(ContractError):
        context.bind_blend_state("nonsense")
    assert records[-1]["error"] == "ContractError: 'nonsense' used as a blend_state"


def test_trace_methods_have_the_interfaces_names_and_annotations_resolve() -> None:
    context = create_screen("trace:noop", sink=lambda record: None).context_create()
    for name in calls(Context):
        assert getattr(type(context), name).__name__ in (name, "method")
    assert "return" in get_type_hints(Screen.describe)


def test_noop_refuses_a_handle_of_another_kind() -> None:
    context = create_screen("noop").context_create()
    blend = context.create_blend_state(BlendState())
    with pytest.raises(ContractError, match="blend_state used as a rasterizer_state"):
        context.bind_rasterizer_state(blend)


def test_noop_refuses_deletion_while_bound_and_use_after_deletion() -> None:
    context = create_screen("noop").context_create()
    blend = context.create_blend_state(BlendState())
    context.bind_blend_state(blend)
    with pytest.raises(ContractError, match="deleted while bound"):
        context.delete_blend_state(blend)
    context.bind_blend_state(None)
    context.delete_blend_state(blend)
    with pytest.raises(ContractError, match="after its deletion"):
        context.bind_blend_state(blend)


def test_noop_names_the_shaders_a_context_left_behind() -> None:
    context = create_screen("noop").context_create()
    shader = Shader(Stage.FRAGMENT, "leaky")
    handle = context.create_shader_state(Stage.FRAGMENT, shader)
    with pytest.raises(LeakError, match="leaky"):
        context.destroy()
    context.delete_shader_state(handle)


def test_noop_copies_between_resources() -> None:
    screen = create_screen("noop")
    context = screen.context_create()
    a, b = screen.resource_create(TEXTURE), screen.resource_create(TEXTURE)
    transfer = context.transfer_map(a, 0, MapFlags.WRITE, Box(width=8, height=8))
    transfer.data[...] = np.arange(256, dtype=np.uint8).reshape(1, 8, 32)
    context.transfer_unmap(transfer)
    context.resource_copy_region(b, 0, 1, 2, 0, a, 0, Box(4, 4, 0, 4, 4))
    got = context.transfer_map(b, 0, MapFlags.READ, Box(1, 2, 0, 4, 4)).data
    want = context.transfer_map(a, 0, MapFlags.READ, Box(4, 4, 0, 4, 4)).data
    np.testing.assert_array_equal(got, want)


def test_noop_claims_every_format() -> None:
    screen = create_screen("noop")
    assert all(
        screen.is_format_supported(f, Target.TEXTURE_2D, 1, Bind.SAMPLER_VIEW)
        for f in FORMATS.values()
    )
    assert screen.describe().startswith("noop")
    assert screen.get_timestamp() > 0


@pytest.mark.parametrize(
    ("name", "verb", "kind"),
    [
        ("create_depth_stencil_alpha_state", "create", "depth_stencil_alpha_state"),
        ("bind_sampler_states", "bind", "sampler_state"),
        ("destroy_query", "destroy", "query"),
        ("transfer_unmap", "unmap", "transfer"),
        ("destroy", "destroy", ""),
        ("draw_vbo", "draw_vbo", ""),
    ],
)
def test_method_names_have_a_verb_and_an_object(name: str, verb: str, kind: str) -> None:
    call = calls(Context)[name]
    assert (call.verb, call.kind) == (verb, kind)


def test_every_kind_that_is_created_is_ended_and_bound_by_the_same_name() -> None:
    methods = calls(Context).values()
    created = {call.creates for call in methods if call.creates}
    assert created == {call.kind for call in methods if call.ends}
    assert {call.kind for call in methods if call.verb == "bind"} == created - {"query", "transfer"}
