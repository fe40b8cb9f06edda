"""The reference interpreter: executes a shader for all lanes at once, as simply as possible.

It shares only the opcode table with other code: control flow is a stack of frames with lane masks,
a value is one row of raw bits per component, phis select by each lane's predecessor block. It is
the oracle of the property tests and the reference for drivers' generated code.

    result = interpret(shader, Environment(lanes=16))
    result.floats(FragResult.DATA0, 0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.interp.environment import Array, Environment, Result
from gallette.compiler.nir.interp.intrinsics import INTRINSIC_ACTIONS
from gallette.compiler.nir.interp.memory import Memory, Pointer, slot_count
from gallette.compiler.nir.ir.cf import Block, Body, If, Loop
from gallette.compiler.nir.ir.instrs import (
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
from gallette.compiler.nir.ir.opcodes import numpy_dtype
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.values import Def, Src

# The number of instructions after which a run counts as endless.
DEFAULT_BUDGET = 200_000
# GLSL has no recursion; a chain of calls this long indicates one.
MAX_CALL_DEPTH = 64


class ExecutionBudgetError(GalletteError):
    """The shader did not end within its execution budget."""


class Frame:
    """A body being executed; `kind` is function, then, else or loop."""

    __slots__ = ("after", "body", "continued", "entered", "kind", "node", "position", "saved")

    def __init__(self, kind: str, body: Body, node: If | Loop | None, entered: Array):
        self.kind = kind
        self.body = body
        self.node = node
        self.position = 0
        self.entered = entered
        self.after = np.zeros_like(entered)  # lanes that continue after the node
        self.continued = np.zeros_like(entered)
        self.saved: Any = None


class Interpreter:
    """One run of one shader."""

    def __init__(self, shader: Shader, env: Environment, budget: int = DEFAULT_BUDGET):
        self.shader = shader
        self.env = env
        self.lanes = env.lanes
        self.budget = budget
        self.result = Result(env.lanes)
        self.memory = Memory(env, self.result)
        self.values: dict[Def, Array] = {}
        self.pointers: dict[Def, Pointer] = {}
        self.active = np.ones(env.lanes, dtype=np.bool_)
        self.helper: Array = env.system_value("helper_invocation", 1, 1)[0].copy()
        self.came_from = np.full(env.lanes, -1, dtype=np.int64)
        self.block_numbers: dict[Block, int] = {}
        self.params: list[Any] = []
        self.frames: list[Frame] = []

    def run(self, params: Sequence[Array] = ()) -> Result:
        """Run the entry function; `params` are raw bits of shape (components, lanes)."""
        with np.errstate(all="ignore"):
            self._enter(self.shader.entry, list(params))
            while self.frames:
                self._step(self.frames[-1])
        self.memory.flush_outputs()
        if self.result.vertices:  # after the last vertex, outputs are undefined
            self.result.outputs.clear()
        self.result.alive &= ~self.helper
        self.result.buffers = self.env.buffers()
        self.result.images = self.env.images
        return self.result

    # Control flow.

    def _enter(self, impl: FunctionImpl, params: list[Any]) -> None:
        if sum(frame.kind == "function" for frame in self.frames) >= MAX_CALL_DEPTH:
            raise ExecutionBudgetError(f"shader {self.shader.name!r}: calls nested too deeply")
        frame = Frame("function", impl.body, None, self.active.copy())
        frame.saved = self.params
        self.params = params
        self.frames.append(frame)

    def _step(self, frame: Frame) -> None:
        """Execute the next node of the innermost body, or leave the body."""
        if frame.position == len(frame.body) or not self.active.any():
            self._leave(frame)
            return
        node = frame.body[frame.position]
        frame.position += 1
        if isinstance(node, Block):
            self._block(node)
        elif isinstance(node, If):
            condition = self.read(node.condition)[0] & self.active
            other = Frame("then", node.then_body, node, self.active.copy())
            other.saved = self.active & ~condition
            self.active = condition
            self.frames.append(other)
        else:
            self.frames.append(Frame("loop", node.body, node, self.active.copy()))

    def _leave(self, frame: Frame) -> None:
        if frame.kind == "then":
            assert isinstance(frame.node, If)
            frame.kind, frame.body, frame.position = "else", frame.node.else_body, 0
            frame.after |= self.active
            self.active = frame.saved
        elif frame.kind == "else":
            self.active = frame.after | self.active
            self.frames.pop()
        elif frame.kind == "loop":
            self.active = self.active | frame.continued
            frame.continued = np.zeros_like(self.active)
            frame.position = 0
            self._spend(1)
            if not self.active.any():
                self.active = frame.after
                self.frames.pop()
        else:
            self.active = frame.after | self.active
            self.params = frame.saved
            self.frames.pop()

    def _spend(self, count: int) -> None:
        self.budget -= count
        if self.budget < 0:
            raise ExecutionBudgetError(
                f"shader {self.shader.name!r} did not end within its execution budget"
            )

    def _jump(self, kind: str) -> None:
        leaving = self.active
        self.active = np.zeros_like(leaving)
        if kind == "halt":
            return
        wanted = "function" if kind == "return" else "loop"
        for frame in reversed(self.frames):
            if frame.kind == wanted:
                if kind == "continue":
                    frame.continued |= leaving
                else:
                    frame.after |= leaving
                return

    def _block(self, block: Block) -> None:
        number = self.block_numbers.setdefault(block, len(self.block_numbers))
        arrived: list[tuple[Def, Any]] = []
        at = block.first
        while isinstance(at, Phi):  # read all phis before writing any
            arrived.append((at.result, self._phi(at)))
            at = at.next
        for dest, value in arrived:
            self.write(dest, value)
        # A jump must record its own block as the predecessor of the lanes that take it.
        self.came_from = np.where(self.active, number, self.came_from)
        while at is not None:
            self._spend(1)
            self._execute(at)
            if not self.active.any():
                return
            if isinstance(at, Call):  # the callee runs first, then the rest of this block
                self._resume_after(at)
                return
            at = at.next

    def _resume_after(self, call: Call) -> None:
        """Run a call to its end, then continue with the rest of the block."""
        depth = len(self.frames) - 1
        block = call.block
        assert block is not None
        while len(self.frames) > depth:
            self._step(self.frames[-1])
        number = self.block_numbers[block]
        self.came_from = np.where(self.active, number, self.came_from)
        at = call.next
        while at is not None and self.active.any():
            self._spend(1)
            self._execute(at)
            if isinstance(at, Call):
                self._resume_after(at)
                return
            at = at.next

    def _phi(self, phi: Phi) -> Array | Pointer:
        out: Any = None
        for src in phi.phi_srcs:
            number = self.block_numbers.get(src.pred, -2)
            mask = self.came_from == number
            pointer = self.pointers.get(src.value)
            if pointer is not None:
                out = pointer if out is None else out.merged(pointer, mask)
                continue
            value = self.values.get(src.value)
            if value is None:
                continue
            out = value if out is None else np.where(mask, value, out)
        if out is None:
            out = self.zeros(phi.result)
        return out  # type: ignore[no-any-return]

    # Values.

    def zeros(self, dest: Def) -> Array:
        return np.zeros((dest.num_components, self.lanes), dtype=_raw_dtype(dest.bit_size))

    def write(self, dest: Def, value: Array | Pointer) -> None:
        """Write a value for the active lanes; the others keep theirs."""
        if isinstance(value, Pointer):
            old_pointer = self.pointers.get(dest)
            if old_pointer is not None:
                value = old_pointer.merged(value, self.active)
            self.pointers[dest] = value
            return
        old = self.values.get(dest)
        if old is not None and not self.active.all():
            value = np.where(self.active, value, old)
        self.values[dest] = value

    def read(self, src: Src) -> Array:
        """Raw bits, shape (components, lanes), swizzled."""
        value = self.values.get(src.value)
        if value is None:
            value = self.zeros(src.value)
        if src.swizzle:
            value = value[list(src.swizzle)]
        return value

    def typed(self, src: Src, base: str) -> Array:
        raw = self.read(src)
        return raw if raw.dtype == np.bool_ else raw.view(numpy_dtype(base, src.value.bit_size))

    def pointer(self, src: Src) -> Pointer:
        found = self.pointers.get(src.value)
        if found is None:
            lanes = np.zeros(self.lanes, dtype=np.int64)
            return Pointer(lanes, lanes, np.zeros(self.lanes, dtype=np.bool_))
        return found

    # Instructions.

    def _execute(self, instr: Instr) -> None:
        _ACTIONS[type(instr)](self, instr)

    def _alu(self, alu: Alu) -> None:
        op, dest = alu.op, alu.result
        if self.pointers and any(s.value in self.pointers for s in alu.srcs):
            self._alu_on_pointers(alu)
            return
        args: list[Any] = []
        for src, kind, size in zip(alu.srcs, op.input_types, op.input_sizes, strict=True):
            array = np.ascontiguousarray(self.typed(src, kind.base))
            if op.per_component:
                args.append(array)
            else:
                args.append([row.copy() for row in array[:size]] if size > 1 else array[0].copy())
        result = op.semantics(*args)
        if not op.per_component:
            result = np.stack(result) if op.output_size > 1 else np.asarray(result)[None]
        raw = np.ascontiguousarray(result)
        if raw.dtype != np.bool_:
            raw = raw.view(numpy_dtype("uint", dest.bit_size))
        shape = (dest.num_components, self.lanes)
        self.write(dest, np.broadcast_to(raw, shape).copy())

    def _alu_on_pointers(self, alu: Alu) -> None:
        """Copy or select pointers, which is all that is supported."""
        if alu.op.name == "bcsel":
            condition = self.read(alu.srcs[0])[0]
            chosen = self.pointer(alu.srcs[2]).merged(self.pointer(alu.srcs[1]), condition)
            self.write(alu.result, chosen)
        elif alu.op.name == "mov":
            self.write(alu.result, self.pointer(alu.srcs[0]))
        else:
            raise GalletteError(f"the interpreter cannot compute {alu.op.name} of pointers")

    def _load_const(self, instr: LoadConst) -> None:
        dest = instr.result
        column = np.array(instr.values, dtype=np.uint64)[:, None]
        raw = column.astype(_raw_dtype(dest.bit_size))
        self.write(dest, np.repeat(raw, self.lanes, axis=1))

    def _undef(self, instr: Undef) -> None:
        self.write(instr.result, self.zeros(instr.result))

    def _deref(self, deref: Deref) -> None:
        if deref.form == "var":
            assert deref.var is not None
            number = self.memory.number(deref.var)
            zero = np.zeros(self.lanes, dtype=np.int64)
            pointer = Pointer(
                np.full(self.lanes, number), zero, np.ones(self.lanes, dtype=np.bool_)
            )
            self.write(deref.result, pointer)
            return
        base = self.pointer(deref.srcs[0])
        parent = deref.parent
        if deref.form == "struct":
            assert parent is not None
            skipped = sum(slot_count(f.type) for f in parent.type.fields[: deref.field])
            self.write(deref.result, base.moved(skipped))
        elif deref.form == "cast":
            self.write(deref.result, base)
        else:
            index = self.typed(deref.srcs[1], "int")[0].astype(np.int64)
            inside: Array | bool = True
            if deref.form == "array" and parent is not None:
                length = parent.type.indexed_length()
                if length:
                    inside = (index >= 0) & (index < length)
            self.write(deref.result, base.moved(index * slot_count(deref.type), inside))

    def _intrinsic(self, instr: Intrinsic) -> None:
        name = instr.name
        action = INTRINSIC_ACTIONS.get(name)
        if action is not None:
            value = action(self, instr)
        elif (name.startswith("load_") and not instr.srcs) or name == "is_helper_invocation":
            value = self._system_value(instr)
        else:
            raise GalletteError(f"the interpreter does not know the intrinsic {name}")
        if instr.dest is not None and value is not None:
            self.write(instr.dest, value)

    def _system_value(self, instr: Intrinsic) -> Array:
        dest = instr.result
        if instr.name == "is_helper_invocation":
            return self.helper.copy().reshape(1, self.lanes)
        index = instr.indices.get("ucp_id", 0)
        name = instr.name.removeprefix("load_")
        return self.env.system_value(name, dest.num_components, dest.bit_size, index)

    def _tex(self, tex: Tex) -> None:
        srcs: dict[str, Array] = {}
        unit = np.full(self.lanes, tex.texture_index, dtype=np.int64)
        for kind, src in zip(tex.src_kinds, tex.srcs, strict=True):
            if kind == "texture_deref":
                unit = unit + self._unit(self.pointer(src))
            elif kind == "texture_offset":
                unit = unit + self.typed(src, "int")[0]
            elif kind not in ("sampler_deref", "sampler_offset"):
                srcs[kind] = self.typed(src, tex.info.src_type(kind))
        result = self.env.texture(tex, unit, srcs)
        if result.dtype != np.bool_:
            result = np.ascontiguousarray(result).view(
                numpy_dtype("uint", result.dtype.itemsize * 8)
            )
        self.write(tex.result, result)

    def image_unit(self, src: Src) -> Array:
        """The image of a source: by number, or by a deref."""
        if src.value in self.pointers:
            return self._unit(self.pointers[src.value])
        unit: Array = self.typed(src, "int")[0].astype(np.int64)
        return unit

    def _unit(self, pointer: Pointer) -> Array:
        """The texture unit of a sampler variable: its binding plus the array element."""
        out = np.zeros(self.lanes, dtype=np.int64)
        for number in np.unique(pointer.variable):
            var = self.memory.variables[number]
            unit = var.driver_location if var.driver_location >= 0 else max(var.binding, 0)
            out = np.where(pointer.variable == number, unit + pointer.offset, out)
        return out

    def _call(self, call: Call) -> None:
        impl = call.callee.impl
        if impl is None:
            raise GalletteError(f"call of {call.callee.name!r}, which has no body")
        params = [
            self.pointers[s.value] if s.value in self.pointers else self.read(s) for s in call.srcs
        ]
        self._enter(impl, params)

    def _jump_instr(self, jump: Jump) -> None:
        self._jump(jump.type)


_ACTIONS: dict[type[Instr], Callable[[Interpreter, Any], None]] = {
    Alu: Interpreter._alu,
    LoadConst: Interpreter._load_const,
    Undef: Interpreter._undef,
    Deref: Interpreter._deref,
    Intrinsic: Interpreter._intrinsic,
    Tex: Interpreter._tex,
    Call: Interpreter._call,
    Jump: Interpreter._jump_instr,
}


def _raw_dtype(bit_size: int) -> np.dtype[Any]:
    return numpy_dtype("uint", bit_size)


def interpret(
    shader: Shader, env: Environment | None = None, *, budget: int = DEFAULT_BUDGET
) -> Result:
    """Run a shader's entry point once over all lanes."""
    return Interpreter(shader, env or Environment(), budget).run()
