"""Stores that are overwritten without being read are removed."""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.analysis.alias import Overlap, Root, compare, may_alias, root_of
from gallette.compiler.nir.ir.cf import Block
from gallette.compiler.nir.ir.instrs import Call, Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Access, Mode
from gallette.compiler.nir.ir.queries import accesses_of, deref_key, may_share_a_variable
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

_OBSERVED = Mode.SSBO | Mode.SHARED | Mode.GLOBAL
_MODES = Mode.FUNCTION_TEMP | Mode.SHADER_TEMP | Mode.SHADER_OUT | _OBSERVED
_MOST_OTHERS = 32


@nir_pass("opt_dead_write_vars", preserves=Metadata.CONTROL_FLOW)
def opt_dead_write_vars(shader: Shader, *, modes: int = int(_MODES)) -> bool:
    """Within a block, remove the components of a store that a later store overwrites unread.

    Before: `store_deref(&x, %1); store_deref(&x, %2)`; after: `store_deref(&x, %2)`.
    """
    progress = False
    for impl in shader.impls():
        if not may_share_a_variable(accesses_of(impl, modes, "store_deref")):
            continue
        for block in impl.blocks():
            progress |= _block(block, modes)
    return progress


@lazy_dataclass()
class _Pending:
    """A store with its components that have not been read yet."""

    store: Intrinsic
    deref: Deref
    unread: int


@lazy_dataclass()
class _Stores:
    """Unread stores into one variable, or through one pointer: by constant path, and all others."""

    modes: int
    direct: dict[tuple[int, ...], _Pending] = field(default_factory=dict)
    others: list[_Pending] = field(default_factory=list)


def _block(block: Block, modes: int) -> bool:
    progress = False
    pending: dict[Root, _Stores] = {}
    for instr in block.instrs():
        if not isinstance(instr, Intrinsic):
            if isinstance(instr, Call):
                pending.clear()
            continue
        if instr.info.name != "store_deref":
            _after_read(instr, pending)
            continue
        deref = instr.deref
        assert deref is not None
        root = root_of(deref)
        path = _leaf_path(deref)
        stores = pending.get(root)
        if stores is None:
            stores = pending[root] = _Stores(deref.modes)
        stores.modes |= deref.modes
        if path is not None:
            earlier = stores.direct.get(path)
        else:
            same = (e for e in stores.others if compare(e.deref, deref) is Overlap.EQUAL)
            earlier = next(same, None)
        if earlier is not None:
            progress |= _overwrite(earlier, instr["write_mask"])
        if deref.modes & modes and not instr["access"] & Access.VOLATILE:
            entry = _Pending(instr, deref, instr["write_mask"])
            if path is not None:
                stores.direct[path] = entry
            else:
                stores.others.append(entry)
                del stores.others[:-_MOST_OTHERS]
    return progress


def _leaf_path(deref: Deref) -> tuple[int, ...] | None:
    """The constant path to a whole scalar or vector, or None."""
    parent = deref.parent
    if deref.form == "array" and parent is not None and parent.type.is_vector:
        return None
    key = deref_key(deref) if deref.type.is_vector_or_scalar else None
    return key[1] if key is not None else None


def _overwrite(earlier: _Pending, mask: int) -> bool:
    """Remove components that a later store overwrites."""
    dead = earlier.store["write_mask"] & earlier.unread & mask
    if not dead or earlier.store.block is None:
        return False
    earlier.store["write_mask"] &= ~dead
    earlier.unread &= ~dead
    if earlier.store["write_mask"] == 0:
        earlier.store.remove()
    return True


def _after_read(instr: Intrinsic, pending: dict[Root, _Stores]) -> None:
    """Stop tracking stores whose values `instr` may read: they are not dead."""
    if instr.info.is_fence or instr.info.ends_lanes:
        pending.clear()
        return
    for src in instr.srcs:
        deref = src.value.instr
        if not isinstance(deref, Deref):
            continue
        root = root_of(deref)
        path = _leaf_path(deref)
        alone = isinstance(root, Variable) and not deref.modes & _OBSERVED
        for other, stores in pending.items():
            if other is not root and (
                not stores.modes & deref.modes or (alone and isinstance(other, Variable))
            ):
                continue
            if other is root and path is not None:
                stores.direct.pop(path, None)
            else:
                stores.direct = {
                    p: e for p, e in stores.direct.items() if not may_alias(e.deref, deref)
                }
            stores.others = [e for e in stores.others if not may_alias(e.deref, deref)]
