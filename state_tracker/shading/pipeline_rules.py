"""Which shaders can run together: section 11.1.3.11 of OpenGL 4.6 and 7.4.1 of OpenGL ES 3.2.

The linker has checked the stages within a program; these are the rules for combinations made by
glUseProgram and program pipelines.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.modes import DRAWING

if TYPE_CHECKING:
    from gallette.compiler.glsl import Varying
    from gallette.state_tracker.shading.programs import Executable

_OF_VERTEX = re.compile(r"(\w+)\[\d+](.*)")


def problem_of(stages: dict[Stage, Executable], es: bool) -> str:
    """Why draws with these stages are an error; "" if they are valid."""
    chain = [stage for stage in DRAWING if stage in stages]
    inner = [s for s in chain if s not in (Stage.VERTEX, Stage.FRAGMENT)]
    if inner and Stage.VERTEX not in stages:
        return f"there is a {inner[0].value} shader without a vertex shader"
    evaluates = Stage.TESS_EVAL in stages
    if Stage.TESS_CTRL in stages and not evaluates:
        return "there is a tessellation control shader without an evaluation shader"
    if es and evaluates and Stage.TESS_CTRL not in stages:
        return "there is a tessellation evaluation shader without a control shader"
    seen: list[Executable] = []
    for stage in chain:
        executable = stages[stage]
        if any(stages.get(other) is not executable for other in executable.linked.shaders):
            return "a program is in use in some of the stages it was linked with"
        if executable in seen[:-1]:
            return "a program's stages are apart, with another program between them"
        if executable not in seen:
            seen.append(executable)
    if es:
        for a, b in pairwise(chain):
            if stages[a] is not stages[b] and (name := _mismatch(stages[a], stages[b])):
                return f"'{name}' does not match between the {a.value} and {b.value} shaders"
    return ""


def _mismatch(producer: Executable, consumer: Executable) -> str:
    """An output or input of ES programs without a counterpart of its type; "" if there is none."""
    outputs = _ends(producer.linked.output_resources)
    inputs = _ends(consumer.linked.input_resources)
    return next((str(k) for k in [*inputs, *outputs] if inputs.get(k) != outputs.get(k)), "")


def _ends(varyings: list[Varying]) -> dict[str | int, object]:
    """Matching key, or the location where it is given -> the properties that must agree. Of arrays
    with an element for each vertex the elements are compared, since one side has no array.
    """
    found: dict[str | int, object] = {}
    for v in varyings:
        if not v.name.startswith("gl_"):
            name, size = v.name, v.array_size
            if v.per_vertex and (match := _OF_VERTEX.match(name)):
                name = match[1] + match[2]
                size = size if match[2] else 0
            kind = (v.type, size, v.interpolation, v.precision, v.container, v.patch)
            found[v.location if v.location >= 0 else name] = kind
    return found
