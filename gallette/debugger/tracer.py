"""The reference interpreter, recording every instruction that it executes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gallette.compiler.nir.interp.environment import Environment
from gallette.compiler.nir.interp.interpreter import Interpreter
from gallette.compiler.nir.ir import Shader
from gallette.compiler.nir.ir.cf import Block, If, events
from gallette.compiler.nir.ir.instrs import Alu, Instr, Intrinsic, LoadConst, Phi, Tex
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.text.printer import Printer
from gallette.debugger.environment import DrawEnvironment
from gallette.debugger.records import Line, Session, Step
from gallette.debugger.stores import stored
from gallette.drivers.common.fixed.arrays import observed
from gallette.drivers.common.fixed.routine import Routine, remove_unused

MOST_STEPS = 20_000
_LETTERS = {"float": "f", "int": "i", "uint": "u", "bool": "b"}


def trace_shader(shader: Shader, env: DrawEnvironment, session: Session) -> Session:
    """Run a shader over the environment's lanes; the session gets code, steps and outputs."""
    numbers = _code(shader, session)
    tracer = _Tracer(shader, env, session, numbers, session.lane)
    result = tracer.run()
    types = _output_types(numbers)
    for (slot, component), raw in sorted(result.outputs.items()):
        name = _slot_name(shader.stage.value, int(slot))
        values = session.outputs.setdefault(name, [])
        while len(values) < component:
            values.append(0.0)
        bits = np.asarray(raw[session.lane : session.lane + 1])
        if bits.dtype == np.uint32:
            bits = bits.view(types.get(int(slot), np.float32))
        values.append(bits[0].item())
    if not result.alive[session.lane]:
        session.note = "discarded"
    return session


def trace_routine(
    routine: Routine, env: Environment, arguments: Sequence[Any], session: Session, section: str
) -> list[Any]:
    """Run a routine for the session's lane, with the raw bits of its parameters; returns those of
    its results. Its code and steps are appended under the heading `section`.
    """
    remove_unused(routine)
    first = len(session.code)
    numbers = _code(routine.shader, session)
    for line in session.code[first:]:
        line.source, line.section = -1, section
    tracer = _Tracer(routine.shader, env, session, numbers, lane=0)
    start = len(session.steps)
    tracer.run([np.asarray(a).reshape(-1, 1) for a in arguments])
    for step in session.steps[start:]:  # the other lanes of the quad do not take part
        mine = step.values[0] if step.values else []
        step.values = [mine if i == session.lane else [] for i in range(len(session.lanes))]
        step.active = [i == session.lane for i in range(len(session.lanes))]
    return [tracer.values[result].reshape(-1) for result in routine.results]


def _output_types(instrs: dict[Instr, int]) -> dict[int, Any]:
    """The integer outputs: the others are floats."""
    found: dict[int, Any] = {}
    for instr in instrs:
        if isinstance(instr, Intrinsic) and instr.name == "store_output":
            base = str(instr.indices.get("src_type", "")).rstrip("0123456789")
            if base in ("int", "uint"):
                found[int(instr["location"])] = np.int32 if base == "int" else np.uint32
    return found


def _slot_name(stage: str, slot: int) -> str:
    kind: Any = FragResult if stage == "fragment" else VaryingSlot
    try:
        return str(kind(slot).name).lower()
    except ValueError:
        return f"slot {slot}"


def _code(shader: Shader, session: Session) -> dict[Instr, int]:
    """The shader as lines, and the line of each instruction."""
    printer, numbers = Printer(), {}
    printer.shader(shader)  # gives values and variables their names
    depth = 0
    for kind, node in events(shader.entry.body):
        if isinstance(node, Block):
            for instr in node.instrs():
                numbers[instr] = len(session.code)
                session.code.append(_line(printer, instr, depth))
            continue
        if kind in ("if", "loop"):
            text = (
                "loop" if not isinstance(node, If) else f"if {printer.value(node.condition.value)}"
            )
            session.code.append(Line("  " * depth + text, 0))
            depth += 1
        elif kind == "else":
            session.code.append(Line("  " * (depth - 1) + "else", 0))
        else:
            depth -= 1
    return numbers


def _line(printer: Printer, instr: Instr, depth: int) -> Line:
    line = Line("  " * depth + printer.instr(instr), instr.loc)
    if instr.dest is not None:
        line.bits, line.names = instr.dest.bit_size, instr.dest.names
        line.kind = _kind(instr)
    return line


