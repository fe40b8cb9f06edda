"""Unread variables are removed, with the stores into them."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import derefs_of, only_accessed_by
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

_DEFAULT = Mode.FUNCTION_TEMP | Mode.SHADER_TEMP
_WRITES = "store_deref", "copy_deref"
_FORMS = "array", "struct", "ptr_as_array"


@nir_pass("remove_dead_variables", preserves=Metadata.CONTROL_FLOW)
def remove_dead_variables(shader: Shader, *, modes: int = int(_DEFAULT)) -> bool:
    """Delete variables of `modes` that no code uses, or (temporaries) that are only written.

    Stores and copies into write-only temporaries are deleted with them.
    """
    if not shader.variables_of(modes) and not any(impl.locals for impl in shader.impls()):
        return False
    mentioned: dict[Variable, list[Deref]] = {}
    for deref in derefs_of(shader):
        var = deref.root_var
        if var is not None and var.mode & modes:
            mentioned.setdefault(var, []).append(deref)
    progress = False
    for var, derefs in mentioned.items():
        if var.mode & _DEFAULT and all(only_accessed_by(d, _WRITES, _FORMS) for d in derefs):
            _remove_writes(derefs)
            mentioned[var] = []
    for owner in [shader.variables, *[impl.locals for impl in shader.impls()]]:
        kept = [v for v in owner if not v.mode & modes or mentioned.get(v)]
        if len(kept) != len(owner):
            owner[:] = kept
            progress = True
    return progress


def _remove_writes(derefs: list[Deref]) -> None:
    for deref in derefs:
        for src in list(deref.result.uses):
            user = src.parent
            if isinstance(user, Intrinsic):
                source = user.srcs[1].value.instr
                user.remove()
                if isinstance(source, Deref):
                    remove_dead_deref(source)
    for deref in derefs:
        if deref.block is not None:
            remove_dead_deref(deref)
