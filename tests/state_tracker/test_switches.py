"""What is derived from capabilities is remembered while only they are switched, and no longer."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallette.state_tracker import GL, create_context

from .helpers import compiled, pixels, program, quad

BLEND, CULL, DEPTH = GL.BLEND, GL.CULL_FACE, GL.DEPTH_TEST


def scene(profile: str = "core") -> Any:
    gl = create_context(profile=profile, version=(3, 3), size=(4, 4))
    name = program(gl)
    quad(gl, name)
    gl.uniform4f(gl.get_uniform_location(name, "color"), 0.5, 0.25, 1.0, 0.5)
    return gl


def drawn(gl: Any) -> list[int]:
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    found: list[int] = pixels(gl, 4, 4)[0, 0].tolist()
    return found


def test_switching_back_and_forth_and_changing_between() -> None:
    gl = scene()
    plain, half = [128, 64, 255, 128], [64, 32, 128, 64]
    gl.blend_func(GL.SRC_ALPHA, GL.ZERO)
    for _ in range(2):
        assert drawn(gl) == plain
        gl.enable(BLEND)
        assert drawn(gl) == half
        gl.disable(BLEND)
    assert drawn(gl) == plain
    gl.blend_func(GL.ZERO, GL.ZERO)  # no switch: what was remembered is no good
    assert drawn(gl) == plain
    gl.enable(BLEND)
    assert drawn(gl) == [0, 0, 0, 0]
    gl.blend_func(GL.ONE, GL.ONE)
    assert drawn(gl) == plain
    gl.release()


def test_one_buffer_of_several_switched() -> None:
    gl = scene()
    gl.blend_func(GL.ZERO, GL.ZERO)
    gl.enablei(BLEND, 1)
    assert drawn(gl)[3] == 128
    gl.enable(BLEND)
    assert drawn(gl) == [0, 0, 0, 0]
    gl.disablei(BLEND, 0)
    assert gl.is_enabled(BLEND) == 0 and gl.is_enabledi(BLEND, 1) == 1
    assert drawn(gl)[3] == 128
    gl.disable(BLEND)
    assert drawn(gl)[3] == 128 and gl.is_enabledi(BLEND, 1) == 0
    gl.release()


def test_culling_and_depth_alternate() -> None:
    gl = scene()
    gl.front_face(GL.CW)  # the strip faces back
    gl.depth_func(GL.NEVER)
    shown = {(): 128, (CULL,): 0, (DEPTH,): 0, (CULL, DEPTH): 0}
    for _ in range(2):
        for caps, expected in shown.items():
            for cap in (CULL, DEPTH):
                (gl.enable if cap in caps else gl.disable)(cap)
            assert drawn(gl)[0] == expected
    gl.front_face(GL.CCW)
    gl.depth_func(GL.ALWAYS)
    gl.enable(CULL)
    gl.enable(DEPTH)
    assert drawn(gl)[0] == 128
    gl.release()


def test_restored_attributes_are_no_switches() -> None:
    gl = scene("compat")
    gl.blend_func(GL.ZERO, GL.ZERO)
    gl.push_attrib(GL.ENABLE_BIT)
    gl.enable(BLEND)
    assert drawn(gl)[0] == 0
    gl.pop_attrib()
    assert gl.is_enabled(BLEND) == 0 and drawn(gl)[0] == 128
    gl.enable(BLEND)
    assert drawn(gl)[0] == 0
    gl.disable(BLEND)
    assert drawn(gl)[0] == 128
    gl.release()


TEXTURED = """#version 330
uniform sampler2D image;
out vec4 result;
void main() { result = texture(image, vec2(0.5)); }
"""


def test_textures_bound_alternately_and_changed_while_another_is_bound() -> None:
    gl = create_context(profile="core", version=(4, 5), size=(4, 4))
    name = program(gl, fragment=TEXTURED)
    quad(gl, name)
    textures = gl.gen_textures(2)
    for texture, value in zip(textures, (50, 100), strict=True):
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
        data = np.full((2, 2, 4), value, np.uint8)
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)

    def shown(texture: int) -> list[int]:
        gl.bind_texture(GL.TEXTURE_2D, texture)
        return drawn(gl)[:2]

    for _ in range(2):
        assert [shown(texture) for texture in textures] == [[50, 50], [100, 100]]
    gl.texture_parameteri(textures[0], GL.TEXTURE_SWIZZLE_R, GL.ZERO)  # not the one that is bound
    assert shown(textures[0]) == [0, 50]
    gl.texture_parameteri(textures[1], GL.TEXTURE_MIN_FILTER, GL.LINEAR_MIPMAP_LINEAR)
    assert shown(textures[1]) == [0, 0]  # it is not complete any more
    (sampler,) = gl.gen_samplers(1)
    gl.sampler_parameteri(sampler, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.bind_sampler(0, sampler)
    assert shown(textures[1]) == [100, 100]
    gl.sampler_parameteri(sampler, GL.TEXTURE_MIN_FILTER, GL.LINEAR_MIPMAP_LINEAR)
    assert shown(textures[1]) == [0, 0]
    gl.bind_sampler(0, 0)
    gl.delete_textures(1, [textures[0]])
    gl.bind_texture(GL.TEXTURE_2D, 0)
    assert drawn(gl)[:2] == [0, 0]
    gl.release()


def test_fragments_that_fixed_function_shades_come_back() -> None:
    """A program without a fragment shader leaves that stage empty while nothing is rasterised."""
    gl = create_context(profile="compat", version=(3, 3), size=(4, 4))
    text = """#version 120
        attribute vec2 position;
        void main() { gl_FrontColor = gl_Color; gl_Position = vec4(position, 0.0, 1.0); }
    """
    name = gl.create_program()
    gl.attach_shader(name, compiled(gl, GL.VERTEX_SHADER, text))
    gl.link_program(name)
    gl.use_program(name)
    quad(gl, name)
    gl.color4f(1.0, 0.5, 0.25, 1.0)
    gl.enable(GL.RASTERIZER_DISCARD)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    for _ in range(2):
        gl.disable(GL.RASTERIZER_DISCARD)
        assert drawn(gl) == [255, 128, 64, 255]
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.enable(GL.RASTERIZER_DISCARD)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        assert pixels(gl, 4, 4)[0, 0].tolist() == [0, 0, 0, 0]
    assert gl.get_error() == GL.NO_ERROR
