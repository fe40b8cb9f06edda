"""Data classes whose fields are looked at when they are first used, and whose methods are compiled
when they are used often.

`dataclasses.dataclass` looks at each field and compiles up to six methods for each class when its
module is loaded. A context loads some 250 classes and calls one method in fifteen, so this was more
than a third of the time until a context exists. Of the methods that a context and its first frame
do call, two in three are called at most four times. Such a call interprets the fields, in a tenth
of the time that compiling takes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass
from dataclasses import field as field
from functools import cache, cached_property, partial
from inspect import Signature, get_annotations, signature
from reprlib import recursive_repr
from typing import Any, NamedTuple, TypeVar, dataclass_transform, get_type_hints

Class = TypeVar("Class", bound=type)


@dataclass_transform(field_specifiers=(field,))
def lazy_dataclass(
    *,
    frozen: bool = False,
    eq: bool = True,
    repr: bool = True,
    unsafe_hash: bool = False,
    kw_only: bool = False,
) -> Callable[[Class], Class]:
    """`dataclass(slots=True)` with these options; methods are compiled at their fifth call.

    Fields are declared as for `dataclass`, and `fields`, `replace`, `asdict` and `signature` work.
    """

    def make(cls: Class) -> Class:
        own = {name for name, value in vars(cls).items() if value is not None}
        made = _with_slots(cls, kw_only)
        made.__signature__ = _Signature()
        methods: dict[str, Callable[..., Any]] = {
            "__init__": _at_first(
                made, "__init__", _initialise, partial(_written_init, frozen=frozen)
            )
        }
        if repr:
            methods["__repr__"] = _represent
        if eq:
            methods["__eq__"] = _at_first(made, "__eq__", _equal, _written_eq)
        if unsafe_hash or (eq and frozen):
            methods["__hash__"] = _at_first(made, "__hash__", _hashed, _written_hash)
        elif eq and "__hash__" not in own:
            made.__hash__ = None
        if frozen:
            methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
            # copies and pickles set the fields, which __setattr__ refuses
            methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
        for name in methods.keys() - own:
            setattr(made, name, methods[name])
        return made  # type: ignore[no-any-return]

    return make


def _with_slots(cls: Any, kw_only: bool) -> Any:
    """The class with a slot for each of its own fields, whose values are no attributes of it."""
    own = _Fields(cls, kw_only)
    inherited = {name for base in cls.__mro__[1:] for name in getattr(base, "__slots__", ())}
    stored = [name for name, each in own.declared.items() if each.kind == ""]
    namespace = {
        name: value
        for name, value in vars(cls).items()
        if not (name in stored or isinstance(value, Field) or name in ("__dict__", "__weakref__"))
    }
    namespace["__slots__"] = tuple(name for name in stored if name not in inherited)
    namespace["__dataclass_fields__"] = own
    namespace["__match_args__"] = _MatchArgs()
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


class _Declared(NamedTuple):
    """A line of a class body that declares a field, or something like it."""

    kind: str  # ClassVar, InitVar, or "": a field
    kw_only: bool
    field: Field[Any]


class _Fields:
    """The fields of a class. `dataclass` makes what others see of them when it is first asked for,
    from a class that has nothing else.
    """

    def __init__(self, cls: Any, kw_only: bool) -> None:
        self._kw_only, self._annotations = kw_only, get_annotations(cls)
        self._values = {n: v for n, v in vars(cls).items() if n in self._annotations}
        self._values["__module__"] = cls.__module__
        self.declared = {name: self._declared(name) for name in self._annotations}

    def __set_name__(self, cls: Any, name: str) -> None:
        self._cls = cls

    def _declared(self, name: str) -> _Declared:
        kind = str(self._annotations[name]).partition("[")[0].rpartition(".")[2]
        value: Any = self._values.get(name, MISSING)
        one: Any = value if isinstance(value, Field) else field(default=value)
        named = self._kw_only if one.kw_only is MISSING else one.kw_only
        return _Declared(kind if kind in ("ClassVar", "InitVar") else "", named, one)

    def __get__(self, one: object, cls: Any) -> dict[str, Field[Any]]:
        return self._made

    @cached_property
    def _made(self) -> dict[str, Field[Any]]:
        found: dict[str, Field[Any]] = {}
        for base in self._cls.__mro__[:0:-1]:
            if "__dataclass_fields__" in vars(base):
                found |= base.__dataclass_fields__
        # with a text, or `dataclass` would compute a signature
        body = {**self._values, "__annotations__": self._annotations, "__doc__": "-"}
        plain = dataclass(init=False, repr=False, eq=False, kw_only=self._kw_only)
        return found | plain(type("Fields", (), body)).__dataclass_fields__  # type: ignore[attr-defined,no-any-return]


@cache
def _declared(cls: Any) -> dict[str, _Declared]:
    """What the class and its bases declare."""
    found: dict[str, _Declared] = {}
    for base in reversed(cls.__mro__):
        own = vars(base).get("__dataclass_fields__")
        found |= own.declared if isinstance(own, _Fields) else {}
    return found


@cache
def _stored(cls: Any) -> dict[str, Field[Any]]:
    return {name: each.field for name, each in _declared(cls).items() if each.kind == ""}


class _MatchArgs:
    """The arguments by place, for patterns."""

    def __get__(self, one: object, cls: Any) -> tuple[str, ...]:
        every = cls.__dataclass_fields__.items()
        return tuple(name for name, each in every if each.init and each.kw_only is False)


Write = Callable[[Any, dict[str, Any]], str]
"""Writes a method of a class as text, and adds the values that the text names."""

_FEW = 4
"""The number of calls of a method that are interpreted."""


class _DoesNotFit(Exception):
    """The arguments are wrong; the compiled method says how."""


def _at_first(cls: Any, name: str, interpret: Callable[..., Any], write: Write) -> Any:
    """A method that interprets its first calls, then compiles the class's own in its place."""
    calls = 0

    def compiled() -> Callable[..., Any]:
        values: dict[str, Any] = {}
        exec(write(cls, values), values)
        method: Callable[..., Any] = values[name]
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)
        return method

    def early_call(self: Any, *args: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls <= _FEW:
            with suppress(_DoesNotFit):
                return interpret(cls, self, *args, **named)
        return compiled()(self, *args, **named)

    early_call.compiled = compiled  # type: ignore[attr-defined]
    return early_call


class _Factory:
    """The default, in a signature, of an argument that a function makes."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


class _Signature:
    """What `inspect.signature` finds out about a class: the arguments of its `__init__`."""

    def __get__(self, one: object, cls: Any) -> Signature:
        init = cls.__init__
        init = init.compiled() if hasattr(init, "compiled") else init
        types = {name: each.type for name, each in cls.__dataclass_fields__.items()}
        with suppress(NameError):  # some names are imported for type checkers only
            types |= get_type_hints(cls)
        init.__annotations__ = {**types, "return": None}
        return signature(partial(init, None))


def _initialise(cls: Any, self: Any, /, *args: Any, **named: Any) -> None:
    places = iter(args)
    passed_on: list[Any] = []  # to __post_init__
    for name, (kind, kw_only, each) in _declared(cls).items():
        if kind == "ClassVar":
            continue
        value: Any = MISSING
        if each.init:
            value = MISSING if kw_only else next(places, MISSING)
            if value is MISSING and name in named:
                value = named.pop(name)
        if value is MISSING:
            value = each.default
        if value is MISSING and each.default_factory is not MISSING:
            value = each.default_factory()  # type: ignore[operator]
        if value is MISSING:
            if each.init:
                raise _DoesNotFit
        elif kind == "InitVar":
            passed_on.append(value)
        else:
            object.__setattr__(self, name, value)
    if named or next(places, MISSING) is not MISSING:
        raise _DoesNotFit
    if hasattr(cls, "__post_init__"):
        self.__post_init__(*passed_on)


def _written_init(cls: Any, values: dict[str, Any], frozen: bool) -> str:
    values |= {"_factory": _FACTORY, "_set": object.__setattr__}
    arguments: list[str] = []
    named: list[str] = []
    passed_on: list[str] = []  # to __post_init__
    body: list[str] = []
    for name, (kind, kw_only, each) in _declared(cls).items():
        if kind == "ClassVar":
            continue
        argument = value = name
        if each.default is not MISSING:
            values[f"_default_{name}"] = each.default
            argument, made = f"{name}=_default_{name}", f"_default_{name}"
        elif each.default_factory is not MISSING:
            values[f"_make_{name}"] = each.default_factory
            argument, made = f"{name}=_factory", f"_make_{name}()"
            value = f"{made} if {name} is _factory else {name}"
        elif not each.init:
            continue
        if each.init:
            (named if kw_only else arguments).append(argument)
        else:
            value = made
        if kind == "InitVar":
            passed_on.append(name)
        else:
            body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append(f"self.__post_init__({', '.join(passed_on)})")
    taken = ", ".join(["self", *arguments, *(["*", *named] if named else [])])
    return f"def __init__({taken}):\n " + ("\n ".join(body) or "pass")


def _compared(cls: Any) -> list[str]:
    return [name for name, each in _stored(cls).items() if each.compare]


def _equal(cls: Any, self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    names = _compared(cls)  # tuples, because an object in both is equal even if it is a NaN
    return _values(self, names) == _values(other, names)


def _written_eq(cls: Any, values: dict[str, Any]) -> str:
    compared = _compared(cls)
    return f"""def __eq__(self, other):
 if other.__class__ is self.__class__:
  return {_tuple("self", compared)} == {_tuple("other", compared)}
 return NotImplemented"""


def _counted(cls: Any) -> list[str]:
    """The fields that are part of the hash."""
    every = _stored(cls).items()
    return [name for name, one in every if (one.compare if one.hash is None else one.hash)]


def _hashed(cls: Any, self: Any) -> int:
    return hash(_values(self, _counted(cls)))


def _written_hash(cls: Any, values: dict[str, Any]) -> str:
    return f"def __hash__(self): return hash({_tuple('self', _counted(cls))})"


def _values(self: Any, names: list[str]) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in names])


def _tuple(of: str, names: list[str]) -> str:
    return "(" + "".join(f"{of}.{name}, " for name in names) + ")"


@recursive_repr()
def _represent(self: Any) -> str:
    every = _stored(self.__class__).items()
    shown = [f"{name}={getattr(self, name)!r}" for name, each in every if each.repr]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in _stored(self.__class__)]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(_stored(self.__class__), state, strict=True):
        object.__setattr__(self, name, value)