def _kind(instr: Instr) -> str:
    """How a result is best read: as its instruction declares, or as its users read it."""
    assert instr.dest is not None
    if instr.dest.bit_size == 1:
        return "b"
    if isinstance(instr, Tex):
        return _LETTERS.get(instr.dest_type.rstrip("0123456789"), "f")
    if isinstance(instr, Alu) and instr.op.name != "mov" and not instr.op.is_vec:
        if instr.op.name != "bcsel":
            return _LETTERS[instr.op.output_type.base]
    if isinstance(instr, Alu) and (instr.op.name == "mov" or instr.op.is_vec):
        source = instr.srcs[0].value.instr
        if not isinstance(source, (LoadConst, Phi)):  # what is copied stays what it is
            return _kind(source)
    if isinstance(instr, Intrinsic) and instr.info.is_float:
        return "f"
    if isinstance(instr, (LoadConst, Phi, Intrinsic, Alu)):
        return _read_as(instr, 0)
    return "u"


def _read_as(instr: Instr, depth: int) -> str:
    """The type in which the first user with a type reads the value."""
    assert instr.dest is not None
    # Arithmetic says what it takes; memory takes anything.
    uses = sorted(instr.dest.uses, key=lambda src: isinstance(src.parent, Intrinsic))
    for src in uses:
        user = src.parent
        if isinstance(user, Alu):
            at = user.srcs.index(src)
            plain = user.op.name in ("mov", "bcsel") or user.op.is_vec
            if not plain:
                return _LETTERS[user.op.input_types[at].base]
            if depth < 4 and user.dest is not None:
                return _read_as(user, depth + 1)
        elif isinstance(user, Phi) and depth < 4:
            return _read_as(user, depth + 1)
        elif isinstance(user, Intrinsic):
            if user.name.startswith("store_output"):
                return "f"
            return "u"
    return "f"


class _Tracer(Interpreter):
    """Records a step for every instruction."""

    env: Any  # a shader's is a `DrawEnvironment`

    def __init__(
        self,
        shader: Shader,
        env: Environment,
        session: Session,
        numbers: dict[Instr, int],
        lane: int,
    ):
        super().__init__(shader, env)
        self._session, self._numbers, self._lane = session, numbers, lane

    def _execute(self, instr: Instr) -> None:
        active = self.active.tolist()
        if isinstance(instr, Intrinsic) and active[self._lane]:
            self._note_store(instr)
        if isinstance(instr, Tex):
            with observed() as calls:
                super()._execute(instr)
            if active[self._lane]:
                self._session.lookups[len(self._session.steps)] = calls
        elif not (isinstance(instr, Intrinsic) and self._from_draw(instr)):
            super()._execute(instr)
        self._step_done(instr, active)

    def _note_store(self, instr: Intrinsic) -> None:
        """Record the invocation's writes other than outputs."""
        lane = self._lane
        words = None if self.helper[lane] else stored(self, instr, lane, _kind)
        if words is not None:
            self._session.stores.append(words)

    def write(self, dest: Any, value: Any) -> None:
        super().write(dest, value)
        if isinstance(dest.instr, Phi):
            self._step_done(dest.instr, self.active.tolist())

    def _step_done(self, instr: Instr, active: list[bool]) -> None:
        number = self._numbers.get(instr)
        if number is None or len(self._session.steps) >= MOST_STEPS:
            return
        values = None
        if instr.dest is not None and instr.dest in self.values:
            values = self.values[instr.dest].T.astype(object).tolist()
        self._session.steps.append(Step(number, values, active))

    # -- inputs the way the draw has them --------------------------------------------------------

    def _from_draw(self, instr: Intrinsic) -> bool:
        """Execute loads whose values only the draw has."""
        name = instr.name
        if name == "load_interpolated_input" or (
            name == "load_input" and self.env.stage == "vertex"
        ):
            self.write(instr.result, self._input(instr))
        elif name.startswith("load_barycentric"):
            zero = np.zeros((instr.result.num_components, self.lanes), np.uint32)
            self.write(instr.result, zero)
        elif name == "store_output" and instr.indices.get("dual_source"):
            raw = np.ascontiguousarray(self.read(instr.srcs[0])[:, self._lane])
            self._session.outputs["second colour"] = raw.view(np.float32).tolist()
        else:
            return False
        return True

    def _input(self, instr: Intrinsic) -> Any:
        dest, interpolated = instr.result, instr.name == "load_interpolated_input"
        offset = self.typed(instr.srcs[1 if interpolated else 0], "int")[0]
        extra = None
        if interpolated:
            bary = instr.srcs[0].value.instr
            if bary.srcs:
                extra = self.typed(bary.srcs[0], "float")
        rows = []
        for c in range(dest.num_components):
            step, component = divmod(instr["component"] + c, 4)
            row: Any = None
            for o in np.unique(offset):
                if interpolated:
                    slot = int(instr["location"]) + int(o) + step
                    value = self.env.varying(instr, slot, component, extra, dest.bit_size)
                else:
                    value = self.env.attribute(instr, int(o) + step, component, dest.bit_size)
                row = value if row is None else np.where(offset == o, value, row)
            rows.append(row)
        return np.stack(rows)
