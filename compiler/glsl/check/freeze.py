"""Freezes a checked shader, whose tree is immutable from then on.

The checker builds declarations incrementally: qualifiers are merged, sizes found, uses recorded.
When it is done, `freeze` makes all of them immutable: attributes can no longer be set, lists become
tuples, sets frozen, dictionaries read-only views. A compiled shader can then be linked with any
partners in any order, because a link changes only its own copies (`link.declarations`). Expressions
and statements are complete when created (see `hir.node`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NoReturn

from gallette.compiler.glsl.check import hir

__all__ = ["copy_quals", "freeze", "mutable_copy"]


class _Frozen:
    """Base of frozen declarations: raises when code tries to change one."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{name!r} of a checked declaration cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name!r} of a checked declaration cannot be deleted")


class _Quals(_Frozen, hir.Quals):
    __slots__ = ()


class _Variable(_Frozen, hir.Variable):
    __slots__ = ()


class _Block(_Frozen, hir.Block):
    __slots__ = ()


class _Function(_Frozen, hir.Function):
    __slots__ = ()


class _Shader(_Frozen, hir.Shader):
    __slots__ = ()


_FROZEN_CLASSES: dict[type, type] = {
    hir.Quals: _Quals,
    hir.Variable: _Variable,
    hir.Block: _Block,
    hir.Function: _Function,
    hir.Shader: _Shader,
}
_MUTABLE_CLASSES = {frozen: plain for plain, frozen in _FROZEN_CLASSES.items()}
_CONTAINERS: dict[str, tuple[type, Callable[[Any], Any], Any]] = {
    "list": (list, tuple, ()),
    "set": (set, frozenset, frozenset()),
    "dict": (dict, MappingProxyType, MappingProxyType({})),
}
"""containers of declarations: class, conversion, and what an empty one becomes"""


def freeze(shader: hir.Shader) -> None:
    """Make every declaration of a checked shader immutable."""
    for var in (*shader.globals, *shader.builtins.values()):
        _freeze_variable(var)
    for block in shader.blocks:
        _freeze_block(block)
    for function in (*shader.functions, *shader.subroutine_types.values()):
        if type(function) is not hir.Function:
            continue
        for var in (*function.params, *function.globals):
            _freeze_variable(var)
        _freeze_locals(function.body or ())
        _freeze(function)
    _freeze(shader)


def _freeze_variable(var: hir.Variable | None) -> None:
    if var.__class__ is hir.Variable:
        block = var.block
        if var.quals.__class__ is hir.Quals:  # else frozen: a block's members share its instance's
            _freeze_quals(var.quals)
        _freeze_checked_variable(var)
        if block is not None:
            _freeze_block(block)


def _freeze_block(block: hir.Block) -> None:
    if type(block) is hir.Block:
        members = (block.instance, *block.members)
        for quals in (block.quals, *block.member_quals):
            _freeze(quals)
        _freeze(block)
        for var in members:
            _freeze_variable(var)


def _freeze_locals(body: Any) -> None:
    for statement in body:
        if statement.__class__ is hir.Evaluate:
            continue  # the usual kind
        match statement:
            case hir.Declare():
                _freeze_variable(statement.var)
            case hir.Compound():
                _freeze_locals(statement.body)
            case hir.If():
                _freeze_locals(statement.then)
                _freeze_locals(statement.otherwise)
            case hir.Loop():
                _freeze_variable(statement.condition_var)
                _freeze_locals(statement.init)
                _freeze_locals(statement.body)
            case hir.Switch():
                for _, _, inner in statement.groups:
                    _freeze_locals(inner)


def _freeze(thing: hir.Quals | hir.Variable | hir.Block | hir.Function | hir.Shader) -> None:
    freeze_one = _FREEZERS.get(thing.__class__)
    if freeze_one is not None:  # else it is frozen already: members may share qualifiers
        freeze_one(thing)


def mutable_copy(thing: Any, **changes: Any) -> Any:
    """A mutable copy with some attributes replaced; its parts are shared."""
    new = _COPIES[type(thing)](thing)
    for name, value in changes.items():
        setattr(new, name, value)
    return new


def copy_quals(quals: hir.Quals) -> hir.Quals:
    """A mutable copy that shares nothing."""
    new: hir.Quals = mutable_copy(quals, layout=dict(quals.layout), flags=set(quals.flags))
    return new


def _freezer(plain: type, frozen: type) -> Callable[[Any], None]:
    """A function that freezes one declaration, made once per class because every compile needs it
    often.
    """
    grown: list[tuple[str, type, Callable[[Any], Any], Any]] = []
    for field in fields(plain):
        kind = str(field.type).partition("[")[0]
        if kind in _CONTAINERS:
            grown.append((field.name, *_CONTAINERS[kind]))

    def freeze_one(thing: Any) -> None:
        for name, kind, frozen_form, nothing in grown:
            value = getattr(thing, name)
            if value.__class__ is kind:
                setattr(thing, name, frozen_form(value) if value else nothing)
        thing.__class__ = frozen

    return freeze_one


_FREEZERS = {plain: _freezer(plain, frozen) for plain, frozen in _FROZEN_CLASSES.items()}
_freeze_quals, _freeze_checked_variable = _FREEZERS[hir.Quals], _FREEZERS[hir.Variable]


def _copier(plain: type) -> Callable[[Any], Any]:
    """A function that copies attribute by attribute, because every link copies every
    declaration.
    """
    attributes = attrgetter(*(field.name for field in fields(plain)))
    return lambda old: plain(*attributes(old))


_COPIES = {
    kind: _copier(_MUTABLE_CLASSES.get(kind, kind))
    for kind in (*_FROZEN_CLASSES, *_MUTABLE_CLASSES)
}
