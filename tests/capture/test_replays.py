"""What a replay translates (names, places, windows, memory) and what it says of what goes wrong."""

from __future__ import annotations

import atexit
import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gallette
from gallette.capture import CaptureError, Replayer, open_capture, recorder, recording, replay
from gallette.capture.arguments import object_kind
from gallette.capture.container import is_capture
from gallette.capture.story import Capture
from gallette.compiler.errors import GalletteError
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.watching import WATCHERS, unwatched
from gallette.state_tracker.targets.window import Drawable

Draw = Callable[[Any], None]


def captured(path: Path, draw: Draw, **facts: Any) -> Capture:
    """What a context's calls left in a file."""
    with recording(path):
        gl: Any = gallette.create_context(**facts)
        draw(gl)
        assert gl.get_error() == GL.NO_ERROR
        gl.release()
    return open_capture(path)


def pixels(gl: Any, width: int = 4, height: int = 4) -> Any:
    return gl.read_pixels(0, 0, width, height, GL.RGBA, GL.UNSIGNED_BYTE)


SHIFTS = {
    "buffers": 1, "textures": 2, "framebuffers": 3, "renderbuffers": 4, "vertex_arrays": 5,
    "samplers": 6, "queries": 7, "program_pipelines": 8, "transform_feedbacks": 9,
    "programs": 10, "lists": 11,
}  # fmt: skip


def other_names(gl: Any) -> None:
    """Take some names of every kind, so that none is what it was when it was recorded."""
    for kind, count in SHIFTS.items():
        if kind != "programs":
            getattr(gl, f"gen_{kind}")(count)
    for _ in range(SHIFTS["programs"]):
        gl.create_program()
    while gl.get_error():
        pass


# -- names ---------------------------------------------------------------------------------------


PAINTING = """#version 430
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer result { vec4 color; };
void main() { color = vec4(1.0, 0.2, 0.4, 1.0); }
"""
FRAGMENT = """#version 430
uniform sampler2D image;
out vec4 color;
void main() { color = texelFetch(image, ivec2(0), 0); }
"""
VERTEX = """#version 430
out gl_PerVertex { vec4 gl_Position; };
out float seen;
void main() {
    seen = float(gl_VertexID);
    gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
"""


