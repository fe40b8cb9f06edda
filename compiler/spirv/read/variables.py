"""Global variables: the NIR variable, intrinsic or counter of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.modes import Access, Mode, Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot, VertAttrib
from gallette.compiler.nir.ir.types import Type, array
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.spirv.emit.types import FORMATS
from gallette.compiler.spirv.grammar import name_of
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.initializers import initialise
from gallette.compiler.spirv.read.kernel_builtins import kernel_builtin
from gallette.compiler.spirv.read.model import EntryPoint, SpvType
from gallette.compiler.spirv.read.pointers import (
    Builtin,
    Counter,
    Place,
    RootPlace,
    SplitBlock,
    Value,
)
from gallette.compiler.spirv.slots import (
    ATOMIC_COUNTERS,
    DEFAULT_BLOCK,
    SYSTEM_BUILTINS,
    VARYING_BUILTINS,
    slot_from_text,
)

_BUILTIN_SLOTS = {name: slot for slot, name in VARYING_BUILTINS.items()}
_FRAGMENT_OUTPUTS = {
    "FragDepth": FragResult.DEPTH,
    "SampleMask": FragResult.SAMPLE_MASK,
    "FragStencilRefEXT": FragResult.STENCIL,
}
_INTRINSICS = {row[0]: (name, *row[1:]) for name, row in SYSTEM_BUILTINS.items()}
_INTRINSICS["VertexId"] = ("load_vertex_id", "i", 1, 0)
_INTRINSICS["InstanceIndex"] = ("load_instance_id", "i", 1, 0)
_INTRINSICS["InstanceId"] = ("load_instance_id", "i", 1, 0)
_PACKED = ("ClipDistance", "CullDistance", "TessLevelOuter", "TessLevelInner")
_FORMAT_NAMES = {spirv: glsl for glsl, spirv in FORMATS.items()}
_ACCESS = {
    "Coherent": Access.COHERENT,
    "Volatile": Access.VOLATILE,
    "Restrict": Access.RESTRICT,
    "NonReadable": Access.NON_READABLE,
    "NonWritable": Access.NON_WRITEABLE,
}


@lazy_dataclass()
class _Facts:
    """Decorations of a variable or of one member of its block."""

    own: dict[str, tuple[int, ...]]

    def number(self, name: str, default: int = -1) -> int:
        found = self.own.get(name)
        return found[0] if found else default

    def has(self, name: str) -> bool:
        return name in self.own

    @property
    def builtin(self) -> str:
        found = self.own.get("BuiltIn")
        return name_of("BuiltIn", found[0]) if found else ""


class Variables:
    """The module's variables in one shader, created on first use."""

    def __init__(self, d: Declarations, shader: Shader, entry: EntryPoint) -> None:
        self.d = d
        self.shader = shader
        self.stage = shader.stage
        self.entry = entry
        self.places: dict[int, Place] = {}
        self.ids: dict[Variable, int] = {}
        self.counters: list[tuple[str, Type, int, int]] = []

    def place(self, id: int) -> Place:
        found = self.places.get(id)
        if found is None:
            instr = self.d.variables[id]
            found = self.places[id] = self._make(instr)
        return found

    def _make(self, instr: Instruction) -> Place:
        pointer = self.d.type(instr.words[0], instr)
        if pointer.kind != "pointer" or pointer.element is None:
            raise instr.error("the type of a variable is a pointer type")
        storage = name_of("StorageClass", instr.words[2])
        id, type = instr.words[1], pointer.inner
        facts = _Facts(self.d.decorations.get(id, {}))
        maker = _STORAGE.get(storage)
        if maker is None:
            raise instr.error(f"storage class {storage} is not supported here")
        place = maker(self, id, type, facts)
        if len(instr.words) > 3:
            initial = self.d.constants.get(instr.words[3])
            if initial is None:
                raise instr.error(f"the initial value %{instr.words[3]} is no constant")
            initialise(place, type, initial, instr)
        return place

    def add(self, id: int, name: str, type: Type, mode: Mode, **attributes: Any) -> Variable:
        var = self.shader.add_variable(name or f"v{id}", type, mode, **attributes)
        self.ids[var] = id
        return var

    # Inputs and outputs.

    def _input(self, id: int, type: SpvType, facts: _Facts) -> Place:
        return self._port(id, type, facts, Mode.SHADER_IN)

    def _output(self, id: int, type: SpvType, facts: _Facts) -> Place:
        return self._port(id, type, facts, Mode.SHADER_OUT)

    def _port(self, id: int, type: SpvType, facts: _Facts, mode: Mode) -> Place:
        block = type.inner if type.kind == "array" and type.inner.block else type
        if block.block:
            if type is block or self._is_arrayed(facts, mode):
                return self._block(id, type, block, facts, mode, facts.number("Location"), 0)
            return self._block_array(id, type, block, facts, mode)
        per_vertex = type.kind == "array" and self._is_arrayed(facts, mode)
        name = self.d.names.get(id, "")
        semantic = self.d.semantics.get(id, "")
        return self._variable(id, name, type, type.nir, facts, mode, per_vertex, semantic)

    def _is_arrayed(self, facts: _Facts, mode: Mode) -> bool:
        if facts.has("Patch") or facts.builtin in (
            "TessLevelOuter", "TessLevelInner", "SampleMask"
        ):  # fmt: skip
            return False
        if mode == Mode.SHADER_IN:
            builtin = facts.builtin in _BUILTIN_SLOTS or not facts.builtin
            return builtin and self.stage in (Stage.GEOMETRY, Stage.TESS_CTRL, Stage.TESS_EVAL)
        return self.stage is Stage.TESS_CTRL

    def _block_array(
        self, id: int, type: SpvType, block: SpvType, facts: _Facts, mode: Mode
    ) -> SplitBlock:
        """A variable for an array of blocks, whose elements have consecutive locations (and capture
        buffers).
        """
        location = facts.number("Location")
        size = sum(m.nir.slots() for m in block.members)
        if type.count > 64:
            raise SpirvError(f"an array of {type.count} interface blocks")
        elements: list[Place] = [
            self._block(
                id, block, block, facts, mode, location + i * size if location >= 0 else -1, i
            )
            for i in range(type.count)
        ]
        return SplitBlock(type, elements, False)

    def _block(
        self,
        id: int,
        type: SpvType,
        block: SpvType,
        facts: _Facts,
        mode: Mode,
        location: int,
        element: int,
    ) -> SplitBlock:
        arrayed = type is not block
        members = []
        name = self.d.names.get(id, "")
        for i, member in enumerate(block.members):
            own = dict(facts.own)
            own.update(self.d.member_decorations.get((block.id, i), {}))
            if element and "XfbBuffer" in own:
                own["XfbBuffer"] = (own["XfbBuffer"][0] + element,)
            given = _Facts(own)
            if location >= 0 and "Location" not in self.d.member_decorations.get((block.id, i), {}):
                own["Location"] = (location,)
            location = given.number("Location") + member.nir.slots()
            nir = array(member.nir, type.count) if arrayed else member.nir
            spv = SpvType("array", nir, member, count=type.count) if arrayed else member
            text = self.d.member_names.get((block.id, i), "")
            full = f"{name}.{text}" if name else text
            members.append(self._variable(id, full, spv, nir, given, mode, arrayed, ""))
        return SplitBlock(type, members, arrayed)

    def _variable(
        self,
        id: int,
        name: str,
        type: SpvType,
        nir: Type,
        facts: _Facts,
        mode: Mode,
        per_vertex: bool,
        semantic: str,
    ) -> Place:
        builtin = facts.builtin
        slot = self._slot(facts, mode, semantic)
        if slot is None:
            return self._builtin(builtin, type, mode)
        interpolation = "none"
        if facts.has("Flat"):
            interpolation = "flat"
        elif facts.has("NoPerspective"):
            interpolation = "noperspective"
        elif slot >= VaryingSlot.VAR0 and self.stage is Stage.FRAGMENT:
            interpolation = "smooth"
        feedback: dict[str, int] = {}
        if facts.has("Offset") and facts.has("XfbBuffer"):
            feedback = {
                "xfb_buffer": facts.number("XfbBuffer"),
                "xfb_offset": facts.number("Offset"),
                "xfb_stride": facts.number("XfbStride"),
            }
        var = self.add(
            id,
            name,
            nir,
            mode,
            location=slot,
            component=facts.number("Component", 0),
            index=facts.number("Index", 0),
            explicit_location=facts.has("Location"),
            per_vertex=per_vertex,
            patch=facts.has("Patch"),
            packed=builtin in _PACKED,
            interpolation=interpolation,
            centroid=facts.has("Centroid"),
            sample=facts.has("Sample"),
            invariant=facts.has("Invariant"),
            stream=facts.number("Stream", 0),
            **feedback,
        )
        return RootPlace(type, var)

    def _slot(self, facts: _Facts, mode: Mode, semantic: str) -> int | None:
        """The slot of an input or output; None for those that are intrinsics."""
        builtin, stage = facts.builtin, self.stage
        named = slot_from_text(semantic, stage, mode)
        if named is not None:
            return named
        if builtin:
            if stage is Stage.FRAGMENT and mode == Mode.SHADER_OUT:
                return _FRAGMENT_OUTPUTS.get(builtin)
            if mode == Mode.SHADER_IN and builtin == "PrimitiveId":
                return None
            if builtin in _BUILTIN_SLOTS:
                return _BUILTIN_SLOTS[builtin]
            return None
        location = facts.number("Location")
        if location < 0:
            raise SpirvError("an input or output has neither a location nor a built-in")
        if stage is Stage.VERTEX and mode == Mode.SHADER_IN:
            slot, limit = int(VertAttrib.GENERIC0) + location, int(VertAttrib.GENERIC31)
        elif stage is Stage.FRAGMENT and mode == Mode.SHADER_OUT:
            slot, limit = FragResult.DATA0 + location, int(FragResult.DATA7)
        elif facts.has("Patch"):
            slot, limit = VaryingSlot.PATCH0 + location, int(VaryingSlot.PATCH31)
        else:
            slot, limit = VaryingSlot.VAR0 + location, int(VaryingSlot.VAR31)
        if slot > limit:
            raise SpirvError(f"location {location} is beyond the last one")
        return slot

    def _builtin(self, name: str, type: SpvType, mode: Mode) -> Place:
        if name not in _INTRINSICS:
            if mode == Mode.SHADER_OUT or not name:
                raise SpirvError(f"built-in {name or '(none)'} is not supported here")

            return kernel_builtin(name, type)
        return Builtin(type, builtin_reader(name, type))

    # Buffers and handles.

    def _uniform(self, id: int, type: SpvType, facts: _Facts) -> Place:
        if self.d.semantics.get(id) == DEFAULT_BLOCK:
            return self._default_block(id, type)
        struct = _struct_of(type)
        decorations = self.d.decorations.get(struct.id, {})
        return self._buffer(
            id, type, facts, Mode.SSBO if "BufferBlock" in decorations else Mode.UBO
        )

    def _storage_buffer(self, id: int, type: SpvType, facts: _Facts) -> Place:
        if self.d.semantics.get(id) == ATOMIC_COUNTERS:
            return Counter(type, facts.number("Binding", 0), 0)
        return self._buffer(id, type, facts, Mode.SSBO)

    def _buffer(self, id: int, type: SpvType, facts: _Facts, mode: Mode) -> Place:
        struct = _struct_of(type)
        if not struct.nir.is_interface:
            raise SpirvError(f"the struct of buffer %{id} has no layout, or is no block")
        binding = facts.number("Binding", 0)
        var = self.add(
            id,
            self.d.names.get(id, ""),
            type.nir,
            mode,
            binding=binding,
            explicit_binding=facts.has("Binding"),
            driver_location=binding,
            access=self._access(facts, struct),
        )
        return RootPlace(type, var, int(var.access))

    def _access(self, facts: _Facts, struct: SpvType | None) -> Access:
        access = Access.NONE
        for name, flag in _ACCESS.items():
            everywhere = struct is not None and bool(struct.members)
            if struct is not None:
                for i in range(len(struct.members)):
                    if name not in self.d.member_decorations.get((struct.id, i), {}):
                        everywhere = False
            if facts.has(name) or everywhere:
                access |= flag
        return access

    def _default_block(self, id: int, type: SpvType) -> SplitBlock:
        members: list[Place] = []
        for i, field in enumerate(type.nir.fields):
            offset = self.d.member_decorations.get((type.id, i), {}).get("Offset", (0,))[0]
            var = self.add(id, field.name, field.type, Mode.UNIFORM, offset=offset)
            members.append(RootPlace(type.members[i], var))
        return SplitBlock(type, members, False)

    def _constant(self, id: int, type: SpvType, facts: _Facts) -> Place:
        if facts.builtin:  # ARB_shader_ballot declares the subgroup size like this
            return self._builtin(facts.builtin, type, Mode.UNIFORM)
        binding = facts.number("Binding")
        handle: dict[str, Any] = {}
        inner = type
        while inner.kind in ("array", "runtime_array"):
            inner = inner.inner
        if inner.kind in ("image", "sampler", "sampled_image"):
            handle["driver_location"] = max(binding, 0)
            if inner.kind == "image" and inner.nir.is_image:
                handle["image_format"] = _FORMAT_NAMES.get(inner.format, "")
                handle["access"] = self._access(facts, None)
        var = self.add(
            id,
            self.d.names.get(id, ""),
            type.nir,
            Mode.UNIFORM,
            binding=binding,
            explicit_binding=facts.has("Binding"),
            location=facts.number("Location"),
            explicit_location=facts.has("Location"),
            **handle,
        )
        return RootPlace(type, var)

    def _shared(self, id: int, type: SpvType, facts: _Facts) -> Place:
        return RootPlace(type, self.add(id, self.d.names.get(id, ""), type.nir, Mode.SHARED))

    def _private(self, id: int, type: SpvType, facts: _Facts) -> Place:
        return RootPlace(type, self.add(id, self.d.names.get(id, ""), type.nir, Mode.SHADER_TEMP))

    def _counter(self, id: int, type: SpvType, facts: _Facts) -> Place:
        binding, offset = facts.number("Binding", 0), facts.number("Offset", 0)
        self.counters.append((self.d.names.get(id, ""), type.nir, binding, offset))
        return Counter(type, binding, offset)

    def _push_constant(self, id: int, type: SpvType, facts: _Facts) -> Place:
        raise SpirvError("push constants are not supported: OpenGL has none")


