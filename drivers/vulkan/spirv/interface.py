"""The variables of a module: inputs and outputs by slot, descriptors by number.

Between stages every slot is a vector of four floats, whatever its contents: integers are passed as
their bits, and a slot that two variables share stays one. Fragment inputs are flat, or interpolated
as their first load says.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.types import Base, Dim
from gallette.compiler.spirv.emit.interface import Interface
from gallette.compiler.spirv.grammar import value_of
from gallette.compiler.spirv.module import Instruction
from gallette.drivers.vulkan.lowering import numbers_of

from .program import Binding, Open

__all__ = ["CLIP_SLOTS", "CULL_SLOTS", "DriverInterface"]

CLIP_SLOTS = (VaryingSlot.CLIP_DIST0, VaryingSlot.CLIP_DIST1)
CULL_SLOTS = (VaryingSlot.CULL_DIST0, VaryingSlot.CULL_DIST1)
_UNIFORM, _STORAGE, _SAMPLED, _IMAGE, _TEXELS, _IMAGE_TEXELS = 6, 7, 1, 3, 4, 5
_DIMS = {
    Dim.D1: "1D", Dim.D2: "2D", Dim.D3: "3D", Dim.CUBE: "Cube", Dim.RECT: "2D",
    Dim.BUF: "Buffer", Dim.MS: "2D", Dim.EXTERNAL: "2D",
}  # fmt: skip
PUSH_WORDS = 32


class DriverInterface(Interface):
    """Creates variables on first use."""

    def _gather(self) -> None:
        """Initialise the tables; a lowered shader has no variables to gather."""
        self.marks: list[tuple[Instruction, int, Open]] = []
        self.bindings: dict[Open, Binding] = {}
        self.slots: dict[tuple[str, int, str], int] = {}
        self.memory: dict[tuple[Open, int], int] = {}
        self.handles: dict[Open, tuple[int, int]] = {}
        self.wide: set[int] = set()
        self.doubles: set[int] = set()
        self.writes_memory = False
        self._push = 0

    def array_of(self, type: int, length: int) -> int:
        return self.b.type("OpTypeArray", type, self.b.uint(length)) if length else type

    def private(self, type: int) -> int:
        """A private variable, initially zero."""
        key = ("null", type)
        if key not in self.b.known:
            self.b.known[key] = null = self.b.id()
            self.b.put("global", "OpConstantNull", type, null)
        return self.variable("Private", type, initial=self.b.known[key])

    def mark(self, id: int, decoration: str, what: Open) -> None:
        """Decorate with a number that is filled in later."""
        instr = self.b.put("decoration", "OpDecorate", id, value_of("Decoration", decoration), 0)
        self.marks.append((instr, 2, what))

    # Inputs and outputs.

    def vec4(self, kind: str = "f") -> int:
        scalar = {"f": self.b.float_type, "u": self.b.int_type}.get(
            kind, lambda: self.b.int_type(32, True)
        )()
        return self.b.vector(scalar, 4)

    def slot(
        self, storage: str, slot: int, kind: str = "f", length: int = 0, patch: bool = False
    ) -> int:
        """The variable of an input or output; with `length`, an array by vertex."""
        key = (storage, slot, kind)
        found = self.slots.get(key)
        if found is None:
            found = self.slots[key] = self.variable(storage, self.array_of(self.vec4(kind), length))
            self.mark(found, "Location", ("in" if storage == "Input" else "out", slot))
            if patch:
                self.b.decorate(found, "Patch")
        return found

    def builtin_array(
        self, storage: str, name: str, type: int, length: int, patch: bool = False
    ) -> int:
        """The variable of a built-in that each of `length` vertices has."""
        key = (storage, -1, name)
        found = self.slots.get(key)
        if found is None:
            self.builtin_capability(name, output=storage == "Output")
            found = self.slots[key] = self.variable(storage, self.array_of(type, length))
            self.b.decorate(found, "BuiltIn", name)
            if patch:
                self.b.decorate(found, "Patch")
        return found

    def builtin_capability(self, builtin: str, output: bool = False) -> None:
        if builtin == "PointSize" and output and self.stage in (Stage.TESS_EVAL, Stage.GEOMETRY):
            geometry = self.stage is Stage.GEOMETRY
            self.b.capability("GeometryPointSize" if geometry else "TessellationPointSize")
        super().builtin_capability(builtin, output)

    # Descriptors.

    def push(self) -> int:
        """The block of push constants: words."""
        b = self.b
        if not self._push:
            words = b.type("OpTypeArray", b.int_type(), b.uint(PUSH_WORDS), fresh=True)
            b.decorate(words, "ArrayStride", 4)
            block = b.type("OpTypeStruct", words, fresh=True)
            b.decorate(block, "Block")
            b.decorate_member(block, 0, "Offset", 0)
            self._push = self.variable("PushConstant", block)
        return self._push

    def descriptor(
        self,
        id: int,
        what: Open,
        type: int,
        count: int = 1,
        shape: tuple[str, bool, str, bool] = ("2D", False, "f", False),
    ) -> None:
        """Decorate a variable with a descriptor number that is assigned later."""
        self.bindings[what] = Binding(type, count, shape)
        self.b.decorate(id, "DescriptorSet", 0)
        self.mark(id, "Binding", what)

    def blocks(self, mode: Mode, known: int) -> int:
        """The number of uniform or storage blocks, at least `known`."""
        return max(
            [known, 1, *[numbers.stop for numbers in numbers_of(self.shader, Base.INTERFACE, mode)]]
        )

    def uniform_block(self, what: Open, count: int) -> int:
        """A uniform block as vectors of words; `count` blocks are an array."""
        found = self.memory.get((what, 128))
        if found is None:
            b = self.b
            if ("ubo",) not in b.known:
                words = b.type("OpTypeArray", self.vec4("u"), b.uint(4096), fresh=True)
                b.decorate(words, "ArrayStride", 16)
                b.known["ubo",] = block = b.type("OpTypeStruct", words, fresh=True)
                b.decorate(block, "Block")
                b.decorate_member(block, 0, "Offset", 0)
            found = self.variable("Uniform", self.array_of(b.known["ubo",], count))
            self.memory[what, 128] = found
            # Block 0 of a stage comes from uniform memory: its offset is given with each draw.
            self.descriptor(found, what, 8 if what == ("ubo", 0) else _UNIFORM, max(count, 1))
        return found

    def storage_block(self, what: Open, count: int, bits: int = 32, kind: str = "u") -> int:
        """A storage block as words, or in the type that atomics need."""
        key = (what, bits if kind == "u" else -bits)
        found = self.memory.get(key)
        if found is None:
            b = self.b
            type = b.int_type(bits) if kind == "u" else b.float_type(bits)
            name = ("ssbo", type)
            if name not in b.known:
                words = b.type("OpTypeRuntimeArray", type, fresh=True)
                b.decorate(words, "ArrayStride", bits // 8)
                b.known[name] = block = b.type("OpTypeStruct", words, fresh=True)
                b.decorate(block, "Block")
                b.decorate_member(block, 0, "Offset", 0)
            found = self.variable("StorageBuffer", self.array_of(b.known[name], count))
            self.memory[key] = found
            if any(other != key and other[0] == what for other in self.memory):
                for other, id in self.memory.items():
                    if other[0] == what:
                        b.decorate(id, "Aliased")
            self.descriptor(found, what, _STORAGE, max(count, 1))
        return found

    def image_type(
        self, dim: Dim, array: bool, scalar: str, shadow: bool, storage: bool, format: str = ""
    ) -> int:
        """The type of an image; `scalar` is f, i or u."""
        b = self.b
        sampled = {"f": b.float_type, "u": b.int_type}.get(scalar, lambda: b.int_type(32, True))()
        capability = {
            Dim.D1: ("Sampled1D", "Image1D"),
            Dim.BUF: ("SampledBuffer", "ImageBuffer"),
        }.get(dim)
        if capability is not None:
            b.capability(capability[storage])
        if dim is Dim.CUBE and array:
            b.capability("ImageCubeArray" if storage else "SampledCubeArray")
        if storage and dim is Dim.MS:
            b.capability("StorageImageMultisample", *["ImageMSArray"] * array)
        return b.type(
            "OpTypeImage",
            sampled,
            value_of("Dim", _DIMS[dim]),
            int(shadow),
            int(array),
            int(dim is Dim.MS),
            2 if storage else 1,
            value_of("ImageFormat", format or "Unknown"),
        )

    def handle(
        self, what: Open, image: int, shape: tuple[str, bool, str, bool], storage: bool
    ) -> tuple[int, int]:
        """The variable of a texture or image, and the type that it is loaded as."""
        found = self.handles.get(what)
        if found is None:
            buffer = shape[0] == Dim.BUF.value
            plain = storage or buffer
            type = image if plain else self.b.type("OpTypeSampledImage", image)
            id = self.variable("UniformConstant", type)
            kind = (_IMAGE_TEXELS if buffer else _IMAGE) if storage else (
                _TEXELS if buffer else _SAMPLED
            )  # fmt: skip
            self.descriptor(id, what, kind, 1, shape)
            found = self.handles[what] = (id, type)
        return found
