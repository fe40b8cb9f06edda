"""The state of lowering one stage: the NIR shader, its variables, functions and special
variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower.values import Value, constant_bits, store
from gallette.compiler.glsl.qualifiers import PRIMITIVES
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import (
    Access,
    Def,
    Deref,
    FunctionImpl,
    Mode,
    Shader,
    Stage,
    Variable,
)
from gallette.compiler.nir.ir import Function as NirFunction
from gallette.compiler.nir.ir.types import Type, stored_type


@lazy_dataclass()
class StageVariables:
    """The NIR variables that the linker created for one stage, by their declarations."""

    variables: dict[hir.Variable, Variable] = field(default_factory=dict)
    members: dict[tuple[hir.Variable, int], Variable] = field(default_factory=dict)
    """(block instance, member) -> variable, for `in` and `out` blocks"""
    blocks: dict[hir.Variable, Variable] = field(default_factory=dict)
    """block instance (or hidden instance) -> variable, for uniform and buffer blocks"""
    opaque: dict[tuple[hir.Variable, tuple[int, ...]], Variable] = field(default_factory=dict)
    """(uniform, member path) -> variable, for opaque members of structures"""
    canonical: dict[hir.Variable, hir.Variable] = field(default_factory=dict)
    """a declaration of a compiled shader -> the program's variable"""


_MEMORY = {
    "coherent": Access.COHERENT,
    "volatile": Access.VOLATILE,
    "restrict": Access.RESTRICT,
    "readonly": Access.NON_WRITEABLE,
    "writeonly": Access.NON_READABLE,
}


def access_flags(memory: frozenset[str]) -> Access:
    """Memory qualifiers as NIR's bit set."""
    flags = Access.NONE
    for word in memory:
        flags |= _MEMORY[word]
    return flags


@lazy_dataclass()
class StageFacts:
    """Immutable facts about a stage that lowering needs besides its variables."""

    bodies: Mapping[tuple[object, ...], hir.Function]
    """signature -> definition"""
    subroutine_choices: Mapping[hir.Variable, Sequence[tuple[int, hir.Function]]]
    """subroutine uniform -> its functions, with their indices"""
    needs_helpers: bool
    """whether code takes derivatives, so that discarded pixels continue for their neighbours"""
    fragcoord_flags: frozenset[str]
    has_handles: bool
    """whether samplers and images may be values (ARB_bindless_texture)"""


@lazy_dataclass()
class Frame:
    """The function being lowered."""

    b: Builder
    result: Deref | None = None
    precise: bool = False
    """whether the result is declared precise"""
    loops: list[hir.Loop | hir.Switch] = field(default_factory=list)
    continue_flags: list[Variable | None] = field(default_factory=list)
    """for each of `loops` that is a switch: a flag that `continue` has left it"""


