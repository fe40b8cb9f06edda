"""Constructors take a matrix in whatever form an expression gives it: in memory or as columns.

Each form of expression gives three matrix types, with every number of columns and of rows; the next
form gives three others. Every constructor that takes the matrix writes its components to a buffer,
and NumPy says what they are.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from string import Template

import numpy as np
import numpy.typing as npt
import pytest

from gallette.compiler.glsl import LinkedProgram, LinkOptions, link_program
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import Stage
from tests.cases import Case, sections
from tests.glsl.shaders import compiled

Doubles = npt.NDArray[np.float64]

PREFIXES = {"float": "", "double": "d", "int": "i", "uint": "u", "bool": "b"}
MATRICES = {
    f"{PREFIXES[base]}mat{columns}x{rows}": (base, columns, rows)
    for base in ("float", "double")
    for columns, rows in itertools.product((2, 3, 4), (2, 3, 4))
}
VECTORS = {
    base if size == 1 else f"{PREFIXES[base]}vec{size}": (base, size)
    for base in PREFIXES
    for size in (1, 2, 3, 4)
}


@dataclass(frozen=True)
class Form:
    """How a shader gets at a matrix: a line of `matrices.txt`."""

    expression: str
    outside: str = ""
    inside: str = ""
    parameter: str = ""


def form(case: Case) -> Form:
    expression, *parts = case.text.split(" | ")
    return Form(expression, **dict(part.split(": ", 1) for part in parts))


_SECTIONS = sections(Path(__file__).with_name("matrices.txt"))
COLUMN_BY_COLUMN = {case.name for case in _SECTIONS["column_by_column"].cases}
FORMS = {case.name: form(case) for each in _SECTIONS.values() for case in each.cases}


def values_of(columns: int, rows: int) -> Doubles:
    """Components that every base type can have something of: none negative, some zero."""
    return np.array([0.0 if i % 5 == 3 else 0.5 + i for i in range(columns * rows)])


def constructed(target: str, shape: tuple[int, int] | None, given: Doubles) -> Doubles | None:
    """The components of `target(...)`, if it takes a matrix of a shape, or a list of components."""
    if target in VECTORS:
        base, wanted = VECTORS[target]
        found = given[:wanted]
    else:
        base, columns, rows = MATRICES[target]
        wanted = columns * rows
        found = given[:wanted]
        if shape is not None:
            whole = np.eye(4)
            whole[: shape[0], : shape[1]] = given.reshape(shape)
            found = whole[:columns, :rows].ravel()
    if len(found) < wanted:
        return None
    if base == "bool":
        return (found != 0).astype(np.float64)
    return found if base in ("float", "double") else np.trunc(found)


def columns_of(target: str) -> tuple[list[str], int]:
    """The columns of a value `x`, and how many components each has."""
    if target in VECTORS:
        return ["x"], VECTORS[target][1]
    _, columns, rows = MATRICES[target]
    return [f"x[{i}]" for i in range(columns)], rows


class Constructors:
    """A compute shader that constructs values, and what it must write."""

    def __init__(self, form: Form, base: str, by_columns: bool, turn: int):
        self.outside: list[str] = []
        self.calls: list[str] = []
        self.expected: list[list[float]] = []
        for name, (kind, columns, rows) in MATRICES.items():
            if kind == base and (columns + rows + turn) % 3 == 0:
                self.add(form, name, columns, rows, by_columns)

    def add(self, form: Form, name: str, columns: int, rows: int, by_columns: bool) -> None:
        """Everything that takes one matrix type, in a function of its own."""
        given = values_of(columns, rows)
        prefix = PREFIXES[MATRICES[name][0]]
        words = {
            "M": name,
            "V": ", ".join(map(str, given)),
            "T": f"{prefix}mat{rows}x{columns}",
            "I": f"{prefix}mat{columns}x{columns}",
            "R": "xyzw"[:rows][::-1],
        }
        outside, inside, parameter, expression = (
            Template(text).substitute(words)
            for text in (form.outside, form.inside, form.parameter, form.expression)
        )
        lines = [outside, f"void construct_from_{name}({parameter}) {{", inside]
        for target in (*VECTORS, *MATRICES):
            expected = constructed(target, None if by_columns else (columns, rows), given)
            if expected is None:
                continue
            arguments = expression
            if by_columns:
                used = -(-len(expected) // rows)
                arguments = ", ".join(expression.format(i) for i in range(used))
            lines.append(f"{{ {target} x = {target}({arguments});")
            found, size = columns_of(target)
            for column, values in zip(found, expected.reshape(-1, size), strict=True):
                padding = [0.0] * (4 - size)
                components = ", ".join([column, *map(str, padding)])
                lines.append(f"o[{len(self.expected)}] = dvec4({components});")
                self.expected.append([*values.tolist(), *padding])
            lines.append("}")
        self.outside.append("\n".join([*lines, "}"]))
        argument = f"{name}({words['V']})" if parameter else ""
        self.calls.append(f"construct_from_{name}({argument});")

    @property
    def source(self) -> str:
        outside, calls = "\n".join(self.outside), "\n".join(self.calls)
        return f"""#version 450
            layout(local_size_x = 1) in;
            uniform float one = 1.0;
            uniform int two = 2;
            layout(std430) buffer Out {{ dvec4 o[]; }};
            {outside}
            void main() {{ {calls} }}"""


def uniform_blocks(program: LinkedProgram) -> dict[int, bytes]:
    """The default block as initialized, and the others with the values of each matrix in them."""
    found = {0: bytearray(program.default_block_initial)}
    for block in program.uniform_blocks:
        data = found[block.nir_index[Stage.COMPUTE]] = bytearray(block.size)
        for uniform in (program.uniforms[i] for i in block.members):
            if not uniform.type.is_matrix:
                continue
            columns, rows, size = (
                uniform.type.columns,
                uniform.type.rows,
                uniform.type.bit_size // 8,
            )
            value = values_of(columns, rows).reshape(columns, rows).astype(f"f{size}")
            for element in range(max(1, uniform.array_size)):
                for i, line in enumerate(value.T if uniform.row_major else value):
                    at = uniform.offset + element * uniform.array_stride + i * uniform.matrix_stride
                    data[at : at + line.nbytes] = line.tobytes()
    return {number: bytes(data) for number, data in found.items()}


@pytest.mark.parametrize("base", ["float", "double"])
@pytest.mark.parametrize("form", FORMS)
def test_constructors_take_every_form_of_matrix(form: str, base: str) -> None:
    turn = [*FORMS].index(form) + (base == "double")
    shader = Constructors(FORMS[form], base, form in COLUMN_BY_COLUMN, turn)
    compute = compiled(Stage.COMPUTE, shader.source)
    assert compute.ok, compute.info_log
    program = link_program([compute], LinkOptions(api="compat", optimize=False))
    assert program.ok, program.info_log
    numbers = {block.name: block.nir_index[Stage.COMPUTE] for block in program.storage_blocks}
    buffers = {number: bytes(32 * len(shader.expected)) for number in numbers.values()}
    env = Environment(lanes=1, ubos=uniform_blocks(program), ssbos=buffers)
    nir = program.shaders[Stage.COMPUTE]
    interpret(nir, env)
    written = env.buffer("ssbo", numbers["Out"]).view(np.float64).reshape(-1, 4)
    assert written.tolist() == shader.expected
    nir.unref()
