"""Calls that become commands have the effects they have one by one."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.context import HostContext
from gallette.drivers.common.draw.queue import DrawQueue
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.entry_points import machine_code
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.stream import analysis, batch, stream
from gallette.state_tracker.stream.calls import CALLS, Role, keeps_state
from tests.state_tracker.stream.worlds import (
    PLAIN,
    SIZE,
    VERTEX,
    Recorded,
    Through,
    draw,
    pending,
    switch_off,
)

pytestmark = pytest.mark.skipif(
    not machine_code.possible(), reason="there is a command stream on x86-64 with Linux only"
)

BYTES = np.zeros(64, np.uint8)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("profile", ["core", "compat", "es"])
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_recorded_calls_look_like_others(
    driver: str, profile: str, seed: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Recorded(driver, seed, profile)
    first = one.run(500)
    assert sum(sizes) > 100
    assert max(sizes) > (4 if profile == "compat" else 8)  # lists and the like come between
    del sizes[:]
    switch_off(monkeypatch)
    other = Recorded(driver, seed, profile)
    np.testing.assert_array_equal(first, other.run(500))
    assert one.told == other.told
    assert not sizes
    monkeypatch.setenv("GALLETTE_STREAM", "off")
    at_once = Recorded(driver, seed, profile)
    submitted: list[Any] = []
    add = DrawQueue._add
    monkeypatch.setattr(DrawQueue, "_add", lambda *args: submitted.append(args) or add(*args))
    np.testing.assert_array_equal(first, at_once.run(500))
    assert one.told == at_once.told
    assert not submitted
    assert len(np.unique(first)) > 10


def test_recorded_state_is_current_for_every_reader(world: Recorded) -> None:
    gl = world.gl
    gl.enable(GL.BLEND)
    gl.disable(GL.DEPTH_TEST)
    gl.active_texture(GL.TEXTURE3)
    gl.bind_texture(GL.TEXTURE_2D, world.textures[2])
    gl.active_texture(GL.TEXTURE2)
    gl.bind_vertex_array(world.arrays[1])
    gl.uniform4fv(world.tint, 1, np.array([1, 2, 3, 4], np.float32))
    assert pending()
    assert gl.is_enabled(GL.BLEND)
    assert not gl.is_enabled(GL.DEPTH_TEST)
    assert gl.get_integerv(GL.ACTIVE_TEXTURE) == [GL.TEXTURE2]
    assert gl.get_integerv(GL.VERTEX_ARRAY_BINDING) == [world.arrays[1]]
    assert gl.get_uniformfv(world.programs[0], world.tint) == [1, 2, 3, 4]
    gl.active_texture(GL.TEXTURE3)
    assert gl.get_integerv(GL.TEXTURE_BINDING_2D) == [world.textures[2]]
    gl.active_texture(GL.TEXTURE2)
    assert gl.get_integerv(GL.TEXTURE_BINDING_2D) == [0]


def test_a_frame_with_its_read_back_is_one_batch(world: Recorded, sizes: list[int]) -> None:
    gl = world.gl
    for _ in range(2):
        del sizes[:]
        gl.bind_framebuffer(GL.FRAMEBUFFER, world.targets[0])
        draw(world, 6)
        gl.clamp_color(GL.CLAMP_READ_COLOR, GL.FIXED_ONLY)
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, world.targets[0])
        gl.read_buffer(GL.COLOR_ATTACHMENT0)
        gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
        gl.pixel_storei(GL.PACK_ROW_LENGTH, 0)
        assert not sizes
        assert any(gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE))
        assert len(sizes) == 1


def test_each_framebuffer_is_read_from_the_buffer_set_for_it(world: Recorded) -> None:
    gl = world.gl
    first, second, _ = world.targets
    for _ in range(2):  # first as new calls, then as known ones
        for target, attachment in ((first, 1), (second, 2), (first, 3)):
            gl.bind_framebuffer(GL.READ_FRAMEBUFFER, target)
            gl.read_buffer(GL.COLOR_ATTACHMENT0 + attachment)
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, second)
        draw(world, 6)
        gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, first)
        assert pending()
        assert gl.get_integerv(GL.READ_BUFFER) == [GL.COLOR_ATTACHMENT2]
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, first)
        assert gl.get_integerv(GL.READ_BUFFER) == [GL.COLOR_ATTACHMENT3]
        gl.read_buffer(GL.NONE)
        draw(world, 6)
        assert gl.get_integerv(GL.READ_BUFFER) == [GL.NONE]
        gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, 0)


_TWICE_SET: dict[str, tuple[Any, int, Any, Any]] = {
    "alignment": (
        lambda gl, value: gl.pixel_storei(GL.UNPACK_ALIGNMENT, value),
        *(GL.UNPACK_ALIGNMENT, 4, 8),
    ),
    "row length": (
        lambda gl, value: gl.pixel_storei(GL.PACK_ROW_LENGTH, value),
        *(GL.PACK_ROW_LENGTH, 7, 9),
    ),
    "clamp": (
        lambda gl, value: gl.clamp_color(GL.CLAMP_READ_COLOR, value),
        *(GL.CLAMP_READ_COLOR, GL.TRUE, GL.FALSE),
    ),
    "read buffer": (lambda gl, value: gl.read_buffer(value), GL.READ_BUFFER, GL.NONE, GL.BACK),
}


@pytest.mark.parametrize("name", _TWICE_SET)
def test_a_value_that_was_changed_outside_the_stream_is_set_again(
    name: str, world: Recorded
) -> None:
    call, asked, value, other = _TWICE_SET[name]
    for _ in range(2):
        draw(world, 6)
        call(world.gl, value)
        assert world.gl.get_integerv(asked) == [value]
    call(world.plain, other)
    draw(world, 6)
    call(world.gl, value)
    assert world.gl.get_integerv(asked) == [value]


def test_functions_that_set_a_slot_do_not_keep_the_state_of_the_stream() -> None:
    """Called outside the stream, they make what it recorded wrong."""
    setting = [call.name for call in CALLS if call.role is Role.STATE]
    assert "PixelStorei" in setting
    assert not any(keeps_state(FUNCTIONS[name]) for name in [*setting, "PixelStoref"])


_ALIASES = [
    ("compat", (4, 5), "active_texture_arb", (GL.TEXTURE3,), GL.ACTIVE_TEXTURE, GL.TEXTURE3),
    ("compat", (4, 5), "blend_equation_ext", (GL.MAX,), GL.BLEND_EQUATION, GL.MAX),
    # The context has no function of the core name.
    ("es", (1, 1), "depth_rangef_oes", (0.25, 0.5), GL.DEPTH_RANGE, [0.25, 0.5]),
    ("es", (1, 1), "blend_equation_oes", (GL.FUNC_SUBTRACT,), GL.BLEND_EQUATION, GL.FUNC_SUBTRACT),
]


@pytest.mark.parametrize("row", _ALIASES, ids=lambda row: row[2])
def test_functions_of_extensions_are_recorded_like_those_of_the_core(row: Any) -> None:
    profile, version, name, arguments, asked, wanted = row
    plain = create_context(driver="numpipe", profile=profile, version=version)
    plain.make_current()
    gl = Through(plain, [name])
    for _ in range(2):  # the stream does not record from the first call on
        getattr(gl, name)(*arguments)
        recorded = pending()
        assert plain.get_floatv(asked) == (wanted if isinstance(wanted, list) else [wanted])
        assert not plain.get_error()
    assert recorded
    plain.release()


def test_parameters_of_textures_are_kept_by_texture(world: Recorded, sizes: list[int]) -> None:
    gl = world.gl
    one, two, _ = world.textures
    wanted: dict[int, int] = {}
    for turn in range(40):
        if turn == 20:
            del sizes[:]
        number = turn % 4
        texture = (one, two, 0)[number % 3]
        gl.active_texture(GL.TEXTURE0 + turn % 3)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        wanted[texture] = (GL.REPEAT, GL.MIRRORED_REPEAT, GL.CLAMP_TO_EDGE)[turn % 3]
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_WRAP_S, wanted[texture])
        gl.bind_texture(GL.TEXTURE_2D, 0)
        gl.sampler_parameterf(world.sampler, GL.TEXTURE_MIN_FILTER, float(GL.NEAREST))
        draw(world, 6)
    assert len(sizes) <= 1  # nothing was executed between them
    for texture, value in wanted.items():
        gl.bind_texture(GL.TEXTURE_2D, texture)
        assert gl.get_tex_parameteriv(GL.TEXTURE_2D, GL.TEXTURE_WRAP_S)[0] == value
    assert gl.get_sampler_parameteriv(world.sampler, GL.TEXTURE_MIN_FILTER)[0] == GL.NEAREST
    assert gl.get_error() == GL.NO_ERROR


@pytest.mark.parametrize(
    ("target", "pname", "value", "error"),
    [
        (GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.RED, GL.INVALID_ENUM),
        (GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.LINEAR_MIPMAP_LINEAR, GL.INVALID_ENUM),
        (GL.TEXTURE_2D_MULTISAMPLE, GL.TEXTURE_WRAP_S, GL.REPEAT, GL.INVALID_ENUM),
        (GL.ARRAY_BUFFER, GL.TEXTURE_WRAP_T, GL.REPEAT, GL.INVALID_ENUM),
        (GL.TEXTURE_2D, GL.TEXTURE_BASE_LEVEL, -1, GL.INVALID_VALUE),
        (GL.TEXTURE_2D, GL.TEXTURE_WRAP_R, GL.REPEAT, GL.NO_ERROR),
    ],
)
def test_a_wrong_parameter_of_a_texture_is_an_error(
    target: int, pname: int, value: int, error: int, world: Recorded
) -> None:
    gl = world.gl
    for _ in range(3):
        draw(world, 6)
        gl.tex_parameteri(target, pname, value)
        draw(world, 6)
        assert gl.get_error() == error


@pytest.mark.parametrize(("size", "keeps"), [(16, True), (20, False)])
def test_data_in_the_same_storage_keeps_the_known_draws(
    size: int, keeps: bool, world: Recorded
) -> None:
    gl, known = world.gl, world.plain.stream.kinds
    gl.bind_buffer(GL.UNIFORM_BUFFER, world.paints[0])
    for _ in range(2):
        draw(world, 600)
        gl.finish()
    assert known
    gl.buffer_data(GL.UNIFORM_BUFFER, size, np.zeros(size, np.uint8), GL.STREAM_DRAW)
    assert bool(known) is keeps


def test_calls_that_are_repeated_between_reads_are_not_analysed_again(
    world: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    gl, analysed = world.gl, []
    monkeypatch.setattr(stream, "Batch", lambda *args: analysed.append(args) or batch.Batch(*args))
    draw(world, 600)
    for turn in range(40):
        gl.bind_texture(GL.TEXTURE_2D, world.textures[turn % 2])
        gl.active_texture(GL.TEXTURE0 + turn % 3)
        assert gl.get_integerv(GL.ACTIVE_TEXTURE) == [GL.TEXTURE0 + turn % 3]
        if turn == 20:
            del analysed[:]
    assert not analysed
    for unit in range(3):
        gl.active_texture(GL.TEXTURE0 + unit)
        assert gl.get_integerv(GL.TEXTURE_BINDING_2D)[0] in world.textures
    draw(world, 6)
    assert world.plain.stream.for_draws


def test_the_same_calls_with_other_uniforms_are_not_analysed_again(
    world: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor with other data for buffers."""
    gl, analysed = world.gl, []
    find = analysis.Analysis._find_entries
    monkeypatch.setattr(
        analysis.Analysis, "_find_entries", lambda *args: analysed.append(args) or find(*args)
    )
    gl.bind_buffer(GL.ARRAY_BUFFER, world.buffers[0])
    for frame in range(6):
        if frame == 4:
            del analysed[:]
        for number in range(40):
            gl.uniform4f(world.place, 0.1 * frame, -0.1 * frame, 0, 0.01 * number)
            gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 8, np.full(2, 0.1 * frame + number, np.float32))
            draw(world, 1)
        gl.finish()
    assert not analysed
    found = np.frombuffer(gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 8), np.float32)
    np.testing.assert_allclose(found, 39.5)


