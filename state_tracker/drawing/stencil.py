"""The stencil test: comparison and operations of each face."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.enums import CompareFunc, StencilOp
from gallette.pipe.state import StencilState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

STENCIL_OPS: dict[int, StencilOp] = {
    GL.KEEP: StencilOp.KEEP,
    GL.ZERO: StencilOp.ZERO,
    GL.REPLACE: StencilOp.REPLACE,
    GL.INCR: StencilOp.INCR,
    GL.DECR: StencilOp.DECR,
    GL.INVERT: StencilOp.INVERT,
    GL.INCR_WRAP: StencilOp.INCR_WRAP,
    GL.DECR_WRAP: StencilOp.DECR_WRAP,
}


@lazy_dataclass()
class Stencil:
    """The stencil test of one face, in GL's names."""

    func: int = GL.ALWAYS
    ref: int = 0
    value_mask: int = 0xFFFFFFFF
    write_mask: int = 0xFFFFFFFF
    fail: int = GL.KEEP
    zfail: int = GL.KEEP
    zpass: int = GL.KEEP


def face_state(stencil: Stencil) -> StencilState:
    """The pipe's state of one face."""
    return StencilState(
        True,
        CompareFunc(stencil.func - GL.NEVER),
        STENCIL_OPS[stencil.fail],
        STENCIL_OPS[stencil.zfail],
        STENCIL_OPS[stencil.zpass],
        stencil.value_mask & 0xFF,
        stencil.write_mask & 0xFF,
    )


def check_compare(func: int) -> None:
    if not GL.NEVER <= func <= GL.ALWAYS:
        raise invalid_enum(func, "comparison")


# -- entry points ----------------------------------------------------------------------------------

_FACES: dict[int, tuple[int, ...]] = {
    GL.FRONT: (0,),
    GL.BACK: (1,),
    GL.FRONT_AND_BACK: (0, 1),
}


def _faces(ctx: Context, face: int) -> list[Stencil]:
    if face not in _FACES:
        raise invalid_enum(face, "face")
    return [ctx.fragment.stencil[i] for i in _FACES[face]]


def _active_faces(ctx: Context) -> list[Stencil]:
    """The faces changed by functions without a face argument: both, or
    EXT_stencil_two_side's back.
    """
    state = ctx.fragment
    return state.stencil[:2] if state.stencil_active == GL.FRONT else state.stencil[2:]


def _set_func(ctx: Context, faces: list[Stencil], func: int, ref: int, mask: int) -> None:
    check_compare(func)
    for stencil in faces:
        stencil.func, stencil.ref, stencil.value_mask = func, ref, mask & 0xFFFFFFFF
    ctx.dirty |= Dirty.DEPTH_STENCIL | Dirty.STENCIL_REF


@entry
def stencil_func_separate(ctx: Context, face: int, func: int, ref: int, mask: int) -> None:
    _set_func(ctx, _faces(ctx, face), func, ref, mask)


@entry
def stencil_func(ctx: Context, func: int, ref: int, mask: int) -> None:
    _set_func(ctx, _active_faces(ctx), func, ref, mask)


@entry
def stencil_func_separate_ati(ctx: Context, front: int, back: int, ref: int, mask: int) -> None:
    check_compare(back)
    for func, stencil in zip((front, back), ctx.fragment.stencil[:2], strict=True):
        _set_func(ctx, [stencil], func, ref, mask)


def _set_ops(ctx: Context, faces: list[Stencil], fail: int, zfail: int, zpass: int) -> None:
    for op in (fail, zfail, zpass):
        if op not in STENCIL_OPS:
            raise invalid_enum(op, "stencil operation")
    for stencil in faces:
        stencil.fail, stencil.zfail, stencil.zpass = fail, zfail, zpass
    ctx.dirty |= Dirty.DEPTH_STENCIL


@entry
def stencil_op_separate(ctx: Context, face: int, sfail: int, dpfail: int, dppass: int) -> None:
    _set_ops(ctx, _faces(ctx, face), sfail, dpfail, dppass)


register("stencil_op_separate_ati", stencil_op_separate)


@entry
def stencil_op(ctx: Context, fail: int, zfail: int, zpass: int) -> None:
    _set_ops(ctx, _active_faces(ctx), fail, zfail, zpass)


def _set_mask(ctx: Context, faces: list[Stencil], mask: int) -> None:
    for stencil in faces:
        stencil.write_mask = mask & 0xFFFFFFFF
    ctx.dirty |= Dirty.DEPTH_STENCIL


@entry
def stencil_mask_separate(ctx: Context, face: int, mask: int) -> None:
    _set_mask(ctx, _faces(ctx, face), mask)


@entry
def stencil_mask(ctx: Context, mask: int) -> None:
    _set_mask(ctx, _active_faces(ctx), mask)


# -- queries ---------------------------------------------------------------------------------------


def _stencil_getter(face: int, field: str) -> Any:
    def get(ctx: Context) -> int:
        state = ctx.fragment
        extra = face == 0 and state.stencil_active == GL.BACK
        value = int(getattr(state.stencil[2 if extra else face], field))
        if field == "ref":  # clamped by each use, for framebuffers may change (17.3.3)
            return max(0, min(value, 0xFF if ctx.framebuffers.draw.has("S") else 0))
        return value

    return get


for _face_index, _prefix in ((0, "STENCIL_"), (1, "STENCIL_BACK_")):
    gets(
        {
            _prefix + name: _stencil_getter(_face_index, field)
            for name, field in (
                ("FUNC", "func"),
                ("REF", "ref"),
                ("VALUE_MASK", "value_mask"),
                ("WRITEMASK", "write_mask"),
                ("FAIL", "fail"),
                ("PASS_DEPTH_FAIL", "zfail"),
                ("PASS_DEPTH_PASS", "zpass"),
            )
        }
    )
