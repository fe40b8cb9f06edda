"""The result of linking: the program's shaders, and the tables that GL queries read."""

from __future__ import annotations

from dataclasses import field
from typing import TypeVar, dataclass_transform

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.limits import DEFAULT_LIMITS, Limits
from gallette.compiler.nir.ir import Intrinsic, Shader, Stage
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.link.feedback import StreamOutput

Class = TypeVar("Class", bound=type)


@dataclass_transform(frozen_default=True)
def _row(cls: Class) -> Class:
    """A record that is complete when created and immutable.

    The type checker enforces that; at run time plain dataclasses are faster to create than frozen
    ones.
    """
    return lazy_dataclass(unsafe_hash=True)(cls)


@_row
class LinkOptions:
    """The application's settings before linking."""

    attrib_bindings: dict[str, int] = field(default_factory=dict)
    frag_data_bindings: dict[str, tuple[int, int]] = field(default_factory=dict)
    """name -> (colour number, index)"""
    xfb_varyings: list[str] = field(default_factory=list)
    xfb_mode: str = "interleaved"
    """interleaved or separate"""
    separable: bool = False
    geometry_input: str = ""
    """input primitive set by the API (ARB_geometry_shader4), as a layout qualifier"""
    geometry_output: str = ""
    geometry_max_vertices: int = 0
    limits: Limits = DEFAULT_LIMITS
    api: str = "core"
    optimize: bool = True


@_row
class Uniform:
    """One active uniform (or block member) as GL enumerates them."""

    name: str
    """as GL names it: `a[0]` for an array of basic type, `s[1].member`"""
    type: Type
    """without the array dimension"""
    array_size: int
    """elements, 0 if not an array"""
    location: int
    offset: int
    block: int
    """index into `uniform_blocks` (or `storage_blocks` for its members), -1 the default block"""
    array_stride: int
    matrix_stride: int
    row_major: bool
    stages: frozenset[Stage]
    opaque_index: dict[Stage, int]
    """for opaque uniforms: first texture or image unit index in each stage's NIR"""
    binding: int = -1
    """initial unit of an opaque uniform, -1 when not given"""
    builtin: bool = False
    atomic_buffer: int = -1
    top_level_array_size: int = 1
    top_level_array_stride: int = 0
    is_handle: bool = False
    """whether an opaque uniform is stored as a handle, at `offset`; a unit is then set as a handle,
    too
    """


@lazy_dataclass(frozen=True)
class UniformBlock:
    """A uniform or storage block; each element of an array of blocks is one."""

    name: str
    size: int
    binding: int
    stages: frozenset[Stage]
    members: tuple[int, ...]
    """indices into `uniforms` (or `buffer_variables`)"""
    nir_index: dict[Stage, int]


@lazy_dataclass(frozen=True)
class AtomicBuffer:
    """The atomic counters of one binding."""

    binding: int
    size: int
    stages: frozenset[Stage]
    members: tuple[int, ...]


@_row
class Attribute:
    """An active vertex shader input; built-in ones have location -1."""

    name: str
    type: Type
    location: int
    array_size: int
    component: int = 0


@_row
class FragOutput:
    """An active fragment shader output."""

    name: str
    type: Type
    location: int
    index: int
    array_size: int = 0
    component: int = 0


@_row
class Varying:
    """An input of the first stage or an output of the last, for program interface queries."""

    name: str
    type: Type
    location: int
    array_size: int
    stage: Stage
    slots: int = 1
    explicit: bool = False  # its location was declared, and is matched by
    patch: bool = False
    component: int = 0
    interpolation: str = ""
    """flat or noperspective; empty for smooth"""
    precision: str = ""
    container: Type | None = None
    """the block, or the array of blocks, or the structure that it is a part of, of one vertex"""
    per_vertex: bool = False  # an array with an element for each vertex


@lazy_dataclass(frozen=True)
class SubroutineUniform:
    """A subroutine uniform: its functions by subroutine index, and where its choice is stored."""

    name: str
    stage: Stage
    location: int
    array_size: int
    offset: int
    compatible: tuple[int, ...]


@lazy_dataclass()
class ProgramInfo:
    """Facts about the whole program; those of one shader are in its own `info`."""

    glsl_version: int = 110
    """highest version of any shader (GLSL ES versions as they are)"""
    local_size: tuple[int, int, int] = (0, 0, 0)
    local_size_variable: bool = False
    has_handles: bool = False
    """whether any shader may use textures and images by handle"""


@lazy_dataclass()
class LinkedProgram:
    """The result of linking; it owns one reference to each of `shaders`."""

    ok: bool = False
    info_log: str = ""
    shaders: dict[Stage, Shader] = field(default_factory=dict)
    uniforms: list[Uniform] = field(default_factory=list)
    # Locations of uniforms that are not active, which may be set without effect.
    inactive_locations: set[int] = field(default_factory=set)
    default_block_size: int = 0
    default_block_initial: bytes = b""
    uniform_blocks: list[UniformBlock] = field(default_factory=list)
    storage_blocks: list[UniformBlock] = field(default_factory=list)
    buffer_variables: list[Uniform] = field(default_factory=list)
    atomic_buffers: list[AtomicBuffer] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    frag_outputs: list[FragOutput] = field(default_factory=list)
    inputs: list[Varying] = field(default_factory=list)
    outputs: list[Varying] = field(default_factory=list)
    # The variables by leaf, with built-ins, for queries; a vertex shader's inputs and a fragment
    # shader's outputs are in `attributes` and `frag_outputs` instead.
    input_resources: list[Varying] = field(default_factory=list)
    output_resources: list[Varying] = field(default_factory=list)
    xfb: StreamOutput | None = None
    subroutines: dict[Stage, list[str]] = field(default_factory=dict)
    subroutine_uniforms: list[SubroutineUniform] = field(default_factory=list)
    info: ProgramInfo = field(default_factory=ProgramInfo)
    # The result of `vertex_elements`, if it was computed before the shaders were serialized.
    elements: tuple[tuple[int, bool], ...] | None = None


def vertex_elements(shader: Shader) -> tuple[tuple[int, bool], ...]:
    """Per vertex element of the driver: attribute slot, and whether the shader reads it."""
    found: dict[int, int] = {}
    for block in shader.entry.blocks():
        for instr in block.instrs():
            if isinstance(instr, Intrinsic) and instr.name == "load_input":
                base = int(instr.indices["base"])
                for slot in range(int(instr.indices.get("num_slots", 1) or 1)):
                    found[base + slot] = int(instr.indices["location"]) + slot
    count = max(found, default=-1) + 1
    return tuple((found.get(i, int(VertAttrib.GENERIC0)), i in found) for i in range(count))
