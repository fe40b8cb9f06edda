"""`lazy_dataclass` behaves as `dataclass(slots=True)`: the same class body, made by both."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import InitVar, field
from functools import partial
from typing import Any, ClassVar

import pytest

from gallette.compiler import lazy_dataclass as lazy
from gallette.compiler.lazy_dataclass import lazy_dataclass

OPTIONS = (
    {},
    *({"frozen": True}, {"frozen": True, "eq": False}),
    *({"eq": False}, {"kw_only": True}),
)
SIDES = {"library": partial(dataclasses.dataclass, slots=True), "lazy": lazy_dataclass}


def classes(side: str, **options: Any) -> list[type]:
    """Classes with each kind of field and of method of their own."""
    make = SIDES[side](**options)

    @make
    class Plain:
        x: int
        kinds: ClassVar[int] = 3
        y: float = 2.0
        z: list[int] = field(default_factory=list, compare=False)

    @make
    class Derived(Plain):
        w: str = field(default="w", repr=False)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Derived) and self.w == other.w

    @make
    class Checked:
        x: int
        y: InitVar[int] = 5
        twice: int = field(init=False)
        tally: int = field(default=11, init=False)

        def __post_init__(self, y: int) -> None:
            object.__setattr__(self, "twice", 2 * y)

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return f"<{self.x}>"

    return [Plain, Derived, Checked]


def answer(action: Any) -> Any:
    try:
        return action()
    except (TypeError, AttributeError) as error:
        return type(error).__name__, str(error)


def behaviour(cls: type, key_only: bool) -> dict[str, Any]:
    """What the class answers to each use; objects of it appear as their representation."""

    def made(*args: Any) -> Any:
        return cls(**dict(zip(("x", "y", "z"), args, strict=False))) if key_only else cls(*args)

    def changed(action: Any) -> str:
        one = made(1, 4)
        action(one)
        return repr(one)

    return {
        "fields": [one.name for one in dataclasses.fields(cls)],
        "match": cls.__match_args__,
        "slots": cls.__slots__,
        "made": answer(lambda: repr(made(1))),
        "second": answer(lambda: repr(made(1, 4))),
        "positional": answer(lambda: repr(cls(1))),
        "missing": answer(lambda: repr(made())),
        "unknown": answer(lambda: repr(cls(unknown=1))),
        "equal": answer(lambda: made(1, 4) == made(1, 4)),
        "unequal": answer(lambda: made(1, 4) == made(2, 4)),
        "other": answer(lambda: made(1) == 1),
        "hash": answer(lambda: hash(made(1, 4)) == hash(made(1, 4))),
        "set": answer(lambda: changed(lambda one: setattr(one, "x", 9))),
        "delete": answer(lambda: changed(lambda one: delattr(one, "x"))),
        "undeclared": answer(lambda: changed(lambda one: setattr(one, "other", 9))) != "",
        "copy": answer(lambda: repr(copy.copy(made(1, 4)))),
        "replace": answer(lambda: repr(dataclasses.replace(made(1, 4), x=8))),
        "dict": answer(lambda: dataclasses.asdict(made(1, 4))),
        "own list": answer(lambda: made(1).z is made(1).z),
        "tally": answer(lambda: made(1).tally),
        "constant": getattr(cls, "kinds", None),
        "signature": str(inspect.signature(cls, eval_str=True)),  # last, since it compiles
    }


@pytest.mark.parametrize("interpreted", [0, 3, 1000])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_behaves_as_the_library_s(
    options: dict[str, bool], interpreted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lazy, "_FEW", interpreted)
    for ours, theirs in zip(classes("lazy", **options), classes("library", **options), strict=True):
        found, expected = (behaviour(cls, bool(options.get("kw_only"))) for cls in (ours, theirs))
        assert found == expected


@lazy_dataclass(frozen=True)
class Pickled:
    x: int
    y: tuple[int, ...] = ()


def test_frozen_objects_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Pickled(3, (4,)))) == Pickled(3, (4,))


def test_init_is_compiled_once_and_only_when_called_often() -> None:
    @lazy_dataclass()
    class One:
        x: int

    before = One.__init__
    assert [One(k).x for k in range(4)] == [0, 1, 2, 3]
    assert One.__init__ is before
    assert One(4).x == 4
    after = One.__init__
    assert One(5).x == 5
    assert before is not after is One.__init__


def test_what_may_change_can_be_hashed_if_asked_for() -> None:
    @lazy_dataclass(unsafe_hash=True)
    class Row:
        x: int

    assert hash(Row(3)) == hash(Row(3)) != hash(Row(4))


def test_representations_can_be_inherited() -> None:
    @lazy_dataclass()
    class Named:
        def __repr__(self) -> str:
            return "named"

    @lazy_dataclass(repr=False)
    class Derived(Named):
        x: int

    assert repr(Derived(1)) == "named"