def _struct_of(type: SpvType) -> SpvType:
    while type.kind in ("array", "runtime_array"):
        type = type.inner
    return type


def builtin_reader(name: str, type: SpvType) -> Callable[[Builder], Value]:
    """The function that loads a built-in with its intrinsic, in the shape of the module's type."""
    intrinsic, _, _, length = _INTRINSICS[name]

    def read(b: Builder) -> Value:
        value = b.intrinsic(intrinsic)
        if name == "InstanceIndex":
            value = b.iadd(value, b.intrinsic("load_base_instance"))
        if length:
            return (value,)  # the sample mask; tessellation levels have slots
        nir = type.nir
        if nir.is_vector_or_scalar:
            value = b.trim(value, min(nir.components, value.num_components))
            if nir.bit_size == 64:
                value = b.u2u64(value)
        return value

    return read


_STORAGE: dict[str, Callable[[Variables, int, SpvType, _Facts], Place]] = {
    "Input": Variables._input,
    "Output": Variables._output,
    "Uniform": Variables._uniform,
    "StorageBuffer": Variables._storage_buffer,
    "UniformConstant": Variables._constant,
    "Workgroup": Variables._shared,
    "Private": Variables._private,
    "AtomicCounter": Variables._counter,
    "PushConstant": Variables._push_constant,
}
