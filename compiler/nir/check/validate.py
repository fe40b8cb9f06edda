"""The validator: all invariants that must hold between passes.

It checks structure, types and sizes, use lists, dominance. All problems are collected; then one
error shows the shader with each problem below its instruction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.compiler.nir.analysis.cfg import compute_cfg
from gallette.compiler.nir.analysis.dominance import compute_dominance
from gallette.compiler.nir.check.errors import validation_error
from gallette.compiler.nir.ir.cf import Block, Body, If, Loop, enclosing_loop, walk
from gallette.compiler.nir.ir.instrs import (
    IDENTITY,
    Alu,
    Call,
    Deref,
    Instr,
    Intrinsic,
    Jump,
    LoadConst,
    Phi,
    Tex,
    Undef,
)
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.texops import TEX_OPS, TEX_SRCS
from gallette.compiler.nir.ir.values import Def, Src
from gallette.compiler.nir.ir.variables import Variable

_LOCAL = int(Mode.FUNCTION_TEMP)
BIT_SIZES = frozenset((1, 8, 16, 32, 64))
_INPUTS = {
    op: tuple(
        [
            (type.bits, size, type.base == "float")
            for type, size in zip(op.input_types, op.input_sizes, strict=True)
        ]
    )
    for op in OPCODES.values()
}
"""for each source of an operation: bits and components (0 if open), and whether it is a float"""
_CONTROL_FLOW = int(Metadata.CONTROL_FLOW)


class Validator:
    """One validation of one shader."""

    def __init__(self, shader: Shader, trusting: bool = False):
        self.shader = shader
        self.trusting = trusting
        self.problems: list[tuple[str, Instr | None]] = []
        self.instr: Instr | None = None
        self.impl: FunctionImpl | None = None
        self.done: set[Def] = set()
        """values whose definition the walk has passed"""
        self.doubtful: list[tuple[Src, Block, Instr | None]] = []
        """uses that are checked after the walk: the source, its block, and the user"""
        self.seen = 0
        """number of uses in the walk"""
        self.astray = False
        """whether a use was missing in its value's list"""
        self.variables: set[Variable] = set()

    def fail(self, message: str) -> None:
        self.problems.append((message, self.instr))

    def expect(self, condition: bool, message: str) -> None:
        if not condition:
            self.problems.append((message, self.instr))

    def run(self, where: str) -> None:
        shader = self.shader
        if len(shader.functions) > 1 and sum([f.is_entry for f in shader.functions]) > 1:
            self.fail("more than one entry point")
        if shader.refcount <= 0:
            self.fail("the shader has no references left")
        self.variables = set(shader.variables)
        if len(self.variables) != len(shader.variables):
            self.fail("a variable is listed twice")
        for var in shader.variables:
            mode = int(var.mode)
            if mode & _LOCAL:
                self.fail(f"{var.name}: a local among the globals")
            if mode <= 0 or mode & (mode - 1):
                self.fail(f"{var.name}: a variable has exactly one mode")
        for impl in shader.impls():
            self.check_impl(impl)
        if self.problems:
            raise validation_error(shader, self.problems, where)

    def check_impl(self, impl: FunctionImpl) -> None:
        self.impl = impl
        self.done = set()
        self.doubtful = []
        self.seen, self.astray = 0, False
        for var in impl.locals:
            if var.mode != _LOCAL:
                self.fail(f"{var.name}: a local of another mode")
        if not self.check_structure(impl):
            return
        if not self.trusting or impl.valid & _CONTROL_FLOW != _CONTROL_FLOW:
            compute_cfg(impl)
            compute_dominance(impl)
            impl.valid |= _CONTROL_FLOW
        for node in walk(impl.body) if len(impl.body) > 1 else impl.body:
            if isinstance(node, Block):
                self.check_block(node)
            elif isinstance(node, If):
                self.check_condition(node)
        for src, block, user in self.doubtful:
            self.check_order(src, block, user)
        self.instr = None
        # Every use was in its value's list, so if the numbers are equal, the lists have no others.
        if self.astray or self.seen != sum([len(value.uses) for value in self.done]):
            self.check_use_lists(impl)

    def check_use_lists(self, impl: FunctionImpl) -> None:
        """Report values with wrong use lists."""
        uses: dict[Def, list[Src]] = {value: [] for value in self.done}
        for src in self.all_uses(impl):
            if src.value in uses:
                uses[src.value].append(src)
        for value, found in uses.items():
            if len(found) != len(value.uses) or set(found) != set(value.uses):
                self.instr = value.instr
                self.fail("the use list does not match the uses")
        self.instr = None

    def all_uses(self, impl: FunctionImpl) -> Iterator[Src]:
        for node in walk(impl.body):
            if isinstance(node, If):
                yield node.condition
            elif isinstance(node, Block):
                for instr in node.instrs():
                    yield from instr.srcs

    def check_structure(self, impl: FunctionImpl) -> bool:
        """Check bodies, owners and parents; returns false if that makes further checks
        impossible.
        """
        before = len(self.problems)
        stack: list[tuple[Body, Any]] = [(impl.body, impl)]
        while stack:
            body, parent = stack.pop()
            if len(body) % 2 == 0:
                self.fail("a body must start and end with a block")
            for i, node in enumerate(body):
                if node.parent is not parent:
                    self.fail("a node has the wrong parent")
                if node.owner is not body:
                    self.fail("a node has the wrong owner list")
                if isinstance(node, Block) != (i % 2 == 0):
                    self.fail("blocks must alternate")
                if isinstance(node, If):
                    stack.append((node.then_body, node))
                    stack.append((node.else_body, node))
                elif isinstance(node, Loop):
                    stack.append((node.body, node))
        return len(self.problems) == before

    def check_condition(self, node: If) -> None:
        value = node.condition.value
        self.instr = value.instr
        self.expect(node.condition.parent is node, "an if's condition has the wrong parent")
        self.expect(
            value.num_components == 1 and value.bit_size == 1, "a condition must be one boolean"
        )
        index = node.owner.index(node)
        before = node.owner[index - 1]
        assert isinstance(before, Block)
        self.check_use(node.condition, before)

    def check_block(self, block: Block) -> None:
        prev: Instr | None = None
        phis_over = False
        done, check_of = self.done, _CHECKS
        seen = 0
        instr = block.first
        while instr is not None:
            self.instr = instr
            if instr.block is not block:
                self.fail("the instruction's block link is wrong")
            if instr.prev is not prev:
                self.fail("the instruction list is broken")
            if instr.__class__ is Phi:
                if phis_over:
                    self.fail("a phi must not follow other instructions")
                self.check_phi(instr, block)
            else:
                phis_over = True
                srcs = instr.srcs
                seen += len(srcs)
                for src in srcs:
                    value = src.value
                    if src not in value.uses:
                        self.astray = True
                    if src.parent is not instr:
                        self.fail("a source has the wrong parent")
                    if value not in done or value.instr.block is not block:
                        self.doubtful.append((src, block, instr))
                check = check_of[instr.__class__]
                if check is not None:
                    check(self, instr)
            dest = instr.dest
            if dest is not None:
                if (
                    dest.instr is not instr
                    or dest.bit_size not in BIT_SIZES
                    or not 1 <= dest.num_components <= 16
                ):
                    self.check_dest(instr, dest)
                done.add(dest)
            prev, instr = instr, instr.next
        self.seen += seen
        self.instr = None
        if block.last is not prev:
            self.fail("the instruction list's end is wrong")
        if isinstance(block.last, Jump):
            i = block.owner.index(block)
            if i + 1 != len(block.owner):
                self.fail("a jump must end its body")

    def check_dest(self, instr: Instr, dest: Def) -> None:
        if dest.instr is not instr:
            self.fail("the result belongs to another instruction")
        if dest.bit_size not in BIT_SIZES:
            self.fail(f"{dest.bit_size} is no bit size")
        if not 1 <= dest.num_components <= 16:
            self.fail(f"{dest.num_components} components")

    def check_use(self, src: Src, block: Block) -> None:
        """Check a use at the end of a block: by the if after it, or by a phi of a successor."""
        self.seen += 1
        if src not in src.value.uses:
            self.astray = True
        self.doubtful.append((src, block, None))

    def check_order(self, src: Src, block: Block, user: Instr | None) -> None:
        """Check that a value used in a block (without a user: at its end) is defined before."""
        value = src.value
        parent = src.parent
        self.instr = parent if isinstance(parent, Instr) else value.instr
        if value not in self.done:
            self.fail("a source uses a value that is not in this function")
            return
        if not block.predecessors and block.index != 0:
            return
        home = value.instr.block
        assert home is not None
        if home is block:
            if user is not None:
                self.fail("a value is used before it is defined")
        elif not home.dominates(block):
            self.fail("the definition does not dominate this use")

    def check_phi(self, phi: Phi, block: Block) -> None:
        preds = [s.pred for s in phi.phi_srcs]
        if len(set(preds)) != len(preds):
            self.fail("two phi sources for one predecessor")
        self.expect(
            set(preds) == set(block.predecessors),
            "phi sources do not match the block's predecessors",
        )
        for src in phi.phi_srcs:
            self.check_use(src, src.pred)
            if src.parent is not phi:
                self.fail("a source has the wrong parent")
            same = (
                src.value.num_components == phi.result.num_components
                and src.value.bit_size == phi.result.bit_size
            )
            if not same:
                self.fail("a phi source has another size than the phi")

    def check_alu(self, instr: Alu) -> None:
        op, dest, srcs = instr.op, instr.dest, instr.srcs
        inputs = _INPUTS[op]
        if len(srcs) != len(inputs):
            self.fail(f"{op.name} takes {op.num_inputs} sources, not {len(srcs)}")
            return
        width = dest.num_components
        if op.output_size:
            if width != op.output_size:
                self.fail("wrong number of components")
        unsized = 0
        for src, (wanted, size, is_float) in zip(srcs, inputs, strict=True):
            need = size or width
            value, swizzle = src.value, src.swizzle
            if need > 16 or swizzle is not IDENTITY[need] or value.num_components < need:
                if len(swizzle) != need:
                    self.fail(f"a swizzle must have {need} components")
                if swizzle and not 0 <= min(swizzle) <= max(swizzle) < value.num_components:
                    self.fail("a swizzle reads a component that is not there")
            bits = value.bit_size
            if wanted:
                if bits != wanted:
                    self.fail(f"a source must have {wanted} bits, not {bits}")
            elif unsized and bits != unsized:
                self.fail(f"sources of {unsized} and {bits} bits")
            else:
                unsized = bits
                if is_float and bits < 16:
                    self.fail("a float has at least 16 bits")
        out = op.output_type.bits or unsized
        if dest.bit_size != out:
            self.fail(f"the result must have {out} bits")

    def check_load_const(self, instr: LoadConst) -> None:
        dest, limit = instr.dest, 1 << instr.dest.bit_size
        if len(instr.values) != dest.num_components:
            self.fail("wrong number of values")
        for value in instr.values:
            if not 0 <= value < limit:
                self.fail("a constant does not fit its size")
                break

    def check_deref(self, instr: Deref) -> None:
        if instr.form == "var":
            var = instr.var
            assert self.impl is not None
            if var is None or (var not in self.variables and var not in self.impl.locals):
                self.fail("the variable is not declared in this shader")
                return
            self.expect(instr.modes == var.mode, "the mode differs from the variable's")
            self.expect(instr.type is var.type, "the type differs from the variable's")
            return
        self.expect(bool(instr.modes), "a deref needs a mode")
        if instr.form == "cast":
            return
        parent = instr.parent
        if parent is None:
            self.fail("the parent is not a deref")
            return
        self.expect(instr.modes == parent.modes, "the mode differs from the parent's")
        t = parent.type
        if instr.form == "struct":
            known = t.is_struct and 0 <= instr.field < len(t.fields)
            self.expect(known, "the parent has no such member")
            if known:
                self.expect(instr.type is t.fields[instr.field].type, "not the member's type")
        elif instr.form == "ptr_as_array":
            self.expect(instr.type is t, "not the parent's type")
        else:
            indexable = t.is_array or t.is_matrix or t.is_vector
            if not indexable:
                self.fail(f"a {t} cannot be indexed")
            else:
                self.expect(instr.type is t.indexed(), "not the element's type")
        if instr.form in ("array", "ptr_as_array"):
            index = instr.srcs[1].value
            self.expect(index.num_components == 1, "an index is one integer")

    def check_intrinsic(self, instr: Intrinsic) -> None:
        info = instr.info
        if len(instr.srcs) != len(info.srcs):
            self.fail(f"{info.name} takes {len(info.srcs)} sources, not {len(instr.srcs)}")
            return
        # Messages are built only for failed checks.
        for src, (name, size) in zip(instr.srcs, info.srcs, strict=True):
            if size and src.value.num_components != size:
                self.fail(f"source {name} must have {size} components")
        if instr.indices.keys() != info.defaults.keys():
            self.check_indices(instr)
        dest = instr.dest
        if dest is not None:
            if info.dest and dest.num_components != info.dest:
                self.fail("wrong number of components")
            if info.dest_bits and dest.bit_size != info.dest_bits:
                self.fail(f"the result must have {info.dest_bits} bits")
        if info.name in ("load_deref", "store_deref"):
            self.check_access(instr)

    def check_indices(self, instr: Intrinsic) -> None:
        info = instr.info
        unknown = instr.indices.keys() - info.defaults.keys()
        self.expect(not unknown, f"{info.name} has no index {', '.join(sorted(unknown))}")
        missing = info.defaults.keys() - instr.indices.keys()
        self.expect(not missing, f"index {', '.join(sorted(missing))} is missing")

    def check_access(self, instr: Intrinsic) -> None:
        deref = instr.deref
        if deref is None:
            self.fail("the first source must be a deref")
            return
        t = deref.type
        value = instr.dest if instr.name == "load_deref" else instr.srcs[1].value
        assert value is not None
        if not t.is_vector_or_scalar and not t.is_opaque:
            self.fail(f"only vectors and scalars can be loaded and stored, not {t}")
        elif t.is_vector_or_scalar:
            if value.num_components != t.components:
                self.fail(f"not the components of {t}")
            if value.bit_size != t.bit_size:
                self.fail(f"not the bit size of {t}")
        if instr.name == "store_deref":
            mask = instr["write_mask"]
            self.expect(0 < mask < 1 << value.num_components, "the write mask is wrong")

    def check_tex(self, instr: Tex) -> None:
        info = TEX_OPS.get(instr.op)
        if info is None:
            self.fail(f"unknown texture operation {instr.op}")
            return
        self.expect(len(instr.src_kinds) == len(instr.srcs), "sources and kinds differ in number")
        for kind in instr.src_kinds:
            self.expect(kind in TEX_SRCS, f"unknown texture source {kind}")
            self.expect(kind in info.takes, f"{instr.op} takes no {kind}")
        for kind in sorted(info.needs.difference(instr.src_kinds)):
            self.fail(f"{instr.op} needs a {kind}")
        if info.result:
            wanted = instr.result.num_components == info.result
            self.expect(wanted, f"the result of {instr.op} has {info.result} components")
        self.expect(len(set(instr.src_kinds)) == len(instr.src_kinds), "a source occurs twice")
        coord = instr.src("coord")
        if coord is not None:
            self.expect(
                coord.value.num_components == instr.coord_components,
                f"the coordinate must have {instr.coord_components} components",
            )

    def check_jump(self, instr: Jump) -> None:
        if instr.next is not None:
            self.fail("nothing may follow a jump")
        known = instr.type in ("break", "continue", "return", "halt")
        self.expect(known, f"unknown jump {instr.type}")
        if instr.type in ("break", "continue") and instr.block is not None:
            self.expect(enclosing_loop(instr.block) is not None, f"{instr.type} outside a loop")

    def check_call(self, instr: Call) -> None:
        callee = instr.callee
        if callee not in self.shader.functions:
            self.fail("the callee is not a function of this shader")
        self.expect(len(instr.srcs) == len(callee.params), "wrong number of parameters")


_CHECKS: dict[type[Instr], Any] = {
    Alu: Validator.check_alu,
    LoadConst: Validator.check_load_const,
    Undef: None,  # no further requirements
    Deref: Validator.check_deref,
    Intrinsic: Validator.check_intrinsic,
    Tex: Validator.check_tex,
    Jump: Validator.check_jump,
    Call: Validator.check_call,
}


def validate(shader: Shader, where: str = "", *, trusting: bool = False) -> None:
    """Raise a `ValidationError` that shows all broken invariants of `shader`.

    Dominance is recomputed, unless `trusting` is set and the metadata is valid.
    """
    Validator(shader, trusting).run(where)
