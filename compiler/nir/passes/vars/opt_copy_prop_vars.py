"""Loads are replaced by known contents of variables."""

from __future__ import annotations

from typing import TypeAlias

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.analysis.alias import Overlap, Root, compare, root_of
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf import Block, Body, If, blocks_in, events
from gallette.compiler.nir.ir.instrs import Call, Deref, Instr, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Access, Mode
from gallette.compiler.nir.ir.queries import accesses_of, deref_key, may_share_a_variable
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

_OBSERVED = Mode.SSBO | Mode.SHARED | Mode.SHADER_OUT | Mode.GLOBAL
_MODES = Mode.FUNCTION_TEMP | Mode.SHADER_TEMP | _OBSERVED
_MOST_INDIRECT = 32  # dynamic accesses tracked per variable


@lazy_dataclass()
class _Known:
    """The contents of `deref`: (value, component) for each component, or None."""

    deref: Deref
    parts: list[tuple[Def, int] | None]

    def copy(self) -> _Known:
        return _Known(self.deref, list(self.parts))


@lazy_dataclass()
class _Contents:
    """The known contents of one variable: by constant path, and through dynamic indices.

    Memory of pointers is tracked only in the latter way. `modes` are its possible modes.
    """

    modes: int
    direct: dict[tuple[int, ...], _Known] = field(default_factory=dict)
    indirect: list[_Known] = field(default_factory=list)

    def copy(self) -> _Contents:
        direct = {path: known.copy() for path, known in self.direct.items()}
        return _Contents(self.modes, direct, [known.copy() for known in self.indirect])


_State: TypeAlias = dict[Root, _Contents]


@nir_pass("opt_copy_prop_vars", preserves=Metadata.CONTROL_FLOW)
def opt_copy_prop_vars(shader: Shader, *, modes: int = int(_MODES)) -> bool:
    """Forward stored and loaded values to later loads of the same memory.

    Uses alias analysis: writing `s.arr[i].b` does not affect what is known about `s.arr[i].a`.
    Branches start with what was known before; after an if or loop everything written in it is
    forgotten. A copy whose source is known element by element is left to `lower_var_copies`.
    """
    progress = False
    for impl in shader.impls():
        if may_share_a_variable(accesses_of(impl, modes, "load_deref", "store_deref")):
            progress |= _Propagation(impl, modes).run()
    return progress


