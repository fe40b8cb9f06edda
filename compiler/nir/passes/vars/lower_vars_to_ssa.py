"""Variables become SSA values."""

from __future__ import annotations

from typing import TypeAlias

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf import (
    Block,
    If,
    Loop,
    events,
    next_block,
    place_of,
)
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref, Instr, Intrinsic, Jump, Phi, Undef
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import deref_key, derefs_in, in_bounds, is_phi_of_same
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def, Src
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

Leaf: TypeAlias = "tuple[Variable, tuple[int, ...]]"
State: TypeAlias = "dict[Leaf, Def]"


class _States:
    """The current value of each leaf, with the changes since each enclosing scope.

    There is one dictionary for the whole walk. A scope records previous values of its leaves before
    it changes them, so that restoring its start, and merging its end with another path, costs as
    much as was changed in it, however many leaves there are.
    """

    __slots__ = ("_scopes", "current")

    def __init__(self) -> None:
        self.current: State = {}
        self._scopes: list[dict[Leaf, Def | None]] = []

    def set(self, leaf: Leaf, value: Def) -> None:
        if self._scopes:
            self._scopes[-1].setdefault(leaf, self.current.get(leaf))
        self.current[leaf] = value

    def open(self) -> int:
        """Begin a scope; returns its number, for `changes`."""
        self._scopes.append({})
        return len(self._scopes) - 1

    def changes(self, scope: int) -> State:
        """The current values of leaves that were set since a scope was opened."""
        current = self.current
        return {leaf: current[leaf] for noted in self._scopes[scope:] for leaf in noted}

    def close(self) -> None:
        """End the innermost scope, restoring the state from its start."""
        current = self.current
        for leaf, value in self._scopes.pop().items():
            if value is None:
                del current[leaf]
            else:
                current[leaf] = value


_LOCAL = int(Mode.FUNCTION_TEMP)


@lazy_dataclass()
class _Branch:
    """An if in the walk: whether it was reached, and the changes of its then-branch (if
    it ended).
    """

    reached: bool
    scope: int
    then_changes: State | None = None


@lazy_dataclass()
class _LoopFrame:
    """A loop in the walk: its header phis, and the changes at its jumps."""

    phis: dict[Leaf, Phi]
    scope: int
    breaks: list[tuple[Block, State]]
    continues: list[tuple[Block, State]]


