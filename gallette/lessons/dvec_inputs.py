"""The lesson: 64-bit vertex attributes on an API with explicit slots."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallette.compiler.errors import ValidationError
from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import recording, run_passes
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader

SHADER = """#version 410
layout(location = 0) in dvec3 wide;
layout(location = 2) in vec4 plain;
void main() {
    gl_Position = vec4(wide, 1.0) + plain;
}
"""


def split(source: str = SHADER) -> tuple[str, str, list[tuple[str, ...]]]:
    """NIR before and after the pass, and the inputs: name, type and slot on both sides."""
    with recording() as log:
        shader = compile_shader(Stage.VERTEX, source, CompileOptions(version_limit=410))
        program = link_program([shader], LinkOptions(separable=True))
    for linked in program.shaders.values():
        linked.unref()
    text = next(r.before for r in log.records if r.name == "lower_io")
    split_shader = parse(text)
    inputs: list[tuple[str, ...]] = []
    inputs += [("before", v.name, str(v.type), str(v.location)) for v in _inputs(split_shader)]
    run_passes(split_shader, ["split_64bit_vs_inputs", "copy_prop", "dce"])
    inputs += [("after", v.name, str(v.type), str(v.location)) for v in _inputs(split_shader)]
    after = print_shader(split_shader)
    split_shader.unref()
    return text, after, inputs


def _inputs(shader: Shader) -> list[Variable]:
    return list(shader.variables_of(Mode.SHADER_IN))


# -- pictures of slots ---------------------------------------------------------------------------


def read_through_slots(slots: Any, location: int, split: bool) -> list[float]:
    """A `dvec3` fetched by a machine whose inputs end at 16 bytes.

    With the pass, two inputs are fetched. Without it, only one is, and the register after it, which
    holds the next attribute, is read as z.
    """
    low = slots[location].view(np.float64)
    behind = slots[location + 1 if split else location + 2].view(np.float64)
    return [float(low[0]), float(low[1]), float(behind[0])]


def every_use_rewritten(text: str) -> str:
    """Break the pass's last rule: the instruction that rebuilds the vector also gets the rebuilt
    one.

    Returns the validator's message.
    """
    shader = parse(text)
    impl = shader.entry
    load = next(i for i in intrinsics_of(impl, "load_deref") if i.result.bit_size == 64)
    b = Builder(impl).at_after(load)
    whole = b.vec(b.channels(load.result))
    for use in list(load.result.uses):  # the channels above are among them
        use.rewrite(whole)
    try:
        validate(shader, "a pass that rewrites every use")
    except ValidationError as error:
        return str(error)
    return ""
