"""Transform feedback offsets and strides, compared with the native GL's interface queries."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator
from typing import Any

import pytest

from gallette.compiler.glsl import LinkedProgram, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker.entry_points.enums import GL
from tests.conftest import native_context
from tests.state_tracker.helpers import linked

pytestmark = pytest.mark.native

TYPES = [
    "float",
    "vec2",
    "vec3",
    "vec4",
    "int",
    "ivec3",
    "uvec2",
    "mat2",
    "mat3x2",
    "double",
    "dvec3",
]


@pytest.fixture(scope="module")
def gl() -> Iterator[Any]:
    context = native_context(profile="core", version=(4, 5))
    with context:
        yield context


def ours(source: str, names: list[str]) -> LinkedProgram:
    shader = compile_shader(Stage.VERTEX, source)
    assert shader.ok, shader.info_log
    program = link_program([shader], LinkOptions(optimize=False, xfb_varyings=names))
    assert program.ok, program.info_log + source
    for nir in program.shaders.values():
        nir.unref()
    return program


def native(gl: Any, source: str, names: list[str]) -> int:
    return linked(gl, captured=names, vertex=source, used=False)


def query(gl: Any, program: int, name: str) -> list[int]:
    index = gl.get_program_resource_index(program, GL.TRANSFORM_FEEDBACK_VARYING, name)
    assert index != 0xFFFFFFFF, f"native GL does not capture '{name}'"
    wanted = (ctypes.c_uint * 2)(GL.OFFSET, GL.ARRAY_SIZE)
    values = (ctypes.c_int * 2)()
    gl.get_program_resourceiv(
        program, GL.TRANSFORM_FEEDBACK_VARYING, index, 2, wanted, 2, None, values
    )
    return list(values)


def outputs(rng: random.Random) -> list[tuple[str, str]]:
    found = []
    for i in range(rng.randrange(1, 7)):
        dims = rng.choice(("", "", f"[{rng.randrange(1, 4)}]"))
        found.append((rng.choice(TYPES), f"v{i}{dims}"))
    return found


def vertex(declarations: str, chosen: list[tuple[str, str]]) -> str:
    body = ""
    for type_, name in chosen:
        label, _, dim = name.partition("[")
        for i in range(int(dim[:-1]) if dim else 1):
            body += f"    {label}{f'[{i}]' if dim else ''} = {type_}(gl_VertexID);\n"
    return f"#version 450\n{declarations}void main() {{\n    gl_Position = vec4(0.0);\n{body}}}\n"


@pytest.mark.parametrize("seed", range(20))
def test_named_varyings_are_placed_as_native(gl: Any, seed: int) -> None:
    rng = random.Random(seed)
    chosen = outputs(rng)
    source = vertex("".join(f"flat out {t} {n};\n" for t, n in chosen), chosen)
    # GL asks for doubles at multiples of 8 bytes; the application has to see to it with skips.
    names = [n.partition("[")[0] for t, n in chosen if t[0] != "d"]
    if not names:
        names = ["gl_Position"]
    program = ours(source, names)
    other = native(gl, source, names)
    assert program.xfb is not None
    for varying in program.xfb.varyings:
        got = [varying.offset, max(1, varying.array_size)]
        assert got == query(gl, other, varying.name), varying.name + source


@pytest.mark.parametrize("seed", range(20))
def test_xfb_layouts_are_placed_as_native(gl: Any, seed: int) -> None:
    rng = random.Random(100 + seed)
    chosen = outputs(rng)
    declarations, offset = "", 0
    for type_, name in chosen:
        wide = type_[0] == "d"
        offset = (offset + 7) // 8 * 8 if wide else offset
        declarations += f"layout(xfb_offset = {offset}) flat out {type_} {name};\n"
        digits = [int(c) for c in type_ if c.isdigit()] or [1]
        components = digits[0] * (digits[1] if len(digits) > 1 else 1)
        if type_ == "mat2":
            components = 4
        count = int(name.partition("[")[2][:-1] or 1) if "[" in name else 1
        offset += components * count * (8 if wide else 4) + rng.choice((0, 0, 4, 8))
    source = vertex(declarations, chosen)
    program = ours(source, [])
    other = native(gl, source, [])
    assert program.xfb is not None
    assert len(program.xfb.varyings) == len(chosen)
    for varying in program.xfb.varyings:
        suffix = "[0]" if varying.array_size else ""
        index = gl.get_program_resource_index(
            other, GL.TRANSFORM_FEEDBACK_VARYING, varying.name + suffix
        )
        name = varying.name + suffix if index != 0xFFFFFFFF else varying.name
        got = [varying.offset, max(1, varying.array_size)]
        assert got == query(gl, other, name), varying.name + source


@pytest.mark.parametrize("seed", range(12))
def test_members_of_blocks_follow_each_other_as_native(gl: Any, seed: int) -> None:
    """The block has an offset; some members have one of their own, which the rest go on from."""
    rng = random.Random(200 + seed)
    members, body, offset = "", "", 8 * rng.randrange(3)
    start = offset
    for i in range(rng.randrange(2, 6)):
        type_, count = rng.choice(("float", "vec2", "vec3", "double", "dvec2")), rng.choice((0, 2))
        size = 8 if type_[0] == "d" else 4
        offset = -(-offset // size) * size
        if rng.random() < 0.3:
            offset += size * rng.randrange(3)
            members += f"layout(xfb_offset = {offset}) "
        members += f"{type_} m{i}{f'[{count}]' if count else ''};\n"
        offset += size * max(1, count) * int(type_[-1] if type_[-1].isdigit() else 1)
        body += "".join(f"b.m{i}{f'[{k}]' if count else ''} = {type_}(gl_VertexID);\n"
                        for k in range(count or 1))  # fmt: skip
    source = (
        f"#version 450\nlayout(xfb_offset = {start}) out B {{\n{members}}} b;\n"
        f"void main() {{\ngl_Position = vec4(0.0);\n{body}}}\n"
    )
    program = ours(source, [])
    other = native(gl, source, [])
    assert program.xfb is not None
    assert program.xfb.varyings
    for varying in program.xfb.varyings:
        got = [varying.offset, max(1, varying.array_size)]
        assert got == query(gl, other, varying.name), varying.name + source
