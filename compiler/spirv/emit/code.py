"""The body of `main`: structured control flow, phis, and every instruction except arithmetic.

NIR's ifs and loops map one to one. A loop gets a header block (for its phis) and a continue block,
in which all back edges meet, because SPIR-V allows one back edge. The block of a phi's operand is
known when its branch has been emitted, so phis get their operands last.
"""

from __future__ import annotations

from collections.abc import Callable

from gallette.compiler.nir.ir.cf import Block, Body, If, Loop, successors_of
from gallette.compiler.nir.ir.instrs import (
    Alu,
    Deref,
    Instr,
    Intrinsic,
    Jump,
    LoadConst,
    Phi,
    Tex,
    Undef,
)
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.shader import FunctionImpl
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv import tables
from gallette.compiler.spirv.emit.alu import emit_alu
from gallette.compiler.spirv.emit.interface import Interface, Place
from gallette.compiler.spirv.emit.memory import SCOPES, Memory
from gallette.compiler.spirv.emit.textures import Textures
from gallette.compiler.spirv.emit.values import Value, Values
from gallette.compiler.spirv.grammar import opcode, value_of
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.slots import SYSTEM_BUILTINS


class Code:
    """Emits one function."""

    def __init__(self, values: Values, interface: Interface, stage: Stage) -> None:
        self.values = values
        self.b = values.b
        self.interface = interface
        self.stage = stage
        self.memory = Memory(values, interface)
        self.textures = Textures(self.memory)
        self.label = 0
        self.open = False
        self.interlocks = False
        self.kinds: dict[Def, str] = {}
        self.phis: list[tuple[Instruction, dict[int, int]]] = []
        self.sources: dict[Phi, dict[int, int]] = {}
        self.edges: dict[int, set[int]] = {}
        self.targets: dict[int, tuple[int, int]] = {}

    # Blocks.

    def begin(self, label: int) -> None:
        self.b.do("OpLabel", label)
        self.b.line = 0  # a line applies up to the end of its block
        self.label, self.open = label, True

    def branch(self, target: int) -> None:
        if self.open:
            self.edges.setdefault(target, set()).add(self.label)
            self.b.do("OpBranch", target)
            self.open = False

    def function(self, impl: FunctionImpl, type: int, id: int) -> None:
        b = self.b
        b.do("OpFunction", b.void(), id, 0, type)
        self.begin(b.id())
        for var in impl.locals:
            pointer = b.pointer("Function", self.values.types.logical(var.type))
            place = b.op("OpVariable", pointer, value_of("StorageClass", "Function"))
            b.name(place, var.name)
            self.memory.locals[var] = Place(place, "Function", var.type, False)
        self._choose_kinds(impl)
        # NIR does not delimit interlocked sections, so the whole invocation is one.
        self.interlocks = impl.shader.info.interlocks and self.stage is Stage.FRAGMENT
        if self.interlocks:
            b.do("OpBeginInvocationInterlockEXT")
        self.body(impl.body, (0, 0))
        if self.open:
            self.leave()
        b.do("OpFunctionEnd")
        self._finish_phis()

    def leave(self) -> None:
        """Return from the function."""
        if self.interlocks:
            self.b.do("OpEndInvocationInterlockEXT")
        self.b.do("OpReturn")

    def body(self, body: Body, loop: tuple[int, int]) -> None:
        """Emit nodes one after another; `loop` has the targets of break and continue."""
        for node in body:
            if isinstance(node, Block):
                for instr in node.instrs():
                    self.instr(instr, loop)
                if self.open:
                    self._phi_operands(node)
            elif isinstance(node, If):
                self.choice(node, loop)
            else:
                self.loop(node)

    def choice(self, node: If, loop: tuple[int, int]) -> None:
        b = self.b
        condition = self.values.get(node.condition.value, "b")
        then, other, merge = b.id(), b.id(), b.id()
        b.do("OpSelectionMerge", merge, 0)
        b.do("OpBranchConditional", condition.id, then, other)
        for label, body in ((then, node.then_body), (other, node.else_body)):
            self.begin(label)
            self.body(body, loop)
            self.branch(merge)
        self.begin(merge)

    def loop(self, node: Loop) -> None:
        b = self.b
        header, start, back, merge = b.id(), b.id(), b.id(), b.id()
        before = self.label
        self.branch(header)
        self.begin(header)
        phis = list(node.first.phis())
        for phi in phis:
            self._phi(phi)
        b.do("OpLoopMerge", merge, back, 0)
        b.do("OpBranch", start)
        self.begin(start)
        self.body(node.body, (merge, back))
        self.branch(back)
        # All back edges meet here, so the header's phis have two operands each.
        self.begin(back)
        for phi in phis:
            found = self.sources[phi]
            joined = {label: id for label, id in found.items() if label != before}
            for label in joined:
                del found[label]
            v = self.values.of[phi.result]
            type = self.values.type(v.kind, v.bits, v.components)
            if self.edges.get(back):
                id = b.id()
                instr = Instruction(opcode("OpPhi"), (type, id))
                b.code.append(instr)
                self.phis.append((instr, joined))
                self.targets[id] = (back, type)
            else:
                id = b.undef(type)
            found[back] = id
        self.edges.setdefault(header, set()).add(back)
        b.do("OpBranch", header)
        self.begin(merge)

    # Phis.

    def _choose_kinds(self, impl: FunctionImpl) -> None:
        """Choose the type of each phi: that of its first operand with a known kind, else
        integer.
        """
        for block in impl.blocks():
            for phi in block.phis():
                self.kinds[phi.result] = self._kind(phi.result, set())

    def _kind(self, value: Def, seen: set[Def]) -> str:
        if value.bit_size == 1:
            return "b"
        work = [value]
        while work:
            at = work.pop()
            if at in seen or len(seen) > 64:
                continue
            seen.add(at)
            instr = at.instr
            if isinstance(instr, Phi):
                work.extend(s.value for s in reversed(instr.phi_srcs))
            elif isinstance(instr, Alu):
                name = instr.op.name
                if name in ("mov", "bcsel") or instr.op.is_vec:
                    first = 1 if name == "bcsel" else 0
                    work.append(instr.srcs[first].value)
                else:
                    return "f" if OPCODES[name].output_type.base == "float" else "u"
            elif isinstance(instr, Tex):
                return "f" if instr.dest_type.startswith("float") else "u"
            elif isinstance(instr, Intrinsic) and instr.deref is not None:
                return "f" if instr.deref.type.is_float else "u"
        return "u"

    def _phi(self, phi: Phi) -> None:
        d = phi.result
        kind = self.kinds[d]
        type = self.values.type(kind, d.bit_size, d.num_components)
        id = self.b.id()
        instr = Instruction(opcode("OpPhi"), (type, id))
        self.b.code.append(instr)
        self.targets[id] = (self.label, type)
        self.phis.append((instr, self.sources.setdefault(phi, {})))
        self.values.set(d, id, kind)

    def _phi_operands(self, block: Block) -> None:
        """At the end of a block: record the operands it supplies to phis of its successors."""
        for succ in successors_of(block):
            for phi in succ.phis():
                for src in phi.phi_srcs:
                    if src.pred is block:
                        v = self.values.get(src.value, self.kinds[phi.result])
                        self.sources.setdefault(phi, {})[self.label] = v.id

    def _finish_phis(self) -> None:
        for instr, sources in self.phis:
            type, id = instr.words
            label, _ = self.targets[id]
            words = [type, id]
            for edge in sorted(self.edges.get(label, ())):
                words += [sources.get(edge) or self.b.undef(type), edge]
            instr.words = tuple(words)

    # Instructions.

    def instr(self, instr: Instr, loop: tuple[int, int]) -> None:
        if not self.open:
            self.begin(self.b.id())
        if not isinstance(instr, (LoadConst, Phi, Deref, Jump)):
            self.b.at_line(instr.loc)
        if isinstance(instr, Alu):
            emit_alu(self.values, instr)
        elif isinstance(instr, LoadConst):
            self._constant(instr)
        elif isinstance(instr, Intrinsic):
            self.intrinsic(instr)
        elif isinstance(instr, Tex):
            self.tex(instr)
        elif isinstance(instr, Phi):
            if instr.result not in self.values.of:
                self._phi(instr)
        elif isinstance(instr, Undef):
            d = instr.result
            kind = "b" if d.bit_size == 1 else "u"
            type = self.values.type(kind, d.bit_size, d.num_components)
            self.values.set(d, self.b.undef(type), kind)
        elif isinstance(instr, Jump):
            self._jump(instr, loop)
        elif not isinstance(instr, Deref):
            raise SpirvError(f"{instr.kind} has no counterpart")

    def intrinsic(self, instr: Intrinsic) -> None:
        handler = _INTRINSICS.get(instr.name)
        if handler is not None:
            handler(self, instr)
        elif instr.name in SYSTEM_BUILTINS:
            self.read_system_value(instr)
        else:
            raise SpirvError(f"intrinsic {instr.name} has no counterpart")

    def tex(self, instr: Tex) -> None:
        self.textures.tex(instr)

    def _constant(self, instr: LoadConst) -> None:
        d = instr.result
        kind = "b" if d.bit_size == 1 else "u"
        if kind == "u" and d.bit_size >= 16 and _wants_float(d):
            kind = "f"
        v = self.values.constant(kind, d.bit_size, instr.values)
        self.values.set(d, v.id, kind)

    def _jump(self, instr: Jump, loop: tuple[int, int]) -> None:
        assert instr.block is not None
        if instr.type in ("break", "continue"):
            self._phi_operands(instr.block)
            self.branch(loop[0] if instr.type == "break" else loop[1])
        else:
            self.leave()
            self.open = False

    def read_system_value(self, instr: Intrinsic) -> None:
        """Load a system value that is a built-in of SPIR-V."""
        name, kind, components, length = SYSTEM_BUILTINS[instr.name]
        self.values.set(instr.result, *self.builtin_value(name, kind, components, length))

    def builtin_value(self, name: str, kind: str, components: int, length: int) -> tuple[int, str]:
        """Read a built-in input."""
        b, values = self.b, self.values
        scalar = {"b": b.bool_type, "f": b.float_type, "u": b.int_type}.get(
            kind, lambda: b.int_type(32, True)
        )()
        type = b.vector(scalar, components)
        whole = b.type("OpTypeArray", type, b.uint(length)) if length else type
        id = b.op("OpLoad", whole, self.interface.builtin(name, whole))
        if length:
            parts = [b.op("OpCompositeExtract", type, id, i) for i in range(length)]
            id = parts[0]
            if length > 1:
                id = b.op("OpCompositeConstruct", b.vector(type, length), *parts)
        if kind == "i":
            id = b.op("OpBitcast", values.type("u", 32, components), id)
            kind = "u"
        return id, kind


