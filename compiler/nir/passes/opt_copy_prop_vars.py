"""Loads reuse what is known to be in the variable."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.nir.alias import Overlap, compare
from compiler.nir.builder import Builder
from compiler.nir.cf import Block, Body, If, blocks_in, events
from compiler.nir.instrs import Call, Deref, Instr, Intrinsic
from compiler.nir.pass_runner import nir_pass
from compiler.nir.shader import Access, FunctionImpl, Metadata, Mode, Shader
from compiler.nir.values import Def

_MODES = Mode.FUNCTION_TEMP | Mode.SHADER_TEMP | Mode.SHADER_OUT | Mode.SSBO | Mode.SHARED
_FENCES = frozenset({"barrier", "emit_vertex", "end_primitive"})


@dataclass(slots=True)
class _Known:
    """What is in the memory of `deref`: (value, component) for each component, or None."""

    deref: Deref
    parts: list[tuple[Def, int] | None]


@nir_pass("opt_copy_prop_vars", preserves=Metadata.CONTROL_FLOW)
def opt_copy_prop_vars(shader: Shader, *, modes: int = int(_MODES)) -> bool:
    """Forward stored and loaded values to later loads of the same memory.

    Uses alias analysis: writing `s.arr[i].b` leaves what is known of `s.arr[i].a` alone. Branches
    start with what was known before; behind an if or loop everything written in it is forgotten. A
    copy whose source is known element by element is left to `lower_var_copies`.
    """
    progress = False
    for impl in shader.impls():
        progress |= _Propagation(impl, modes).run()
    return progress


class _Propagation:
    def __init__(self, impl: FunctionImpl, modes: int):
        self.impl = impl
        self.modes = modes
        self.known: list[_Known] = []
        self.progress = False

    def run(self) -> bool:
        saved: list[list[_Known]] = []
        for kind, node in events(self.impl.body):
            if isinstance(node, Block):
                for instr in node.instrs():
                    self.visit(instr)
            elif isinstance(node, If):
                if kind == "if":
                    saved.append(self.copy())
                elif kind == "else":
                    before = saved[-1]
                    self.known = [_Known(k.deref, list(k.parts)) for k in before]
                else:
                    self.known = saved.pop()
                    self.forget_written(node.then_body)
                    self.forget_written(node.else_body)
            else:
                if kind == "loop":
                    self.forget_written(node.body)
                    saved.append(self.copy())
                else:
                    self.known = saved.pop()
        return self.progress

    def copy(self) -> list[_Known]:
        return [_Known(k.deref, list(k.parts)) for k in self.known]

    def forget_written(self, body: Body) -> None:
        for block in blocks_in(body):
            for instr in block.instrs():
                self.clobber(instr)

    def clobber(self, instr: Instr) -> None:
        """Forget what `instr` may have changed."""
        if isinstance(instr, Call):
            self.known = []
        elif isinstance(instr, Intrinsic):
            name = instr.info.name
            if name in _FENCES or name.startswith(("interp_deref", "store_", "image_deref_store")):
                shared = Mode.SSBO | Mode.SHARED | Mode.SHADER_OUT
                if name == "store_deref":
                    self.kill(instr, instr["write_mask"])
                elif name in _FENCES:
                    self.known = [k for k in self.known if not k.deref.modes & shared]
            elif name in ("copy_deref", "deref_atomic", "deref_atomic_swap"):
                self.kill(instr, -1)

    def kill(self, instr: Intrinsic, mask: int) -> None:
        target = instr.deref
        if target is None:
            self.known = []
            return
        kept = []
        for entry in self.known:
            relation = compare(target, entry.deref)
            if relation is Overlap.NONE:
                kept.append(entry)
            elif relation is Overlap.EQUAL and mask != -1:
                for c in range(len(entry.parts)):
                    if mask >> c & 1:
                        entry.parts[c] = None
                kept.append(entry)
        self.known = kept

    def find(self, deref: Deref) -> _Known | None:
        for entry in self.known:
            if compare(deref, entry.deref) is Overlap.EQUAL:
                return entry
        return None

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
            self.known.append(_Known(deref, [(dest, i) for i in range(n)]))
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
            entry = _Known(deref, [None] * n)
            self.known.append(entry)
        for i in range(n):
            if mask >> i & 1:
                entry.parts[i] = (value, i)
