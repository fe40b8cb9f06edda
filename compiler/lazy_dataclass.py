"""Data classes whose methods are written when they are first called.

`dataclasses.dataclass` compiles up to six methods for each class when its module is loaded. A
context loads some 250 classes and calls one method in fifteen, so compiling them all was a third of
the time until a context exists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, InitVar, dataclass, field, fields
from functools import partial
from inspect import Signature, signature
from typing import Any, TypeVar, dataclass_transform

__all__ = ["field", "lazy_dataclass"]

Class = TypeVar("Class", bound=type)

_FIELD_OPTIONS = ("default", "default_factory", "init", "repr", "hash", "compare", "kw_only")


@dataclass_transform(field_specifiers=(field,))
def lazy_dataclass(
    *,
    frozen: bool = False,
    eq: bool = True,
    repr: bool = True,
    unsafe_hash: bool = False,
    kw_only: bool = False,
) -> Callable[[Class], Class]:
    """`dataclass(slots=True)` with these options; its methods are written when first called.

    Fields are declared as for `dataclass`, and `fields`, `replace`, `asdict` and `signature` work.
    """

    def make(cls: Class) -> Class:
        own = {name for name, value in vars(cls).items() if value is not None}
        made: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(cls)
        hashed = unsafe_hash or (eq and frozen)
        if eq and not hashed and "__hash__" not in own:
            made.__hash__ = None
        methods = {"__init__": True, "__repr__": repr, "__eq__": eq, "__hash__": hashed}
        for name, wanted in methods.items():
            if wanted and name not in own:
                setattr(made, name, _when_called(made, name, frozen, unsafe_hash))
        made.__signature__ = _Signature()
        if frozen:
            made.__setattr__, made.__delattr__ = _refuse_to_set, _refuse_to_delete
            # copies and pickles set the fields, which __setattr__ refuses
            made.__getstate__, made.__setstate__ = _get_state, _set_state
        return made  # type: ignore[no-any-return]

    return make


def _when_called(cls: Any, name: str, frozen: bool, unsafe_hash: bool) -> Callable[..., Any]:
    """A method that writes the method `name`, puts it in its own place and calls it."""

    def write() -> Callable[..., Any]:
        method = _written(cls, name, frozen, unsafe_hash)
        setattr(cls, name, method)
        return method

    def first_call(self: Any, *args: Any, **named: Any) -> Any:
        return write()(self, *args, **named)

    first_call.__name__ = name
    first_call.__qualname__ = f"{cls.__qualname__}.{name}"
    first_call.write = write  # type: ignore[attr-defined]
    return first_call


class _Signature:
    """What `inspect.signature` finds out about a class: the arguments of its `__init__`."""

    def __get__(self, one: object, cls: Any) -> Signature:
        init = cls.__init__
        if hasattr(init, "write"):
            init = init.write()
        return signature(partial(init, None))


def _written(cls: Any, name: str, frozen: bool, unsafe_hash: bool) -> Callable[..., Any]:
    """The method as `dataclass` writes it, for a class with the same fields."""
    body: dict[str, Any] = {"__module__": cls.__module__, "__annotations__": {}}
    stored = {each.name for each in fields(cls)}
    declared: dict[str, Field[Any]] = cls.__dataclass_fields__
    for each in declared.values():
        if each.kw_only is not MISSING:  # no ClassVar
            body["__annotations__"][each.name] = each.type if each.name in stored else InitVar
            body[each.name] = field(**{option: getattr(each, option) for option in _FIELD_OPTIONS})
    if hasattr(cls, "__post_init__"):
        body["__post_init__"] = cls.__post_init__
    twin: Any = dataclass(
        init=name == "__init__",
        repr=name == "__repr__",
        eq=name in ("__eq__", "__hash__"),
        frozen=frozen,
        unsafe_hash=unsafe_hash,
        slots=True,  # or __init__ leaves out defaults of fields that are no arguments
    )(type(cls.__name__, (), body))
    method: Callable[..., Any] = getattr(twin, name)
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    method.__annotations__ |= {
        argument: declared[argument].type for argument in method.__annotations__.keys() & declared
    }
    return method


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
