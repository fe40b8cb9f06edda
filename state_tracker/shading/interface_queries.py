"""ARB_program_interface_query: every resource of a program by interface, index, name and property.

A resource is described once, as a `Resource` with its properties by GL name; counts, names, indices
and locations all follow from the list of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.compiler.glsl import Varying
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.layout import align
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.gl_types import gl_type
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.shading.feedback import size_and_type
from gallette.state_tracker.shading.program_queries import (
    linked_of,
    split_subscript,
    uniform_at,
    uniform_name,
)
from gallette.state_tracker.shading.programs import Executable, ProgramObject, of_stages

if TYPE_CHECKING:
    from gallette.compiler.glsl import LinkedProgram, Uniform
    from gallette.state_tracker.context import Context

INVALID_INDEX = 0xFFFFFFFF
_NAMELESS = (GL.ATOMIC_COUNTER_BUFFER, GL.TRANSFORM_FEEDBACK_BUFFER)
_SUBROUTINES = of_stages("{}_SUBROUTINE")
_SUBROUTINE_UNIFORMS = of_stages("{}_SUBROUTINE_UNIFORM")
_REFERENCED = of_stages("REFERENCED_BY_{}_SHADER")
_COUNTERS_REFERENCED = of_stages("ATOMIC_COUNTER_BUFFER_REFERENCED_BY_{}_SHADER")


@lazy_dataclass()
class Resource:
    """One active resource; `values` by property."""

    name: str
    values: dict[int, list[int]]
    location: int = -1
    index: int = -1
    elements: int = 0
    step: int = 1  # locations of an element
    members: list[int] = field(default_factory=list)
    number: int = -1  # the index found by its name, if not its place in the list
    nameless: bool = False  # may occur several times: not found by name


def _referenced(stages: Any) -> dict[int, list[int]]:
    return {prop: [int(stage in stages)] for prop, stage in _REFERENCED.items()}


def _uniform(
    linked: LinkedProgram, uniform: Uniform, in_block: bool, of_buffer: bool = False
) -> Resource:
    """A uniform, or a variable of a storage block (`of_buffer`)."""
    backed = in_block or uniform.atomic_buffer >= 0
    strides = (uniform.array_stride, uniform.matrix_stride) if in_block else (-1, -1)
    if backed and not in_block:  # counters of an array are adjacent
        strides = (4 if uniform.array_size else 0, 0)
    endless = in_block and not uniform.array_size and uniform.name.endswith("]")  # no size declared
    values: dict[int, list[int]] = {
        GL.TYPE: [gl_type(uniform.type)],
        GL.ARRAY_SIZE: [0 if endless else max(1, uniform.array_size)],
        GL.OFFSET: [uniform.offset if backed else -1],
        GL.BLOCK_INDEX: [uniform.block],
        GL.ARRAY_STRIDE: [strides[0]],
        GL.MATRIX_STRIDE: [strides[1]],
        GL.IS_ROW_MAJOR: [int(uniform.row_major and in_block)],
        **_referenced(uniform.stages),
    }
    location = -1 if in_block else uniform.location
    if of_buffer:
        values[GL.TOP_LEVEL_ARRAY_SIZE] = [uniform.top_level_array_size]
        values[GL.TOP_LEVEL_ARRAY_STRIDE] = [uniform.top_level_array_stride]
    else:
        bindings = [b.binding for b in linked.atomic_buffers]
        counts = uniform.atomic_buffer in bindings
        values[GL.ATOMIC_COUNTER_BUFFER_INDEX] = [
            bindings.index(uniform.atomic_buffer) if counts else -1
        ]
        values[GL.LOCATION] = [location]
    return Resource(uniform_name(uniform), values, location, elements=uniform.array_size)


def _block(block: Any, binding: int, end: int = 0) -> Resource:
    """A block; `end`: where the first element of an unsized array ends, since one element
    counts.
    """
    values: dict[int, list[int]] = {
        GL.BUFFER_BINDING: [binding],
        GL.BUFFER_DATA_SIZE: [max(block.size, align(end, 16))],
        GL.NUM_ACTIVE_VARIABLES: [len(block.members)],
        GL.ACTIVE_VARIABLES: list(block.members),
        **_referenced(block.stages),
    }
    return Resource(block.name, values)


def _endless(variable: Any) -> int:
    """The element stride of the unsized array that contains a variable; else 0."""
    if not variable.top_level_array_size:
        return int(variable.top_level_array_stride)
    plain = not variable.array_size and variable.name.endswith("]")
    return int(variable.array_stride) if plain else 0


def _end_of_endless(variables: list[Uniform]) -> int:
    """The offset after the first element of a block's unsized array; 0 if there is none."""
    found = [(v.offset, stride) for v in variables if (stride := _endless(v))]
    return sum(min(found)) if found else 0


