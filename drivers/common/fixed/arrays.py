"""Routines run by NumPy: each becomes a Python function of arrays, one line per step.

Arrays of one lane may have no dimension; the results then have none either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.opcodes import Opcode, numpy_dtype
from gallette.compiler.nir.ir.tables import TABLES

from .routine import Routine

__all__ = ["evaluate", "is_observed", "observed"]

Array = npt.NDArray[Any]

_CALLS: ContextVar[list[tuple[Routine, list[Array | None]]] | None] = ContextVar(
    "calls", default=None
)


def evaluate(routine: Routine, arguments: Sequence[Array | None]) -> list[Array]:
    """The components of the results.

    `arguments` are the components of the parameters, of any type of their size; None where the
    routine does not read one.
    """
    calls = _CALLS.get()
    if calls is not None:
        calls.append((routine, list(arguments)))
    if not routine.functions:
        routine.functions.append(_function(routine))
    run: Callable[..., list[Array]] = routine.functions[0]
    with np.errstate(all="ignore"):
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
    names: dict[str, Any] = {}
    types: dict[tuple[int, np.dtype[Any]], str] = {}
    lines = []
    first = routine.first_step

    def typed(number: int, dtype: np.dtype[Any]) -> str:
        """The name of a value viewed as another type, computed once per type."""
        found = types.get((number, dtype))
        if found is not None:
            return found
        name = f"v{number}_{dtype.name}"
        kind = f"t_{dtype.name}"
        names[kind] = dtype
        if number < len(routine.inputs):
            lines.append(f"{name} = a[{number}].view({kind})")
        elif number < first:
            bits, size = routine.constants[number - len(routine.inputs)]
            raw = np.array(bits, numpy_dtype("uint", size))
            names[name] = raw.view(dtype) if dtype != raw.dtype else raw
        else:
            lines.append(f"{name} = v{number}.view({kind})")
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
            names[f"f_{op.name}"] = _as_the_machine if routine.any_conversion and (
                op.name == "f2i32"
            ) else op.semantics  # fmt: skip
            lines.append(f"{name} = asarray(f_{op.name}({', '.join(srcs)}))")
            types[number, op.output_type.dtype(step.bits)] = name
        else:
            table = TABLES[step.op]()
            names[f"table_{step.op}"] = table
            index = typed(step.sources[0], numpy_dtype("int", 32))
            lines.append(f"{name} = table_{step.op}.take({index})")
            types[number, table.dtype] = name
    found = [
        typed(n, numpy_dtype(kind, routine.size(n)))
        for n, kind in zip(routine.outputs, routine.kinds, strict=True)
    ]
    names["asarray"] = np.asarray
    text = "\n    ".join(["def run(a):", *lines, f"return [{', '.join(found)}]"])
    exec(compile(text, f"<{routine.name}>", "exec"), names)
    made: Callable[..., list[Array]] = names["run"]
    return made
