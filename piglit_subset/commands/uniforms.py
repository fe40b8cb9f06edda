"""Sets uniforms of every type, in the default block and in uniform blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.session import Session
from gallette.piglit_subset.text import Words
from gallette.state_tracker.entry_points.enums import GL


@dataclass(frozen=True, slots=True)
class UniformType:
    """A GLSL type as the uniform calls see it."""

    dtype: Any
    setter: str
    components: int
    columns: int = 1  # above 1: a matrix, `components` counts one column


def _table() -> dict[str, UniformType]:
    table: dict[str, UniformType] = {}
    kinds = (
        ("float", "vec", np.float32, "fv", ""),
        ("int", "ivec", np.int32, "iv", ""),
        ("bool", "bvec", np.int32, "iv", ""),
        ("uint", "uvec", np.uint32, "uiv", ""),
        ("double", "dvec", np.float64, "dv", ""),
        ("int64_t", "i64vec", np.int64, "i64v", "_arb"),
        ("uint64_t", "u64vec", np.uint64, "ui64v", "_arb"),
    )
    for scalar, vector, dtype, letters, suffix in kinds:
        for n in range(1, 5):
            name = scalar if n == 1 else f"{vector}{n}"
            table[name] = UniformType(dtype, f"uniform{n}{letters}{suffix}", n)
    for prefix, dtype, letter in (("mat", np.float32, "fv"), ("dmat", np.float64, "dv")):
        for c in range(2, 5):
            for r in range(2, 5):
                shape = f"{c}" if c == r else f"{c}x{r}"
                kind = UniformType(dtype, f"uniform_matrix{shape}{letter}", r, c)
                table[f"{prefix}{c}x{r}"] = kind
                if c == r:
                    table[f"{prefix}{c}"] = kind
    return table


TYPES = _table()


def _values(words: Words, kind: UniformType) -> npt.NDArray[Any]:
    """All numbers left on the line: an array takes several elements, the last may be in part."""
    found = words.array(kind.dtype, len(words))
    if not len(found):
        raise words.error("expected at least one number", back=0)
    return found


@command("uniform")
def uniform(session: Session, words: Words) -> None:
    """uniform TYPE NAME VALUES...: NAME may be a location number or a uniform block's member"""
    type_name = words.word("a GLSL type")
    kind = TYPES.get(type_name)
    if kind is None:
        raise words.error(f"unknown uniform type {type_name!r}")
    name = words.word("a uniform's name")
    values = _values(words, kind)
    session.need_program()
    if session.program or session.pipeline:
        target = find_uniform(session, name)
        if isinstance(target, BlockMember):
            write_member(session, target, kind, values)
        elif target is not None:
            size = kind.components * kind.columns
            if missing := -len(values) % size:  # numbers that a line leaves out are zeros here
                values = np.concatenate([values, np.zeros(missing, kind.dtype)])
            count = len(values) // size
            if count > 1 and not _is_array(session, name):
                count = 1  # the numbers after those of one element count for nothing
            extra = (0,) if kind.columns > 1 else ()
            address = values.__array_interface__["data"][0]  # the fastest way to get an address
            getattr(session.gl, kind.setter)(target, count, *extra, address)


def _is_array(session: Session, name: str) -> bool:
    """Whether the uniform may have several elements; one that a line names by its location may."""
    gl, program = session.gl, _program(session)
    if name.isdigit() or name.endswith("]"):
        return True
    count = int(gl.get_programiv(program, GL.ACTIVE_UNIFORMS)[0])
    return any(gl.get_active_uniform(program, i)[2] == f"{name}[0]" for i in range(count))


@dataclass(frozen=True, slots=True)
class BlockMember:
    """The place of a block's member."""

    buffer: int
    offset: int
    array_stride: int
    matrix_stride: int
    row_major: bool


def _program(session: Session) -> int:
    if session.program:
        return session.program
    return session.active_program or next(iter(session.stage_programs.values()), 0)


def find_uniform(session: Session, name: str) -> int | BlockMember | None:
    """A uniform's location, or the place of a block's member; None if there is none."""
    key = f"{name}@{session.block.array_index}@{session.block.binding}@{session.block.offset}"
    if key not in session.uniform_cache:
        session.uniform_cache[key] = _look_up(session, name)
    found: int | BlockMember | None = session.uniform_cache[key]
    return found


def _look_up(session: Session, name: str) -> int | BlockMember | None:
    gl, program = session.gl, _program(session)
    if name.isdigit():
        return int(name)
    if session.block.binding >= 0:
        return _explicit_member(session)
    location = int(gl.get_uniform_location(program, name))
    if location >= 0:
        return location
    has_blocks = session.needs.version >= (3, 1) or not session.is_es
    member = _block_member(session, program, name) if has_blocks else None
    if member is None and not session.needs.ignores_missing:
        session.wrong(f"{name!r} is no active uniform of the program")
    return member


def _block_member(session: Session, program: int, name: str) -> BlockMember | None:
    """Find `name`, also as an element of an array that GL lists as `base[0]`."""
    gl = session.gl
    index, element = None, 0
    base, _, digits = name[:-1].rpartition("[")
    if name.endswith("]") and digits.isdigit():
        # An element's index may be that of the whole array: query [0] and add the stride.
        index, element = _uniform_index(gl, program, f"{base}[0]"), int(digits)
    if index is None:
        index, element = _uniform_index(gl, program, name), 0
    if index is None:
        return None
    indices = np.array([index], np.uint32)

    def ask(property_name: str) -> int:
        value = gl.get_active_uniformsiv(program, 1, indices, int(getattr(GL, property_name)))
        return int(value[0])

    block = ask("UNIFORM_BLOCK_INDEX")
    if block < 0:
        return None
    stride = ask("UNIFORM_ARRAY_STRIDE")
    offset = ask("UNIFORM_OFFSET") + element * stride
    return BlockMember(
        block_buffer(session, program, block + session.block.array_index),
        offset,
        stride,
        ask("UNIFORM_MATRIX_STRIDE"),
        bool(ask("UNIFORM_IS_ROW_MAJOR")),
    )


