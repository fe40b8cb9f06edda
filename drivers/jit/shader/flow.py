"""Control flow: uniform branches remain branches, divergent ones become masks.

A divergent `if` runs both sides under masks, with a jump over a side that no lane takes if it is
long enough. A loop that lanes leave one by one keeps the mask of those still inside and ends when
it is empty. Phis, and values used outside the region that defines them, are variables written under
the mask: a value defined in a loop is overwritten in its register by the lanes that continue, but
not in the variable.

Every loop iteration counts as work, so that no shader runs for ever (see `Emitter.spend`).
"""

from __future__ import annotations

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.analysis.divergence import analyse_divergence
from gallette.compiler.nir.ir import Block, Body, If, Jump, Loop, Phi, Src
from gallette.compiler.nir.ir.cf import next_block, prev_block, walk
from gallette.compiler.nir.ir.instrs import Alu, Intrinsic, LoadConst, Undef
from gallette.drivers.jit.llvm.codegen import machine

from ..llvm.text import Var
from ..llvm.values import V
from .emitter import Emitter

_WORTH_A_JUMP = 8
"""The number of instructions from which jumping over them is cheaper than running them without
lanes.
"""


def emit_body(e: Emitter) -> None:
    """Translate the shader's entry function."""
    Flow(e).run()


@lazy_dataclass()
class LoopState:
    """A loop during translation."""

    node: Loop
    masked: bool
    phis: list[Phi]
    exit_phis: list[Phi]
    head: str
    latch: str
    after: str
    inside: Var | None  # lanes that have not left
    going: Var | None  # of those, the lanes still in this iteration