def test_what_is_written_to_buffers_is_there(world: Recorded, sizes: list[int]) -> None:
    gl, (one, two, three) = world.gl, world.buffers
    for number in range(500):
        gl.bind_buffer(GL.ARRAY_BUFFER, (one, two)[number % 2])
        value = np.full(2, number, np.float32)
        gl.buffer_sub_data(GL.ARRAY_BUFFER, 8 * (number % 5), 8, value)
        value[:] = -1  # it is the caller's again
        if not number % 7:
            draw(world, 1)
    gl.bind_buffer(GL.ARRAY_BUFFER, three)
    assert pending()
    assert gl.get_integerv(GL.ARRAY_BUFFER_BINDING) == [three]
    assert sum(sizes) > 570
    for buffer, last in ((one, (490, 496, 492, 498, 494)), (two, (495, 491, 497, 493, 499))):
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        found = np.frombuffer(gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 40), np.float32)
        np.testing.assert_array_equal(found, np.repeat(last, 2))


def test_blocks_are_where_they_were_bound(world: Recorded) -> None:
    gl, (one, two) = world.gl, world.paints
    gl.bind_buffer(GL.UNIFORM_BUFFER, one)
    draw(world, 600)
    gl.bind_buffer_base(GL.UNIFORM_BUFFER, 1, two)
    gl.bind_buffer_range(GL.UNIFORM_BUFFER, 3, two, 1 << 20, 48)
    draw(world, 1)
    gl.bind_buffer_range(GL.UNIFORM_BUFFER, 1, one, 16, (1 << 31) - 1)
    gl.bind_buffer(GL.UNIFORM_BUFFER, one)
    assert pending()

    def bound(point: int) -> list[list[int]]:
        names = GL.UNIFORM_BUFFER_BINDING, GL.UNIFORM_BUFFER_START, GL.UNIFORM_BUFFER_SIZE
        return [gl.get_integer64i_v(name, point) for name in names]

    assert bound(0) == [[one], [0], [0]]
    assert bound(1) == [[one], [16], [(1 << 31) - 1]]
    assert bound(2) == [[0], [0], [0]]
    assert bound(3) == [[two], [1 << 20], [48]]
    assert gl.get_integerv(GL.UNIFORM_BUFFER_BINDING) == [one]


