"""NIR variables as SPIR-V variables, and derefs as pointers.

Uniforms of the default block, and blocks that NIR holds as one variable per member, are gathered
into one struct each; everything else is a variable of its own.
"""

from __future__ import annotations

from enum import IntEnum

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder.address import explicit_root
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.layout import STD140, STD430
from gallette.compiler.nir.ir.modes import Access, Mode, Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot, VertAttrib
from gallette.compiler.nir.ir.types import Field, Type
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.spirv.emit.builder import ModuleBuilder
from gallette.compiler.spirv.emit.types import Types
from gallette.compiler.spirv.grammar import value_of
from gallette.compiler.spirv.module import SpirvError
from gallette.compiler.spirv.slots import (
    BUILTIN_CAPABILITY,
    DEFAULT_BLOCK,
    IMAGE_SET,
    SSBO_SET,
    TEXTURE_SET,
    UBO_SET,
    VARYING_BUILTINS,
    slot_text,
)

_ACCESS = {
    Access.COHERENT: "Coherent",
    Access.VOLATILE: "Volatile",
    Access.RESTRICT: "Restrict",
    Access.NON_READABLE: "NonReadable",
    Access.NON_WRITEABLE: "NonWritable",
}
_BLOCKS = {
    Mode.UBO: ("Uniform", UBO_SET),
    Mode.SSBO: ("StorageBuffer", SSBO_SET),
    Mode.PUSH_CONST: ("PushConstant", -1),
}
_SIZED = {Stage.TESS_EVAL: "TessellationPointSize", Stage.GEOMETRY: "GeometryPointSize"}
"""Capabilities of the stages that write the size of points."""
_FIRST_FIXED = 48  # locations from here on represent slots that only GL has


@lazy_dataclass()
class Place:
    """A variable's id and storage class, its `member` if it is in a gathered block, and whether its
    type is explicit.
    """

    id: int
    storage: str
    type: Type
    explicit: bool
    member: int = -1


