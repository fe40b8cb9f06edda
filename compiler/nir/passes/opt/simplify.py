"""Values take their simplest form, in one walk."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial

from gallette.compiler.nir.algebraic.engine import REWRITES, Protection, RuleSet, rewrite
from gallette.compiler.nir.algebraic.options import AlgebraicOptions
from gallette.compiler.nir.algebraic.passes import is_careful
from gallette.compiler.nir.algebraic.position import position_values
from gallette.compiler.nir.algebraic.rules import rule_set
from gallette.compiler.nir.ir.cf import list_blocks
from gallette.compiler.nir.ir.instrs import Alu, Instr, Intrinsic, LoadConst, Phi, Undef
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.order import BlockOrder
from gallette.compiler.nir.ir.questions import has_side_effects, is_phi_of_same
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.surgery import remove_unused
from gallette.compiler.nir.ir.values import CHANGED, NEAR_CHANGE, SETTLED
from gallette.compiler.nir.passes.opt.constant_folding import SLOT_ACCESSES, fold, fold_slot
from gallette.compiler.nir.passes.opt.copy_prop import absorb, see_through
from gallette.compiler.nir.passes.opt.cse import EXPRESSION_KEYS, expression_key
from gallette.compiler.nir.passes.opt.dce import has_loops, remove_dead_code
from gallette.compiler.nir.passes.opt.opt_undef import store_less, use_undefined
from gallette.compiler.nir.run.pass_runner import nir_pass

_DEFAULT = AlgebraicOptions()
_DOMINANCE = Metadata.DOMINANCE


@nir_pass("simplify", preserves=Metadata.CONTROL_FLOW, exact=False, idempotent=True)
def simplify(
    shader: Shader, *, options: AlgebraicOptions | None = None, arithmetic: bool = True
) -> bool:
    """What `dce`, `copy_prop`, `remove_phis`, `constant_folding`, `opt_undef`, `algebraic` and
    `cse` do, one instruction after the other, until none of them finds anything.

        32 %2 = mov %0
        32 %3 = fmul %2, 1.0
        32 %4 = fadd %3, %1
        32 %5 = fadd %1, %0    ->    32 %2 = fadd %0, %1    (for both sums)

    What an instruction reads has its simplest form when its turn comes, so one walk in source order
    does nearly everything. An instruction that was looked at is settled; changing what it reads
    unsettles it, and walks go on until all are. `arithmetic=False` leaves the algebraic rules out.
    """
    options = options or _DEFAULT
    rules = rule_set(options, "main") if arithmetic else None
    progress = False
    for impl in shader.impls():
        protected = None
        if rules is not None and is_careful(shader, options):
            protected = Protection(partial(position_values, impl))
        progress |= _Simplifier(impl, rules, protected).run()
    return progress


class _Simplifier:
    """One run over one function."""

    __slots__ = ("budget", "extended", "impl", "order", "progress", "protected", "rules", "seen")

    def __init__(self, impl: FunctionImpl, rules: RuleSet | None, protected: Protection | None):
        self.impl = impl
        self.rules = rules
        self.protected = protected
        self.progress = False
        self.seen: dict[Hashable, Instr] = {}
        """by what they compute, the instructions the walk has passed"""
        self.order = BlockOrder()
        self.budget = REWRITES * 16
        self.extended = False

    def is_spent(self) -> bool:
        """Were there more rewrites than there can be? (Few functions come near the first limit:
        it is not before then that instructions are counted.)"""
        if self.budget <= 0 and not self.extended:
            self.extended = True
            self.budget = REWRITES * self.impl.count_instrs()
        return self.budget <= 0

    def run(self) -> bool:
        impl, first = self.impl, True
        self.progress = remove_dead_code(impl)
        loops = has_loops(impl)
        if len(impl.body) > 1:  # in one block what comes first dominates
            impl.require(_DOMINANCE)
        progress = changed = self.progress
        while not self.is_spent():
            self.progress = False
            self.walk(first)
            if loops:  # cycles of phis
                self.progress |= remove_dead_code(impl)
            progress |= self.progress
            changed |= self.progress
            if self.progress and _is_unsettled(impl):
                first = False
            elif changed and self.protected is not None and self.protected.forget():
                first, changed = True, False  # fewer values may lead to the position now
            else:
                break
        return progress

    def walk(self, everything: bool) -> None:
        """Look at what is not settled, or at all there is, in source order."""
        self.seen, self.order = {}, BlockOrder()
        remember, step = self.seen.setdefault, self.step
        levels = self.rules.depth - 1 if self.rules is not None else 0
        for block in list_blocks(self.impl.body):
            following = block.first
            while following is not None:
                instr, following = following, following.next
                if not everything:
                    if instr.settled == SETTLED:
                        key = expression_key(instr)
                        if key is None or remember(key, instr) is instr:
                            continue
                    elif instr.settled == CHANGED and instr.__class__ is Alu:
                        _unsettle_above(instr, levels)
                made = step(instr)
                if made:
                    self.go_on(made)

    def go_on(self, made: Sequence[Instr]) -> None:
        """Look at what has taken the place of an instruction."""
        stack = [*reversed(made)]
        while stack and not (self.budget <= 0 and self.is_spent()):
            instr = stack.pop()
            if instr.block is not None:
                stack += reversed(self.step(instr))

    def step(self, instr: Instr) -> Sequence[Instr]:
        """Make one change; answers what is to be looked at because of it."""
        dest = instr.dest
        if dest is None:
            instr.settled = SETTLED
            if instr.__class__ is Intrinsic and instr.info.name in SLOT_ACCESSES:
                self.progress |= fold_slot(instr, self.impl.shader.stage)
                if instr.block is not None and instr.info.name == "store_output":
                    self.progress |= store_less(instr)
            return ()
        if not dest.uses and not has_side_effects(instr):
            remove_unused(instr)
            self.progress = True
            return ()
        if instr.__class__ is Alu:
            made = self.arithmetic(instr)
            if made is not None:
                self.progress = True
                return made
        elif instr.__class__ is Phi:
            same = is_phi_of_same(instr)
            if same is not None:
                instr.replace_by(same)
                self.progress = True
                return ()
        elif instr.__class__ is Intrinsic and instr.info.name in SLOT_ACCESSES:
            if fold_slot(instr, self.impl.shader.stage):
                self.progress = True
                if instr.block is None:
                    return ()
        instr.settled = SETTLED
        make_key = EXPRESSION_KEYS.get(instr.__class__)
        if make_key is not None:
            key = make_key(instr)
            if key is not None:
                known = self.seen.setdefault(key, instr)
                if known is not instr:
                    self.share(key, known, instr)
        return ()

    def arithmetic(self, instr: Alu) -> Sequence[Instr] | None:
        """What an operation is replaced by, if it is; itself, if it only reads something else."""
        constant = True
        special = instr.op.is_copy
        for src in instr.srcs:
            source = src.value.instr
            if source.__class__ is not LoadConst:
                constant = False
                if source.__class__ is Alu:
                    special = special or source.op.is_copy
                elif source.__class__ is Undef:
                    special = True
        if constant:
            return (fold(instr),)
        if special and self.look_through(instr):
            return (instr,)
        rules = self.rules
        if rules is not None:
            candidates = rules.candidates(instr)
            if candidates:
                made = rewrite(instr, candidates, self.protected)
                if instr.block is None:
                    self.budget -= 1
                    return made
        return None

    def look_through(self, instr: Alu) -> bool:
        """Do away with copies, made or read, and with undefined sources. Did anything change?"""
        progress = False
        if instr.op.is_copy:
            progress = see_through(instr)
            if not instr.dest.uses:
                remove_unused(instr)
                return True
        undefined = False
        for src in instr.srcs:
            source = src.value.instr
            if source.__class__ is Alu and source.op.is_copy and absorb(source, src):
                progress = True
                if not source.dest.uses:
                    remove_unused(source)
            undefined = undefined or source.__class__ is Undef
        if undefined and use_undefined(instr):
            return True
        return progress

    def share(self, key: Hashable, known: Instr, instr: Instr) -> None:
        """Let users read an equal value that a dominating instruction has computed."""
        here, there = instr.block, known.block
        if (
            there is None
            or here is None
            or (there is not here and not there.dominates(here))
            or (
                known.__class__ is not LoadConst
                and expression_key(known) != key  # it reads something else by now
            )
        ):
            self.seen[key] = instr
            return
        if there is here and self.order.comes_before(instr, known):  # made out of order by a rule
            self.seen[key] = instr
            known, instr = instr, known
        if isinstance(instr, Alu) and isinstance(known, Alu):
            known.exact |= instr.exact
        if self.protected is not None:
            self.protected.inherit(instr.result, [known.result])
        instr.replace_by(known.result)
        self.progress = True


def _is_unsettled(impl: FunctionImpl) -> bool:
    """Is there an instruction that has changed since it was looked at?"""
    for block in list_blocks(impl.body):
        at = block.first
        while at is not None:
            if at.settled != SETTLED:
                return True
            at = at.next
    return False


def _unsettle_above(instr: Alu, levels: int) -> None:
    """Search trees reach down so far: what stands above a change may match now."""
    below = [instr]
    for _ in range(levels):
        users: list[Alu] = []
        for alu in below:
            for src in alu.dest.uses:
                user = src.parent
                if user.__class__ is Alu and user.settled == SETTLED:
                    user.settled = NEAR_CHANGE
                    users.append(user)
        if not users:
            return
        below = users
