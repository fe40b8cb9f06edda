"""Global and scratch memory, for drivers that have only buffers and workgroup memory.

A global address consists of the number of a shader buffer plus one in the upper half (so that null
is invalid) and a byte offset in the lower half. Scratch memory follows the workgroup's shared
memory, with a slice per invocation.
"""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

_GLOBAL = ("load_global", "store_global", "global_atomic", "global_atomic_swap")
_SCRATCH = ("load_scratch", "store_scratch")


@nir_pass("lower_global_to_ssbo", preserves=Metadata.CONTROL_FLOW)
def lower_global_to_ssbo(shader: Shader) -> bool:
    """`load_global(a)` becomes `load_ssbo(high(a) - 1, low(a))`, scratch a slice of shared memory.

    Before: `%2 = load_global(%1)`; after: `%2 = load_ssbo(%b, %o)`.
    """
    progress = False
    for impl in shader.impls():
        for instr in intrinsics_of(impl, *_GLOBAL):
            b = Builder(impl).at_before(instr)
            at = instr.info.src_index("address")
            srcs = [s.value for s in instr.srcs]
            srcs[at : at + 1] = _page(b, srcs[at])
            name = instr.name.replace("global", "ssbo")
            _replace(b, instr, name, srcs)
            progress = True
        for instr in intrinsics_of(impl, *_SCRATCH):
            b = Builder(impl).at_before(instr)
            at = instr.info.src_index("offset")
            srcs = [s.value for s in instr.srcs]
            srcs[at] = _slice(b, shader, srcs[at])
            _replace(b, instr, instr.name.replace("scratch", "shared"), srcs)
            progress = True
    if shader.info.scratch_bytes and progress:
        x, y, z = shader.info.workgroup_size
        shader.info.shared_bytes = _start(shader) + shader.info.scratch_bytes * x * y * z
        shader.info.scratch_bytes = 0
    return progress


def _page(b: Builder, address: Def) -> list[Def]:
    low = b.u2u32(address)
    high = b.u2u32(b.ushr(address, b.imm_int(32)))
    # An offset beyond 2 GiB would be negative, but no buffer is that large.
    return [b.isub(high, b.imm_int(1)), low]


def _start(shader: Shader) -> int:
    return (shader.info.shared_bytes + 15) // 16 * 16


def _slice(b: Builder, shader: Shader, offset: Def) -> Def:
    size = shader.info.scratch_bytes
    lane = b.intrinsic("load_local_invocation_index")
    inside = b.ult(offset, b.imm_int(size))
    place = b.iadd(b.imul(lane, b.imm_int(size)), b.iadd(offset, b.imm_int(_start(shader))))
    return b.bcsel(inside, place, b.imm_int(-4))


def _replace(b: Builder, instr: Intrinsic, name: str, srcs: list[Def]) -> None:
    indices = {k: v for k, v in instr.indices.items() if k in INTRINSICS[name].indices}
    n = instr.dest.num_components if instr.dest is not None else 0
    bits = instr.dest.bit_size if instr.dest is not None else 32
    new = Intrinsic(name, srcs, n, bits, indices)
    b.insert(new)
    if instr.dest is not None:
        instr.replace_by(new.result)
    else:
        instr.remove()
