"""Which stages a program may consist of (OpenGL 4.6, 7.3)."""

from __future__ import annotations

from collections.abc import Set

from gallette.compiler.link.log import LinkLog
from gallette.compiler.nir.ir import Stage

_NEEDS = (
    (Stage.GEOMETRY, Stage.VERTEX, "a geometry shader needs a vertex"),
    (Stage.TESS_EVAL, Stage.VERTEX, "a tessellation evaluation shader needs a vertex"),
    (Stage.TESS_CTRL, Stage.VERTEX, "a tessellation control shader needs a vertex"),
    (
        *(Stage.TESS_CTRL, Stage.TESS_EVAL),
        "a tessellation control shader needs a tessellation evaluation",
    ),
)
"""the stages that require another stage, unless the program is separable"""


def check_stages(stages: Set[Stage], separable: bool, log: LinkLog) -> None:
    if len(stages) > 1 and Stage.COMPUTE in stages:
        log.error("a compute shader cannot be linked with other stages")
    for stage, other, needs in _NEEDS if not separable else ():
        if stage in stages and other not in stages:
            log.error(f"{needs} shader")
