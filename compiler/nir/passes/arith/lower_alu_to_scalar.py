"""Vector arithmetic becomes scalar arithmetic."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

_REDUCTIONS: dict[str, tuple[str, str]] = {}
for _n in (2, 3, 4):
    _REDUCTIONS[f"fdot{_n}"] = ("fmul", "fadd")
    _REDUCTIONS[f"ball_fequal{_n}"] = ("feq", "iand")
    _REDUCTIONS[f"ball_iequal{_n}"] = ("ieq", "iand")
    _REDUCTIONS[f"bany_fnequal{_n}"] = ("fneu", "ior")
    _REDUCTIONS[f"bany_inequal{_n}"] = ("ine", "ior")


@nir_pass("lower_alu_to_scalar", preserves=Metadata.CONTROL_FLOW)
def lower_alu_to_scalar(shader: Shader, *, reductions: bool = True) -> bool:
    """Split per-component operations into one instruction per component, and expand reductions.

    Before: `32x3 %2 = fadd %0, %1`; after: three `32 fadd` and a `vec3`. `fdot` becomes products
    and sums in the opcode's order, from the last component on, so results are the same bits.
    Packing and `vecN` are not changed.
    """
    progress = False
    for impl in shader.impls():
        b = Builder(impl)
        for instr in instrs_of(impl):
            if not isinstance(instr, Alu):
                continue
            op = instr.op
            if op.per_component:
                if instr.result.num_components > 1:
                    _split(b, instr)
                    progress = True
            elif reductions and (op.name in _REDUCTIONS or op.name in _SUMS):
                b.at_before(instr)
                with b.exactly(instr.exact):
                    instr.replace_by(_reduce(b, instr))
                progress = True
    return progress


_SUMS = frozenset({"fsum2", "fsum3", "fsum4", "fdph"})


def _split(b: Builder, instr: Alu) -> None:
    b.at_before(instr)
    op, bits = instr.op, instr.result.bit_size
    parts: list[Def] = []
    for i in range(instr.result.num_components):
        pairs = [(s.value, (s.swizzle[i],)) for s in instr.srcs]
        part = Alu(op, pairs, 1, bits, instr.exact)
        b.insert(part)
        parts.append(part.result)
    instr.replace_by(b.vec(parts))


def _scalar(b: Builder, op: str, *srcs: tuple[Def, int]) -> Def:
    return b.alu_swizzled(OPCODES[op], [(value, (c,)) for value, c in srcs])


def _reduce(b: Builder, instr: Alu) -> Def:
    name = instr.op.name
    first = instr.srcs[0]
    n = len(first.swizzle)
    if name.startswith("fsum"):
        total = _scalar(b, "mov", (first.value, first.swizzle[0]))
        for c in first.swizzle[1:]:
            total = _scalar(b, "fadd", (total, 0), (first.value, c))
        return total
    second = instr.srcs[1]
    each, join = _REDUCTIONS.get(name, ("fmul", "fadd"))
    start = _scalar(b, "mov", (second.value, second.swizzle[3])) if name == "fdph" else None
    for i in reversed(range(n)):
        part = _scalar(b, each, (first.value, first.swizzle[i]), (second.value, second.swizzle[i]))
        start = part if start is None else _scalar(b, join, (start, 0), (part, 0))
    assert start is not None
    return start
