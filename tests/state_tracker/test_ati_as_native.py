"""ATI_fragment_shader beside the native GL: what is refused call by call, and what is drawn.

Each case is a list of calls between Begin and End, told as tuples. Both GLs make them; the errors
after every call are compared, and then the picture.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

pytestmark = pytest.mark.native

R, C, T = GL.REG_0_ATI, GL.CON_0_ATI, GL.TEXTURE0
STR, STQ = GL.SWIZZLE_STR_ATI, GL.SWIZZLE_STQ_ATI
STR_DR, STQ_DQ = GL.SWIZZLE_STR_DR_ATI, GL.SWIZZLE_STQ_DQ_ATI
SECOND = GL.SECONDARY_INTERPOLATOR_ATI
KINDS = (GL.TEXTURE_1D, GL.TEXTURE_2D, GL.TEXTURE_3D, GL.TEXTURE_CUBE_MAP, GL.TEXTURE_RECTANGLE)
Call = tuple[Any, ...]


def prepared(gl: GLInterface) -> GLInterface:
    """Units 0 to 4 have a texture of each target, unit 5 has none."""
    for unit, target in enumerate(KINDS):
        gl.active_texture(T + unit)
        gl.bind_texture(target, gl.gen_textures(1)[0])
        for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
            gl.tex_parameteri(target, pname, GL.NEAREST)
        for pname in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T, GL.TEXTURE_WRAP_R):
            gl.tex_parameteri(target, pname, GL.CLAMP_TO_EDGE)
        texels = bytes((37 * i * i + 50 * unit + 11 * i) % 256 for i in range(4 * 64))
        rest = (0, GL.RGBA, GL.UNSIGNED_BYTE)
        if target == GL.TEXTURE_1D:
            gl.tex_image1d(target, 0, GL.RGBA8, 4, *rest, texels)
        elif target == GL.TEXTURE_3D:
            gl.tex_image3d(target, 0, GL.RGBA8, 4, 4, 4, *rest, texels)
        elif target == GL.TEXTURE_CUBE_MAP:
            for face in range(6):
                where = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face
                gl.tex_image2d(where, 0, GL.RGBA8, 2, 2, *rest, texels[16 * face :])
        else:
            gl.tex_image2d(target, 0, GL.RGBA8, 4, 4, *rest, texels)
        gl.enable(target)
        gl.multi_tex_coord4f(T + unit, 0.15 + 0.2 * unit, 0.8 - 0.1 * unit, 0.6, 0.5)
    gl.multi_tex_coord4f(T + 5, 0.3, 0.2, 0.7, 0.8)
    gl.multi_tex_coord4f(T + 7, 0.9, 0.5, 0.25, 0.5)
    gl.active_texture(T)
    gl.color4f(0.8, 0.1, 0.3, 0.6)
    gl.secondary_color3f(0.2, 0.5, 0.4)
    for i in range(8):
        gl.set_fragment_shader_constant_ati(
            C + i, [0.1 * i + 0.05, 0.9 - 0.1 * i, 0.3 + 0.05 * i, 0.11 * i]
        )
    assert gl.get_error() == GL.NO_ERROR
    return gl


@pytest.fixture
def both() -> Iterator[tuple[GLInterface, GLInterface]]:
    options: dict[str, Any] = {"profile": "compat", "version": (4, 5), "size": (4, 4)}
    made = prepared(create_context("numpipe", **options)), prepared(native_context(**options))
    yield made
    for gl in made:
        gl.release()


def told(gl: GLInterface, calls: list[Call]) -> list[str]:
    """The error after each call of a program and after its end."""
    found = []
    gl.bind_fragment_shader_ati(gl.gen_fragment_shaders_ati(1))
    gl.begin_fragment_shader_ati()
    for name, *arguments in [*calls, ("end_fragment_shader_ati",)]:
        getattr(gl, name)(*arguments)
        found.append(GL.name_of(gl.get_error(), "error"))
        assert gl.get_error() == GL.NO_ERROR
    return found


def shown(gl: GLInterface) -> list[int]:
    """One pixel drawn with the bound program."""
    gl.enable(GL.FRAGMENT_SHADER_ATI)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.disable(GL.FRAGMENT_SHADER_ATI)
    return list(gl.read_pixels(1, 2, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))


def color(op: str, to: int, *given: int, mask: int = 0, flags: int = 0) -> Call:
    """ColorFragmentOp; `given` are sources, or all three numbers of each argument."""
    given = given if len(given) % 3 == 0 and len(given) > 3 else _plain(given)
    count = len(given) // 3
    return (f"color_fragment_op{count}_ati", getattr(GL, f"{op}_ATI"), to, mask, flags, *given)


def alpha(op: str, to: int, *given: int, flags: int = 0) -> Call:
    given = given if len(given) % 3 == 0 and len(given) > 3 else _plain(given)
    count = len(given) // 3
    return (f"alpha_fragment_op{count}_ati", getattr(GL, f"{op}_ATI"), to, flags, *given)


def _plain(sources: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(itertools.chain.from_iterable((s, 0, 0) for s in sources))


def sample(to: int, source: int, swizzle: int = STR) -> Call:
    return ("sample_map_ati", R + to, source, swizzle)


def passed(to: int, source: int, swizzle: int = STR) -> Call:
    return ("pass_tex_coord_ati", R + to, source, swizzle)


MOVE = color("MOV", R, R + 1)
CASES: dict[str, list[Call]] = {
    "registers": [passed(0, T), passed(5, T), passed(6, T), passed(-1, T), MOVE],
    "coordinates": [passed(0, T), passed(1, T + 7), passed(2, T + 8), passed(2, T - 1), MOVE],
    "twice": [passed(0, T), sample(0, T), passed(1, T), sample(1, T), MOVE],
    "r and q": [passed(0, T), passed(1, T, STQ), passed(1, T, STR_DR), passed(2, T, STQ_DQ),
                sample(3, T + 1, STQ), sample(4, T + 1, STR), sample(4, T + 1, STQ_DQ), MOVE],
    "registers too early": [passed(0, R + 1), sample(1, R), passed(0, T), passed(1, R), MOVE],
    "registers late": [passed(0, T), MOVE, passed(0, R), passed(1, R + 5), passed(2, R + 6),
                       sample(3, R, STR_DR), sample(4, R, STQ), passed(5, R, STQ_DQ), MOVE],
    "second pass twice": [MOVE, passed(0, R), passed(0, R), sample(0, T), sample(1, T + 1), MOVE],
    "third pass": [MOVE, passed(0, T), MOVE, passed(1, T), sample(1, R), MOVE],
    "destinations": [color("MOV", R + 5, R), color("MOV", R + 6, R), color("MOV", R - 1, R),
                     alpha("MOV", R + 5, R), alpha("MOV", R + 6, R), alpha("MOV", C, R)],
    "sources": [color("MOV", R, s) for s in (
        R, R + 5, R + 6, C, C + 7, C + 8, C - 1, GL.ZERO, GL.ONE, GL.PRIMARY_COLOR, SECOND, T,
        GL.PRIMARY_COLOR + 1)],
    "sources of alpha": [alpha("MOV", R, s) for s in (
        R, R + 5, R + 6, C, C + 7, C + 8, GL.ZERO, GL.ONE, GL.PRIMARY_COLOR, SECOND, T)],
    "repeats": [color("MUL", R, R, r, 0, C, 0, 0) for r in (
        GL.NONE, GL.RED, GL.GREEN, GL.BLUE, GL.ALPHA)],
    "second repeats": [color("MUL", R, SECOND, r, 0, C, 0, 0) for r in (
        GL.NONE, GL.RED, GL.GREEN, GL.BLUE, GL.ALPHA)],
    "second repeats of alpha": [alpha("MUL", R, SECOND, r, 0, C, 0, 0) for r in (
        GL.NONE, GL.RED, GL.GREEN, GL.BLUE, GL.ALPHA)],
    "second of four": [color("DOT4", R, SECOND, r, 0, C, 0, 0) for r in (
        GL.NONE, GL.RED, GL.ALPHA)] + [color("DOT3", R, SECOND, C)],
    "constants": [color("MAD", R, C, C + 1, C + 2), color("MAD", R, C, C + 1, C),
                  color("MAD", R, C, C + 1, R), alpha("LERP", R, C + 7, C + 6, C + 5),
                  alpha("LERP", R, C + 7, C + 6, C + 7)],
    "nothing": [],
    "no operation": [passed(0, T)],
    "no operation in the second": [passed(0, T), MOVE, passed(0, R)],
    "interpolators early": [color("MOV", R, GL.PRIMARY_COLOR), passed(0, T), MOVE],
    "second interpolator early": [color("ADD", R, R, SECOND), passed(0, T), MOVE],
    "interpolators late": [MOVE, passed(0, T), color("ADD", R, GL.PRIMARY_COLOR, SECOND)],
    "eight": [MOVE] * 9 + [passed(0, T)] + [MOVE, alpha("MOV", R, R)] * 9,
    "eight of alpha": [alpha("MOV", R, R)] * 9 + [MOVE],
    "pairs": [MOVE, alpha("MOV", R, R), alpha("MOV", R, R)] * 4 + [MOVE],
    "an eighth pair": [MOVE] * 8 + [alpha("MOV", R, R), alpha("MOV", R, R)],
}  # fmt: skip
DOTS = ("DOT3", "DOT4", "DOT2_ADD")
OPS = {"MOV": 1, "ADD": 2, "MUL": 2, "SUB": 2, "DOT3": 2, "DOT4": 2, "MAD": 3, "LERP": 3,
       "CND": 3, "CND0": 3, "DOT2_ADD": 3}  # fmt: skip
for _first, _second in itertools.product((*DOTS, "ADD", "MAD"), repeat=2):
    CASES[f"{_first} and {_second}"] = [
        color(_first, R, *[R, C, R][: OPS[_first]]),
        alpha(_second, R, *[R, C, R][: OPS[_second]]),
    ]


def test_the_same_calls_are_refused(both: tuple[GLInterface, GLInterface]) -> None:
    ours, theirs = both
    wrong = {}
    for name, calls in CASES.items():
        found, wanted = told(ours, calls), told(theirs, calls)
        if found != wanted:
            wrong[name] = [x for x in zip([*calls, "end"], found, wanted, strict=True)
                           if x[1] != x[2]]  # fmt: skip
    assert not wrong


def test_an_operation_has_its_number_of_arguments(
    both: tuple[GLInterface, GLInterface],
) -> None:
    """Every operation by the call of every number of arguments, refused by us alone."""
    for op, part, count in itertools.product(OPS, ("color", "alpha"), (1, 2, 3)):
        mask = (0,) if part == "color" else ()
        number = getattr(GL, f"{op}_ATI")
        call = (f"{part}_fragment_op{count}_ati", number, R, *mask, 0, *_plain((R, C, R)[:count]))
        found = told(both[0], [call])
        assert (found[0] == "GL_INVALID_ENUM") == (OPS[op] != count), (op, part, count)
        if OPS[op] == count:
            assert found == told(both[1], [call]), (op, part, count)


def test_the_same_modifiers_are_refused(both: tuple[GLInterface, GLInterface]) -> None:
    for bits in range(256):
        calls = [color("MOV", R, R, flags=bits), alpha("MOV", R, R, flags=bits)]
        assert told(both[0], calls) == told(both[1], calls), bits
    for bits in range(64):  # native GL takes any bits of arguments
        calls = [color("ADD", R, R, 0, bits, R, 0, 0), alpha("ADD", R, R, 0, bits, R, 0, 0)]
        refused = "GL_INVALID_ENUM" if bits >= 16 else "GL_NO_ERROR"
        assert told(both[0], calls)[:2] == [refused] * 2, bits
    for repeat, known in ((GL.RED - 1, False), (GL.RED, True), (GL.ALPHA, True),
                          (GL.ALPHA + 1, False)):  # fmt: skip
        calls = [color("MUL", R, R, repeat, 0, C, 0, 0)]
        assert (told(both[0], calls)[0] == "GL_NO_ERROR") == known


def same(both: tuple[GLInterface, GLInterface], calls: list[Call], note: Any = None) -> None:
    """Nothing of a program is refused, and it draws the same."""
    for gl in both:
        assert set(told(gl, calls)) == {"GL_NO_ERROR"}, note
    found, wanted = shown(both[0]), shown(both[1])
    assert all(abs(a - b) <= 2 for a, b in zip(found, wanted, strict=True)), (note, found, wanted)


def test_sampled_and_passed_coordinates(both: tuple[GLInterface, GLInterface]) -> None:
    for unit, swizzle in itertools.product(range(6), (STR, STQ, STR_DR, STQ_DQ)):
        for use in (sample, passed):
            calls = [use(unit, T + unit, swizzle), color("MOV", R, R + unit)]
            # Of coordinates the fourth component is undefined.
            calls.append(alpha("MOV", R, R + unit) if use is sample else alpha("MOV", R, C))
            same(both, calls, (unit, GL.name_of(swizzle), use.__name__))
    for unit, coordinates in ((1, 7), (0, 1), (2, 3), (5, 2)):
        calls = [sample(unit, T + coordinates), color("MOV", R, R + unit)]
        same(both, [*calls, alpha("MOV", R, R + unit)], (unit, coordinates))
    for swizzle in (STR, STR_DR):
        first = [passed(0, T), color("MUL", R + 1, R, C + 3), color("MUL", R, R, C + 2)]
        for use in (sample, passed):
            calls = [*first, passed(1, R + 1), use(2, R, swizzle), color("ADD", R, R + 1, R + 2)]
            same(both, [*calls, alpha("MOV", R, C)], (GL.name_of(swizzle), use.__name__))


def test_every_operation_on_every_kind_of_source(both: tuple[GLInterface, GLInterface]) -> None:
    """Random programs of three pairs, all pairs of operations among them."""
    chance = random.Random(7)
    sources = [R, R + 1, R + 2, C + 1, C + 6, GL.ZERO, GL.ONE, GL.PRIMARY_COLOR]
    bits = (GL._2X_BIT_ATI, GL.COMP_BIT_ATI, GL.NEGATE_BIT_ATI, GL.BIAS_BIT_ATI)
    scales = (0, GL._2X_BIT_ATI, GL.HALF_BIT_ATI, GL.QUARTER_BIT_ATI)

    def given(count: int, without: int = 0) -> list[int]:
        found: list[int] = []
        for _ in range(count):
            repeat = chance.choice((GL.NONE, GL.RED, GL.GREEN, GL.BLUE, GL.ALPHA))
            source = chance.choice([s for s in sources if s != without])
            flags = sum(b for b in bits if chance.random() < 0.2)
            if source in (GL.ZERO, GL.ONE):  # the native GL does not modify them
                flags = 0
            found += [source, repeat, flags]
        return found

    plain = [op for op in OPS if op not in DOTS]
    begin = [passed(0, T), passed(1, T + 1), sample(2, T + 1)]
    begin += [alpha("MOV", R, C + 2), alpha("MOV", R + 1, C + 4)]
    ops = [op for op in OPS if op != "DOT2_ADD"]
    for number in range(60):
        calls: list[Call] = list(begin)
        for step in range(3):
            op = ops[(number + 4 * step) % len(ops)]
            flags = chance.choice(scales) | GL.SATURATE_BIT_ATI * (chance.random() < 0.7)
            # Of a pair both read what was there before; the native GL runs one after the other.
            to = R + step % 2
            arguments = given(OPS[op], to if op in DOTS else 0)
            calls.append((f"color_fragment_op{OPS[op]}_ati", getattr(GL, f"{op}_ATI"),
                          to, chance.randrange(8), flags, *arguments))  # fmt: skip
            other = op if op in DOTS else chance.choice(plain)
            if op == "DOT4" or chance.random() < 0.8:
                if op not in DOTS:  # alpha gets the product of the colours
                    arguments = given(OPS[other], to)
                calls.append((f"alpha_fragment_op{OPS[other]}_ati", getattr(GL, f"{other}_ATI"),
                              to, flags, *arguments))  # fmt: skip
        calls.append(color("MOV", R, R + 1, mask=GL.BLUE_BIT_ATI))
        same(both, calls, calls)
