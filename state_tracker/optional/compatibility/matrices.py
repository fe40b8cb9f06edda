"""The matrix stacks of the compatibility profile, and the state that they transform."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.rasterization import CLIP_PLANES
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    GLError,
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Matrix = npt.NDArray[np.float64]
TEXTURE_UNITS = 8
_LAST = (0.0, 0.0, 0.0, 1.0)
_DEPTHS: dict[int, int] = {GL.MODELVIEW: 32, GL.PROJECTION: 32, GL.TEXTURE: 10}


def most_matrices(mode: int) -> int:
    """How many matrices a stack may have, by the matrix mode."""
    return _DEPTHS.get(mode, 4)


Which = tuple[int, int]
"""A stack of matrices: its matrix mode, and the texture unit or 0."""

Cells = tuple[float, ...]
"""The 16 numbers of a matrix, row by row: Python multiplies these faster than small arrays."""

_IDENTITY: Cells = (*(1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0), *_LAST)
_FLOATS = struct.Struct("16f")


def rounded_cells(cells: Cells) -> Cells:
    """The numbers rounded to the precision of glGetFloatv."""
    try:
        return _FLOATS.unpack(_FLOATS.pack(*cells))
    except OverflowError:
        with np.errstate(over="ignore"):
            return tuple(rounded(np.array(cells)).tolist())


def cell_product(first: Cells, second: Cells) -> Cells:
    """What a current matrix becomes by a multiplication: the bits of `product`."""
    a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p = first  # noqa: E741
    s0, s1, s2, s3, t0, t1, t2, t3, u0, u1, u2, u3, v0, v1, v2, v3 = second
    return rounded_cells(
        (
            a * s0 + b * t0 + c * u0 + d * v0,
            a * s1 + b * t1 + c * u1 + d * v1,
            a * s2 + b * t2 + c * u2 + d * v2,
            a * s3 + b * t3 + c * u3 + d * v3,
            e * s0 + f * t0 + g * u0 + h * v0,
            e * s1 + f * t1 + g * u1 + h * v1,
            e * s2 + f * t2 + g * u2 + h * v2,
            e * s3 + f * t3 + g * u3 + h * v3,
            i * s0 + j * t0 + k * u0 + l * v0,
            i * s1 + j * t1 + k * u1 + l * v1,
            i * s2 + j * t2 + k * u2 + l * v2,
            i * s3 + j * t3 + k * u3 + l * v3,
            m * s0 + n * t0 + o * u0 + p * v0,
            m * s1 + n * t1 + o * u1 + p * v1,
            m * s2 + n * t2 + o * u2 + p * v2,
            m * s3 + n * t3 + o * u3 + p * v3,
        )
    )


class MatrixStack:
    """A stack of matrices `[row, column]`, the current one last. Most are only multiplied further,
    so each becomes an array when one is asked for.
    """

    def __init__(self, matrices: Iterable[Matrix] = ()) -> None:
        self._arrays: list[Matrix | None] = list(matrices)
        self._cells: list[Cells | None] = [None] * len(self._arrays)
        if not self._cells:
            self._arrays, self._cells = [None], [_IDENTITY]

    def __len__(self) -> int:
        return len(self._arrays)

    def __getitem__(self, number: int) -> Matrix:
        found = self._arrays[number]
        if found is None:
            found = self._arrays[number] = np.array(self._cells[number]).reshape(4, 4)
        return found

    def __iter__(self) -> Iterator[Matrix]:
        return (self[number] for number in range(len(self)))

    @property
    def top(self) -> Cells:
        """The current matrix."""
        found = self._cells[-1]
        if found is None:
            found = self._cells[-1] = tuple(self[-1].reshape(-1).tolist())
        return found

    @top.setter
    def top(self, cells: Cells) -> None:
        self._arrays[-1], self._cells[-1] = None, cells

    def push(self) -> None:
        """Add another matrix, equal to the current one."""
        self._arrays.append(self._arrays[-1])
        self._cells.append(self._cells[-1])

    def pop(self) -> None:
        self._arrays.pop()
        self._cells.pop()


class MatrixState:
    """Stacks of 4x4 matrices acting on column vectors."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self.mode: int = GL.MODELVIEW
        self.modelview, self.projection = MatrixStack(), MatrixStack()
        self.texture = [MatrixStack() for _ in range(TEXTURE_UNITS)]
        self.more: dict[int, MatrixStack] = {}  # stacks of extensions, by mode
        self.made: list[tuple[Cells, bool]] | None = None  # notes what `multiply` does
        # Of matrices, which are replaced and never changed: their product, and that for normals.
        self._product: tuple[Matrix, Matrix, Matrix] | None = None
        self._normal: tuple[Matrix, Matrix] | None = None

    @property
    def selected(self) -> Which:
        """Which stack is the current one."""
        unit = self._ctx.textures.active if self.mode == GL.TEXTURE else 0
        if unit >= TEXTURE_UNITS:
            raise invalid_operation("this texture unit has no matrix")
        return self.mode, unit

    def __getitem__(self, which: Which) -> MatrixStack:
        mode, unit = which
        if mode == GL.MODELVIEW:
            return self.modelview
        if mode == GL.PROJECTION:
            return self.projection
        return self.texture[unit] if mode == GL.TEXTURE else self.more[mode]

    def __setitem__(self, which: Which, stack: MatrixStack) -> None:
        mode, unit = which
        if mode == GL.MODELVIEW:
            self.modelview = stack
        elif mode == GL.PROJECTION:
            self.projection = stack
        elif mode == GL.TEXTURE:
            self.texture[unit] = stack
        else:
            self.more[mode] = stack
        self._ctx.dirty |= Dirty.MATRICES | Dirty.CLIP

    @property
    def current(self) -> MatrixStack:
        """The current stack."""
        return self[self.selected]

    @current.setter
    def current(self, stack: MatrixStack) -> None:
        self[self.selected] = stack

    def set_top(self, matrix: Cells) -> None:
        """Replace the current matrix, rounded to the precision of glGetFloatv.

        Reading a matrix and loading it again must not change it: otherwise a second pass with
        GL_EQUAL would miss the depths of the first.
        """
        self.multiply(matrix, replace=True)

    def multiply(self, matrix: Cells, replace: bool = False) -> None:
        stack = self.current
        stack.top = rounded_cells(matrix) if replace else cell_product(stack.top, matrix)
        if self.made is not None:
            self.made.append((matrix, replace))
        self._ctx.dirty |= Dirty.MATRICES | Dirty.CLIP

    @property
    def textures(self) -> tuple[Matrix, ...]:
        """The matrix of each texture unit."""
        return tuple([stack[-1] for stack in self.texture])

    @property
    def modelview_projection(self) -> Matrix:
        """Their product; the caller ignores numbers that are too large."""
        first, second = self.projection[-1], self.modelview[-1]
        known = self._product
        if known is None or known[0] is not first or known[1] is not second:
            known = self._product = first, second, first @ second
        return known[2]

    @property
    def normal(self) -> Matrix:
        """The matrix that normals are multiplied by."""
        modelview, known = self.modelview[-1], self._normal
        if known is None or known[0] is not modelview:
            known = self._normal = modelview, normal_matrix(modelview)
        return known[1]

    def set_clip_plane(self, index: int, equation: npt.NDArray[Any]) -> None:
        """Store a plane, given in object coordinates, in eye coordinates."""
        eye = equation.astype(np.float64) @ inverse(self.modelview[-1])
        self._ctx.raster.clip_planes[index] = tuple(float(v) for v in eye)
        self._ctx.dirty |= Dirty.CLIP | Dirty.VALUES

    def pipe_clip_planes(self) -> list[tuple[float, float, float, float]]:
        """Planes for the driver, in eye coordinates.

        They apply to gl_ClipVertex, which fixed function writes; for a shader that does not write
        it they apply to gl_Position, as GLSL 1.30 says.
        """
        planes = self._ctx.raster.clip_planes
        return [(float(a), float(b), float(c), float(d)) for a, b, c, d in planes]

    @property
    def normal_scale(self) -> Matrix:
        """The factor of GL_RESCALE_NORMAL, which undoes a uniform scale."""
        x, y, z = np.moveaxis(normal_matrix(self.modelview[-1])[..., 2], -1, 0)
        length = np.sqrt(x * x + y * y + z * z)
        scale: Matrix = np.divide(1.0, length, out=np.ones_like(length), where=length != 0)
        return scale


