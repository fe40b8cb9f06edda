"""Loops: uniform ones are a plain `while`, divergent ones run on a shrinking set of lanes.

In a divergent loop every iteration runs all lanes of the current set, including passengers that
have left but have not been compacted away yet; `live` masks them, `left` counts those still
running. A `continue` of some lanes only stores their next values until the others arrive.
"""

from __future__ import annotations

from .emit_ops import OpEmitter
from .lane_ir import BreakOp, ContinueOp, LaneValue, LoopOp, Region
from .scopes import Register, Scope
from .walking import touches_memory

COMPACT_ABOVE = 512
"""The smallest set of lanes worth compacting: below it, calls cost more than elements."""


class LoopEmitter(OpEmitter):
    """Adds loops to straight-line operations."""

    def region(self, region: Region) -> None:
        raise AssertionError("the emitter proper walks regions")

    def last_pos(self, region: Region) -> int:
        """A position after everything in the region."""
        return max((self.end_of(item) for item in region.items), default=0)

    def end_of(self, item: object) -> int:
        for name in ("merge_pos", "end_pos", "pos"):
            if hasattr(item, name):
                return int(getattr(item, name))
        return 0

    # -- phis of uniform control flow --------------------------------------------------------------

    def assign(self, result: LaneValue, value: LaneValue) -> None:
        """Emit `result = value`: scalars by name, lanes by copy into a register of the result."""
        if not result.varying:
            self.line(f"{self.uniform_name(result)} = {self.read(value, result.kind, lanes=False)}")
            return
        register = self.assigned.get(result.id)
        if register is None:
            register = self.file.fresh(self.scope, result.region, result.kind)
            self.assigned[result.id] = register
        self.line(f"{register.name} = {self.copied(value, result.kind)}")

    def place_assigned(self, results: list[LaneValue]) -> None:
        for result in results:
            if result.varying:
                self.file.place(self.scope, result, self.assigned.pop(result.id))

    # -- uniform loops -------------------------------------------------------------------------

    def uniform_loop(self, loop: LoopOp) -> None:
        self.start_carried(loop, self.scope, "")
        self.loops.append((loop, self.scope))
        self.line("while True:")
        with self.indented():
            self.spend()
            self.region(loop.body)
        self.loops.pop()
        self.file.expire(self.scope, self.last_pos(loop.body), loop.body)
        self.file.leave(self.scope, loop.body)
        self.place_assigned(loop.exits)

    def spend(self) -> None:
        """Charge every iteration as work of the draw, which is limited."""
        self.line(f"spend({self.scope.count})")

    def start_carried(self, loop: LoopOp, scope: Scope, index: str) -> None:
        """Emit the initial values of carried values; `scope` is the loop's, the current one the
        outer.
        """
        for value, initial in zip(loop.carried, loop.initial, strict=True):
            if not value.varying:
                text = self.read(initial, value.kind, lanes=False)
                self.line(f"{self.uniform_name(value)} = {text}")
                continue
            register = self.file.fresh(scope, self.current, value.kind)
            if index and initial.varying:
                text = f"{self.read(initial, value.kind)}.take({index})"
            elif initial.varying:
                text = f"{self.read(initial, value.kind)}.copy()"
            else:
                text = f"fill({scope.count}, {self.read(initial, value.kind)}, {value.kind})"
            self.line(f"{register.name} = {text}")
            self.file.place(scope, value, register)

    # -- divergent loops -----------------------------------------------------------------------

    def divergent_loop(self, loop: LoopOp) -> None:
        outer, tag = self.scope, self.tag()
        inner = Scope(loop.body, outer, f"n{tag}", live=f"live{tag}", index=f"at{tag}", loop=loop)
        index = inner.index if outer.live else ""
        if outer.live:
            quads = "quads" if loop.body.quads else "False"
            self.line(f"{inner.index} = lanes_of({outer.live}, {quads})")
            self.line(f"{inner.count} = {inner.index}.size")
            self.line(f"{inner.live} = {outer.live}.take({inner.index})")
            self.line(f"left{tag} = count_nonzero({inner.live})")
        else:
            self.line(f"{inner.index} = None")
            self.line(f"{inner.count} = left{tag} = {outer.count}")
            self.line(f"{inner.live} = ones({inner.count}, b1)")
        carried_names = []
        for value in loop.body.livein:
            register = self.file.fresh(inner, loop.body, value.kind, owned=False)
            inner.places[value.id] = register
            suffix = f".take({index})" if index else ""
            self.line(f"{register.name} = {self.read(value)}{suffix}")
            carried_names.append(register.name)
        self.start_carried(loop, inner, index)
        exits = []
        for value in loop.exits:
            register = self.file.fresh(outer, self.current, value.kind)
            self.line(f"{register.name} = empty({outer.count}, {value.kind})")
            exits.append(register)
        if loop.watched or touches_memory(loop.body):
            inner.lanes = f"lanes{tag}"
            self.line(f"{inner.lanes} = sub({outer.lanes}, {inner.index})")
        self.exit_registers[loop] = exits
        self.shrinking[loop] = carried_names
        self.loops.append((loop, inner))
        self.scope = inner
        self.line(f"while left{tag}:")
        with self.indented():
            self.spend()
            if loop.watched:
                self.line(f"if idle({inner.live}, alive, {inner.lanes}):")
                with self.indented():
                    self.line("break")
            if loop.divergent_continue:
                self.line(f"run{tag} = {inner.live}.copy()")
                for i, value in enumerate(loop.carried):
                    if value.varying:
                        self.line(f"next{tag}_{i} = empty({inner.count}, {value.kind})")
            self.region(loop.body)
        self.loops.pop()
        self.scope = outer
        for value, register in zip(loop.exits, exits, strict=True):
            self.file.place(outer, value, register)

    def tag_of(self, loop_scope: Scope) -> str:
        return loop_scope.count[1:]

    # -- break and continue ------------------------------------------------------------------------

    def leave(self, item: BreakOp) -> None:
        loop, home = self.loops[-1]
        if not loop.divergent:
            for result, value in zip(loop.exits, item.values, strict=True):
                self.assign(result, value)
            self.line("break")
            return
        tag = self.tag_of(home)
        chosen, where = self.departing(home)
        for register, result, value in zip(
            self.exit_registers[loop], loop.exits, item.values, strict=True
        ):
            text = self.read(value, result.kind)
            if chosen and value.varying:
                text = f"{text}.take({chosen})"
            self.line(f"{register.name}[sub({home.index}, {where})] = {text}")
        if self.scope is home and not loop.divergent_continue:
            self.line("break")
            return
        self.line(f"left{tag} -= {where}.size")
        self.line(f"if not left{tag}:")
        with self.indented():
            self.line("break")
        if loop.divergent_continue:
            self.line(f"run{tag}[{where}] = False")
        if self.scope is home:
            self.merge_round(loop, home, None)
            if item.region is not loop.body:
                self.line("continue")
        else:
            self.put_out(home, where)

    def departing(self, home: Scope) -> tuple[str, str]:
        """The lanes that leave here: (selection within the current scope, numbers in the
        loop's).
        """
        scope, tag = self.scope, self.tag()
        chosen = ""
        where = scope.index
        if scope.live:
            chosen = f"w{tag}"
            self.line(f"{chosen} = {scope.live}.nonzero()[0]")
            where = chosen if scope is home else f"{scope.index}[{chosen}]"
            if scope is not home:
                self.line(f"{scope.live}[:] = False")
        at = scope.parent if scope is not home else home
        while at is not None and at is not home:
            if at.live:
                self.line(f"{at.live}[{where}] = False")
            where = f"{at.index}[{where}]"
            at = at.parent
        if where != chosen:
            self.line(f"x{tag} = {where}")
            where = f"x{tag}"
        return chosen, where

    def put_out(self, home: Scope, where: str) -> None:
        self.line(f"{home.live}[{where}] = False")

    def again(self, item: ContinueOp) -> None:
        loop, home = self.loops[-1]
        at_end = item.region is loop.body
        if not loop.divergent_continue:
            self.moves(loop, home, item)
            if loop.divergent:
                self.compact(loop, home)
            if not at_end:
                self.line("continue")
            return
        if self.scope is home:
            self.merge_round(loop, home, item)
            if not at_end:
                self.line("continue")
            return
        tag = self.tag_of(home)
        chosen, where = self.departing(home)
        for i, value in enumerate(item.values):
            if loop.carried[i].varying:
                text = self.read(value, loop.carried[i].kind)
                if chosen and value.varying:
                    text = f"{text}.take({chosen})"
                self.line(f"next{tag}_{i}[{where}] = {text}")
        self.put_out(home, where)

    def merge_round(self, loop: LoopOp, home: Scope, item: ContinueOp | None) -> None:
        """Join the lanes that arrive here with those whose next values are stored."""
        tag = self.tag_of(home)
        source = item or loop.continues[0]
        for i, (carried, value) in enumerate(zip(loop.carried, source.values, strict=True)):
            if not carried.varying:
                text = self.read(value, carried.kind, lanes=False)
                self.line(f"{self.uniform_name(carried)} = {text}")
            elif item is not None:
                text = self.read(value, carried.kind)
                self.line(f"copyto(next{tag}_{i}, {text}, where={home.live})")
        for i, carried in enumerate(loop.carried):
            if carried.varying:
                self.line(f"{home.find(carried).name} = next{tag}_{i}")
        self.line(f"{home.live} = run{tag}")
        self.compact(loop, home)

    def compact(self, loop: LoopOp, home: Scope) -> None:
        """Compact the values that the loop carries once a quarter of the lanes has left."""
        tag = self.tag_of(home)
        outer = home.parent
        assert outer is not None
        names = list(self.shrinking[loop])
        names += [home.find(v).name for v in loop.carried if v.varying]
        self.line(f"if left{tag} * 4 < {home.count} * 3 and {home.count} > {COMPACT_ABOVE}:")
        with self.indented():
            keep = f"keep{self.tag()}"
            quads = "quads" if loop.body.quads else "False"
            self.line(f"{keep} = lanes_of({home.live}, {quads})")
            self.line(f"{home.index} = sub({home.index}, {keep})")
            self.line(f"{home.count} = {keep}.size")
            self.line(f"{home.live} = {home.live}.take({keep})")
            for name in names:
                self.line(f"{name} = {name}.take({keep})")
            if home.lanes != "None":
                self.line(f"{home.lanes} = sub({outer.lanes}, {home.index})")

    def moves(self, loop: LoopOp, home: Scope, item: ContinueOp) -> None:
        """Assign all carried values at once; where possible, arrays are renamed instead
        of copied.
        """
        left: list[str] = []
        right: list[str] = []
        targets: list[Register] = []
        sources: list[Register] = []
        taken: set[str] = set()
        for carried, value in zip(loop.carried, item.values, strict=True):
            if value is carried:
                continue
            if not carried.varying:
                left.append(self.uniform_name(carried))
                right.append(self.read(value, carried.kind, lanes=False))
                continue
            target = home.find(carried)
            source = self.movable(loop, value, item, target, taken)
            if source is target:
                taken.add(target.name)
                continue
            left.append(target.name)
            if source is None:
                right.append(self.copied(value, carried.kind))
            else:
                taken.add(source.name)
                right.append(source.name)
                targets.append(target)
                sources.append(source)
        spare = [t for t in targets if t not in sources]
        for source in sources:
            if source.name in left:
                continue
            for other in spare:
                if other.kind == source.kind:
                    spare.remove(other)
                    left.append(source.name)
                    right.append(other.name)
                    break
        if left:
            self.line(f"{', '.join(left)} = {', '.join(right)}")

    def movable(
        self,
        loop: LoopOp,
        value: LaneValue,
        item: ContinueOp,
        target: Register,
        taken: set[str],
    ) -> Register | None:
        """The value's register if it can be renamed to the carried value's instead of copied.

        That is so for a value of this iteration that nothing reads later.
        """
        if not value.varying or value.region.depth < loop.body.depth or value.end > item.pos:
            return None
        if value in loop.carried and item.values[loop.carried.index(value)] is value:
            return None  # carried unchanged
        register = self.scope.find(value)
        if not register.owned or register.kind != target.kind or register.name in taken:
            return None
        return register