def _uniform_index(gl: Any, program: int, name: str) -> int | None:
    index = int(gl.get_uniform_indices(program, 1, [name])[0])
    return None if index == 0xFFFFFFFF else index


def _explicit_member(session: Session) -> BlockMember:
    """A member without a name, described by `block binding`, `block offset` and so on."""
    block = session.block
    program = _program(session)
    prepare_blocks(session, program)
    # An element of an array of blocks follows the first one, whatever it is bound to.
    first = session.buffers.get(("ubo bound", block.binding))
    if first is None:
        raise session.line.error(f"no uniform block is bound at {block.binding}")
    return BlockMember(
        block_buffer(session, program, first + block.array_index),
        max(block.offset, 0),
        max(block.array_stride, 0),
        max(block.matrix_stride, 16),
        block.row_major == 1,
    )


def block_buffer(session: Session, program: int, index: int) -> int:
    """The buffer of a uniform block, created on first use."""
    prepare_blocks(session, program)
    return session.buffers.get(("ubo", index), 0)


def prepare_blocks(session: Session, program: int) -> None:
    """Give every active uniform block a zeroed buffer at a binding of its own."""
    gl = session.gl
    if ("ubo done", program) in session.buffers:
        return
    session.buffers["ubo done", program] = 0
    count = int(gl.get_programiv(program, GL.ACTIVE_UNIFORM_BLOCKS)[0])
    bindings = [
        int(gl.get_active_uniform_blockiv(program, i, GL.UNIFORM_BLOCK_BINDING)[0])
        for i in range(count)
    ]
    free = (n for n in range(1000) if n not in set(bindings) - {0})
    for index, explicit in enumerate(bindings):
        size = int(gl.get_active_uniform_blockiv(program, index, GL.UNIFORM_BLOCK_DATA_SIZE)[0])
        binding = explicit or next(free)
        (buffer,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.UNIFORM_BUFFER, buffer)
        gl.buffer_data(GL.UNIFORM_BUFFER, size, np.zeros(size, np.uint8), GL.STATIC_DRAW)
        gl.uniform_block_binding(program, index, binding)
        gl.bind_buffer_base(GL.UNIFORM_BUFFER, binding, buffer)
        session.buffers["ubo", index] = buffer
        session.buffers["ubo bound", binding] = index


def write_member(
    session: Session, member: BlockMember, kind: UniformType, values: npt.NDArray[Any]
) -> None:
    """Write values, element by element, to a block's buffer."""
    gl = session.gl
    gl.bind_buffer(GL.UNIFORM_BUFFER, member.buffer)
    per_element = kind.components * kind.columns
    for element, start in enumerate(range(0, len(values), per_element)):
        data = values[start : start + per_element]
        base = member.offset + element * member.array_stride
        if kind.columns == 1:
            gl.buffer_sub_data(GL.UNIFORM_BUFFER, base, data.nbytes, data)
            continue
        matrix = np.zeros((kind.columns, kind.components), kind.dtype)
        matrix.reshape(-1)[: len(data)] = data
        if member.row_major:
            matrix = matrix.T
        for number, vector in enumerate(matrix):
            packed = np.ascontiguousarray(vector)
            offset = base + number * member.matrix_stride
            gl.buffer_sub_data(GL.UNIFORM_BUFFER, offset, packed.nbytes, packed)


def _set_block(field: str, session: Session, value: int) -> None:
    setattr(session.block, field, value)


for _head, _usage, _field, _what in (
    ("ubo array index", "N: later block members mean block N of the instance array",
     "array_index", "an index"),
    ("block array index", "N: as `ubo array index`, for blocks named by binding",
     "array_index", "an index"),
    ("block binding", "N: later members are in the block bound there", "binding", "a binding"),
    ("block offset", "N: byte offset of the next member", "offset", "an offset"),
    ("block row major", "0|1", "row_major", "0 or 1"),
    ("block matrix stride", "N", "matrix_stride", "a stride"),
    ("block array stride", "N", "array_stride", "a stride"),
):  # fmt: skip
    command(_head, reads=f"integer {_what}", usage=f"{_head} {_usage}")(partial(_set_block, _field))


@command("subuniform", reads="enum a stage, word a uniform, word a function")
def subroutine_uniform(session: Session, stage: int, name: str, function: str) -> None:
    """subuniform GL_STAGE UNIFORM FUNCTION: choose a subroutine"""
    gl, program, unset = session.gl, session.program, 0xFFFFFFFF
    location = int(gl.get_subroutine_uniform_location(program, stage, name))
    index = int(gl.get_subroutine_index(program, stage, function))
    if location < 0 or index == unset:
        session.wrong("no such subroutine uniform or function")
        return
    (count,) = gl.get_program_stageiv(program, stage, GL.ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS)
    # GL takes the choices of all locations at once. Those that are no uniform's are an error to ask
    # for, and may be anything.
    chosen = np.zeros(count, np.uint32)
    for place in range(count):
        now = gl.get_uniform_subroutineuiv(stage, place)
        chosen[place] = 0 if gl.get_error() else now[0]
    chosen[location] = index
    gl.uniform_subroutinesuiv(stage, count, chosen)
