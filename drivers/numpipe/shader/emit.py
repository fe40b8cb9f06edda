"""The emitter: a lane program becomes the source text of one Python function.

The function has the shader's structure: uniform control flow is a plain `if` or `while`; a
divergent `if` gathers what each side reads, runs the side on its lanes, and scatters the results; a
divergent loop runs on a shrinking set of lanes: lanes that leave record their exit values and stay
as passengers until a quarter of the set is gone, then the set is compacted.

Straight-line operations are in `emit_ops`, ifs here, loops in `emit_loops`.
"""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import lazy_dataclass

from .emit_loops import LoopEmitter
from .lane_ir import BreakOp, ContinueOp, IfOp, LaneValue, LoopOp, Op, Region
from .scopes import Register, Scope
from .walking import has_jump, touches_memory


@lazy_dataclass()
class _Join:
    """One result of a divergent if: which of its two values exists only for the lanes of
    one side.
    """

    result: LaneValue
    values: tuple[LaneValue, LaneValue]
    inside: tuple[bool, bool]
    register: Register


class Emitter(LoopEmitter):
    """Turns the whole program into text."""

    def run(self) -> str:
        self.region(self.program.root)
        head = ["def run(lanes, count, views, state, spend, helper, quads):"]
        head += [f"    {line}" for line in self.header()]
        foot = [f"    {line}" for line in self.footer()]
        self.sources = [0] * len(head) + self.sources + [0] * len(foot)
        return "\n".join([*head, *self.lines, *foot]) + "\n"

    def region(self, region: Region) -> None:
        outer, self.current = self.current, region
        for item in region.items:
            if isinstance(item, Op):
                self.source = item.loc
                self.op(item)
                self.source = 0
            elif isinstance(item, IfOp):
                if item.divergent:
                    self.divergent_if(item)
                else:
                    self.uniform_if(item)
            elif isinstance(item, LoopOp):
                if item.divergent:
                    self.divergent_loop(item)
                else:
                    self.uniform_loop(item)
            elif isinstance(item, BreakOp):
                self.leave(item)
            else:
                assert isinstance(item, ContinueOp)
                self.again(item)
        self.current = outer

    # -- uniform ifs ---------------------------------------------------------------------------

    def uniform_if(self, item: IfOp) -> None:
        condition = self.read(item.cond, "b1", lanes=False)
        self.line(f"if {'not ' if item.negated else ''}{condition}:")
        self.uniform_side(item, item.then, 1)
        if item.else_.items or item.joins:
            self.line("else:")
            self.uniform_side(item, item.else_, 2)
        self.place_assigned([join[0] for join in item.joins])

    def uniform_side(self, item: IfOp, region: Region, which: int) -> None:
        with self.indented():
            before = len(self.lines)
            self.region(region)
            outer, self.current = self.current, region
            for join in item.joins:
                self.assign(join[0], join[which])
            self.current = outer
            if len(self.lines) == before:
                self.line("pass")
        self.file.expire(self.scope, self.last_pos(region), region)
        self.file.leave(self.scope, region)

    # -- divergent ifs -------------------------------------------------------------------------

    def divergent_if(self, item: IfOp) -> None:
        scope = self.scope
        sides = (item.then, item.else_)
        condition = self.read(item.cond, "b1")
        shortcut = not (scope.live or any(has_jump(s) or s.quads for s in sides))
        joins = [
            _Join(
                result,
                (a, b),
                (self.belongs(a, item.then), self.belongs(b, item.else_)),
                self.file.fresh(scope, self.current, result.kind),
            )
            for result, a, b in item.joins
        ]
        for join in joins:
            self.prepare(join, item.negated, condition, shortcut)
        for which, side in enumerate(sides):
            if side.items:
                self.divergent_side(which, side, item.negated, condition, joins, shortcut)
        for join in joins:
            self.file.place(scope, join.result, join.register)

    def belongs(self, value: LaneValue, side: Region) -> bool:
        """Whether the value is defined in this side, so that it exists only if the side has run."""
        return value.const is None and value.region is side

    def prepare(self, join: _Join, negated: bool, condition: str, shortcut: bool) -> None:
        """Initialise the result before any side has run."""
        a, b = join.values
        name, kind = join.register.name, join.result.kind
        if join.inside == (False, False):
            if negated:
                a, b = b, a
            self.line(f"{name} = {self.copied(b, kind)}")
            self.line(f"putmask({name}, {condition}, {self.read(a, kind)})")
        elif join.inside != (True, True):
            self.line(f"{name} = {self.copied(b if join.inside[0] else a, kind)}")
        elif not shortcut:
            self.line(f"{name} = empty({self.scope.count}, {kind})")

    def divergent_side(
        self,
        which: int,
        side: Region,
        negated: bool,
        condition: str,
        joins: list[_Join],
        shortcut: bool,
    ) -> None:
        outer, tag = self.scope, self.tag()
        wants_true = (which == 0) != negated
        mask = self.side_mask(condition, wants_true, tag)
        inner = Scope(side, outer, f"n{tag}", index=f"at{tag}", loop=outer.loop)
        if side.quads or self.has_early_jump(side):
            inner.live = f"live{tag}"
        self.line(f"{inner.count} = count_nonzero({mask})")
        self.line(f"if {inner.count}:")
        with self.indented():
            if shortcut:
                self.line(f"if {inner.count} == {outer.count}:")
                with self.indented():
                    self.line(f"{inner.index} = None")
                    self.gather_reads(side, inner, "")
                self.line("else:")
                with self.indented():
                    self.line(f"{inner.index} = {mask}.nonzero()[0]")
                    self.gather_reads(side, inner, inner.index)
            else:
                chosen = f"lanes_of({mask}, quads)" if side.quads else f"{mask}.nonzero()[0]"
                self.line(f"{inner.index} = {chosen}")
                if side.quads:
                    self.line(f"{inner.count} = {inner.index}.size")
                if inner.live:
                    self.line(f"{inner.live} = {mask}.take({inner.index})")
                self.gather_reads(side, inner, inner.index)
            if touches_memory(side):
                inner.lanes = f"lanes{tag}"
                self.line(f"{inner.lanes} = sub({outer.lanes}, {inner.index})")
            self.scope = inner
            self.region(side)
            self.scatter_results([j for j in joins if j.inside[which]], which, side, shortcut)
            self.scope = outer

    def side_mask(self, condition: str, wants_true: bool, tag: int) -> str:
        """The name of a mask of the lanes that take this side."""
        live = self.scope.live
        if wants_true and not live:
            return condition
        if live:
            text = f"logical_and({condition}, {live})" if wants_true else ""
            text = text or f"greater({live}, {condition})"
        else:
            text = f"logical_not({condition})"
        self.line(f"m{tag} = {text}")
        return f"m{tag}"

    def has_early_jump(self, side: Region) -> bool:
        """Whether some of the side's lanes may leave the loop before the side ends."""
        return any(isinstance(i, IfOp) and has_jump_inside(i) for i in side.items)

    def gather_reads(self, side: Region, inner: Scope, index: str) -> None:
        """Emit the reads of values defined outside a branch, for the lanes that take the branch."""
        for value in side.livein:
            outer = self.read(value)
            register = inner.places.get(value.id)
            if register is None:
                register = self.file.fresh(inner, side, value.kind, owned=False)
                inner.places[value.id] = register
            self.line(
                f"{register.name} = {outer}.take({index})"
                if index
                else f"{register.name} = {outer}"
            )

    def scatter_results(self, joins: list[_Join], which: int, side: Region, shortcut: bool) -> None:
        """Scatter the side's values into the results."""
        if not joins:
            return
        inner = self.scope
        outer = inner.parent
        assert outer is not None
        index = inner.index
        chosen = ""
        if inner.live:
            chosen = f"{index}_"
            self.line(f"{chosen} = {inner.live}.nonzero()[0]")
            self.line(f"{index} = {index}[{chosen}]")
        if shortcut:
            self.line(f"if {index} is None:")
            with self.indented():
                moved: set[str] = set()
                for join in joins:
                    self.line(f"{join.register.name} = {self.moved(join, which, moved)}")
            self.line("else:")
        with self.indented(int(shortcut)):
            for join in joins:
                name, kind = join.register.name, join.result.kind
                value = join.values[which]
                if shortcut and join.inside == (True, True) and which == 0:
                    self.line(f"{name} = empty({outer.count}, {kind})")
                text = self.read(value, kind)
                if chosen and value.varying:
                    text = f"{text}.take({chosen})"
                self.line(f"{name}[{index}] = {text}")

    def moved(self, join: _Join, which: int, moved: set[str]) -> str:
        """The value itself if no other value shares its array, else a copy."""
        value = join.values[which]
        if value.varying:
            register = self.scope.find(value)
            kind = join.result.kind
            if register.owned and register.kind == kind and register.name not in moved:
                moved.add(register.name)
                return register.name
        return self.copied(value, join.result.kind)


def has_jump_inside(item: IfOp) -> bool:
    return has_jump(item.then) or has_jump(item.else_)
