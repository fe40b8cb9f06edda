"""What a replay translates: names of objects, and places of uniforms, blocks and outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.capture import Replayer, open_capture, recording
from gallette.capture.arguments import object_kind
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from tests.capture.captured import SHIFTS, captured, other_names, pixels

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


TINTED = """#version 430
uniform vec4 tint;
out vec4 color;
void main() { color = tint; }
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


@pytest.mark.parametrize("share", [True, False])
def test_a_name_may_be_an_object_of_each_context(share: bool, tmp_path: Path) -> None:
    """First of objects that contexts do not share, then of all."""
    made: dict[str, int] = {}
    with recording(tmp_path / "a.gcap"):
        first: Any = Context("numpipe", version=(4, 5))
        second: Any = Context("numpipe", version=(4, 5), share=first if share else None)
        for gl in (first, second):
            gl.make_current()
            for kind, many in LABELLED.items():
                target = {"TEXTURE": [GL.TEXTURE_2D], "QUERY": [GL.TIME_ELAPSED]}.get(kind, [])
                name = getattr(gl, f"create_{many}")(*target, 1)[0]
                made.setdefault(kind, name)
        first.make_current()
        for kind, name in made.items():
            first.object_label(getattr(GL, kind), name, -1, f"the {kind}")
        second.release()
        first.release()
    shifted: list[Any] = []
    found = {}

    def created(gl: Any) -> None:
        if not shifted:
            shifted.append(gl)
            gl.make_current()
            other_names(gl)

    def look(call: Any, gl: Any) -> None:
        if call.name == "ObjectLabel":
            kind = call.args[3].removeprefix("the ")
            name = made[kind] + SHIFTS[LABELLED[kind]]
            found[kind] = gl.get_object_label(getattr(GL, kind), name)

    done = Replayer(open_capture(tmp_path / "a.gcap"), after_create=created).run(after=look)
    assert done.errors == []
    assert found == {kind: f"the {kind}" for kind in made}


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


@pytest.mark.native
@pytest.mark.parametrize("profile", ["core", "compat"])
def test_shaders_of_a_later_glsl_are_compiled_by_the_machines_own_gl(
    profile: str, tmp_path: Path
) -> None:
    def draw(gl: Any) -> None:
        for first in ("#version 460\n", "// later\n # version 460 core\n"):
            shader = gl.create_shader(GL.VERTEX_SHADER)
            gl.shader_source(shader, first + "void main() { gl_Position = vec4(1.0); }")
            gl.compile_shader(shader)

    capture = captured(tmp_path / "a.gcap", draw, profile=profile, version=(4, 5), size=(4, 4))
    compiled: list[int] = []

    def look(call: Any, gl: Any) -> None:
        if call.name == "CompileShader":
            compiled.extend(gl.get_shaderiv(call.args[0], GL.COMPILE_STATUS))

    assert Replayer(capture, "native").run(after=look).errors == []
    assert compiled == [1, 1]


@pytest.mark.native
def test_programs_from_binaries_are_linked_again_for_other_drivers(tmp_path: Path) -> None:
    """Each driver accepts only its own binaries, but ours hold the GLSL."""

    def draw(gl: Any) -> None:
        program, loaded = gl.create_program(), gl.create_program()
        for kind, text in ((GL.VERTEX_SHADER, VERTEX), (GL.FRAGMENT_SHADER, TINTED)):
            gl.attach_shader(loaded, gl.create_shader(kind))  # never compiled, as ANGLE's are
            shader = gl.create_shader(kind)
            gl.shader_source(shader, text)
            gl.compile_shader(shader)
            gl.attach_shader(program, shader)
        gl.link_program(program)
        size, form, binary = np.zeros(1, "u4"), np.zeros(1, "u4"), np.zeros(1 << 14, "u1")
        addresses = (part.ctypes.data for part in (size, form, binary))
        gl.get_program_binary(program, binary.size, *addresses)  # a replay does not
        gl.program_binary(loaded, int(form[0]), binary.tobytes(), int(size[0]))
        gl.use_program(loaded)
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        gl.uniform4f(gl.get_uniform_location(loaded, "tint"), 0.2, 0.4, 0.6, 1)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        pixels(gl)

    capture = captured(tmp_path / "a.gcap", draw, version=(4, 3), size=(4, 4))
    done = Replayer(capture, "native").run()
    assert done.images == 1
    assert done.identical, (done.different, done.errors)