class Lowering:
    """Base of the lowering classes: one stage, beginning in its entry point."""

    def __init__(self, shader: Shader, stage_variables: StageVariables, facts: StageFacts) -> None:
        self.shader = shader
        self.stage = shader.stage
        self.vars = stage_variables
        self.facts = facts
        self.locals: dict[hir.Variable, Deref | Variable] = {}
        self.derefs: dict[Variable, Deref] = {}
        """the latest deref of a variable"""
        self.values: dict[hir.Variable, Value] = {}
        """locals that need no memory, because only their initializer writes them"""
        self.functions: dict[hir.Function, NirFunction] = {}
        self.discards = 0
        self.called: list[tuple[hir.Function, FunctionImpl]] = []
        self.constants: dict[tuple[Type, hir.Value], Variable] = {}
        self.frame = Frame(Builder(shader.add_entry()).sharing_constants())
        self.b = self.frame.b
        self.lines: Callable[[int], int] | None = None

    @contextmanager
    def inside(self, frame: Frame) -> Iterator[None]:
        """Lower another function, then return to this one."""
        outer = self.frame
        self.frame, self.b = frame, frame.b
        try:
            yield
        finally:
            self.frame, self.b = outer, outer.b

    def at(self, loc: int) -> None:
        """Set the source location of the instructions built from now on."""
        if self.lines is not None:
            self.b.loc = self.lines(loc)

    # -- variables ---------------------------------------------------------------------------

    def program_variable(self, var: hir.Variable) -> hir.Variable:
        """The program's variable for a shader's declaration; locals are returned unchanged."""
        return self.vars.canonical.get(var, var)

    def deref_of(self, var: hir.Variable) -> Deref:
        """A deref of a variable."""
        var = self.program_variable(var)
        local = self.locals.get(var)
        if isinstance(local, Deref):
            return local
        if local is not None:
            return self.variable(local)
        if var.block is not None:
            if var.member >= 0:
                return self.block_member(var.block, var.member)
            if var in self.vars.blocks:
                return self.variable(self.vars.blocks[var])
        if var.const_value is not None and var not in self.vars.variables:
            return self.variable(self.constant_variable(var.type, var.const_value))
        return self.variable(self.vars.variables[var])

    def variable(self, var: Variable) -> Deref:
        """A deref of a NIR variable; one deref of a block serves all of it."""
        known = self.derefs.get(var)
        if known is not None and known.block is self.b.block:
            return known
        deref = self.derefs[var] = self.b.deref_var(var)
        return deref

    def block_member(self, block: hir.Block, member: int) -> Deref:
        assert block.instance is not None
        instance = self.program_variable(block.instance)
        whole = self.vars.blocks.get(instance)
        if whole is not None:
            return self.b.deref_struct(self.variable(whole), member)
        return self.variable(self.vars.members[instance, member])

    def interface_member(self, e: hir.FieldRef) -> Deref | None:
        """The deref of `block[i].member` in an `in` or `out` block, which is `member[i]`; also of
        opaque members.
        """
        path: list[hir.IndexRef] = []
        base = e.base
        while isinstance(base, hir.IndexRef):
            path.append(base)
            base = base.base
        if isinstance(base, hir.VarRef):
            var = self.program_variable(base.var)
            member = self.vars.members.get((var, e.index))
            if member is not None:
                deref = self.variable(member)
                for link in reversed(path):
                    deref = self.b.deref_array(deref, self.index_value(link.index))
                return deref
        if e.type.without_array.is_opaque:
            return self.opaque_member(e)
        return None

    def has_separate_opaques(self, e: hir.Expr) -> bool:
        """Whether a value contains samplers or images that are separate variables, bound to
        units.
        """
        if not e.type.is_aggregate or not e.type.holds_opaque:
            return False
        while isinstance(e, (hir.FieldRef, hir.IndexRef)):
            e = e.base
        if not isinstance(e, hir.VarRef):
            return False
        var = self.program_variable(e.var)
        if var.quals.storage != "uniform" or var.block is not None:
            return False
        known = self.vars.variables.get(var)
        return any(v is var for v, _ in self.vars.opaque) or (
            known is not None and known.type.without_array.is_opaque
        )

    def opaque_member(self, e: hir.FieldRef) -> Deref | None:
        """The deref of a sampler inside a uniform structure, which is a variable of its own."""
        fields: list[int] = []
        indices: list[hir.Expr] = []
        at: hir.Expr = e
        while isinstance(at, (hir.FieldRef, hir.IndexRef)):
            if isinstance(at, hir.FieldRef):
                fields.append(at.index)
            else:
                indices.append(at.index)
            at = at.base
        if not isinstance(at, hir.VarRef):
            return None
        var = self.program_variable(at.var)
        found = self.vars.opaque.get((var, tuple(reversed(fields))))
        if found is None:
            return None
        deref = self.variable(found)
        for index in reversed(indices):
            deref = self.b.deref_array(deref, self.index_value(index))
        return deref

    def index_value(self, e: hir.Expr) -> Def:
        value = self.value(e)
        assert isinstance(value, Def)
        return value

    def value(self, e: hir.Expr) -> Value:
        """Implemented by the expression lowering."""
        raise AssertionError(e)

    def constant_variable(self, type_: Type, value: hir.Value) -> Variable:
        """A read-only variable that holds a constant array or structure."""
        key = (type_, value)
        var = self.constants.get(key)
        if var is None or var not in self.b.impl.locals:
            initial = constant_bits(type_, value)
            var = self.b.impl.add_local("constant", type_, constant_initializer=initial)
            self.constants[key] = var
        return var

    def spill(self, type_: Type, value: Value) -> Deref:
        """Store a value in a temporary variable, for dynamic indexing."""
        temp = self.temporary("spilled", type_)
        store(self.b, self.b.deref_var(temp), value)
        return self.b.deref_var(temp)

    def temporary(self, name: str, type_: Type, precise: bool = False) -> Variable:
        """A local variable; samplers and images in it are handles."""
        return self.b.impl.add_local(name, stored_type(type_), precise=precise)

    def access_of(self, deref: Deref) -> int:
        """Memory qualifiers for a load or store through `deref`."""
        if deref.modes & Mode.SSBO:
            var = deref.root_var
            return int(var.access) if var is not None else 0
        return 0

    def is_precise(self, e: hir.Expr) -> bool:
        """Whether the target of an assignment is declared precise (or invariant)."""
        while isinstance(e, (hir.FieldRef, hir.IndexRef, hir.Swizzle)):
            e = e.base
        if not isinstance(e, hir.VarRef):
            return False
        quals = self.program_variable(e.var).quals
        return quals.precise or quals.invariant

    # -- built-in variables that are not memory ----------------------------------------------

    def is_special(self, var: hir.Variable) -> bool:
        if not var.builtin:
            return False
        return var.builtin.startswith(("sv:", "const:")) or (
            self.stage is Stage.FRAGMENT
            and var.builtin in _FRAGMENT_SYSTEM
            and var.quals.storage == "in"
        )

    def read_special(self, var: hir.Variable) -> Value | None:
        """Load a system value with its intrinsic."""
        if not self.is_special(var):
            return None
        b = self.b
        if var.builtin == "const:VERTICES_IN":
            return b.imm_int(PRIMITIVES.get(self.shader.info.input_primitive, 0))
        name = _FRAGMENT_SYSTEM.get(var.builtin) or var.builtin[3:].lower()
        if name == "frag_coord":
            return self.frag_coord()
        if name == "sample_mask_in":
            return [b.load_system_value(name)]
        if name.startswith("subgroup_") and name.endswith("_mask"):
            mask = b.load_system_value(name)
            return b.pack_64_2x32(b.trim(mask, 2))
        return b.load_system_value(name)

    def read_special_index(self, e: hir.IndexRef) -> Value | None:
        """Load gl_SampleMaskIn[0], which is a single word."""
        if isinstance(e.base, hir.VarRef) and self.is_special(e.base.var):
            value = self.read_special(e.base.var)
            if isinstance(value, list):
                return value[0]
        return None

    def frag_coord(self) -> Def:
        """gl_FragCoord with the shader's layout for it."""
        b = self.b
        value = b.load_system_value("frag_coord")
        if "origin_upper_left" in self.facts.fragcoord_flags:
            transform = b.load_deref(b.deref_var(self.origin_variable()))
            y = b.fadd(
                b.fmul(b.channel(value, 1), b.channel(transform, 0)), b.channel(transform, 1)
            )
            value = b.replace_channel(value, 1, y)
        if "pixel_center_integer" in self.facts.fragcoord_flags:
            value = b.fadd(value, b.imm_vec(-0.5, -0.5, 0.0, 0.0))
        return value

    def origin_variable(self) -> Variable:
        """The hidden uniform (scale, bias) that flips window coordinates vertically."""
        var = self.shader.find_variable("gl_FbWposYTransform")
        assert var is not None, "the linker declares it when the layout asks for it"
        return var


_FRAGMENT_SYSTEM = {
    "var:PRIMITIVE_ID": "primitive_id",
    "var:LAYER": "layer_id",
    "var:VIEWPORT": "viewport_index",
}
