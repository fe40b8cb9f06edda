"""The lesson: one kernel under each address format."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import If, walk
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import PassSpec, run_passes
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.read.translate import spirv_to_nir

_HEAD = """
OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability GenericPointer
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k"
OpName %items "items"
OpName %scratch "scratch"
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%float = OpTypeFloat 32
%item = OpTypeStruct %float %float
%gitem = OpTypePointer CrossWorkgroup %item
%litem = OpTypePointer Workgroup %item
%item_g = OpTypePointer Generic %item
%float_g = OpTypePointer Generic %float
%gfloat = OpTypePointer CrossWorkgroup %float
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%long1 = OpConstant %ulong 1
%two = OpConstant %float 2
%type = OpTypeFunction %void %gitem %litem %uint
%k = OpFunction %void None %type
%items = OpFunctionParameter %gitem
%scratch = OpFunctionParameter %litem
%n = OpFunctionParameter %uint
%start = OpLabel
%at = OpUConvert %ulong %n
"""
_TAIL = """
OpReturn
OpFunctionEnd
"""
# items[n].b += items[n].a, then items[n].a again: the store to b does not touch a.
PLAIN = f"""{_HEAD}
%p = OpInBoundsPtrAccessChain %gfloat %items %at %zero
%q = OpInBoundsPtrAccessChain %gfloat %items %at %one
%a = OpLoad %float %p
%b = OpLoad %float %q
%s = OpFAdd %float %a %b
OpStore %q %s
%again = OpLoad %float %p
%t = OpFMul %float %again %two
OpStore %p %t
{_TAIL}"""
# The pointer is chosen at run time: n even, global; odd, the workgroup's memory.
GENERIC = f"""{_HEAD}
%g = OpPtrCastToGeneric %item_g %items
%l = OpPtrCastToGeneric %item_g %scratch
%bit = OpBitwiseAnd %uint %n %one
%odd = OpIEqual %bool %bit %one
%which = OpSelect %item_g %odd %l %g
%p = OpInBoundsPtrAccessChain %float_g %which %long1 %zero
%a = OpLoad %float %p
%t = OpFMul %float %a %two
OpStore %p %t
{_TAIL}"""
# Like the kernel before, but both branches yield pointers to global memory.
PROVEN = GENERIC.replace(
    "%which = OpSelect %item_g %odd %l %g", "%which = OpSelect %item_g %odd %g %g"
)
TABLES: dict[str, str] = {
    "offset32": "global=offset32",
    "index_offset32": "global=index_offset32 shared=index_offset32 generic=fat",
    "global64": "",
    "bounded64": "global=bounded64",
    "generic62": "global=generic62 shared=generic62 function_temp=generic62",
    "fat": "global=fat shared=fat function_temp=fat generic=fat",
}
_FRONT: tuple[PassSpec, ...] = (
    *("lower_vars_to_ssa", "opt_deref", "copy_prop", "algebraic", "copy_prop", "opt_deref"),
    *("cse", "dce"),
)
_MEMORY: tuple[PassSpec, ...] = ("opt_copy_prop_vars", "opt_dead_write_vars", "copy_prop", "dce")


def front_form(text: str) -> Shader:
    """The kernel with its accesses still derefs."""
    shader = spirv_to_nir(assemble(text), Stage.KERNEL)
    shader.stage = Stage.COMPUTE
    shader.info.workgroup_size = (16, 1, 1)
    run_passes(shader, _FRONT)
    return shader


def lowered(text: str, formats: str, derefs: bool = True) -> Shader:
    """The kernel with addresses; with `derefs`, memory was optimised before that, else after."""
    shader = front_form(text)
    passes: list[PassSpec] = [("lower_explicit_io", {"formats": formats}), "lower_global_to_ssbo"]
    run_passes(shader, [*_MEMORY, *passes] if derefs else [*passes, *_MEMORY])
    optimize(shader)
    return shader


def counts(shader: Shader) -> dict[str, int]:
    """Instructions, loads, stores and branches."""
    names = [
        instr.name
        for block in shader.entry.blocks()
        for instr in block.instrs()
        if isinstance(instr, Intrinsic)
    ]
    return {
        "instructions": shader.count_instrs(),
        "loads": sum(n in ("load_ssbo", "load_shared") for n in names),
        "stores": sum(n in ("store_ssbo", "store_shared") for n in names),
        "branches": sum(isinstance(node, If) for node in walk(shader.entry.body)),
    }