def test_there_is_room_for_some_bytes(world: Recorded, sizes: list[int]) -> None:
    gl = world.gl
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, 20_000, None, GL.STATIC_DRAW)
    data = np.zeros(20_000, np.uint8)
    for number in range(600):
        if not number % 50:
            draw(world, 600)
            gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        data[:] = number & 255
        gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 15_000 if number % 2 else 17_000, data)
        found = np.frombuffer(gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 14_990, 20), np.uint8)
        assert found[0] == number & 255
    assert sum(sizes) > 5000
    draw(world, 600)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    for number in range(400):  # more than there is room for
        data[:] = number & 255
        gl.buffer_sub_data(GL.ARRAY_BUFFER, number, 16_000, data)
    found = np.frombuffer(gl.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 20_000), np.uint8)
    np.testing.assert_array_equal(found[:400], np.arange(400) & 255)
    assert (found[400:16_399] == 399 & 255).all()


def test_queries_count_what_is_drawn_in_them(world: Recorded, sizes: list[int]) -> None:
    gl = world.gl
    gl.viewport(0, 0, SIZE, SIZE)
    gl.uniform4fv(world.place, 1, np.array([0, 0, 0, 1], np.float32))
    draw(world, 600)
    for number in range(20):
        for query in world.queries:
            gl.begin_query(GL.SAMPLES_PASSED, query)
            if query != world.queries[number % 4]:
                draw(world, query)
            gl.end_query(GL.SAMPLES_PASSED)
    assert pending()
    told = [gl.get_query_objectuiv(query, GL.QUERY_RESULT) for query in world.queries[:3]]
    assert told == [[SIZE * SIZE * query] for query in world.queries[:3]]
    assert gl.get_query_objectuiv(world.queries[3], GL.QUERY_RESULT) == [0]
    assert sum(sizes) > 150


