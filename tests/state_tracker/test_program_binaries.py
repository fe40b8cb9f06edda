"""Program binaries: whoever loads one has the program as it was linked, whatever came later."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gallette.piglit_subset.spirv import PASSTHROUGH
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.shading import program_binaries
from gallette.state_tracker.shading.shader_sources import ShaderSource

from .helpers import compiled, errors
from .test_gl_spirv import FRAGMENT, drawn, float_bits, load

VS = """#version 430
in vec4 a; in vec4 b; out vec4 one; out vec4 two;
void main() { gl_Position = a + b; one = a; two = b; }"""
FS = """#version 430
uniform vec4 tint = vec4(0.25); uniform Block { vec4 more; };
out vec4 first; out vec4 second;
void main() { first = tint; second = more; }"""


@pytest.fixture
def gl() -> Iterator[Any]:
    context = create_context("numpipe", profile="core", version=(4, 5), size=(8, 8))
    yield context
    assert errors(context) == []
    context.release()


def linked(gl: Any, prepare: Callable[[int], Any] = lambda name: None, fragment: str = FS) -> int:
    name = int(gl.create_program())
    for kind, source in ((GL.VERTEX_SHADER, VS), (GL.FRAGMENT_SHADER, fragment)):
        shader = compiled(gl, kind, source)
        gl.attach_shader(name, shader)
        gl.delete_shader(shader)
    prepare(name)
    gl.link_program(name)
    assert gl.get_programiv(name, GL.LINK_STATUS) == [1], gl.get_program_info_log(name)
    return name


def loaded(gl: Any, name: int, into: int = 0) -> int:
    """Another program, from the binary of one."""
    form, binary = gl.get_program_binary(name)
    assert gl.get_programiv(name, GL.PROGRAM_BINARY_LENGTH) == [len(binary)]
    into = into or int(gl.create_program())
    gl.program_binary(into, form, binary, len(binary))
    return into


def names(*words: str) -> list[str]:
    return list(words)


SETTINGS: dict[str, Callable[[Any, int], Any]] = {
    "nothing": lambda gl, p: None,
    "attributes": lambda gl, p: (gl.bind_attrib_location(p, 7, "a"),
                                 gl.bind_attrib_location(p, 3, "b")),
    "outputs": lambda gl, p: (gl.bind_frag_data_location(p, 5, "first"),
                              gl.bind_frag_data_location(p, 2, "second")),
    "a second source": lambda gl, p: (gl.bind_frag_data_location_indexed(p, 0, 1, "first"),
                                      gl.bind_frag_data_location_indexed(p, 0, 0, "second")),
    "varyings": lambda gl, p: gl.transform_feedback_varyings(
        p, 2, names("two", "one"), GL.INTERLEAVED_ATTRIBS),
    "varyings apart": lambda gl, p: gl.transform_feedback_varyings(
        p, 2, names("one", "two"), GL.SEPARATE_ATTRIBS),
    "separable": lambda gl, p: gl.program_parameteri(p, GL.PROGRAM_SEPARABLE, 1),
}  # fmt: skip
ASKED = (
    "LINK_STATUS", "ACTIVE_ATTRIBUTES", "ACTIVE_UNIFORMS", "ACTIVE_UNIFORM_BLOCKS",
    "TRANSFORM_FEEDBACK_VARYINGS", "TRANSFORM_FEEDBACK_BUFFER_MODE", "PROGRAM_SEPARABLE",
)  # fmt: skip


def told(gl: Any, name: int) -> list[Any]:
    found: list[Any] = [gl.get_programiv(name, getattr(GL, asked)) for asked in ASKED]
    found += [gl.get_attrib_location(name, word) for word in ("a", "b")]
    for word in ("first", "second"):
        found.append(gl.get_frag_data_location(name, word))
        found.append(gl.get_frag_data_index(name, word))
    for i in range(gl.get_programiv(name, GL.TRANSFORM_FEEDBACK_VARYINGS)[0]):
        found.append(gl.get_transform_feedback_varying(name, i))
    where = gl.get_uniform_location(name, "tint")
    return [*found, where, np.ravel(gl.get_uniformfv(name, where)).tolist()]


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_was_set_before_linking(setting: str, gl: Any) -> None:
    name = linked(gl, lambda p: SETTINGS[setting](gl, p))
    for other in SETTINGS:  # what the program that loads it was told is of no account
        into = int(gl.create_program())
        SETTINGS[other](gl, into)
        loaded(gl, name, into)
        assert told(gl, into) == told(gl, name), other
        gl.delete_program(into)
    plain = linked(gl)
    assert (told(gl, plain) == told(gl, name)) == (setting == "nothing")


def test_settings_and_values_after_the_link_are_not_part_of_it(gl: Any) -> None:
    name = linked(gl)
    first = told(gl, name)
    SETTINGS["attributes"](gl, name)
    gl.program_uniform4f(name, gl.get_uniform_location(name, "tint"), 1.0, 1.0, 1.0, 1.0)
    assert told(gl, loaded(gl, name)) == first


def test_sources_changed_before_and_after_the_link(gl: Any) -> None:
    """What was compiled counts, not what the shader object was given since."""
    name = int(gl.create_program())
    shaders = [compiled(gl, GL.VERTEX_SHADER, VS), compiled(gl, GL.FRAGMENT_SHADER, FS)]
    for shader in shaders:
        gl.attach_shader(name, shader)
        gl.shader_source(shader, ["#version 430\nnonsense"])
    gl.link_program(name)
    assert gl.get_programiv(name, GL.LINK_STATUS) == [1]
    other = loaded(gl, name)
    assert told(gl, other) == told(gl, name)
    assert gl.get_programiv(other, GL.ATTACHED_SHADERS) == [0]
    for shader in shaders:
        gl.compile_shader(shader)
    assert told(gl, loaded(gl, name)) == told(gl, name)


def test_attached_shaders_stay(gl: Any) -> None:
    name, into = linked(gl), int(gl.create_program())
    shader = compiled(gl, GL.FRAGMENT_SHADER, "#version 430\nvoid main() {}")
    gl.attach_shader(into, shader)
    loaded(gl, name, into)
    assert gl.get_attached_shaders(into) == [shader]
    gl.link_program(into)
    assert gl.get_uniform_location(into, "tint") == -1


def test_what_was_included_is_in_the_binary(gl: Any) -> None:
    gl.named_string_arb(GL.SHADER_INCLUDE_ARB, -1, "/some/values", -1, '#include "deeper/ones"\n')
    gl.named_string_arb(
        GL.SHADER_INCLUDE_ARB, -1, "/some/deeper/ones", -1, "vec4 v() { return W; }"
    )
    gl.named_string_arb(GL.SHADER_INCLUDE_ARB, -1, "/w", -1, "#define W vec4(0.5)\n")
    name = int(gl.create_program())
    source = (
        "#version 430\n#extension GL_ARB_shading_language_include : require\n"
        '#include "/w"\n#include "values"\nout vec4 first; void main() { first = v(); }'
    )
    shaders = [compiled(gl, GL.VERTEX_SHADER, VS), gl.create_shader(GL.FRAGMENT_SHADER)]
    gl.shader_source(shaders[1], [source])
    gl.compile_shader_include_arb(shaders[1], 1, ["/some"], None)
    for shader in shaders:
        gl.attach_shader(name, shader)
    gl.link_program(name)
    assert gl.get_programiv(name, GL.LINK_STATUS) == [1], gl.get_program_info_log(name)
    gl.delete_named_string_arb(-1, "/some/values")
    gl.delete_named_string_arb(-1, "/some/deeper/ones")
    gl.named_string_arb(GL.SHADER_INCLUDE_ARB, -1, "/w", -1, "no GLSL")
    other = loaded(gl, name)
    assert gl.get_programiv(other, GL.LINK_STATUS) == [1], gl.get_program_info_log(other)
    assert gl.get_programiv(loaded(gl, other), GL.LINK_STATUS) == [1]


def linked_spirv(gl: Any) -> int:
    name = int(gl.create_program())
    for kind, text, entry, given in (
        (GL.VERTEX_SHADER, PASSTHROUGH, "main", ()),
        (GL.FRAGMENT_SHADER, FRAGMENT, "shade", ((3, float_bits(1.0)),)),
    ):
        shader = load(gl, kind, text)
        gl.specialize_shader(
            shader, entry, len(given), [k for k, _ in given], [v for _, v in given]
        )
        gl.attach_shader(name, shader)
        gl.delete_shader(shader)
    gl.link_program(name)
    return name


def test_spirv_and_its_constants(gl: Any) -> None:
    other = loaded(gl, loaded(gl, linked_spirv(gl)))
    assert gl.get_programiv(other, GL.LINK_STATUS) == [1], gl.get_program_info_log(other)
    assert drawn(gl, other) == (255, 102, 0, 255)


def test_how_much_room_it_takes(gl: Any) -> None:
    name = linked(gl)
    (size,) = gl.get_programiv(name, GL.PROGRAM_BINARY_LENGTH)
    for room, wanted in ((size, []), (size - 1, ["GL_INVALID_OPERATION"]),
                         (-1, ["GL_INVALID_VALUE"]), (size + 9, [])):  # fmt: skip
        length, form = np.full(1, 77, np.int32), np.zeros(1, np.uint32)
        binary = np.full(size + 9, 0xA5, np.uint8)
        gl.get_program_binary(name, room, length, form, binary)
        assert errors(gl) == wanted
        if wanted:
            assert length[0] == (77 if room < 0 else 0) and set(binary) == {0xA5}
        else:
            assert length[0] == size and form[0] == GL.PROGRAM_BINARY_FORMAT_MESA
            assert bytes(binary[:size]) == gl.get_program_binary(name)[1]
            assert set(binary[size:]) == {0xA5}


def test_programs_that_have_none(gl: Any) -> None:
    name = int(gl.create_program())
    gl.get_program_binary(name, 99, None, None, np.zeros(99, np.uint8))
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    assert gl.get_programiv(name, GL.PROGRAM_BINARY_LENGTH) == [0]
    form, binary = gl.get_program_binary(linked(gl))
    for given, wanted in (
        ((name, form + 1, binary, len(binary)), "GL_INVALID_ENUM"),
        ((name, form, binary, -1), "GL_INVALID_VALUE"),
        ((99, form, binary, len(binary)), "GL_INVALID_VALUE"),
    ):
        gl.program_binary(*given)
        assert errors(gl) == [wanted]


INFINITE = float("inf")
# What no description has in a field: there, and in that of a shader.
WRONG: dict[str, tuple[Any, ...]] = {
    "made by": (None, 1, "others"),
    "shaders": (None, 7, [], [None], ["x"], {"a": 1}),
    "attributes": (None, 7, ["a"], {"a": "b"}, {"a": None}, {"a": INFINITE}, {"a": -1}, {"a": 99},
                   {"a": 1 << 32}, {"a": 1.0}, {"gl_x": 1}, {"\ud800": 1}),
    "outputs": (None, 7, ["a"], {"a": "b"}, {"a": [1]}, {"a": [1, 2, 3]}, {"a": [None, 1]},
                {"first": [INFINITE, 0]}, {"first": [0, 2]}, {"first": [-1, 0]}, {"gl_x": [0, 0]},
                {"first": [99, 0]}, {"first": [7, 1]}),
    "varyings": (None, 7, ["nowhere"], [7], ["\ud800"], ["gl_NextBuffer"] * 9),
    "mode": (None, [], "x", 7, INFINITE),
    "separable": (),
}  # fmt: skip
OF_A_SHADER: dict[str, tuple[Any, ...]] = {
    "type": (None, [], "x", int(GL.TEXTURE_2D), INFINITE, 35633.0),
    "source": (None, 7, "nonsense", "\ud800"),
    "included": (None, 7, ["x"], [[1]], [[1, 2, 3]]),
    "code": (None, 7, [], "AAA", "AAAA", "\u00e9"),
    "entry": (),
    "constants": (None, 7, [1], [[1]], [["a", 1]], [[INFINITE, 1]], [[1, 1 << 32]], [[-1, 1]]),
}  # fmt: skip


def _packed(described: Any) -> bytes:
    return program_binaries._MAGIC + zlib.compress(json.dumps(described).encode())


def _damaged(known: dict[str, Any], wrong: dict[str, tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """A field is missing, or has a value that it cannot have."""
    assert set(known) == set(wrong)
    for field, values in wrong.items():
        yield {k: v for k, v in known.items() if k != field}
        yield from ({**known, field: value} for value in values)


def test_whatever_is_no_binary_of_this_gl_fails_to_link(gl: Any) -> None:
    form, binary = gl.get_program_binary(linked(gl))
    magic = len(program_binaries._MAGIC)
    known = json.loads(zlib.decompress(binary[magic:]))
    first, second = known["shaders"]
    wrong = [b"", b"junk", binary[:-1], binary[1:], binary[:magic]]
    wrong += map(_packed, ([], {}, 3, None, "x"))
    wrong += map(_packed, _damaged(known, WRONG))
    wrong += [_packed({**known, "shaders": [s, second]}) for s in _damaged(first, OF_A_SHADER)]
    name = linked(gl)
    for each in wrong:
        gl.program_binary(name, form, each, len(each))
        assert errors(gl) == []
        assert gl.get_programiv(name, GL.LINK_STATUS) == [0], each[:200]
        assert "error" in gl.get_program_info_log(name)
    gl.program_binary(name, form, binary, len(binary))
    assert gl.get_programiv(name, GL.LINK_STATUS) == [1]


def test_binaries_of_another_kind_of_context(gl: Any) -> None:
    form, binary = gl.get_program_binary(linked(gl))
    kinds = (("numpipe", "core", 1), ("tiler", "core", 0), ("numpipe", "compat", 0))
    for driver, profile, works in kinds:
        other: Any = create_context(driver, profile=profile, version=(4, 5), size=(8, 8))
        name = other.create_program()
        other.program_binary(name, form, binary, len(binary))
        assert errors(other) == [] and other.get_programiv(name, GL.LINK_STATUS) == [works]
        other.release()


def test_a_description_of_an_origin() -> None:
    for origin in (
        ShaderSource(GL.VERTEX_SHADER, "void main() {}", (("a\nb", "c"), ("d\ne", None))),
        ShaderSource(
            GL.FRAGMENT_SHADER, code=bytes(range(256)), entry="x", constants=((3, 1), (4, 2))
        ),
    ):
        assert ShaderSource.read(json.loads(json.dumps(origin.described()))) == origin


def test_a_module_without_the_entry_point_or_constant_fails_to_link(gl: Any) -> None:
    name = linked_spirv(gl)
    form, binary = gl.get_program_binary(name)
    known = json.loads(zlib.decompress(binary[len(program_binaries._MAGIC) :]))
    vertex, fragment = known["shaders"]
    for change, why in (
        ({"entry": "other"}, "the module has no fragment entry point 'other'"),
        ({"constants": [[4, 1]]}, "no specialisation constant has number 4"),
        ({"type": int(GL.COMPUTE_SHADER)}, "the module has no compute entry point 'shade'"),
    ):
        raw = _packed({**known, "shaders": [vertex, {**fragment, **change}]})
        gl.program_binary(name, form, raw, len(raw))
        assert gl.get_programiv(name, GL.LINK_STATUS) == [0]
        assert gl.get_program_info_log(name) == f"error: {why}"


def test_more_shaders_than_programs_have_are_not_compiled(
    gl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, binary = gl.get_program_binary(linked(gl))
    known = json.loads(zlib.decompress(binary[len(program_binaries._MAGIC) :]))
    raw = _packed({**known, "shaders": known["shaders"] * 129})
    monkeypatch.setattr(program_binaries.ShaderObject, "restore", lambda *_: pytest.fail("made"))
    name = int(gl.create_program())
    gl.program_binary(name, form, raw, len(raw))
    assert gl.get_programiv(name, GL.LINK_STATUS) == [0]
