"""Struct variables are split into one variable per member."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import by_kind, derefs_in, only_accessed_by
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.types import Type, array
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

_ACCESSES = "load_deref", "store_deref"


@nir_pass("split_struct_vars", preserves=Metadata.CONTROL_FLOW)
def split_struct_vars(
    shader: Shader, *, modes: int = int(Mode.FUNCTION_TEMP | Mode.SHADER_TEMP)
) -> bool:
    """`struct { float a; float b[2]; } s[4]` becomes `float s.a[4]` and `float s.b[4][2]`.

    An indirect access to one member then no longer keeps the others out of SSA. Only variables that
    are used through loads and stores of scalars and vectors alone are split, so run
    `lower_var_copies` before.
    """
    derefs: dict[Variable, list[Deref]] = {}  # those to replace
    chains: dict[Variable, list[Deref]] = {}  # all
    blocked: set[Variable] = set()
    home: dict[Variable, FunctionImpl] = {}
    for impl in shader.impls():
        if "struct" not in by_kind(impl).forms:
            continue  # no member is accessed
        for deref in derefs_in(impl, modes):
            root = deref.root_var
            if root is None or not root.mode & modes or not _has_struct(root.type):
                continue
            home[root] = impl
            chains.setdefault(root, []).append(deref)
            if not only_accessed_by(deref, _ACCESSES, ("array", "struct")):
                blocked.add(root)
            elif not deref.type.is_struct and not _has_struct(deref.type):
                parent = deref.parent
                if parent is not None and _has_struct(parent.type):
                    derefs.setdefault(root, []).append(deref)
    progress = False
    for var, leaves in derefs.items():
        if var in blocked or var.constant_initializer is not None:
            continue
        owner = home[var].locals if var.mode == Mode.FUNCTION_TEMP else shader.variables
        split_members(home[var], owner, var, leaves)
        owner.remove(var)
        for deref in reversed(chains[var]):
            if deref.block is not None and not deref.result.uses:
                deref.remove()  # an unused deref of the removed variable
        progress = True
    return progress


def _has_struct(type: Type) -> bool:
    return type.without_array.is_struct


def split_members(
    impl: FunctionImpl,
    owner: list[Variable],
    var: Variable,
    leaves: list[Deref],
    parts: dict[tuple[int, ...], Variable] | None = None,
) -> None:
    """Make `leaves`, parts of `var`, refer to separate variables, which are added to `owner`.

    `parts` has the existing ones, by the path of members.
    """
    parts = {} if parts is None else parts
    at = owner.index(var)
    for leaf in leaves:
        chain = leaf.path()
        members = tuple(step.field for step in chain if step.form == "struct")
        part = parts.get(members)
        if part is None:
            part = parts[members] = _member_variable(var, members)
            owner.insert(at + len(parts), part)
        b = Builder(impl).at_before(leaf)
        new = b.deref_var(part)
        for step in chain[1:]:
            if step.form == "array":
                new = b.deref_array(new, step.srcs[1].value)
        leaf.result.rewrite_uses(new.result)
        remove_dead_deref(leaf)


def _member_variable(var: Variable, members: tuple[int, ...]) -> Variable:
    """The variable for one member path, whose type has all arrays along the path."""
    lengths: list[int] = []
    name, t = var.name, var.type
    remaining = list(members)
    while True:
        if t.element is not None and _has_struct(t):
            lengths.append(t.length)
            t = t.element
        elif t.is_struct and remaining:
            field = t.fields[remaining.pop(0)]
            name += "." + field.name
            t = field.type
        else:
            break
    for length in reversed(lengths):
        t = array(t, length)
    return var.copy(name=name, type=t)
