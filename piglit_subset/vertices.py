"""The `[vertex data]` table: a head line of columns, then one row of numbers per vertex.

A column is `name/type/count` (`vertex/float/3`) or `name/type/glsl-type[/matrix column]`
(`m/double/dmat2x3/1`). The rows are stored in one interleaved NumPy record array and one vertex
buffer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.piglit_subset.session import Failure, Session
from gallette.piglit_subset.text import Line, Words, as_array, parser_of
from gallette.state_tracker.entry_points.enums import GL

_TYPES: dict[str, tuple[str, Any]] = {
    "byte": ("BYTE", np.int8),
    "ubyte": ("UNSIGNED_BYTE", np.uint8),
    "short": ("SHORT", np.int16),
    "ushort": ("UNSIGNED_SHORT", np.uint16),
    "int": ("INT", np.int32),
    "uint": ("UNSIGNED_INT", np.uint32),
    "half": ("HALF_FLOAT", np.float16),
    "float": ("FLOAT", np.float32),
    "double": ("DOUBLE", np.float64),
}
_GLSL = re.compile(r"(float|double|int|uint|bool|[diub]?vec[234]|d?mat[234](?:x[234])?)$")


@dataclass(frozen=True, slots=True)
class Column:
    """One attribute (or one column of a matrix attribute) of the table."""

    name: str
    data_type: str
    count: int
    matrix_column: int
    fetch: str  # "float", "int" or "double": the kind of shader input it feeds


def _column(words: Words) -> Column:
    text = words.word("a column")
    parts = text.split("/")
    if len(parts) not in (3, 4):
        raise words.error("a column is name/type/count or name/type/glsl-type[/matrix column]")
    name, data_type, shape = parts[:3]
    if data_type not in _TYPES:
        raise words.error(f"unknown data type {data_type!r} (one of {', '.join(_TYPES)})")
    column = 0
    if len(parts) == 4:
        if not parts[3].isdigit():
            raise words.error(f"the matrix column must be a number, not {parts[3]!r}")
        column = int(parts[3])
    integral = data_type not in ("float", "half", "double")
    if shape.isdigit():
        count = int(shape)
        if not 1 <= count <= 4:
            raise words.error("an attribute has 1 to 4 components")
        fetch = "double" if data_type == "double" else "int" if integral else "float"
        return Column(name, data_type, count, column, fetch)
    if not _GLSL.match(shape):
        raise words.error(f"unknown GLSL type {shape!r}")
    if "mat" in shape:
        count = int(shape[-1])
    else:
        count = int(shape[-1]) if "vec" in shape else 1
    if shape[0] == "d":
        fetch = "double"
    elif shape in ("int", "uint") or shape[0] in "iu":
        fetch = "int"
    else:
        fetch = "float"
    return Column(name, data_type, count, column, fetch)


def parse_vertex_data(lines: list[Line]) -> tuple[list[Column], npt.NDArray[Any]]:
    """The columns and the rows, as a packed record array with fields c0, c1, ..."""
    words = lines[0].words()
    columns = []
    while not words.done:
        columns.append(_column(words))
    dtype = np.dtype([(f"c{i}", _TYPES[c.data_type][1], (c.count,)) for i, c in enumerate(columns)])
    rows = np.zeros(len(lines) - 1, dtype)
    per_row = sum(c.count for c in columns)
    table = [line.words() for line in lines[1:]]
    for line, words in zip(lines[1:], table, strict=True):
        if len(words) != per_row:
            raise line.error(f"a row has {per_row} numbers, this one {len(words)}")
    at = 0
    for i, column in enumerate(columns):
        dtype = _TYPES[column.data_type][1]
        values: list[float] = []
        for words in table:
            words.at = at
            what = f"a number of type {column.data_type}"
            values += words.parsed(parser_of(dtype), column.count, what)
        rows[f"c{i}"] = as_array(values, dtype).reshape(len(rows), column.count)
        at += column.count
    return columns, rows


def bind(session: Session) -> None:
    """Upload the table once and bind the program's attributes to it."""
    gl = session.gl
    if session.vertex_count:
        return
    if not session.test.vertex_data:
        raise Failure("this command needs a [vertex data] section")
    columns, rows = session.test.vertices or parse_vertex_data(session.test.vertex_data)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, rows.nbytes, rows, GL.STATIC_DRAW)
    for i, column in enumerate(columns):
        location = _location(session, column)
        if location < 0:
            continue
        assert rows.dtype.fields is not None
        offset, stride = int(rows.dtype.fields[f"c{i}"][1]), rows.dtype.itemsize
        data_type = int(getattr(GL, _TYPES[column.data_type][0]))
        if column.fetch == "double":
            gl.vertex_attrib_l_pointer(location, column.count, data_type, stride, offset)
        elif column.fetch == "int":
            gl.vertex_attrib_i_pointer(location, column.count, data_type, stride, offset)
        else:
            gl.vertex_attrib_pointer(location, column.count, data_type, 0, stride, offset)
        gl.enable_vertex_attrib_array(location)
    session.vertex_count = len(rows)


def _location(session: Session, column: Column) -> int:
    program = session.stage_programs.get("VERTEX_SHADER", session.program)
    if not program:
        return 0 if column.name in ("vertex", "piglit_vertex") else -1
    if column.name.isdigit():
        return int(column.name) + column.matrix_column
    location = int(session.gl.get_attrib_location(program, column.name))
    if location < 0:
        session.messages.append(f"note: {column.name} is no active attribute")
        return -1
    return location + column.matrix_column