def everything(gl: Any) -> None:
    """Objects of every kind, each with something to do with the picture."""
    launch = gl.create_shader_programv(GL.COMPUTE_SHADER, 1, [PAINTING])
    gl.use_program(launch)
    store, unpack = gl.gen_buffers(2)
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, store)
    gl.buffer_data(GL.SHADER_STORAGE_BUFFER, 16, None, GL.DYNAMIC_COPY)
    gl.dispatch_compute(1, 1, 1)
    gl.use_program(0)
    gl.bind_buffer(GL.PIXEL_UNPACK_BUFFER, unpack)
    gl.buffer_data(GL.PIXEL_UNPACK_BUFFER, 16, None, GL.DYNAMIC_COPY)
    gl.copy_named_buffer_sub_data(store, unpack, 0, 0, 16)
    first, second = gl.gen_textures(2)
    for texture in (second, first):
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA32F, 1, 1)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 1, 1, GL.RGBA, GL.FLOAT, 0)
    box = GL.TEXTURE_2D, 0, 0, 0, 0
    gl.copy_image_sub_data(first, *box, second, *box, 1, 1, 1)
    gl.bind_texture(GL.TEXTURE_2D, second)
    sampler = gl.gen_samplers(1)[0]
    gl.bind_sampler(0, sampler)
    gl.sampler_parameteri(sampler, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    vertex = gl.create_shader_programv(GL.VERTEX_SHADER, 1, [VERTEX])
    fragment = gl.create_shader_programv(GL.FRAGMENT_SHADER, 1, [FRAGMENT])
    pipeline = gl.gen_program_pipelines(1)[0]
    gl.use_program_stages(pipeline, GL.VERTEX_SHADER_BIT, vertex)
    gl.use_program_stages(pipeline, GL.FRAGMENT_SHADER_BIT, fragment)
    gl.bind_program_pipeline(pipeline)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    frame, buffer = gl.gen_framebuffers(1)[0], gl.gen_renderbuffers(2)[1]
    gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, 4, 4)
    gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
    gl.viewport(0, 0, 4, 4)
    query = gl.gen_queries(1)[0]
    gl.begin_query(GL.ANY_SAMPLES_PASSED, query)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.end_query(GL.ANY_SAMPLES_PASSED)
    assert pixels(gl) == bytes([255, 51, 102, 255]) * 16
    gl.begin_conditional_render(query, GL.QUERY_WAIT)
    gl.clear_color(0, 1, 0, 1)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.end_conditional_render()
    sync = gl.fence_sync(GL.SYNC_GPU_COMMANDS_COMPLETE, 0)
    gl.client_wait_sync(sync, 0, 0)
    gl.delete_sync(sync)
    made = gl.gen_lists(1)
    gl.new_list(made, GL.COMPILE)
    gl.clear_color(0, 0, 1, 1)
    gl.end_list()
    assert pixels(gl) == bytes([0, 255, 0, 255]) * 16
    gl.call_list(made)
    gl.clear(GL.COLOR_BUFFER_BIT)
    assert pixels(gl) == bytes([0, 0, 255, 255]) * 16
    target = gl.gen_textures(1)[0]
    gl.bind_texture(GL.TEXTURE_2D, target)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 4, 4)
    gl.copy_image_sub_data(
        buffer, GL.RENDERBUFFER, 0, 0, 0, 0, target, GL.TEXTURE_2D, 0, 0, 0, 0, 4, 4, 1
    )
    whole = np.zeros(64, np.uint8)
    gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE, whole)
    assert whole.tolist() == [0, 0, 255, 255] * 16


def test_names_of_every_kind_may_be_others(tmp_path: Path) -> None:
    capture = captured(tmp_path / "a.gcap", everything, profile="compat", version=(4, 6))
    for hook in (None, other_names):
        done = Replayer(capture, after_create=hook).run()
        assert done.images == 4
        assert done.identical, (done.different, done.errors)


LABELLED = {
    "BUFFER": "buffers", "TEXTURE": "textures", "FRAMEBUFFER": "framebuffers",
    "RENDERBUFFER": "renderbuffers", "VERTEX_ARRAY": "vertex_arrays", "SAMPLER": "samplers",
    "QUERY": "queries", "PROGRAM_PIPELINE": "program_pipelines",
    "TRANSFORM_FEEDBACK": "transform_feedbacks",
}  # fmt: skip


def test_labels_go_to_the_objects_they_were_given_to(tmp_path: Path) -> None:
    kinds: dict[str, tuple[int, int]] = {}

    def label(gl: Any) -> None:
        for kind, many in LABELLED.items():
            create = getattr(gl, f"create_{many}")
            target = {"TEXTURE": [GL.TEXTURE_2D], "QUERY": [GL.TIME_ELAPSED]}.get(kind, [])
            kinds[kind] = getattr(GL, kind), create(*target, 2)[1]
        kinds["SHADER"] = GL.SHADER, gl.create_shader(GL.VERTEX_SHADER)
        kinds["PROGRAM"] = GL.PROGRAM, gl.create_program()
        for kind, (identifier, name) in kinds.items():
            gl.object_label(identifier, name, -1, f"the {kind}")

    found = {}

    def look(call: Any, gl: Any) -> None:
        if call.name == "ObjectLabel":
            kind = call.args[3].removeprefix("the ")
            identifier, name = kinds[kind]
            shift = SHIFTS[LABELLED.get(kind, "programs")]
            found[kind] = gl.get_object_label(identifier, name + shift)

    capture = captured(tmp_path / "a.gcap", label, version=(4, 5))
    done = Replayer(capture, after_create=other_names).run(after=look)
    assert done.errors == []
    assert found == {kind: f"the {kind}" for kind in kinds}


