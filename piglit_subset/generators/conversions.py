"""Constructors that convert: every scalar type to every other, in every vector size.

The oracle is the specification's rules: towards zero from float to integer, nonzero to true, and
equal bits between int and uint.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.piglit_subset.generators.common import evaluation, rotated, vector

_VALUES: dict[str, tuple[float, ...]] = {
    "float": (0.0, 1.0, 2.75, 7.5, 100.0),
    "int": (0, 1, 2, 77, 4096),
    "uint": (0, 1, 3, 255, 65536),
    "bool": (0, 1, 1, 0, 1),
    "double": (0.0, 1.0, 2.75, 7.5, 100.0),
}
_SIGNED = {"float": (-1.0, -2.75), "int": (-1, -77), "double": (-1.0, -2.75)}


def _converted(value: float, to: str) -> float:
    if to == "bool":
        return int(value != 0)
    if to in ("int", "uint"):
        return int(value)
    return float(value)


def tests() -> Iterator[str]:
    for source in _VALUES:
        for target in _VALUES:
            for size in (1, 2, 3, 4):
                yield _test(source, target, size)


def _test(source: str, target: str, size: int) -> str:
    values = [*_VALUES[source], *(() if target == "uint" else _SIGNED.get(source, ()))]
    kind, result = vector(source, size), vector(target, size)
    return evaluation(
        f"conversions/{kind}-to-{result}",
        f"{result}(x) of a {kind} converts each component.",
        400 if "double" in (source, target) else 130,
        {"a": kind, "expected": result},
        f"{result}(a) == expected",
        [
            (given, [_converted(v, target) for v in given])
            for (given,) in rotated([(v,) for v in values], size)
        ],
    )
