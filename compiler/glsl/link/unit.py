"""All shaders of one stage as one: the result of `stage`, and the input of later steps of the
linker.
"""

from __future__ import annotations

from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.language import Language
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import Stage


@lazy_dataclass(eq=False)
class StageUnit:
    """All shaders of one stage as one."""

    stage: Stage
    language: Language
    has_handles: bool = False
    """whether a shader uses ARB_bindless_texture, so that samplers and images may be values"""
    globals: dict[str, hir.Variable] = field(default_factory=dict)
    builtins: dict[str, hir.Variable] = field(default_factory=dict)
    blocks: dict[tuple[str, str], hir.Block] = field(default_factory=dict)
    functions: dict[tuple[Any, ...], hir.Function] = field(default_factory=dict)
    """signature -> definition"""
    main: hir.Function | None = None
    canonical: dict[hir.Variable, hir.Variable] = field(default_factory=dict)
    """a declaration in any of the shaders -> the program's variable (see `declarations`)"""
    layout: dict[str, Any] = field(default_factory=dict)
    reachable: list[hir.Function] = field(default_factory=list)
    live: set[hir.Variable] = field(default_factory=set)
    """variables with static storage that reachable code uses"""
    constants: dict[str, hir.Variable] = field(default_factory=dict)
    per_vertex: list[tuple[hir.Shader, dict[str, int] | None]] = field(default_factory=list)
    """each shader with the members of its gl_PerVertex redeclaration and their sizes (None: no
    redeclaration)"""
    initialized: list[hir.Variable] = field(default_factory=list)
    """globals with an initialiser, in order"""
    startup: list[hir.Variable] = field(default_factory=list)
    """those of them whose initialiser runs before main"""
    uses: set[str] = field(default_factory=set)
    """calls of certain built-in functions in reachable code"""
    subroutine_types: dict[str, hir.Function] = field(default_factory=dict)
    precisions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """in GLSL ES: those of the members of each structure"""
    written: set[str] = field(default_factory=set)
    """names of outputs that reachable shaders write"""

    def resolve(self, var: hir.Variable) -> hir.Variable:
        return self.canonical.get(var, var)

    @property
    def name(self) -> str:
        return self.stage.value.replace("_", " ")
