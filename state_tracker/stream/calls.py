"""The calls that become commands, and the state that each of them sets.

Word 0 of a command is the number of its function in `CALLS`, the following words are the arguments,
and from byte `PAYLOAD` on there is the data that a pointer pointed at, or a uniform's values.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function

if TYPE_CHECKING:
    from gallette.state_tracker.stream.states import States

Ints = npt.NDArray[np.int64]

COMMAND_BYTES = 128
PAYLOAD = 32
_NO_NAME = 1 << 33
HASHED_WORDS = 8
MOST_DRAW_BUFFERS = 8


class Role(Enum):
    """The role of a call in the stream."""

    STATE = auto()
    UNIFORM = auto()
    DRAW = auto()
    CLEAR = auto()
    WRITE = auto()
    TEXELS = auto()
    QUERY = auto()
    OLD = auto()


class Family(Enum):
    """State of one kind. Each call of a family sets one or more of its slots, as a whole."""

    PROGRAM = auto()
    VERTEX_ARRAY = auto()
    ATTRIBUTE = auto()
    ATTRIBUTE_ENABLED = auto()
    ATTRIBUTE_DIVISOR = auto()
    TEXTURE = auto()
    SAMPLER = auto()
    TEXTURE_PARAMETER = auto()
    SAMPLER_PARAMETER = auto()
    CAPABILITY = auto()
    DRAW_FRAMEBUFFER = auto()
    DRAW_BUFFERS = auto()
    INDEXED_BUFFER = auto()
    ELEMENT_BUFFER = auto()
    VIEWPORT = auto()
    SCISSOR = auto()
    DEPTH_RANGE = auto()
    BLEND_FUNC = auto()
    BLEND_EQUATION = auto()
    BLEND_COLOR = auto()
    COLOR_MASK = auto()
    DEPTH_FUNC = auto()
    DEPTH_MASK = auto()
    STENCIL_FUNC = auto()
    STENCIL_OP = auto()
    STENCIL_MASK = auto()
    CULL_FACE = auto()
    FRONT_FACE = auto()
    POLYGON_OFFSET = auto()
    LINE_WIDTH = auto()
    POINT_SIZE = auto()
    RESTART_INDEX = auto()
    POLYGON_MODE = auto()
    LOGIC_OP = auto()
    PROVOKING_VERTEX = auto()
    # Of the compatibility profile:
    TEXTURE_ENV = auto()
    SHADE_MODEL = auto()
    ALPHA_FUNC = auto()
    HINT = auto()
    # No draw depends on these:
    ACTIVE_TEXTURE = auto()
    CLIENT_ACTIVE_TEXTURE = auto()
    BOUND_BUFFER = auto()
    READ_FRAMEBUFFER = auto()
    READ_BUFFER = auto()
    CLAMP_COLOR = auto()
    PIXEL_STORE = auto()
    # Only clears do.
    CLEAR_COLOR = auto()
    CLEAR_DEPTH = auto()
    CLEAR_STENCIL = auto()

    @property
    def seen_by_draws(self) -> bool:
        return self.value < Family.ACTIVE_TEXTURE.value

    @property
    def seen_by_clears(self) -> bool:
        return self.seen_by_draws or self.value >= Family.CLEAR_COLOR.value


def distinct(values: Ints) -> list[int]:
    """The distinct values of an array, ascending. (np.unique would import all of numpy.ma.)"""
    found = np.sort(values)
    kept = np.ones(len(found), np.bool_)
    np.not_equal(found[1:], found[:-1], out=kept[1:])
    numbers: list[int] = found[kept].tolist()
    return numbers


def slot_of(family: Family, part: Any = 0) -> Any:
    """The number of a slot: a part of a family, such as one capability."""
    return part << 8 | family.value


Slots = Callable[[Family, Ints, "Selected"], list[Ints]]
"""For commands (a row of words each): their slots, as one or more columns; -1 for none."""


class Selected:
    """The current selection (such as the active unit) at some commands, computed on demand."""

    def __init__(self, states: States, at: Ints) -> None:
        self._states, self._at = states, at

    @property
    def unit(self) -> Ints:
        return self._states.unit(self._at)

    @property
    def client_unit(self) -> Ints:
        return self._states.client_unit(self._at)

    @property
    def framebuffer(self) -> Ints:
        return self._states.framebuffer(self._at)

    @property
    def read_framebuffer(self) -> Ints:
        return self._states.read_framebuffer(self._at)

    @property
    def vertex_array(self) -> Ints:
        return self._states.vertex_array(self._at)

    @property
    def array_buffer(self) -> Ints:
        return self._states.buffer(int(GL.ARRAY_BUFFER), self._at)

    def texture(self, targets: Ints) -> Ints:
        """A number for the texture that is bound to each command's target of the active unit."""
        found = np.zeros(len(targets), np.int64)
        for target in distinct(targets):
            names = self._states.texture(target, self._at)
            names = np.where(names == 0, _NO_NAME | target, names)  # each target has a texture 0
            found = np.where(targets == target, names, found)
        return found


