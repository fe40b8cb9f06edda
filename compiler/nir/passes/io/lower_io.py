"""Accesses to variables become accesses to slots, memory and units."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.io import memory, slots, units
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import accesses_of, textures_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

_MODES = (
    Mode.SHADER_IN
    | Mode.SHADER_OUT
    | Mode.SYSTEM_VALUE
    | Mode.UNIFORM
    | Mode.UBO
    | Mode.SSBO
    | Mode.SHARED
)


@nir_pass("lower_io", preserves=Metadata.CONTROL_FLOW | Metadata.KINDS)
def lower_io(shader: Shader, *, modes: int = int(_MODES)) -> bool:
    """Loads, stores and lookups name slots, offsets and units instead of variables of `modes`.

        32x4 %1 = @load_deref (%0)      ->
        32x4 %1 = @load_input (%2) (location=VERT.GENERIC0)         (an input; `nir.io.slots`)
        32x4 %1 = @load_ubo (%2, %3)                        (a uniform; `nir.io.memory`)
        32 %1 = @load_vertex_id ()                                      (a system value)
        32x4 %2 = tex 2D (coord=%1, texture_deref=%0)   ->
        32x4 %2 = tex 2D (coord=%1) (texture=3)                         (`nir.io.units`)

    Variables without a place (a location, an offset) stay as they are. Vectors must be accessed as
    a whole (`lower_array_deref_of_vec`) and packed varyings at constant indices
    (`lower_indirect_derefs`).
    """
    slots.assign_bases(shader, modes)
    progress = bool(modes & Mode.SHARED) and memory.place_shared(shader)
    for impl in shader.impls():
        accesses = accesses_of(impl, modes)
        if accesses:
            b = Builder(impl).sharing_constants(forward=True)
            for access, deref in accesses:
                var = deref.root_var
                if var is None:  # a pointer
                    continue
                lower = _LOWERINGS.get((access.info.name, var.mode))
                if lower is not None and lower(b.at_before(access), access, deref, var):
                    remove_dead_deref(deref)
                    progress = True
        if modes & _UNIFORM:
            for tex in textures_of(impl):
                progress |= units.lower_texture(Builder(impl), tex)
    return progress


_Lowering: TypeAlias = Callable[[Builder, Intrinsic, Deref, Variable], bool]
"""Replaces an access to a variable; returns False if the variable has no place."""
_UNIFORM = int(Mode.UNIFORM)
_MEMORY = (Mode.UBO, Mode.SSBO, Mode.SHARED)


def _rows(lower: _Lowering, names: str, *modes: Mode) -> dict[tuple[str, int], _Lowering]:
    return {(name, int(mode)): lower for name in names.split() for mode in modes}


_LOWERINGS: dict[tuple[str, int], _Lowering] = {
    **_rows(slots.load, " ".join(slots.READS), Mode.SHADER_IN, Mode.SHADER_OUT),
    **_rows(slots.store, "store_deref", Mode.SHADER_IN, Mode.SHADER_OUT),
    **_rows(slots.load_system_value, "load_deref", Mode.SYSTEM_VALUE),
    **_rows(memory.load, "load_deref", Mode.UNIFORM, *_MEMORY),
    **_rows(memory.store, "store_deref", *_MEMORY),
    **_rows(memory.atomic, "deref_atomic deref_atomic_swap", *_MEMORY),
    **_rows(memory.array_length, "deref_buffer_array_length", *_MEMORY),
    **_rows(units.lower_image, " ".join(units.IMAGES), Mode.UNIFORM),
    **_rows(units.lower_counter, " ".join(units.COUNTERS), Mode.UNIFORM),
}
"""By the name of the intrinsic and the mode of the variable."""
