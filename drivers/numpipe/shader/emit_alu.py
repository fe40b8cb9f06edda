"""Arithmetic: one scalar operation for all lanes is one ufunc call.

For lanes it writes into the array of a dead value if there is one (`add(a, b, r)`), or else
allocates an array (`r = add(a, b)`). Uniform arithmetic is plain Python on NumPy scalars, which
computes the same bits as an array element.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gallette.compiler.nir.ir import minmax
from gallette.compiler.nir.ir.opcodes import Opcode

from .emit_base import OPERATION, BaseEmitter
from .kinds import AGNOSTIC
from .lane_ir import LaneValue, Op
from .scopes import Register

_OPERATORS = {
    "fadd": "+",
    "fsub": "-",
    "fmul": "*",
    "fdiv": "/",
    "iadd": "+",
    "isub": "-",
    "imul": "*",
    "flt": "<",
    "fge": ">=",
    "feq": "==",
    "fneu": "!=",
    "ilt": "<",
    "ige": ">=",
    "ieq": "==",
    "ine": "!=",
    "ult": "<",
    "uge": ">=",
    "iand": "&",
    "ior": "|",
    "ixor": "^",
}
_DERIVATIVES = {
    "fddx": (1, False),
    "fddx_fine": (1, False),
    "fddx_coarse": (1, True),
    "fddy": (2, False),
    "fddy_fine": (2, False),
    "fddy_coarse": (2, True),
}
_ONE = {"f2": 0x3C00, "f4": 0x3F800000, "f8": 0x3FF0000000000000}


class AluEmitter(BaseEmitter):
    """Adds arithmetic to naming and reading."""

    # -- results -------------------------------------------------------------------------------

    def into(self, op: Op, dst: LaneValue, keep_sources: bool = False) -> tuple[Register, bool]:
        """A register for a lane result, and whether it holds an array to overwrite.

        Unless `keep_sources`, it may be the register of a source that is read for the last time.
        """
        if not keep_sources:
            self.file.expire(self.scope, op.pos, self.current)
        register = None if dst.shared else self.file.reuse(self.scope, dst.kind)
        reused = register is not None
        if register is None:
            register = self.file.fresh(self.scope, self.current, dst.kind, not dst.shared)
        if keep_sources:
            self.file.expire(self.scope, op.pos, self.current)
        self.file.place(self.scope, dst, register)
        return register, reused

    def fresh(self, op: Op, dst: LaneValue, text: str, owned: bool = True) -> None:
        """Bind a new array to a register of its own."""
        self.file.expire(self.scope, op.pos, self.current)
        owned = owned and not dst.shared
        register = self.file.fresh(self.scope, self.current, dst.kind, owned)
        self.file.place(self.scope, dst, register)
        self.line(f"{register.name} = {text}")

    def scalar(self, dst: LaneValue, text: str) -> None:
        self.line(f"{self.uniform_name(dst)} = {text}")

    # -- arithmetic ----------------------------------------------------------------------------

    def source_kinds(self, op: Op) -> list[str]:
        opcode: Opcode = op.data
        if opcode.name == "bcsel":
            return ["b1", op.dsts[0].kind, op.dsts[0].kind]
        kinds = []
        sign = ""
        if opcode.name in AGNOSTIC:
            used = {s.kind[0] for s in op.srcs if s.const is None and s.kind}
            sign = "u" if used == {"u"} else "i"
            if op.dsts[0].kind[0] in "iu":
                sign = op.dsts[0].kind[0]
        for type, src in zip(opcode.input_types, op.srcs, strict=True):
            if src.bits == 1:
                kinds.append("b1")
            elif sign and not type.bits:
                kinds.append(f"{sign}{src.bits // 8}")
            else:
                kinds.append(f"{type.base[0]}{(type.bits or src.bits) // 8}")
        return kinds

    def op_alu(self, op: Op) -> None:
        opcode: Opcode = op.data
        dst = op.dsts[0]
        kinds = self.source_kinds(op)
        if not dst.varying:
            self.uniform_alu(op, kinds)
            return
        special = _SPECIAL.get(opcode.name)
        if special is not None:
            special(self, op, kinds)
            return
        args = [self.read(s, k) for s, k in zip(op.srcs, kinds, strict=True)]
        if isinstance(opcode.semantics, np.ufunc):
            register, reused = self.into(op, dst)
            name = self.quickest(opcode.semantics.__name__)
            if name in minmax.__all__ and not op.srcs[0].varying:
                args.reverse()  # constants come second
            if reused:
                self.line(f"{name}({', '.join(args)}, {register.name})")
            else:
                self.line(f"{register.name} = {name}({', '.join(args)})")
        else:
            self.fresh(op, dst, f"{self.function(opcode)}({', '.join(args)})")

    def function(self, opcode: Opcode) -> str:
        """The global name of an opcode's semantics."""
        if isinstance(opcode.semantics, np.ufunc):
            return self.quickest(opcode.semantics.__name__)
        name = OPERATION + opcode.name
        self.globals[name] = opcode.semantics
        return name

    def uniform_alu(self, op: Op, kinds: list[str]) -> None:
        opcode: Opcode = op.data
        dst = op.dsts[0]
        args = [self.read(s, k, lanes=False) for s, k in zip(op.srcs, kinds, strict=True)]
        operator = _OPERATORS.get(opcode.name)
        if opcode.is_derivative:
            self.scalar(dst, f"{args[0]} - {args[0]}")
        elif operator is not None:
            self.scalar(dst, f"{args[0]} {operator} {args[1]}")
        elif opcode.name == "bcsel":
            self.scalar(dst, f"{args[1]} if {args[0]} else {args[2]}")
        else:
            self.scalar(dst, f"{self.function(opcode)}({', '.join(args)})[()]")

    def op_alu_n(self, op: Op) -> None:
        """Opcodes with vector operands: packing and unpacking."""
        opcode: Opcode = op.data
        lanes = op.dsts[0].varying
        bases = [type.base[0] for type in opcode.input_types]
        at = 0
        args = []
        for base, size, type in zip(bases, opcode.input_sizes, opcode.input_types, strict=True):
            parts = op.srcs[at : at + max(size, 1)]
            at += max(size, 1)
            texts = [
                self.read(s, "b1" if s.bits == 1 else f"{base}{(type.bits or s.bits) // 8}", lanes)
                for s in parts
            ]
            args.append(texts[0] if size <= 1 else f"({', '.join(texts)})")
        call = f"{self.function(opcode)}({', '.join(args)})"
        if opcode.output_size <= 1:
            if lanes:
                self.fresh(op, op.dsts[0], call)
            else:
                self.scalar(op.dsts[0], f"{call}[()]")
            return
        tag = self.tag()
        self.line(f"t{tag} = {call}")
        for i, dst in enumerate(op.dsts):
            if dst.used and lanes:
                self.fresh(op, dst, f"t{tag}[{i}]", owned=False)
            elif dst.used:
                self.scalar(dst, f"t{tag}[{i}][()]")

    def chain(self, op: Op, dst: LaneValue, first: str, *more: str, keep: bool = True) -> None:
        """Several ufuncs into one array; `{r}` in a text is its name, `{o}` where `out` goes."""
        register, reused = self.into(op, dst, keep_sources=keep)
        if reused:
            self.line(first.format(r=register.name, o=f", {register.name}"))
        else:
            self.line(f"{register.name} = {first.format(r=register.name, o='')}")
        for text in more:
            self.line(text.format(r=register.name, o=f", {register.name}"))

    def copied(self, value: LaneValue, kind: str) -> str:
        """A private lane array with this value."""
        if value.varying:
            return f"{self.read(value, kind)}.copy()"
        return f"fill({self.scope.count}, {self.read(value, kind)}, {kind})"

    def need(self, *names: str) -> None:
        for name in names:
            self.quickest(name)

    def quickest(self, name: str) -> str:
        """Make NumPy's function, or a faster equivalent, available to the code."""
        self.globals[name] = getattr(minmax if name in minmax.__all__ else np, name)
        return name