def _wants_float(value: Def) -> bool:
    """Whether the first user that requires a type uses a constant as a float."""
    for src in value.uses:
        user = src.parent
        if isinstance(user, Alu):
            for given, type in zip(user.srcs, user.op.input_types, strict=True):
                if given is src and user.op.name not in ("mov", "bcsel") and not user.op.is_vec:
                    return type.base == "float"
        elif isinstance(user, Intrinsic) and user.name == "store_deref":
            return user.deref is not None and user.deref.type.is_float
    return False


_INTRINSICS: dict[str, Callable[[Code, Intrinsic], None]] = {}


def _does(*names: str) -> Callable[[Callable[[Code, Intrinsic], None]], None]:
    def register(function: Callable[[Code, Intrinsic], None]) -> None:
        for name in names:
            _INTRINSICS[name] = function

    return register


_INTRINSICS["load_deref"] = lambda c, i: c.memory.load(i)
_INTRINSICS["store_deref"] = lambda c, i: c.memory.store(i)
_INTRINSICS["deref_atomic"] = _INTRINSICS["deref_atomic_swap"] = lambda c, i: c.memory.atomic(i)
_INTRINSICS["deref_buffer_array_length"] = lambda c, i: c.memory.length(i)
for _name in ("atomic_counter", "atomic_counter_read", "atomic_counter_swap"):
    _INTRINSICS[_name] = lambda c, i: c.memory.counter(i)