class Flow:
    """The translation of one entry function."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        self.b = e.b
        self.phis: dict[Phi, list[Var]] = {}
        self.loops: list[LoopState] = []
        self.ends: list[str] = []
        self.path: list[int] = []  # identities of the bodies around the current place

    def run(self) -> None:
        impl = self.e.shader.entry
        analyse_divergence(impl, everywhere=True)
        self._find_escapes(impl.body)
        self.e.local = self._is_open  # type: ignore[method-assign]
        end = self.b.block()
        self._body(impl.body, end)
        self.b.place(end)

    # -- uses of values ----------------------------------------------------------------------------

    def _find_escapes(self, body: Body) -> None:
        """Definitions with a use outside the innermost body they are in."""
        for node in walk(body):
            if not isinstance(node, Block):
                continue
            home = id(node.owner)
            for instr in node.instrs():
                dest = instr.dest
                if dest is None or isinstance(instr, (LoadConst, Undef)) or not dest.uses:
                    continue
                if any(home not in _bodies_around(src) for src in dest.uses):
                    self.e.escape(dest)

    def _is_open(self, src: Src) -> bool:
        instr = src.value.instr
        assert instr is not None and instr.block is not None
        return id(instr.block.owner) in self.path

    # -- bodies ----------------------------------------------------------------------------------

    def _body(self, body: Body, end: str) -> None:
        """Translate a body; control goes to `end` if no lane is left in it."""
        self.path.append(id(body))
        self.ends.append(end)
        for node in body:
            if isinstance(node, Block):
                for instr in node.instrs():
                    if isinstance(instr, Phi):
                        self._phi(instr)
                    elif isinstance(instr, Jump):
                        self._jump(instr, node)
                        break
                    else:
                        self.e.instruction(instr)
                        if isinstance(instr, Intrinsic) and instr.name in _ENDINGS:
                            self._leave_if_nobody_is_left()
            elif isinstance(node, If):
                self._if(node)
            else:
                self._loop(node)
            if not self.b.open:
                break  # nothing after a jump runs
        self.ends.pop()
        self.path.pop()

    def _leave_if_nobody_is_left(self) -> None:
        e, b = self.e, self.b
        if e.alive is None:
            return
        go_on = b.block()
        real = e.stage.real(e)
        left = e.alive.get() & (e.entry_mask if real is None else real)
        b.branch(b.any(left), go_on, e.leave)
        b.place(go_on)

    # -- phis ------------------------------------------------------------------------------------

    def _variables(self, phi: Phi) -> list[Var]:
        found = self.phis.get(phi)
        if found is None:
            found = self.phis[phi] = self.e.variables_for(phi.result)
        return found

    def _phi(self, phi: Phi) -> None:
        self.e.define(phi.result, [v.get() for v in self._variables(phi)])

    def _send(self, phis: list[Phi], pred: Block, mask: V | None) -> None:
        """Assign phis their values for edges from `pred`, in the lanes of the mask."""
        moves = [
            (variable, value.as_int())
            for phi in phis
            for variable, value in zip(
                self._variables(phi), self.e.values(phi.src_for(pred)), strict=True
            )
        ]
        for variable, value in moves:
            variable.update(mask if variable.w else None, value)

    # -- ifs -------------------------------------------------------------------------------------

    def _if(self, node: If) -> None:
        e, b = self.e, self.b
        cond = e.value(node.condition)
        if cond.w and not node.divergent:
            cond = b.extract(cond, 0)
        phis = list(next_block(node).phis())
        outer = e.mask
        leaves = _jumps_inside(node)
        e.depth += 1
        if not cond.w:
            self._uniform_if(node, cond, phis)
        else:
            self._divergent_if(node, cond, phis)
        e.depth -= 1
        e.mask = outer
        if leaves and b.open:
            loop = self.loops[-1]
            if loop.going is not None:
                e.mask = outer & loop.going.get()
                go_on = b.block()
                b.branch(b.any(e.mask), go_on, self.ends[-1])
                b.place(go_on)

    def _uniform_if(self, node: If, cond: V, phis: list[Phi]) -> None:
        b, e = self.b, self.e
        then, other, after = b.block(), b.block(), b.block()
        outer = e.mask
        b.branch(cond, then, other)
        for label, body in ((then, node.then_body), (other, node.else_body)):
            b.place(label)
            e.mask = outer
            end = b.block()
            self._body(body, end)
            if b.open:
                self._send_last(body, phis)
            b.place(end)
            b.jump(after)
        b.place(after)

    def _send_last(self, body: Body, phis: list[Phi]) -> None:
        """Assign phis their values at the end of a body, unless it ends in a jump."""
        last = body[-1]
        assert isinstance(last, Block)
        if last.jump is None and any(src.pred is last for p in phis for src in p.phi_srcs):
            self.path.append(id(body))
            self._send(phis, last, self.e.active)
            self.path.pop()

    def _divergent_if(self, node: If, cond: V, phis: list[Phi]) -> None:
        b, e = self.b, self.e
        sides = (
            (e.mask & cond, node.then_body),
            (e.mask & ~cond, node.else_body),
        )
        for mask, body in sides:
            if _is_empty(body) and not phis:
                continue
            after = b.block()
            if _is_long(body):
                run = b.block()
                b.branch(b.any(mask), run, after)
                b.place(run)
            e.mask = mask
            self._body(body, after)
            if b.open:
                self._send_last(body, phis)
            b.place(after)

    # -- loops -----------------------------------------------------------------------------------

    def _loop(self, node: Loop) -> None:
        e, b = self.e, self.b
        outer = e.mask
        masked = node.divergent
        state = LoopState(
            node,
            masked,
            list(node.first.phis()),
            list(next_block(node).phis()),
            b.block(),
            b.block(),
            b.block(),
            b.var("i1", e.w, outer) if masked else None,
            b.var("i1", e.w) if masked else None,
        )
        before = prev_block(node)
        self._send(state.phis, before, e.active)
        e.depth += 1
        self.loops.append(state)
        b.place(state.head)
        e.spend(weight(node.body, e.w))
        if state.inside is not None and state.going is not None:
            e.mask = state.inside.get()
            state.going.set(e.mask)
        self._body(node.body, state.latch)
        if b.open:
            self._send_last(node.body, state.phis)
        b.place(state.latch)
        if state.inside is not None:
            b.branch(b.any(self._counting(state.inside.get())), state.head, state.after)
        else:
            b.jump(state.head)
        b.place(state.after)
        self.loops.pop()
        e.depth -= 1
        e.mask = outer

    def _counting(self, inside: V) -> V:
        """The lanes that keep a loop running: not discarded ones, because `discard` is often what
        ends a loop, but helpers, whose values derivatives after the loop read.
        """
        return inside if self.e.alive is None else inside & self.e.alive.get()

    def _jump(self, jump: Jump, block: Block) -> None:
        e, b = self.e, self.b
        if jump.type not in ("break", "continue"):
            raise GalletteError(f"`{jump.type}` must have been lowered before code generation")
        loop = self.loops[-1]
        leaving = jump.type == "break"
        self._send(loop.exit_phis if leaving else loop.phis, block, e.active)
        if loop.inside is None or loop.going is None:
            b.jump(loop.after if leaving else loop.latch)
            return
        if leaving:
            loop.inside.set(loop.inside.get() & ~e.mask)
        loop.going.set(loop.going.get() & ~e.mask)
        b.jump(self.ends[-1])


def weight(body: Body, w: int) -> int:
    """The work units of running a body once: about a nanosecond per instruction and register of
    lanes. Loops inside are charged separately.
    """
    units, stack = 1, list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, If):
            stack += [*node.then_body, *node.else_body]
        elif isinstance(node, Block):
            units += sum(_WEIGHTS.get(instr.kind, 1) for instr in node.instrs())
    return min(units * max(1, w // machine().lanes), _MOST_WEIGHT)


_WEIGHTS = {"tex": 32, "intrinsic": 4}
_MOST_WEIGHT = 1 << 18

_ENDINGS = frozenset({"discard", "discard_if", "demote", "demote_if"})


def _bodies_around(src: Src) -> set[int]:
    """The bodies that contain a use."""
    user = src.parent
    at: object
    if isinstance(user, If):
        at = user
    elif isinstance(user, Phi):
        at = src.pred  # type: ignore[attr-defined]
    else:
        at = user.block
    found = set()
    while isinstance(at, (Block, If, Loop)):
        found.add(id(at.owner))
        at = at.parent
    return found


def _jumps_inside(node: If) -> bool:
    """Whether anything inside leaves or continues the loop around the if."""
    stack: list[Block | If | Loop] = [*node.then_body, *node.else_body]
    while stack:
        at = stack.pop()
        if isinstance(at, Block):
            if at.jump is not None:
                return True
        elif isinstance(at, If):
            stack += [*at.then_body, *at.else_body]
    return False


def _is_empty(body: Body) -> bool:
    return len(body) == 1 and isinstance(body[0], Block) and body[0].first is None


def _is_long(body: Body) -> bool:
    """Whether running the body without active lanes costs more than checking for one."""
    if len(body) > 1:
        return True
    block = body[0]
    assert isinstance(block, Block)
    cost = 0
    for instr in block.instrs():
        if isinstance(instr, Alu):
            cost += 1
        elif not isinstance(instr, (LoadConst, Undef, Jump)):
            return True
    return cost > _WORTH_A_JUMP