def rounded(matrix: Matrix) -> Matrix:
    """Matrices in the precision of glGetFloatv; the caller ignores numbers that are too large."""
    return matrix.astype(np.float32).astype(np.float64)


def product(first: Matrix, second: Matrix) -> Matrix:
    """What current matrices become by multiplications: the bits of `cell_product`. The terms of
    each sum are added in order, as those of `@` may not be.
    """
    return rounded(np.einsum("nij,njk->nik", first, second))


def inverse(matrix: Matrix) -> Matrix:
    """The inverse, or the identity for a singular matrix (GL leaves the result undefined)."""
    try:
        found: Matrix = np.asarray(np.linalg.inv(matrix), np.float64)
    except np.linalg.LinAlgError:
        return np.eye(4) if matrix.ndim == 2 else np.array([inverse(each) for each in matrix])
    return found


def normal_matrix(matrix: Matrix) -> Matrix:
    """The inverse of the upper left 3x3 matrix, transposed; the identity for a singular one."""
    rows = matrix.tolist() if matrix.ndim == 2 else matrix.transpose(1, 2, 0)
    (a, b, c, _), (d, e, f, _), (g, h, i, _), _ = rows
    x, y, z = e * i - f * h, f * g - d * i, d * h - e * g
    scale = a * x + b * y + c * z
    found = np.array(
        (
            (x, y, z),
            (c * h - b * i, a * i - c * g, b * g - a * h),
            (b * f - c * e, c * d - a * f, a * e - b * d),
        )
    )
    if matrix.ndim == 2:
        return found / scale if scale else np.eye(3)
    return np.where(scale, found / np.where(scale, scale, 1.0), np.eye(3)[..., None]).transpose(
        2, 0, 1
    )


