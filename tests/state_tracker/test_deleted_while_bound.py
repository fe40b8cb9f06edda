"""Objects that are deleted, or get other storage, while something still holds them.

Each kind of binding point meets each way of taking the object away from it, in the context that has
bound it or in one that shares it, and is used then. Errors, and what is drawn or read, are the
native GL's; nothing is left when both contexts are gone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from gallette.state_tracker.native.context import NativeContext
from tests.conftest import native_context
from tests.state_tracker.helpers import errors

SIZE = 4

VERTEX = """#version 430
layout(location = 0) in vec4 position; layout(location = 1) in vec4 other; out vec4 kept;
void main() { gl_Position = position; kept = position + other; gl_PointSize = 9.0; }"""
FRAGMENT = """#version 430
%s
in vec4 kept; layout(location = 0) out vec4 result;
void main() { result = %s; }"""

Objects = dict[str, int]


@dataclass(frozen=True)
class Kind:
    """A binding point: what binds an object of its own, deletes it, gives it other storage."""

    declared: str  # in the fragment shader
    shown: str  # by it
    bind: Callable[[Any, Objects], None]
    delete: Callable[[Any, Objects], None]
    respecify: Callable[[Any, Objects], None] | None = None
    use: Callable[[Any, Objects], Any] | None = None  # default: draw a point, read a pixel
    leave: Callable[[Any, Objects], None] | None = None  # bind another container
    enter: Callable[[Any, Objects], None] | None = None  # bind the container again
    local: bool = False  # objects of this kind are not shared


def _filled(gl: Any, target: int, *values: float, size: int = 256) -> int:
    (name,) = gl.gen_buffers(1)
    gl.bind_buffer(target, name)
    data = np.zeros(size // 4, np.float32)
    data[: len(values)] = values
    gl.buffer_data(target, size, data, GL.STATIC_DRAW)
    return int(name)


def _delete_buffer(gl: Any, made: Objects) -> None:
    gl.delete_buffers(1, [made["object"]])


def _other_data(gl: Any, made: Objects) -> None:
    gl.bind_buffer(GL.COPY_WRITE_BUFFER, made["object"])
    data = np.full(128, 0.5, np.float32)
    gl.buffer_data(GL.COPY_WRITE_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    gl.bind_buffer(GL.COPY_WRITE_BUFFER, 0)


def _drawn(gl: Any, made: Objects) -> Any:
    gl.draw_arrays(GL.POINTS, 0, 1)
    return pixel(gl)


def pixel(gl: Any) -> list[int]:
    return list(gl.read_pixels(1, 1, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))


# -- buffers ---------------------------------------------------------------------------------------


def _block(target: int) -> Callable[[Any, Objects], None]:
    def bind(gl: Any, made: Objects) -> None:
        made["object"] = _filled(gl, target, 0.2, 0.4, 0.6, 1.0)
        gl.bind_buffer_base(target, 0, made["object"])

    return bind


def _counted(gl: Any, made: Objects) -> Any:
    gl.draw_arrays(GL.POINTS, 0, 1)
    gl.memory_barrier(GL.ALL_BARRIER_BITS)
    return [gl.get_integeri_v(GL.ATOMIC_COUNTER_BUFFER_BINDING, 0)[0] > 0]


def _attribute(gl: Any, made: Objects) -> None:
    made["object"] = _filled(gl, GL.ARRAY_BUFFER, 0.2, 0.4, 0.6, 1.0)
    gl.vertex_attrib_pointer(1, 4, GL.FLOAT, 0, 0, None)
    gl.enable_vertex_attrib_array(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, 0)


def _indices(gl: Any, made: Objects) -> None:
    made["object"] = _filled(gl, GL.ELEMENT_ARRAY_BUFFER)


def _draw_elements(gl: Any, made: Objects) -> Any:
    if not gl.get_integerv(GL.ELEMENT_ARRAY_BUFFER_BINDING)[0]:
        return ["no indices"]  # the native GL would read them at address 0
    gl.draw_elements(GL.POINTS, 1, GL.UNSIGNED_BYTE, None)
    return pixel(gl)


def _no_array(gl: Any, made: Objects) -> None:
    gl.bind_vertex_array(made["another array"])


def _array(gl: Any, made: Objects) -> None:
    gl.bind_vertex_array(made["array"])


def _bound_to(target: int) -> Callable[[Any, Objects], None]:
    def bind(gl: Any, made: Objects) -> None:
        made["object"] = _filled(gl, target, *np.array([1, 1, 0, 0], np.uint32).view(np.float32))

    return bind


def _told(target: str) -> Callable[[Any, Objects], Any]:
    def use(gl: Any, made: Objects) -> Any:
        return [gl.get_integerv(getattr(GL, f"{target}_BINDING"))[0] == made["object"]]

    return use


def _draw_indirect(gl: Any, made: Objects) -> Any:
    gl.draw_arrays_indirect(GL.POINTS, None)
    return pixel(gl)


def _read_into_a_buffer(gl: Any, made: Objects) -> Any:
    room = np.zeros(4, np.uint8)
    if gl.get_integerv(GL.PIXEL_PACK_BUFFER_BINDING)[0]:
        gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, 0)
        return ["into the buffer"]
    gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, room)
    return room.tolist()


def _mapped(gl: Any, made: Objects) -> None:
    made["object"] = _filled(gl, GL.COPY_READ_BUFFER)
    gl.map_buffer_range(GL.COPY_READ_BUFFER, 0, 16, GL.MAP_WRITE_BIT)


def _unmap(gl: Any, made: Objects) -> Any:
    return [bool(gl.unmap_buffer(GL.COPY_READ_BUFFER))]


def _begin_capture(gl: Any, made: Objects) -> None:
    made["object"] = _filled(gl, GL.TRANSFORM_FEEDBACK_BUFFER)
    made["feedback"] = gl.gen_transform_feedbacks(1)[0]
    gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, made["feedback"])
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, made["object"])
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 1)


def _pause_capture(gl: Any, made: Objects) -> None:
    _begin_capture(gl, made)
    gl.pause_transform_feedback()


def _capture_on(gl: Any, made: Objects) -> Any:
    """Deleting the buffer ends nothing: capturing goes on into the storage that was there."""
    gl.draw_arrays(GL.POINTS, 0, 1)
    gl.end_transform_feedback()
    gl.draw_transform_feedback(GL.POINTS, made["feedback"])
    again = gl.get_integeri_v(GL.TRANSFORM_FEEDBACK_BUFFER_BINDING, 0)[0] == made["object"]
    gl.begin_transform_feedback(GL.POINTS)  # an error if there is no buffer
    gl.end_transform_feedback()
    return [again]


def _resume_capture(gl: Any, made: Objects) -> Any:
    gl.resume_transform_feedback()
    return _capture_on(gl, made)


def _no_feedback(gl: Any, made: Objects) -> None:
    gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, 0)


def _feedback(gl: Any, made: Objects) -> None:
    gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, made["feedback"])


def _buffer_texture(gl: Any, made: Objects) -> None:
    made["object"] = _filled(gl, GL.TEXTURE_BUFFER, 0.2, 0.4, 0.6, 1.0)
    gl.bind_texture(GL.TEXTURE_BUFFER, gl.gen_textures(1)[0])
    gl.tex_buffer(GL.TEXTURE_BUFFER, GL.RGBA32F, made["object"])
    gl.bind_buffer(GL.TEXTURE_BUFFER, 0)


# -- textures and what they are attached to --------------------------------------------------------

_TEXELS = np.full((SIZE, SIZE, 4), 50, np.uint8)


def _image(gl: Any, name: int, size: int = SIZE, value: int = 50) -> None:
    gl.bind_texture(GL.TEXTURE_2D, name)
    texels = np.full((size, size, 4), value, np.uint8)
    args = (GL.RGBA8, size, size, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    gl.tex_image2d(GL.TEXTURE_2D, 0, *args)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)


def _texture(gl: Any, made: Objects) -> None:
    (made["object"],) = gl.gen_textures(1)
    _image(gl, made["object"])


def _delete_texture(gl: Any, made: Objects) -> None:
    gl.delete_textures(1, [made["object"]])


def _other_image(gl: Any, made: Objects) -> None:
    before = gl.get_integerv(GL.TEXTURE_BINDING_2D)[0]
    _image(gl, made["object"], 2 * SIZE, 150)
    gl.bind_texture(GL.TEXTURE_2D, before)


def _view(gl: Any, made: Objects) -> None:
    (made["object"], view) = gl.gen_textures(2)
    gl.bind_texture(GL.TEXTURE_2D, made["object"])
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, SIZE, SIZE)
    at = (0, 0, SIZE, SIZE)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, *at, GL.RGBA, GL.UNSIGNED_BYTE, _TEXELS)
    gl.texture_view(view, GL.TEXTURE_2D, made["object"], GL.RGBA8, 0, 1, 0, 1)
    gl.bind_texture(GL.TEXTURE_2D, view)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)


def _sampler(gl: Any, made: Objects) -> None:
    """A sampler that shows the border where the texture would repeat."""
    _image(gl, gl.gen_textures(1)[0])
    (made["object"],) = gl.gen_samplers(1)
    gl.bind_sampler(0, made["object"])
    gl.sampler_parameteri(made["object"], GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.sampler_parameteri(made["object"], GL.TEXTURE_WRAP_S, GL.CLAMP_TO_BORDER)


def _delete_sampler(gl: Any, made: Objects) -> None:
    gl.delete_samplers(1, [made["object"]])


def _image_unit(gl: Any, made: Objects) -> None:
    _texture(gl, made)
    gl.bind_texture(GL.TEXTURE_2D, 0)
    gl.bind_image_texture(0, made["object"], 0, 0, 0, GL.READ_ONLY, GL.RGBA8)


def _attached(gl: Any, made: Objects) -> None:
    _texture(gl, made)
    gl.bind_texture(GL.TEXTURE_2D, 0)
    (made["framebuffer"],) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, made["framebuffer"])
    point = GL.COLOR_ATTACHMENT0
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, GL.TEXTURE_2D, made["object"], 0)


def _draw_into_it(gl: Any, made: Objects) -> Any:
    status = gl.check_framebuffer_status(GL.FRAMEBUFFER)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_arrays(GL.POINTS, 0, 1)
    if status != GL.FRAMEBUFFER_COMPLETE:
        return [GL.name_of(status)]
    return [GL.name_of(status), *pixel(gl)]


def _renderbuffer(gl: Any, made: Objects) -> None:
    (made["object"],) = gl.gen_renderbuffers(1)
    gl.bind_renderbuffer(GL.RENDERBUFFER, made["object"])
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, SIZE, SIZE)
    (made["framebuffer"],) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, made["framebuffer"])
    point = GL.COLOR_ATTACHMENT0
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, made["object"])


def _delete_renderbuffer(gl: Any, made: Objects) -> None:
    gl.delete_renderbuffers(1, [made["object"]])


def _other_storage(gl: Any, made: Objects) -> None:
    gl.bind_renderbuffer(GL.RENDERBUFFER, made["object"])
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, 2 * SIZE, 2 * SIZE)


def _no_framebuffer(gl: Any, made: Objects) -> None:
    gl.bind_framebuffer(GL.FRAMEBUFFER, 0)


def _framebuffer(gl: Any, made: Objects) -> None:
    gl.bind_framebuffer(GL.FRAMEBUFFER, made["framebuffer"])


# -- programs --------------------------------------------------------------------------------------


def _in_use(gl: Any, made: Objects) -> None:
    made["object"] = made["program"]


def _delete_program(gl: Any, made: Objects) -> None:
    gl.delete_program(made["object"])


def _relink(gl: Any, made: Objects) -> None:
    gl.link_program(made["object"])


def _in_a_pipeline(gl: Any, made: Objects) -> None:
    fragment = FRAGMENT % ("", "vec4(0.2)")
    block = "out gl_PerVertex { vec4 gl_Position; float gl_PointSize; };"
    vertex = VERTEX.replace("void main", f"{block}\nvoid main")
    made["object"] = gl.create_shader_programv(GL.VERTEX_SHADER, 1, [vertex])
    other = gl.create_shader_programv(GL.FRAGMENT_SHADER, 1, [fragment])
    (made["pipeline"],) = gl.gen_program_pipelines(1)
    gl.use_program_stages(made["pipeline"], GL.VERTEX_SHADER_BIT, made["object"])
    gl.use_program_stages(made["pipeline"], GL.FRAGMENT_SHADER_BIT, other)
    gl.use_program(0)
    gl.bind_program_pipeline(made["pipeline"])


def _no_pipeline(gl: Any, made: Objects) -> None:
    gl.bind_program_pipeline(0)


def _pipeline(gl: Any, made: Objects) -> None:
    gl.bind_program_pipeline(made["pipeline"])


def _shader(gl: Any, made: Objects) -> None:
    made["object"] = made["shader"]


def _delete_shader(gl: Any, made: Objects) -> None:
    gl.delete_shader(made["object"])


def _link_again(gl: Any, made: Objects) -> Any:
    gl.link_program(made["program"])
    return [gl.get_programiv(made["program"], GL.LINK_STATUS)[0], *_drawn(gl, made)]


# -- what belongs to one context -------------------------------------------------------------------


def _query(gl: Any, made: Objects) -> None:
    (made["object"],) = gl.gen_queries(1)
    gl.begin_query(GL.SAMPLES_PASSED, made["object"])
    gl.draw_arrays(GL.POINTS, 0, 1)


def _delete_query(gl: Any, made: Objects) -> None:
    gl.delete_queries(1, [made["object"]])


def _end_query(gl: Any, made: Objects) -> Any:
    gl.draw_arrays(GL.POINTS, 0, 1)
    gl.end_query(GL.SAMPLES_PASSED)
    return pixel(gl)


def _condition(gl: Any, made: Objects) -> None:
    (made["object"],) = gl.gen_queries(1)
    gl.begin_query(GL.SAMPLES_PASSED, made["object"])
    gl.draw_arrays(GL.POINTS, 0, 1)
    gl.end_query(GL.SAMPLES_PASSED)
    gl.begin_conditional_render(made["object"], GL.QUERY_WAIT)


def _end_condition(gl: Any, made: Objects) -> Any:
    found = _drawn(gl, made)
    gl.end_conditional_render()
    return [*found, *_drawn(gl, made)]


def _own_array(gl: Any, made: Objects) -> None:
    made["object"] = made["array"]


def _delete_array(gl: Any, made: Objects) -> None:
    gl.delete_vertex_arrays(1, [made["object"]])


def _own_framebuffer(gl: Any, made: Objects) -> None:
    _attached(gl, made)
    made["object"] = made["framebuffer"]


def _delete_framebuffer(gl: Any, made: Objects) -> None:
    gl.delete_framebuffers(1, [made["object"]])


def _own_feedback(gl: Any, made: Objects) -> None:
    _pause_capture(gl, made)
    made["object"] = made["feedback"]


def _delete_feedback(gl: Any, made: Objects) -> None:
    gl.delete_transform_feedbacks(1, [made["object"]])


def _own_pipeline(gl: Any, made: Objects) -> None:
    _in_a_pipeline(gl, made)
    made["object"] = made["pipeline"]


def _delete_pipeline(gl: Any, made: Objects) -> None:
    gl.delete_program_pipelines(1, [made["object"]])


def _draw_with_none(gl: Any, made: Objects) -> Any:
    """What is drawn is undefined."""
    gl.draw_arrays(GL.POINTS, 0, 1)
    return [gl.get_integerv(GL.PROGRAM_PIPELINE_BINDING)[0]]


BLOCK = "layout(std140, binding = 0) uniform Block { vec4 more; };"
STORE = "layout(std430, binding = 0) buffer Store { vec4 more; };"
COUNT = "layout(binding = 0) uniform atomic_uint count;"
SAMPLED = "uniform sampler2D image;"
TEXEL = "textureLod(image, vec2(1.3), 0.0)"
BUFFER = "uniform samplerBuffer image;"
IMAGE = "layout(rgba8, binding = 0) readonly uniform image2D image;"
buffer: dict[str, Any] = {"delete": _delete_buffer, "respecify": _other_data}
array: dict[str, Any] = {"leave": _no_array, "enter": _array}
feedback: dict[str, Any] = {"leave": _no_feedback, "enter": _feedback}
target: dict[str, Any] = {"leave": _no_framebuffer, "enter": _framebuffer, "use": _draw_into_it}
texture: dict[str, Any] = {"delete": _delete_texture, "respecify": _other_image}
pipeline: dict[str, Any] = {"leave": _no_pipeline, "enter": _pipeline}

KINDS: dict[str, Kind] = {
    "uniform buffer": Kind(BLOCK, "more", _block(GL.UNIFORM_BUFFER), **buffer),
    "storage buffer": Kind(STORE, "more", _block(GL.SHADER_STORAGE_BUFFER), **buffer),
    "counter buffer": Kind(
        COUNT, "vec4(atomicCounterIncrement(count))", _block(GL.ATOMIC_COUNTER_BUFFER),
        use=_counted, **buffer,
    ),
    "vertex buffer": Kind("", "kept", _attribute, **buffer, **array),
    "element buffer": Kind("", "vec4(0.2)", _indices, use=_draw_elements, **buffer, **array),
    "array buffer": Kind("", "kept", _bound_to(GL.ARRAY_BUFFER), use=_told("ARRAY_BUFFER"),
                         **buffer),
    "indirect buffer": Kind("", "vec4(0.2)", _bound_to(GL.DRAW_INDIRECT_BUFFER), _delete_buffer,
                            use=_draw_indirect),
    "pack buffer": Kind("", "kept", _bound_to(GL.PIXEL_PACK_BUFFER), use=_read_into_a_buffer,
                        **buffer),
    "mapped buffer": Kind("", "kept", _mapped, use=_unmap, **buffer),
    "buffer being captured into": Kind("", "kept", _begin_capture, use=_capture_on, **buffer),
    "buffer of a paused capture": Kind("", "kept", _pause_capture, use=_resume_capture, **buffer,
                                       **feedback),
    "texture's buffer": Kind(BUFFER, "texelFetch(image, 0)", _buffer_texture, **buffer),
    "texture": Kind(SAMPLED, TEXEL, _texture, **texture),
    "origin of a view": Kind(SAMPLED, TEXEL, _view, _delete_texture),
    "sampler": Kind(SAMPLED, TEXEL, _sampler, _delete_sampler),
    "image unit": Kind(IMAGE, "imageLoad(image, ivec2(3))", _image_unit, **texture),
    "attached texture": Kind("", "vec4(0.2)", _attached, **texture, **target),
    "attached renderbuffer": Kind("", "vec4(0.2)", _renderbuffer, _delete_renderbuffer,
                                  _other_storage, **target),
    "program": Kind("", "vec4(0.2)", _in_use, _delete_program, _relink),
    "program of a pipeline": Kind("", "vec4(0.2)", _in_a_pipeline, _delete_program, _relink,
                                  **pipeline),
    "attached shader": Kind("", "vec4(0.2)", _shader, _delete_shader, use=_link_again),
    "query": Kind("", "vec4(0.2)", _query, _delete_query, use=_end_query, local=True),
    "condition": Kind("", "vec4(0.2)", _condition, _delete_query, use=_end_condition, local=True),
    "vertex array": Kind("", "vec4(0.2)", _own_array, _delete_array, local=True),
    "framebuffer": Kind("", "vec4(0.2)", _own_framebuffer, _delete_framebuffer, local=True),
    "feedback": Kind("", "vec4(0.2)", _own_feedback, _delete_feedback, use=_resume_capture,
                     local=True),
    "pipeline": Kind("", "vec4(0.2)", _own_pipeline, _delete_pipeline, use=_draw_with_none,
                     local=True),
}  # fmt: skip

WAYS = (
    "deleted",
    "deleted elsewhere",
    "deleted by another",
    "respecified",
    "respecified by another",
)


def _applies(kind: Kind, way: str) -> bool:
    if kind.local and "another" in way:
        return False
    if "elsewhere" in way:
        return kind.leave is not None
    return kind.respecify is not None or "respecified" not in way


CASES = [(name, way) for name, kind in KINDS.items() for way in WAYS if _applies(kind, way)]


def pair(driver: str) -> tuple[Any, Any]:
    options: dict[str, Any] = {"profile": "core", "version": (4, 3), "size": (SIZE, SIZE)}
    if driver == "native":
        first: Any = native_context(**options)
        return first, NativeContext("llvmpipe", share=first, **options)
    first = Context(driver, **options)
    return first, Context(driver, share=first, **options)


def prepared(gl: Any, kind: Kind) -> Objects:
    """A point over the whole window, drawn by a program that shows what the kind binds."""
    made: Objects = {}
    made["another array"], made["array"] = gl.gen_vertex_arrays(2)
    gl.bind_vertex_array(made["array"])
    _filled(gl, GL.ARRAY_BUFFER, 0, 0, 0, 1, 0, 0, 0, 1)
    gl.vertex_attrib_pointer(0, 4, GL.FLOAT, 0, 0, None)
    gl.enable_vertex_attrib_array(0)
    gl.bind_buffer(GL.ARRAY_BUFFER, 0)
    gl.vertex_attrib4f(1, 0.0, 0.0, 0.0, 0.0)
    gl.enable(GL.PROGRAM_POINT_SIZE)
    gl.viewport(0, 0, SIZE, SIZE)
    made["program"] = gl.create_program()
    sources = (
        (GL.VERTEX_SHADER, VERTEX),
        (GL.FRAGMENT_SHADER, FRAGMENT % (kind.declared, kind.shown)),
    )
    for stage, source in sources:
        shader = gl.create_shader(stage)
        gl.shader_source(shader, source)
        gl.compile_shader(shader)
        gl.attach_shader(made["program"], shader)
        made["shader"] = shader
    gl.transform_feedback_varyings(made["program"], 1, ["kept"], GL.INTERLEAVED_ATTRIBS)
    gl.link_program(made["program"])
    assert gl.get_programiv(made["program"], GL.LINK_STATUS)[0], gl.get_program_info_log(
        made["program"]
    )
    gl.use_program(made["program"])
    gl.clear_color(0, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    return made


def told(driver: str, name: str, way: str) -> list[Any]:
    """What is seen, and the errors, before and after the object is taken away."""
    kind = KINDS[name]
    gl, another = pair(driver)
    gl.make_current()
    made = prepared(gl, kind)
    kind.bind(gl, made)
    seen: list[Any] = [errors(gl)]
    actor = another if "another" in way else gl
    if "elsewhere" in way and kind.leave is not None:
        kind.leave(gl, made)
    gl.finish()
    actor.make_current()
    change = kind.respecify if "respecified" in way else kind.delete
    assert change is not None
    change(actor, made)
    seen.append(errors(actor))
    actor.finish()
    gl.make_current()
    if "elsewhere" in way and kind.enter is not None:
        kind.enter(gl, made)
    for _ in range(2):
        seen.append((kind.use or _drawn)(gl, made))
        seen.append(errors(gl))
    if isinstance(gl, Context):
        screen = gl.screen
        gl.release()
        another.release()
        assert screen.resources.live == []
    else:
        gl.release()
        another.release()
    return seen


OPERATION = ["GL_INVALID_OPERATION"]
UNBOUND: list[Any] = [[], [], [False], OPERATION, [False], OPERATION]
DIFFERENT: dict[tuple[str, str], list[Any]] = {
    # Deleting unbinds a buffer from the feedback that is bound, active or not; for Mesa that is an
    # error while it is active, and the buffer stays bound.
    ("buffer being captured into", "deleted"): UNBOUND,
    ("buffer of a paused capture", "deleted"): UNBOUND,
}


@pytest.mark.parametrize("name, way", CASES)
def test_references_keep_an_object_without_its_name(name: str, way: str) -> None:
    found = [told(driver, name, way) for driver in ("numpipe", "jit")]
    assert found[0] == found[1]


@pytest.mark.parametrize("name, way", CASES)
@pytest.mark.native
def test_references_keep_an_object_as_on_the_native_gl(name: str, way: str) -> None:
    expected = told("native", name, way)
    if (name, way) in DIFFERENT:
        assert expected != DIFFERENT[name, way]
        expected = DIFFERENT[name, way]
    assert told("numpipe", name, way) == expected