def _variable(item: Any, stage: Stage, index: int | None = None) -> Resource:
    """An input, or an output with its colour `index` (-1: none)."""
    name = item.name
    if item.array_size and name and not name.endswith("]"):
        name += "[0]"
    values: dict[int, list[int]] = {
        GL.TYPE: [gl_type(item.type)],
        GL.ARRAY_SIZE: [max(1, item.array_size)],
        GL.LOCATION: [item.location],
        **({} if index is None else {GL.LOCATION_INDEX: [index]}),
        GL.IS_PER_PATCH: [int(isinstance(item, Varying) and item.patch)],
        GL.LOCATION_COMPONENT: [item.component],
        **_referenced({stage}),
    }
    step = max(1, item.type.columns)
    colour = -1 if index is None else index
    return Resource(name, values, item.location, colour, item.array_size, step)


def _inputs(executable: Executable) -> list[Resource]:
    linked, found = executable.linked, []
    if Stage.VERTEX in linked.shaders:
        found = [_variable(a, Stage.VERTEX) for a in executable.attributes]
    listed = {item.name for item in found}
    return found + [_variable(v, v.stage) for v in linked.input_resources if v.name not in listed]


def _outputs(executable: Executable) -> list[Resource]:
    linked = executable.linked
    found = [_variable(o, Stage.FRAGMENT, o.index) for o in linked.frag_outputs]
    return found + [_variable(v, v.stage, -1) for v in linked.output_resources]


def _feedback_buffers(executable: Executable) -> list[int]:
    """The bindings that are captured to."""
    xfb = executable.linked.xfb
    return sorted({v.buffer for v in xfb.varyings if not v.is_gap}) if xfb is not None else []


def _feedback(executable: Executable) -> list[Resource]:
    """The buffers that transform feedback writes: resources without names."""
    xfb, found = executable.linked.xfb, []
    for binding in _feedback_buffers(executable):
        assert xfb is not None
        members = [i for i, v in enumerate(xfb.varyings) if v.buffer == binding]
        values: dict[int, list[int]] = {
            GL.BUFFER_BINDING: [binding],
            GL.NUM_ACTIVE_VARIABLES: [len(members)],
            GL.ACTIVE_VARIABLES: members,
            GL.TRANSFORM_FEEDBACK_BUFFER_STRIDE: [xfb.strides[binding]],
        }
        found.append(Resource("", values))
    return found


def _varyings(executable: Executable) -> list[Resource]:
    xfb, buffers = executable.linked.xfb, _feedback_buffers(executable)
    found = []
    for v in xfb.varyings if xfb is not None else ():
        size, type = size_and_type(v)
        values: dict[int, list[int]] = {
            GL.TYPE: [type],
            GL.ARRAY_SIZE: [size],
            GL.OFFSET: [v.offset],
            GL.TRANSFORM_FEEDBACK_BUFFER_INDEX: [
                buffers.index(v.buffer) if v.buffer in buffers else v.buffer
            ],
        }
        found.append(Resource(v.name, values, nameless=v.is_gap))
    return found


