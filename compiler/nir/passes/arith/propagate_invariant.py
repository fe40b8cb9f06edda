"""Everything that `invariant` and `precise` outputs depend on becomes exact."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import Block, If, Loop
from gallette.compiler.nir.ir.instrs import Alu, Deref, Instr, Intrinsic, Phi
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.queries import all_intrinsics_of, const_int, intrinsics_of
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("propagate_invariant", preserves=Metadata.ALL)
def propagate_invariant(shader: Shader, *, position: bool = False) -> bool:
    """Mark every ALU instruction that contributes to an invariant or precise output `exact`.

    Inexact rules then do not apply, so it is computed alike whatever else the shader computes. With
    `position` the vertex position counts as invariant. Follows values, variables and the conditions
    of the control flow around them.
    """
    progress = False
    position = position and shader.stage is not Stage.FRAGMENT
    for impl in shader.impls():
        if not position and not _has_invariant(impl):
            continue
        progress |= _Marker(impl, position).run()
    return progress


def _has_invariant(impl: FunctionImpl) -> bool:
    for variables in (impl.shader.variables, impl.locals):
        for var in variables:
            if var.invariant or var.precise:
                return True
    return any(store["invariant"] for store in intrinsics_of(impl, "store_output"))


class _Marker:
    def __init__(self, impl: FunctionImpl, position: bool):
        self.impl = impl
        self.position = position
        self.stores: dict[Variable, list[Intrinsic]] = {}
        self.work: list[Instr] = []
        self.seen: set[Instr] = set()
        self.variables: set[Variable] = set()

    def run(self) -> bool:
        for instr in all_intrinsics_of(self.impl):
            if instr.info.name == "store_output":
                location = int(instr["location"])
                is_position = location == VaryingSlot.POS and const_int(instr.srcs[1].value) == 0
                if instr["invariant"] or (self.position and is_position):
                    self.add(instr)
            elif instr.info.name in ("store_deref", "copy_deref") and instr.deref is not None:
                var = instr.deref.root_var
                if var is not None:
                    self.stores.setdefault(var, []).append(instr)
        for var in list(self.stores):
            wanted = var.invariant or var.precise
            if self.position and var.mode == Mode.SHADER_OUT:
                wanted |= var.location == VaryingSlot.POS
            if wanted:
                self.add_variable(var)
        progress = False
        while self.work:
            progress |= self.visit(self.work.pop())
        return progress

    def add(self, instr: Instr) -> None:
        if instr not in self.seen:
            self.seen.add(instr)
            self.work.append(instr)

    def add_variable(self, var: Variable) -> None:
        if var not in self.variables:
            self.variables.add(var)
            for store in self.stores.get(var, ()):
                self.add(store)

    def visit(self, instr: Instr) -> bool:
        progress = False
        if isinstance(instr, Alu) and not instr.exact:
            instr.exact = True
            progress = True
        if isinstance(instr, Deref):
            var = instr.root_var
            if var is not None:
                self.add_variable(var)
        if isinstance(instr, (Phi, Intrinsic)) and instr.block is not None:
            self.add_conditions(instr.block)
        if isinstance(instr, Phi):
            for src in instr.phi_srcs:
                self.add_conditions(src.pred)
        for any_src in instr.srcs:
            self.add(any_src.value.instr)
        return progress

    def add_conditions(self, block: Block) -> None:
        at: Block | If | Loop = block
        while True:
            parent = at.parent
            if isinstance(parent, FunctionImpl):
                return
            if isinstance(parent, If):
                self.add(parent.condition.value.instr)
            at = parent
