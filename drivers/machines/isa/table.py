"""An instruction set as a table, and everything derived from it.

A machine declares its fields, the forms of operands, and the formats of its instructions; encoding,
assembly, checks of operands and the reference page are derived from these here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from gallette.compiler.errors import InputError, Span
from gallette.compiler.lazy_dataclass import lazy_dataclass

from .fields import Choice, Field, Text
from .instruction import Instruction, Message, Opcode
from .layout import Form, Format, Slot, Word, items_of
from .syntax import Syntax

Instr = TypeVar("Instr", bound=Instruction)
_VIRTUAL = frozenset({"nr", "offset", "half"})
"""Which virtual register an operand is: allocation replaces it."""

_PLACES = {
    "dst": "the destination",
    "src0": "the first source",
    "src1": "the second source",
    "src2": "the third source",
}


@lazy_dataclass(frozen=True, kw_only=True)
class Description(Generic[Instr]):
    """The declarations of a machine."""

    name: str
    word_bytes: int
    opcodes: Mapping[str, Opcode]
    opcode_bits: int
    instruction: type[Instr]
    operand: Any  # a named tuple with defaults for all but the file
    fields: Mapping[str, Field]
    files: Mapping[str, tuple[str, str]]  # register files: in assembly, and for people
    forms: Mapping[str, Form]
    formats: Mapping[str, Format]
    styles: Mapping[str, Sequence[tuple[str, str]]]  # files, and the template of operands in them
    grammar: str  # what a line looks like, for people
    head: str  # the template of a line: {modifiers}, {op} and, after a space, the {rest}
    modifiers: Sequence[str]  # their templates; they may stand in any order
    modifier: str  # a pattern of any of them
    between: tuple[str, str]  # modifiers, and operands
    columns: Sequence[str]  # what the list of instructions shows of an opcode
    physical: Callable[[Any], str]  # the file that a virtual register will be in


class Isa(Generic[Instr]):
    """An instruction set."""

    def __init__(self, given: Description[Instr]) -> None:
        self.given = given
        self.name, self.word_bytes = given.name, given.word_bytes
        self.opcodes, self.formats = given.opcodes, given.formats
        self._by_code = {op.code: op for op in given.opcodes.values()}
        codes = {op: op.code for op in given.opcodes.values()}
        op = Choice(codes, "instruction", r"[a-z][a-z0-9.]*", {op: op.name for op in codes})
        self.fields = {**given.fields, "op": op}
        self.items = {
            name: list(items_of(each.layout, self.fields, given.forms))
            for name, each in given.formats.items()
        }
        self.slots = {
            name: {item.name: item for item in items if isinstance(item, Slot)}
            for name, items in self.items.items()
        }
        # What an operand must have in the fields that a form does not encode.
        self._usual = {
            (slot.form_name, file): [
                (k, next((t.fixed for t in tokens if t.name == name), usual))
                for k, (name, usual) in enumerate(given.operand._field_defaults.items(), 1)
                if not any(t.name == name and t.fixed is None for t in tokens)
            ]
            for slots in self.slots.values()
            for slot in slots.values()
            for file, tokens in slot.by_file.items()
        }
        texts = {
            "modifiers": Text(f"(?:{given.modifier}{given.between[0]}?)+"),
            "rest": Text(".*"),
        }
        self._head = Syntax(given.head, {**self.fields, **texts})
        self._modifiers = [Syntax(text, self.fields) for text in given.modifiers]
        self._tails = {
            name: [Syntax(text, self.fields) if "{" in text else text for text in each.text]
            for name, each in given.formats.items()
        }
        self._operands = {
            style: [(files, Syntax(text, self._fields_in(files))) for files, text in rows]
            for style, rows in given.styles.items()
        }

    def _fields_in(self, files: str) -> dict[str, Field]:
        """All fields, with the register file as one of these."""
        names = {self.given.files[file][0]: file for file in files}
        pattern = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        file = Choice(list(names.values()), "file", pattern, {f: n for n, f in names.items()})
        found = {**self.fields, "file": file}
        if files == "v":  # virtual registers are numbered on every machine
            found["nr"] = Field()
        return found

    # -- operands ----------------------------------------------------------------------------------

    def refusal(self, op: Opcode, name: str, operand: Any) -> str:
        """Why an operand cannot be used at a place (`dst`, `src0`, ...) of an instruction, or
        "".

        A virtual register is checked as the kind of register that it will become.
        """
        virtual = operand.file == "v"
        file = self.given.physical(operand) if virtual else operand.file
        slot = self.slots[op.format][name]
        if file not in slot.by_file:
            return f"{_PLACES[name]} of {op.name} cannot be {self.given.files[file][1]}"
        for k, usual in self._usual[slot.form_name, file]:
            field = operand._fields[k]
            if operand[k] != usual and not (virtual and field in _VIRTUAL):
                return f"{_PLACES[name]} of {op.name} cannot have {field} {operand[k]!r}"
        try:
            for token in slot.by_file[file]:
                if token.name in operand._fields and not (virtual and token.name in _VIRTUAL):
                    token.code(getattr(operand, token.name))
        except ValueError as error:
            return str(error)
        return ""

    # -- words -------------------------------------------------------------------------------------

    def encode(self, instr: Instr) -> int:
        """The instruction as an integer; raises ValueError if an operand cannot be encoded."""
        word, once = Word(), self.formats[instr.op.format].once
        if once and sum(src.file in once for src in instr.srcs) > 1:
            names = " or ".join(self.given.files[file][1] for file in once)
            raise ValueError(f"only one source of {instr.op.name} can be {names}")
        for item in self.items[instr.op.format]:
            if not isinstance(item, Slot):
                word.put(item.code(_value(instr, item.name)), item.bits, item.at)
                continue
            operand = _operand(instr, item.name)
            if operand.file == "v":
                raise ValueError("a virtual register cannot be encoded")
            usual = self._usual.get((item.form_name, operand.file))
            if usual is None or any(operand[k] != value for k, value in usual):
                raise ValueError(self.refusal(instr.op, item.name, operand))
            word.at = word.at if item.at is None else item.at
            word.put(item.form.files.index(operand.file), item.file_bits)
            for token in item.by_file[operand.file]:
                if token.fixed is None:
                    own = token.name in operand._fields
                    value = getattr(operand, token.name) if own else _value(instr, token.name)
                    word.put(token.code(value), token.bits, token.at)
        return word.bits

    def decode(self, bits: int) -> Instr:
        """The instruction that a word encodes: `encode(decode(w)) == w` for every `w` that `encode`
        makes.
        """
        code = bits & (1 << self.given.opcode_bits) - 1
        op = self._by_code.get(code)
        if op is None:
            raise ValueError(f"no instruction has the opcode {code}")
        word, values, operands = Word(bits), {}, {}
        for item in self.items[op.format]:
            if not isinstance(item, Slot):
                values[item.name] = word.take_value(item)
                continue
            word.at = word.at if item.at is None else item.at
            file = item.form.files[word.take(item.file_bits)]
            if file not in item.by_file:
                name = self.given.files[file][1]
                raise ValueError(f"{_PLACES[item.name]} of {op.name} cannot be {name}")
            found = {token.name: word.take_value(token) for token in item.by_file[file]}
            operands[item.name] = {"file": file, **found}
        return self._made(op, values, operands)

    def _made(
        self, op: Opcode, values: dict[str, Any], operands: Mapping[str, dict[str, Any]]
    ) -> Instr:
        """The instruction with this opcode and these fields and operands."""
        made = {}
        for name, found in operands.items():
            own = {key: found[key] for key in found if key in self.given.operand._fields}
            made[name] = self.given.operand(**own)
            values |= {key: found[key] for key in found if key not in own}
        values.pop("op", None)
        message = {name: values.pop(name) for name in Message._fields if name in values}
        if message:
            values["message"] = Message(**{"unit": op.unit, "result": 0, **message})
        dst = made.pop("dst", self.given.operand("n"))
        return self.given.instruction(op, dst, tuple(made.values()), **values)

    # -- assembly ----------------------------------------------------------------------------------

    def line(self, instr: Instr) -> str:
        """One instruction as text."""
        op, (between_modifiers, between) = instr.op, self.given.between
        words = []
        for part in self._tails[op.format]:
            if isinstance(part, Syntax):
                words.append(part.write(lambda name: _value(instr, name)))
            else:
                style = self.slots[op.format][part].form.style
                words.append(self.operand_text(_operand(instr, part), style))
        modifiers = (each.write(lambda name: _value(instr, name)) for each in self._modifiers)
        texts = {
            "modifiers": between_modifiers.join(filter(None, modifiers)),
            "rest": between.join(filter(None, words)),
        }
        return self._head.write(lambda n: texts[n] if n in texts else _value(instr, n))

    def operand_text(self, operand: Any, style: str = "operand") -> str:
        """An operand as text."""
        for files, syntax in self._operands[style]:
            if operand.file in files:
                return syntax.write(lambda name: getattr(operand, name))
        raise ValueError(f"nothing is written for {self.given.files[operand.file][1]}")

    def read_line(self, text: str) -> Instr:
        """The instruction that a line of assembly describes."""
        head = self._head.read(" ".join(text.split()))
        if head is None:
            raise ValueError(f"an instruction is {self.given.grammar}")
        op = head.pop("op")
        modifiers, rest = head.pop("modifiers", ""), head.pop("rest", "")
        values: dict[str, Any] = dict(head)
        for word in re.findall(self.given.modifier, modifiers):
            values |= _first(self._modifiers, word, "modifier")
        operands: dict[str, dict[str, Any]] = {}
        words = rest.split(self.given.between[1]) if rest else []
        for part in self._tails[op.format]:
            if isinstance(part, Syntax) and part.optional:
                if words and (found := part.read(words[0])) is not None:
                    values |= found
                    del words[0]
                continue
            if not words:
                missing = part.template if isinstance(part, Syntax) else _PLACES[part]
                raise ValueError(f"{op.name} lacks {missing}")
            word = words.pop(0)
            if isinstance(part, Syntax):
                values |= _first([part], word, "operand")
            else:
                operands[part] = self._read_operand(word, self.slots[op.format][part])
        if words:
            raise ValueError(f"{op.name} has no operand {words[0]!r}")
        return self._made(op, values, operands)

    def _read_operand(self, word: str, slot: Slot) -> dict[str, Any]:
        for files, syntax in self._operands[slot.form.style]:
            found = syntax.read(word)
            if found is not None:
                found = {"file": files[0], **found}
                tokens = slot.by_file.get(found["file"], ())
                return found | {t.name: t.fixed for t in tokens if t.fixed is not None}
        raise ValueError(f"{word!r} is no operand")

    def disassemble(self, code: Iterable[Instr]) -> str:
        """Numbered lines of assembly; branches refer to the numbers."""
        return "".join(f"{at:4}: {self.line(instr)}\n" for at, instr in enumerate(code))

    def assemble(self, text: str, name: str = "<assembly>") -> list[Instr]:
        """The instructions of a text in the form that `disassemble` writes; `;` begins a
        comment.
        """
        found = []
        for number, line in enumerate(text.splitlines(), 1):
            body = re.sub(r"^\s*\d+:", "", line.split(";")[0])
            if body.strip():
                try:
                    found.append(self.read_line(body))
                except ValueError as error:
                    at = len(line) - len(line.lstrip()) + 1
                    raise InputError(str(error), Span(number, at, 0, name), line) from error
        return found


def _value(instr: Instruction, name: str) -> Any:
    """A field of the instruction or of its message."""
    return getattr(instr.message if name in Message._fields else instr, name)


def _operand(instr: Instruction, name: str) -> Any:
    return instr.dst if name == "dst" else instr.srcs[int(name[3:])]


def _first(syntaxes: Iterable[Syntax], word: str, what: str) -> dict[str, Any]:
    """The values that a word yields for the first of some templates that it matches."""
    for syntax in syntaxes:
        found = syntax.read(word)
        if found is not None:
            return found
    raise ValueError(f"{word!r} is no {what}")
