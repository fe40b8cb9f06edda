"""Places: the memory of an l-value, accessed through swizzles and subscripts."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower import operators
from gallette.compiler.glsl.lower.context import Lowering
from gallette.compiler.glsl.lower.values import Value, store
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.io.units import unit_of
from gallette.compiler.nir.ir import Def, Deref
from gallette.compiler.nir.ir.texops import FIRST_HANDLE
from gallette.compiler.nir.ir.types import Type


@lazy_dataclass()
class Place:
    """Memory, and the selected part of it."""

    deref: Deref
    components: tuple[int, ...] | None = None
    """for a swizzled vector: the selected components, in order"""

    @property
    def type(self) -> Type:
        """The type that is read or written (of the vector, if swizzled)."""
        return self.deref.type


class PlaceLowering(Lowering):
    """Lowers expressions to places, and converts between places and values."""

    def scalar(self, e: hir.Expr) -> Def:
        """Lower an expression that is a scalar or vector."""
        value = self.value(e)
        assert isinstance(value, Def)
        return value

    def loaded(self, value: Value) -> Value:
        """A value with a deref at its top replaced by its parts."""
        return operators.loaded(self.b, value)

    def read(self, deref: Deref) -> Value:
        """Load a vector; larger values stay in memory until needed."""
        if deref.type.is_vector_or_scalar:
            return self.load_vector(deref)
        return deref

    def handle(self, place: Place) -> Def:
        """The two words of a sampler's or image's handle; one bound to a unit has a handle, too."""
        b = self.b
        if not place.type.is_opaque:
            return self.load_vector(place.deref)
        unit, dynamic = unit_of(b, place.deref)
        low = b.imm_int(unit - FIRST_HANDLE)
        if dynamic is not None:
            low = b.iadd(low, dynamic)
        return b.vec([low, b.imm_int(-1)])

    def load_vector(self, deref: Deref) -> Def:
        return self.b.load_deref(deref, self.access_of(deref))

    # -- finding -----------------------------------------------------------------------------

    def place(self, e: hir.Expr) -> Place:
        """Where an l-value is stored: a deref, and the swizzle or component that is selected."""
        place = self.try_place(e)
        assert place is not None, "the checker admits only l-values here"
        return place

    def try_place(self, e: hir.Expr) -> Place | None:
        """The place of an expression, or None for a temporary value."""
        match e:
            case hir.VarRef():
                if e.var in self.values or self.is_special(e.var):
                    return None
                return Place(self.deref_of(e.var))
            case hir.FieldRef():
                return self.member_place(e)
            case hir.IndexRef():
                base = self.try_place(e.base)
                return None if base is None else self.element_place(base, e)
            case hir.Swizzle():
                base = self.try_place(e.base)
                return None if base is None else self.swizzled_place(base, e.components)
        return None

    def member_place(self, e: hir.FieldRef) -> Place | None:
        member = self.interface_member(e)
        if member is not None:
            return Place(member)
        base = self.try_place(e.base)
        if base is None:
            return None
        return Place(self.b.deref_struct(base.deref, e.index))

    def element_place(self, base: Place, e: hir.IndexRef) -> Place:
        index = self.scalar(e.index)
        if base.components is None:
            return Place(self.b.deref_array(base.deref, index))
        # `v.zyx[i]`: the index selects a component of the swizzle.
        b = self.b
        component = b.imm_int(base.components[0])
        for i, c in enumerate(base.components[1:], 1):
            component = b.bcsel(b.ieq(index, b.imm_int(i)), b.imm_int(c), component)
        return Place(b.deref_array(base.deref, component))

    def swizzled_place(self, base: Place, components: tuple[int, ...]) -> Place | None:
        if base.type.is_scalar:
            return base if len(components) == 1 else None
        return Place(base.deref, components)

    # -- reading and writing -----------------------------------------------------------------

    def read_place(self, place: Place) -> Value:
        b = self.b
        value = self.read(place.deref)
        if place.components is not None:
            return b.swizzle(value, place.components)
        return value

    def write_place(self, place: Place, value: Value) -> None:
        b, deref = self.b, place.deref
        if place.components is None:
            if isinstance(value, Def):
                b.store_deref(deref, value, access=self.access_of(deref))
            else:
                store(b, place.deref, value)
            return
        width = place.deref.type.components
        parts: list[int] = [0] * width
        mask = 0
        for source, target in enumerate(place.components):
            parts[target] = source
            mask |= 1 << target
        spread = b.swizzle(value, parts) if width > 1 else value
        b.store_deref(place.deref, spread, mask, self.access_of(place.deref))

    # -- assignment --------------------------------------------------------------------------

    def assign(self, e: hir.Assign) -> Value:
        """Lower an assignment, evaluating the left side first, as the specification requires."""
        if isinstance(e.target, hir.VarRef) and e.target.var in self.values:
            value = self.values[e.target.var] = self.loaded(self.value(e.value))
            self.name(value, e.target.var.name)
            return value
        if self.is_precise(e.target):
            with self.b.exactly():
                return self.assign_place(e)
        return self.assign_place(e)

    def assign_place(self, e: hir.Assign) -> Value:
        place = self.place(e.target)
        value = self.value(e.value)
        if e.op:
            left = self.read_place(place)
            value = operators.binary(self.b, e.op, e.target.type, left, e.value.type, value)
        self.write_place(place, value)
        return value

    def name(self, value: Value, name: str) -> None:
        """Record the name that the source gives to a value, for debuggers."""
        if isinstance(value, list):
            for i, column in enumerate(value):
                column.call(f"{name}[{i}]", self.b.loc)
        else:
            value.call(name, self.b.loc)

    def step(self, e: hir.Step) -> Value:
        with self.b.exactly(self.is_precise(e.target)):
            place = self.place(e.target)
            old = self.loaded(self.read_place(place))
            new = operators.step(self.b, e.op, e.type, old)
            self.write_place(place, new)
        return old if e.post else new