def resources(executable: Executable, interface: int) -> list[Resource]:
    """Every active resource of an interface."""
    linked = executable.linked
    if interface in (GL.UNIFORM, GL.BUFFER_VARIABLE):
        return _variables(executable, interface)
    if interface == GL.UNIFORM_BLOCK:
        pairs = zip(linked.uniform_blocks, executable.block_bindings, strict=True)
        return [_block(b, binding) for b, binding in pairs]
    if interface == GL.SHADER_STORAGE_BLOCK:
        pairs = zip(linked.storage_blocks, executable.storage_bindings, strict=True)
        variables = linked.buffer_variables
        return [
            _block(b, binding, _end_of_endless([variables[m] for m in b.members]))
            for b, binding in pairs
        ]
    if interface == GL.PROGRAM_INPUT:
        return _inputs(executable)
    if interface == GL.PROGRAM_OUTPUT:
        return _outputs(executable)
    if interface == GL.TRANSFORM_FEEDBACK_VARYING:
        return _varyings(executable)
    if interface == GL.TRANSFORM_FEEDBACK_BUFFER:
        return _feedback(executable)
    if interface == GL.ATOMIC_COUNTER_BUFFER:
        return [
            Resource(
                "",
                {
                    GL.BUFFER_BINDING: [b.binding],
                    GL.BUFFER_DATA_SIZE: [b.size],
                    GL.NUM_ACTIVE_VARIABLES: [len(b.members)],
                    GL.ACTIVE_VARIABLES: list(b.members),
                    **_referenced(b.stages),
                },
            )
            for b in linked.atomic_buffers
        ]
    if interface in _SUBROUTINES:
        names = linked.subroutines.get(_SUBROUTINES[interface], [])
        return [Resource(name, {}, number=i) for i, name in enumerate(names) if name]
    if interface in _SUBROUTINE_UNIFORMS:
        stage = _SUBROUTINE_UNIFORMS[interface]
        return [_subroutine_uniform(u) for u in linked.subroutine_uniforms if u.stage == stage]
    raise invalid_enum(interface, "program interface")


def _variables(executable: Executable, interface: int) -> list[Resource]:
    """The uniforms or buffer variables. The list is kept: there may be hundreds, all their values
    come from the linker, and applications ask for a property of one of them at a time.
    """
    found = executable.resources.get(interface)
    if found is None:
        linked = executable.linked
        if interface == GL.UNIFORM:
            found = [_uniform(linked, u, u.block >= 0) for u in linked.uniforms]
        else:
            found = [_uniform(linked, u, True, True) for u in linked.buffer_variables]
        executable.resources[interface] = found
    return found


def _subroutine_uniform(uniform: Any) -> Resource:
    name = f"{uniform.name}[0]" if uniform.array_size else uniform.name
    values: dict[int, list[int]] = {
        GL.ARRAY_SIZE: [max(1, uniform.array_size)],
        GL.LOCATION: [uniform.location],
        GL.NUM_COMPATIBLE_SUBROUTINES: [len(uniform.compatible)],
        GL.COMPATIBLE_SUBROUTINES: list(uniform.compatible),
    }
    return Resource(name, values, uniform.location, elements=uniform.array_size)


def _of(ctx: Context, program: int, interface: int) -> list[Resource]:
    found: ProgramObject = ctx.programs.program(program)
    check_es(ctx, interface, "program interface")
    if found.told is None:
        if interface not in _KNOWN:
            raise invalid_enum(interface, "program interface")
        return []
    return resources(found.told, interface)


_KNOWN = frozenset(
    (
        GL.UNIFORM,
        GL.UNIFORM_BLOCK,
        GL.BUFFER_VARIABLE,
        GL.SHADER_STORAGE_BLOCK,
        GL.PROGRAM_INPUT,
        GL.PROGRAM_OUTPUT,
        GL.TRANSFORM_FEEDBACK_VARYING,
        *_NAMELESS,
        *_SUBROUTINES,
        *_SUBROUTINE_UNIFORMS,
    )
)
_PROPERTIES = frozenset(
    (
        *(GL.NAME_LENGTH, GL.TYPE, GL.ARRAY_SIZE, GL.OFFSET, GL.BLOCK_INDEX, GL.ARRAY_STRIDE),
        *(GL.MATRIX_STRIDE, GL.IS_ROW_MAJOR, GL.ATOMIC_COUNTER_BUFFER_INDEX, GL.BUFFER_BINDING),
        *(GL.BUFFER_DATA_SIZE, GL.NUM_ACTIVE_VARIABLES, GL.ACTIVE_VARIABLES),
        *_REFERENCED,
        *(GL.TOP_LEVEL_ARRAY_SIZE, GL.TOP_LEVEL_ARRAY_STRIDE, GL.LOCATION, GL.LOCATION_INDEX),
        *(GL.IS_PER_PATCH, GL.LOCATION_COMPONENT, GL.TRANSFORM_FEEDBACK_BUFFER_INDEX),
        *(GL.TRANSFORM_FEEDBACK_BUFFER_STRIDE, GL.NUM_COMPATIBLE_SUBROUTINES),
        GL.COMPATIBLE_SUBROUTINES,
    )
)


