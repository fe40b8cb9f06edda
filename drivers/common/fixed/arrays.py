"""Routines run by NumPy: each becomes a Python function of arrays, one line per step.

Arrays of one lane may have no dimension; the results then have none either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.compiler.nir.ir.opcodes import Opcode, numpy_dtype
from gallette.compiler.nir.ir.tables import TABLES

from .routine import Routine, Step

Array = npt.NDArray[Any]

_CALLS: ContextVar[list[tuple[Routine, list[Array | None]]] | None] = ContextVar(
    "calls", default=None
)


def evaluate(routine: Routine, arguments: Sequence[Array | None]) -> list[Array]:
    """The components of the results.

    `arguments` are the components of the parameters, of any type of their size; None where the
    routine does not read one. The caller suppresses NumPy's floating-point warnings.
    """
    calls = _CALLS.get()
    if calls is not None:
        calls.append((routine, list(arguments)))
    if not routine.functions:
        routine.functions.append(_function(routine))
    run: Callable[..., list[Array]] = routine.functions[0]
    return run(arguments)


@contextmanager
def observed() -> Iterator[list[tuple[Routine, list[Array | None]]]]:
    """List the routines that are evaluated in this block, with their arguments. Operations with
    faster code use routines meanwhile.
    """
    calls: list[tuple[Routine, list[Array | None]]] = []
    token = _CALLS.set(calls)
    try:
        yield calls
    finally:
        _CALLS.reset(token)


def is_observed() -> bool:
    return _CALLS.get() is not None


def _as_the_machine(value: Array) -> Array:
    return value.astype(np.int32)


def _function(routine: Routine) -> Callable[..., list[Array]]:
    names: dict[str, Any] = {"asarray": np.asarray}
    types: dict[tuple[int, np.dtype[Any]], str] = {}
    lines: list[_Line] = []
    first = routine.first_step

    def define(name: str, expression: str, sources: Sequence[str] = ()) -> str:
        lines.append(_Line(name, expression, sources))
        return name

    def typed(number: int, dtype: np.dtype[Any]) -> str:
        """The name of a value viewed as another type, computed once per type."""
        found = types.get((number, dtype))
        if found is not None:
            return found
        name = f"v{number}_{dtype.name}"
        kind = f"t_{dtype.name}"
        names[kind] = dtype
        if number < len(routine.inputs):
            define(name, f"a[{number}].view({kind})")
        elif number < first:
            bits, size = routine.constants[number - len(routine.inputs)]
            raw = np.array(bits, numpy_dtype("uint", size))
            names[name] = raw.view(dtype) if dtype != raw.dtype else raw
        else:
            define(name, f"v{number}.view({kind})", [f"v{number}"])
        types[number, dtype] = name
        return name

    for number, step in enumerate(routine.steps, first):
        name = f"v{number}"
        if isinstance(step.op, Opcode):
            op = step.op
            sizes = [routine.size(n) for n in step.sources]
            srcs = [
                typed(n, type.dtype(size))
                for n, type, size in zip(step.sources, op.input_types, sizes, strict=True)
            ]
            function = f"f_{op.name}"
            names[function] = _as_the_machine if routine.any_conversion and (
                op.name == "f2i32"
            ) else op.semantics  # fmt: skip
            if op.name == "bcsel" and step.bits == 32:
                names[function] = minmax.select
            limit = _limit(routine, step)
            if limit is not None:
                function, (value, bound) = limit[0].__name__, limit[1:]
                names[function] = limit[0]
                dtype = numpy_dtype("float", step.bits)
                srcs = [typed(value, dtype), typed(bound, dtype)]
            define(name, f"asarray({function}({', '.join(srcs)}))", srcs)
            types[number, op.output_type.dtype(step.bits) if limit is None else dtype] = name
        else:
            table = TABLES[step.op]()
            names[f"table_{step.op}"] = table
            index = typed(step.sources[0], numpy_dtype("int", 32))
            define(name, f"table_{step.op}.take({index})", [index])
            types[number, table.dtype] = name
    found = [
        typed(n, numpy_dtype(kind, routine.size(n)))
        for n, kind in zip(routine.outputs, routine.kinds, strict=True)
    ]
    body = [*_with_short_lives(lines, found), f"return [{', '.join(found)}]"]
    exec(compile("\n    ".join(["def run(a):", *body]), f"<{routine.name}>", "exec"), names)
    made: Callable[..., list[Array]] = names["run"]
    return made


class _Line(NamedTuple):
    """A line of the function: a name, the expression that it stands for, the names in that."""

    name: str
    expression: str
    sources: Sequence[str]


def _with_short_lives(lines: Sequence[_Line], results: Sequence[str]) -> list[str]:
    """The lines that results need. An array is deleted after its last use: the next one then has
    its memory, which is in the processor's cache.
    """
    live, local = set(results), {line.name for line in lines}
    text: list[str] = []
    for name, expression, sources in reversed(lines):
        if name in live:
            ended = sorted(local.intersection(sources) - live)
            text.append(f"{name} = {expression}" + (f"; del {', '.join(ended)}" if ended else ""))
            live.update(ended)
    return text[::-1]


def _limit(routine: Routine, step: Step) -> tuple[Callable[..., Array], int, int] | None:
    """A selection between a value and a bound that they are compared with, as `maximum` or
    `minimum`, which take a third of the time. A NaN remains in both. A bound of zero is left
    alone, since that has two signs.
    """
    inputs, first = len(routine.inputs), routine.first_step
    if not (isinstance(step.op, Opcode) and step.op.name == "bcsel" and step.bits == 32):
        return None
    condition, bound, value = step.sources
    if condition < first or not inputs <= bound < first:
        return None
    compared = routine.steps[condition - first]
    number = np.array(routine.constants[bound - inputs][0], np.uint32).view(np.float32)
    if not (isinstance(compared.op, Opcode) and compared.op.name == "flt") or not abs(number) > 0:
        return None
    if compared.sources == (value, bound):
        return minmax.maximum, value, bound
    return (minmax.minimum, value, bound) if compared.sources == (bound, value) else None
