"""ARB_bindless_texture: textures and images by their handles show what bound ones show.

No native GL here has the extension, so each picture is drawn twice: once the shader names a texture
by a handle that came to it in some way, once the same texture is bound to a unit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import errors, linked, pixels, program, quad

SIZE = 16
HEAD = "#version 430\n#extension GL_ARB_bindless_texture : require\n"
VS = HEAD + "in vec2 position;\nvoid main() { gl_Position = vec4(position, 0.0, 1.0); }\n"


@pytest.fixture(params=["numpipe", "jit", "simd", "tiler"])
def gl(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    if request.param == "jit":
        pytest.importorskip("llvmlite")
    context = create_context(request.param, version=(4, 3), size=(SIZE, SIZE))
    yield context
    assert errors(context) == []
    context.release()


@pytest.fixture
def ours() -> Iterator[GLInterface]:
    context = create_context("numpipe", version=(4, 3), size=(SIZE, SIZE))
    yield context
    context.release()


def texture(gl: GLInterface, seed: int, target: int = GL.TEXTURE_2D) -> int:
    """An 8x8 texture of noise with all levels."""
    (name,) = gl.gen_textures(1)
    gl.bind_texture(target, name)
    noise = np.random.default_rng(seed).integers(0, 256, (6, 8, 8, 4), np.uint8)
    faces = [GL.TEXTURE_CUBE_MAP_POSITIVE_X + i for i in range(6)]
    for i, face in enumerate(faces if target == GL.TEXTURE_CUBE_MAP else [target]):
        gl.tex_image2d(face, 0, GL.RGBA8, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE, noise[i])
    gl.generate_mipmap(target)
    gl.bind_texture(target, 0)
    return int(name)


def resident(gl: GLInterface, name: int) -> int:
    handle = gl.get_texture_handle_arb(name)
    gl.make_texture_handle_resident_arb(handle)
    return int(handle)


def drawn(gl: GLInterface) -> npt.NDArray[Any]:
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    return pixels(gl, SIZE, SIZE)


def bound_picture(gl: GLInterface, name: int, lookup: str = "texture(tex, uv)") -> Any:
    source = (
        "#version 430\nuniform sampler2D tex;\nout vec4 result;\n"
        f"void main() {{ vec2 uv = gl_FragCoord.xy / 16.0; result = {lookup}; }}\n"
    )
    quad(gl, program(gl, VS, source))
    gl.bind_texture(GL.TEXTURE_2D, name)
    found = drawn(gl)
    gl.bind_texture(GL.TEXTURE_2D, 0)
    return found


def handle_program(gl: GLInterface, declared: str, expression: str) -> int:
    """A program in use whose fragments look `expression` up (it has `uv`)."""
    source = (
        HEAD + f"{declared}\nout vec4 result;\n"
        f"void main() {{ vec2 uv = gl_FragCoord.xy / 16.0; result = {expression}; }}\n"
    )
    name = program(gl, VS, source)
    quad(gl, name)
    return name


def test_uniforms_set_to_handles_or_units(gl: GLInterface) -> None:
    one, other = texture(gl, 1), texture(gl, 2)
    wanted, second = bound_picture(gl, one), bound_picture(gl, other)
    name = handle_program(gl, "layout(bindless_sampler) uniform sampler2D tex;", "texture(tex, uv)")
    at = gl.get_uniform_location(name, "tex")
    gl.uniform_handleui64_arb(at, resident(gl, one))
    assert (drawn(gl) == wanted).all()
    gl.program_uniform_handleui64_arb(name, at, resident(gl, other))
    assert (drawn(gl) == second).all()
    gl.active_texture(GL.TEXTURE3)
    gl.bind_texture(GL.TEXTURE_2D, one)
    gl.uniform1i(at, 3)
    assert gl.get_uniformiv(name, at) == [3]
    assert (drawn(gl) == wanted).all()
    gl.bind_texture(GL.TEXTURE_2D, other)
    assert (drawn(gl) == second).all()


def test_default_layout_and_arrays(gl: GLInterface) -> None:
    names = [texture(gl, i) for i in range(40)]  # more than there are units
    name = handle_program(
        gl,
        "layout(bindless_sampler) uniform;\nuniform sampler2D tex[40];\nuniform int which;",
        "texture(tex[which], uv)",
    )
    handles = np.array([resident(gl, n) for n in names], np.uint64)
    gl.uniform_handleui64v_arb(gl.get_uniform_location(name, "tex"), 40, handles)
    shown = {}
    for which in (0, 17, 39):
        gl.uniform1i(gl.get_uniform_location(name, "which"), which)
        shown[which] = drawn(gl)
    for which, picture in shown.items():
        assert (picture == bound_picture(gl, names[which])).all(), which


KINDS = {
    "sampler": ("sampler2D {}", "textureLod({}, vec2(0.0), 0.0)"),
    "image": ("readonly layout(rgba8) image2D {}", "imageLoad({}, ivec2(0))"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_takes_handles_is_said_at_the_variable_or_else_for_all(
    ours: GLInterface, kind: str
) -> None:
    declared, read = KINDS[kind]
    texture(ours, 1)
    for default in ("", f"bound_{kind}", f"bindless_{kind}"):
        first = f"layout({default}) uniform;" if default else ""
        for own in ("", f"bound_{kind}", f"bindless_{kind}"):
            said = f"layout({own})" if own else ""
            source = f"{first} {said} uniform {declared.format('one')};"
            name = handle_program(ours, source, read.format("one"))
            ours.uniform_handleui64_arb(ours.get_uniform_location(name, "one"), 0)
            takes = (own or default) == f"bindless_{kind}"
            assert ours.get_error() == (0 if takes else GL.INVALID_OPERATION), source
    other = {"sampler": "image", "image": "sampler"}[kind]
    source = f"layout(bindless_{other}) uniform; uniform {declared.format('one')};"
    name = handle_program(ours, source, read.format("one"))
    ours.uniform_handleui64_arb(ours.get_uniform_location(name, "one"), 0)
    assert ours.get_error() == GL.INVALID_OPERATION


@pytest.mark.parametrize("kind", KINDS)
def test_of_all_one_thing_is_said(ours: GLInterface, kind: str) -> None:
    """In the shaders of a stage together."""
    defaults = [f"layout({way}_{kind}) uniform;" for way in ("bound", "bindless")]
    for one, two in itertools.product(defaults, repeat=2):
        for sources in (
            [f"{one} {two} void main() {{ gl_Position = vec4(0.0); }}"],
            [f"{one} void main() {{ gl_Position = vec4(0.0); }}", f"{two} void f() {{}}"],
        ):
            name = ours.create_program()
            for source in sources:
                shader = ours.create_shader(GL.VERTEX_SHADER)
                ours.shader_source(shader, HEAD + source)
                ours.compile_shader(shader)
                ours.attach_shader(name, shader)
            ours.link_program(name)
            assert ours.get_programiv(name, GL.LINK_STATUS) == [one == two], sources


def test_constructors_locals_functions_and_selection(gl: GLInterface) -> None:
    """A handle as two words: made, kept, chosen, handed to a function and given back."""
    one, other = texture(gl, 3), texture(gl, 4)
    code = """uniform uvec2 a; uniform uvec2 b; uniform sampler2D unit; uniform int which;
        struct Pair { sampler2D first; sampler2D second; };
        sampler2D pick(Pair p, bool f) { return f ? p.first : p.second; }
        vec4 look(sampler2D s, vec2 at) { return texture(s, at); }
        vec4 whole(vec2 uv) {
            Pair p = Pair(sampler2D(a), sampler2D(uvec2(sampler2D(b))));
            sampler2D local[3];
            local[0] = pick(p, true); local[1] = pick(p, false); local[2] = unit;
            sampler2D chosen = local[which];
            return look(chosen, uv);
        }"""
    name = handle_program(gl, code, "whole(uv)")
    for letter, texture_name in zip("ab", (one, other), strict=True):
        handle = resident(gl, texture_name)
        at = gl.get_uniform_location(name, letter)
        gl.uniform2ui(at, handle & 0xFFFFFFFF, handle >> 32)
    third = texture(gl, 5)
    gl.bind_texture(GL.TEXTURE_2D, third)
    shown = []
    for which in range(3):
        gl.uniform1i(gl.get_uniform_location(name, "which"), which)
        shown.append(drawn(gl))
    for picture, texture_name in zip(shown, (one, other, third), strict=True):
        assert (picture == bound_picture(gl, texture_name)).all()


@pytest.mark.parametrize("layout", ["std140", "std430"])
def test_handles_in_blocks(gl: GLInterface, layout: str) -> None:
    kind, target = ("uniform", GL.UNIFORM_BUFFER) if layout == "std140" else ("buffer", 0)
    target = target or GL.SHADER_STORAGE_BUFFER
    names = [texture(gl, 6 + i) for i in range(3)]
    name = handle_program(
        gl,
        f"layout({layout}, binding = 1) {kind} Named {{ vec3 tint; sampler2D one; "
        "sampler2D many[2]; } named;\nuniform int which;",
        "texture(which == 0 ? named.one : named.many[which - 1], uv) * named.tint.xyzz",
    )
    stride = 16 if layout == "std140" else 8
    data = bytearray(32 + 2 * stride)
    data[:12] = np.ones(3, np.float32).tobytes()
    first = 32 if layout == "std140" else 24
    for offset, each in zip((16, first, first + stride), names, strict=True):
        data[offset : offset + 8] = np.uint64(resident(gl, each)).tobytes()
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(target, buffer)
    gl.buffer_data(target, len(data), bytes(data), GL.STATIC_DRAW)
    gl.bind_buffer_base(target, 1, buffer)
    shown = []
    for which in range(3):
        gl.uniform1i(gl.get_uniform_location(name, "which"), which)
        shown.append(drawn(gl))
    for picture, each in zip(shown, names, strict=True):
        assert (picture == bound_picture(gl, each)).all()


@pytest.mark.parametrize("as_array", [False, True])
def test_attributes_and_varyings(gl: GLInterface, as_array: bool) -> None:
    one = texture(gl, 9)
    vertex = HEAD + (
        "in vec2 position; in sampler2D given; flat out sampler2D passed; out vec4 seen;\n"
        "void main() { gl_Position = vec4(position, 0.0, 1.0); passed = given;\n"
        "seen = textureLod(given, vec2(0.3), 0.0); }\n"
    )
    fragment = HEAD + (
        "flat in sampler2D passed; in vec4 seen; out vec4 result;\n"
        "void main() { vec2 uv = gl_FragCoord.xy / 16.0; result = texture(passed, uv); }\n"
    )
    name = program(gl, vertex, fragment)
    quad(gl, name)
    at, handle = gl.get_attrib_location(name, "given"), resident(gl, one)
    if as_array:
        (vbo,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.ARRAY_BUFFER, vbo)
        gl.buffer_data(GL.ARRAY_BUFFER, 32, np.full(4, handle, np.uint64), GL.STATIC_DRAW)
        gl.vertex_attrib_l_pointer(at, 1, GL.UNSIGNED_INT64_ARB, 0, None)
        gl.enable_vertex_attrib_array(at)
    else:
        gl.vertex_attrib_l1ui64_arb(at, handle)
        assert gl.get_vertex_attrib_lui64v_arb(at, GL.CURRENT_VERTEX_ATTRIB) == [handle]
    found = drawn(gl)
    assert (found == bound_picture(gl, one)).all()


def test_every_pixel_its_own_texture(gl: GLInterface) -> None:
    """Handles need not be the same for all lanes; derivatives are those of whole quads."""
    one, other = texture(gl, 10), texture(gl, 11)
    name = handle_program(
        gl,
        "uniform uvec2 a; uniform uvec2 b;",
        "texture(sampler2D((int(gl_FragCoord.x) / 4 & 1) == 0 ? a : b), uv * 4.0)",
    )
    for letter, each in zip("ab", (one, other), strict=True):
        handle = resident(gl, each)
        gl.uniform2ui(gl.get_uniform_location(name, letter), handle & 0xFFFFFFFF, handle >> 32)
    found = drawn(gl)
    left = bound_picture(gl, one, "texture(tex, uv * 4.0)")
    right = bound_picture(gl, other, "texture(tex, uv * 4.0)")
    columns = (np.arange(SIZE) // 4 & 1) == 0
    assert (found == np.where(columns[None, :, None], left, right)).all()


def test_sampler_objects_have_handles_of_their_own(gl: GLInterface) -> None:
    one = texture(gl, 12)
    (sampler,) = gl.gen_samplers(1)
    gl.sampler_parameteri(sampler, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.sampler_parameteri(sampler, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    plain, sampled = gl.get_texture_handle_arb(one), gl.get_texture_sampler_handle_arb(one, sampler)
    assert plain != sampled
    assert sampled == gl.get_texture_sampler_handle_arb(one, sampler)
    name = handle_program(gl, "layout(bindless_sampler) uniform sampler2D tex;", "texture(tex, uv)")
    gl.make_texture_handle_resident_arb(sampled)
    gl.uniform_handleui64_arb(gl.get_uniform_location(name, "tex"), sampled)
    found = drawn(gl)
    gl.bind_sampler(0, sampler)
    assert (found == bound_picture(gl, one)).all()
    gl.bind_sampler(0, 0)
    assert (found != bound_picture(gl, one)).any()


def test_images(gl: GLInterface) -> None:
    """Loads, stores, atomics and sizes through a handle; the texture is seen to have changed."""
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, name)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.R32UI, 8, 8)
    gl.tex_sub_image2d(
        GL.TEXTURE_2D,
        0,
        0,
        0,
        8,
        8,
        GL.RED_INTEGER,
        GL.UNSIGNED_INT,
        np.arange(64, dtype=np.uint32),
    )
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    handle = gl.get_image_handle_arb(name, 0, 0, 0, GL.R32UI)
    gl.make_image_handle_resident_arb(handle, GL.READ_WRITE)
    made = linked(
        gl,
        compute=HEAD + "#extension GL_ARB_shader_image_size : enable\n"
        "layout(local_size_x = 8, local_size_y = 8) in;\n"
        "layout(r32ui, bindless_image) uniform uimage2D set;\nuniform uvec2 words;\n"
        "void main() { ivec2 at = ivec2(gl_GlobalInvocationID.xy);\n"
        "uint old = imageLoad(set, at).x; memoryBarrier();\n"
        "uimage2D other = uimage2D(words);\n"
        "imageStore(other, at, uvec4(old * 2u + uint(imageSize(other).x)));\n"
        "imageAtomicAdd(set, at, 1u); }\n",
    )
    gl.uniform_handleui64_arb(gl.get_uniform_location(made, "set"), handle)
    at = gl.get_uniform_location(made, "words")
    gl.uniform2ui(at, handle & 0xFFFFFFFF, handle >> 32)
    gl.dispatch_compute(1, 1, 1)
    found = np.zeros(64, np.uint32)
    gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RED_INTEGER, GL.UNSIGNED_INT, found)
    assert found.tolist() == [2 * i + 9 for i in range(64)]


def test_other_shapes(gl: GLInterface) -> None:
    """Cube maps and shadow lookups through handles."""
    cube = texture(gl, 13, GL.TEXTURE_CUBE_MAP)
    source = "layout(bindless_sampler) uniform samplerCube tex;"
    name = handle_program(gl, source, "texture(tex, vec3(uv - 0.5, 0.4))")
    at = gl.get_uniform_location(name, "tex")
    gl.bind_texture(GL.TEXTURE_CUBE_MAP, cube)
    by_unit = drawn(gl)
    gl.bind_texture(GL.TEXTURE_CUBE_MAP, 0)
    gl.uniform_handleui64_arb(at, resident(gl, cube))
    assert (drawn(gl) == by_unit).all()
    (depth,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, depth)
    ramp = np.linspace(0, 1, 64, dtype=np.float32)
    gl.tex_image2d(
        GL.TEXTURE_2D, 0, GL.DEPTH_COMPONENT32F, 8, 8, 0, GL.DEPTH_COMPONENT, GL.FLOAT, ramp
    )
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.LINEAR)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_COMPARE_MODE, GL.COMPARE_REF_TO_TEXTURE)
    name = handle_program(
        gl,
        "layout(bindless_sampler) uniform sampler2DShadow tex;",
        "vec4(texture(tex, vec3(uv, 0.5)))",
    )
    by_unit = drawn(gl)
    gl.bind_texture(GL.TEXTURE_2D, 0)
    handle = resident(gl, depth)
    gl.uniform_handleui64_arb(gl.get_uniform_location(name, "tex"), handle)
    assert (drawn(gl) == by_unit).all()
    assert len(np.unique(by_unit[..., 0])) > 2


def test_structures_of_bound_samplers_as_parameters(gl: GLInterface) -> None:
    """Without the extension, too: each sampler of a structure keeps its unit."""
    source = (
        "#version 330\nstruct S { sampler2D t; vec4 c; }; struct T { sampler2D t; };\n"
        "uniform S u; uniform T v[2]; out vec4 result;\n"
        "vec4 f(S s, vec2 at) { return texture(s.t, at) * s.c; }\n"
        "vec4 g(T s, vec2 at) { return texture(s.t, at); }\n"
        "void main() { vec2 uv = gl_FragCoord.xy / 16.0; result = f(u, uv) + g(v[1], uv); }\n"
    )
    one, other = texture(gl, 14), texture(gl, 15)
    name = program(gl, VS, source)
    quad(gl, name)
    for unit, each in ((1, one), (2, other)):
        gl.active_texture(GL.TEXTURE0 + unit)
        gl.bind_texture(GL.TEXTURE_2D, each)
    gl.uniform1i(gl.get_uniform_location(name, "u.t"), 1)
    gl.uniform1i(gl.get_uniform_location(name, "v[1].t"), 2)
    gl.uniform4f(gl.get_uniform_location(name, "u.c"), 0.0, 0.0, 0.0, 0.0)
    found = drawn(gl)
    gl.uniform4f(gl.get_uniform_location(name, "u.c"), 1.0, 1.0, 1.0, 1.0)
    both = drawn(gl)
    gl.active_texture(GL.TEXTURE0)
    assert (found == bound_picture(gl, other)).all()
    first = bound_picture(gl, one).astype(int)
    assert (abs(np.minimum(first + found, 255) - both) <= 1).all()