for _name in ("load", "store", "atomic", "atomic_swap", "size", "samples"):
    _INTRINSICS[f"image_deref_{_name}"] = lambda c, i: c.textures.image(i)


@_does(*[f"interp_deref_at_{k}" for k in ("centroid", "offset", "sample_index")])
def _interpolate(c: Code, instr: Intrinsic) -> None:
    deref = instr.deref
    assert deref is not None
    c.b.capability("InterpolationFunction")
    pointer, t, _ = c.memory.pointer(deref)
    kind = instr.name.removeprefix("interp_deref_at_")
    type = c.values.types.number(t, False)
    if kind == "offset":
        offset = c.values.get(instr.srcs[1].value, "f").id
        id = c.b.ext("InterpolateAtOffset", type, pointer, offset)
    elif kind == "sample_index":
        index = c.values.get(instr.srcs[1].value, "u").id
        id = c.b.ext("InterpolateAtSample", type, pointer, index)
    else:
        id = c.b.ext("InterpolateAtCentroid", type, pointer)
    c.values.set(instr.result, id, "f")


@_does("load_instance_id")
def _instance(c: Code, instr: Intrinsic) -> None:
    index, kind = c.builtin_value("InstanceIndex", "i", 1, 0)
    base, _ = c.builtin_value("BaseInstance", "i", 1, 0)
    c.values.set(instr.result, c.b.op("OpISub", c.b.int_type(), index, base), kind)


