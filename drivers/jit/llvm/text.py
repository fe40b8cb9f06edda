"""A builder that writes the text of an LLVM module, function by function.

Text is several times faster to create than a binding's objects, and `explain` shows it as it is.
Mutable variables are `alloca`s in the entry block, which LLVM's first pass promotes to registers,
so the builder needs no phi nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .values import Operand, V, bits_of, constant_text, type_text

PIECE = 16
"""Lanes gathered or scattered at a time: those of the widest registers."""

_LONGEST_BLOCK = 8192
"""The longest basic block, in instructions. LLVM's time grows with the square of a block's length;
below this, the effect is small.
"""

_CUT_BLOCK = 2048


class Var:
    """A mutable variable."""

    __slots__ = ("b", "n", "t", "w")

    def __init__(self, b: Builder, t: str, w: int, n: str) -> None:
        self.b = b
        self.t = t
        self.w = w
        self.n = n

    def get(self) -> V:
        type = type_text(self.t, self.w)
        return self.b.emit(self.t, self.w, f"load {type}, ptr {self.n}")

    def set(self, value: Operand) -> None:
        new = self.b.spread(self.b.const(self.t, value), self.w)
        # LLVM's verifier would accept it, and the store would overwrite the memory after it
        assert (new.t, new.w) == (self.t, self.w), (new, self.t, self.w)
        self.b.line(f"store {new.type} {new.n}, ptr {self.n}")

    def update(self, mask: V | None, value: Operand) -> None:
        """Set the lanes of a mask (without a mask, all)."""
        if mask is None:
            self.set(value)
        else:
            self.set(self.b.select(mask, self.b.const(self.t, value), self.get()))


class Builder:
    """Writes instructions into the current block of the current function."""

    def __init__(self) -> None:
        self._declared: dict[str, str] = {}
        self._finished: list[str] = []
        self._globals: list[str] = []
        self._tables: dict[tuple[str, tuple[float, ...]], str] = {}  # names of constant arrays
        self._number = 0
        self._lines: list[Any] = []  # lines, and lists of lines written later
        self._entry: list[Any] = []
        self._known: dict[Any, V] = {}  # values computed once in the entry block, by key
        self._fixed: set[str] = set()  # names of values of the entry block
        self._rooms: dict[tuple[str, int], V] = {}  # see `_scratch`
        self._head = ""
        self.open = False
        """Whether the current block has no terminator yet."""

    # -- functions -------------------------------------------------------------------------------

    def begin(self, name: str, args: Sequence[tuple[str, str]], result: str = "void") -> list[V]:
        """Start a function; its arguments are (type, name) pairs."""
        text = ", ".join(
            f"{type} noalias %{arg}" if type == "ptr" else f"{type} %{arg}" for type, arg in args
        )
        self._head = f"define {result} @{name}({text}) nounwind {{\nentry:"
        self._lines, self._entry, self._known, self._fixed = [], [], {}, set()
        self._rooms = {}
        self.open = True
        return [V(self, type, 0, f"%{arg}") for type, arg in args]

    def end(self) -> None:
        """Finish the function."""
        if self.open:
            self.line("ret void")
        lines = [*self._entry, "br label %start", "start:", *self._lines]
        body = list(_flat(lines))
        if len(body) > _LONGEST_BLOCK:
            body = _with_short_blocks(body)
        self._finished.append("\n".join((self._head, *body, "}")))

    @contextmanager
    def apart(self, name: str, args: Sequence[tuple[str, int]], result: str) -> Iterator[list[V]]:
        """Write a function of the module's own, whose arguments are (type, lanes), and continue
        with the current one. The writer ends it with a return.
        """
        kept = (self._head, self._lines, self._entry, self._known, self._fixed, self._rooms)
        types = [type_text(t, w) for t, w in args]
        self.begin(name, [(each, f"a{i}") for i, each in enumerate(types)], f"internal {result}")
        yield [V(self, t, w, f"%a{i}") for i, (t, w) in enumerate(args)]
        self.open = False
        self.end()
        self._head, self._lines, self._entry, self._known, self._fixed, self._rooms = kept
        self.open = True

    def text(self) -> str:
        """The module's text."""
        return "\n".join((*self._globals, *self._declared.values(), *self._finished, ""))

    def comment(self, text: str) -> None:
        self._lines.append(f"; {text}")

    def line(self, text: str) -> None:
        self._lines.append(text)

    def fresh(self) -> str:
        self._number += 1
        return f"%v{self._number}"

    def emit(self, t: str, w: int, text: str) -> V:
        """Emit an instruction with a result."""
        self._number += 1
        name = f"%v{self._number}"
        self._lines.append(f"{name} = {text}")
        return V(self, t, w, name)

    def table(self, t: str, values: Sequence[float]) -> V:
        """A constant array in memory."""
        key = t, tuple(values)
        name = self._tables.get(key)
        if name is None:
            name = self._tables[key] = f"@table{len(self._tables)}"
            items = ", ".join(f"{t} {constant_text(t, v)}" for v in values)
            text = f"private unnamed_addr constant [{len(values)} x {t}] [{items}], align 64"
            self._globals.append(f"{name} = {text}")
        return V(self, "ptr", 0, name)

    @contextmanager
    def in_entry(self) -> Iterator[None]:
        """Write into the entry block instead, for values that are needed everywhere."""
        before = self._number
        with self.into(self._entry):
            yield
        self._fixed.update(f"%v{number}" for number in range(before + 1, self._number + 1))

    def is_fixed(self, value: V) -> bool:
        """Whether a value is computed in the entry block."""
        return value.n in self._fixed

    def once(self, key: Any, of: V, make: Callable[[], V]) -> V:
        """Compute an instruction that depends only on `of` once, in the entry block if `of` is
        computed there.
        """
        if not self.is_fixed(of):
            return make()
        found = self._known.get((key, of.n))
        if found is None:
            with self.in_entry():
                found = self._known[key, of.n] = make()
        return found

    def reserve(self) -> list[Any]:
        """Reserve a place in the text that is written later, with `into`."""
        place: list[Any] = []
        self._lines.append(place)
        return place

    @contextmanager
    def into(self, place: list[Any]) -> Iterator[None]:
        """Write into a reserved place."""
        lines, self._lines = self._lines, place
        was_open, self.open = self.open, True
        try:
            yield
        finally:
            self._lines, self.open = lines, was_open

    # -- values ----------------------------------------------------------------------------------

    def const(self, t: str, value: Operand) -> V:
        """A number as a value; values are returned unchanged."""
        if isinstance(value, V):
            return value
        return V(self, t, 0, constant_text(t, value), True)

    def like(self, model: V, value: Operand) -> V:
        """A number in the type of `model`; values are returned unchanged."""
        return value if isinstance(value, V) else self.const(model.t, value)

    def spread(self, value: V, w: int) -> V:
        """A scalar repeated in all lanes."""
        if value.w == w or not w:
            return value
        assert not value.w, (value, w)
        if value.literal:
            return V(self, value.t, w, f"splat ({value.t} {value.n})", True)
        type = type_text(value.t, w)
        one = self.emit(value.t, w, f"insertelement {type} poison, {value.t} {value.n}, i32 0")
        return self.emit(
            value.t, w, f"shufflevector {type} {one.n}, {type} poison, <{w} x i32> zeroinitializer"
        )

    def lanes(self, t: str, values: Sequence[float]) -> V:
        """A constant vector."""
        items = ", ".join(f"{t} {constant_text(t, v)}" for v in values)
        return V(self, t, len(values), f"<{items}>", True)

    def even(self, a: V, b: Operand) -> tuple[V, V]:
        """Both operands with the same number of lanes."""
        other = self.like(a, b)
        w = a.w or other.w
        return self.spread(a, w), self.spread(other, w)

    def binary(self, op: str, a: V, b: Operand) -> V:
        left, right = self.even(a, b)
        return self.emit(left.t, left.w, f"{op} {left.type} {left.n}, {right.n}")

    def compare(self, how: str, a: V, b: Operand) -> V:
        left, right = self.even(a, b)
        op = "fcmp" if left.is_float else "icmp"
        return self.emit("i1", left.w, f"{op} {how} {left.type} {left.n}, {right.n}")

    def cast(self, op: str, a: V, t: str) -> V:
        return self.emit(t, a.w, f"{op} {a.type} {a.n} to {type_text(t, a.w)}")

    def select(self, cond: V, a: Operand, b: Operand) -> V:
        """`a` where the condition holds, else `b`."""
        if not isinstance(a, V):
            assert isinstance(b, V)
            a = self.like(b, a)
        left, right = self.even(a, b)
        w = max(left.w, cond.w)
        left, right = self.spread(left, w), self.spread(right, w)
        return self.emit(
            left.t, w, f"select {cond.type} {cond.n}, {left.type} {left.n}, {right.type} {right.n}"
        )

    def call(self, name: str, result: str, args: Sequence[V], w: int = -1) -> V:
        """Call an intrinsic or function; `w` is the number of lanes of the result."""
        w = args[0].w if w < 0 else w
        type = type_text(result, w) if result != "void" else result
        if name not in self._declared:
            self._declared[name] = f"declare {type} @{name}({', '.join(a.type for a in args)})"
        text = f"call {type} @{name}({', '.join(f'{a.type} {a.n}' for a in args)})"
        if result == "void":
            self.line(text)
            return V(self, "void", 0, "")
        return self.emit(result, w, text)

    def math(self, name: str, *args: Operand) -> V:
        """An overloaded LLVM intrinsic whose arguments and result have one type."""
        first = next(a for a in args if isinstance(a, V))
        w = max(a.w for a in args if isinstance(a, V))
        values = [self.spread(self.like(first, a), w) for a in args]
        suffix = _suffix(first.t, w)
        return self.call(f"llvm.{name}.{suffix}", first.t, values)

    def flagged(self, name: str, value: V, flag: bool) -> V:
        """Call `ctlz`, `cttz` or `abs`, which take a value and a constant flag."""
        full = f"llvm.{name}.{_suffix(value.t, value.w)}"
        return self.call(full, value.t, [value, self.const("i1", flag)], value.w)

    def convert(self, name: str, value: V, t: str) -> V:
        """An intrinsic with another result type, such as `fptosi.sat`."""
        full = f"llvm.{name}.{_suffix(t, value.w)}.{_suffix(value.t, value.w)}"
        return self.call(full, t, [value])

    def fma(self, a: V, b: V, c: V) -> V:
        """a b + c, rounded once."""
        return self.math("fma", a, b, c)

    # -- lanes -------------------------------------------------------------------------------------

    def extract(self, value: V, lane: V | int) -> V:
        """One lane of a vector."""
        if not value.w:
            return value
        index = f"i32 {lane}" if isinstance(lane, int) else f"{lane.type} {lane.n}"
        return self.emit(value.t, 0, f"extractelement {value.type} {value.n}, {index}")

    def insert(self, value: V, item: V, lane: V | int) -> V:
        index = f"i32 {lane}" if isinstance(lane, int) else f"{lane.type} {lane.n}"
        return self.emit(
            value.t,
            value.w,
            f"insertelement {value.type} {value.n}, {item.type} {item.n}, {index}",
        )

    def shuffle(self, value: V, lanes: Sequence[int], other: V | None = None) -> V:
        """Lanes of one or two vectors in another order."""
        numbers = ", ".join(f"i32 {i}" for i in lanes)
        second = f"{value.type} {other.n if other is not None else 'poison'}"
        text = f"shufflevector {value.type} {value.n}, {second}, <{len(lanes)} x i32> <{numbers}>"
        return self.emit(value.t, len(lanes), text)

    def regroup(self, value: V, t: str, w: int) -> V:
        """The bits of a vector as `w` lanes of another size."""
        return self.emit(t, w, f"bitcast {value.type} {value.n} to {type_text(t, w)}")

    def bitmask(self, mask: V) -> V:
        """A mask as an integer with a bit per lane."""
        return self.emit(f"i{mask.w}", 0, f"bitcast {mask.type} {mask.n} to i{mask.w}")

    def mask_of(self, bits: V) -> V:
        """An integer's bits as a mask."""
        w = bits.bits
        return self.emit("i1", w, f"bitcast {bits.type} {bits.n} to <{w} x i1>")

    def any(self, mask: V) -> V:
        """Whether any lane is set."""
        return self.bitmask(mask).ne(0) if mask.w else mask

    # -- memory ------------------------------------------------------------------------------------

    def alloca(self, t: str, w: int = 0, count: int = 0) -> str:
        """Reserve memory in the function's frame."""
        name = self.fresh()
        type = type_text(t, w)
        size = f"[{count} x {type}]" if count else type
        self._entry.append(f"{name} = alloca {size}, align 64")
        return name

    def var(self, t: str, w: int = 0, value: Operand | None = None) -> Var:
        """A variable, initialised unless no value is given."""
        made = Var(self, t, w, self.alloca(t, w))
        if value is not None:
            made.set(value)
        return made

    def zeroed(self, t: str, w: int = 0) -> Var:
        """A variable that is zero from the function's beginning."""
        made = Var(self, t, w, self.alloca(t, w))
        type = type_text(t, w)
        self._entry.append(f"store {type} zeroinitializer, ptr {made.n}")
        return made

    def at(self, pointer: V, index: Operand, t: str) -> V:
        """The address of element `index` of an array of `t`."""
        i = self.const("i64", index)
        w = max(pointer.w, i.w)
        return self.emit("ptr", w, f"getelementptr {t}, {pointer.type} {pointer.n}, {i.type} {i.n}")

    def load(self, pointer: V, t: str, w: int = 0, align: int = 0, invariant: bool = False) -> V:
        align = align or max(1, bits_of(t) // 8)
        more = ", !invariant.load !{}" if invariant else ""
        text = f"load {type_text(t, w)}, ptr {pointer.n}, align {align}{more}"
        return self.emit(t, w, text)

    def store(self, pointer: V, value: V, align: int = 0) -> None:
        align = align or max(1, value.bits // 8)
        self.line(f"store {value.type} {value.n}, ptr {pointer.n}, align {align}")

    def load_at(self, pointer: V, index: Operand, t: str, w: int = 0, align: int = 0) -> V:
        """Load from an array; with lanes, `w` consecutive elements."""
        return self.load(self.at(pointer, index, t), t, w, align)

    def copy(self, to: V, source: V, size: V) -> None:
        """Copy bytes between ranges that do not overlap."""
        name = "llvm.memcpy.p0.p0.i64"
        self._declare(name, f"void @{name}(ptr, ptr, i64, i1)")
        self.line(f"call void @{name}(ptr {to.n}, ptr {source.n}, i64 {size.n}, i1 false)")

    def masked_load(self, pointer: V, mask: V, t: str) -> V:
        """Load consecutive elements for the set lanes; zero in the others."""
        w, type = mask.w, type_text(t, mask.w)
        name = f"llvm.masked.load.{_suffix(t, w)}.p0"
        align = max(1, bits_of(t) // 8)
        self._declare(name, f"{type} @{name}(ptr, i32, {mask.type}, {type})")
        text = f"call {type} @{name}(ptr {pointer.n}, i32 {align}, {mask.type} {mask.n}, "
        return self.emit(t, w, f"{text}{type} zeroinitializer)")

    def masked_store(self, pointer: V, mask: V, value: V) -> None:
        """Store the set lanes to consecutive elements."""
        value = self.spread(value, mask.w)
        name = f"llvm.masked.store.{_suffix(value.t, mask.w)}.p0"
        align = max(1, value.bits // 8)
        self._declare(name, f"void @{name}({value.type}, ptr, i32, {mask.type})")
        self.line(
            f"call void @{name}({value.type} {value.n}, ptr {pointer.n}, i32 {align}, "
            f"{mask.type} {mask.n})"
        )

    def gather(self, pointers: V, mask: V, t: str, align: int = 0) -> V:
        """Elements at an address per lane; zero where the mask is not set."""
        if pointers.w > PIECE:
            found = self._scratch("values", t, pointers.w)
            with self._pieces(pointers, mask) as (at, some, there):
                self.store(self.at(found, at, t), self.gather(some, there, t, align))
            return self.load(found, t, pointers.w)
        w, type = pointers.w, type_text(t, pointers.w)
        name = f"llvm.masked.gather.{_suffix(t, w)}.v{w}p0"
        align = align or max(1, bits_of(t) // 8)
        self._declare(name, f"{type} @{name}({pointers.type}, i32, <{w} x i1>, {type})")
        mask = self.spread(mask, w)
        text = f"call {type} @{name}({pointers.type} {pointers.n}, i32 {align}, "
        return self.emit(t, w, f"{text}{mask.type} {mask.n}, {type} zeroinitializer)")

    def scatter(self, pointers: V, mask: V, value: V) -> None:
        """Store to an address per set lane; of equal addresses the last lane's value remains."""
        w = pointers.w
        value, mask = self.spread(value, w), self.spread(mask, w)
        if w > PIECE:
            given = self._scratch("values", value.t, w)
            self.store(given, value)
            with self._pieces(pointers, mask) as (at, some, there):
                self.scatter(some, there, self.load_at(given, at, value.t, PIECE))
            return
        name = f"llvm.masked.scatter.{_suffix(value.t, w)}.v{w}p0"
        align = max(1, value.bits // 8)
        self._declare(name, f"void @{name}({value.type}, {pointers.type}, i32, {mask.type})")
        self.line(
            f"call void @{name}({value.type} {value.n}, {pointers.type} {pointers.n}, "
            f"i32 {align}, {mask.type} {mask.n})"
        )

    @contextmanager
    def _pieces(self, pointers: V, mask: V) -> Iterator[tuple[V, V, V]]:
        """A loop over pieces of the lanes: each piece's first lane, pointers and mask.

        Processors cannot access all lanes of a wide group at once. LLVM would unroll the access,
        keeping a copy of all values per lane in the function's frame, which would then exceed any
        stack.
        """
        w = pointers.w
        where, which = self._scratch("pointers", "ptr", w), self._scratch("mask", "i8", w)
        self.store(where, pointers, 8)
        self.store(which, self.spread(mask, w).to("i8", False))
        with self.loop(self.const("i64", 0), self.const("i64", w), PIECE) as at:
            there = self.load_at(which, at, "i8", PIECE).ne(0)
            yield at, self.load_at(where, at, "ptr", PIECE, 8), there

    def _scratch(self, what: str, t: str, w: int) -> V:
        """Memory for a value of all lanes, shared by accesses one after the other."""
        found = self._rooms.get((what, w))
        if found is None:
            with self.in_entry():
                found = self._rooms[what, w] = V(self, "ptr", 0, self.alloca("i64", w))
        return found

    def _declare(self, name: str, signature: str) -> None:
        if name not in self._declared:
            self._declared[name] = f"declare {signature}"

    # -- control flow ------------------------------------------------------------------------------

    def block(self) -> str:
        """A name for a new block."""
        self._number += 1
        return f"b{self._number}"

    def place(self, label: str) -> None:
        """Start the block `label` here, falling into it."""
        if self.open:
            self.line(f"br label %{label}")
        self.line(f"{label}:")
        self.open = True

    def jump(self, label: str) -> None:
        if self.open:
            self.line(f"br label %{label}")
        self.open = False

    def branch(self, cond: V, yes: str, no: str, rare: bool = False) -> None:
        """Branch to `yes` or `no`; `rare` keeps values of the unlikely side out of registers."""
        if self.open:
            weights = ', !prof !{!"branch_weights", i32 1, i32 1000000}' if rare else ""
            self.line(f"br i1 {cond.n}, label %{yes}, label %{no}{weights}")
        self.open = False

    def reopen(self) -> None:
        """Continue after a terminator, in an unreachable block."""
        if not self.open:
            self.line(f"{self.block()}:")
            self.open = True

    @contextmanager
    def when(self, cond: V, rare: bool = False) -> Iterator[None]:
        """Run the block if the (scalar) condition holds."""
        yes, after = self.block(), self.block()
        self.branch(cond, yes, after, rare)
        self.place(yes)
        yield
        self.place(after)

    @contextmanager
    def loop(self, start: Operand, stop: V, step: Operand = 1) -> Iterator[V]:
        """Count from `start` to `stop` (exclusive)."""
        head, body, after = self.block(), self.block(), self.block()
        counter = self.var(stop.t, 0, start)
        self.place(head)
        i = counter.get()
        self.branch(i < stop, body, after)
        self.place(body)
        yield i
        counter.set(i + step)
        self.jump(head)
        self.place(after)

    @contextmanager
    def forever(self) -> Iterator[str]:
        """An endless loop; the yielded label is jumped to for leaving it."""
        head, after = self.block(), self.block()
        self.place(head)
        yield after
        self.jump(head)
        self.place(after)


def _flat(lines: list[Any]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str):
            yield line
        else:
            yield from _flat(line)


def is_cut(text: str) -> bool:
    """Whether the builder splits basic blocks of a module because they are too long."""
    return "\ncut0:" in text


_MOST_PLACES = 1 << 24


def has_too_many_variables(text: str) -> bool:
    """Whether variables should stay in memory, because promoting each of them visits very many
    blocks.
    """
    return text.count(" = alloca ") * text.count(":\n") > _MOST_PLACES


def _with_short_blocks(lines: list[str]) -> list[str]:
    """The body of a function, with long basic blocks split into consecutive ones."""
    found: list[str] = []
    cuts = 0
    for block in _blocks(lines):
        if len(block) <= _LONGEST_BLOCK:
            found += block
            continue
        # In any block but the first, an alloca would take stack each time it runs.
        block.sort(key=lambda line: " = alloca " not in line)
        rooms = sum(" = alloca " in line for line in block)
        for at in range(0, len(block), _CUT_BLOCK):
            if at > rooms and not block[at].startswith(_TERMINATORS):
                found += f"br label %cut{cuts}", f"cut{cuts}:"
                cuts += 1
            found += block[at : at + _CUT_BLOCK]
    return found


_TERMINATORS = "br ", "ret "


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """The function's basic blocks, each beginning with its label, except for the first one."""
    start = 0
    for at, line in enumerate(lines):
        if line.endswith(":") and at > start:
            yield lines[start:at]
            start = at
    yield lines[start:]


def _suffix(t: str, w: int) -> str:
    short = {"half": "f16", "float": "f32", "double": "f64", "ptr": "p0"}.get(t, t)
    return f"v{w}{short}" if w else short