def _find(items: list[Resource], name: str) -> int:
    for index, item in enumerate(items):
        if item.name and not item.nameless and item.name in (name, f"{name}[0]"):
            return index if item.number < 0 else item.number
    return INVALID_INDEX


@entry
def get_program_interfaceiv(ctx: Context, program: int, interface: int, pname: int) -> list[int]:
    items = _of(ctx, program, interface)
    check_es(ctx, pname, "program interface property")
    if pname == GL.ACTIVE_RESOURCES:
        return [len(items)]
    if pname == GL.MAX_NAME_LENGTH and interface not in _NAMELESS:
        return [max((len(i.name.encode()) + 1 for i in items), default=0)]
    if pname == GL.MAX_NUM_ACTIVE_VARIABLES and interface in (
        GL.UNIFORM_BLOCK,
        GL.SHADER_STORAGE_BLOCK,
        *_NAMELESS,
    ):
        return [max((len(i.values[GL.ACTIVE_VARIABLES]) for i in items), default=0)]
    if pname == GL.MAX_NUM_COMPATIBLE_SUBROUTINES and interface in _SUBROUTINE_UNIFORMS:
        return [max((len(i.values[GL.COMPATIBLE_SUBROUTINES]) for i in items), default=0)]
    if pname in (
        GL.MAX_NAME_LENGTH,
        GL.MAX_NUM_ACTIVE_VARIABLES,
        GL.MAX_NUM_COMPATIBLE_SUBROUTINES,
    ):
        raise invalid_operation("this interface has no such property")
    raise invalid_enum(pname, "program interface property")


_ACTIVE_UNIFORM: dict[int, int] = {
    GL.UNIFORM_TYPE: GL.TYPE,
    GL.UNIFORM_SIZE: GL.ARRAY_SIZE,
    GL.UNIFORM_BLOCK_INDEX: GL.BLOCK_INDEX,
    GL.UNIFORM_OFFSET: GL.OFFSET,
    GL.UNIFORM_ARRAY_STRIDE: GL.ARRAY_STRIDE,
    GL.UNIFORM_MATRIX_STRIDE: GL.MATRIX_STRIDE,
    GL.UNIFORM_IS_ROW_MAJOR: GL.IS_ROW_MAJOR,
    GL.UNIFORM_ATOMIC_COUNTER_BUFFER_INDEX: GL.ATOMIC_COUNTER_BUFFER_INDEX,
}
"""Parameters of the older queries as properties of resources."""


@entry
def get_active_uniformsiv(
    ctx: Context, program: int, count: int, indices: Pointer, pname: int
) -> list[int]:
    if count < 0:
        raise invalid_value("negative count")
    wanted = [int(i) for i in read_array(indices, "uint", count)]
    for index in wanted:
        uniform_at(ctx, program, index)
    executable = linked_of(ctx, program)
    assert executable is not None or not wanted
    if executable is None:
        return []
    if pname not in _ACTIVE_UNIFORM and pname != GL.UNIFORM_NAME_LENGTH and wanted:
        raise invalid_enum(pname, "active uniform parameter")
    listed = _variables(executable, GL.UNIFORM)
    items = [listed[i] for i in wanted]
    if pname == GL.UNIFORM_NAME_LENGTH:
        return [len(item.name.encode()) + 1 for item in items]
    prop = _ACTIVE_UNIFORM.get(pname, pname)
    return [item.values[prop][0] for item in items]


