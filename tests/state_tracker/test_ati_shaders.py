"""ATI_fragment_shader: programs put together call by call; also on the native GL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gallette.state_tracker import GL, GLInterface

R0, R1, C0 = GL.REG_0_ATI, GL.REG_1_ATI, GL.CON_0_ATI
NO = GL.NONE


def drawn(gl: GLInterface, steps: Callable[[], Any]) -> list[int]:
    """One pixel drawn by a program that these calls define."""
    name = gl.gen_fragment_shaders_ati(1)
    gl.bind_fragment_shader_ati(name)
    gl.begin_fragment_shader_ati()
    steps()
    gl.end_fragment_shader_ati()
    assert gl.get_error() == GL.NO_ERROR
    gl.enable(GL.FRAGMENT_SHADER_ATI)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    raw = list(gl.read_pixels(3, 3, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))
    gl.disable(GL.FRAGMENT_SHADER_ATI)
    gl.delete_fragment_shader_ati(name)
    return raw


def near(found: list[int], expected: list[float]) -> bool:
    return all(abs(a - 255 * b) <= 1.5 for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("op", "count", "expected"),
    [
        ("MOV", 1, 0.25), ("ADD", 2, 0.75), ("MUL", 2, 0.125), ("SUB", 2, 0.0), ("MAD", 3, 0.925),
        ("LERP", 3, 0.725), ("CND", 3, 0.25), ("CND0", 3, 0.25), ("DOT3", 2, 0.375),
    ],
)  # fmt: skip
def test_operations(compat: GLInterface, op: str, count: int, expected: float) -> None:
    gl = compat
    for i, value in enumerate((0.25, 0.5, 0.8)):
        gl.set_fragment_shader_constant_ati(GL.CON_0_ATI + i, [value] * 4)
    arguments: list[int] = []
    for i in range(count):
        # Two constants at most: the third comes from a register.
        arguments += [R1 if i == 2 else C0 + i, NO, NO]

    def steps() -> None:
        gl.color_fragment_op1_ati(GL.MOV_ATI, R1, NO, NO, C0 + 2, NO, NO)
        gl.alpha_fragment_op1_ati(GL.MOV_ATI, R1, NO, C0 + 2, NO, NO)
        made = getattr(GL, f"{op}_ATI")
        getattr(gl, f"color_fragment_op{count}_ati")(made, R0, NO, NO, *arguments)
        getattr(gl, f"alpha_fragment_op{count}_ati")(made, R0, NO, *arguments)

    assert near(drawn(gl, steps), [expected] * 4)


SHADES = (0.1, 0.2, 0.3, 0.6)


@pytest.mark.parametrize("repeat", ["NONE", "RED", "GREEN", "BLUE", "ALPHA"])
def test_one_component_is_read_for_all(compat: GLInterface, repeat: str) -> None:
    """Without a component colours have their own, and alpha has alpha."""
    gl, component = compat, getattr(GL, repeat)

    def steps() -> None:
        gl.set_fragment_shader_constant_ati(C0, list(SHADES))
        gl.color_fragment_op1_ati(GL.MOV_ATI, R0, NO, NO, C0, component, NO)
        gl.alpha_fragment_op1_ati(GL.MOV_ATI, R0, NO, C0, component, NO)

    shades = dict(zip(("RED", "GREEN", "BLUE", "ALPHA"), SHADES, strict=True))
    assert near(drawn(gl, steps), [shades.get(repeat, shade) for shade in SHADES])


@pytest.mark.parametrize("bits", range(16))
def test_modifiers_of_arguments(compat: GLInterface, bits: int) -> None:
    """The complement, then less a half, then doubled, then negated: in this order."""
    names = [name for i, name in enumerate(("COMP", "BIAS", "2X", "NEGATE")) if bits >> i & 1]
    flags = sum(getattr(GL, f"_{n}_BIT_ATI" if n == "2X" else f"{n}_BIT_ATI") for n in names)
    steps_of = {"COMP": lambda x: 1 - x, "BIAS": lambda x: x - 0.5, "2X": lambda x: 2 * x,
                "NEGATE": lambda x: -x}  # fmt: skip
    expected = list(SHADES)
    for name in names:
        expected = [steps_of[name](x) for x in expected]
    gl = compat

    def steps() -> None:
        """A quarter of it above a half: what is negative shows, too."""
        gl.set_fragment_shader_constant_ati(C0, list(SHADES))
        gl.set_fragment_shader_constant_ati(C0 + 1, [2.0] * 4)
        for part in ("color", "alpha"):
            mask = (NO,) if part == "color" else ()
            add = getattr(gl, f"{part}_fragment_op2_ati")
            add(GL.ADD_ATI, R0, *mask, GL.QUARTER_BIT_ATI, C0, NO, flags, C0 + 1, NO, NO)

    assert near(drawn(gl, steps), [0.25 * x + 0.5 for x in expected])


@pytest.mark.parametrize(
    ("name", "factor"),
    [("_2X", 2.0), ("_4X", 4.0), ("_8X", 8.0), ("HALF", 0.5), ("QUARTER", 0.25), ("EIGHTH", 0.125)],
)
@pytest.mark.parametrize("saturated", [False, True])
def test_modifiers_of_results(
    compat: GLInterface, name: str, factor: float, saturated: bool
) -> None:
    """A factor, after which it is clamped if asked for: an eighth of it tells."""
    gl, flags = compat, getattr(GL, f"{name}_BIT_ATI") | (GL.SATURATE_BIT_ATI * saturated)

    def steps() -> None:
        gl.set_fragment_shader_constant_ati(C0, list(SHADES))
        gl.color_fragment_op1_ati(GL.MOV_ATI, R0, NO, flags, C0, NO, NO)
        gl.alpha_fragment_op1_ati(GL.MOV_ATI, R0, flags, C0, NO, NO)
        gl.color_fragment_op1_ati(GL.MOV_ATI, R0, NO, GL.EIGHTH_BIT_ATI, R0, NO, NO)
        gl.alpha_fragment_op1_ati(GL.MOV_ATI, R0, GL.EIGHTH_BIT_ATI, R0, NO, NO)

    shown = [x * factor for x in SHADES]
    assert near(drawn(gl, steps), [(min(x, 1.0) if saturated else x) / 8 for x in shown])


def test_modifiers_masks_and_constants_of_ones_own(compat: GLInterface) -> None:
    gl = compat
    gl.set_fragment_shader_constant_ati(C0, [0.9] * 4)

    def steps() -> None:
        gl.set_fragment_shader_constant_ati(C0, [0.1, 0.2, 0.3, 0.4])
        gl.color_fragment_op1_ati(GL.MOV_ATI, R0, NO, NO, C0, NO, NO)
        gl.alpha_fragment_op1_ati(GL.MOV_ATI, R0, GL._2X_BIT_ATI, C0, NO, NO)
        gl.color_fragment_op1_ati(
            GL.MOV_ATI, R0, GL.GREEN_BIT_ATI, GL.SATURATE_BIT_ATI, C0, GL.ALPHA, GL.COMP_BIT_ATI
        )

    assert near(drawn(gl, steps), [0.1, 0.6, 0.3, 0.8])


def test_two_passes_read_a_texture_where_the_first_says(compat: GLInterface) -> None:
    gl = compat
    (texture,) = gl.gen_textures(1)
    gl.active_texture(GL.TEXTURE1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(GL.TEXTURE_2D, pname, GL.NEAREST)
    texels = bytes([255, 0, 0, 255, 0, 255, 0, 255])
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 2, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    gl.enable(GL.TEXTURE_2D)
    gl.multi_tex_coord2f(GL.TEXTURE0, 0.25, 0.5)

    def steps() -> None:
        gl.pass_tex_coord_ati(R0, GL.TEXTURE0, GL.SWIZZLE_STR_ATI)
        gl.color_fragment_op1_ati(GL.MOV_ATI, R0, GL.RED_BIT_ATI, GL._2X_BIT_ATI, R0, NO, NO)
        gl.color_fragment_op2_ati(
            GL.ADD_ATI, R0, GL.RED_BIT_ATI, NO, R0, NO, NO, R0, NO, GL.BIAS_BIT_ATI
        )
        gl.color_fragment_op2_ati(GL.ADD_ATI, R0, GL.RED_BIT_ATI, NO, R0, NO, NO, C0, NO, NO)
        gl.set_fragment_shader_constant_ati(C0, [0.25] * 4)
        gl.sample_map_ati(R1, R0, GL.SWIZZLE_STR_ATI)
        gl.color_fragment_op1_ati(GL.MOV_ATI, R0, NO, NO, R1, NO, NO)
        gl.alpha_fragment_op1_ati(GL.MOV_ATI, R0, NO, R1, NO, NO)

    assert near(drawn(gl, steps), [0.0, 1.0, 0.0, 1.0])  # at 0.75, not at 0.25
    gl.active_texture(GL.TEXTURE0)


def test_errors(compat: GLInterface) -> None:
    gl = compat
    gl.pass_tex_coord_ati(R0, GL.TEXTURE0, GL.SWIZZLE_STR_ATI)
    assert gl.get_error() == GL.INVALID_OPERATION  # outside a definition
    gl.begin_fragment_shader_ati()
    cases: list[tuple[Callable[[], Any], int]] = [
        (lambda: gl.begin_fragment_shader_ati(), GL.INVALID_OPERATION),
        (lambda: gl.sample_map_ati(R0, R1, GL.SWIZZLE_STR_ATI), GL.INVALID_OPERATION),
        (lambda: gl.sample_map_ati(C0, GL.TEXTURE0, GL.SWIZZLE_STR_ATI), GL.INVALID_ENUM),
        (lambda: gl.color_fragment_op1_ati(GL.MOV_ATI, R0, 0, 0, GL.TEXTURE0, 0, 0),
         GL.INVALID_ENUM),
        (lambda: gl.alpha_fragment_op2_ati(GL.DOT3_ATI, R0, 0, R1, 0, 0, R1, 0, 0),
         GL.INVALID_OPERATION),
    ]  # fmt: skip
    for call, error in cases:
        call()
        assert gl.get_error() == error
    gl.end_fragment_shader_ati()
    gl.get_error()
    gl.gen_fragment_shaders_ati(0)
    assert gl.get_error() == GL.INVALID_VALUE
