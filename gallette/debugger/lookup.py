"""Stepping into a texture lookup: the routines that it consists of, instruction by instruction.

The driver's texture unit evaluates routines (`gallette.drivers.common.fixed`) on all lanes. The
tracer of the shader lists them; they are traced when the user steps into the lookup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gallette.compiler.nir.interp.environment import Environment
from gallette.compiler.nir.ir.opcodes import numpy_dtype
from gallette.debugger.records import Session
from gallette.debugger.tracer import trace_routine
from gallette.drivers.common.fixed.routine import Routine


def trace_lookup(session: Session, step: int) -> Session | None:
    """The session of a texture lookup, for the lane that is debugged; None for another step."""
    lookup = session.lookups.get(step)
    if lookup is None:
        return None
    inner = Session(
        f"inside {session.code[session.steps[step].line].text.strip()}",
        session.stage,
        [],
        lanes=[session.lanes[session.lane]],
    )
    for routine, arguments in lookup:
        mine = _of_lane(arguments, routine, session.lane, len(session.lanes))
        if mine is not None:
            trace_routine(routine, Environment(1), mine, inner, routine.name)
    return inner


def _of_lane(arguments: Sequence[Any], routine: Routine, lane: int, lanes: int) -> list[Any] | None:
    """The parameters of one lane; None if the routine was not evaluated for all lanes."""
    raw = []
    for value, bits in zip(arguments, routine.inputs, strict=True):
        flat = np.zeros(1) if value is None else np.ascontiguousarray(value).reshape(-1)
        if len(flat) not in (1, lanes, lanes // 4):
            return None
        one = flat[lane * len(flat) // lanes : lane * len(flat) // lanes + 1]
        raw.append(one.view(numpy_dtype("uint", bits)) if value is not None else 0)
    parameters, start = [], 0
    for parameter in routine.shader.entry_function.params:
        end = start + parameter.num_components
        parameters.append(np.array(raw[start:end]).reshape(-1))
        start = end
    return parameters
