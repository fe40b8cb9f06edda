"""`OpSpecConstantOp`: an operation on constants, evaluated when the module is read.

The operation is translated like any other, into a scratch function, and folded there, so that each
instruction is defined in one place.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.fold import fold_alu
from gallette.compiler.nir.ir.instrs import Alu, LoadConst
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.grammar import grammar
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.arithmetic import ARITHMETIC
from gallette.compiler.spirv.read.declarations import HANDLERS, Declarations
from gallette.compiler.spirv.read.function import FunctionReader
from gallette.compiler.spirv.read.model import Constant, Data, FunctionCode, SpvType, by_name
from gallette.compiler.spirv.read.pointers import Value
from gallette.compiler.spirv.read.translate import ModuleReader

_RESULT = 0  # the id of the scratch result: no real id is zero


def evaluate_operation(d: Declarations, i: Instruction, type: SpvType) -> Data:
    """The constant of an `OpSpecConstantOp`."""
    info = grammar().by_opcode.get(i.words[2])
    if info is None or info.name in ("OpSpecConstantOp", "OpPhi", "OpFunctionCall"):
        raise i.error(f"{i.words[2]} is no operation on constants")
    shader = Shader(Stage.COMPUTE, "constant")
    try:
        reader = ModuleReader.scratch(d, shader)
        function = shader.add_function("constant", is_entry=True)

        code = FunctionCode(0, type, SpvType("void"))
        r = FunctionReader(reader, code, function)
        words = (i.words[0], _RESULT, *i.words[3:])
        handler = ARITHMETIC.get(info.opcode)
        if handler is None:
            raise i.error(f"{info.name} is no operation on constants")
        try:
            handler(r, Instruction(info.opcode, words, i.offset))
            return _data(r.values[_RESULT], i)
        except (AssertionError, LookupError, ValueError, TypeError, ArithmeticError) as error:
            raise i.error(f"operands that do not fit ({error})") from error
    finally:
        shader.unref()


def _spec_op(d: Declarations, i: Instruction) -> None:
    type = d.type(i.words[0], i)
    d.constants[i.words[1]] = Constant(type, evaluate_operation(d, i, type))


HANDLERS |= by_name({"OpSpecConstantOp": _spec_op})


def _data(value: Value, i: Instruction) -> Data:
    if isinstance(value, tuple):
        return tuple(_data(part, i) for part in value)
    if not isinstance(value, Def):
        raise i.error("the operation makes no constant")
    return _fold(value, i)


def _fold(value: Def, i: Instruction) -> tuple[int, ...]:
    """Fold the instructions that a value depends on, sources first."""
    known: dict[Def, tuple[int, ...]] = {}
    work = [value]
    while work:
        at = work[-1]
        instr = at.instr
        if isinstance(instr, LoadConst):
            known[at] = instr.values
            work.pop()
        elif isinstance(instr, Alu):
            missing = [s.value for s in instr.srcs if not isinstance(s.value.instr, LoadConst)]
            if missing:
                work.extend(missing)
                continue
            data = fold_alu(instr)
            assert data is not None
            constant = LoadConst(data, at.bit_size)
            constant.insert_before(instr)
            at.rewrite_uses(constant.result)
            known[at] = data
            work.pop()
        else:
            raise i.error("the operation is not on constants")
    return known[value]
