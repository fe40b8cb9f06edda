"""Sealing: once a shader is checked, its tree is only read.

Declarations are put together bit by bit while the checker reads the source: qualifiers are merged,
sizes found, uses noted. When it is done, `seal` makes all of them unchangeable: attributes can no
longer be set, lists are tuples, sets frozen, dictionaries read-only views. A compiled shader can
then be linked with any partners in any order; what a link decides, it decides on copies of its own
(`link.own`). Expressions and statements are complete when they are made (see `hir.node`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NoReturn

from gallette.compiler.glsl.check import hir

__all__ = ["seal", "unsealed_copy"]


class _Sealed:
    """What a sealed declaration answers when somebody wants to change it."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{name!r} of a checked declaration cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name!r} of a checked declaration cannot be deleted")


class _Quals(_Sealed, hir.Quals):
    __slots__ = ()


class _Variable(_Sealed, hir.Variable):
    __slots__ = ()


class _Block(_Sealed, hir.Block):
    __slots__ = ()


class _Function(_Sealed, hir.Function):
    __slots__ = ()


class _Shader(_Sealed, hir.Shader):
    __slots__ = ()


_SEALED: dict[type, type] = {
    hir.Quals: _Quals,
    hir.Variable: _Variable,
    hir.Block: _Block,
    hir.Function: _Function,
    hir.Shader: _Shader,
}
_OPEN = {sealed: plain for plain, sealed in _SEALED.items()}
_FROZEN: dict[str, tuple[type, Callable[[Any], Any], Any]] = {
    "list": (list, tuple, ()),
    "set": (set, frozenset, frozenset()),
    "dict": (dict, MappingProxyType, MappingProxyType({})),
}
"""what grows: its class, how it is frozen, and what an empty one becomes"""


def seal(shader: hir.Shader) -> None:
    """Make every declaration of a checked shader unchangeable."""
    for var in (*shader.globals, *shader.builtins.values()):
        _seal_variable(var)
    for block in shader.blocks:
        _seal_block(block)
    for function in (*shader.functions, *shader.subroutine_types.values()):
        if type(function) is not hir.Function:
            continue
        for var in (*function.params, *function.globals):
            _seal_variable(var)
        _seal_locals(function.body or ())
        _close(function)
    _close(shader)


def _seal_variable(var: hir.Variable | None) -> None:
    if var.__class__ is hir.Variable:
        block = var.block
        if var.quals.__class__ is hir.Quals:  # else sealed: those of a block are its instance's
            _close_quals(var.quals)
        _close_variable(var)
        if block is not None:
            _seal_block(block)


def _seal_block(block: hir.Block) -> None:
    if type(block) is hir.Block:
        members = (block.instance, *block.members)
        for quals in (block.quals, *block.member_quals):
            _close(quals)
        _close(block)
        for var in members:
            _seal_variable(var)


def _seal_locals(body: Any) -> None:
    for statement in body:
        if statement.__class__ is hir.Evaluate:
            continue  # as most are
        match statement:
            case hir.Declare():
                _seal_variable(statement.var)
            case hir.Compound():
                _seal_locals(statement.body)
            case hir.If():
                _seal_locals(statement.then)
                _seal_locals(statement.otherwise)
            case hir.Loop():
                _seal_variable(statement.condition_var)
                _seal_locals(statement.init)
                _seal_locals(statement.body)
            case hir.Switch():
                for _, _, inner in statement.groups:
                    _seal_locals(inner)


def _close(thing: hir.Quals | hir.Variable | hir.Block | hir.Function | hir.Shader) -> None:
    close = _CLOSERS.get(thing.__class__)
    if close is not None:  # else it is sealed already: members may share qualifiers
        close(thing)


def unsealed_copy(thing: Any, **changes: Any) -> Any:
    """A copy that may be changed, with some attributes different; its parts are shared."""
    new = _COPIES[type(thing)](thing)
    for name, value in changes.items():
        setattr(new, name, value)
    return new


def _closer(plain: type, sealed: type) -> Callable[[Any], None]:
    """A function that freezes what has grown: every compile closes every declaration."""
    grown: list[tuple[str, type, Callable[[Any], Any], Any]] = []
    for field in fields(plain):
        kind = str(field.type).partition("[")[0]
        if kind in _FROZEN:
            grown.append((field.name, *_FROZEN[kind]))

    def close(thing: Any) -> None:
        for name, kind, freeze, nothing in grown:
            value = getattr(thing, name)
            if value.__class__ is kind:
                setattr(thing, name, freeze(value) if value else nothing)
        thing.__class__ = sealed

    return close


_CLOSERS = {plain: _closer(plain, sealed) for plain, sealed in _SEALED.items()}
_close_quals, _close_variable = _CLOSERS[hir.Quals], _CLOSERS[hir.Variable]


def _copier(plain: type) -> Callable[[Any], Any]:
    """A function that copies attribute by attribute: every link copies every declaration."""
    attributes = attrgetter(*(field.name for field in fields(plain)))
    return lambda old: plain(*attributes(old))


_COPIES = {kind: _copier(_OPEN.get(kind, kind)) for kind in (*_SEALED, *_OPEN)}
