"""What reaches a pixel on other ways than as a draw's colour: stores, uploads, blits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gallette
from gallette.capture import recording
from gallette.cli import main
from gallette.compiler.nir.ir import Stage
from gallette.history import History, pixel_history
from gallette.history.places import Places, in_words
from gallette.pipe.enums import ClearFlags, Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.loader import create_screen
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import (
    BlitInfo,
    Box,
    DrawInfo,
    FramebufferState,
    ImageView,
    ScissorState,
    Surface,
)

moderngl = pytest.importorskip("moderngl")

SIZE = (16, 16)
WHOLE = """#version 430
const vec2 at[3] = vec2[](vec2(-1.0), vec2(3.0, -1.0), vec2(-1.0, 3.0));
void main() { gl_Position = vec4(at[gl_VertexID], 0.0, 1.0); }
"""
FILL = """#version 430
layout(local_size_x = 4, local_size_y = 4) in;
layout(rgba8) uniform image2D target;
void main() { imageStore(target, ivec2(gl_GlobalInvocationID.xy), vec4(0.0, 1.0, 0.0, 1.0)); }
"""
STORES = """#version 430
layout(rgba8) uniform image2D marks;
layout(std430, binding = 1) buffer Log { uint count; float last[4]; };
out vec4 color;
void main() {
    imageStore(marks, ivec2(gl_FragCoord.xy), vec4(0.5 * gl_FragCoord.x / 5.5, 0.0, 1.0, 1.0));
    if (ivec2(gl_FragCoord.xy) == ivec2(5, 6)) {
        atomicAdd(count, 3u);
        last[2] = gl_FragCoord.y;
    }
    color = vec4(1.0);
}
"""
SHOW = """#version 430
uniform sampler2D marks;
out vec4 color;
void main() { color = texelFetch(marks, ivec2(gl_FragCoord.xy), 0); }
"""


def story(tmp_path: Path, draw: Callable[[Any], None]) -> History:
    """The history of pixel (5, 6) of what a function draws."""
    path = tmp_path / "a.gcap"
    with recording(path):
        window: Any = gallette.moderngl_context("numpipe")
        ctx = moderngl.create_context(standalone=True, context=window, require=430)
        draw(ctx)
        window.release()
    return pixel_history(str(path), 5, 6)


def cover(ctx: Any, fragment: str) -> Any:
    program = ctx.program(WHOLE, fragment)
    ctx.vertex_array(program, []).render(vertices=3)
    return program


def told(history: History) -> list[str]:
    """The calls that are told about the buffer that was drawn to last."""
    return [e.call for e in history.about(history.resource) if e.touched]


def test_places_say_which_part_of_which_resource() -> None:
    """By its label or number; of several with one label, by which of them."""
    screen, places = create_screen("noop"), Places(0, 0)
    format = FORMATS["R8G8B8A8_UNORM"]
    resources = {
        name: screen.resource_create(ResourceDesc(Target.TEXTURE_2D, format, 8, 8, label=label))
        for name, label in {"a": "shadow", "b": "", "c": "shadow", "d": ""}.items()
    }

    def label(name: str, level: int = 0, layer: int = 0) -> str:
        return places.label(Surface(resources[name], format, level, layer, layer))

    kind = "(R8G8B8A8_UNORM)"
    assert label("a") == f"shadow {kind}"
    assert label("b", level=2) == f"resource 2 {kind}, level 2"
    assert label("a", layer=1) == f"shadow {kind}, layer 1"
    assert label("c", 3, 4) == f"shadow #2 {kind}, level 3, layer 4"
    assert label("d") == f"resource 4 {kind}"
    assert label("a", level=1) == f"shadow {kind}, level 1"
    for resource in resources.values():
        resource.unref()
    screen.destroy()


def test_calls_in_words() -> None:
    screen, places = create_screen("noop"), Places(0, 0)
    format = FORMATS["R8G8B8A8_UNORM"]
    source = screen.resource_create(ResourceDesc(Target.TEXTURE_2D, format, 8, 8, label="source"))
    box, color = Box(1, 2, 0, 3, 4, 1), (0.5, 1.0, 0.0, 0.25)
    blit = BlitInfo(source, 0, box, format, source, 0, box, format)
    clear = {"color": color, "depth": 0.5, "stencil": 9}

    def words(call: str, **given: Any) -> str:
        return in_words(places, call, given)

    def draw(count: int, instances: int) -> str:
        info = DrawInfo(Primitive.TRIANGLES, count=count, instance_count=instances)
        return words("draw_vbo", info=info)

    assert draw(3, 1) == "triangles, 3 vertices"
    assert draw(6, 2) == "triangles, 6 vertices, 2 instances"
    assert draw(6, 0) == "triangles, 6 vertices, 0 instances"
    told = {ClearFlags.COLOR: "colour (0.5, 1, 0, 0.25)", ClearFlags.DEPTH: "depth 0.5",
            ClearFlags.STENCIL: "stencil 9"}  # fmt: skip
    for chosen in product((False, True), repeat=3):
        flags = ClearFlags(0)
        for flag, on in zip(told, chosen, strict=True):
            flags |= flag if on else ClearFlags(0)
        wanted = ", ".join(text for text, on in zip(told.values(), chosen, strict=True) if on)
        assert words("clear", flags=flags, **clear) == wanted
    grid = SimpleNamespace(grid=(2, 3, 1), block=(8, 1, 1))
    assert words("launch_grid", info=grid) == "2x3x1 groups of 8x1x1"
    where = "from source (R8G8B8A8_UNORM) at 1,2 (3x4)"
    assert words("blit", info=blit) == where
    assert words("resource_copy_region", src=source, src_box=box) == where
    assert words("transfer_unmap", transfer=SimpleNamespace(box=box)) == "an upload at 1,2 (3x4)"
    assert words("something_else") == ""
    source.unref()
    screen.destroy()


def test_places_have_the_pixels_that_a_call_may_write() -> None:
    """Each pixel in and around a texture of 6 x 4; the box a call is about, and what it writes."""
    screen, format = create_screen("noop"), FORMATS["R8G8B8A8_UNORM"]
    desc = ResourceDesc(Target.TEXTURE_2D_ARRAY, format, 6, 4, array_size=3, last_level=2)
    resource, other = screen.resource_create(desc), screen.resource_create(desc)
    nothing = FramebufferState(6, 4)
    attached = FramebufferState(5, 3, cbufs=(None, Surface(other, format)))
    stored = ImageView(resource, format, level=1, first_layer=1, last_layer=2)
    whole, layer = Surface(resource, format), Surface(resource, format, 0, 1, 1)
    box, turned = Box(1, 1, 2, 3, 2, 1), Box(4, 3, 2, -3, -2, 1)
    copied = BlitInfo(resource, 0, box, format, other, 0, box, format)
    cut = BlitInfo(
        resource, 0, turned, format, other, 0, box, format, scissor=ScissorState(2, 0, 9, 2)
    )
    rect = ScissorState(2, 1, 9, 9)
    region = {"dst": resource, "dst_level": 1, "dst_x": 1, "dst_y": 0, "dst_z": 0, "src_box": box}
    levels = {"base_level": 0, "last_level": 2, "first_layer": 0, "last_layer": 0}
    mapped = SimpleNamespace(resource=resource, level=2, box=Box(0, 0, 0, 9, 9, 1))
    there, stores = {"destination"}, {f"image 0, layer {n} (compute)" for n in (1, 2)}
    calls: list[tuple[str, dict[str, Any], FramebufferState, tuple[int, ...], set[str]]] = [
        ("clear", {}, attached, (0, 0, 5, 3), {"colour 1"}),
        ("clear", {}, nothing, (0, 0, 6, 4), set()),
        ("draw_vbo", {}, attached, (0, 0, 5, 3), {"colour 1"}),
        ("launch_grid", {}, nothing, (0, 0, 3, 2), stores),
        ("clear_render_target", {"surface": layer, "rect": rect}, nothing, (2, 1, 6, 4), there),
        ("blit", {"info": copied}, nothing, (1, 1, 4, 3), there),
        ("blit", {"info": cut}, nothing, (2, 1, 4, 2), there),
        ("resource_copy_region", region, nothing, (1, 0, 3, 2), there),
        ("transfer_unmap", {"transfer": mapped}, nothing, (0, 0, 1, 1), there),
        ("generate_mipmap", {"resource": resource, "format": format, **levels}, nothing,
         (0, 0, 3, 2), there),
        ("blit", {"info": copied}, FramebufferState(6, 4, cbufs=(whole,)), (1, 1, 4, 3), there),
    ]  # fmt: skip
    images = {Stage.COMPUTE: SimpleNamespace(images=(stored, None))}
    for call, given, framebuffer, (x0, y0, x1, y1), names in calls:
        pipe = SimpleNamespace(bound=SimpleNamespace(framebuffer=framebuffer, stages=images))
        for x, y in product(range(-1, 8), range(-1, 6)):
            found = Places(x, y).of(pipe, call, given)
            inside = x0 <= x < x1 and y0 <= y < y1
            wanted = names if inside else set()
            if call == "generate_mipmap" and x == y == 0:  # the smallest level has it, too
                wanted = {"destination 0", "destination 1"}
            assert found.keys() == wanted, (call, x, y)
    for one in (resource, other):
        one.unref()
    screen.destroy()


def test_a_store_of_a_launch_into_what_is_attached_later(tmp_path: Path) -> None:
    def draw(ctx: Any) -> None:
        texture = ctx.texture(SIZE, 4)
        texture.bind_to_image(0, read=False)
        ctx.compute_shader(FILL).run(4, 4)
        target = ctx.framebuffer([texture])
        target.use()
        ctx.enable(ctx.BLEND)
        ctx.blend_func = ctx.ONE, ctx.ONE
        cover(ctx, "#version 430\nout vec4 c;\nvoid main() { c = vec4(1.0, 0.0, 0.0, 0.0); }")

    history = story(tmp_path, draw)
    launch, drawn = (e for e in history.about(history.resource) if e.call != "transfer_unmap")
    assert (launch.call, launch.text) == ("launch_grid", "4x4x1 groups of 4x4x1")
    (name,) = launch.attachments
    assert name == "image 0 (compute)"
    assert launch.after[name].value == (0.0, 1.0, 0.0, 1.0)
    assert drawn.before["colour 0"].raw == launch.after[name].raw
    assert history.final["colour 0"].value == (1.0, 1.0, 0.0, 1.0)


def stores(ctx: Any) -> Any:
    """A draw that stores to a texture and to a buffer; the texture."""
    marks, log = ctx.texture(SIZE, 4), ctx.buffer(reserve=32)
    elsewhere = ctx.framebuffer([ctx.texture(SIZE, 4)])
    elsewhere.use()
    marks.bind_to_image(0, read=False)
    log.bind_to_storage_buffer(1)
    cover(ctx, STORES)
    return marks


def test_a_store_of_a_draw_into_what_is_sampled_later(tmp_path: Path) -> None:
    def draw(ctx: Any) -> None:
        marks = stores(ctx)
        target = ctx.framebuffer([ctx.texture(SIZE, 4)])
        target.use()
        marks.use(0)
        cover(ctx, SHOW)

    history = story(tmp_path, draw)
    storing, showing = (e for e in history.about(history.resource) if e.call == "draw_vbo")
    assert storing.images and storing.images[0] in showing.sampled
    assert history.resource not in storing.attachments.values()
    (fragment,) = storing.fragments
    assert fragment.stores == [
        "image 0 (5, 6) = (0.5, 0, 1, 1)",
        "buffer 0, byte 0: atomic iadd 3",
        "buffer 0, byte 12 = 6.5",
    ]
    assert fragment.after["image 0"] == storing.after["image 0"]
    assert history.final["colour 0"].raw == storing.after["image 0"].raw


def test_unchanged_images_are_not_listed(tmp_path: Path) -> None:
    def draw(ctx: Any) -> None:
        stores(ctx).bind_to_image(0)
        cover(ctx, STORES)

    first, second = (e for e in story(tmp_path, draw).events if e.call == "draw_vbo")
    assert set(first.after) == {"colour 0", "image 0"}
    assert set(second.after) == set(second.attachments) == {"colour 0"}


def test_uploads_blits_and_copies_into_what_is_attached_later(tmp_path: Path) -> None:
    def draw(ctx: Any) -> None:
        grey, other = ctx.texture(SIZE, 4), ctx.texture(SIZE, 4)
        grey.write(np.full((16, 16, 4), 60, np.uint8).tobytes())
        grey.write(bytes(4 * 4), viewport=(0, 0, 2, 2))  # not this pixel
        other.write(np.full((16, 16, 4), 90, np.uint8).tobytes())
        ctx.copy_framebuffer(ctx.framebuffer([grey]), ctx.framebuffer([other]))
        ctx.framebuffer([grey]).use()
        ctx.enable(ctx.BLEND)
        ctx.blend_func = ctx.ONE, ctx.ONE
        cover(ctx, "#version 430\nout vec4 c;\nvoid main() { c = vec4(1.0, 0.0, 0.0, 0.0); }")

    history = story(tmp_path, draw)
    assert told(history) == ["transfer_unmap", "blit", "draw_vbo"]
    upload, blit, drawn = history.about(history.resource)
    assert upload.text == "an upload at 0,0 (16x16)"
    assert next(iter(upload.after.values())).raw == bytes([60] * 4)
    assert blit.before["colour 0"].raw == bytes([60] * 4)
    assert blit.text.startswith("from ")
    assert drawn.before["colour 0"].raw == bytes([90] * 4)


def test_the_command_prints_stored_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def draw(ctx: Any) -> None:
        stores(ctx)

    story(tmp_path, draw)
    assert main(["pixel", str(tmp_path / "a.gcap"), "5,6"]) == 0
    out = capsys.readouterr().out
    assert "shader stored image 0 (5, 6) = (0.5, 0, 1, 1)" in out
    assert "shader stored buffer 0, byte 0: atomic iadd 3" in out
