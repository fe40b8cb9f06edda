"""From the NIR of a front end to that of drivers, for all stages of a program."""

from __future__ import annotations

from gallette.compiler.link.program import LinkedProgram, LinkOptions
from gallette.compiler.link.references import mark_references
from gallette.compiler.nir.ir.modes import DRAWING, Stage
from gallette.compiler.nir.link.shared_memory import check_shared_memory
from gallette.compiler.nir.run.optimize import DEFAULT, OptimizeOptions
from gallette.compiler.nir.run.pipeline import link_driver_forms, to_driver_form


def finish_program(
    program: LinkedProgram, options: LinkOptions, optimize_options: OptimizeOptions = DEFAULT
) -> None:
    """Record which stages reference what, check shared memory (GLSL 4.60, 4.3.8), run the passes,
    and optimise across stages.
    """
    shaders = program.shaders
    mark_references(shaders, program)
    if Stage.COMPUTE in shaders:
        most = options.limits.max_compute_shared_memory_size
        check_shared_memory(shaders[Stage.COMPUTE], most)
    if not options.optimize:
        return
    for shader in shaders.values():
        to_driver_form(shader, optimize_options)
    keep = frozenset(v.slot for v in program.xfb.outputs) if program.xfb else frozenset()
    chain = [shaders[stage] for stage in DRAWING if stage in shaders]
    link_driver_forms(shaders.values(), chain, keep, optimize_options)
