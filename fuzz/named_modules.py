"""SPIR-V modules for `spirv_names`: each gives a result in which all that has a name takes part.

They have local arrays indexed at run time, structures, functions with parameters, uniforms, blocks,
samplers, varyings and memory of a workgroup: whatever a code generator may call by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import Module, read_module

__all__ = ["PROGRAMS", "Program"]

_TYPES = """
%void = OpTypeVoid
%begun = OpTypeFunction %void
%bool = OpTypeBool
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%vec2 = OpTypeVector %float 2
%vec4 = OpTypeVector %float 4
%uvec3 = OpTypeVector %uint 3
%i0 = OpConstant %int 0
%i1 = OpConstant %int 1
%i2 = OpConstant %int 2
%i3 = OpConstant %int 3
%u3 = OpConstant %uint 3
%u4 = OpConstant %uint 4
%u8 = OpConstant %uint 8
%f1 = OpConstant %float 1
%f2 = OpConstant %float 0.5
%f3 = OpConstant %float 0.25
%list = OpTypeArray %float %u4
%part = OpTypeStruct %list %float
%to_float = OpTypePointer Function %float
%to_list = OpTypePointer Function %list
%to_part = OpTypePointer Function %part
%picks = OpTypeFunction %float %to_list %int
"""

_PICK = """
%pick = OpFunction %float None %picks
%given = OpFunctionParameter %to_list
%index = OpFunctionParameter %int
%picking = OpLabel
%picked_at = OpAccessChain %to_float %given %index
%picked = OpLoad %float %picked_at
%more = OpFAdd %float %picked %f2
OpStore %picked_at %more
%again = OpLoad %float %picked_at
OpReturnValue %again
OpFunctionEnd
"""

_FILLED = """
%values = OpVariable %to_list Function
%both = OpVariable %to_part Function
%at0 = OpAccessChain %to_float %values %i0
%at1 = OpAccessChain %to_float %values %i1
%at2 = OpAccessChain %to_float %values %i2
%at3 = OpAccessChain %to_float %values %i3
OpStore %at0 %f1
OpStore %at1 %f2
OpStore %at2 %f3
OpStore %at3 %f2
%whole = OpLoad %list %values
%own = OpAccessChain %to_list %both %i0
OpStore %own %whole
"""

_COMPUTE = f"""
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %lane
OpExecutionMode %main LocalSize 8 1 1
OpDecorate %lane BuiltIn LocalInvocationId
OpDecorate %words ArrayStride 4
OpMemberDecorate %Store 0 Offset 0
OpDecorate %Store BufferBlock
OpDecorate %store Binding 0
OpDecorate %rows ArrayStride 16
OpMemberDecorate %Block 0 Offset 0
OpDecorate %Block Block
OpDecorate %block Binding 0
{_TYPES}
%u2 = OpConstant %uint 2
%fence = OpConstant %uint 264
%words = OpTypeRuntimeArray %uint
%Store = OpTypeStruct %words
%to_store = OpTypePointer Uniform %Store
%to_word = OpTypePointer Uniform %uint
%rows = OpTypeArray %vec4 %u4
%Block = OpTypeStruct %rows
%to_block = OpTypePointer Uniform %Block
%to_row = OpTypePointer Uniform %float
%shared_floats = OpTypeArray %float %u8
%to_group = OpTypePointer Workgroup %shared_floats
%to_shared = OpTypePointer Workgroup %float
%to_lane = OpTypePointer Input %uvec3
%lane = OpVariable %to_lane Input
%store = OpVariable %to_store Uniform
%block = OpVariable %to_block Uniform
%group = OpVariable %to_group Workgroup
{_PICK}
%main = OpFunction %void None %begun
%start = OpLabel
{_FILLED}
%lanes = OpLoad %uvec3 %lane
%me = OpCompositeExtract %uint %lanes 0
%read_at = OpAccessChain %to_word %store %i0 %me
%given_word = OpLoad %uint %read_at
%which = OpBitwiseAnd %uint %given_word %u3
%signed = OpBitcast %int %which
%row_at = OpAccessChain %to_row %block %i0 %which %i1
%row = OpLoad %float %row_at
%moved_at = OpAccessChain %to_float %values %which
OpStore %moved_at %row
%in_struct = OpAccessChain %to_float %both %i0 %which
%inner = OpLoad %float %in_struct
%outer_at = OpAccessChain %to_float %both %i1
OpStore %outer_at %inner
%found = OpFunctionCall %float %pick %values %signed
%outer = OpLoad %float %outer_at
%sum = OpFAdd %float %found %outer
%mine = OpAccessChain %to_shared %group %me
OpStore %mine %sum
OpControlBarrier %u2 %u2 %fence
%neighbour = OpBitwiseAnd %uint %given_word %u3
%theirs = OpAccessChain %to_shared %group %neighbour
%shared_value = OpLoad %float %theirs
%result = OpFAdd %float %sum %shared_value
%bits = OpBitcast %uint %result
%behind = OpIAdd %uint %me %u8
%write_at = OpAccessChain %to_word %store %i0 %behind
OpStore %write_at %bits
OpReturn
OpFunctionEnd
"""

_VERTEX = f"""
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %position %corner %passed
OpDecorate %position BuiltIn Position
OpDecorate %corner Location 0
OpDecorate %passed Location 1
{_TYPES}
%to_output = OpTypePointer Output %vec4
%to_input = OpTypePointer Input %vec4
%varyings = OpTypeArray %vec4 %u3
%to_varyings = OpTypePointer Output %varyings
%position = OpVariable %to_output Output
%corner = OpVariable %to_input Input
%passed = OpVariable %to_varyings Output
{_PICK}
%main = OpFunction %void None %begun
%start = OpLabel
{_FILLED}
%place = OpLoad %vec4 %corner
OpStore %position %place
%x = OpCompositeExtract %float %place 0
%scaled = OpFMul %float %x %f2
%rounded = OpConvertFToS %int %scaled
%which = OpBitwiseAnd %int %rounded %i3
%found = OpFunctionCall %float %pick %values %which
%in_struct = OpAccessChain %to_float %both %i0 %which
%inner = OpLoad %float %in_struct
%colour = OpCompositeConstruct %vec4 %found %inner %f2 %f1
%first = OpAccessChain %to_output %passed %i0
%second = OpAccessChain %to_output %passed %i1
%third = OpAccessChain %to_output %passed %i2
OpStore %first %colour
OpStore %second %place
OpStore %third %colour
OpReturn
OpFunctionEnd
"""

_FRAGMENT = f"""
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %passed %colour %spot
OpExecutionMode %main OriginLowerLeft
OpDecorate %spot BuiltIn FragCoord
OpDecorate %passed Location 1
OpDecorate %colour Location 0
OpDecorate %tints Location 4
OpDecorate %light Location 10
OpDecorate %picture Location 20
OpDecorate %picture Binding 0
{_TYPES}
%to_output = OpTypePointer Output %vec4
%to_input = OpTypePointer Input %vec4
%varyings = OpTypeArray %vec4 %u3
%to_varyings = OpTypePointer Input %varyings
%tint_list = OpTypeArray %vec4 %u4
%to_tints = OpTypePointer UniformConstant %tint_list
%to_tint = OpTypePointer UniformConstant %vec4
%lamp = OpTypeStruct %vec4 %float
%to_lamp = OpTypePointer UniformConstant %lamp
%to_strength = OpTypePointer UniformConstant %float
%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%sampled = OpTypeSampledImage %image
%to_sampled = OpTypePointer UniformConstant %sampled
%passed = OpVariable %to_varyings Input
%spot = OpVariable %to_input Input
%colour = OpVariable %to_output Output
%tints = OpVariable %to_tints UniformConstant
%light = OpVariable %to_lamp UniformConstant
%picture = OpVariable %to_sampled UniformConstant
{_PICK}
%main = OpFunction %void None %begun
%start = OpLabel
{_FILLED}
%fragment = OpLoad %vec4 %spot
%x = OpCompositeExtract %float %fragment 0
%column = OpConvertFToS %int %x
%which = OpBitwiseAnd %int %column %i3
%found = OpFunctionCall %float %pick %values %which
%in_struct = OpAccessChain %to_float %both %i0 %which
%inner = OpLoad %float %in_struct
%tint_at = OpAccessChain %to_tint %tints %which
%tint = OpLoad %vec4 %tint_at
%strength_at = OpAccessChain %to_strength %light %i1
%strength = OpLoad %float %strength_at
%varying_at = OpAccessChain %to_input %passed %i2
%varying = OpLoad %vec4 %varying_at
%unit = OpLoad %sampled %picture
%where = OpVectorShuffle %vec2 %varying %varying 0 1
%texel = OpImageSampleImplicitLod %vec4 %unit %where
%share = OpFMul %float %found %inner
%dimmed = OpFMul %float %share %strength
%scaled = OpVectorTimesScalar %vec4 %tint %dimmed
%lit = OpFAdd %vec4 %scaled %texel
%halved = OpVectorTimesScalar %vec4 %lit %f2
%end = OpFAdd %vec4 %halved %varying
%mixed = OpVectorTimesScalar %vec4 %end %f2
OpStore %colour %mixed
OpReturn
OpFunctionEnd
"""


@dataclass(frozen=True)
class Program:
    """The modules of a program, by stage."""

    stages: Mapping[str, Module]

    @classmethod
    def of(cls, **texts: str) -> Program:
        """From assembly: `vertex`, `fragment` or `compute`."""
        return cls({s: read_module(assemble(text).to_bytes()) for s, text in texts.items()})


PROGRAMS = (Program.of(compute=_COMPUTE), Program.of(vertex=_VERTEX, fragment=_FRAGMENT))
