"""Builds a module: ids, sections in their order, every type and constant once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gallette.compiler.spirv.grammar import Enumerant, grammar, opcode, value_of
from gallette.compiler.spirv.module import Instruction, Module, words_of

VERSION = 0x00010500
# Instructions before everything else, in the order that the specification requires.
_SECTIONS = (
    "capability",
    "extension",
    "import",
    "memory_model",
    "entry",
    "mode",
    "string",
    "source",
    "name",
    "decoration",
    "global",
    "code",
)
_EXTENSION_OF = {
    "DemoteToHelperInvocation": "SPV_EXT_demote_to_helper_invocation",
    "SampleMaskPostDepthCoverage": "SPV_KHR_post_depth_coverage",
    "FragmentShaderPixelInterlockEXT": "SPV_EXT_fragment_shader_interlock",
    "ShaderClockKHR": "SPV_KHR_shader_clock",
    "AtomicFloat32AddEXT": "SPV_EXT_shader_atomic_float_add",
    "AtomicFloat32MinMaxEXT": "SPV_EXT_shader_atomic_float_min_max",
}

_EXTENDED = "GLSL.std.450"  # the set of extended instructions


class ModuleBuilder:
    """A module being built. `code` is the section of function bodies."""

    def __init__(self) -> None:
        self.sections: dict[str, list[Instruction]] = {name: [] for name in _SECTIONS}
        self.code = self.sections["code"]
        self.next_id = 1
        self.known: dict[tuple[object, ...], int] = {}
        self.capabilities: set[str] = set()
        self.extensions: set[str] = set()
        self.file = 0
        self.line = 0

    def id(self) -> int:
        self.next_id += 1
        return self.next_id - 1

    # Sections.

    def put(self, section: str, name: str, *words: int) -> Instruction:
        instr = Instruction(opcode(name), words)
        self.sections[section].append(instr)
        return instr

    def capability(self, *names: str) -> None:
        for name in names:
            if name not in self.capabilities:
                self.capabilities.add(name)
                self.put("capability", "OpCapability", value_of("Capability", name))
                if name in _EXTENSION_OF:
                    self.extension(_EXTENSION_OF[name])

    def extension(self, name: str) -> None:
        if name not in self.extensions:
            self.extensions.add(name)
            self.put("extension", "OpExtension", *words_of(name))

    def name(self, id: int, text: str) -> None:
        if text:
            self.put("name", "OpName", id, *words_of(text))

    def member_name(self, id: int, member: int, text: str) -> None:
        self.put("name", "OpMemberName", id, member, *words_of(text))

    def decorate(self, id: int, decoration: str, *extra: int | str) -> None:
        words = [id, value_of("Decoration", decoration), *self._parameters(decoration, extra)]
        self.put("decoration", "OpDecorate", *words)

    def decorate_text(self, id: int, decoration: str, text: str) -> None:
        value = value_of("Decoration", decoration)
        self.put("decoration", "OpDecorateString", id, value, *words_of(text))

    def decorate_member(self, id: int, member: int, decoration: str, *extra: int | str) -> None:
        words = [value_of("Decoration", decoration), *self._parameters(decoration, extra)]
        self.put("decoration", "OpMemberDecorate", id, member, *words)

    def _parameters(self, decoration: str, extra: Iterable[int | str]) -> list[int]:
        member: Enumerant = grammar().enums["Decoration"].by_name[decoration]
        pairs = zip(member.parameters, extra, strict=True)
        return [value_of(spec.kind, x) if isinstance(x, str) else x for spec, x in pairs]

    def mode(self, function: int, mode: str, *extra: int) -> None:
        self.put("mode", "OpExecutionMode", function, value_of("ExecutionMode", mode), *extra)

    # Types and constants, each once.

    def type(self, name: str, *words: int, fresh: bool = False) -> int:
        """A type; `fresh` creates a new one even if an equal one exists (for its decorations)."""
        key = (name, words)
        known = self.known.get(key)
        if known is not None and not fresh:
            return known
        id = self.id()
        if not fresh:
            self.known[key] = id
        self.put("global", name, id, *words)
        return id

    def void(self) -> int:
        return self.type("OpTypeVoid")

    def bool_type(self) -> int:
        return self.type("OpTypeBool")

    def int_type(self, width: int = 32, signed: bool = False) -> int:
        if width != 32:
            self.capability(f"Int{width}")
        return self.type("OpTypeInt", width, int(signed))

    def float_type(self, width: int = 32) -> int:
        if width != 32:
            self.capability(f"Float{width}")
        return self.type("OpTypeFloat", width)

    def vector(self, component: int, count: int) -> int:
        return component if count == 1 else self.type("OpTypeVector", component, count)

    def pointer(self, storage: str, pointee: int) -> int:
        return self.type("OpTypePointer", value_of("StorageClass", storage), pointee)

    def constant(self, type: int, bits: int, width: int = 32) -> int:
        """A number from its raw bits."""
        key = ("constant", type, bits)
        if key not in self.known:
            self.known[key] = id = self.id()
            words = (bits & 0xFFFFFFFF, bits >> 32) if width == 64 else (bits,)
            self.put("global", "OpConstant", type, id, *words)
        return self.known[key]

    def uint(self, value: int) -> int:
        return self.constant(self.int_type(), value & 0xFFFFFFFF)

    def sint(self, value: int) -> int:
        return self.constant(self.int_type(32, True), value & 0xFFFFFFFF)

    def truth(self, value: bool) -> int:
        name = "OpConstantTrue" if value else "OpConstantFalse"
        key = (name,)
        if key not in self.known:
            type = self.bool_type()
            self.known[key] = id = self.id()
            self.put("global", name, type, id)
        return self.known[key]

    def composite(self, type: int, parts: Sequence[int]) -> int:
        key = ("composite", type, *parts)
        if key not in self.known:
            self.known[key] = id = self.id()
            self.put("global", "OpConstantComposite", type, id, *parts)
        return self.known[key]

    def undef(self, type: int) -> int:
        key = ("undef", type)
        if key not in self.known:
            self.known[key] = id = self.id()
            self.put("global", "OpUndef", type, id)
        return self.known[key]

    # Code.

    def at_line(self, line: int) -> None:
        """Set the source line of the following instructions in this block (0: unknown)."""
        if line == self.line or not self.file:
            return
        self.line = line
        if line:
            self.do("OpLine", self.file, line, 0)
        else:
            self.do("OpNoLine")

    def op(self, name: str, type: int, *words: int) -> int:
        """Emit an instruction with a result."""
        id = self.next_id
        self.next_id = id + 1
        self.code.append(Instruction(opcode(name), (type, id, *words)))
        return id

    def do(self, name: str, *words: int) -> None:
        """Emit an instruction without a result."""
        self.code.append(Instruction(opcode(name), words))

    def ext(self, name: str, type: int, *words: int) -> int:
        """Emit an extended instruction, for which the module imports the set."""
        key = ("import",)
        if key not in self.known:
            self.known[key] = id = self.id()
            self.put("import", "OpExtInstImport", id, *words_of(_EXTENDED))
        number = grammar().extended[_EXTENDED].by_name[name].opcode
        return self.op("OpExtInst", type, self.known[key], number, *words)

    def module(self) -> Module:
        instructions = [i for name in _SECTIONS for i in self.sections[name]]
        return Module(VERSION, bound=self.next_id, instructions=instructions)