@entry
def get_program_resource_index(ctx: Context, program: int, interface: int, name: str) -> int:
    if interface in _NAMELESS:
        raise invalid_enum(interface, "interface with names")
    return _find(_of(ctx, program, interface), name)


def _at(ctx: Context, program: int, interface: int, index: int) -> Resource:
    items = _of(ctx, program, interface)
    if not 0 <= index < len(items):
        raise invalid_value(f"resource {index} is not below {len(items)}")
    return items[index]


@entry
def get_program_resource_name(ctx: Context, program: int, interface: int, index: int) -> str:
    if interface in _NAMELESS:
        raise invalid_enum(interface, "interface with names")
    return _at(ctx, program, interface, index).name


@entry
def get_program_resourceiv(
    ctx: Context, program: int, interface: int, index: int, count: int, props: Pointer
) -> list[int]:
    if count <= 0:
        raise invalid_value("no properties asked for")
    item = _at(ctx, program, interface, index)
    found: list[int] = []
    wanted = read_array(props, "uint", count).tolist()
    for prop in wanted:
        check_es(ctx, prop, "property of program resources")
        if prop not in _PROPERTIES:
            raise invalid_enum(prop, "property of program resources")
    for prop in wanted:
        if prop == GL.NAME_LENGTH and interface not in _NAMELESS:
            found.append(len(item.name.encode()) + 1)
        elif prop in item.values:
            found += item.values[prop]
        else:
            raise invalid_operation(f"{GL.name_of(prop)} is not a property of this interface")
    return found


def _with_location(ctx: Context, program: int, interface: int, name: str) -> Resource | None:
    located = (GL.UNIFORM, GL.PROGRAM_INPUT, GL.PROGRAM_OUTPUT, *_SUBROUTINE_UNIFORMS)
    if interface not in located:
        raise invalid_enum(interface, "interface with locations")
    ctx.programs.program(program).require_linked()
    items = _of(ctx, program, interface)
    index = _find(items, name)
    return items[index] if index != INVALID_INDEX else None


@entry
def get_program_resource_location(ctx: Context, program: int, interface: int, name: str) -> int:
    found = _with_location(ctx, program, interface, name)
    if found is not None:
        return found.location
    base, element = split_subscript(name)
    array = _with_location(ctx, program, interface, f"{base}[0]") if base != name else None
    if array is None or element >= array.elements or array.location < 0:
        return -1
    return array.location + element * array.step


@entry
def get_program_resource_location_index(
    ctx: Context, program: int, interface: int, name: str
) -> int:
    if interface != GL.PROGRAM_OUTPUT:
        raise invalid_enum(interface, "interface with location indices")
    found = _with_location(ctx, program, interface, name)
    return found.index if found is not None else -1


@entry
def get_active_atomic_counter_bufferiv(
    ctx: Context, program: int, index: int, pname: int
) -> list[int]:
    found = ctx.programs.program(program)
    buffers = found.told.linked.atomic_buffers if found.told is not None else []
    if not 0 <= index < len(buffers):
        raise invalid_value(f"atomic counter buffer {index} is not below {len(buffers)}")
    buffer = buffers[index]
    values: dict[int, list[int]] = {
        GL.ATOMIC_COUNTER_BUFFER_BINDING: [buffer.binding],
        GL.ATOMIC_COUNTER_BUFFER_DATA_SIZE: [buffer.size],
        GL.ATOMIC_COUNTER_BUFFER_ACTIVE_ATOMIC_COUNTERS: [len(buffer.members)],
        GL.ATOMIC_COUNTER_BUFFER_ACTIVE_ATOMIC_COUNTER_INDICES: list(buffer.members),
    }
    if pname in values:
        return values[pname]
    if pname in _COUNTERS_REFERENCED:
        return [int(_COUNTERS_REFERENCED[pname] in buffer.stages)]
    raise invalid_enum(pname, "atomic counter buffer parameter")
