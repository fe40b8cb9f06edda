"""What unmodified C programs met: small rules that no picture of ours had shown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL


@pytest.fixture
def gl() -> Iterator[Context]:
    context = Context(profile="compat", version=(4, 3), size=(32, 32))
    yield context
    context.release()


def pixel(gl: Context, x: int, y: int, format: int = GL.RGBA) -> list[float]:
    raw = gl.read_pixels(x, y, 1, 1, format, GL.FLOAT)
    return [round(float(v), 3) for v in np.frombuffer(raw, np.float32)]


def target(gl: Context, internal: int, samples: int = 0) -> None:
    """A framebuffer with one 4x4 texture of that format."""
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_image2d(GL.TEXTURE_2D, 0, internal, 4, 4, 0, GL.RGBA, GL.FLOAT, None)
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)


def edge_program(gl: Context) -> int:
    program = gl.create_program()
    shader = gl.create_shader(GL.VERTEX_SHADER)
    gl.shader_source(
        shader,
        "#version 140\nin vec2 place; void main() {"
        " gl_FrontColor = vec4(1.0);"
        " gl_Position = vec4(place + vec2(gl_InstanceID * 0.5, 0.0), 0.0, 1.0); }",
    )
    gl.compile_shader(shader)
    gl.attach_shader(program, shader)
    gl.link_program(program)
    assert gl.get_programiv(program, GL.LINK_STATUS)[0], gl.get_program_info_log(program)
    return int(program)


@pytest.mark.parametrize("shader", [False, True])
def test_edge_flags_hide_points_and_lines_of_polygons(gl: Context, shader: bool) -> None:
    corners = np.array([[-0.75, -0.75], [-0.25, -0.75], [-0.25, 0.0]], np.float32)
    flags = np.array([1, 0, 1], np.uint8)
    if shader:
        program = edge_program(gl)
        gl.use_program(program)
        place = gl.get_attrib_location(program, "place")
        gl.enable_vertex_attrib_array(place)
        gl.vertex_attrib_pointer(place, 2, GL.FLOAT, False, 0, corners)
    else:
        gl.enable_client_state(GL.VERTEX_ARRAY)
        gl.vertex_pointer(2, GL.FLOAT, 0, corners)
    gl.enable_client_state(GL.EDGE_FLAG_ARRAY)
    gl.edge_flag_pointer(0, flags)
    gl.polygon_mode(GL.FRONT_AND_BACK, GL.POINT)
    gl.draw_arrays_instanced(GL.TRIANGLES, 0, 3, 2 if shader else 1)
    drawn = np.frombuffer(gl.read_pixels(0, 0, 32, 32, GL.RED, GL.UNSIGNED_BYTE), np.uint8)
    assert np.count_nonzero(drawn) == (4 if shader else 2)
    # Filled polygons do not care, and neither do they afterwards.
    gl.polygon_mode(GL.FRONT_AND_BACK, GL.FILL)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    drawn = np.frombuffer(gl.read_pixels(0, 0, 32, 32, GL.RED, GL.UNSIGNED_BYTE), np.uint8)
    assert np.count_nonzero(drawn) > 20


def test_the_current_edge_flag_counts_without_an_array(gl: Context) -> None:
    gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE)
    gl.begin(GL.TRIANGLES)
    for flag, x, y in ((1, -0.5, -0.5), (0, 0.5, -0.5), (0, 0.5, 0.5)):
        gl.edge_flag(flag)
        gl.vertex2f(x, y)
    gl.end()
    drawn = np.frombuffer(gl.read_pixels(0, 0, 32, 32, GL.RED, GL.UNSIGNED_BYTE), np.uint8)
    rows = np.nonzero(drawn.reshape(32, 32).any(axis=1))[0]
    assert len(rows) == 1  # the lower edge alone


def test_a_bitmap_at_a_whole_position_is_not_a_pixel_off(gl: Context) -> None:
    gl.matrix_mode(GL.PROJECTION)
    for size in (400.0, 96.0, 7.0 * 32):
        gl.load_identity()
        gl.ortho(0.0, size, 0.0, size, -1.0, 1.0)
        for column in range(0, 24, 5):
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.raster_pos2f(column * size / 32.0, 3 * size / 32.0)
            gl.bitmap(1, 1, 0.0, 0.0, 0.0, 0.0, b"\x80\0\0\0")
            assert pixel(gl, column, 3)[0] == 1.0, (size, column)


@pytest.mark.parametrize("clamp", ["TRUE", "FALSE", "FIXED_ONLY"])
@pytest.mark.parametrize("format", ["RGBA8", "RGBA16F"])
def test_vertex_colours_are_clamped_for_fixed_point_targets_only(
    gl: Context, clamp: str, format: str
) -> None:
    target(gl, getattr(GL, format))
    gl.viewport(0, 0, 4, 4)
    gl.clamp_color(GL.CLAMP_VERTEX_COLOR, getattr(GL, clamp))
    gl.clamp_color(GL.CLAMP_FRAGMENT_COLOR, GL.FALSE)
    gl.clamp_color(GL.CLAMP_READ_COLOR, GL.FALSE)
    gl.color4f(7.0, -2.75, 0.5, 0.75)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    kept = format == "RGBA16F" and clamp != "TRUE"
    wanted = [7.0, -2.75, 0.5, 0.75] if kept else [1.0, 0.0, 0.5, 0.75]
    assert pixel(gl, 1, 1) == pytest.approx(wanted, abs=0.01)


@pytest.mark.parametrize(
    ("format", "read"),
    [
        ("LUMINANCE32F_ARB", [0.5, 0.0, 0.0, 1.0]),
        ("LUMINANCE_ALPHA32F_ARB", [0.5, 0.0, 0.0, 0.125]),
        ("INTENSITY32F_ARB", [0.5, 0.0, 0.0, 1.0]),
        ("INTENSITY8", [0.502, 0.0, 0.0, 1.0]),
        ("ALPHA32F_ARB", [0.0, 0.0, 0.0, 0.125]),
    ],
)
def test_luminance_and_intensity_are_read_as_red(
    gl: Context, format: str, read: list[float]
) -> None:
    target(gl, getattr(GL, format))
    gl.clear_color(0.5, 0.25, 0.75, 0.125)
    gl.clear(GL.COLOR_BUFFER_BIT)
    assert pixel(gl, 0, 0) == read
    raw = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.FLOAT)
    assert [round(float(v), 3) for v in np.frombuffer(raw, np.float32)[:4]] == read


def test_depth_is_blitted_between_formats_with_the_same_depth(gl: Context) -> None:
    names = gl.gen_framebuffers(2)
    for name, format, samples in zip(
        names, (GL.DEPTH_COMPONENT24, GL.DEPTH24_STENCIL8), (4, 0), strict=True
    ):
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_framebuffer(GL.FRAMEBUFFER, name)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, format, 8, 8)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.DEPTH_ATTACHMENT, GL.RENDERBUFFER, buffer)
        gl.draw_buffer(GL.NONE)
        gl.read_buffer(GL.NONE)
        gl.clear_depth(0.25 if samples else 1.0)
        gl.clear(GL.DEPTH_BUFFER_BIT)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, names[0])
    gl.blit_framebuffer(0, 0, 8, 8, 0, 0, 8, 8, GL.DEPTH_BUFFER_BIT, GL.NEAREST)
    assert gl.get_error() == GL.NO_ERROR
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, names[1])
    assert pixel(gl, 3, 3, GL.DEPTH_COMPONENT) == [0.25]


def test_debug_groups_end_with_what_was_switched_inside() -> None:
    gl = Context(profile="compat", version=(4, 3), debug=True)
    arguments = (GL.DEBUG_SOURCE_APPLICATION, GL.DEBUG_TYPE_MARKER)

    def say() -> int:
        gl.get_debug_message_log(100)
        gl.debug_message_insert(*arguments, 7, GL.DEBUG_SEVERITY_HIGH, -1, "hello")
        return len(gl.get_debug_message_log(100))

    gl.push_debug_group(GL.DEBUG_SOURCE_APPLICATION, 1, -1, "outer")
    gl.debug_message_control(*arguments, GL.DONT_CARE, 1, [7], False)
    gl.push_debug_group(GL.DEBUG_SOURCE_APPLICATION, 1, -1, "inner")
    assert say() == 0
    gl.debug_message_control(*arguments, GL.DONT_CARE, 1, [7], True)
    assert say() == 1
    gl.pop_debug_group()
    assert say() == 0
    gl.pop_debug_group()
    assert say() == 1
    gl.release()


def test_what_display_lists_refuse_and_take_up(gl: Context) -> None:
    refused = (
        lambda: gl.dispatch_compute_indirect(0),
        lambda: gl.draw_arrays_indirect(GL.TRIANGLES, None),
        lambda: gl.draw_elements_indirect(GL.TRIANGLES, GL.UNSIGNED_INT, None),
    )
    for call in refused:
        gl.new_list(1, GL.COMPILE)
        call()
        gl.end_list()
        assert gl.get_error() == GL.INVALID_OPERATION
    program = gl.create_program()
    shader = gl.create_shader(GL.VERTEX_SHADER)
    gl.shader_source(
        shader,
        "#version 140\nuniform B { vec4 place; }; void main() { gl_Position = place; }",
    )
    gl.compile_shader(shader)
    gl.attach_shader(program, shader)
    gl.link_program(program)
    gl.new_list(1, GL.COMPILE)
    gl.uniform_block_binding(program, 0, 5)
    gl.end_list()
    assert gl.get_active_uniform_blockiv(program, 0, GL.UNIFORM_BLOCK_BINDING) == [0]
    gl.call_list(1)
    assert gl.get_active_uniform_blockiv(program, 0, GL.UNIFORM_BLOCK_BINDING) == [5]


def test_clearing_no_buffer_is_a_value_error(gl: Context) -> None:
    gl.clear_buffer_data(GL.ARRAY_BUFFER, GL.RGBA8, GL.RGBA, GL.UNSIGNED_BYTE, bytes(4))
    assert gl.get_error() == GL.INVALID_VALUE


def test_fog_without_a_span_has_an_endless_scale(gl: Context) -> None:
    gl.fogf(GL.FOG_START, 0.0)
    gl.fogf(GL.FOG_END, 0.0)
    program = gl.create_program()
    shader = gl.create_shader(GL.FRAGMENT_SHADER)
    gl.shader_source(
        shader, "#version 120\nvoid main() { gl_FragColor = vec4(1e-6 * gl_Fog.scale); }"
    )
    gl.compile_shader(shader)
    gl.attach_shader(program, shader)
    gl.link_program(program)
    gl.use_program(program)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    assert pixel(gl, 3, 3) == [1.0, 1.0, 1.0, 1.0]


def test_bindings_of_the_compiler_are_those_of_the_api(gl: Context) -> None:
    limit = gl.get_integerv(GL.MAX_UNIFORM_BUFFER_BINDINGS)[0]
    for binding in (limit - 4, limit - 3):
        shader = gl.create_shader(GL.VERTEX_SHADER)
        gl.shader_source(
            shader,
            f"#version 430\nlayout(binding={binding}) uniform B {{ vec4 a; }} b[2][2];"
            "void main() { gl_Position = b[0][0].a + b[1][1].a; }",
        )
        gl.compile_shader(shader)
        assert gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0] == (binding == limit - 4)


def test_level_ranges_come_back(gl: Context) -> None:
    """Views are kept per level range; new images reach all of them."""
    for level in range(3):
        size = 4 >> level
        gl.tex_image2d(
            GL.TEXTURE_2D, level, GL.RGBA8, size, size, 0, GL.RGBA, GL.FLOAT,
            np.full((size, size, 4), 0.2 * (level + 1), np.float32),
        )  # fmt: skip
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST_MIPMAP_NEAREST)
    gl.enable(GL.TEXTURE_2D)

    def seen(base: int, most: int) -> float:
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_BASE_LEVEL, base)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAX_LEVEL, most)
        gl.rectf(-1.0, -1.0, 1.0, 1.0)
        return pixel(gl, 5, 5)[0]

    for _ in range(2):
        assert [seen(*r) for r in ((0, 0), (1, 1), (2, 2), (1, 2))] == [0.2, 0.4, 0.6, 0.4]
    white = np.ones((2, 2, 4), np.float32)
    gl.tex_image2d(GL.TEXTURE_2D, 1, GL.RGBA8, 2, 2, 0, GL.RGBA, GL.FLOAT, white)
    assert [seen(*r) for r in ((0, 0), (1, 1), (2, 2), (1, 2))] == [0.2, 1.0, 0.6, 1.0]


def test_attributes_that_begin_in_the_middle_of_a_primitive(gl: Context) -> None:
    """Vertices before have the value from before glBegin; the same layout is used again."""
    for colors in ((0.25, 0.5), (0.75, 0.25)):
        gl.color4f(colors[0], 0.0, 0.0, 1.0)
        gl.shade_model(GL.FLAT)
        gl.begin(GL.TRIANGLES)
        for x, y in ((-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0)):
            gl.vertex2f(x, y)
        gl.color4f(colors[1], 0.0, 0.0, 1.0)
        for x, y in ((1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)):
            gl.vertex2f(x, y)
        gl.end()
        assert pixel(gl, 2, 2)[0] == pytest.approx(colors[0], abs=0.01)
        assert pixel(gl, 29, 29)[0] == pytest.approx(colors[1], abs=0.01)
        gl.rectf(-1.0, -1.0, 1.0, 1.0)
        assert pixel(gl, 2, 2)[0] == pytest.approx(colors[1], abs=0.01)


@pytest.mark.parametrize(
    "name",
    ["COMPRESSED_RGB_S3TC_DXT1_EXT", "COMPRESSED_RGBA_S3TC_DXT5_EXT",
     "COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT", "COMPRESSED_RED_RGTC1", "COMPRESSED_SIGNED_RG_RGTC2",
     "COMPRESSED_LUMINANCE_ALPHA_LATC2_EXT"],
)  # fmt: skip
def test_images_uploaded_as_pixels_can_be_read_compressed(gl: Context, name: str) -> None:
    internal, kind = getattr(GL, name), GL.TEXTURE_2D
    first, second = gl.gen_textures(2)
    pixels = np.zeros((10, 10, 4), np.float32)
    pixels[:5] = (0.0, 1.0, 0.0, 1.0)
    pixels[5:] = (1.0, 0.0, 0.0, 1.0)
    gl.bind_texture(kind, first)
    gl.tex_image2d(kind, 0, internal, 10, 10, 0, GL.RGBA, GL.FLOAT, pixels)
    assert gl.get_tex_level_parameteriv(kind, 0, GL.TEXTURE_COMPRESSED) == [1]
    (size,) = gl.get_tex_level_parameteriv(kind, 0, GL.TEXTURE_COMPRESSED_IMAGE_SIZE)
    blocks = gl.get_compressed_tex_image(kind, 0)
    assert len(blocks) == size == 9 * (8 if "DXT1" in name or "RGTC1" in name else 16)
    gl.bind_texture(kind, second)
    gl.compressed_tex_image2d(kind, 0, internal, 10, 10, 0, size, blocks)
    assert gl.get_error() == GL.NO_ERROR
    images = []
    for texture in (first, second):
        gl.bind_texture(kind, texture)
        images.append(np.frombuffer(gl.get_tex_image(kind, 0, GL.RGBA, GL.FLOAT), np.float32))
    assert np.abs(images[0] - images[1]).max() < 0.01
    gl.bind_texture(kind, first)
    gl.compressed_tex_sub_image2d(kind, 0, 0, 8, 10, 2, internal, size // 3, blocks[: size // 3])
    assert gl.get_error() == GL.NO_ERROR
    updated = np.frombuffer(gl.get_tex_image(kind, 0, GL.RGBA, GL.FLOAT), np.float32)
    rows = updated.reshape(10, 10, 4)
    assert np.abs(rows[8:] - rows[:2]).max() < 0.01
    assert np.abs(rows[6] - rows[0]).max() > 0.9


def test_numbers_of_components_are_no_formats_to_copy_to(gl: Context) -> None:
    for components in range(1, 5):
        gl.copy_tex_image2d(GL.TEXTURE_2D, 0, components, 0, 0, 4, 4, 0)
        assert gl.get_error() == GL.INVALID_ENUM


def test_clamped_lookups_with_an_offset_stay_in_the_texture(gl: Context) -> None:
    """GL_CLAMP limits the coordinate after the offset, not before it."""
    row = np.arange(8, dtype=np.float32) / 8
    pixels = np.repeat(row[None, :, None], 8, axis=0).repeat(4, axis=2)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA32F, 8, 8, 0, GL.RGBA, GL.FLOAT, pixels.copy())
    for name in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(GL.TEXTURE_2D, name, GL.NEAREST)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_WRAP_S, GL.CLAMP)
    program = gl.create_program()
    shader = gl.create_shader(GL.FRAGMENT_SHADER)
    gl.shader_source(
        shader,
        "#version 130\nuniform sampler2D image; void main() {"
        " gl_FragColor = textureOffset(image, vec2(gl_FragCoord.x / 8.0, 0.5), ivec2(-3, 0)); }",
    )
    gl.compile_shader(shader)
    gl.attach_shader(program, shader)
    gl.link_program(program)
    gl.use_program(program)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    found = [pixel(gl, x, 4)[0] for x in (1, 5, 9, 20)]
    assert found == pytest.approx([0.0, 0.25, 0.75, 0.875], abs=0.01)


def test_signed_components_of_the_draw_buffer(gl: Context) -> None:
    assert gl.get_booleanv(GL.RGBA_SIGNED_COMPONENTS_EXT) == [0, 0, 0, 0]
    target(gl, GL.RGBA16F)
    assert gl.get_booleanv(GL.RGBA_SIGNED_COMPONENTS_EXT) == [1, 1, 1, 1]
