"""A module's declarations: names, decorations, types, constants, functions.

Types become NIR types, with memory layout where decorations give one. Constants are nested tuples
of raw bits, shaped like their type, as the initial values of NIR's variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeAlias

from gallette.compiler.gc_pause import gc_paused
from gallette.compiler.spirv.grammar import grammar, opcode
from gallette.compiler.spirv.module import Instruction, Module, SpirvError
from gallette.compiler.spirv.read.constants import CONSTANTS, zero
from gallette.compiler.spirv.read.model import (
    Block,
    Constant,
    Data,
    EntryPoint,
    FunctionCode,
    SpvType,
    by_name,
)
from gallette.compiler.spirv.read.names import DECORATIONS, ENTRIES
from gallette.compiler.spirv.read.type_rules import TYPES


class Declarations:
    """All declarations outside of functions, and the positions of functions."""

    def __init__(self, module: Module, specialize: Mapping[int, int] | None = None) -> None:
        self.module = module
        self.specialize = dict(specialize or {})
        self.names: dict[int, str] = {}
        self.member_names: dict[tuple[int, int], str] = {}
        self.decorations: dict[int, dict[str, tuple[int, ...]]] = {}
        self.member_decorations: dict[tuple[int, int], dict[str, tuple[int, ...]]] = {}
        self.semantics: dict[int, str] = {}
        self.exact: frozenset[int] = frozenset()
        """results that must not be changed by inexact optimisation"""
        self.types: dict[int, SpvType] = {}
        self.constants: dict[int, Constant] = {}
        self.spec_ids: dict[int, int] = {}
        self.variables: dict[int, Instruction] = {}
        self.functions: dict[int, FunctionCode] = {}
        self.entries: list[EntryPoint] = []
        self.sets: dict[int, str] = {}
        self.strings: dict[int, str] = {}
        self.source_file = 0
        """the id of the file name of `OpSource`, if there is one"""
        self.addressing = "Logical"
        self.workgroup_size: int = 0
        self._forward: dict[int, str] = {}
        self._read()

    @property
    def pointer_bits(self) -> int:
        return 64 if self.addressing == "Physical64" else 32

    # Reading.

    @gc_paused
    def _read(self) -> None:
        instructions = self.module.instructions
        decorations, handlers = _decorations(), _handlers()
        for instr in instructions:
            row = decorations.get(instr.opcode)
            if row is None:
                # There are no decorations after the first function.
                if instr.opcode == _FUNCTION:
                    break
            else:
                if len(instr.words) < row[1]:
                    raise _short(instr)
                row[0](self, instr)
        self.exact = frozenset(
            id for id, facts in self.decorations.items() if "NoContraction" in facts
        )
        at, end = 0, len(instructions)
        while at < end:
            instr = instructions[at]
            row = handlers.get(instr.opcode)
            if row is not None:
                if len(instr.words) < row[1]:
                    raise _short(instr)
                row[0](self, instr)
            elif instr.opcode == _FUNCTION:
                at = self._function(at)
                continue
            elif instr.opcode in decorations:
                if self.functions:
                    raise instr.error("this belongs in front of all functions")
            elif instr.opcode not in _IGNORED:
                raise instr.error("this does not belong outside a function")
            at += 1

    def _function(self, at: int) -> int:
        """Read one function; returns the index of the next instruction."""
        instructions = self.module.instructions
        head = instructions[at]
        if len(head.words) != 4:
            raise head.error("expected 4 words of operands")
        function = FunctionCode(
            head.words[1], self.type(head.words[3], head), self.type(head.words[0], head)
        )
        if function.type.kind != "function":
            raise head.error(f"%{head.words[3]} is no function type")
        block: Block | None = None
        required = _required()
        at += 1
        while at < len(instructions):
            instr = instructions[at]
            at += 1
            op, words = instr.opcode, instr.words
            if len(words) < required[op]:
                raise instr.error(f"{len(words)} words of operands, expected {required[op]}")
            if op not in _SPECIAL and block is not None:
                block.code.append(instr)
            elif op == _FUNCTION_END:
                if block is not None:
                    raise instr.error("the block in front of this has no end")
                self.functions[function.id] = function
                self._find_wide(function)
                return at
            elif op in _LINES:
                # Lines matter inside blocks only; merges and ends have no NIR instruction.
                if block is not None:
                    block.code.append(instr)
            elif op == _PARAMETER and block is None and not function.blocks:
                function.params.append((words[1], self.type(words[0], instr)))
            elif op == _LABEL:
                if block is not None:
                    raise instr.error("the block in front of this has no end")
                block = Block(words[0])
                if words[0] in function.blocks:
                    raise instr.error(f"label %{words[0]} stands for two blocks")
                function.blocks[words[0]] = block
                function.first = function.first or words[0]
            elif block is None:
                raise instr.error("expected a label in front of this")
            elif op == _PHI:
                block.phis.append(instr)
            elif op in _MERGES:
                block.merge = instr
            elif op in _TERMINATORS:
                block.end = instr
                block = None
            else:
                block.code.append(instr)
        raise head.error("the function has no end")

    def _find_wide(self, function: FunctionCode) -> None:
        """Record which switches have 64-bit selectors."""
        for block in function.blocks.values():
            if block.end is not None and block.end.opcode == _SWITCH:
                type = self.type_of(function, block.end.words[0])
                block.wide = type is not None and type.nir.bit_size == 64

    def type_of(self, function: FunctionCode, id: int) -> SpvType | None:
        """The type of an operand in a function, if it is a constant, a parameter or a result."""
        constant = self.constants.get(id)
        if constant is not None:
            return constant.type
        if not function.type_ids:
            function.type_ids.update((param, type.id) for param, type in function.params)
            for block in function.blocks.values():
                for i in (*block.phis, *block.code):
                    if i.info.has_type and len(i.words) > 1:
                        function.type_ids[i.words[1]] = i.words[0]
        return self.types.get(function.type_ids.get(id, 0))

    def type(self, id: int, where: Instruction) -> SpvType:
        found = self.types.get(id)
        if found is None:
            raise where.error(f"%{id} is no type")
        return found

    def constant(self, id: int, where: Instruction) -> Constant:
        found = self.constants.get(id)
        if found is None:
            raise where.error(f"%{id} is no constant")
        return found

    def integer(self, id: int, where: Instruction) -> int:
        """The value of a constant that must be an integer."""
        constant = self.constant(id, where)
        if not constant.type.nir.is_scalar:
            raise where.error(f"%{id} is no number")
        return int(constant.data[0])

    def zero(self, type: SpvType, where: Instruction) -> Data:
        """A constant of zeros."""
        return zero(type, where)


def _short(i: Instruction) -> SpirvError:
    return i.error(f"{len(i.words)} words of operands, expected at least {i.info.required}")


_Rows: TypeAlias = dict[int, tuple[Callable[[Declarations, Instruction], None], int]]


@cache
def _required() -> dict[int, int]:
    """The minimum number of operand words of each instruction."""
    return {op: info.required for op, info in grammar().by_opcode.items()}


@cache
def _decorations() -> _Rows:
    return {op: (handler, _required()[op]) for op, handler in DECORATIONS.items()}


@cache
def _handlers() -> _Rows:
    return {op: (handler, _required()[op]) for op, handler in HANDLERS.items()}


def _variable(d: Declarations, i: Instruction) -> None:
    d.variables[i.words[1]] = i


HANDLERS = ENTRIES | TYPES | CONSTANTS | by_name({"OpVariable": _variable})
_IGNORED_NAMES = """
OpNop OpCapability OpExtension OpSourceContinued OpSourceExtension OpLine OpNoLine
OpModuleProcessed OpDecorationGroup OpExtInst OpMemberDecorateString
"""
_IGNORED = frozenset(map(opcode, _IGNORED_NAMES.split()))
_LINES = frozenset((opcode("OpLine"), opcode("OpNoLine"), opcode("OpNop")))
_FUNCTION, _FUNCTION_END = opcode("OpFunction"), opcode("OpFunctionEnd")
_SWITCH = opcode("OpSwitch")
_PARAMETER, _LABEL, _PHI = opcode("OpFunctionParameter"), opcode("OpLabel"), opcode("OpPhi")
_MERGES = frozenset((opcode("OpLoopMerge"), opcode("OpSelectionMerge")))
_TERMINATOR_NAMES = """
OpBranch OpBranchConditional OpSwitch OpReturn OpReturnValue OpKill OpUnreachable
OpTerminateInvocation
"""
_TERMINATORS = frozenset(map(opcode, _TERMINATOR_NAMES.split()))
# Instructions of a function besides the code of its blocks.
_SPECIAL = frozenset((_FUNCTION_END, _PARAMETER, _LABEL, _PHI, *_LINES, *_MERGES, *_TERMINATORS))