@entry
def matrix_mode(ctx: Context, mode: int) -> None:
    if mode not in (GL.MODELVIEW, GL.PROJECTION, GL.TEXTURE, *ctx.matrices.more):
        raise invalid_enum(mode, "matrix mode")
    ctx.matrices.mode = mode


@entry
def load_identity(ctx: Context) -> None:
    ctx.matrices.set_top(_IDENTITY)


@entry
def push_matrix(ctx: Context) -> None:
    stack = ctx.matrices.current
    if len(stack) >= most_matrices(ctx.matrices.mode):
        raise GLError(GL.STACK_OVERFLOW, "the matrix stack is full")
    stack.push()


@entry
def pop_matrix(ctx: Context) -> None:
    stack = ctx.matrices.current
    if len(stack) == 1:
        raise GLError(GL.STACK_UNDERFLOW, "the matrix stack has one matrix left")
    stack.pop()
    ctx.dirty |= Dirty.MATRICES | Dirty.CLIP


def _load(gl_type: str, transpose: bool, multiply: bool) -> Any:
    def call(ctx: Context, m: Pointer) -> None:
        given = tuple(read_array(m, gl_type, 16).tolist())
        if not transpose:  # GL's matrices are column-major
            given = (*given[::4], *given[1::4], *given[2::4], *given[3::4])
        if multiply:
            ctx.matrices.multiply(given)
        else:
            ctx.matrices.set_top(given)

    return call


for _suffix, _gl_type in (("f", "float"), ("d", "double")):
    for _verb, _multiply in (("load", False), ("mult", True)):
        register(f"{_verb}_matrix{_suffix}", _load(_gl_type, False, _multiply))
        register(f"{_verb}_transpose_matrix{_suffix}", _load(_gl_type, True, _multiply))


def translation(x: Any, y: Any, z: Any) -> tuple[Any, ...]:
    """The cells, each a number or an array with those of many matrices."""
    return (1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z, *_LAST)


def scaling(x: Any, y: Any, z: Any) -> tuple[Any, ...]:
    return (x, 0.0, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, 0.0, z, 0.0, *_LAST)


def rotation(angle: float, x: float, y: float, z: float) -> tuple[Any, ...]:
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0 or not math.isfinite(angle) or not math.isfinite(length):
        return _IDENTITY
    return _turn(*_turned(angle), x / length, y / length, z / length)


def _turned(angle: float) -> tuple[float, float]:
    return math.cos(math.radians(angle)), math.sin(math.radians(angle))


def _turn(c: Any, s: Any, x: Any, y: Any, z: Any) -> tuple[Any, ...]:
    a, b, d = (1 - c) * x, (1 - c) * y, (1 - c) * z
    return (
        *(c + a * x, a * y - s * z, a * z + s * y, 0.0),
        *(b * x + s * z, c + b * y, b * z - s * x, 0.0),
        *(d * x - s * y, d * y + s * x, c + d * z, 0.0),
        *_LAST,
    )


FACTORS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "Translate": translation,
    "Scale": scaling,
    "Rotate": rotation,
}
"""By function, without the type's letter: the matrix by which it multiplies."""