OF = {
    "buffer": ["BindBuffer.buffer", "DeleteBuffers.buffers", "CopyNamedBufferSubData.readBuffer",
               "CopyNamedBufferSubData.writeBuffer"],
    "texture": ["BindTexture.texture", "DeleteTextures.textures", "TextureView.origtexture"],
    "framebuffer": ["BindFramebuffer.framebuffer", "DeleteFramebuffers.framebuffers",
                    "BlitNamedFramebuffer.drawFramebuffer", "BlitNamedFramebuffer.readFramebuffer"],
    "renderbuffer": ["BindRenderbuffer.renderbuffer", "DeleteRenderbuffers.renderbuffers"],
    "vertex array": ["BindVertexArray.array", "DeleteVertexArrays.arrays",
                     "VertexArrayElementBuffer.vaobj"],
    "sampler": ["BindSampler.sampler", "BindSamplers.samplers"],
    "program": ["UseProgram.program", "CompileShader.shader", "ShaderBinary.shaders",
                "UseProgramObjectARB.programObj", "AttachObjectARB.containerObj",
                "AttachObjectARB.obj", "DetachObjectARB.attachedObj", "CompileShaderARB.shaderObj",
                "LinkProgramARB.programObj", "ValidateProgramARB.programObj"],
    "pipeline": ["BindProgramPipeline.pipeline", "DeleteProgramPipelines.pipelines"],
    "transform feedback": ["TransformFeedbackBufferBase.xfb", "BindTransformFeedback.id",
                           "DeleteTransformFeedbacks.ids"],
    "query": ["BeginQuery.id", "DeleteQueries.ids", "BeginConditionalRender.id"],
    "list": ["CallList.list", "DeleteLists.list"],
    "": ["BindProgramARB.program", "DeleteProgramsARB.programs", "IsProgramARB.program",
         "PushDebugGroup.id", "DebugMessageControl.ids", "VertexAttribPointer.index",
         "LoadName.name"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "place"), [(k, p) for k, places in OF.items() for p in places])
def test_parameters_name_objects_of_their_kind(kind: str, place: str) -> None:
    function, param = place.split(".")
    assert object_kind(function, param, "uint") == kind
    assert object_kind(function, param, "int") == ""


def test_syncs_are_objects() -> None:
    assert object_kind("ClientWaitSync", "sync", "sync") == "sync"
    assert object_kind("ClientWaitSync", "timeout", "uint64") == ""


# -- windows and contexts ------------------------------------------------------------------------


def test_windows_are_made_again_with_their_sizes(tmp_path: Path) -> None:
    with recording(tmp_path / "a.gcap"):
        gl: Any = Context("numpipe")
        one = Drawable(gl.screen, (4, 3), 0, GL.RGB8, GL.NONE)
        two = Drawable(gl.screen, (2, 2))
        for draw, shade in ((one, 0.2), (two, 0.4), (one, 0.6)):
            gl.bind_drawables(draw, draw)
            gl.clear_color(shade, 0, 0, 0)
            gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
            pixels(gl)
        gl.bind_drawables(two, one)
        pixels(gl)
        two.resize((8, 6))
        gl.bind_drawables(two, two)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.read_pixels(0, 0, 8, 6, GL.RGBA, GL.UNSIGNED_BYTE)
        gl.bind_drawables(None, None)
        one.release()
        two.release()
        gl.release()
    capture = open_capture(tmp_path / "a.gcap")
    (first, *_), last = capture.events("window"), list(capture.events("window"))[-1]
    assert first.parts[0] == first.parts[1]
    assert first.parts[0][1:] == [[4, 3], 0, GL.RGB8, GL.NONE]
    assert last.parts == [None, None]

    sizes: list[Any] = []

    def look(call: Any, gl: Any) -> None:
        if call.name == "Clear":
            state = gl.pipe_framebuffer
            sizes.append((state.width, state.height, state.zsbuf is not None))

    player = Replayer(capture)
    done = player.run(after=look, release=False)
    assert done.images == 5
    assert done.identical, (done.different, done.errors)
    assert sizes == [(4, 3, False), (2, 2, True), (4, 3, False), (8, 6, True)]
    windows = list(player._windows.values())
    assert [w.size for w in windows] == [(4, 3), (8, 6)]
    screen = player.gl.screen
    player.release()
    assert player.contexts == {}
    assert player._windows == {}
    assert all(w.color is None for w in windows)
    assert screen is not None
    assert player._first_window(1) == (4, 3)


