"""Transform feedback: what the application or layouts capture."""

from __future__ import annotations

from itertools import product

from gallette.compiler.glsl.link.stage_interface import InterfaceVariable
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables
from gallette.compiler.link.feedback import Capture, declared_feedback, named_feedback
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.link.resources import dims_of
from gallette.compiler.nir.ir.layout import align
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.link.feedback import (
    StreamOutput,
    Target,
    captured,
    targets,
)


def _labels(variable: InterfaceVariable) -> tuple[list[str], int]:
    """The names of an output: `v`, `Block.member`, or for an array of blocks `Block[0].member` and
    so on; and how many of its type's dimensions are in those names."""
    block = variable.block
    if block is None or block.instance is None or not block.instance.type.is_array:
        return [variable.label], 0
    dims = dims_of(block.instance.type)
    name, _, member = variable.label.partition(".")
    places = product(*map(range, dims))
    return [f"{name}{''.join(f'[{i}]' for i in place)}.{member}" for place in places], len(dims)


def _all_targets(
    unit: StageUnit, outputs: list[InterfaceVariable], variables: StageVariables
) -> dict[str, Target]:
    found: dict[str, Target] = {}
    for variable in outputs:
        if variable.location >= 0:
            labels, depth = _labels(variable)
            type_ = variable.type
            for _ in range(depth):
                assert type_.element is not None
                type_ = type_.element
            slot = VaryingSlot.VAR0 + variable.location
            stream = variable.var.stream
            packed = variable.var.packed
            roots = [(label, type_) for label in labels]
            found.update(targets(roots, slot, variable.var.component, packed, stream))
    for name, var in unit.builtins.items():
        nir = variables.variables.get(var)
        if nir is not None and var.quals.storage == "out":
            found.update(targets([(name, var.type)], nir.location, 0, nir.packed, 0))
    return found


def link_feedback(
    unit: StageUnit,
    outputs: list[InterfaceVariable],
    variables: StageVariables,
    options: LinkOptions,
    log: LinkLog,
) -> StreamOutput | None:
    """Resolve names (or xfb_offset layouts) to slots, with every rule about limits."""
    found = _all_targets(unit, outputs, variables)
    explicit = _explicit(unit, outputs, found, options.limits, log)
    if explicit is not None:
        return explicit
    return named_feedback(found, unit.name, options, log)


def _explicit(
    unit: StageUnit,
    outputs: list[InterfaceVariable],
    found: dict[str, Target],
    limits: Limits,
    log: LinkLog,
) -> StreamOutput | None:
    """Capture as declared by xfb_offset in the shader: the blocks of an array go to buffers one
    after the other."""
    default_buffer = unit.layout.get("default_xfb_buffer", 0)
    wanted: list[tuple[str, int, int]] = []
    for variable in outputs:
        layout = variable.quals.layout
        block_layout = variable.block.quals.layout if variable.block is not None else {}
        buffer = layout.get("xfb_buffer", block_layout.get("xfb_buffer", 0))
        if "xfb_offset" in layout:
            offset = layout["xfb_offset"]
            wanted += [(name, buffer + i, offset) for i, name in enumerate(_labels(variable)[0])]
    for variable_block in {id(p.block): p.block for p in outputs if p.block is not None}.values():
        if "xfb_offset" not in variable_block.quals.layout:
            continue
        buffer = variable_block.quals.layout.get("xfb_buffer", 0)
        offset = variable_block.quals.layout["xfb_offset"]
        for variable in outputs:
            if variable.block is not variable_block:
                continue
            if "xfb_offset" in variable.quals.layout:
                offset = variable.quals.layout["xfb_offset"]
            else:
                wide = any(leaf.bit_size == 64 for leaf in variable.type.leaves())
                offset = align(offset, 8 if wide else 4)
                wanted += [
                    (name, buffer + i, offset) for i, name in enumerate(_labels(variable)[0])
                ]
            label = _labels(variable)[0][0]
            offset += sum(4 * whole.num_components for whole, _ in captured(label, found, 0, 0))
    for name, var in unit.builtins.items():
        if "xfb_offset" in var.quals.layout and var.quals.storage == "out":
            buffer = var.quals.layout.get("xfb_buffer", default_buffer)
            wanted.append((name, buffer, var.quals.layout["xfb_offset"]))
    strides = unit.layout.get("xfb_strides", {})
    return declared_feedback(
        (Capture(n, found, b, at) for n, b, at in wanted), strides, limits, log
    )