@_does("load_workgroup_size")
def _workgroup_size(c: Code, instr: Intrinsic) -> None:
    size = c.interface.shader.info.workgroup_size
    v = c.values.constant("u", 32, size)
    c.values.set(instr.result, v.id, "u")


@_does("is_helper_invocation")
def _is_helper(c: Code, instr: Intrinsic) -> None:
    c.b.capability("DemoteToHelperInvocation")
    c.values.set(instr.result, c.b.op("OpIsHelperInvocationEXT", c.b.bool_type()), "b")


@_does("discard", "demote")
def _discard(c: Code, instr: Intrinsic) -> None:
    if instr.name.startswith("demote"):
        c.b.capability("DemoteToHelperInvocation")
        c.b.do("OpDemoteToHelperInvocation")
        return
    c.b.do("OpKill")
    c.open = False


@_does("discard_if", "demote_if")
def _discard_if(c: Code, instr: Intrinsic) -> None:
    b = c.b
    condition = c.values.get(instr.srcs[0].value, "b")
    then, merge = b.id(), b.id()
    b.do("OpSelectionMerge", merge, 0)
    b.do("OpBranchConditional", condition.id, then, merge)
    c.edges.setdefault(merge, set()).add(c.label)
    c.begin(then)
    _INTRINSICS[instr.name.removesuffix("_if")](c, instr)
    c.branch(merge)
    c.begin(merge)


@_does("emit_vertex", "end_primitive")
def _emit(c: Code, instr: Intrinsic) -> None:
    streams = any(v.stream for v in c.interface.shader.variables)
    ending = instr.name == "end_primitive"
    if instr["stream"] or streams:
        c.b.capability("GeometryStreams")
        name = "OpEndStreamPrimitive" if ending else "OpEmitStreamVertex"
        c.b.do(name, c.b.uint(instr["stream"]))
    else:
        c.b.do("OpEndPrimitive" if ending else "OpEmitVertex")