class Interface:
    """The variables of one module."""

    def __init__(self, b: ModuleBuilder, types: Types, shader: Shader) -> None:
        self.b = b
        self.types = types
        self.stage = shader.stage
        self.shader = shader
        self.places: dict[Variable, Place] = {}
        self.used: list[int] = []
        self.builtins: dict[str, int] = {}
        self._gather()

    # Variables.

    def place(self, var: Variable) -> Place:
        known = self.places.get(var)
        if known is None:
            known = self.places[var] = self._declare(var)
        return known

    def _gather(self) -> None:
        """Default-block uniforms, and blocks given as their members."""
        groups: dict[tuple[Mode, int], list[Variable]] = {}
        for var in self.shader.variables:
            if var.mode == Mode.UNIFORM and not var.type.is_opaque and var.offset >= 0:
                if not var.type.contains_opaque():
                    groups.setdefault((Mode.UNIFORM, 0), []).append(var)
            elif var.mode in (Mode.UBO, Mode.SSBO) and not var.type.without_array.is_interface:
                groups.setdefault((var.mode, _number(var)), []).append(var)
        for (mode, number), members in groups.items():
            self._gathered(mode, number, members)

    def _gathered(self, mode: Mode, number: int, members: list[Variable]) -> None:
        b = self.b
        packing = members[0].interface.packing if members[0].interface is not None else ""
        rule = STD430 if packing == "std430" else STD140
        fields: list[Field] = []
        for var in sorted(members, key=lambda v: v.offset):
            type = explicit_root(var.type, rule)
            self.places[var] = Place(0, "", type, True, len(fields))
            fields.append(Field(var.name, type, offset=var.offset))
        first = members[0]
        name = first.interface.name if first.interface is not None else "gl_DefaultBlock"
        struct = self.types.members(name, tuple(fields), True)
        b.decorate(struct, "Block")
        storage = "StorageBuffer" if mode == Mode.SSBO else "Uniform"
        id = self.variable(storage, struct, "" if mode == Mode.UNIFORM else first.interface_name)
        b.decorate(id, "DescriptorSet", SSBO_SET if mode == Mode.SSBO else UBO_SET)
        b.decorate(id, "Binding", number)
        if mode == Mode.UNIFORM:
            b.decorate_text(id, "UserSemantic", DEFAULT_BLOCK)
        for var in members:
            self.places[var].id = id
            self.places[var].storage = storage

    def variable(self, storage: str, type: int, name: str = "", initial: int = 0) -> int:
        """A module variable, with the id of its initial value."""
        b = self.b
        pointer = b.pointer(storage, type)
        id = b.id()
        more = (initial,) if initial else ()
        b.put("global", "OpVariable", pointer, id, value_of("StorageClass", storage), *more)
        b.name(id, name)
        self.used.append(id)
        return id

    def _declare(self, var: Variable) -> Place:
        mode = var.mode
        if mode in _BLOCKS:
            return self._block(var)
        if var.type.without_array.is_opaque:
            return self._handle(var)
        if mode in (Mode.SHADER_IN, Mode.SHADER_OUT):
            return self._varying(var)
        storage = {Mode.SHARED: "Workgroup", Mode.SHADER_TEMP: "Private"}.get(mode)
        if storage is None:
            raise SpirvError(f"no storage class for {mode.text} variable {var.name}")
        id = self.variable(storage, self.types.logical(var.type), var.name)
        return Place(id, storage, var.type, False)

    def _block(self, var: Variable) -> Place:
        b = self.b
        inner = var.type.without_array
        rule = STD430 if inner.packing == "std430" else STD140
        type = explicit_root(var.type, rule)
        struct = self.types.layout(explicit_root(inner, rule))
        if ("block", struct) not in b.known:
            b.known["block", struct] = 1
            b.decorate(struct, "Block")
        whole = struct
        lengths = []
        t = var.type
        while t.element is not None:
            lengths.append(t.length)
            t = t.element
        for length in reversed(lengths):
            whole = b.type("OpTypeArray", whole, b.uint(max(length, 1)))
        storage, kind = _BLOCKS[var.mode]
        id = self.variable(storage, whole, var.name)
        if kind >= 0:
            self.bind(id, var, kind)
        if var.mode == Mode.SSBO:
            self._access(id, var)
        return Place(id, storage, type, True)

    def bind(self, id: int, var: Variable, kind: int) -> None:
        """Decorate a block, texture or image with its descriptor; `kind` is the set."""
        self.b.decorate(id, "DescriptorSet", kind)
        self.b.decorate(id, "Binding", _number(var))

    def _access(self, id: int, var: Variable) -> None:
        for flag, decoration in _ACCESS.items():
            if var.access & flag:
                self.b.decorate(id, decoration)

    def _handle(self, var: Variable) -> Place:
        id = self.variable(
            "UniformConstant", self.types.logical(var.type, var.image_format), var.name
        )
        image = var.type.without_array.is_image
        self.bind(id, var, IMAGE_SET if image else TEXTURE_SET)
        if image:
            self._access(id, var)
        return Place(id, "UniformConstant", var.type, False)

    def _varying(self, var: Variable) -> Place:
        b = self.b
        storage = "Input" if var.mode == Mode.SHADER_IN else "Output"
        slot = self.slot(var)
        builtin = VARYING_BUILTINS.get(slot) if isinstance(slot, VaryingSlot) else None
        if slot is FragResult.DEPTH:
            builtin = "FragDepth"
        elif slot is FragResult.SAMPLE_MASK:
            builtin = "SampleMask"
        elif slot is FragResult.STENCIL:
            builtin = "FragStencilRefEXT"
            b.capability("StencilExportEXT")
            b.extension("SPV_EXT_shader_stencil_export")
        id = self.variable(storage, self.types.logical(var.type), var.name)
        patch = var.patch
        if builtin is not None:
            self.builtin_capability(builtin, output=storage == "Output")
            b.decorate(id, "BuiltIn", builtin)
            if builtin == "PrimitiveId" and self.stage is Stage.FRAGMENT:
                # The layer the geometry shader wrote, not the one of the rasterizer.
                b.decorate_text(id, "UserSemantic", slot_text(slot))
            patch = patch or builtin.startswith("TessLevel")
        else:
            self.locate(id, var, slot)
        if patch:
            b.decorate(id, "Patch")
        if self.stage is Stage.FRAGMENT and storage == "Input":
            self._interpolation(id, var)
        elif var.centroid:
            b.decorate(id, "Centroid")
        if var.invariant and storage == "Output":
            b.decorate(id, "Invariant")
        self._capture(id, var)
        return Place(id, storage, var.type, False)

    def slot(self, var: Variable) -> IntEnum:
        """The slot of an input or output."""
        try:
            if self.stage is Stage.VERTEX and var.mode == Mode.SHADER_IN:
                return VertAttrib(var.location)
            if self.stage is Stage.FRAGMENT and var.mode == Mode.SHADER_OUT:
                return FragResult(var.location)
            return VaryingSlot(var.location)
        except ValueError:
            raise SpirvError(f"{var.name} has no place (location {var.location})") from None

    def locate(self, id: int, var: Variable, slot: IntEnum) -> None:
        """Decorate an input or output with its location."""
        b = self.b
        if isinstance(slot, VertAttrib):
            location = slot - VertAttrib.GENERIC0
            fixed = location < 0
        elif isinstance(slot, FragResult):
            location = max(slot - FragResult.DATA0, 0)
            fixed = slot is FragResult.COLOR
            if var.index:
                b.decorate(id, "Index", var.index)
        else:
            assert isinstance(slot, VaryingSlot)
            generic = slot >= VaryingSlot.VAR0
            fixed = not slot.is_generic
            location = slot - VaryingSlot.VAR0 if generic else -1
        if fixed:
            if location < 0:
                location = _FIRST_FIXED + 64 + int(slot)
            b.decorate_text(id, "UserSemantic", slot_text(slot))
        b.decorate(id, "Location", location)
        if var.component:
            b.decorate(id, "Component", var.component)

    def _interpolation(self, id: int, var: Variable) -> None:
        b = self.b
        flat = var.interpolation == "flat" or any(
            leaf.is_integer or leaf.bit_size == 64 for leaf in var.type.leaves()
        )
        if flat:
            b.decorate(id, "Flat")
        elif var.interpolation == "noperspective":
            b.decorate(id, "NoPerspective")
        if var.centroid:
            b.decorate(id, "Centroid")
        if var.sample:
            b.capability("SampleRateShading")
            b.decorate(id, "Sample")

    def _capture(self, id: int, var: Variable) -> None:
        b = self.b
        if var.stream:
            b.capability("GeometryStreams")
            b.decorate(id, "Stream", var.stream)
        if var.xfb_buffer >= 0 and var.xfb_offset >= 0 and var.mode == Mode.SHADER_OUT:
            b.capability("TransformFeedback")
            b.decorate(id, "XfbBuffer", var.xfb_buffer)
            b.decorate(id, "XfbStride", max(var.xfb_stride, 0))
            b.decorate(id, "Offset", var.xfb_offset)

    def builtin_capability(self, builtin: str, output: bool = False) -> None:
        """Declare that the module uses a built-in."""
        b = self.b
        if builtin in BUILTIN_CAPABILITY:
            b.capability(BUILTIN_CAPABILITY[builtin])
        if builtin == "PointSize" and output and self.stage in _SIZED:
            b.capability(_SIZED[self.stage])
        if builtin in ("Layer", "ViewportIndex") and output and self.stage is not Stage.GEOMETRY:
            b.capability("ShaderLayer" if builtin == "Layer" else "ShaderViewportIndex")
        elif builtin == "Layer" or (builtin == "PrimitiveId" and self.stage is Stage.FRAGMENT):
            b.capability("Geometry")

    def builtin(self, builtin: str, type: int) -> int:
        """The input variable of a built-in value."""
        if builtin not in self.builtins:
            self.builtin_capability(builtin)
            id = self.variable("Input", type)
            self.b.decorate(id, "BuiltIn", builtin)
            flat = ("PrimitiveId", "SampleId", "Layer", "ViewportIndex")
            subgroup = builtin.startswith("Subgroup")
            if self.stage is Stage.FRAGMENT and (builtin in flat or subgroup):
                self.b.decorate(id, "Flat")
            if builtin.startswith("TessLevel"):
                self.b.decorate(id, "Patch")
            self.builtins[builtin] = id
        return self.builtins[builtin]

    # Derefs.

    def root(self, deref: Deref) -> Variable:
        var = deref.root_var
        if var is None:
            raise SpirvError(f"a pointer to {deref.type} leads to no variable")
        return var


def _number(var: Variable) -> int:
    """The NIR number of a block, texture or image."""
    if var.driver_location >= 0:
        return var.driver_location
    return max(var.binding, 0) + (1 if var.mode == Mode.UBO else 0)
