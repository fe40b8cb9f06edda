"""One shader as NIR, without a program around it."""

from __future__ import annotations

from gallette.compiler.errors import GalletteError
from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.run.pipeline import FRONT_END


def nir_of(stage: Stage, text: str, name: str = "") -> Shader:
    """Compile one shader to optimised NIR whose inputs and outputs are still variables.

    An error in the text is a `GalletteError` with the log; `name` is what the log calls the source.
    """
    compiled = compile_shader(stage, [text], CompileOptions(), [name] if name else ())
    if not compiled.ok:
        raise GalletteError(compiled.info_log.rstrip())
    linked = link_program([compiled], LinkOptions(separable=True, optimize=False))
    if not linked.ok:
        raise GalletteError(linked.info_log.rstrip())
    shader = linked.shaders[stage]
    run_passes(shader, FRONT_END, None)
    optimize(shader)
    return shader
