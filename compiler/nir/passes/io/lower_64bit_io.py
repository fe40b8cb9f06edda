"""64-bit varyings are passed as pairs of 32-bit components."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.passes.io.lower_io import slot_enum
from gallette.compiler.nir.run.pass_runner import nir_pass

_LOADS = ("load_input", "load_per_vertex_input", "load_output", "load_per_vertex_output")
_STORES = ("store_output", "store_per_vertex_output")


@nir_pass("lower_64bit_io", preserves=Metadata.CONTROL_FLOW | Metadata.KINDS)
def lower_64bit_io(shader: Shader) -> bool:
    """Between stages, a double is two 32-bit components and a `dvec4` fills two slots.

    Before: `64x3 %1 = load_input (%0) (location=VAR0)`; after: loads of `32x4` from VAR0 and `32x2`
    from VAR1, joined by `pack_64_2x32_split`. Vertex attributes stay 64 bits wide, because the
    fetch converts them. Runs on lowered I/O.
    """
    progress = False
    for impl in shader.impls():
        for instr in intrinsics_of(impl, *_LOADS, *_STORES):
            is_store = instr.dest is None
            value = instr.srcs[0].value if is_store else instr.result
            if value.bit_size != 64:
                continue
            is_input = "input" in instr.name
            if is_input and shader.stage is Stage.VERTEX:
                continue
            b = Builder(impl).at_before(instr)
            mode = Mode.SHADER_IN if is_input else Mode.SHADER_OUT
            if is_store:
                _store(b, shader.stage, instr, value)
                instr.remove()
            else:
                instr.replace_by(_load(b, shader.stage, mode, instr, value))
            progress = True
    return progress


def _slot_runs(first: int, count: int) -> list[tuple[int, int, int]]:
    """(slot, component, number of 32-bit components) that `count` of them occupy from
    `first` on.
    """
    runs = []
    while count:
        slot, component = divmod(first, 4)
        n = min(4 - component, count)
        runs.append((slot, component, n))
        first += n
        count -= n
    return runs


def _load(b: Builder, stage: Stage, mode: Mode, instr: Intrinsic, value: Def) -> Def:
    words: list[Def] = []
    for slot, component, n in _slot_runs(instr["component"], 2 * value.num_components):
        indices = dict(instr.indices)
        indices["location"] = slot_enum(stage, mode, int(instr["location"]) + slot)
        indices["base"] = instr["base"] + slot
        indices["num_slots"] = max(1, instr["num_slots"] - slot)
        indices["component"] = component
        indices["dest_type"] = "uint32"
        part = Intrinsic(instr.info, [s.value for s in instr.srcs], n, 32, indices)
        b.insert(part)
        words.extend(b.channels(part.result))
    pairs = zip(words[::2], words[1::2], strict=True)
    return b.vec([b.pack_64_2x32_split(low, high) for low, high in pairs])


def _store(b: Builder, stage: Stage, instr: Intrinsic, value: Def) -> None:
    words: list[Def] = []
    mask = 0
    for i, part in enumerate(b.channels(value)):
        words.append(b.unpack_64_2x32_split_x(part))
        words.append(b.unpack_64_2x32_split_y(part))
        if instr["write_mask"] >> i & 1:
            mask |= 3 << (2 * i)
    done = 0
    for slot, component, n in _slot_runs(instr["component"], len(words)):
        run_mask = mask >> done & ((1 << n) - 1)
        if run_mask:
            indices = dict(instr.indices)
            indices["location"] = slot_enum(stage, Mode.SHADER_OUT, int(instr["location"]) + slot)
            indices["base"] = instr["base"] + slot
            indices["num_slots"] = max(1, instr["num_slots"] - slot)
            indices["component"] = component
            indices["write_mask"] = run_mask
            indices["src_type"] = "uint32"
            srcs = [b.vec(words[done : done + n]), *[s.value for s in instr.srcs[1:]]]
            b.insert(Intrinsic(instr.info, srcs, indices=indices))
        done += n