class _Propagation:
    def __init__(self, impl: FunctionImpl, modes: int):
        self.impl = impl
        self.modes = modes
        self.known: _State = {}
        self.pointers = False  # whether any contents of a pointer are known
        self.progress = False

    def run(self) -> bool:
        saved: list[_State] = []
        for kind, node in events(self.impl.body):
            if isinstance(node, Block):
                for instr in node.instrs():
                    self.visit(instr)
            elif isinstance(node, If):
                if kind == "if":
                    saved.append(self.copy())
                elif kind == "else":
                    self.known = {var: c.copy() for var, c in saved[-1].items()}
                else:
                    self.known = saved.pop()
                    self.forget_written(node.then_body)
                    self.forget_written(node.else_body)
            elif kind == "loop":
                self.forget_written(node.body)
                saved.append(self.copy())
            else:
                self.known = saved.pop()
        return self.progress

    def copy(self) -> _State:
        return {var: contents.copy() for var, contents in self.known.items()}

    def forget_written(self, body: Body) -> None:
        if self.known:
            for block in blocks_in(body):
                for instr in block.instrs():
                    self.clobber(instr)

    def clobber(self, instr: Instr) -> None:
        """Forget what `instr` may have changed."""
        if isinstance(instr, Call):
            self.known = {}
        elif isinstance(instr, Intrinsic):
            name = instr.info.name
            if name == "store_deref":
                self.kill(instr, instr["write_mask"])
            elif name in ("copy_deref", "deref_atomic", "deref_atomic_swap"):
                self.kill(instr, -1)
            elif instr.info.is_fence:
                self.known = {
                    root: contents
                    for root, contents in self.known.items()
                    if not contents.modes & _OBSERVED
                }

    def kill(self, instr: Intrinsic, mask: int) -> None:
        """Forget what a write through the first source may have changed."""
        target = instr.deref
        assert target is not None
        root = root_of(target)
        related: list[Root] = [root]
        if target.modes & _OBSERVED or self.pointers or not isinstance(root, Variable):
            related = [r for r, c in self.known.items() if c.modes & target.modes]
        for other in related:
            contents = self.known.get(other)
            if contents is not None:
                self.kill_in(contents, target, root is other, mask)

    def kill_in(self, contents: _Contents, target: Deref, same: bool, mask: int) -> None:
        leaf = same and target.type.is_vector_or_scalar and not _is_component(target)
        key = deref_key(target) if leaf else None
        if key is not None:
            # Only this path, and paths with dynamic indices, can be affected.
            entry = contents.direct.get(key[1])
            if entry is not None and not _survives(entry, target, mask):
                del contents.direct[key[1]]
        else:
            contents.direct = {
                path: e for path, e in contents.direct.items() if _survives(e, target, mask)
            }
        contents.indirect = [e for e in contents.indirect if _survives(e, target, mask)]

    def find(self, deref: Deref) -> _Known | None:
        contents = self.known.get(root_of(deref))
        if contents is None:
            return None
        key = deref_key(deref)
        if key is not None:
            return contents.direct.get(key[1])
        for entry in contents.indirect:
            if compare(deref, entry.deref) is Overlap.EQUAL:
                return entry
        return None

    def remember(self, deref: Deref, parts: list[tuple[Def, int] | None]) -> _Known:
        root = root_of(deref)
        contents = self.known.get(root)
        if contents is None:
            contents = self.known[root] = _Contents(deref.modes)
            self.pointers = self.pointers or not isinstance(root, Variable)
        contents.modes |= deref.modes
        entry = _Known(deref, parts)
        key = deref_key(deref)
        if key is not None:
            contents.direct[key[1]] = entry
        else:
            contents.indirect.append(entry)
            del contents.indirect[:-_MOST_INDIRECT]
        return entry

    def visit(self, instr: Instr) -> None:
        if not isinstance(instr, Intrinsic) or instr.info.name not in ("load_deref", "store_deref"):
            self.clobber(instr)
            return
        deref = instr.deref
        plain = (
            deref is not None
            and deref.modes & self.modes
            and not deref.modes & ~self.modes
            and not instr["access"] & Access.VOLATILE
            and deref.type.is_vector_or_scalar
            and not _is_component(deref)
        )
        if not plain:
            self.clobber(instr)
            return
        assert deref is not None
        if instr.dest is not None:
            self.load(instr, deref)
        else:
            self.store(instr, deref)

    def load(self, instr: Intrinsic, deref: Deref) -> None:
        dest = instr.result
        n = dest.num_components
        entry = self.find(deref)
        if entry is None:
            self.remember(deref, [(dest, i) for i in range(n)])
            return
        parts = [p for p in entry.parts if p is not None]
        if len(parts) < n:
            for i in range(n):
                if entry.parts[i] is None:
                    entry.parts[i] = (dest, i)
            return
        b = Builder(self.impl).at_before(instr)
        value = parts[0][0]
        whole = value.num_components == n and all(p == (value, i) for i, p in enumerate(parts))
        if not whole:
            value = b.vec([b.channel(v, c) for v, c in parts])
        instr.replace_by(value)
        self.progress = True

    def store(self, instr: Intrinsic, deref: Deref) -> None:
        value, mask = instr.srcs[1].value, instr["write_mask"]
        n = value.num_components
        entry = self.find(deref)
        if entry is not None and all(
            entry.parts[i] == (value, i) for i in range(n) if mask >> i & 1
        ):
            instr.remove()
            self.progress = True
            return
        self.kill(instr, mask)
        entry = self.find(deref)
        if entry is None:
            entry = self.remember(deref, [None] * n)
        for i in range(n):
            if mask >> i & 1:
                entry.parts[i] = (value, i)


def _is_component(deref: Deref) -> bool:
    """Whether it is one component of a vector, which overlaps the vector's own path."""
    parent = deref.parent
    return deref.form == "array" and parent is not None and parent.type.is_vector


def _survives(entry: _Known, target: Deref, mask: int) -> bool:
    """Whether part of `entry` is still known after writing the masked components of `target`."""
    relation = compare(target, entry.deref)
    if relation is Overlap.NONE:
        return True
    if relation is not Overlap.EQUAL or mask == -1:
        return False
    for c in range(len(entry.parts)):
        if mask >> c & 1:
            entry.parts[c] = None
    return True
