"""Images, atomics, atomic counters, barriers, and other built-ins that are intrinsics."""

from __future__ import annotations

from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower import operators
from gallette.compiler.glsl.lower.textures import TextureLowering
from gallette.compiler.glsl.lower.values import Value
from gallette.compiler.nir.io.units import counter_offset
from gallette.compiler.nir.ir import Def
from gallette.compiler.nir.ir.texops import FIRST_HANDLE
from gallette.compiler.nir.ir.types import FLOAT, Base, Dim

_ATOMIC = {
    "Add": ("fadd", "iadd", "iadd"),
    "Min": ("fmin", "imin", "umin"),
    "Max": ("fmax", "imax", "umax"),
    "And": ("", "iand", "iand"),
    "Or": ("", "ior", "ior"),
    "Xor": ("", "ixor", "ixor"),
    "Exchange": ("xchg", "xchg", "xchg"),
    "CompSwap": ("xchg", "xchg", "xchg"),
    "Subtract": ("", "iadd", "iadd"),
}
_DEST = {Base.FLOAT: "float32", Base.INT: "int32", Base.UINT: "uint32"}


class MemoryLowering(TextureLowering):
    """Built-ins with side effects."""

    def lower_effect(self, e: hir.BuiltinCall) -> tuple[Value] | None:
        """A one-tuple with the value, or None if it is no such built-in."""
        name = e.name
        if name.startswith("atomicCounter"):
            return (self.counter(e),)
        if name.startswith("imageAtomic"):
            return (self.image_atomic(e),)
        if name.startswith("image"):
            return (self.image(e),)
        if name.startswith("atomic"):
            return (self.atomic(e),)
        if name.startswith("interpolateAt"):
            return (self.interpolate(e),)
        method = _PLAIN.get(name)
        if method is not None:
            return (method(self, e),)
        return None

    # -- atomics -----------------------------------------------------------------------------

    def atomic_op(self, op: str, type_: object) -> str:
        row = _ATOMIC[op]
        return row[0] if type_ is Base.FLOAT else row[1] if type_ in _SIGNED else row[2]

    def atomic(self, e: hir.BuiltinCall) -> Def:
        op = e.name[len("atomic") :]
        place = self.place(e.args[0])
        deref = place.deref
        if place.components is not None:
            deref = self.b.deref_array_imm(deref, place.components[0])
        srcs = [deref.result, *(self.scalar(a) for a in e.args[1:])]
        if op == "CompSwap" and e.type.base is Base.FLOAT:
            return self.swap_if_equal(*srcs)
        kind = "deref_atomic_swap" if op == "CompSwap" else "deref_atomic"
        return self.b.intrinsic(
            kind, srcs, bit_size=e.type.bit_size, atomic_op=self.atomic_op(op, e.type.base)
        )

    def swap_if_equal(self, where: Def, compared: Def, data: Def) -> Def:
        """A compare and swap of floats: both zeros are equal, and nothing equals a NaN.

        Memory is compared bit by bit. So if the value found is equal in another encoding, the swap
        is repeated with that; a NaN is swapped for itself, which changes nothing.
        """
        b = self.b
        with b.exactly():
            data = b.bcsel(b.feq(compared, compared), data, compared)
        offered, found = (b.impl.add_local(f"swap_{n}", FLOAT) for n in ("offered", "found"))
        b.store_var(offered, compared)
        b.push_loop()
        wanted = b.load_var(offered)
        seen = b.intrinsic(
            "deref_atomic_swap", [where, wanted, data], bit_size=32, atomic_op="xchg"
        )
        b.store_var(found, seen)
        with b.exactly():
            differs = b.fneu(seen, compared)
        b.break_if(b.ior(differs, b.ieq(seen, wanted)))
        b.store_var(offered, seen)
        b.pop_loop()
        return b.load_var(found)

    def counter(self, e: hir.BuiltinCall) -> Def:
        """An operation on an atomic counter.

        The counter that a parameter stands for is known only after inlining, so these operations
        keep the deref.
        """
        b = self.b
        deref = self.place(e.args[0]).deref
        if deref.root_var is None:
            kind, where, indices = "deref_counter", deref.result, {}
        else:
            base, where = counter_offset(b, deref)
            kind, indices = "atomic_counter", {"base": base}
        op = e.name[len("atomicCounter") :].removesuffix("ARB")
        if not op:
            return b.intrinsic(f"{kind}_read", [where], **indices)
        if op in ("Increment", "Decrement"):
            one = b.imm_int(1 if op == "Increment" else -1)
            old = b.intrinsic(kind, [where, one], atomic_op="iadd", **indices)
            return old if op == "Increment" else b.isub(old, b.imm_int(1))
        values = [self.scalar(a) for a in e.args[1:]]
        if op == "CompSwap":
            return b.intrinsic(f"{kind}_swap", [where, *values], **indices)
        if op == "Subtract":
            values = [b.ineg(values[0])]
        atomic = self.atomic_op(op, Base.UINT)
        return b.intrinsic(kind, [where, *values], atomic_op=atomic, **indices)

    # -- images ------------------------------------------------------------------------------

    def image_named(self, e: hir.Expr) -> tuple[str, Def]:
        """How the intrinsics for an image begin, and the image (deref or handle)."""
        place = self.try_place(e)
        if place is not None and place.type.is_opaque:
            return "image_deref", place.deref.result
        handle = self.scalar(e) if place is None else self.handle(place)
        low = self.b.channel(handle, 0)
        return "image", self.b.iadd(low, self.b.imm_int(FIRST_HANDLE))

    def image_address(self, e: hir.BuiltinCall) -> tuple[str, list[Def], int]:
        """The address of an image operation: (prefix of the intrinsic, [image, coord4, sample],
        number of arguments used).
        """
        b = self.b
        prefix, image = self.image_named(e.args[0])
        coord = b.pad(self.scalar(e.args[1]), 4)
        used = 2
        sample: Def = b.imm_int(0)
        if e.args[0].type.dim is Dim.MS:
            sample = self.scalar(e.args[2])
            used = 3
        return prefix, [image, coord, sample], used

    def image(self, e: hir.BuiltinCall) -> Value:
        b, type_ = self.b, e.args[0].type
        assert type_.dim is not None
        indices: dict[str, Any] = {"dim": type_.dim.value, "is_array": type_.is_arrayed}
        if e.name == "imageSize":
            prefix, image = self.image_named(e.args[0])
            return b.intrinsic(
                f"{prefix}_size",
                [image, b.imm_int(0)],
                num_components=e.type.components,
                **indices,
            )
        if e.name == "imageSamples":
            prefix, image = self.image_named(e.args[0])
            return b.intrinsic(f"{prefix}_samples", [image], **indices)
        prefix, srcs, used = self.image_address(e)
        if e.name == "imageLoad":
            return b.intrinsic(
                f"{prefix}_load",
                srcs,
                num_components=4,
                dest_type=_DEST[type_.sampled],
                **indices,
            )
        value = self.scalar(e.args[used])
        b.intrinsic(f"{prefix}_store", [*srcs, value], src_type=_DEST[type_.sampled], **indices)
        return None

    def image_atomic(self, e: hir.BuiltinCall) -> Def:
        type_ = e.args[0].type
        assert type_.dim is not None
        op = e.name[len("imageAtomic") :]
        prefix, srcs, used = self.image_address(e)
        srcs += [self.scalar(a) for a in e.args[used:]]
        kind = f"{prefix}_atomic_swap" if op == "CompSwap" else f"{prefix}_atomic"
        return self.b.intrinsic(
            kind,
            srcs,
            bit_size=32,
            dim=type_.dim.value,
            is_array=type_.is_arrayed,
            atomic_op=self.atomic_op(op, type_.sampled),
        )

    # -- interpolation -----------------------------------------------------------------------

    def interpolate(self, e: hir.BuiltinCall) -> Value:
        kind = e.name[len("interpolateAt") :]
        place = self.place(e.args[0])
        deref = place.deref
        name = {"Centroid": "centroid", "Sample": "sample_index", "Offset": "offset"}[kind]
        index = None  # of a component: interpolate the vector, then select one
        if deref.form == "array" and deref.parent is not None and deref.parent.type.is_vector:
            index, deref = deref.srcs[1].value, deref.parent
        srcs = [deref.result, *(self.scalar(a) for a in e.args[1:])]
        value = self.b.intrinsic(
            f"interp_deref_at_{name}", srcs, num_components=deref.type.components
        )
        if index is not None:
            return self.b.component(value, index)
        if place.components is not None:
            return self.b.swizzle(value, place.components)
        return value

    # -- other operations --------------------------------------------------------------------------

    def emit_vertex(self, e: hir.BuiltinCall) -> Value:
        stream = 0
        if e.args:
            constant = e.args[0]
            stream = int(constant.value[0]) if isinstance(constant, hir.Const) else 0
        name = "emit_vertex" if e.name.startswith("Emit") else "end_primitive"
        self.b.intrinsic(name, stream=stream)
        return None

    def barrier(self, e: hir.BuiltinCall) -> Value:
        execution = "workgroup" if e.name == "barrier" else "none"
        memory = "workgroup" if e.name in ("barrier", "groupMemoryBarrier") else "device"
        if e.name == "memoryBarrierShared":
            memory = "workgroup"
        self.b.intrinsic("barrier", execution_scope=execution, memory_scope=memory)
        return None

    def nothing(self, e: hir.BuiltinCall) -> Value:
        return None

    def vote(self, e: hir.BuiltinCall) -> Value:
        value = self.scalar(e.args[0])
        name = "vote_ieq" if "Equal" in e.name else "vote_any" if "any" in e.name else "vote_all"
        return self.b.intrinsic(name, [value], bit_size=1)

    def ballot(self, e: hir.BuiltinCall) -> Value:
        mask = self.b.intrinsic("ballot", [self.scalar(e.args[0])], num_components=4)
        return self.b.pack_64_2x32(self.b.trim(mask, 2))

    def read_invocation(self, e: hir.BuiltinCall) -> Value:
        srcs = [self.scalar(a) for a in e.args]
        name = "read_invocation" if len(srcs) == 2 else "read_first_invocation"
        return self.b.intrinsic(
            name, srcs, num_components=e.type.components, bit_size=e.type.bit_size
        )

    def clock(self, e: hir.BuiltinCall) -> Value:
        value = self.b.intrinsic("shader_clock")
        return value if e.type.components == 2 else self.b.pack_64_2x32(value)

    def helper(self, e: hir.BuiltinCall) -> Value:
        return self.b.intrinsic("is_helper_invocation")

    def ftransform(self, e: hir.BuiltinCall) -> Value:
        """gl_ModelViewProjectionMatrix * gl_Vertex, computed like that product."""
        matrix = self.shader.find_variable("gl_ModelViewProjectionMatrix")
        vertex = self.shader.find_variable("gl_Vertex")
        assert matrix is not None
        assert vertex is not None
        b = self.b
        columns = [b.load_deref(b.deref_array_imm(b.deref_var(matrix), i)) for i in range(4)]
        return operators.transform(b, columns, b.load_var(vertex))


