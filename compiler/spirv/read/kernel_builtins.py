"""Built-ins of kernels that are computed from others."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.module import SpirvError
from gallette.compiler.spirv.read.model import SpvType
from gallette.compiler.spirv.read.pointers import Builtin, Place, Value


def _size(b: Builder) -> Def:
    return b.intrinsic("load_workgroup_size")


def _global_size(b: Builder) -> Def:
    return b.imul(b.intrinsic("load_num_workgroups"), _size(b))


def _linear(b: Builder) -> Def:
    at, size = b.intrinsic("load_global_invocation_id"), _global_size(b)
    x, y, z = b.channels(at)
    width, height, _ = b.channels(size)
    return b.iadd(x, b.imul(width, b.iadd(y, b.imul(height, z))))


def kernel_builtin(name: str, type: SpvType) -> Place:
    """The place of a kernel's built-in."""

    def read(b: Builder) -> Value:
        if name in ("WorkgroupSize", "EnqueuedWorkgroupSize"):
            value = _size(b)
        elif name == "GlobalSize":
            value = _global_size(b)
        elif name == "GlobalLinearId":
            value = _linear(b)
        elif name == "GlobalOffset":
            value = b.imm_ivec(0, 0, 0)
        elif name == "SubgroupMaxSize":
            value = b.intrinsic("load_subgroup_size")
        elif name == "NumEnqueuedSubgroups":
            value = b.intrinsic("load_num_subgroups")
        elif name == "WorkDim":
            value = b.imm_int(3)
        else:
            raise SpirvError(f"built-in {name} is not supported here")
        value = b.trim(value, type.nir.components)
        return b.u2u64(value) if type.nir.bit_size == 64 else value

    return Builtin(type, read)
