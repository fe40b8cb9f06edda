"""Memory layout of random blocks, compared with what the native GL answers for them.

Each program declares a dozen uniform or storage blocks of random members (nested structures,
arrays of arrays, matrices of either order); offsets, strides and sizes must be equal for every
member.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from gallette.compiler.glsl import (
    CompileOptions,
    LinkedProgram,
    LinkOptions,
    compile_shader,
    link_program,
)
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker.entry_points.enums import GL
from tests.conftest import native_context
from tests.state_tracker.helpers import linked

pytestmark = pytest.mark.native

NUMBERS = ["float", "vec2", "vec3", "vec4", "int", "ivec2", "ivec3", "uint", "uvec4", "bool"]
DOUBLES = ["double", "dvec2", "dvec3", "dvec4", "dmat2", "dmat3x2", "dmat4"]
MATRICES = ["mat2", "mat3", "mat4", "mat2x3", "mat2x4", "mat3x2", "mat3x4", "mat4x2", "mat4x3"]
VERTEX = "#version 450\nvoid main() { gl_Position = vec4(0.0); }\n"


def members(rng: random.Random, structs: list[str], depth: int) -> str:
    text = ""
    for i in range(rng.randrange(1, 6)):
        choice = rng.random()
        if choice < 0.45:
            type_ = rng.choice(NUMBERS)
        elif choice < 0.75:
            type_ = rng.choice(MATRICES)
        elif choice < 0.85 or not structs:
            type_ = rng.choice(DOUBLES)
        else:
            type_ = rng.choice(structs)
        order = ""
        if depth == 0 and rng.random() < 0.3:
            order = rng.choice(("layout(row_major) ", "layout(column_major) "))
        dims = "".join(f"[{rng.randrange(1, 4)}]" for _ in range(rng.choice((0, 0, 0, 1, 1, 2))))
        text += f"    {order}{type_} m{i}{dims};\n"
    return text


def shader(seed: int, storage: str, rule: str) -> str:
    rng = random.Random(seed)
    text = "#version 450\nout vec4 color;\n"
    structs: list[str] = []
    for i in range(4):
        text += f"struct S{i} {{\n{members(rng, structs, 1)}}};\n"
        structs.append(f"S{i}")
    for i in range(8):
        order = rng.choice(("", ", row_major"))
        text += f"layout({rule}{order}) {storage} B{i} {{\n    float first;\n"
        text += f"{members(rng, structs, 0)}    float last;\n}} b{i};\n"
    used = " + ".join(f"b{i}.first + b{i}.last" for i in range(8))
    return text + f"void main() {{ color = vec4({used}); }}\n"


def ours(source: str) -> LinkedProgram:
    shaders = [
        compile_shader(Stage.VERTEX, VERTEX, CompileOptions(api="core")),
        compile_shader(Stage.FRAGMENT, source, CompileOptions(api="core")),
    ]
    for s in shaders:
        assert s.ok, s.info_log
    program = link_program(shaders, LinkOptions(optimize=False))
    assert program.ok, program.info_log
    for nir in program.shaders.values():
        nir.unref()
    return program


@pytest.fixture(scope="module")
def gl() -> Iterator[Any]:
    context = native_context(profile="core", version=(4, 5))
    with context:
        yield context


def native_program(gl: Any, source: str) -> int:
    return linked(gl, vertex=VERTEX, fragment=source, used=False)


PROPERTIES = (GL.OFFSET, GL.ARRAY_STRIDE, GL.MATRIX_STRIDE, GL.IS_ROW_MAJOR, GL.ARRAY_SIZE)


def query(gl: Any, program: int, interface: int, name: str, wanted: tuple[int, ...]) -> list[int]:
    import ctypes

    index = gl.get_program_resource_index(program, interface, name)
    assert index != 0xFFFFFFFF, f"native GL does not know '{name}'"
    properties = (ctypes.c_uint * len(wanted))(*wanted)
    values = (ctypes.c_int * len(wanted))()
    gl.get_program_resourceiv(
        program, interface, index, len(wanted), properties, len(wanted), None, values
    )
    return list(values)


STORAGES = [("uniform", "std140"), ("buffer", "std430")]


@pytest.mark.parametrize("seed", range(14))
@pytest.mark.parametrize(("storage", "rule"), STORAGES)
def test_blocks_are_laid_out_as_native(gl: Any, storage: str, rule: str, seed: int) -> None:
    check(gl, storage, shader(seed, storage, rule), 8)


@pytest.mark.parametrize("given", ["RULE", "row_major", "column_major", "RULE, row_major"])
@pytest.mark.parametrize("before", ["", "RULE", "row_major", "column_major", "std140"])
@pytest.mark.parametrize(("storage", "rule"), STORAGES)
def test_what_a_block_does_not_say_is_the_default_as_on_native(
    gl: Any, storage: str, rule: str, before: str, given: str
) -> None:
    """Packing and order each have a default of their own; the last one given counts."""
    text = f"#version 450\nout vec4 color;\nlayout(std140) {storage};\n"
    text += "".join(f"layout({each}) {storage};\n" for each in (before, given) if each)
    said = ["", "row_major", "column_major", "RULE", "std140", "RULE, column_major"]
    for i, own in enumerate(said):
        text += f"{f'layout({own}) ' if own else ''}{storage} B{i} {{ float first; mat2x3 a[2];\n"
        text += (
            f" layout(column_major) mat3x2 b; layout(row_major) mat3x2 c; float last; }} b{i};\n"
        )
    used = " + ".join(f"b{i}.first + b{i}.last" for i in range(len(said)))
    text += f"void main() {{ color = vec4({used}); }}\n"
    check(gl, storage, text.replace("RULE", rule), len(said))


def check(gl: Any, storage: str, source: str, count: int) -> None:
    """Every member lies where the native GL has it, and blocks are as large."""
    program = ours(source)
    native = native_program(gl, source)
    if storage == "uniform":
        blocks, uniforms = program.uniform_blocks, program.uniforms
        interface, block_interface = GL.UNIFORM, GL.UNIFORM_BLOCK
    else:
        blocks, uniforms = program.storage_blocks, program.buffer_variables
        interface, block_interface = GL.BUFFER_VARIABLE, GL.SHADER_STORAGE_BLOCK
    assert len(blocks) == count
    for block in blocks:
        size = query(gl, native, block_interface, block.name, (GL.BUFFER_DATA_SIZE,))
        assert size == [block.size], f"size of {block.name}\n{source}"
        for i in block.members:
            u = uniforms[i]
            if storage == "buffer" and not _first_element(u.name):
                continue  # GL enumerates only the first element of a top-level array
            got = [u.offset, u.array_stride, u.matrix_stride, int(u.row_major), u.array_size or 1]
            if got[2] == 0:
                got[3] = 0
            assert got == query(gl, native, interface, u.name, PROPERTIES), f"{u.name}\n{source}"


def _first_element(name: str) -> bool:
    member = name.split(".")[1]
    return "[" not in member or member.split("[")[1].startswith("0]")
