"""The operations on a fragment's colour after its shader, instruction by instruction.

The routines that drivers run (`gallette.drivers.common.fixed`) are NIR, so the reference
interpreter executes them like shaders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gallette.compiler.nir.interp.environment import Environment
from gallette.debugger.records import Line, Session
from gallette.debugger.tracer import trace_routine
from gallette.drivers.common.fixed.formats import layout
from gallette.drivers.common.fixed.output import ColorKey, stored
from gallette.drivers.common.output.color import ColorTarget
from gallette.history.records import Fragment
from gallette.pipe.codecs import unpack_planes

_MISSING = (0.0, 0.0, 0.0, 1.0)


def trace_output(
    session: Session, fragment: Fragment, colors: Sequence[ColorTarget | None]
) -> None:
    """Continue the session of a written fragment with the operations on its colours."""
    if not fragment.verdict.startswith("written"):
        return
    for number, color in enumerate(colors):
        written = session.outputs.get(f"data{number}", session.outputs.get("color"))
        before = fragment.before.get(f"colour {number}")
        if color is None or color.key.mask == 0 or written is None or before is None:
            continue
        size, count = layout(color.format)
        words = np.frombuffer(before.raw, f"<u{size // 8}")
        if len(words) != count:
            continue  # of a multisampled surface
        given = [
            _component(color, written),
            _component(color, session.outputs.get("second colour", _MISSING)),
            np.asarray(color.constant, np.float32).view(np.uint32),
            *(word[None] for word in words),
        ]
        session.code.append(Line(f"colour {number}: {_description(color.key)}", -1))
        results = trace_routine(
            stored(color.key), Environment(1), given, session, session.code[-1].text
        )
        texel = np.concatenate(results).view(words.dtype)
        planes = unpack_planes(color.format, texel if count == 1 else texel[None])
        session.outputs[f"stored in colour {number}"] = [
            np.asarray(plane).reshape(-1)[0].item() for plane in planes
        ]


def _component(color: ColorTarget, values: Sequence[float]) -> Any:
    """Four components as raw bits; those that the shader did not write are 0, 0, 0, 1."""
    dtype = color.format.rgba_dtype
    full = [*values, *_MISSING[len(values) :]]
    return np.asarray(full).astype(dtype).view(np.uint32)


def _description(key: ColorKey) -> str:
    parts = []
    if key.blend is not None:
        parts.append("blended")
    if key.logicop is not None:
        parts.append(f"logic operation {key.logicop.name}")
    if key.mask is not None:
        parts.append("masked")
    return ", ".join([*parts, f"stored as {key.format.name}"])