# -- opcodes with specialised code -----------------------------------------------------------------

_Special = Callable[[AluEmitter, Op, list[str]], None]


def _select(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    """Emit a selection: by bits, or `putmask` into a copy of the "no" value, which is twice as fast
    as `where`.
    """
    cond, yes, no = op.srcs
    dst = op.dsts[0]
    if not cond.varying:
        texts = [e.copied(v, dst.kind) for v in (yes, no)]
        e.fresh(op, dst, f"{texts[0]} if {e.read(cond, 'b1', lanes=False)} else {texts[1]}")
        return
    mask, value = e.read(cond, "b1"), e.read(yes, dst.kind)
    if dst.kind[1:] == "4":
        e.fresh(op, dst, f"{e.quickest('select')}({mask}, {value}, {e.read(no, dst.kind)})")
        return
    e.globals["putmask"] = np.putmask
    if no.varying and no is not yes:
        register = e.scope.find(no)
        if no.end <= op.pos and register.owned and register.kind == dst.kind:
            e.file.take_over(e.scope, dst, register)
            e.file.expire(e.scope, op.pos, e.current)
            e.line(f"putmask({register.name}, {mask}, {value})")
            return
    base = e.copied(no, dst.kind)
    e.fresh(op, dst, base)
    e.line(f"putmask({e.scope.find(dst).name}, {mask}, {value})")


def _saturate(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    kind = op.dsts[0].kind
    zero, one = e.constant(kind, 0, True), e.constant(kind, _ONE[kind], True)
    e.need("fmax", "fmin", "add")
    src = e.read(op.srcs[0], kind)
    # The sum is neither -0 nor a signalling NaN (see `_extremum`).
    e.chain(
        op,
        op.dsts[0],
        f"add({src}, {zero}{{o}})",
        f"fmax({{r}}, {zero}{{o}})",
        f"fmin({{r}}, {one}{{o}})",
        keep=False,
    )


def _extremum(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    """Emit fmin or fmax. Adding +0 makes (+0, -0) give +0 in any order; see
    `compiler.nir.ir.semantics.fmin`.

    A source that may be a signalling NaN needs an addition first, which is rare, since arithmetic
    produces none.
    """
    kind, name = op.dsts[0].kind, op.data.name
    e.need(name, "add")
    zero = e.constant(kind, 0, True)
    loud = [not _is_quiet(s) for s in op.srcs]
    a, b = (
        f"add({e.read(s, kind)}, {zero})" if is_loud else e.read(s, kind)
        for s, is_loud in zip(op.srcs, loud, strict=True)
    )
    first = f"{name}({a}, {b}{{o}})"
    settled = [is_loud or _is_no_negative_zero(s) for s, is_loud in zip(op.srcs, loud, strict=True)]
    if all(settled) or any(_never_zero(s, name) for s in op.srcs):
        e.chain(op, op.dsts[0], first, keep=False)
    else:
        e.chain(op, op.dsts[0], first, f"add({{r}}, {zero}{{o}})", keep=False)


def _is_no_negative_zero(value: LaneValue) -> bool:
    return value.const is not None and value.const != 1 << value.bits - 1


def _is_quiet(value: LaneValue) -> bool:
    """Whether the value is certainly not a signalling NaN: a number, or a result of arithmetic."""
    if value.const is not None:
        exponent, fraction = {16: (5, 10), 32: (8, 23), 64: (11, 52)}[value.bits]
        largest = ((1 << exponent) - 1) << fraction
        return value.const & ((1 << value.bits - 1) - 1) <= largest
    made = getattr(value.op, "data", None)
    return (
        isinstance(made, Opcode)
        and made.output_type.base == "float"
        and all(type.base == "float" for type in made.input_types)
        and not made.is_copy
        and made.name not in _KEEP_NANS
    )


_KEEP_NANS = frozenset(("fneg", "fabs", "f2f16", "f2f32", "f2f64"))


def _never_zero(value: LaneValue, name: str) -> bool:
    """Whether a constant keeps the result from being zero: positive for fmax, negative for fmin."""
    if value.const is None or value.const in (0, 1 << value.bits - 1):
        return False
    return bool(value.const >> value.bits - 1) == (name == "fmin")


def _reciprocal(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    kind = op.dsts[0].kind
    e.need("divide")
    src = e.read(op.srcs[0], kind)
    e.chain(op, op.dsts[0], f"divide({e.constant(kind, _ONE[kind], True)}, {src}{{o}})", keep=False)


def _reciprocal_root(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    kind = op.dsts[0].kind
    e.need("divide", "sqrt")
    src, one = e.read(op.srcs[0], kind), e.constant(kind, _ONE[kind], True)
    e.chain(op, op.dsts[0], f"sqrt({src}{{o}})", f"divide({one}, {{r}}{{o}})", keep=False)


def _fraction(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    e.need("floor", "subtract")
    src = e.read(op.srcs[0], op.dsts[0].kind)
    e.chain(op, op.dsts[0], f"floor({src}{{o}})", f"subtract({src}, {{r}}{{o}})")


def _mix(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    kind = op.dsts[0].kind
    a, b, t = (e.read(s, kind) for s in op.srcs)
    if not op.srcs[2].varying:
        e.fresh(op, op.dsts[0], f"{e.function(op.data)}({a}, {b}, {t})")
        return
    e.need("subtract", "multiply", "add")
    one = e.constant(kind, _ONE[kind], True)
    e.chain(
        op,
        op.dsts[0],
        f"subtract({one}, {t}{{o}})",
        f"multiply({a}, {{r}}{{o}})",
        f"add({{r}}, multiply({b}, {t}){{o}})",
    )


def _power(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    kind = op.dsts[0].kind
    e.need("log2", "multiply", "exp2")
    x, y = (e.read(s, kind) for s in op.srcs)
    if not op.srcs[0].varying:
        e.fresh(op, op.dsts[0], f"{e.function(op.data)}({x}, {y})")
        return
    e.chain(op, op.dsts[0], f"log2({x}{{o}})", f"multiply({{r}}, {y}{{o}})", "exp2({r}{o})")


def _convert(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    dst = op.dsts[0]
    e.fresh(op, dst, f"{e.read(op.srcs[0], kinds[0])}.astype({dst.kind})")


def _shift(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    """Shift by a constant with a ufunc; other counts are masked first."""
    value, count = op.srcs
    kind, dst = kinds[0], op.dsts[0]
    src = e.read(value, kind)
    if count.const is None or kind != dst.kind:
        e.fresh(op, dst, f"{e.function(op.data)}({src}, {e.read(count, kinds[1])})")
        return
    name = "left_shift" if op.data.name == "ishl" else "right_shift"
    e.need(name)
    by = e.constant(kind, count.const & (value.bits - 1), True)
    e.chain(op, dst, f"{name}({src}, {by}{{o}})", keep=False)


def _derive(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    step, coarse = _DERIVATIVES[op.data.name]
    text = f"derivative({e.read(op.srcs[0], op.dsts[0].kind)}, {step}, {coarse})"
    e.fresh(op, op.dsts[0], text)


def _direct(e: AluEmitter, op: Op, kinds: list[str]) -> None:
    """Call library functions directly, since arrays are always contiguous here."""
    name = {"fexp2": "exp2", "flog2": "log2", "fsin": "sin", "fcos": "cos"}[op.data.name]
    e.need(name)
    e.chain(op, op.dsts[0], f"{name}({e.read(op.srcs[0], kinds[0])}{{o}})", keep=False)


_SPECIAL: dict[str, _Special] = {
    "bcsel": _select,
    "fsat": _saturate,
    "fmin": _extremum,
    "fmax": _extremum,
    "frcp": _reciprocal,
    "frsq": _reciprocal_root,
    "ffract": _fraction,
    "flrp": _mix,
    "fpow": _power,
    **dict.fromkeys(("ishl", "ishr", "ushr"), _shift),
    **dict.fromkeys(("fexp2", "flog2", "fsin", "fcos"), _direct),
    **dict.fromkeys(_DERIVATIVES, _derive),
    **{f"{s}2{t}{n}": _convert for s, t in ("ff", "if", "uf", "bf") for n in (16, 32, 64)},
    **{f"{s}2{t}{n}": _convert for s, t in ("ii", "uu", "bi") for n in (8, 16, 32, 64)},
}