@pytest.mark.parametrize("kind", ["float", "int", "uint"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_numbers_one_by_one(kind: str, count: int, world: Recorded) -> None:
    gl = world.gl
    letter = {"float": "", "int": "i", "uint": "u"}[kind]
    name = kind if count == 1 else f"{letter}vec{count}"
    program = world.program_of(
        world.plain,
        f"#version 330\nlayout(location = 0) in vec2 at; uniform {name} before, value, behind;"
        " void main() { gl_Position = vec4(at, vec2(before) + vec2(value) + vec2(behind)); }"
        if count > 1
        else f"#version 330\nlayout(location = 0) in vec2 at; uniform {name} before, value, behind;"
        " void main() { gl_Position = vec4(at, float(before + value), float(behind)); }",
        "#version 330\nout vec4 o; void main() { o = vec4(1.0); }",
    )
    gl.use_program(program)
    end = {"float": "f", "int": "i", "uint": "ui"}[kind]
    function = FUNCTIONS.method(f"uniform{count}{end}")
    address = gl.load_opengl_function(function.c_name)
    pointer = ctypes.CFUNCTYPE(function.restype, *function.argtypes)(address)
    location = gl.get_uniform_location(program, "value")
    for _ in range(600):
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert pending()
    values = [3, -5 if kind != "uint" else 1 << 31, 7, 11][:count]
    pointer(location, *values)
    assert pending()
    get = getattr(gl, f"get_uniform{end}v")
    assert get(program, location) == values
    for other in ("before", "behind"):
        assert get(program, gl.get_uniform_location(program, other)) == [0] * count


ARRAYS = """#version 330
layout(location = 0) in vec2 at; uniform vec2 pairs[5]; uniform vec3 threes[3];
uniform mat3 turns[2]; uniform mat4 moves[2]; uniform bool flags[3]; uniform int whole[4];
uniform sampler2D images[2]; uniform vec4 alone;
void main() {
    vec2 sum = pairs[4] + turns[1][2].xy + moves[1][3].xy + alone.xy + threes[2].xy;
    sum += float(flags[2]) * 0.1 + float(whole[3]) * 0.01 + texture(images[1], at).xy * 0.2;
    gl_Position = vec4(at * 0.5 + sum * 0.05, 0.0, 1.0);
}
"""
SETTERS = {
    "uniform2fv": ("pairs[0]", "pairs[2]", "alone"),
    "uniform3fv": ("threes[0]", "threes[1]"),
    "uniform4fv": ("alone",),
    "uniform1fv": ("flags[0]", "whole[0]"),
    "uniform1iv": ("whole[0]", "whole[1]", "flags[0]", "images[0]"),
    "uniform1uiv": ("flags[1]", "whole[0]"),
    "uniform_matrix3fv": ("turns[0]", "turns[1]"),
    "uniform_matrix4fv": ("moves[0]", "alone"),
}


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_values_of_arrays_are_set_together(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also fewer or more than there are, to what is no array or of another type."""
    seen = []
    for recorded in (True, False):
        world = Recorded(driver, 5)
        if not recorded:
            switch_off(monkeypatch)
        gl: Any = Through(world.gl, SETTERS)
        program = world.program_of(
            world.plain, ARRAYS, "#version 330\nout vec4 o; void main() { o = vec4(0.1); }"
        )
        gl.use_program(program)
        gl.enable(GL.BLEND)
        gl.blend_func(GL.ONE, GL.ONE)
        gl.clear(GL.COLOR_BUFFER_BIT)
        found, numbers = list[Any](), np.random.default_rng(3)
        places = {
            target: gl.get_uniform_location(program, target)
            for target in {target for targets in SETTERS.values() for target in targets}
        }
        for number in range(160):
            if number % 20 == 0:  # the same calls several times, with other values
                rng = np.random.default_rng(number // 80)
            for _ in range(int(rng.integers(1, 4))):
                name = str(rng.choice(list(SETTERS)))
                target = str(rng.choice(SETTERS[name]))
                count = int(rng.choice([1, 2, 3, 4, 5, 7]))
                kind = np.int32 if "i" in name[8:] else np.float32
                values = numbers.integers(0, 2 if "images" in target else 9, 16 * count).astype(
                    kind
                )
                more = (0,) if "matrix" in name else ()
                getattr(gl, name)(places[target], count, *more, values)
                values[:] = 77
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            if number % 20 == 19:
                assert pending() == recorded
                errors = list[int]()
                while error := gl.get_error():
                    errors.append(error)
                found.append(errors[:1])
        for target in ("pairs[4]", "threes[2]", "turns[1]", "moves[1]", "flags[2]", "whole[3]"):
            found.append(gl.get_uniformfv(program, gl.get_uniform_location(program, target)))
        found.append(world.read(0))
        seen.append(found)
        gl.release()
    assert seen[0] == seen[1]
    assert len(set(seen[0][-1])) > 5


def test_names_that_are_deleted_or_new_are_not_known_for_long(world: Recorded) -> None:
    gl, texture = world.gl, world.textures[1]
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.bind_texture(GL.TEXTURE_2D, world.textures[0])
    assert pending()
    gl.delete_textures(1, [texture])
    for _ in range(2):
        draw(world, 600)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        assert gl.get_error() == GL.INVALID_OPERATION
        assert gl.get_integerv(GL.TEXTURE_BINDING_2D) == [world.textures[0]]
    (flat,) = gl.gen_textures(1)
    gl.active_texture(GL.TEXTURE1)
    gl.bind_texture(GL.TEXTURE_1D, flat)
    draw(world, 600)
    assert pending()
    gl.bind_texture(GL.TEXTURE_2D, flat)
    assert gl.get_error() == GL.INVALID_OPERATION


def test_there_is_room_for_some(world: Recorded, sizes: list[int]) -> None:
    draw(world, 14_000)
    assert pending()
    world.gl.finish()
    assert sum(sizes) > 13_900
    assert max(sizes) < 14_000


def test_another_context_may_become_current(world: Recorded, sizes: list[int]) -> None:
    draw(world, 3)
    Recorded("numpipe", 6).gl.release()
    assert sizes[0] == 3
    other = Recorded("numpipe", 6)
    draw(other, 8)
    assert pending()
    world.gl.make_current()
    assert not pending()
    draw(world, 600)
    assert pending()
    other.gl.release()
    draw(world, 3)
    assert world.gl.get_error() == GL.NO_ERROR


def test_another_thread_is_not_recorded(world: Recorded, sizes: list[int]) -> None:
    draw(world, 3)
    seen: list[bool] = []

    def work() -> None:
        other = Recorded("numpipe", 6)
        draw(other, 20)
        seen.append(pending())
        other.gl.enable(GL.BLEND)
        seen.append(bool(other.gl.is_enabled(GL.BLEND)))
        other.gl.release()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True, True]  # commands of the first, which it leaves alone
    assert pending()
    assert not sizes
    assert not world.gl.is_enabled(GL.BLEND)
    assert sizes == [3]


def test_another_thread_may_release_it(world: Recorded, sizes: list[int]) -> None:
    draw(world, 3)
    assert pending()
    thread = threading.Thread(target=world.plain.release)
    thread.start()
    thread.join()
    assert world.plain.released
    assert sizes == [3]
    assert not pending()


def test_callbacks_are_called_at_once(world: Recorded) -> None:
    gl, heard = world.gl, []
    gl.enable(GL.DEBUG_OUTPUT)
    gl.debug_message_callback(lambda *told: heard.append(told[2]), None)
    gl.enable(77)
    assert len(heard) == 1
    draw(world, 2)
    assert not pending()
    gl.debug_message_callback(None, None)
    draw(world, 2)
    assert pending()
    assert gl.get_error() == GL.INVALID_ENUM


def test_calls_are_executed_at_once_while_a_buffer_is_mapped(world: Recorded) -> None:
    gl = world.gl
    gl.bind_buffer(GL.ARRAY_BUFFER, world.buffers[2])
    gl.map_buffer_range(GL.ARRAY_BUFFER, 0, 8, GL.MAP_READ_BIT)
    draw(world, 2)
    assert not pending()
    gl.unmap_buffer(GL.ARRAY_BUFFER)
    draw(world, 2)
    assert pending()


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_draws_read_what_a_lasting_mapping_holds_when_they_are_waited_for(driver: str) -> None:
    gl: Any = Through(create_context(driver, profile="core", version=(4, 5), size=(SIZE, SIZE)))
    program = Recorded.program_of(gl, VERTEX.strip(), PLAIN.strip())
    gl.use_program(program)
    place, tint = (gl.get_uniform_location(program, name) for name in ("place", "tint"))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    flags = GL.MAP_WRITE_BIT | GL.MAP_PERSISTENT_BIT | GL.MAP_COHERENT_BIT
    gl.buffer_storage(GL.ARRAY_BUFFER, 64, None, flags)
    address = gl.map_buffer_range(GL.ARRAY_BUFFER, 0, 64, flags)
    mapped = np.frombuffer((ctypes.c_char * 64).from_address(address), np.float32)
    gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, 0)
    gl.enable_vertex_attrib_array(0)
    gl.uniform4f(place, 0.0, 0.0, 0.0, 1.0)
    gl.uniform4f(tint, 1.0, 1.0, 1.0, 1.0)
    for left in (True, False, True, False):
        gl.clear(GL.COLOR_BUFFER_BIT)
        for half in range(2):
            x = -1 + half / 2 if left else half / 2
            mapped[8 * half :][:8] = [x, -1, x + 0.5, -1, x, 1, x + 0.5, 1]
        for half in range(2):
            gl.draw_arrays(GL.TRIANGLE_STRIP, 4 * half, 4)
        assert pending()
        gl.client_wait_sync(gl.fence_sync(GL.SYNC_GPU_COMMANDS_COMPLETE, 0), 0, 0)
        pixels = gl.read_pixels(0, 0, SIZE, SIZE, GL.RED, GL.UNSIGNED_BYTE)
        seen = np.frombuffer(pixels, np.uint8).reshape(SIZE, SIZE) > 0
        assert seen[:, : SIZE // 2].all() == left
        assert seen[:, SIZE // 2 :].all() != left
    gl.release()


def test_a_picture_of_draws_in_several_states(world: Recorded, sizes: list[int]) -> None:
    gl = world.gl
    gl.clear(GL.COLOR_BUFFER_BIT)
    for number in range(600):
        (gl.enable if number % 2 else gl.disable)(GL.BLEND)
        gl.bind_texture(GL.TEXTURE_2D, world.textures[number % 3])
        gl.bind_vertex_array(world.arrays[number % 2])
        draw(world, 1)
    assert pending()
    assert gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE).count(0) < SIZE * SIZE * 4
    assert sum(sizes) > 500


KINDS_OF_DRAWS: dict[str, Callable[[Any], None]] = {
    "arrays": lambda gl: gl.draw_arrays(GL.TRIANGLES, 1, 3),
    "instances": lambda gl: gl.draw_arrays_instanced(GL.TRIANGLES, 1, 3, 1),
    "elements": lambda gl: gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, 6),
    "instances of elements": lambda gl: gl.draw_elements_instanced(
        GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, 6, 1
    ),
    "range of elements": lambda gl: gl.draw_range_elements(
        GL.TRIANGLES, 0, 3, 3, GL.UNSIGNED_SHORT, 6
    ),
    "based elements": lambda gl: gl.draw_elements_base_vertex(
        GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, 0, 1
    ),
    "based instances": lambda gl: gl.draw_elements_instanced_base_vertex(
        GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, 0, 2, 1
    ),
}


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("kind", KINDS_OF_DRAWS)
def test_a_recorded_draw_begins_at_its_first_vertex(
    kind: str, together: bool, world: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the driver draws it with others or the state tracker makes it alone."""
    if not together:
        monkeypatch.setattr(HostContext, "draw_series", lambda self, series: 0)
    gl, pictures = world.gl, []
    for recorded in (True, False):
        if not recorded:
            switch_off(monkeypatch)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.uniform4fv(world.tint, 1, np.ones(4, np.float32))
        for _ in range(9):
            KINDS_OF_DRAWS[kind](gl)
        assert pending() == recorded
        pictures.append(world.read(0))
    assert pictures[0] == pictures[1]
    assert any(pictures[0])


BETWEEN_DRAWS: dict[str, Callable[[Any, int], None]] = {
    "blend color": lambda gl, k: gl.blend_color(k / 8, 1 - k / 8, 0.5, 1.0),
    "stencil reference": lambda gl, k: gl.stencil_func(GL.ALWAYS, k, 255),
    "viewport": lambda gl, k: gl.viewport(k, 0, SIZE - k, SIZE),
    "scissor": lambda gl, k: gl.scissor(k, 0, SIZE - 2 * k, SIZE),
    "color mask": lambda gl, k: gl.color_mask(k & 1, 1, k & 2, 1),
    "depth range": lambda gl, k: gl.depth_range(0.0, (k + 1) / 8),
}


@pytest.mark.parametrize("what", BETWEEN_DRAWS)
def test_draws_between_which_state_changes_are_known_the_next_time(
    what: str, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = []
    for recorded in (True, False):
        world = Recorded("numpipe", 5)
        if not recorded:
            switch_off(monkeypatch)
        gl = world.gl
        gl.enable(GL.BLEND)
        gl.blend_func(GL.CONSTANT_COLOR, GL.SRC_COLOR)
        gl.enable(GL.STENCIL_TEST)
        gl.stencil_op(GL.KEEP, GL.KEEP, GL.INCR)
        gl.enable(GL.SCISSOR_TEST)
        gl.uniform4fv(world.place, 1, np.array([0, 0, 0, 0.5], np.float32))
        for _ in range(3):
            gl.clear(GL.COLOR_BUFFER_BIT)
            del sizes[:]
            for k in range(8):
                BETWEEN_DRAWS[what](gl, k)
                draw(world, 1)
            gl.finish()
        assert not recorded or sum(sizes) == 9  # with the clear
        pictures.append(world.read(0))
        gl.release()
    assert pictures[0] == pictures[1]


def world_of(profile: str) -> Recorded:
    world = Recorded("numpipe", 5, profile)
    world.gl.uniform4fv(world.place, 1, np.array([0, 0, 0, 0.5], np.float32))
    draw(world, 12)
    world.gl.finish()
    return world


@pytest.mark.parametrize("profile", ["compat", "es"])
def test_indices_and_arrays_of_the_application_are_read_at_once(profile: str) -> None:
    world = world_of(profile)
    gl, pictures = world.gl, []
    for client in (False, True):
        indices = np.array([0, 1, 2, 2, 1, 3], np.uint16)
        square = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)
        gl.bind_vertex_array(0)
        gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, 0 if client else world.indices)
        gl.bind_buffer(GL.ARRAY_BUFFER, world.buffers[0])
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, 0)
        gl.enable_vertex_attrib_array(0)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_elements(GL.TRIANGLES, 6, GL.UNSIGNED_SHORT, indices if client else 0)
        indices[:] = 0
        gl.blend_color(0.0, 0.0, 0.0, 0.0)
        assert pending()
        pictures.append(world.read(0))
        if client:
            gl.bind_buffer(GL.ARRAY_BUFFER, 0)
            gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, square)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        square[:] = 0.0
        assert pending() != client
        pictures.append(world.read(0))
    assert pictures[:2] == pictures[2:]
    assert any(pictures[0])
    gl.release()


