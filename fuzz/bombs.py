"""Shaders for `compile_bombs`: one construct of a language each, as often or as deep as asked.

A text is a whole shader. In GLSL and in ARB programs that is a fragment shader whose colour depends
on the construct; in SPIR-V, a compute shader that stores what the construct gives; in NIR, the text
of a fragment shader.
"""

# ruff: noqa: E501  (a construct a line)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["BOMBS", "Bomb"]


@dataclass(frozen=True)
class Bomb:
    """A construct: `make` gives the text of a shader that has so many of it."""

    language: str
    name: str
    make: Callable[[int], str]
    most: int
    """The largest size that is tried."""


BOMBS: dict[str, Bomb] = {}


def _lines(count: int, text: Callable[[int], str]) -> str:
    return "\n".join(text(n) for n in range(count))


# -- GLSL ------------------------------------------------------------------------------------------


def _glsl(body: str, before: str = "") -> str:
    return (
        "#version 430\nuniform float u;\nuniform int m;\nout vec4 color;\n"
        f"{before}\nvoid main() {{\nfloat x = u + gl_FragCoord.x * 0.01;\n"
        f"{body}\ncolor = vec4(x);\n}}\n"
    )


def _add_glsl(name: str, most: int, make: Callable[[int], str]) -> None:
    BOMBS[f"glsl/{name}"] = Bomb("glsl", name, make, most)


def _inside(opening: Callable[[int], str], inner: str, closing: str) -> Callable[[int], str]:
    """A construct inside itself."""
    return lambda n: _glsl(_lines(n, opening) + inner + closing * n)


def _each(text: Callable[[int], str], before: Callable[[int], str] | None = None) -> Callable[[int], str]:  # fmt: skip
    """A statement again and again; `before`: with a declaration of its own for each."""
    return lambda n: _glsl(_lines(n, text), "" if before is None else _lines(n, before))


