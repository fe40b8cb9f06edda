"""Shaders, functions and variables: what holds the code.

A `Shader` is handed around by reference count (see `ownership`). It has `variables` (its interface
and globals), `functions`, and `info`, a summary that passes and drivers read. Locals of a function
live in `FunctionImpl.locals`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from gallette.compiler.nir.ir.cf import Block, Body, blocks_in
from gallette.compiler.nir.ir.ownership import COUNTERS, forget, track
from gallette.compiler.nir.ir.types import Type


class Stage(enum.Enum):
    """Where in the pipeline a shader runs."""

    VERTEX = "vertex"
    TESS_CTRL = "tess_ctrl"
    TESS_EVAL = "tess_eval"
    GEOMETRY = "geometry"
    FRAGMENT = "fragment"
    COMPUTE = "compute"
    KERNEL = "kernel"

    @property
    def order(self) -> int:
        """Position in the pipeline, vertex first."""
        return _STAGE_ORDER[self]


_STAGE_ORDER = {stage: i for i, stage in enumerate(Stage)}


class Mode(enum.IntFlag):
    """Storage class of a variable; a deref may carry several when it may point into any of them."""

    SHADER_IN = 1
    SHADER_OUT = 2
    UNIFORM = 4
    UBO = 8
    SSBO = 16
    SHARED = 32
    GLOBAL = 64
    CONSTANT = 128
    FUNCTION_TEMP = 256
    SHADER_TEMP = 512
    SYSTEM_VALUE = 1024
    IMAGE = 2048
    PUSH_CONST = 4096
    ALL = 8191

    @property
    def text(self) -> str:
        """Lower-case names joined with `|`, as the printer writes them."""
        return "|".join(m.name.lower() for m in _SINGLE_MODES if m.name and m & self)

    @staticmethod
    def parse(text: str) -> Mode:
        mode = Mode(0)
        for part in text.split("|"):
            mode |= Mode[part.upper()]
        return mode


_SINGLE_MODES = tuple(m for m in Mode if m is not Mode.ALL)
TEMPORARIES = Mode.FUNCTION_TEMP | Mode.SHADER_TEMP


class Access(enum.IntFlag):
    """Memory qualifiers of a buffer or image variable, or of one access."""

    NONE = 0
    COHERENT = 1
    VOLATILE = 2
    RESTRICT = 4
    NON_READABLE = 8
    NON_WRITEABLE = 16
    CAN_REORDER = 32

    @property
    def text(self) -> str:
        return "|".join(a.name.lower() for a in Access if a.name and a and a & self) or "none"


class Metadata(enum.IntFlag):
    """Facts about a function that are computed on request and kept while they hold."""

    NONE = 0
    CFG = 1
    BLOCK_INDEX = 2
    DOMINANCE = 4
    LIVENESS = 8
    LOOPS = 16
    DIVERGENCE = 32
    INSTR_INDEX = 64
    CONTROL_FLOW = 7
    ALL = 127


@dataclass(slots=True, eq=False)
class Variable:
    """A named piece of storage.

    `location` is a slot (`VertAttrib`, `VaryingSlot`, `FragResult`, `SystemValue`) for inputs,
    outputs and system values; `offset` a byte offset for uniforms of the default block; `binding`
    a buffer binding or texture unit; `index` the dual-source index of a fragment output.
    `constant_initializer` is nested tuples shaped like the type (array elements, members, matrix
    columns), raw bits for each component at the bottom: a scalar is `(bits,)`.
    """

    name: str
    type: Type
    mode: Mode
    location: int = -1
    component: int = 0
    driver_location: int = -1
    binding: int = -1
    explicit_binding: bool = False
    index: int = 0
    offset: int = -1
    interpolation: str = "none"
    centroid: bool = False
    sample: bool = False
    patch: bool = False
    invariant: bool = False
    precise: bool = False
    explicit_location: bool = False
    constant_initializer: Any = None
    interface: Type | None = None
    interface_name: str = ""
    from_instance: bool = False
    access: Access = Access.NONE
    image_format: str = ""
    precision: str = ""
    stream: int = 0
    xfb_buffer: int = -1
    xfb_offset: int = -1
    xfb_stride: int = -1
    builtin: str = ""
    how_declared: str = "normal"
    per_vertex: bool = False
    compact: bool = False
    read_only: bool = False
    used: bool = False
    max_array_access: int = -1

    def copy(self) -> Variable:
        return Variable(**{f.name: getattr(self, f.name) for f in fields(self)})

    def __repr__(self) -> str:
        return f"<{self.mode.text} {self.type} {self.name}>"


@dataclass(slots=True)
class Parameter:
    """A function parameter: a value, or (with `is_deref`) a pointer to a variable of `type`."""

    name: str
    type: Type
    is_deref: bool = False
    num_components: int = 1
    bit_size: int = 32


@dataclass(slots=True, eq=False)
class Function:
    """A named function; `impl` is None for a declaration.

    A function that returns a value does so through a deref parameter, by convention the first.
    """

    name: str
    params: list[Parameter] = field(default_factory=list)
    impl: FunctionImpl | None = None
    is_entry: bool = False


class FunctionImpl:
    """The code of a function: a body, local variables, and cached metadata."""

    __slots__ = ("body", "function", "locals", "metadata_cache", "shader", "valid")

    def __init__(self, shader: Shader, function: Function):
        self.shader = shader
        self.function = function
        self.locals: list[Variable] = []
        self.body: Body = []
        self.body.append(Block(self, self.body))
        self.valid = Metadata.NONE
        self.metadata_cache: dict[str, Any] = {}
        function.impl = self

    @property
    def first(self) -> Block:
        return self.body[0]  # type: ignore[return-value]

    @property
    def last(self) -> Block:
        return self.body[-1]  # type: ignore[return-value]

    def blocks(self) -> Iterator[Block]:
        """Every block in source order."""
        return blocks_in(self.body)

    def invalidate(self) -> None:
        """Control flow changed: nothing that was computed holds any more."""
        self.valid = Metadata.NONE

    def preserve(self, kept: Metadata) -> None:
        """Code changed: only `kept` still holds."""
        self.valid &= kept

    def require(self, wanted: Metadata) -> None:
        """Compute whatever of `wanted` does not hold."""
        if self.valid & wanted != wanted:
            from gallette.compiler.nir.analysis.metadata import compute

            compute(self, wanted)

    def add_local(self, name: str, type: Type) -> Variable:
        var = Variable(name, type, Mode.FUNCTION_TEMP)
        self.locals.append(var)
        return var

    def count_instrs(self) -> int:
        total = 0
        for block in self.blocks():
            at = block.first
            while at is not None:
                total += 1
                at = at.next
        return total


@dataclass(slots=True)
class ShaderInfo:
    """A summary of a shader; the first group is kept by `gather_info`, the rest is declared."""

    inputs_read: set[int] = field(default_factory=set)
    outputs_written: set[int] = field(default_factory=set)
    outputs_read: set[int] = field(default_factory=set)
    system_values_read: set[int] = field(default_factory=set)
    flat_inputs: set[int] = field(default_factory=set)
    textures_used: set[int] = field(default_factory=set)
    images_used: set[int] = field(default_factory=set)
    num_ubos: int = 0
    num_ssbos: int = 0
    num_uniform_bytes: int = 0
    uses_discard: bool = False
    uses_demote: bool = False
    uses_derivatives: bool = False
    uses_sample_shading: bool = False
    uses_indirect_textures: bool = False
    writes_memory: bool = False
    reads_frag_coord: bool = False
    user_clip_planes: int = 0

    has_transform_feedback: bool = False
    xfb_outputs: tuple[Any, ...] = ()
    xfb_strides: tuple[int, ...] = ()
    clip_distance_array_size: int = 0
    cull_distance_array_size: int = 0
    separable: bool = False
    early_fragment_tests: bool = False
    post_depth_coverage: bool = False
    depth_layout: str = ""
    color_is_dual_source: bool = False
    blend_equations_advanced: int = 0
    input_primitive: str = ""
    output_primitive: str = ""
    vertices_out: int = 0
    invocations: int = 1
    tess_primitive: str = ""
    tess_spacing: str = ""
    tess_ccw: bool = True
    tess_point_mode: bool = False
    workgroup_size: tuple[int, int, int] = (0, 0, 0)
    workgroup_size_variable: bool = False
    shared_bytes: int = 0
    scratch_bytes: int = 0
    position_invariant: bool = False

    def copy(self) -> ShaderInfo:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, value in values.items():
            if isinstance(value, set):
                values[name] = set(value)
        return ShaderInfo(**values)


class Shader:
    """One shader of one stage, with its reference count (born with one reference)."""

    __slots__ = (
        "__weakref__",
        "functions",
        "info",
        "label",
        "name",
        "refcount",
        "stage",
        "variables",
    )

    def __init__(self, stage: Stage, name: str = ""):
        self.stage = stage
        self.name = name
        self.label = ""
        self.variables: list[Variable] = []
        self.functions: list[Function] = []
        self.info = ShaderInfo()
        self.refcount = 1
        COUNTERS.created += 1
        track(self)

    @property
    def entry_function(self) -> Function:
        for function in self.functions:
            if function.is_entry:
                return function
        raise LookupError(f"shader {self.name!r} has no entry point")

    @property
    def entry(self) -> FunctionImpl:
        """The code of `main`."""
        impl = self.entry_function.impl
        assert impl is not None
        return impl

    def add_function(self, name: str, *, is_entry: bool = False) -> Function:
        function = Function(name, is_entry=is_entry)
        self.functions.append(function)
        return function

    def add_entry(self, name: str = "main") -> FunctionImpl:
        return FunctionImpl(self, self.add_function(name, is_entry=True))

    def impls(self) -> Iterator[FunctionImpl]:
        for function in self.functions:
            if function.impl is not None:
                yield function.impl

    def add_variable(self, name: str, type: Type, mode: Mode, **attributes: Any) -> Variable:
        var = Variable(name, type, mode, **attributes)
        self.variables.append(var)
        return var

    def variables_of(self, modes: int) -> list[Variable]:
        return [v for v in self.variables if v.mode & modes]

    def find_variable(self, name: str) -> Variable | None:
        for var in self.variables:
            if var.name == name:
                return var
        return None

    def count_instrs(self) -> int:
        return sum(impl.count_instrs() for impl in self.impls())

    def ref(self) -> Shader:
        """Take one more reference."""
        assert self.refcount > 0, f"shader {self.name!r} is dead"
        self.refcount += 1
        COUNTERS.refs += 1
        return self

    def unref(self) -> None:
        """Give one reference back; at zero the shader is dead."""
        assert self.refcount > 0, f"shader {self.name!r} was given back too often"
        self.refcount -= 1
        COUNTERS.unrefs += 1
        if self.refcount == 0:
            COUNTERS.destroyed += 1
            forget(self)

    def mutable(self) -> Shader:
        """A shader safe to modify, in exchange for the caller's reference.

        The shader itself if nobody else holds one, otherwise a clone.
        """
        if self.refcount == 1:
            return self
        clone = self.clone()
        self.unref()
        return clone

    def clone(self) -> Shader:
        """An independent copy, with one reference that belongs to the caller."""
        from gallette.compiler.nir.builder.clone import clone_shader

        return clone_shader(self)

    def __repr__(self) -> str:
        return f"<{self.stage.value} shader {self.name!r}, {self.refcount} references>"