@nir_pass("lower_vars_to_ssa", preserves=Metadata.CONTROL_FLOW | Metadata.KINDS)
def lower_vars_to_ssa(shader: Shader) -> bool:
    """Replace loads and stores of locals by the values themselves, with phis at merge points.

    Works on every scalar or vector with a constant path that no indirect access and no other use of
    the variable can touch. Before: `store_deref(&x, %1) ... load_deref(&x)`; after: `%1`. One walk
    in source order carries the current value of each leaf; ifs merge their two ends, loops get
    header phis for what they store.
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
        self.states = _States()
        self.undefs: dict[tuple[int, int], Def] = {}
        self.new_phis: list[Phi] = []
        self.stored_in: dict[Loop, dict[Leaf, None]] = {}
        self.names: dict[Leaf, str] = {}

    def run(self) -> bool:
        if not self._collect():
            return False
        body = self.impl.body
        if len(body) == 1:
            self._block(self.impl.first, True, [])
        else:
            self._find_loop_stores()
            self._walk()
        for access in self.leaves:
            deref = access.srcs[0].value.instr if access.srcs else None
            if access.block is not None:
                access.remove()
            if isinstance(deref, Deref):
                remove_dead_deref(deref)
        self._clean_phis()
        self.impl.version += 1
        used = {deref.var for deref in derefs_in(self.impl, _LOCAL)}
        self.impl.locals = [v for v in self.impl.locals if v in used]
        return True

    def _collect(self) -> bool:
        """Find the accesses that can be replaced: no other use may touch the same memory."""
        accesses: list[tuple[Intrinsic, Leaf]] = []
        blocked: dict[Variable, list[tuple[int, ...]]] = {}
        for instr in derefs_in(self.impl, _LOCAL):
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
                    blocked.setdefault(key[0], []).append(_around(instr, user, key[1]))
        for access, leaf in accesses:
            var, path = leaf
            if var in blocked and any(path[: len(p)] == p[: len(path)] for p in blocked[var]):
                continue
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
        states = self.states
        reached = True
        branches: list[_Branch] = []
        loops: list[_LoopFrame] = []
        for kind, node in events(self.impl.body):
            if isinstance(node, Block):
                reached = self._block(node, reached, loops)
            elif isinstance(node, If):
                if kind == "if":
                    branches.append(_Branch(reached, states.open()))
                    continue
                branch = branches[-1]
                changes = states.changes(branch.scope) if reached else None
                states.close()
                if kind == "else":
                    branch.then_changes, reached = changes, branch.reached
                    states.open()
                else:
                    branches.pop()
                    ends = [(node.then_last, branch.then_changes), (node.else_last, changes)]
                    reached = self._join(
                        next_block(node), [(b, s) for b, s in ends if s is not None]
                    )
            elif kind == "loop":
                loops.append(self._enter_loop(node, reached))
            else:
                frame = loops.pop()
                self._finish_header(node, frame, states.current if reached else None)
                states.close()
                reached = self._join(next_block(node), frame.breaks)

    def _block(self, block: Block, reached: bool, loops: list[_LoopFrame]) -> bool:
        """Walk a block; false if control does not reach its end."""
        states = self.states if reached else _States()  # nothing is known in unreachable code
        leaf_of = self.leaves.get
        for instr in block.instrs():
            leaf = leaf_of(instr)
            if leaf is not None:
                self._access(instr, leaf, states)
            elif instr.__class__ is Jump:
                if reached and instr.type in ("break", "continue"):
                    frame = loops[-1]
                    ends = frame.breaks if instr.type == "break" else frame.continues
                    ends.append((block, self.states.changes(frame.scope)))
                return False
        return reached

    def _access(self, instr: Instr, leaf: Leaf, states: _States) -> None:
        assert isinstance(instr, Intrinsic)
        state = states.current
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
        self._call(value, leaf, instr.loc)
        states.set(leaf, value)

    def _call(self, value: Def, leaf: Leaf, line: int) -> None:
        """Record for debuggers that the variable has this value from this line on."""
        name = self.names.get(leaf)
        if name is None:
            name = self.names[leaf] = _name(leaf)
        value.call(name, line)

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
        self._call(phi.result, leaf, 0)
        self.new_phis.append(phi)
        return phi

    def _join(self, block: Block, ends: list[tuple[Block, State]]) -> bool:
        """Continue at a merge point, with phis for differing values; false if it is unreachable.

        Each path has its changes since the point where they diverged, which is the current state.
        """
        states = self.states
        if len(ends) == 1:
            for leaf, value in ends[0][1].items():
                states.set(leaf, value)
        else:
            leaves: dict[Leaf, None] = {}
            for _, changes in ends:
                leaves.update(dict.fromkeys(changes))
            for leaf in leaves:
                before = states.current.get(leaf)
                values = [changes.get(leaf, before) for _, changes in ends]
                first = values[0]
                if first is not None and all(v is first for v in values):
                    states.set(leaf, first)
                    continue
                phi = self._phi(block, leaf)
                for (pred, _), arrived in zip(ends, values, strict=True):
                    phi.add_phi_src(pred, self._undef(leaf) if arrived is None else arrived)
                states.set(leaf, phi.result)
        return bool(ends)

    def _enter_loop(self, loop: Loop, reached: bool) -> _LoopFrame:
        before = loop.owner[place_of(loop) - 1]
        assert isinstance(before, Block)
        states = self.states
        phis: dict[Leaf, Phi] = {}
        frame = _LoopFrame(phis, states.open(), [], [])
        if not reached:  # unreachable: the header has no predecessors
            return frame
        for leaf in self.stored_in[loop]:
            phi = phis[leaf] = self._phi(loop.first, leaf)
            value = states.current.get(leaf)
            phi.add_phi_src(before, value if value is not None else self._undef(leaf))
            states.set(leaf, phi.result)
        return frame

    def _finish_header(self, loop: Loop, frame: _LoopFrame, latch: State | None) -> None:
        ends = list(frame.continues)
        if latch is not None:
            ends.append((loop.last, latch))
        for leaf, phi in frame.phis.items():
            for pred, state in ends:
                value = state.get(leaf)
                phi.add_phi_src(pred, value if value is not None else self._undef(leaf))

    def _clean_phis(self) -> None:
        """Remove phis all of whose sources agree, and unused ones."""
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


def _name(leaf: Leaf) -> str:
    """The source-level name of a part of a variable."""
    var, path = leaf
    name = var.name.removesuffix("@out")
    at = var.type
    for step in path:
        name += f".{at.fields[step].name}" if at.is_struct else f"[{step}]"
        at = at.fields[step].type if at.is_struct else at.indexed()
    return name


def _around(deref: Deref, user: Instr | If, path: tuple[int, ...]) -> tuple[int, ...]:
    """The part of a variable a use may touch: a pointer to an element may access other elements."""
    at: Deref | None = deref
    if isinstance(user, Deref) and user.form in ("cast", "ptr_as_array"):
        while at is not None and at.form == "array":
            path, at = path[:-1], at.parent
    return path


def _is_step(user: Deref, src: Src) -> bool:
    return user.srcs[0] is src and user.form in ("struct", "array")


def _is_access(deref: Deref, src: Src) -> bool:
    """Whether a use is a plain load or store of a scalar or vector."""
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