_SIGNED = (Base.INT, Base.INT64)

_PLAIN = {
    "EmitVertex": MemoryLowering.emit_vertex,
    "EndPrimitive": MemoryLowering.emit_vertex,
    "EmitStreamVertex": MemoryLowering.emit_vertex,
    "EndStreamPrimitive": MemoryLowering.emit_vertex,
    "barrier": MemoryLowering.barrier,
    "memoryBarrier": MemoryLowering.barrier,
    "groupMemoryBarrier": MemoryLowering.barrier,
    "memoryBarrierShared": MemoryLowering.barrier,
    "memoryBarrierBuffer": MemoryLowering.barrier,
    "memoryBarrierImage": MemoryLowering.barrier,
    "memoryBarrierAtomicCounter": MemoryLowering.barrier,
    "beginInvocationInterlockARB": MemoryLowering.nothing,
    "endInvocationInterlockARB": MemoryLowering.nothing,
    "beginInvocationInterlockNV": MemoryLowering.nothing,
    "endInvocationInterlockNV": MemoryLowering.nothing,
    "beginFragmentShaderOrderingINTEL": MemoryLowering.nothing,
    "framebufferFetchBarrierEXT": MemoryLowering.nothing,
    "anyInvocation": MemoryLowering.vote,
    "allInvocations": MemoryLowering.vote,
    "allInvocationsEqual": MemoryLowering.vote,
    "anyInvocationARB": MemoryLowering.vote,
    "allInvocationsARB": MemoryLowering.vote,
    "allInvocationsEqualARB": MemoryLowering.vote,
    "anyInvocationEXT": MemoryLowering.vote,
    "allInvocationsEXT": MemoryLowering.vote,
    "allInvocationsEqualEXT": MemoryLowering.vote,
    "ballotARB": MemoryLowering.ballot,
    "readInvocationARB": MemoryLowering.read_invocation,
    "readFirstInvocationARB": MemoryLowering.read_invocation,
    "clock2x32ARB": MemoryLowering.clock,
    "clockARB": MemoryLowering.clock,
    "helperInvocationEXT": MemoryLowering.helper,
    "ftransform": MemoryLowering.ftransform,
}