def whole(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    """The only slot of a family."""
    return [np.full(len(rows), slot_of(family), np.int64)]


def by_first(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    """The slot given by the first argument."""
    return [slot_of(family, rows[:, 1])]


_UNITS = 31
"""More units than there are texture coordinates."""

_OF_UNIT = np.zeros(1 << 16, np.bool_)
"""By capability: whether each texture unit has it for itself."""
_OF_UNIT[[
    *(GL.TEXTURE_1D, GL.TEXTURE_2D, GL.TEXTURE_3D, GL.TEXTURE_CUBE_MAP, GL.TEXTURE_RECTANGLE),
    *(GL.TEXTURE_GEN_S, GL.TEXTURE_GEN_T, GL.TEXTURE_GEN_R, GL.TEXTURE_GEN_Q),
]] = True  # fmt: skip


def _capability(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    caps = rows[:, 1]
    of_unit = _OF_UNIT[caps & 0xFFFF]
    if not of_unit.any():
        return [slot_of(family, caps)]
    return [slot_of(family, np.where(of_unit, selected.unit << 32, 0) | caps)]


def _texture_env(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    name = (rows[:, 1] & 0xFFFF) << 16 | rows[:, 2] & 0xFFFF
    return [slot_of(family, selected.unit << 32 | name)]


def _attribute(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    return [slot_of(family, selected.vertex_array << 16 | rows[:, 1] & 0xFFFF)]


def _array(array: int) -> Slots:
    """Attributes of fixed function have the numbers of their arrays: no generic one has these."""

    def found(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
        return _arrays(family, np.full(len(rows), array, np.int64), selected)

    return found


def _named_array(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    return _arrays(family, rows[:, 1] & 0xFFFF, selected)


def _arrays(family: Family, arrays: Ints, selected: Selected) -> list[Ints]:
    of_unit = arrays == GL.TEXTURE_COORD_ARRAY
    units = np.where(of_unit, (selected.client_unit & _UNITS) << 48, 0) if of_unit.any() else 0
    return [slot_of(family, units | selected.vertex_array << 16 | arrays)]


def _texture(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    return [slot_of(family, selected.unit << 32 | rows[:, 1])]


def _texture_parameter(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    return [slot_of(family, selected.texture(rows[:, 1]) << 16 | rows[:, 2])]


def _sampler_parameter(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    return [slot_of(family, rows[:, 1] << 16 | rows[:, 2])]


def _framebuffer(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    target = rows[:, 1]
    drawn, read = slot_of(family), slot_of(Family.READ_FRAMEBUFFER)
    return [
        np.where(target != GL.READ_FRAMEBUFFER, drawn, -1),
        np.where(target != GL.DRAW_FRAMEBUFFER, read, -1),
    ]


def _draw_buffers(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    return [slot_of(family, selected.framebuffer)]


def _read_buffer(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    return [slot_of(family, selected.read_framebuffer)]


def _buffer(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    target = rows[:, 1]
    bound = slot_of(family, target)
    if not (target == GL.ELEMENT_ARRAY_BUFFER).any():
        return [bound]
    elements = slot_of(Family.ELEMENT_BUFFER, selected.vertex_array)
    return [np.where(target == GL.ELEMENT_ARRAY_BUFFER, elements, bound)]


def _indexed_buffer(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    target, index = rows[:, 1], rows[:, 2]
    return [slot_of(Family.INDEXED_BUFFER, target << 32 | index), slot_of(family, target)]


def _all_masks(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    slots = slot_of(family, np.arange(MOST_DRAW_BUFFERS))
    return list(slots.repeat(len(rows)).reshape(len(slots), -1))


def _both_faces(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    return [np.full(len(rows), slot_of(family, face), np.int64) for face in range(2)]


def _one_face(family: Family, rows: Ints, selected: Selected) -> list[Ints]:
    face = rows[:, 1]
    front, back = slot_of(family, 0), slot_of(family, 1)
    return [np.where(face != GL.BACK, front, -1), np.where(face != GL.FRONT, back, -1)]


_SETS: dict[str, tuple[Family, Slots]] = {
    "UseProgram": (Family.PROGRAM, whole),
    "BindVertexArray": (Family.VERTEX_ARRAY, whole),
    "VertexAttribPointer": (Family.ATTRIBUTE, _attribute),
    "VertexAttribIPointer": (Family.ATTRIBUTE, _attribute),
    "EnableVertexAttribArray": (Family.ATTRIBUTE_ENABLED, _attribute),
    "DisableVertexAttribArray": (Family.ATTRIBUTE_ENABLED, _attribute),
    "VertexAttribDivisor": (Family.ATTRIBUTE_DIVISOR, _attribute),
    "ActiveTexture": (Family.ACTIVE_TEXTURE, whole),
    "BindTexture": (Family.TEXTURE, _texture),
    "BindSampler": (Family.SAMPLER, by_first),
    "TexParameteri": (Family.TEXTURE_PARAMETER, _texture_parameter),
    "TexParameterf": (Family.TEXTURE_PARAMETER, _texture_parameter),
    "SamplerParameteri": (Family.SAMPLER_PARAMETER, _sampler_parameter),
    "SamplerParameterf": (Family.SAMPLER_PARAMETER, _sampler_parameter),
    "Enable": (Family.CAPABILITY, _capability),
    "Disable": (Family.CAPABILITY, _capability),
    "BindFramebuffer": (Family.DRAW_FRAMEBUFFER, _framebuffer),
    "DrawBuffers": (Family.DRAW_BUFFERS, _draw_buffers),
    "ReadBuffer": (Family.READ_BUFFER, _read_buffer),
    "ClampColor": (Family.CLAMP_COLOR, by_first),
    "BindBuffer": (Family.BOUND_BUFFER, _buffer),
    "BindBufferBase": (Family.BOUND_BUFFER, _indexed_buffer),
    "BindBufferRange": (Family.BOUND_BUFFER, _indexed_buffer),
    "Viewport": (Family.VIEWPORT, whole),
    "Scissor": (Family.SCISSOR, whole),
    "DepthRange": (Family.DEPTH_RANGE, whole),
    "DepthRangef": (Family.DEPTH_RANGE, whole),
    "BlendFunc": (Family.BLEND_FUNC, whole),
    "BlendFuncSeparate": (Family.BLEND_FUNC, whole),
    "BlendEquation": (Family.BLEND_EQUATION, whole),
    "BlendEquationSeparate": (Family.BLEND_EQUATION, whole),
    "BlendColor": (Family.BLEND_COLOR, whole),
    "ColorMask": (Family.COLOR_MASK, _all_masks),
    "ColorMaski": (Family.COLOR_MASK, by_first),
    "DepthFunc": (Family.DEPTH_FUNC, whole),
    "DepthMask": (Family.DEPTH_MASK, whole),
    "StencilFunc": (Family.STENCIL_FUNC, _both_faces),
    "StencilFuncSeparate": (Family.STENCIL_FUNC, _one_face),
    "StencilOp": (Family.STENCIL_OP, _both_faces),
    "StencilOpSeparate": (Family.STENCIL_OP, _one_face),
    "StencilMask": (Family.STENCIL_MASK, _both_faces),
    "StencilMaskSeparate": (Family.STENCIL_MASK, _one_face),
    "CullFace": (Family.CULL_FACE, whole),
    "FrontFace": (Family.FRONT_FACE, whole),
    "PolygonOffset": (Family.POLYGON_OFFSET, whole),
    "LineWidth": (Family.LINE_WIDTH, whole),
    "PointSize": (Family.POINT_SIZE, whole),
    "PrimitiveRestartIndex": (Family.RESTART_INDEX, whole),
    "PolygonMode": (Family.POLYGON_MODE, _one_face),
    "LogicOp": (Family.LOGIC_OP, whole),
    "ProvokingVertex": (Family.PROVOKING_VERTEX, whole),
    "ClientActiveTexture": (Family.CLIENT_ACTIVE_TEXTURE, whole),
    "VertexPointer": (Family.ATTRIBUTE, _array(int(GL.VERTEX_ARRAY))),
    "NormalPointer": (Family.ATTRIBUTE, _array(int(GL.NORMAL_ARRAY))),
    "ColorPointer": (Family.ATTRIBUTE, _array(int(GL.COLOR_ARRAY))),
    "TexCoordPointer": (Family.ATTRIBUTE, _array(int(GL.TEXTURE_COORD_ARRAY))),
    "EnableClientState": (Family.ATTRIBUTE_ENABLED, _named_array),
    "DisableClientState": (Family.ATTRIBUTE_ENABLED, _named_array),
    "TexEnvi": (Family.TEXTURE_ENV, _texture_env),
    "TexEnvf": (Family.TEXTURE_ENV, _texture_env),
    "ShadeModel": (Family.SHADE_MODEL, whole),
    "AlphaFunc": (Family.ALPHA_FUNC, whole),
    "Hint": (Family.HINT, by_first),
    "PixelStorei": (Family.PIXEL_STORE, by_first),
    "ClearColor": (Family.CLEAR_COLOR, whole),
    "ClearDepth": (Family.CLEAR_DEPTH, whole),
    "ClearDepthf": (Family.CLEAR_DEPTH, whole),
    "ClearStencil": (Family.CLEAR_STENCIL, whole),
}
"""By function: one of the families it sets, equal for all functions that share slots with it, and
the function that finds its slots.
"""

_ROLES = {
    "DrawArrays": Role.DRAW,
    "DrawArraysInstanced": Role.DRAW,
    "DrawElements": Role.DRAW,
    "DrawElementsInstanced": Role.DRAW,
    "DrawElementsBaseVertex": Role.DRAW,
    "DrawElementsInstancedBaseVertex": Role.DRAW,
    "DrawElementsInstancedBaseInstance": Role.DRAW,
    "DrawArraysInstancedBaseInstance": Role.DRAW,
    "DrawRangeElements": Role.DRAW,
    "Clear": Role.CLEAR,
    "BufferSubData": Role.WRITE,
    "TexSubImage2D": Role.TEXELS,
    "BeginQuery": Role.QUERY,
    "EndQuery": Role.QUERY,
}


_OLD = re.compile(
    r"(Vertex|(Secondary)?Color|Normal|(Multi)?TexCoord)[1-4](f|d|ub)v?|(Vertex|TexCoord)[1-4]iv?"
    r"|Begin|End|CallList"
    r"|(Push|Pop)Matrix|LoadIdentity|(Translate|Rotate|Scale)[fd]|(Load|Mult)Matrix[fd]"
    r"|MatrixMode|Ortho|Frustum|Rect[fi]|Materialfv?"
)
"""Functions of the compatibility profile that old programs call most: thousands in a frame."""
_OF_CLIENTS = (
    *("VertexPointer", "NormalPointer", "ColorPointer", "TexCoordPointer"),
    *("EnableClientState", "DisableClientState", "DrawArrays", "DrawElements"),
)
"""Functions whose commands are others while arrays lie in the application's memory."""
_NOT_IN_RUNS = re.compile(r"MatrixMode|Ortho|Frustum")
_VECTOR = re.compile(r"[A-Za-z]+([1-4])(f|d|ub|i)v?")
_LETTERS = {"f": "f", "d": "d", "ub": "B", "i": "i"}

_KEEPS_STATE = re.compile(
    r"Get(?!Texture(Sampler)?Handle).*|Is[A-Z].*|ReadPixels|Flush|Finish|Clear|ClearBuffer.*"
    r"|BlitFramebuffer|(Multi)?Draw(Range)?(Arrays|Elements).*|(Named)?Buffer(Sub)?Data|FenceSync|DeleteSync"
    r"|ClientWaitSync|WaitSync|(Begin|End)Query|(Gen|Delete)Queries|QueryCounter|MapBuffer.*|UnmapBuffer"
    r"|(Copy)?TexSubImage[123]D|Uniform([234].*|1(f|ui).*|Matrix.*)"
    r"|Rect[sifd]v?|MatrixMode|(Load|Mult)(Transpose)?Matrix[fd]|Ortho|Frustum|(Material|Light(Model)?)[fi]v?"
    r"|Begin|End|(Vertex|(Secondary)?Color|Normal|(Multi)?TexCoord|FogCoord|VertexAttrib[IL]?)P?[1-4].*"
    r"|ColorMaterial|Fog(Coord)?[fid]v?|TexGen[fid]v?|(Push|Pop)Attrib|RasterPos.*|WindowPos.*|Bitmap|DrawPixels"
)


def keeps_state(function: Function) -> bool:
    """Whether a function leaves the stream's state unchanged.

    It may change the contents of buffers, textures, framebuffers and uniforms; other storage of a
    buffer invalidates the driver's tokens (`ShareGroup.mark`). A function that sets
    a slot does not: called outside the stream, it makes the recorded value of that slot wrong.
    """
    core = FUNCTIONS.alias(function) or function
    return _KEEPS_STATE.fullmatch(core.name) is not None


_WORD = struct.Struct("<q")
_REAL = {ctypes.c_float: "f4x", ctypes.c_double: "d"}


@dataclass(frozen=True)
class Call:
    """A function whose calls become commands."""

    number: int
    function: Function
    role: Role
    group: Family | None = None
    slots: Slots | None = None
    # Of a uniform, a vertex or an attribute: letter, rows and columns.
    kind: tuple[str, int, int] = ("", 0, 0)
    # Whether arrays are in the application's memory, and copied for draws (`array_stubs`).
    of_clients: bool = False

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def payload(self) -> int:
        """The size in bytes of the uniform, matrix or attribute that a pointer refers to."""
        return struct.calcsize(self.kind[0]) * self.kind[1] * self.kind[2]

    @cached_property
    def copies(self) -> bool:
        """Whether it is a draw whose client arrays were copied."""
        return self.of_clients and self.name.startswith("Draw")

    @property
    def specifies(self) -> bool:
        """Whether it specifies vertices of the compatibility profile, or their attributes."""
        if self.role is not Role.OLD:
            return False
        sets = self.kind[2] == 1 and not self.sets_material
        return self.is_primitive or self.name in ("Begin", "End") or sets

    @property
    def is_primitive(self) -> bool:
        """Whether it specifies a whole primitive."""
        return self.copies or self.name.startswith("Rect")

    @property
    def sets_arrays(self) -> bool:
        """Whether it sets where the client arrays of fixed function are."""
        return self.of_clients and not self.copies

    @property
    def changes_arrays(self) -> bool:
        """Whether it may change the vertex array, or where its pointers point. It becomes a command
        only if no client arrays are enabled.
        """
        return self.group in (
            *(Family.VERTEX_ARRAY, Family.ATTRIBUTE, Family.ATTRIBUTE_ENABLED),
            *(Family.ATTRIBUTE_DIVISOR, Family.BOUND_BUFFER),
        )

    @property
    def sets_material(self) -> bool:
        """Whether it sets a material of the compatibility profile."""
        return self.name.startswith("Material")

    @property
    def moves(self) -> bool:
        """Whether it changes matrices, selects those that are changed, or calls a list."""
        sets = self.specifies or self.sets_arrays or self.sets_material
        return self.role is Role.OLD and not sets

    @property
    def plays(self) -> bool:
        """Whether it can be part of a run of calls that change one stack or call lists."""
        return self.moves and _NOT_IN_RUNS.fullmatch(self.name) is None

    @cached_property
    def c_name(self) -> str:
        """The name with `gl`."""
        return self.function.c_name

    @cached_property
    def pointer(self) -> bool:
        """Whether the last argument is a pointer to data that the payload, or memory beside it,
        holds.
        """
        copied = self.role is not Role.DRAW and not self.points_into_buffer
        copied = copied and not self.of_clients
        return copied and any(p.stars for p in self.function.params)

    @property
    def points_into_buffer(self) -> bool:
        """Whether the last argument is an offset into the array buffer."""
        return self.group is Family.ATTRIBUTE

    @cached_property
    def stands_alone(self) -> bool:
        """Whether it sets one slot, which no other function sets, to its one argument.

        Repeating the last such call then has no effect.
        """
        sharing = [name for name, (group, _) in _SETS.items() if group is self.group]
        one = len(self.function.params) == 1 and self.function.params[0].ctype not in _REAL
        return self.slots is whole and sharing == [self.name] and one

    @cached_property
    def words(self) -> int:
        """The number of arguments stored as words of the command."""
        if self.role is Role.UNIFORM and not self.pointer:
            return 1
        return len(self.function.params) - self.points_at_payload

    @property
    def begins(self) -> bool:
        """Whether word 2 is where it begins: a draw's first vertex, or the offset of a write."""
        return self.role is Role.WRITE or self.name.startswith("DrawArrays")

    @cached_property
    def hashed(self) -> list[int]:
        """The words that identify a call: neither the first vertex of a draw nor copied data."""
        if self.role is Role.UNIFORM:
            return [1, *[2] * self.pointer]
        pointer = self.pointer and not self.points_at_payload
        words = [*range(1, min(1 + self.words - pointer, HASHED_WORDS))]
        if self.begins and self.role is Role.DRAW:
            words.remove(2)
        if self.name == "DrawBuffers":
            words += range(PAYLOAD // 8, HASHED_WORDS)
        return words

    @cached_property
    def points_at_payload(self) -> bool:
        """Whether the address of the payload is its last argument. Several values of a uniform, and
        what is too large, are beside it, and their address is in a word.
        """
        fits = self.payload <= COMMAND_BYTES - PAYLOAD
        return self.pointer and self.role not in (Role.WRITE, Role.TEXELS) and fits

    @cached_property
    def _layout(self) -> struct.Struct:
        letters = ""
        for param in self.function.params[: self.words]:
            letters += _REAL.get(param.ctype, "q")
        if self.role is Role.UNIFORM and not self.pointer:
            letter, rows, _ = self.kind
            letters += f"{PAYLOAD - 16}x{rows}{letter}"
        return struct.Struct("<8x" + letters)

    def write(self, commands: bytearray, offset: int, args: tuple[Any, ...]) -> bool:
        """Write a command that sets state, or is of the compatibility profile; false if these are
        not its arguments. Data is given as bytes.
        """
        if self.role not in (Role.STATE, Role.OLD) or self.of_clients:
            return False
        if self.pointer and not self.points_at_payload:
            return False
        data: bytes = args[-1] if self.pointer and args else b""
        size = self.payload * self.pointer
        if self.name == "Materialfv" and args[1:2] == (GL.SHININESS,):
            size = 4
        if len(args) != len(self.function.params) or len(data) != size:
            return False
        try:
            self._layout.pack_into(commands, offset, *args[: self.words])
        except (struct.error, OverflowError):
            return False
        _WORD.pack_into(commands, offset, self.number)
        commands[offset + PAYLOAD : offset + PAYLOAD + len(data)] = data
        return not self.pointer or len(data) > 0

    def arguments(self, commands: memoryview, offset: int, address: int) -> tuple[Any, ...]:
        """The arguments of the call recorded at that offset; the commands are at `address` in
        memory.
        """
        found: tuple[Any, ...] = self._layout.unpack_from(commands, offset)
        if self.role is Role.UNIFORM and self.pointer and found[1] != 1:
            found += _WORD.unpack_from(commands, offset + 8 * (1 + self.words))
        elif self.points_at_payload:
            found += (address + offset + PAYLOAD,)
        return found


def _calls() -> list[Call]:
    found: list[Call] = []

    def add(name: str, role: Role, **more: Any) -> None:
        found.append(Call(len(found), FUNCTIONS[name], role, **more))

    for name, (group, slots) in _SETS.items():
        add(name, Role.STATE, group=group, slots=slots)
    for name, role in _ROLES.items():
        add(name, role)
    for rows in range(1, 5):
        for suffix, letter in (("f", "f"), ("i", "i"), ("ui", "I")):
            for end in ("", "v"):
                add(f"Uniform{rows}{suffix}{end}", Role.UNIFORM, kind=(letter, rows, 1))
    for columns in range(2, 5):
        for rows in range(2, 5):
            shape = str(columns) if columns == rows else f"{columns}x{rows}"
            add(f"UniformMatrix{shape}fv", Role.UNIFORM, kind=("f", rows, columns))
    for name in FUNCTIONS:
        if _OLD.fullmatch(name):
            kind = (name[-1], 4, 4) if name[4:-1] == "Matrix" else ("", 0, 0)
            if name.startswith("Rect"):
                kind = (name[-1], 4, 1)
            elif name == "Materialfv":
                kind = ("f", 4, 1)
            elif vector := _VECTOR.fullmatch(name):
                kind = (_LETTERS[vector[2]], int(vector[1]), 1)
            add(name, Role.OLD, kind=kind)
    for name in _OF_CLIENTS:
        add(name, Role.OLD, of_clients=True)
    return found


CALLS = _calls()
NUMBERS = {call.name: call.number for call in CALLS if not call.of_clients}
"""The number of a function, by its name without `gl`."""

OF_CLIENTS = {call.name: call.number for call in CALLS if call.of_clients}
"""The number of a call about arrays in the application's memory, by the function's name."""

IN_LIST = 2
"""The word of a glBegin that says whether a list called it."""

CLIENT_ARRAYS = 4
"""Client arrays that stubs copy, in the order of `array_stubs`."""
COPY, FORMAT, VERTICES = 5, 9, 13
"""The words of such a draw from which on there are the address of each copy, 0 for none, and its
format: stride << 32 | type << 8 | size; and the word with the number of copied vertices.
"""