@_does("barrier")
def _barrier(c: Code, instr: Intrinsic) -> None:
    b = c.b
    scope = instr["memory_scope"]
    semantics = 0
    if scope != "none":
        # Acquire and release, for every kind of memory that the stage has.
        names = ["AcquireRelease", "UniformMemory", "ImageMemory"]
        if c.stage is Stage.COMPUTE:
            names.append("WorkgroupMemory")
        semantics = sum(value_of("MemorySemantics", n) for n in names)
    memory = b.uint(SCOPES[scope])
    if instr["execution_scope"] != "none":
        if c.stage is Stage.TESS_CTRL:
            memory, semantics = b.uint(SCOPES["invocation"]), 0
        b.do("OpControlBarrier", b.uint(SCOPES["workgroup"]), memory, b.uint(semantics))
    elif semantics:
        b.do("OpMemoryBarrier", memory, b.uint(semantics))


@_does("shader_clock")
def _clock(c: Code, instr: Intrinsic) -> None:
    c.b.capability("ShaderClockKHR")
    scope = c.b.uint(SCOPES["subgroup"])
    id = c.b.op("OpReadClockKHR", c.values.type("u", 32, 2), scope)
    c.values.set(instr.result, id, "u")


@_does(
    "vote_any", "vote_all", "vote_feq", "vote_ieq", "ballot", "elect", "read_first_invocation",
    "read_invocation", "reduce",
)  # fmt: skip
def _subgroup(c: Code, instr: Intrinsic) -> None:
    b = c.b
    scope = b.uint(SCOPES["subgroup"])
    name = instr.name
    d = instr.result
    v: Value | None = c.values.get(instr.srcs[0].value) if instr.srcs else None
    if name == "vote_feq":
        v = c.values.get(instr.srcs[0].value, "f")
    kind = v.kind if v is not None and name.startswith(("read", "reduce")) else "b"
    if name == "ballot":
        kind = "u"
    type = c.values.type(kind, d.bit_size, d.num_components)
    if name.startswith("vote"):
        b.capability("GroupNonUniformVote")
        op = {"vote_any": "Any", "vote_all": "All"}.get(name, "AllEqual")
        assert v is not None
        id = b.op(f"OpGroupNonUniform{op}", type, scope, v.id)
    elif name == "elect":
        b.capability("GroupNonUniform")
        id = b.op("OpGroupNonUniformElect", type, scope)
    elif name in ("ballot", "read_first_invocation"):
        b.capability("GroupNonUniformBallot")
        assert v is not None
        op = "Ballot" if name == "ballot" else "BroadcastFirst"
        id = b.op(f"OpGroupNonUniform{op}", type, scope, v.id)
    elif name == "read_invocation":
        b.capability("GroupNonUniformShuffle")
        assert v is not None
        lane = c.values.get(instr.srcs[1].value, "u").id
        id = b.op("OpGroupNonUniformShuffle", type, scope, v.id, lane)
    else:
        b.capability("GroupNonUniformArithmetic")
        op = tables.REDUCTIONS[instr["reduction_op"]]
        kind = "f" if op[0] == "F" else "u"
        v = c.values.get(instr.srcs[0].value, kind)
        type = c.values.type(kind, d.bit_size, d.num_components)
        group, extra = value_of("GroupOperation", tables.SCANS[instr["scan"]]), []
        if instr["cluster_size"]:
            b.capability("GroupNonUniformClustered")
            group = value_of("GroupOperation", "ClusteredReduce")
            extra = [b.uint(instr["cluster_size"])]
        id = b.op(f"OpGroupNonUniform{op}", type, scope, group, v.id, *extra)
    c.values.set(d, id, kind)