def test_a_capture_without_windows_has_no_first_one(tmp_path: Path) -> None:
    capture = captured(tmp_path / "a.gcap", lambda gl: gl.flush())
    assert Replayer(capture)._first_window(1) is None


def test_contexts_are_made_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "a.gcap"
    with recording(path):
        first = Context("numpipe", version=(4, 3), debug=True, size=(8, 8), samples=4)
        second = Context("numpipe", profile="es", version=(3, 0), share=first)
        first.make_current()
        first.flush()
        second.make_current()
        second.flush()
        second.release()
        first.make_current()
        first.flush()
        first.release()
    seen: list[Any] = []
    Replayer(open_capture(path), after_create=seen.append).run()
    assert [gl.profile for gl in seen] == ["core", "es"]
    assert [gl.debug_context for gl in seen] == [True, False]
    assert [gl.first_size for gl in seen] == [(8, 8), None]
    assert [gl.first_samples for gl in seen] == [4, 0]
    assert seen[0].group is seen[1].group
    with pytest.raises(CaptureError, match="a native replay has no contexts that share objects"):
        player = Replayer(open_capture(path), "native")
        player._create(2, {**list(open_capture(path).events("context"))[1].parts[1]})


def test_several_contexts_are_of_one_screen(tmp_path: Path) -> None:
    with recording(tmp_path / "a.gcap"):
        contexts = [Context("numpipe", size=(2, 2)) for _ in range(2)]
        for gl in contexts:
            gl.make_current()
            gl.flush()
        for gl in contexts:
            gl.release()
    seen: list[Any] = []
    player = Replayer(open_capture(tmp_path / "a.gcap"), after_create=seen.append)
    player.run()
    assert seen[0].screen is seen[1].screen
    assert player._screen is None
    assert [gl.released for gl in seen] == [True, True]


# -- calls ---------------------------------------------------------------------------------------


