"""Uniforms whose value is known become constants."""

from __future__ import annotations

import struct

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import const_int, intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("inline_uniforms", preserves=Metadata.CONTROL_FLOW)
def inline_uniforms(
    shader: Shader, *, values: tuple[tuple[int, int], ...] = (), data: bytes = b""
) -> bool:
    """Replace 32-bit loads from the default block by constants.

    `values` lists (byte offset, raw bits) pairs; `data` instead gives the whole block. A load is
    replaced if all its components are known. This changes use counts, like every variant does.
    """
    known = dict(values)
    for offset in range(0, len(data) - 3, 4):
        known[offset] = struct.unpack_from("<I", data, offset)[0]
    progress = False
    for impl in shader.impls():
        for load in intrinsics_of(impl, "load_ubo"):
            offset_value = const_int(load.srcs[1].value)
            if const_int(load.srcs[0].value) != 0 or offset_value is None:
                continue
            dest = load.result
            places = [offset_value + 4 * i for i in range(dest.num_components)]
            if dest.bit_size != 32 or any(p not in known for p in places):
                continue
            b = Builder(impl).at_before(load)
            load.replace_by(b.const([known[p] for p in places], 32))
            progress = True
    return progress