@pytest.mark.parametrize("profile", ["core", "compat", "es"])
def test_attributes_are_those_of_the_bound_array_and_buffer(
    profile: str, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the second frame all draws are known, and what was set is what is set then."""
    pictures = []
    for recorded in (True, False):
        world = world_of(profile)
        if not recorded:
            switch_off(monkeypatch)
        gl = world.gl
        for frame in range(4):
            gl.clear(GL.COLOR_BUFFER_BIT)
            del sizes[:]
            for number in range(9):
                gl.bind_vertex_array(world.arrays[number % 2])
                gl.bind_buffer(GL.ARRAY_BUFFER, world.buffers[number % 3])
                gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, 8 * (number % 2))
                gl.bind_buffer(GL.ARRAY_BUFFER, world.buffers[(number + 1) % 3])
                gl.vertex_attrib_divisor(0, number // 6)
                draw(world, 1)
            gl.bind_buffer(GL.ARRAY_BUFFER, 0)
            (gl.enable_vertex_attrib_array if frame % 2 else gl.disable_vertex_attrib_array)(5)
            gl.finish()
            world.told.append(gl.get_vertex_attribiv(5, GL.VERTEX_ATTRIB_ARRAY_ENABLED))
        assert not recorded or sum(sizes) == 10  # with the clear
        for array in world.arrays[:2]:
            gl.bind_vertex_array(array)
            asked = GL.VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, GL.VERTEX_ATTRIB_ARRAY_DIVISOR
            world.told += [gl.get_vertex_attribiv(0, each) for each in asked]
        world.told += gl.get_integerv(GL.ARRAY_BUFFER_BINDING)
        pictures.append((world.read(0), world.told))
        gl.release()
    assert pictures[0] == pictures[1]
    assert any(pictures[0][0])


def test_a_list_may_set_what_was_set_before(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = []
    for recorded in (True, False):
        world = world_of("compat")
        if not recorded:
            switch_off(monkeypatch)
        gl = world.gl
        gl.new_list(world.listed, GL.COMPILE)
        gl.enable(GL.BLEND)
        gl.color_mask(1, 0, 1, 1)
        gl.end_list()
        gl.blend_func(GL.ONE, GL.ONE)
        for _ in range(3):
            gl.disable(GL.BLEND)
            gl.color_mask(1, 1, 1, 1)
            gl.clear(GL.COLOR_BUFFER_BIT)
            draw(world, 5)
            gl.call_list(world.listed)
            draw(world, 5)
            gl.disable(GL.BLEND)
            draw(world, 5)
        pictures.append(world.read(0))
        gl.release()
    assert pictures[0] == pictures[1]