_OF_GLSL: dict[str, tuple[int, Callable[[int], str]]] = {
    # Nesting.
    "blocks": (1000, _inside(lambda n: "{", "x += u;", "}")),
    "ifs": (1000, _inside(lambda n: f"if (x > {-n}.5) {{ x += 0.01;", "", "}")),
    "elses": (1000, _inside(lambda n: f"if (x > {n}.5) x += 0.01; else {{", "", "}")),
    "else_ifs": (4000, lambda n: _glsl(_lines(n, lambda k: f"if (x < {k}.5) x = 1.0; else") + ";")),
    "loops": (300, _inside(lambda n: f"for (int i{n} = 0; i{n} < m; i{n}++) {{", "x += .1;", "}")),
    "constant_loops": (300, _inside(lambda n: f"for (int i{n} = 0; i{n} < 1; i{n}++) {{", "", "}")),
    "whiles": (300, _inside(lambda n: "while (x < 9.0) {", "x += 1.0;", "}")),
    "do_whiles": (300, lambda n: _glsl("do {" * n + "x += 1.0;" + "} while (x < 9.0);" * n)),
    "switches": (300, _inside(lambda n: "switch (int(x)) { default:", "x += 1.0;", "}")),
    "parentheses": (4000, lambda n: _glsl(f"x = {'(' * n}x{')' * n};")),
    "negations": (4000, lambda n: _glsl(f"x = {'- ' * n}x;")),
    "choices": (4000, lambda n: _glsl("x = " + _lines(n, lambda k: f"x < {k}.5 ? x :") + "u;")),
    "calls_in_calls": (4000, lambda n: _glsl(f"x = {'sin(' * n}x{')' * n};")),
    "subscripts": (1000, lambda n: _glsl(f"float a{'[1]' * n}; a{'[0]' * n} = x;")),
    # Length.
    "terms": (100_000, lambda n: _glsl(f"x = x{' + u' * n};")),
    "commas": (100_000, lambda n: _glsl(f"x = (x{', x + u' * n});")),
    "assignments": (20_000, _each(lambda n: f"x = x * {n}.5 + u;")),
    "exponentials": (1600, _each(lambda n: "x = exp(x) * log(x + 2.0) + pow(abs(x), 1.3);")),
    "sines": (800, _each(lambda n: "x = sin(x) * cos(x + 1.0);")),
    "matrices": (1600, lambda n: _glsl("mat4 m = mat4(x);" + "m = m * mat4(u);" * n + "x = m[1].x;")),
    "texels": (600, lambda n: _glsl("x += texture(t, vec2(x)).x;" * n, "uniform sampler2D t;")),
    "ifs_in_a_row": (8000, _each(lambda n: f"if (x > {n}.5) x = x * 1.5 + u;")),
    "loops_in_a_row": (2000, _each(lambda n: f"for (int i = 0; i < m; i++) x += {n}.5;")),
    "unrolled_in_a_row": (2000, _each(lambda n: f"for (int i = 0; i < 4; i++) x += {n}.5;")),
    "breaks": (4000, lambda n: _glsl("for (int i = 0; i < 4; i++) {" + _lines(n, lambda k: f"if (x > {k}.5) break; x += u;") + "}")),
    "continues": (4000, lambda n: _glsl("for (int i = 0; i < 4; i++) {" + _lines(n, lambda k: f"if (x > {k}.5) continue; x += u;") + "}")),
    "discards": (2000, _each(lambda n: f"if (x > {n}.5) discard; x += u;")),
    "returns": (2000, _each(lambda n: f"if (x > {n}.5) return; x += u;")),
    "cases": (8000, lambda n: _glsl("switch (int(x)) {" + _lines(n, lambda k: f"case {k}: x = {k}.5; break;") + "}")),
    "cases_that_fall": (8000, lambda n: _glsl("switch (int(x)) {" + _lines(n, lambda k: f"case {k}: x += {k}.5;") + "}")),
    "labels": (20_000, lambda n: _glsl("switch (int(x)) {" + _lines(n, lambda k: f"case {k}:") + "x = u; }")),
    "initializer": (20_000, lambda n: _glsl(f"float a[{n}] = float[]({', '.join(f'{k}.5' for k in range(n))}); x = a[int(u)];")),
    "varying_initializer": (8000, lambda n: _glsl(f"float a[{n}] = float[]({', '.join(f'x + {k}.5' for k in range(n))}); x = a[int(u)];")),
    "initializer_list": (20_000, lambda n: _glsl(f"float a[{n}] = {{ {', '.join(f'{k}.5' for k in range(n))} }}; x = a[int(u)];")),
    "constants": (20_000, lambda n: _glsl("x = a[int(u)];", f"const float a[{n}] = float[]({', '.join(f'{k}.5' for k in range(n))});")),
    "locals": (8000, _each(lambda n: f"float v{n} = x * {n}.5; x += v{n};")),
    "values_alive": (8000, lambda n: _glsl(_lines(n, lambda k: f"float v{k} = sqrt(x + {k}.0);") + _lines(n, lambda k: f"x += v{k};"))),
    "uniforms": (1000, _each(lambda n: f"x += u{n};", lambda n: f"uniform float u{n};")),
    "globals": (8000, _each(lambda n: f"g{n} = x; x += g{n / 2:.0f};", lambda n: f"float g{n};")),
    "block_members": (4000, lambda n: _glsl("x += b0;", "uniform B {" + _lines(n, lambda k: f"float b{k};") + "};")),
    "struct_members": (4000, lambda n: _glsl("S s, t; s.a0 = x; t = s; if (s == t) x = t.a0;", "struct S {" + _lines(n, lambda k: f"float a{k};") + "};")),
    "structs": (300, lambda n: _glsl(f"S{n} s; s{'.a' * n}.f = x; S{n} t = s; x = t{'.a' * n}.f;", "struct S0 { float f; };" + _lines(n, lambda k: f"struct S{k + 1} {{ S{k} a; }};"))),
    "structs_that_double": (30, lambda n: _glsl(f"S{n} s, t; t = s; if (s == t) x = u;", "struct S0 { float f; };" + _lines(n, lambda k: f"struct S{k + 1} {{ S{k} a, b; }};"))),
    "dynamic_locals": (140_000, lambda n: _glsl(f"float a[{n}]; a[int(x) % {n}] = x; x += a[int(u) % {n}];")),
    "compared_arrays": (20_000, lambda n: _glsl(f"float a[{n}], b[{n}]; a[int(x)] = x; b = a; if (a != b) x = u;")),
    # Functions.
    "functions": (8000, _each(lambda n: f"x = f{n}(x);", lambda n: f"float f{n}(float x) {{ return x * {n}.5; }}")),
    "call_chain": (4000, lambda n: _glsl(f"x = f{n}(x);", "float f0(float x) { return x; }" + _lines(n, lambda k: f"float f{k + 1}(float x) {{ return f{k}(x) * 0.5; }}"))),
    "call_tree": (40, lambda n: _glsl(f"x = f{n}(x);", "float f0(float x) { return x; }" + _lines(n, lambda k: f"float f{k + 1}(float x) {{ return f{k}(x) + f{k}(u); }}"))),
    "calls_of_deep_ifs": (20, lambda n: _glsl(f"x = f{n}(x);", "float f0(float x) { return x; }" + _lines(n, lambda k: f"float f{k + 1}(float x) {{ {'if (x > u) {' * 60} x = f{k}(x); {'}' * 60} return x; }}"))),
    "parameters": (2000, lambda n: _glsl(f"x = f({', '.join(['x'] * n)});", f"float f({', '.join(f'float p{k}' for k in range(n))}) {{ return p0; }}")),
    "overloads": (250, _each(lambda n: f"x = f(x{', x' * n});", lambda n: f"float f(float a{''.join(f', float a{k}' for k in range(n))}) {{ return a; }}")),
    # Words.
    "macros": (8000, lambda n: _glsl("x += M0;", _lines(n, lambda k: f"#define M{k} M{k + 1}") + f"\n#define M{n} u")),
    "macros_that_double": (40, lambda n: _glsl("x += M0;", _lines(n, lambda k: f"#define M{k} (M{k + 1} + M{k + 1})") + f"\n#define M{n} u")),
    "macro_arguments": (4000, lambda n: _glsl(f"x = {'F(' * n}x{')' * n};", "#define F(a) (a)")),
    "conditionals": (8000, lambda n: _glsl("\n" + "#if 1\n" * n + "x = u;\n" + "#endif\n" * n)),
    "continued_lines": (100_000, lambda n: _glsl("x = u" + " + \\\nu" * (n // 10) + ";")),
    "comments": (100_000, lambda n: _glsl("/* */ // \n" * n)),
    "qualifiers": (2000, lambda n: _glsl("x = u;", "layout(" + ", ".join(["origin_upper_left"] * n) + ") in vec4 gl_FragCoord;")),
    "precisions": (20_000, lambda n: _glsl("x = u;", "precision highp float;" * n)),
    "long_name": (100_000, lambda n: _glsl(f"float {'a' * min(n, 1000)} = x; x += {'a' * min(n, 1000)};")),
    "long_number": (100_000, lambda n: _glsl(f"x = {'1' * n}.0;")),
}  # fmt: skip

for _name, (_most, _make) in _OF_GLSL.items():
    _add_glsl(_name, _most, _make)


# -- SPIR-V ----------------------------------------------------------------------------------------


def _spirv(body: str, types: str = "", functions: str = "", value: str = "%x") -> str:
    """A compute shader that stores `value`."""
    return f"""OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %words ArrayStride 4
OpMemberDecorate %Store 0 Offset 0
OpDecorate %Store BufferBlock
OpDecorate %store Binding 0
%void = OpTypeVoid
%begun = OpTypeFunction %void
%bool = OpTypeBool
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%f0 = OpConstant %float 0
%f1 = OpConstant %float 1
%true = OpConstantTrue %bool
%unary = OpTypeFunction %float %float
%words = OpTypeRuntimeArray %float
%Store = OpTypeStruct %words
%to_store = OpTypePointer Uniform %Store
%to_word = OpTypePointer Uniform %float
%to_float = OpTypePointer Function %float
%store = OpVariable %to_store Uniform
{types}
{functions}
%main = OpFunction %void None %begun
%start = OpLabel
%variable = OpVariable %to_float Function
%read_at = OpAccessChain %to_word %store %u0 %u0
%x = OpLoad %float %read_at
{body}
%write_at = OpAccessChain %to_word %store %u0 %u1
OpStore %write_at {value}
OpReturn
OpFunctionEnd
"""


def _spirv_ifs(n: int) -> str:
    opened = _lines(
        n,
        lambda k: (
            f"%c{k} = OpFOrdLessThan %bool %x %f1\nOpSelectionMerge %after{k} None\n"
            f"OpBranchConditional %c{k} %then{k} %after{k}\n%then{k} = OpLabel"
        ),
    )
    closed = "\n".join(f"OpBranch %after{k}\n%after{k} = OpLabel" for k in reversed(range(n)))
    return _spirv(f"{opened}\nOpStore %variable %x\n{closed}")


def _spirv_loops(n: int) -> str:
    opened = _lines(
        n,
        lambda k: (
            f"OpBranch %head{k}\n%head{k} = OpLabel\nOpLoopMerge %after{k} %next{k} None\n"
            f"OpBranch %check{k}\n%check{k} = OpLabel\n%c{k} = OpFOrdLessThan %bool %x %f0\n"
            f"OpBranchConditional %c{k} %body{k} %after{k}\n%body{k} = OpLabel"
        ),
    )
    closed = "\n".join(
        f"OpBranch %next{k}\n%next{k} = OpLabel\nOpBranch %head{k}\n%after{k} = OpLabel"
        for k in reversed(range(n))
    )
    return _spirv(f"{opened}\nOpStore %variable %x\n{closed}")


def _spirv_blocks(n: int) -> str:
    return _spirv(_lines(n, lambda k: f"OpBranch %b{k}\n%b{k} = OpLabel"))


def _spirv_ifs_in_a_row(n: int) -> str:
    return _spirv(
        _lines(
            n,
            lambda k: (
                f"%c{k} = OpFOrdLessThan %bool %x %f1\nOpSelectionMerge %after{k} None\n"
                f"OpBranchConditional %c{k} %then{k} %after{k}\n%then{k} = OpLabel\n"
                f"OpStore %variable %x\nOpBranch %after{k}\n%after{k} = OpLabel"
            ),
        )
    )


def _spirv_switch(n: int) -> str:
    targets = " ".join(f"{k} %case{k}" for k in range(n))
    cases = _lines(n, lambda k: f"%case{k} = OpLabel\nOpStore %variable %x\nOpBranch %after")
    return _spirv(
        f"%which = OpConvertFToU %uint %x\nOpSelectionMerge %after None\n"
        f"OpSwitch %which %after {targets}\n{cases}\n%after = OpLabel"
    )


def _spirv_sum(n: int) -> str:
    first = "%s0 = OpFAdd %float %x %f1\n"
    return _spirv(
        first + _lines(n, lambda k: f"%s{k + 1} = OpFAdd %float %s{k} %x"), value=f"%s{n}"
    )


def _spirv_functions(n: int) -> str:
    functions = _lines(
        n,
        lambda k: (
            f"%f_{k} = OpFunction %float None %unary\n%p{k} = OpFunctionParameter %float\n"
            f"%l{k} = OpLabel\n%r{k} = OpFAdd %float %p{k} %f1\nOpReturnValue %r{k}\nOpFunctionEnd"
        ),
    )
    calls = _lines(n, lambda k: f"%y{k} = OpFunctionCall %float %f_{k} %x")
    return _spirv(calls, functions=functions, value="%y0")


def _spirv_call_chain(n: int) -> str:
    functions = _lines(
        n,
        lambda k: (
            f"%f_{k} = OpFunction %float None %unary\n%p{k} = OpFunctionParameter %float\n"
            f"%l{k} = OpLabel\n"
            + (
                f"%r{k} = OpFunctionCall %float %f_{k - 1} %p{k}"
                if k
                else "%r0 = OpFAdd %float %p0 %f1"
            )
            + f"\nOpReturnValue %r{k}\nOpFunctionEnd"
        ),
    )
    return _spirv(f"%y = OpFunctionCall %float %f_{n - 1} %x", functions=functions, value="%y")


def _spirv_structs(n: int) -> str:
    types = "%T0 = OpTypeStruct %float\n" + _lines(n, lambda k: f"%T{k + 1} = OpTypeStruct %T{k}")
    indices = " %u0" * (n + 1)
    return _spirv(
        f"%at = OpAccessChain %to_float %s{indices}\nOpStore %at %x\n%y = OpLoad %float %at",
        types=f"{types}\n%to_T = OpTypePointer Function %T{n}",
        value="%y",
    ).replace("%variable =", "%s = OpVariable %to_T Function\n%variable =")


def _spirv_structs_that_double(n: int) -> str:
    types = "%T0 = OpTypeStruct %float\n" + _lines(
        n, lambda k: f"%T{k + 1} = OpTypeStruct %T{k} %T{k}"
    )
    body = f"%whole = OpLoad %T{n} %s\nOpStore %s %whole"
    return _spirv(body, types=f"{types}\n%to_T = OpTypePointer Function %T{n}").replace(
        "%variable =", "%s = OpVariable %to_T Function\n%variable ="
    )


def _spirv_pointers(n: int) -> str:
    types = "%P0 = OpTypePointer Function %float\n" + _lines(
        n, lambda k: f"%P{k + 1} = OpTypePointer Function %P{k}"
    )
    return _spirv("", types=types)


def _spirv_composite(n: int) -> str:
    parts = " ".join(["%x"] * n)
    return _spirv(
        f"%all = OpCompositeConstruct %array {parts}\n%y = OpCompositeExtract %float %all 0",
        types=f"%size = OpConstant %uint {n}\n%array = OpTypeArray %float %size",
        value="%y",
    )


def _spirv_inserts(n: int) -> str:
    body = "%a0 = OpUndef %array\n" + _lines(
        n, lambda k: f"%a{k + 1} = OpCompositeInsert %array %x %a{k} {k}"
    )
    return _spirv(
        f"{body}\n%y = OpCompositeExtract %float %a{n} 0",
        types=f"%size = OpConstant %uint {n}\n%array = OpTypeArray %float %size",
        value="%y",
    )


def _spirv_phi(n: int) -> str:
    """Many ways to one block, and what it gets from each."""
    targets = " ".join(f"{k} %case{k}" for k in range(n))
    cases = _lines(n, lambda k: f"%case{k} = OpLabel\nOpBranch %after")
    pairs = " ".join(f"%x %case{k}" for k in range(n))
    return _spirv(
        f"%which = OpConvertFToU %uint %x\nOpSelectionMerge %after None\n"
        f"OpSwitch %which %other {targets}\n%other = OpLabel\nOpBranch %after\n{cases}\n"
        f"%after = OpLabel\n%y = OpPhi %float %f1 %other {pairs}",
        value="%y",
    )


def _spirv_names(n: int) -> str:
    name = f'OpName %x "{"a" * min(n, 60000)}"'
    return _spirv("").replace("OpDecorate", f"{name}\nOpDecorate", 1)


for _most, _make in (
    (1000, _spirv_ifs),
    (300, _spirv_loops),
    (8000, _spirv_blocks),
    (4000, _spirv_ifs_in_a_row),
    (4000, _spirv_switch),
    (20_000, _spirv_sum),
    (4000, _spirv_functions),
    (4000, _spirv_call_chain),
    (1000, _spirv_structs),
    (30, _spirv_structs_that_double),
    (8000, _spirv_pointers),
    (8000, _spirv_composite),
    (1000, _spirv_inserts),
    (4000, _spirv_phi),
    (60_000, _spirv_names),
):
    _name = _make.__name__.removeprefix("_spirv_")
    BOMBS[f"spirv/{_name}"] = Bomb("spirv", _name, _make, _most)


# -- ARB programs ----------------------------------------------------------------------------------


def _arb(body: str) -> str:
    return f"!!ARBfp1.0\nTEMP t;\nMOV t, fragment.position;\n{body}\nMOV result.color, t;\nEND\n"


_OF_ARB: dict[str, tuple[int, Callable[[int], str]]] = {
    "instructions": (16_000, lambda n: _arb("ADD t, t, 0.5;\n" * n)),
    "sines": (2000, lambda n: _arb("SIN t, t.x;\n" * n)),
    "texels": (400, lambda n: _arb("TEX t, t, texture[0], 2D;\n" * n)),
    "kills": (2000, lambda n: _arb("KIL t;\n" * n)),
    "temporaries": (8000, lambda n: _arb(_lines(n, lambda k: f"TEMP t{k}; MOV t{k}, t;"))),
    "parameters": (8000, lambda n: _arb(_lines(n, lambda k: f"PARAM p{k} = {{ {k}, 1, 2, 3 }};"))),
    "parameter_array": (8000, lambda n: _arb(f"PARAM p[{n}] = {{ {', '.join(['1.0'] * n)} }};")),
    "aliases": (
        8000,
        lambda n: _arb("ALIAS a0 = t;\n" + _lines(n, lambda k: f"ALIAS a{k + 1} = a{k};")),
    ),
    "comments": (100_000, lambda n: _arb("# comment\n" * n)),
}
for _name, (_most, _make) in _OF_ARB.items():
    BOMBS[f"arb/{_name}"] = Bomb("arb", _name, _make, _most)


# -- NIR -------------------------------------------------------------------------------------------


def _nir(body: str) -> str:
    return (
        'shader fragment "bomb"\nfunction main () entry\nimpl main {\n    block b:\n'
        "        32 %zero = load_const (0x00000000)\n"
        "        32 %x = @load_input (%zero)\n        1 %c = flt %x, %zero\n"
        f"{body}\n        @store_output (%x, %zero) (write_mask=x, location=4)\n}}\n"
    )


def _nir_ifs(n: int) -> str:
    opened = _lines(n, lambda k: f"if %c {{\nblock t{k}:")
    closed = "\n".join(f"}} else {{\nblock e{k}:\n}}\nblock a{k}:" for k in range(n))
    return _nir(f"{opened}\n{closed}")


def _nir_loops(n: int) -> str:
    opened = _lines(
        n,
        lambda k: (
            f"loop {{\nblock t{k}:\nif %c {{\nblock i{k}:\nbreak\n}} else {{\nblock e{k}:\n}}\nblock f{k}:"
        ),
    )
    closed = "\n".join(f"}}\nblock a{k}:" for k in range(n))
    return _nir(f"{opened}\n{closed}")


_OF_NIR: dict[str, tuple[int, Callable[[int], str]]] = {
    "ifs": (900, _nir_ifs),
    "loops": (300, _nir_loops),
    "sum": (
        20_000,
        lambda n: _nir(
            "32 %s0 = fadd %x, %x\n"
            + _lines(n, lambda k: f"32 %s{k + 1} = fadd %s{k}, %x")
            + f"\n@store_output (%s{n}, %zero) (write_mask=x, location=5)"
        ),
    ),
    "constants": (
        20_000,
        lambda n: _nir(_lines(n, lambda k: f"32 %k{k} = load_const (0x{k:08x})")),
    ),
}
for _name, (_most, _make) in _OF_NIR.items():
    BOMBS[f"nir/{_name}"] = Bomb("nir", _name, _make, _most)