def test_a_call_that_fails_is_told_and_the_others_are_made(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.flush()
        pixels(gl)

    capture = captured(tmp_path / "a.gcap", draw, size=(4, 4))

    def broken(gl: Any) -> None:
        def refuse(*args: Any) -> None:
            raise GalletteError("no memory")

        gl.flush = refuse
        leave = gl.release

        def complain() -> None:
            leave()
            raise GalletteError("not empty")

        gl.release = complain

    done = Replayer(capture, after_create=broken).run()
    assert done.errors == ["call 2, glFlush(): no memory", "not empty"]
    assert not done.identical
    assert done.different == []
    assert (done.images, done.calls) == (1, 3)


def test_questions_are_not_asked_again(tmp_path: Path) -> None:
    def ask(gl: Any) -> None:
        gl.get_integerv(GL.VIEWPORT)
        gl.is_enabled(GL.BLEND)
        gl.check_framebuffer_status(GL.FRAMEBUFFER)
        gl.debug_message_callback(0, None)
        gl.flush()
        pixels(gl)

    capture = captured(tmp_path / "a.gcap", ask, version=(4, 3), size=(4, 4))
    made: list[str] = []
    player = Replayer(capture)
    inner = player._arguments
    player._arguments = lambda call: (made.append(call.name), inner(call))[1]  # type: ignore
    assert player.run().calls == 2
    assert made == ["Flush", "ReadPixels"]


def test_different_images_are_told(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.clear_color(0, 0, 0, 0)
        gl.clear(GL.COLOR_BUFFER_BIT)
        pixels(gl)
        gl.flush()
        pixels(gl)

    capture = captured(tmp_path / "a.gcap", draw, size=(4, 4))

    def spoil(call: Any, gl: Any) -> None:
        if call.name == "Flush":
            gl.clear_color(1, 0, 0, 0)
            gl.clear(GL.COLOR_BUFFER_BIT)

    done = Replayer(capture).run(before=spoil)
    read = [c.number for c in capture.calls if c.name == "ReadPixels"]
    assert done.different == read[1:]
    assert not done.identical
    assert done.errors == []


def test_what_is_read_into_a_buffer_stays_there(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.bind_buffer(GL.PIXEL_PACK_BUFFER, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.PIXEL_PACK_BUFFER, 100, None, GL.STATIC_READ)
        gl.clear_color(0.2, 0.4, 0.6, 0.8)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, 8)
        room = np.zeros(100, np.uint8)
        gl.get_buffer_sub_data(GL.PIXEL_PACK_BUFFER, 0, 100, room)
        assert room.tolist() == [0] * 8 + [51, 102, 153, 204] * 16 + [0] * 28

    capture = captured(tmp_path / "a.gcap", draw, size=(4, 4))
    done = replay(capture)
    assert done.images == 1
    assert done.identical


def test_reports_have_memory_of_their_own(tmp_path: Path) -> None:
    """Where hits and what is fed back went is gone; the replay writes to arrays it keeps."""
    values, words = (ctypes.c_float * 16)(), (ctypes.c_uint * 16)()

    def draw(gl: Any) -> None:
        gl.feedback_buffer(16, GL._2D, ctypes.addressof(values))
        gl.render_mode(GL.FEEDBACK)
        gl.begin(GL.POINTS)
        gl.vertex2f(0, 0)
        gl.end()
        assert gl.render_mode(GL.RENDER) == 3
        gl.select_buffer(16, ctypes.addressof(words))
        gl.render_mode(GL.SELECT)
        gl.init_names()
        gl.push_name(77)
        gl.begin(GL.POINTS)
        gl.vertex2f(0, 0)
        gl.end()
        assert gl.render_mode(GL.RENDER) == 1

    capture = captured(tmp_path / "a.gcap", draw, profile="compat", version=(2, 1), size=(8, 8))
    assert values[:3] == [GL.POINT_TOKEN, 4.0, 4.0]
    assert (words[0], words[3]) == (1, 77)
    ctypes.memset(values, 0, 64)
    ctypes.memset(words, 0, 64)
    player = Replayer(capture)
    done = player.run()
    assert done.identical, done.errors
    assert bytes(values) + bytes(words) == bytes(128)
    assert player._alive["FeedbackBuffer"].view("f4")[:3].tolist() == [GL.POINT_TOKEN, 4.0, 4.0]
    assert player._alive["SelectBuffer"][[0, 3]].tolist() == [1, 77]
    assert len(player._alive["FeedbackBuffer"]) == 16


def test_lists_of_arrays_are_replayed(tmp_path: Path) -> None:
    """Addresses of indices, given as numbers or in memory."""
    corners = np.array([-1, -1, 0, -1, -1, 1, 0, 1, 1, 1, 1, -1], np.float32)
    left, right = np.array([0, 1, 2], np.uint8), np.array([3, 4, 5], np.uint8)
    places = [left.ctypes.data, right.ctypes.data]
    table = np.array(places, np.int64)

    def draw(gl: Any) -> None:
        gl.enable_client_state(GL.VERTEX_ARRAY)
        gl.vertex_pointer(2, GL.FLOAT, 0, corners.ctypes.data)
        for shade, given in (
            (1.0, places),
            (0.8, table.ctypes.data),
            (0.6, table.copy()),
            (0.4, table.tobytes()),
        ):
            gl.color4f(shade, 0, 0, 1)
            gl.multi_draw_elements(
                GL.TRIANGLES, np.array([3, 3], np.int32), GL.UNSIGNED_BYTE, given, 2
            )
            pixels(gl, 8, 8)

    capture = captured(tmp_path / "a.gcap", draw, profile="compat", version=(2, 1), size=(8, 8))
    drawn = [c for c in capture.calls if c.name == "MultiDrawElements"]
    assert [c.args[3] for c in drawn] == [places] * 4
    corners[:] = 0
    left[:] = right[:] = 0
    table[:] = 0
    done = replay(capture)
    assert done.images == 4
    assert done.identical, (done.different, done.errors)


def test_texts_that_were_no_texts_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.gcap"
    with recording(path):
        gl: Any = gallette.create_context()
        shader = gl.create_shader(GL.VERTEX_SHADER)
        gl.shader_source(shader, -1, ["void main() {}"], None)
        assert gl.get_error() == GL.INVALID_VALUE
        gl.shader_source(shader, "void main() {}")
        gl.release()
    first, second = (c for c in open_capture(path).calls if c.name == "ShaderSource")
    assert first.args == [shader, -1, None, None]
    assert second.args[:3] == [shader, 1, ["void main() {}"]]


# -- programs whose places are others --------------------------------------------------------------

PLACED = """#version 430
layout(std140) uniform First { vec4 first; };
layout(std140) uniform Second { vec4 second; };
layout(std430) buffer Third { vec4 third; };
layout(std430) buffer Fourth { vec4 fourth; };
uniform vec4 tint[2];
uniform vec4 more;
out vec4 color;
void main() {
    color = first * 0.1 + second * 0.2 + third * 0.1 + fourth * 0.2 + tint[0] * 0.1
        + tint[1] * 0.2 + more * 0.1;
}
"""
ELSEWHERE = """#version 430
uniform vec4 added[3];
uniform vec4 more;
layout(std140) uniform Zeroth { vec4 zeroth; };
layout(std140) uniform Second { vec4 second; };
layout(std140) uniform First { vec4 first; };
layout(std430) buffer Before { vec4 before; };
layout(std430) buffer Fourth { vec4 fourth; };
layout(std430) buffer Third { vec4 third; };
uniform vec4 tint[2];
out vec4 color;
void main() {
    color = first * 0.1 + second * 0.2 + third * 0.1 + fourth * 0.2 + tint[0] * 0.1
        + tint[1] * 0.2 + more * 0.1;
    if (color.x > 99.0) color += added[0] + added[1] + added[2] + zeroth + before;
}
"""


def placed(gl: Any) -> None:
    program = gl.create_program()
    for kind, text in ((GL.VERTEX_SHADER, VERTEX), (GL.FRAGMENT_SHADER, PLACED)):
        shader = gl.create_shader(kind)
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        gl.attach_shader(program, shader)
    gl.link_program(program)
    gl.use_program(program)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    buffers = gl.gen_buffers(4)
    blocks = (
        (GL.UNIFORM_BUFFER, gl.get_uniform_block_index, gl.uniform_block_binding, "First Second"),
        (
            GL.SHADER_STORAGE_BUFFER,
            lambda p, name: gl.get_program_resource_index(p, GL.SHADER_STORAGE_BLOCK, name),
            gl.shader_storage_block_binding,
            "Third Fourth",
        ),
    )
    at = 0
    for target, index_of, bind, names in blocks:
        for name in names.split():
            gl.bind_buffer_base(target, at + 1, buffers[at])
            data = np.eye(4, dtype=np.float32)[at]
            gl.buffer_data(target, 16, data, GL.STATIC_DRAW)
            bind(program, index_of(program, name), at + 1)
            at += 1
    tint = gl.get_uniform_location(program, "tint")
    gl.uniform4f(tint, 0.5, 0, 0, 0)
    gl.program_uniform4f(program, gl.get_uniform_location(program, "tint[1]"), 0, 0.5, 0, 0)
    gl.uniform4f(gl.get_uniform_location(program, "more"), 0, 0, 1, 0)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    seen = np.frombuffer(pixels(gl), np.uint8)[:4] / 255
    # x: 0.1 of First, 0.05 of tint[0]; y: 0.2 of Second, 0.1 of tint[1]; and so on.
    np.testing.assert_allclose(seen, [0.15, 0.3, 0.2, 0.2], atol=0.003)


def test_places_of_an_edited_shader_are_found_by_their_names(tmp_path: Path) -> None:
    capture = captured(tmp_path / "a.gcap", placed, version=(4, 3), size=(4, 4))
    source = [c.number for c in capture.calls if c.name == "ShaderSource"][1]
    for texts in ({}, {source: ELSEWHERE}):
        player = Replayer(capture, after_create=other_names)
        player.edits = dict(texts)
        done = player.run()
        assert done.images == 1
        assert done.identical, (done.different, done.errors)


@pytest.mark.native
def test_places_are_translated_for_the_machines_own_gl(tmp_path: Path) -> None:
    """Also after a program that does not link, which has no places."""

    def draw(gl: Any) -> None:
        gl.link_program(gl.create_program())
        bad, shader = gl.create_program(), gl.create_shader(GL.VERTEX_SHADER)
        gl.shader_source(shader, "no shader")
        gl.compile_shader(shader)
        gl.attach_shader(bad, shader)
        gl.link_program(bad)
        placed(gl)

    capture = captured(tmp_path / "a.gcap", draw, version=(4, 3), size=(4, 4))
    pictures: list[bytes] = []

    def look(call: Any, gl: Any) -> None:
        if call.name == "DrawArrays":
            pictures.append(pixels(gl))

    done = Replayer(capture, "native").run(after=look)
    assert done.errors == []
    seen = np.frombuffer(pictures[0], np.uint8)[:4] / 255
    np.testing.assert_allclose(seen, [0.15, 0.3, 0.2, 0.2], atol=0.005)


# -- the recorder ----------------------------------------------------------------------------------


def test_what_is_hidden_is_not_recorded(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        with unwatched():
            gl.flush()
            gl.clear(GL.COLOR_BUFFER_BIT)
        gl.finish()

    capture = captured(tmp_path / "a.gcap", draw, size=(2, 2))
    assert [c.name for c in capture.calls if c.name != "GetError"] == ["Finish"]


@pytest.mark.parametrize("way", ["target", "elements", "name"])
def test_mapped_memory_is_found_however_it_was_mapped(way: str, tmp_path: Path) -> None:
    """Written down when it is unmapped or flushed, and by a draw only if it stays mapped."""
    target = GL.ELEMENT_ARRAY_BUFFER if way == "elements" else GL.ARRAY_BUFFER

    def draw(gl: Any) -> None:
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        buffer = gl.gen_buffers(3)[2]
        gl.bind_buffer(target, buffer)
        gl.buffer_data(target, 32, None, GL.STATIC_DRAW)
        access = GL.MAP_WRITE_BIT | GL.MAP_FLUSH_EXPLICIT_BIT
        if way == "name":
            address = gl.map_named_buffer_range(buffer, 4, 12, access)
        else:
            address = gl.map_buffer_range(target, 4, 12, access)
        ctypes.memset(address, 7, 12)
        gl.clear(GL.COLOR_BUFFER_BIT)
        if way == "name":
            gl.flush_mapped_named_buffer_range(buffer, 0, 12)
            ctypes.memset(address, 8, 4)
            gl.unmap_named_buffer(buffer)
        else:
            gl.flush_mapped_buffer_range(target, 0, 12)
            ctypes.memset(address, 8, 4)
            gl.unmap_buffer(target)
        gl.map_buffer_range(target, 0, 4, GL.MAP_READ_BIT)
        gl.unmap_buffer(target)
        gl.finish()

    capture = captured(tmp_path / "a.gcap", draw, version=(4, 5), size=(2, 2))
    maps = list(capture.events("map"))
    access = int(GL.MAP_WRITE_BIT | GL.MAP_FLUSH_EXPLICIT_BIT)
    assert [m.parts for m in maps] == [[3, 4, 12, access], [3, 0, 4, int(GL.MAP_READ_BIT)]]
    written = list(capture.events("write"))
    before = [capture.call(w.before).name for w in written]
    assert [n.replace("Named", "") for n in before] == ["FlushMappedBufferRange", "UnmapBuffer"]
    assert [w.parts[:2] for w in written] == [[3, 4], [3, 4]]
    assert [capture.blob(w.parts[2]) for w in written] == [b"\7" * 12, b"\x08" * 4 + b"\7" * 8]

    last: list[bytes] = []

    def look(call: Any, gl: Any) -> None:
        if call.name == "Finish":
            last.append(bytes(gl.get_buffer_sub_data(target, 0, 32)))

    assert replay(capture).identical
    Replayer(capture, after_create=other_names).run(after=look)
    assert last == [bytes(4) + b"\x08" * 4 + b"\7" * 8 + bytes(16)]


def test_a_process_is_recorded_where_its_environment_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.gcap"
    ends: list[Any] = []
    monkeypatch.setattr(atexit, "register", ends.append)
    monkeypatch.setattr(sys, "argv", ["script.py", "1"])
    monkeypatch.delenv("GALLETTE_CAPTURE", raising=False)
    recorder.from_environment()
    assert not ends
    monkeypatch.setenv("GALLETTE_CAPTURE", str(path))
    gl: Any = gallette.create_context()
    assert len(WATCHERS) == 1
    again: Any = gallette.create_context()  # once: the environment is not asked again
    assert len(WATCHERS) == len(ends) == 1
    again.release()
    gl.make_current()
    gl.flush()
    gl.release()
    ends[0]()
    assert not WATCHERS
    capture = open_capture(path)
    assert capture.header == {"program": "script.py 1"}
    assert [c.name for c in capture.calls] == ["Flush"]
    assert capture.reader.complete


@pytest.mark.parametrize("argv", [[], [""]])
def test_a_program_without_a_name_is_called_after_its_python(
    argv: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[Any] = []
    monkeypatch.setattr(atexit, "register", ends.append)
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setenv("GALLETTE_CAPTURE", str(tmp_path / "a.gcap"))
    recorder.from_environment()
    ends[0]()
    assert open_capture(tmp_path / "a.gcap").header == {"program": Path(sys.executable).name}


@pytest.mark.parametrize("python", [True, False])
def test_a_host_that_is_no_python_closes_its_capture_when_it_exits(
    python: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []

    class Libc:
        @staticmethod
        def on_exit(function: Any, argument: Any) -> None:
            kept.append((function, argument))

    ends: list[Any] = []
    monkeypatch.setattr(atexit, "register", ends.append)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Libc)
    name = "/usr/bin/python3.11" if python else "/usr/bin/game"
    monkeypatch.setattr(Path, "resolve", lambda self: Path(name))
    monkeypatch.setenv("GALLETTE_CAPTURE", str(tmp_path / "a.gcap"))
    recorder.from_environment()
    assert len(kept) == (0 if python else 1)
    for function, argument in kept:
        assert not is_capture(tmp_path / "a.gcap")  # nothing was written yet
        assert argument is None
        function(0, None)
        assert open_capture(tmp_path / "a.gcap").reader.complete
    ends[0]()
    assert open_capture(tmp_path / "a.gcap").reader.complete