def factors(name: str, values: Matrix) -> Matrix:
    """The matrices by which several calls of a function multiply: the bits of single calls."""
    with np.errstate(all="ignore"):
        if name == "Rotate":
            angle, x, y, z = values.T
            length = np.sqrt(x * x + y * y + z * z)
            turns = (length != 0.0) & np.isfinite(angle) & np.isfinite(length)
            x, y, z = np.where(turns, values[:, 1:].T / np.where(turns, length, 1.0), 0.0)
            c, s = np.array([_turned(each) for each in np.where(turns, angle, 0.0).tolist()]).T
            cells = _turn(c, s, x, y, z)
        else:
            cells = FACTORS[name](*values.T)
    found = np.empty((len(values), 16))
    for number, cell in enumerate(cells):
        found[:, number] = cell
    return found.reshape(-1, 4, 4)


def _multiplying(factor: Callable[..., tuple[Any, ...]]) -> Callable[..., None]:
    return lambda ctx, *values: ctx.matrices.multiply(factor(*values))


for _name, _factor in FACTORS.items():
    for _suffix in "fd":
        register(f"{_name.lower()}{_suffix}", _multiplying(_factor))


def orthogonal(
    left: float, right: float, bottom: float, top: float, near: float, far: float
) -> Cells:
    if left == right or bottom == top or near == far:
        raise invalid_value("an empty volume")
    matrix = np.eye(4)
    for row, (low, high) in enumerate(((left, right), (bottom, top))):
        matrix[row, row] = 2.0 / (high - low)
        matrix[row, 3] = -(high + low) / (high - low)
    matrix[2, 2], matrix[2, 3] = -2.0 / (far - near), -(far + near) / (far - near)
    return tuple(matrix.reshape(-1).tolist())


def perspective(
    left: float, right: float, bottom: float, top: float, near: float, far: float
) -> Cells:
    if near <= 0 or far <= 0 or near == far or left == right or bottom == top:
        raise invalid_value("an empty volume")
    matrix = np.zeros((4, 4))
    matrix[0, 0], matrix[0, 2] = 2 * near / (right - left), (right + left) / (right - left)
    matrix[1, 1], matrix[1, 2] = 2 * near / (top - bottom), (top + bottom) / (top - bottom)
    matrix[2, 2], matrix[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
    matrix[3, 2] = -1.0
    return tuple(matrix.reshape(-1).tolist())


VOLUMES = {"Ortho": orthogonal, "Frustum": perspective}
"""By function: the matrix by which it multiplies; the arguments may be an error."""
for _name, _factor in VOLUMES.items():
    register(_name.lower(), _multiplying(_factor))


def _flat(pick: Any, transpose: bool) -> Any:
    def get(ctx: Context) -> list[float]:
        matrix = pick(ctx)
        return [float(v) for v in (matrix if transpose else matrix.T).reshape(-1)]

    return get


def coordinate_unit(ctx: Context) -> int:
    """The active unit, which must have texture coordinates and a matrix."""
    if ctx.textures.active >= TEXTURE_UNITS:
        raise invalid_operation("the active texture unit has no coordinates")
    return ctx.textures.active


def _texture_matrix(ctx: Context) -> Matrix:
    return ctx.matrices.texture[coordinate_unit(ctx)][-1]


for _name, _pick in (
    ("MODELVIEW", lambda c: c.matrices.modelview[-1]),
    ("PROJECTION", lambda c: c.matrices.projection[-1]),
    ("TEXTURE", _texture_matrix),
):
    gets({f"{_name}_MATRIX": _flat(_pick, False)}, profiles="compat")
    gets({f"TRANSPOSE_{_name}_MATRIX": _flat(_pick, True)}, profiles="compat")
gets(
    {
        "MODELVIEW_STACK_DEPTH": lambda c: len(c.matrices.modelview),
        "PROJECTION_STACK_DEPTH": lambda c: len(c.matrices.projection),
        "TEXTURE_STACK_DEPTH": lambda c: len(c.matrices.texture[coordinate_unit(c)]),
    },
    profiles="compat",
)


@entry
def clip_plane(ctx: Context, plane: int, equation: Pointer) -> None:
    index = plane - GL.CLIP_DISTANCE0
    if not 0 <= index < CLIP_PLANES:
        raise invalid_enum(plane, "clip plane")
    ctx.matrices.set_clip_plane(index, read_array(equation, "double", 4))


@entry
def get_clip_plane(ctx: Context, plane: int) -> list[float]:
    index = plane - GL.CLIP_DISTANCE0
    if not 0 <= index < CLIP_PLANES:
        raise invalid_enum(plane, "clip plane")
    return [float(v) for v in ctx.raster.clip_planes[index]]
