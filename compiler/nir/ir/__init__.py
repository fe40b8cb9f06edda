"""The classes of the IR, to be imported from here.

`shader` has shaders, functions and variables; `cf` blocks, ifs and loops; `instrs` the
instructions; `values` definitions and uses. The tables are in `opcodes` and `intrinsics`.
"""

from gallette.compiler.nir.ir.cf import (
    Block,
    Body,
    If,
    Loop,
    Node,
    blocks_in,
    enclosing_loop,
    events,
    impl_of,
    next_block,
    next_node,
    prev_block,
    successors_of,
    walk,
)
from gallette.compiler.nir.ir.cf_editing import drop_body, insert_node_at, merge_blocks, split_block
from gallette.compiler.nir.ir.cloning import clone_shader, mutable
from gallette.compiler.nir.ir.info import ShaderInfo
from gallette.compiler.nir.ir.instrs import (
    IDENTITY,
    Alu,
    Call,
    Deref,
    Instr,
    Intrinsic,
    Jump,
    LoadConst,
    Phi,
    Tex,
    Undef,
)
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import TEMPORARIES, Access, Mode, Stage
from gallette.compiler.nir.ir.shader import Function, FunctionImpl, Shader
from gallette.compiler.nir.ir.texops import TEX_OPS, TEX_SRCS
from gallette.compiler.nir.ir.values import Def, PhiSrc, Src
from gallette.compiler.nir.ir.variables import Parameter, Variable

__all__ = [
    "IDENTITY",
    "TEMPORARIES",
    "TEX_OPS",
    "TEX_SRCS",
    "Access",
    "Alu",
    "Block",
    "Body",
    "Call",
    "Def",
    "Deref",
    "Function",
    "FunctionImpl",
    "If",
    "Instr",
    "Intrinsic",
    "Jump",
    "LoadConst",
    "Loop",
    "Metadata",
    "Mode",
    "Node",
    "Parameter",
    "Phi",
    "PhiSrc",
    "Shader",
    "ShaderInfo",
    "Src",
    "Stage",
    "Tex",
    "Undef",
    "Variable",
    "blocks_in",
    "clone_shader",
    "drop_body",
    "enclosing_loop",
    "events",
    "impl_of",
    "insert_node_at",
    "merge_blocks",
    "mutable",
    "next_block",
    "next_node",
    "prev_block",
    "split_block",
    "successors_of",
    "walk",
]
