"""The assembler: from text to a module, in the syntax of the standard tools.

An instruction starts on its own line and may continue on the next ones. Ids are names or numbers;
they are numbered in order of appearance unless `keep_numbers` is set.
"""

from __future__ import annotations

import re
from typing import NoReturn

from gallette.compiler.errors import InputError, Span
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.spirv.grammar import Instr, OperandSpec, grammar
from gallette.compiler.spirv.literals import parse_number
from gallette.compiler.spirv.module import MAX_BOUND, Instruction, Module, words_of
from gallette.compiler.spirv.operands import IDS, WORD, Context, number_type

_TOKEN = re.compile(r'[ \t\r\f\v]*(;[^\n]*|\n|"(?:[^"\\]|\\[\s\S])*"|=|[^\s=;"]+|")')
_VERSION = re.compile(r";\s*Version:\s*1\.([0-6])\s*$", re.MULTILINE)


@lazy_dataclass(frozen=True)
class _Token:
    text: str
    offset: int
    first: bool


@lazy_dataclass()
class _Assembler:
    text: str
    file: str
    keep: bool
    ids: dict[str, int] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    next_id: int = 1
    context: Context = field(default_factory=Context)

    def fail(self, token: _Token | None, message: str) -> NoReturn:
        offset = len(self.text) if token is None else token.offset
        line = self.text.count("\n", 0, offset) + 1
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        source = self.text[start : end if end >= 0 else len(self.text)]
        column = offset - start + 1
        width = 1 if token is None else len(token.text.partition("\n")[0])
        raise InputError(message, Span(line, column, column + width, self.file), source)

    def tokens(self) -> list[_Token]:
        out: list[_Token] = []
        first = True
        at, size = 0, len(self.text)
        while at < size:
            match = _TOKEN.match(self.text, at)
            if match is None:
                break
            at = match.end()
            token = match[1]
            if token == "\n":
                first = True
            elif not token.startswith(";"):
                out.append(_Token(token, match.start(1), first))
                first = False
                if token == '"':
                    self.fail(out[-1], "a string has no end")
        return out

    def id(self, token: _Token) -> int:
        name = token.text
        if not re.fullmatch(r"%[A-Za-z0-9_]+", name):
            self.fail(token, f"expected an id such as %name, not {name}")
        known = self.ids.get(name)
        if known is not None:
            return known
        if self.keep and name[1:].isdecimal() and len(name) < 9 and int(name[1:]):
            number = int(name[1:])
        else:
            while self.next_id in self.used:
                self.next_id += 1
            number = self.next_id
        if number > MAX_BOUND:
            self.fail(token, f"ids go up to {MAX_BOUND}")
        self.used.add(number)
        self.ids[name] = number
        return number

    def run(self) -> Module:
        tokens = self.tokens()
        if self.keep:
            for t in tokens:
                if t.text.startswith("%") and t.text[1:].isdecimal() and len(t.text) < 9:
                    self.used.add(int(t.text[1:]))
        version = _VERSION.search(self.text)
        module = Module(0x00010000 | (int(version[1]) if version else 5) << 8)
        at = 0
        while at < len(tokens):
            end = at + 1
            while end < len(tokens) and not self.starts(tokens, end):
                end += 1
            instr = self.instruction(tokens[at:end])
            module.instructions.append(instr)
            self.context.learn(instr)
            at = end
        module.bound = max(self.used, default=0) + 1
        return module

    def starts(self, tokens: list[_Token], at: int) -> bool:
        token = tokens[at]
        if not token.first:
            return False
        if token.text.startswith("Op"):
            return True
        return token.text.startswith("%") and at + 1 < len(tokens) and tokens[at + 1].text == "="

    def instruction(self, tokens: list[_Token]) -> Instruction:
        head, result = tokens[0], None
        if len(tokens) > 1 and tokens[1].text == "=":
            result = tokens[0]
            if len(tokens) < 3:
                self.fail(tokens[1], "expected an instruction behind =")
            head, tokens = tokens[2], tokens[3:]
        else:
            tokens = tokens[1:]
        info = grammar().by_name.get(head.text)
        if info is None:
            self.fail(head, f"no instruction is called {head.text}")
        if info.has_result and result is None:
            self.fail(head, f"{info.name} has a result: expected %name = {info.name}")
        if result is not None and not info.has_result:
            self.fail(result, f"{info.name} has no result")
        return Instruction(info.opcode, tuple(self.operands(info, head, result, tokens)))

    def operands(
        self, info: Instr, head: _Token, result: _Token | None, tokens: list[_Token]
    ) -> list[int]:
        words: list[int] = []
        pending = list(reversed(info.operands))
        queue = list(reversed(tokens))
        result_at = -1
        while pending:
            spec = pending.pop()
            if spec.kind == "IdResult":
                # Numbered after the operands before it, as the standard tools do.
                assert result is not None
                result_at = len(words)
                words.append(self.id(result))
                continue
            if not queue:
                if spec.quantifier:
                    continue
                self.fail(tokens[-1] if tokens else head, f"expected {_wanted(spec)} behind this")
            if spec.quantifier == "*":
                pending.append(spec)
            self.one(info, spec, queue, words, pending)
        if queue:
            self.fail(queue[-1], f"{info.name} takes no more operands")
        assert result is None or result_at >= 0
        return words

    def one(
        self,
        info: Instr,
        spec: OperandSpec,
        queue: list[_Token],
        words: list[int],
        pending: list[OperandSpec],
    ) -> None:
        token = queue.pop()
        kind = spec.kind
        if token.text.startswith("!"):
            value = parse_number(token.text[1:], WORD)
            if value is None:
                self.fail(token, "expected a word behind !")
            words.append(value)
            return
        if kind in IDS:
            words.append(self.id(token))
        elif kind == "LiteralString":
            if not token.text.startswith('"'):
                self.fail(token, f"expected {_wanted(spec)} in quotes")
            words.extend(words_of(re.sub(r"\\([\s\S])", r"\1", token.text[1:-1])))
        elif kind in grammar().enums:
            words.append(self.enum(kind, token, pending))
        elif kind in grammar().pairs:
            first, second = grammar().pairs[kind]
            if info.name == "OpSwitch":
                first = "LiteralContextDependentNumber"
            pending.extend((OperandSpec(second), OperandSpec(first)))
            queue.append(token)
        elif kind in ("LiteralInteger", "LiteralContextDependentNumber"):
            type = WORD
            if kind == "LiteralContextDependentNumber":
                type = number_type(info.opcode, words, self.context)
            value = parse_number(token.text, type)
            if value is None:
                what = "float" if type.is_float else "int" if type.signed else "unsigned int"
                self.fail(token, f"expected a {type.width}-bit {what}, not {token.text}")
            words.append(value & 0xFFFFFFFF)
            if type.words > 1:
                words.append(value >> 32)
        elif kind == "LiteralExtInstInteger":
            self.extended(token, words, pending)
        else:
            inner = grammar().by_name.get(f"Op{token.text}")
            if inner is None or not inner.has_result:
                self.fail(token, f"no operation is called {token.text}")
            words.append(inner.opcode)
            rest = [s for s in inner.operands if not s.kind.startswith("IdResult")]
            pending.extend(reversed(rest))

    def enum(self, kind: str, token: _Token, pending: list[OperandSpec]) -> int:
        table = grammar().enums[kind]
        value = 0
        parameters: dict[int, tuple[OperandSpec, ...]] = {}
        for name in token.text.split("|") if table.is_mask else [token.text]:
            member = table.by_name.get(name)
            if member is None:
                self.fail(token, f"{name} is no {kind}")
            value |= member.value
            parameters[member.value] = member.parameters
        for key in sorted(parameters, reverse=True):
            pending.extend(reversed(parameters[key]))
        return value

    def extended(self, token: _Token, words: list[int], pending: list[OperandSpec]) -> None:
        name = self.context.sets.get(words[-1])
        if name is None:
            self.fail(token, "the set in front of this was not imported")
        group = grammar().extended.get(name)
        op = group.by_name.get(token.text) if group is not None else None
        if op is not None:
            words.append(op.opcode)
            pending[:] = list(reversed(op.operands))
            return
        number = parse_number(token.text, WORD) if group is None else None
        if number is None:
            self.fail(token, f"{name} has no instruction {token.text}")
        words.append(number)


def _wanted(spec: OperandSpec) -> str:
    return f"{spec.kind} ({spec.name.replace('_', ' ')})" if spec.name else spec.kind


def assemble(text: str, file: str = "<spirv>", *, keep_numbers: bool = False) -> Module:
    """The module of an assembly text; errors have file, line and column."""
    return _Assembler(text, file, keep_numbers).run()
