"""Which GL functions are compiled into display lists, and the size of the data that they read.

A list holds copies: data behind a pointer is read when the command is compiled. All functions not
in `_COMPILED` are executed immediately, also while a list is being compiled (section 21.4 of the
specification lists those). Names are patterns over C names without `gl` and vendor suffixes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function, Kind
from gallette.state_tracker.entry_points.memory import dtype_of
from gallette.state_tracker.optional.compatibility.direct_access.ordinary_forms import ordinary_form

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_COMPILED = r"""
Accum ActiveTexture AlphaFunc Begin(ConditionalRender|Query(Indexed)?|TransformFeedback)?
Bind(FragmentShader|Texture(Unit)?|Sampler|Program|MultiTexture) Bitmap Blend(Color|Equation|Func).*
BlitFramebuffer CallLists? Clear(Accum|Color(Ii|Iui)?|Depthf?|Index|Stencil|Buffer(fv|iv|uiv|fi))?
ClampColor ClipPlane Color[34].* ColorP[34]uiv? ColorMask(i|Indexed)? ColorMaterial
CompressedTex(Sub)?Image[123]D CopyPixels CopyTex(Sub)?Image[123]D CullFace CullParameter[df]v
DepthBounds DepthFunc DepthMask DepthRangef? DepthRange(Arrayv|Indexed) (En|Dis)able(i|Indexed)?
DispatchCompute(Indirect|GroupSize)? DrawArrays(Instanced(BaseInstance)?|Indirect)? DrawBuffers?
Draw(Range)?Elements(Instanced)?(BaseVertex)?(BaseInstance)? DrawElementsIndirect DrawPixels
DrawTransformFeedback.* EdgeFlagv? End(ConditionalRender|Query(Indexed)?|TransformFeedback)?
EvalCoord[12].* EvalMesh[12] EvalPoint[12] Fog(Coord)?[fdih]v? FrontFace Frustum Hint
Index([dfis]|ub)v? IndexMask InitNames Light(Model)?[fi]v? LineStipple LineWidth ListBase
LoadIdentity Load(Transpose)?Matrix[fd] LoadName LogicOp Map[12][fd] MapGrid[12][fd] Material[fi]v?
MatrixMode MemoryBarrier(ByRegion)? MinSampleShading Mult(Transpose)?Matrix[fd] MultiDrawArrays
MultiDrawElements(BaseVertex)? MultiTexCoord[1-4][sifdh]v? MultiTexCoordP[1-4]uiv? Normal3.*
NormalP3uiv? Ortho PassThrough PatchParameter(i|fv) PauseTransformFeedback PixelMap(f|ui|us)v
PixelTransfer[fi] PixelZoom PointParameter[fi]v? PointSize PolygonMode PolygonOffset(Clamp)?
PolygonStipple (Push|Pop)(Attrib|Matrix|Name) PrimitiveRestart PrioritizeTextures
Program(Env|Local)Parameters?4[fd]?v? ProgramUniform[1-4](f|i|ui|d|u?i64)v?
ProgramUniformMatrix[2-4](x[2-4])?[fd]v ProvokingVertex QueryCounter RasterPos[234].* ReadBuffer
Rect[sifd]v? ResumeTransformFeedback Rotate[fd] SampleCoverage SampleMaski SampleMap PassTexCoord
(Color|Alpha)FragmentOp[123] SetFragmentShaderConstant (Begin|End)FragmentShader Scale[fd]
Scissor(Arrayv|Indexedv?)? SecondaryColor3.* SecondaryColorP3uiv? ShadeModel
Stencil(Func|Mask|Op)(Separate)? ActiveStencilFace TexBuffer TexCoord[1-4][sifdh]v?
ArrayElement
TexCoordP[1-4]uiv? TexEnv[fi]v? TexGen[fdi]v? Tex(Sub)?Image[123]D TexParameter(I(i|ui)|[fi])v?
Translate[fd] Uniform[1-4](f|i|ui|d)v? Uniform[1-4](u?i64)v? UniformMatrix[2-4](x[2-4])?[fd]v
UniformBlockBinding UniformSubroutinesuiv
UseProgram(Object|Stages)? Vertex[234][sifdh]v? VertexP[234]uiv?
VertexAttrib(I|L)?[1-4](N?(b|s|i|ub|us|ui)|[fdh]|ui64)v? VertexAttribs[1-4]hv
VertexAttribP[1-4]uiv? VertexAttrib4N.*
Viewport(Arrayv|Indexedfv?)? WindowPos[234].* WindowRectangles TextureBarrier
"""
_PATTERN = "|".join(f"(?:{p})" for p in _COMPILED.split())  # slow to compile, for a first picture

# Functions allowed between glBegin and glEnd that change only vertices and their attributes.
VERTEX_DATA = re.compile(
    r"(Vertex|Color|Normal|TexCoord|MultiTexCoord|SecondaryColor)P?[1-4].*|FogCoord[fdh]v?|EdgeFlagv?"
    r"|VertexAttribs?(I|L)?P?[1-4].*|Index([dfis]|ub)v?"
)
_FORBIDDEN = re.compile(
    r"Draw(Arrays|Elements)Instanced(BaseVertex)?(BaseInstance)?"
    r"|DispatchComputeIndirect|Draw(Arrays|Elements)Indirect"
)
IMAGES = re.compile(r"Tex(Sub)?Image[123]D|DrawPixels|Bitmap|PolygonStipple|"
                    r"CompressedTex(Sub)?Image[123]D")  # fmt: skip

# Objects named by EXT_direct_state_access whose changes are not compiled into lists.
_NOT_RECORDED = frozenset(("buffer", "buffers", "array", "framebuffer", "bound framebuffer"))


@cache
def _plain_name(name: str) -> str:
    twin = ordinary_form(name)
    if twin is not None and twin[1] not in _NOT_RECORDED:
        name = twin[0]
    return re.sub(r"(ARB|EXT|NV|ATI|AMD|OES|MESA|APPLE)$", "", name)


@cache
def is_compiled(name: str) -> bool:
    """Whether the function of that C name is compiled into display lists."""
    return re.fullmatch(_PATTERN, _plain_name(name)) is not None


@cache
def is_forbidden(name: str) -> bool:
    """Whether calling the function while a list is compiled is an error."""
    return _FORBIDDEN.fullmatch(_plain_name(name)) is not None


@cache
def is_vertex_data(name: str) -> bool:
    return VERTEX_DATA.fullmatch(_plain_name(name)) is not None


def is_image(name: str) -> bool:
    return IMAGES.fullmatch(_plain_name(name)) is not None


# -- sizes of pointer arguments --------------------------------------------------------------------

Count = Callable[["Context", dict[str, Any]], int]
_FOUR: frozenset[int] = frozenset(
    (
        GL.AMBIENT, GL.DIFFUSE, GL.SPECULAR, GL.EMISSION, GL.AMBIENT_AND_DIFFUSE, GL.POSITION,
        GL.FOG_COLOR, GL.LIGHT_MODEL_AMBIENT, GL.TEXTURE_ENV_COLOR, GL.OBJECT_PLANE, GL.EYE_PLANE,
        GL.TEXTURE_BORDER_COLOR, GL.TEXTURE_SWIZZLE_RGBA,
    )
)  # fmt: skip
_THREE: frozenset[int] = frozenset(
    (GL.SPOT_DIRECTION, GL.COLOR_INDEXES, GL.POINT_DISTANCE_ATTENUATION)
)
LIST_TYPES: dict[int, int] = {
    GL.BYTE: 1, GL.UNSIGNED_BYTE: 1, GL.SHORT: 2, GL.UNSIGNED_SHORT: 2, GL.INT: 4,
    GL.UNSIGNED_INT: 4, GL.FLOAT: 4, GL._2_BYTES: 2, GL._3_BYTES: 3, GL._4_BYTES: 4,
}  # fmt: skip


def _by_pname(ctx: Context, args: dict[str, Any]) -> int:
    pname = args["pname"]
    return 4 if pname in _FOUR else 3 if pname in _THREE else 1


def _argument(name: str, factor: int = 1) -> Count:
    return lambda ctx, args: max(int(args[name]), 0) * factor


_VECTOR = r".*?(\d)N?(?:b|s|i|f|d|h|ub|us|ui|u?i64)v"
_COUNTS: list[tuple[str, Count]] = [
    (r"(?:Program)?UniformMatrix(\d)[fd]v", lambda c, a: a["count"] * a["_m"] ** 2),
    (r"(?:Program)?UniformMatrix(\d)x(\d)[fd]v", lambda c, a: a["count"] * a["_m"] * a["_n"]),
    (r"(?:Program)?Uniform(\d).*v", lambda c, a: a["count"] * a["_m"]),
    (r"UniformSubroutinesuiv", _argument("count")),
    (r"(?:Load|Mult).*Matrix[fd]", lambda c, a: 16),
    (r".*P[1-4]uiv", lambda c, a: 1),
    (r"Program(?:Env|Local)Parameters4fv", _argument("count", 4)),
    (r"Program(?:Env|Local)Parameter4[fd]v", lambda c, a: 4),
    (r"Rect.v", lambda c, a: 2),
    (r"(?:Light|LightModel|Material|Fog|TexEnv|TexGen|TexParameter|TexParameterI|PointParameter)"
     r"(?:f|i|d|ui)v", _by_pname),
    (r"FogCoord.v|Index.*v|EdgeFlagv", lambda c, a: 1),
    (r"ClearBuffer.*v", lambda c, a: 4 if a["buffer"] == GL.COLOR else 1),
    (r"ClipPlane|SetFragmentShaderConstant|CullParameter.v", lambda c, a: 4),
    (r"CallLists", lambda c, a: max(a["n"], 0) * LIST_TYPES.get(a["type"], 0)),
    (r"DrawBuffers|PrioritizeTextures", _argument("n")),
    (r"PixelMap.*v", lambda c, a: min(max(a["mapsize"], 0), 65536)),
    (r"PatchParameterfv", lambda c, a: 4 if a["pname"] == GL.PATCH_DEFAULT_OUTER_LEVEL else 2),
    (r"(?:Viewport|Scissor)Arrayv", _argument("count", 4)),
    (r"DepthRangeArrayv", _argument("count", 2)),
    (r"(?:Viewport|Scissor)Indexedf?v", lambda c, a: 4),
    (r"WindowRectangles", _argument("count", 4)),
    (r"VertexAttribs(\d)hv", lambda c, a: max(a["n"], 0) * a["_m"]),
    (_VECTOR, lambda c, a: a["_m"]),
]  # fmt: skip


def reads(pattern: str) -> Callable[[Count], Count]:
    """Decorator: registers the function that counts the numbers read by functions of these
    names.
    """

    def register(count: Count) -> Count:
        _COUNTS.insert(0, (pattern, count))
        return count

    return register


@cache
def _rule(name: str) -> tuple[Count, int, int] | None:
    plain = _plain_name(name)
    for pattern, count in _COUNTS:
        match = re.fullmatch(pattern, plain)
        if match is not None:
            digits = [int(g) for g in match.groups() if g] + [1, 1]
            return count, digits[0], digits[1]
    return None


def pointer_bytes(ctx: Context, function: Function, args: tuple[Any, ...]) -> int:
    """The size in bytes of the data at each pointer of a call that is neither an image
    nor a draw.
    """
    found = _rule(function.name)
    if found is None:
        raise KeyError(f"nothing says how much {function.c_name} reads")
    count, m, n = found
    named = dict(zip((p.name for p in function.params), args, strict=False))
    named |= {"_m": m, "_n": n}
    kind = next(p for p in function.params if p.kind is Kind.POINTER)
    return max(count(ctx, named), 0) * dtype_of(kind.type).itemsize


@cache
def vector_bytes(function: Function) -> int:
    """The size in bytes of the only pointer's data, if the name of the function says it, or 0."""
    rule = _rule(function.name)
    if rule is None or rule[0] is not _COUNTS[-1][1]:
        return 0
    return rule[1] * dtype_of(function.params[-1].type).itemsize


def compiled_functions() -> list[Function]:
    """Every function of the table that is compiled into display lists."""
    return [FUNCTIONS[name] for name in FUNCTIONS if is_compiled(name)]
