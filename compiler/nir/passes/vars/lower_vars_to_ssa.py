"""Variables become SSA values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf import Block, If, Loop, events, next_block
from gallette.compiler.nir.ir.instrs import Deref, Instr, Intrinsic, Jump, Phi, Undef
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.questions import deref_key, in_bounds, instrs_of, is_phi_of_same
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.surgery import remove_dead_deref
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import MOST_NAMES, Def, Src
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

Leaf: TypeAlias = "tuple[Variable, tuple[int, ...]]"
State: TypeAlias = "dict[Leaf, Def]"


@dataclass(slots=True)
class _Branch:
    """An if being walked: state at its start, and how the then-branch ended."""

    entry: State | None
    then_state: State | None = None


@dataclass(slots=True)
class _LoopFrame:
    """A loop being walked: its header phis and the states at its jumps."""

    phis: dict[Leaf, Phi]
    breaks: list[tuple[Block, State]]
    continues: list[tuple[Block, State]]


@nir_pass("lower_vars_to_ssa", preserves=Metadata.CONTROL_FLOW, looks_for=("function_temp",))
def lower_vars_to_ssa(shader: Shader) -> bool:
    """Replace loads and stores of locals by the values themselves, with phis where ways join.

    Works on every scalar or vector reached by a constant path that no indirect access and no other
    use of the variable can touch. Before: `store_deref(&x, %1) ... load_deref(&x)`; after: `%1`.
    One walk in source order carries the current value of each leaf; ifs join the two ends, loops
    get header phis for what they store.
    """
    progress = False
    for impl in shader.impls():
        if impl.locals:
            progress |= _SsaBuilder(impl).run()
    return progress


class _SsaBuilder:
    def __init__(self, impl: FunctionImpl):
        self.impl = impl
        self.leaves: dict[Instr, Leaf] = {}
        self.types: dict[Leaf, Type] = {}
        self.undefs: dict[tuple[int, int], Def] = {}
        self.new_phis: list[Phi] = []
        self.stored_in: dict[Loop, dict[Leaf, None]] = {}

    def run(self) -> bool:
        if not self._collect():
            return False
        self._find_loop_stores()
        self._walk()
        for access in self.leaves:
            deref = access.srcs[0].value.instr if access.srcs else None
            if access.block is not None:
                access.remove()
            if isinstance(deref, Deref):
                remove_dead_deref(deref)
        self._clean_phis()
        used = {i.var for i in instrs_of(self.impl) if isinstance(i, Deref)}
        self.impl.locals = [v for v in self.impl.locals if v in used]
        return True

    def _collect(self) -> bool:
        """Find the accesses that can be replaced: no other use may touch the same memory."""
        accesses: list[tuple[Intrinsic, Leaf]] = []
        blocked: dict[Variable, list[tuple[int, ...]]] = {}
        for instr in instrs_of(self.impl):
            if not isinstance(instr, Deref) or not instr.modes & Mode.FUNCTION_TEMP:
                continue
            key = deref_key(instr)
            for src in instr.result.uses:
                user = src.parent
                if isinstance(user, Deref) and _is_step(user, src):
                    if key is not None and deref_key(user) is None:
                        blocked.setdefault(key[0], []).append(key[1])
                elif key is None:
                    root = instr.root_var
                    if root is not None and not _is_access(instr, src):
                        blocked.setdefault(root, []).append(())
                elif _is_access(instr, src) and not _is_vector_component(instr):
                    assert isinstance(user, Intrinsic)
                    accesses.append((user, key))
                    self.types[key] = instr.type
                else:
                    blocked.setdefault(key[0], []).append(key[1])
        for access, leaf in accesses:
            var, path = leaf
            touched = (path[: len(p)] == p[: len(path)] for p in blocked.get(var, ()))
            if not any(touched):
                self.leaves[access] = leaf
        return bool(self.leaves)

    def _find_loop_stores(self) -> None:
        around: list[Loop] = []
        for kind, node in events(self.impl.body):
            if isinstance(node, Loop):
                if kind == "loop":
                    around.append(node)
                    self.stored_in[node] = {}
                else:
                    around.pop()
            elif isinstance(node, Block) and around:
                for instr in node.instrs():
                    leaf = self.leaves.get(instr)
                    if leaf is not None and instr.dest is None:
                        for loop in around:
                            self.stored_in[loop][leaf] = None

    def _walk(self) -> None:
        state: State | None = {}
        branches: list[_Branch] = []
        loops: list[_LoopFrame] = []
        for kind, node in events(self.impl.body):
            if isinstance(node, Block):
                state = self._block(node, state, loops)
            elif isinstance(node, If):
                if kind == "if":
                    branches.append(_Branch(None if state is None else dict(state)))
                elif kind == "else":
                    branches[-1].then_state = state
                    state = branches[-1].entry
                else:
                    then_state = branches.pop().then_state
                    ends = [(node.then_last, then_state), (node.else_last, state)]
                    state = self._join(next_block(node), [(b, s) for b, s in ends if s is not None])
            elif kind == "loop":
                loops.append(self._enter_loop(node, state))
                if state is not None:
                    carried = {leaf: p.result for leaf, p in loops[-1].phis.items()}
                    state = {**state, **carried}
            else:
                frame = loops.pop()
                self._finish_header(node, frame, state)
                state = self._join(next_block(node), frame.breaks)

    def _block(self, block: Block, state: State | None, loops: list[_LoopFrame]) -> State | None:
        current: State = {} if state is None else state
        for instr in block.instrs():
            leaf = self.leaves.get(instr)
            if leaf is not None:
                self._access(instr, leaf, current)
            elif isinstance(instr, Jump):
                if state is not None and instr.type == "break":
                    loops[-1].breaks.append((block, current))
                elif state is not None and instr.type == "continue":
                    loops[-1].continues.append((block, current))
                return None
        return state if state is None else current

    def _access(self, instr: Instr, leaf: Leaf, state: State) -> None:
        assert isinstance(instr, Intrinsic)
        if instr.dest is not None:
            value = state.get(leaf)
            if value is None:
                value = self._undef(leaf)
            instr.dest.rewrite_uses(value)
            return
        if not in_bounds(leaf[0].type, leaf[1]):
            return
        value = instr.srcs[1].value
        mask = instr["write_mask"]
        n = value.num_components
        if mask != (1 << n) - 1:
            old = state.get(leaf)
            if old is None:
                old = self._undef(leaf)
            b = Builder(self.impl).at_before(instr)
            pairs = [(value if mask >> i & 1 else old, (i,)) for i in range(n)]
            value = b.alu_swizzled(f"vec{n}", pairs)
        _call(value, leaf, instr.loc)
        state[leaf] = value

    def _undef(self, leaf: Leaf) -> Def:
        t = self.types[leaf]
        key = (t.components, t.bit_size)
        value = self.undefs.get(key)
        if value is None:
            instr = Undef(*key)
            self.impl.first.insert_after(None, instr)
            value = self.undefs[key] = instr.result
        return value

    def _phi(self, block: Block, leaf: Leaf) -> Phi:
        t = self.types[leaf]
        phi = Phi(t.components, t.bit_size)
        block.insert_after(block.last_phi, phi)
        _call(phi.result, leaf, 0)
        self.new_phis.append(phi)
        return phi

    def _join(self, block: Block, ends: list[tuple[Block, State]]) -> State | None:
        """The state where several ways meet, with phis for what differs."""
        if not ends:
            return None
        if len(ends) == 1:
            return dict(ends[0][1])
        merged: State = {}
        leaves: dict[Leaf, None] = {}
        for _, state in ends:
            leaves.update(dict.fromkeys(state))
        for leaf in leaves:
            values = [state.get(leaf) for _, state in ends]
            first = values[0]
            if first is not None and all(v is first for v in values):
                merged[leaf] = first
                continue
            phi = self._phi(block, leaf)
            for (pred, _), value in zip(ends, values, strict=True):
                phi.add_phi_src(pred, value if value is not None else self._undef(leaf))
            merged[leaf] = phi.result
        return merged

    def _enter_loop(self, loop: Loop, state: State | None) -> _LoopFrame:
        before = loop.owner[loop.owner.index(loop) - 1]
        assert isinstance(before, Block)
        phis: dict[Leaf, Phi] = {}
        if state is None:  # nobody comes here: nothing leads to the header
            return _LoopFrame(phis, [], [])
        for leaf in self.stored_in[loop]:
            phi = phis[leaf] = self._phi(loop.first, leaf)
            value = state.get(leaf)
            phi.add_phi_src(before, value if value is not None else self._undef(leaf))
        return _LoopFrame(phis, [], [])

    def _finish_header(self, loop: Loop, frame: _LoopFrame, latch: State | None) -> None:
        ends = list(frame.continues)
        if latch is not None:
            ends.append((loop.last, latch))
        for leaf, phi in frame.phis.items():
            for pred, state in ends:
                value = state.get(leaf)
                phi.add_phi_src(pred, value if value is not None else self._undef(leaf))

    def _clean_phis(self) -> None:
        """Dissolve phis all of whose sources agree; drop those nobody needs."""
        work = list(self.new_phis)
        while work:
            phi = work.pop()
            if phi.block is None:
                continue
            same = is_phi_of_same(phi)
            if same is None and any(s.value is not phi.dest for s in phi.srcs):
                if not phi.result.uses:
                    phi.remove()
                continue
            users = [s.parent for s in phi.result.uses if isinstance(s.parent, Phi)]
            if same is None:
                phi.remove()
                continue
            phi.replace_by(same)
            work.extend(u for u in users if u is not phi)


def _call(value: Def, leaf: Leaf, line: int) -> None:
    """Remember for debuggers that from here on the variable is this value."""
    var, path = leaf
    name, at = var.name.removesuffix("@out"), var.type
    for step in path:
        name += f".{at.fields[step].name}" if at.is_struct else f"[{step}]"
        at = at.fields[step].type if at.is_struct else at.indexed()
    entry = (name, tuple(range(value.num_components)), line)
    if entry not in value.names and len(value.names) < MOST_NAMES:
        value.names = (*value.names, entry)


def _is_step(user: Deref, src: Src) -> bool:
    return user.srcs[0] is src and user.form in ("struct", "array", "array_wildcard")


def _is_access(deref: Deref, src: Src) -> bool:
    """Is this use a plain load or store of a scalar or vector?"""
    user = src.parent
    return (
        isinstance(user, Intrinsic)
        and user.info.name in ("load_deref", "store_deref")
        and user.srcs[0] is src
        and deref.type.is_vector_or_scalar
    )


def _is_vector_component(deref: Deref) -> bool:
    parent = deref.parent
    return deref.form == "array" and parent is not None and parent.type.is_vector
