"""Every rule of GLSL that a compiler must enforce: a shader that breaks it, and one that keeps it.

A row is a rule, what stands outside `main`, what stands inside, and both again as the rule wants
them. The second shader is as close to the first as possible, so that the first is refused for
this rule and no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["RULES", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: declarations and statements that break it, and that keep it."""

    name: str
    purpose: str
    bad: tuple[str, str]
    good: tuple[str, str]
    version: int = 330


def _inside(name: str, purpose: str, bad: str, good: str, version: int = 330) -> Rule:
    return Rule(name, purpose, ("", bad), ("", good), version)


def _outside(name: str, purpose: str, bad: str, good: str, version: int = 330) -> Rule:
    return Rule(name, purpose, (bad, ""), (good, ""), version)


RULES = (
    # Names and scopes.
    _inside("undeclared-variable", "A variable must be declared", "x = 1.0;", "float x = 1.0;"),
    _inside("undeclared-function", "A function must be declared", "f();", "sin(1.0);"),
    _inside(
        "redeclared-in-scope",
        "A name is declared once in a scope",
        "float x = 1.0; int x = 1;",
        "float x = 1.0; { int x = 1; }",
    ),
    _inside(
        "use-after-scope",
        "A name ends with its scope",
        "{ float x = 1.0; } float y = x;",
        "float x = 1.0; { } float y = x;",
    ),
    _inside(
        "loop-variable-outside",
        "The variable of a for statement ends with the loop",
        "for (int i = 0; i < 2; i++) { } int j = i;",
        "int i; for (i = 0; i < 2; i++) { } int j = i;",
    ),
    _outside(
        "reserved-prefix",
        "Names that begin with gl_ are reserved",
        "float gl_mine;",
        "float mine;",
    ),
    _outside(
        "keyword-as-name",
        "A keyword cannot be a name",
        "float uniform = 1.0;",
        "float unify = 1.0;",
    ),
    _outside(
        "reserved-word", "Words kept for the future cannot be names", "float goto;", "float go_to;"
    ),
    _outside(
        "function-as-variable",
        "A function and a global variable cannot share a name",
        "float f() { return 1.0; } float f;",
        "float f() { return 1.0; } float g;",
    ),
    # Types of expressions.
    _inside(
        "assign-float-to-int", "There is no conversion to int", "int i = 1.0;", "int i = int(1.0);"
    ),
    _inside(
        "assign-int-to-bool", "There is no conversion to bool", "bool b = 1;", "bool b = bool(1);"
    ),
    _inside(
        "assign-uint-to-int", "There is no conversion to int", "int i = 1u;", "int i = int(1u);"
    ),
    _inside(
        "assign-vector-size",
        "Vectors of different sizes are different types",
        "vec3 v = vec4(1.0);",
        "vec3 v = vec4(1.0).xyz;",
    ),
    _inside(
        "add-vectors-of-sizes",
        "Operands of + have the same size",
        "vec3 v = vec3(1.0) + vec2(1.0);",
        "vec3 v = vec3(1.0) + vec3(1.0);",
    ),
    _inside(
        "add-bool", "Arithmetic needs numbers", "bool b = true + false;", "bool b = true || false;"
    ),
    _inside(
        "not-of-int",
        "The operator ! needs a bool",
        "int i = 1; bool b = !i;",
        "int i = 1; bool b = i == 0;",
    ),
    _inside(
        "complement-of-float",
        "The operator ~ needs integers",
        "float x = 1.0; float y = ~x;",
        "int x = 1; int y = ~x;",
    ),
    _inside(
        "remainder-of-floats",
        "The operator % needs integers",
        "float x = 5.0; float y = x % 2.0;",
        "int x = 5; int y = x % 2;",
    ),
    _inside(
        "shift-of-float",
        "Shifts need integers",
        "float x = 1.0; x = x << 1;",
        "int x = 1; x = x << 1;",
    ),
    _inside(
        "and-of-floats", "The operator & needs integers", "float x = 1.0 & 2.0;", "int x = 1 & 2;"
    ),
    _inside(
        "logical-and-of-int",
        "The operator && needs bools",
        "bool b = 1 && 2;",
        "bool b = true && false;",
    ),
    _inside(
        "less-of-vectors",
        "The operator < compares scalars",
        "bool b = vec2(1.0) < vec2(2.0);",
        "bool b = vec2(1.0).x < vec2(2.0).x;",
    ),
    _inside(
        "equal-of-types",
        "The operator == needs operands of one type",
        "bool b = vec2(1.0) == vec3(1.0);",
        "bool b = vec2(1.0) == vec2(1.0);",
    ),
    _inside(
        "matrix-product-shape",
        "Columns of the left matrix are rows of the right one",
        "mat2x3 a = mat2x3(1.0); mat2x3 b = a * a;",
        "mat2x3 a = mat2x3(1.0); mat2x3 b = a * mat2(1.0);",
    ),
    _inside(
        "conditional-types",
        "Both results of ?: have one type",
        "float x = true ? 1.0 : true;",
        "float x = true ? 1.0 : 2.0;",
    ),
    _inside(
        "conditional-condition",
        "The condition of ?: is a bool",
        "float x = 1 ? 1.0 : 2.0;",
        "float x = true ? 1.0 : 2.0;",
    ),
    _inside("if-condition", "The condition of if is a bool", "if (1) { }", "if (true) { }"),
    _inside(
        "while-condition", "The condition of while is a bool", "while (0) { }", "while (false) { }"
    ),
    _inside(
        "for-condition",
        "The condition of for is a bool",
        "for (int i = 3; i; i--) { }",
        "for (int i = 3; i > 0; i--) { }",
    ),
    # Constructors.
    _inside(
        "constructor-too-few",
        "A vector constructor needs enough components",
        "vec4 v = vec4(1.0, 2.0);",
        "vec4 v = vec4(1.0, 2.0, 3.0, 4.0);",
    ),
    _inside(
        "constructor-unused-argument",
        "Every argument of a constructor is used",
        "vec2 v = vec2(1.0, 2.0, 3.0);",
        "vec2 v = vec2(1.0, 2.0);",
    ),
    _inside(
        "constructor-empty", "A constructor has arguments", "vec2 v = vec2();", "vec2 v = vec2(0);"
    ),
    _outside(
        "structure-constructor-count",
        "A structure constructor has an argument per member",
        "struct S { float a; float b; }; S s() { return S(1.0); }",
        "struct S { float a; float b; }; S s() { return S(1.0, 2.0); }",
    ),
    _outside(
        "structure-constructor-type",
        "A structure constructor's arguments have the members' types",
        "struct S { bool a; }; S s() { return S(1.0); }",
        "struct S { bool a; }; S s() { return S(true); }",
    ),
    _inside(
        "array-constructor-count",
        "An array constructor has an argument per element",
        "float a[3] = float[3](1.0, 2.0);",
        "float a[3] = float[3](1.0, 2.0, 3.0);",
    ),
    # Swizzles, members, indices.
    _inside(
        "swizzle-too-far",
        "A component must exist",
        "vec2 v = vec2(1.0); float x = v.z;",
        "vec2 v = vec2(1.0); float x = v.y;",
    ),
    _inside(
        "swizzle-mixed-sets",
        "Component names come from one set",
        "vec4 v = vec4(1.0); vec2 w = v.xg;",
        "vec4 v = vec4(1.0); vec2 w = v.xy;",
    ),
    _inside(
        "swizzle-too-long",
        "At most four components are selected",
        "vec4 v = vec4(1.0); v = v.xyzwx;",
        "vec4 v = vec4(1.0); v = v.xyzw;",
    ),
    _inside(
        "swizzle-repeated-on-left",
        "A component is assigned once",
        "vec2 v; v.xx = vec2(1.0);",
        "vec2 v; v.xy = vec2(1.0);",
    ),
    _inside(
        "member-of-scalar",
        "A scalar has no component z",
        "float x = 1.0; x.z = 1.0;",
        "vec3 x; x.z = 1.0;",
    ),
    _outside(
        "missing-member",
        "A structure has only its members",
        "struct S { float a; }; float f(S s) { return s.b; }",
        "struct S { float a; }; float f(S s) { return s.a; }",
    ),
    _inside(
        "index-by-float",
        "An index is an integer",
        "float a[2]; a[0] = 1.0; float x = a[1.0];",
        "float a[2]; a[0] = 1.0; float x = a[1];",
    ),
    _inside(
        "index-out-of-range",
        "A constant index lies in the array",
        "float a[2]; a[2] = 1.0;",
        "float a[2]; a[1] = 1.0;",
    ),
    _inside(
        "index-negative",
        "A constant index is not negative",
        "float a[2]; a[-1] = 1.0;",
        "float a[2]; a[0] = 1.0;",
    ),
    _inside(
        "index-of-scalar",
        "Only arrays, vectors and matrices have elements",
        "float x; x[0] = 1.0;",
        "vec2 x; x[0] = 1.0;",
    ),
    _outside("array-size-zero", "An array's size is positive", "float a[0];", "float a[1];"),
    _outside("array-size-negative", "An array's size is positive", "float a[-2];", "float a[2];"),
    _outside("array-size-float", "An array's size is an integer", "float a[2.0];", "float a[2];"),
    _outside(
        "array-size-not-constant",
        "An array's size is a constant",
        "uniform int n; float a[n];",
        "const int n = 2; float a[n];",
    ),
    _inside(
        "array-sizes-differ",
        "Arrays of different sizes are different types",
        "float a[2]; float b[3]; a = b;",
        "float a[2]; float b[2]; b[0] = 1.0; b[1] = 1.0; a = b;",
    ),
    # What can be written to.
    _inside(
        "assign-to-constant",
        "A constant cannot be assigned to",
        "const float x = 1.0; x = 2.0;",
        "float x = 1.0; x = 2.0;",
    ),
    _inside("assign-to-literal", "A literal cannot be assigned to", "1.0 = 2.0;", "float x = 2.0;"),
    _inside(
        "assign-to-expression",
        "Only variables can be assigned to",
        "float x; float y; (x + y) = 1.0;",
        "float x; float y; (x) = 1.0;",
    ),
    _inside(
        "increment-of-constant", "++ needs a variable", "const int i = 1; i++;", "int i = 1; i++;"
    ),
    Rule(
        "assign-to-uniform",
        "A uniform cannot be assigned to",
        ("uniform float u;", "u = 1.0;"),
        ("float u;", "u = 1.0;"),
    ),
    Rule(
        "assign-to-input",
        "An input cannot be assigned to",
        ("in float i;", "i = 1.0;"),
        ("in float i;", "float j = 1.0;"),
    ),
    _inside(
        "assign-to-frag-coord",
        "gl_FragCoord cannot be assigned to",
        "gl_FragCoord = vec4(1.0);",
        "vec4 c = gl_FragCoord;",
    ),
    _inside(
        "constant-without-value",
        "A constant has an initialiser",
        "const float x;",
        "const float x = 1.0;",
    ),
    Rule(
        "constant-from-uniform",
        "A global constant's initialiser is constant",
        ("uniform float u; const float x = u;", ""),
        ("uniform float u; const float x = 1.0;", "float y = u;"),
    ),
    Rule(
        "out-argument-not-variable",
        "An out argument is a variable",
        ("void f(out float x) { x = 1.0; }", "f(1.0);"),
        ("void f(out float x) { x = 1.0; }", "float y; f(y);"),
    ),
    Rule(
        "assign-to-const-parameter",
        "A const parameter cannot be assigned to",
        ("void f(const float x) { x = 1.0; }", ""),
        ("void f(float x) { x = 1.0; }", ""),
    ),
    # Functions.
    Rule(
        "argument-count",
        "A call has the declared number of arguments",
        ("float f(float x) { return x; }", "float y = f(1.0, 2.0);"),
        ("float f(float x) { return x; }", "float y = f(1.0);"),
    ),
    Rule(
        "argument-type",
        "An argument has the parameter's type",
        ("float f(vec2 x) { return x.x; }", "float y = f(vec3(1.0));"),
        ("float f(vec2 x) { return x.x; }", "float y = f(vec2(1.0));"),
    ),
    _outside(
        "return-type",
        "A returned value has the function's type",
        "bool f() { return 1.0; }",
        "bool f() { return true; }",
    ),
    _outside(
        "return-value-from-void",
        "A void function returns no value",
        "void f() { return 1.0; }",
        "void f() { return; }",
    ),
    _outside(
        "return-without-value",
        "A function with a type returns a value",
        "float f() { return; }",
        "float f() { return 1.0; }",
    ),
    _outside(
        "function-twice",
        "A function is defined once",
        "float f() { return 1.0; } float f() { return 2.0; }",
        "float f() { return 1.0; } float f(int i) { return 2.0; }",
    ),
    _outside(
        "overload-by-return-type",
        "Overloads differ in their parameters",
        "float f(int i); int f(int i);",
        "float f(int i); int f(float i);",
    ),
    _outside(
        "parameter-twice",
        "Parameters have different names",
        "void f(float a, float a) { }",
        "void f(float a, float b) { }",
    ),
    _outside("void-parameter", "A parameter has a value", "void f(void x) { }", "void f(void) { }"),
    _outside("void-variable", "A variable has a value", "void x;", "float x;"),
    _inside(
        "function-in-function",
        "Functions are defined outside functions",
        "float f() { return 1.0; }",
        "float f;",
    ),
    _outside(
        "parameter-uniform",
        "A parameter is not a uniform",
        "void f(uniform float x) { }",
        "void f(in float x) { }",
    ),
    # Statements.
    _inside(
        "break-outside", "break stands in a loop or switch", "break;", "while (true) { break; }"
    ),
    _inside(
        "continue-outside",
        "continue stands in a loop",
        "continue;",
        "for (int i = 0; i < 2; i++) { continue; }",
    ),
    _inside(
        "continue-in-switch",
        "continue in a switch needs a loop around it",
        "switch (1) { case 1: continue; }",
        "for (int i = 0; i < 2; i++) { switch (1) { case 1: continue; } }",
    ),
    _inside(
        "case-outside", "case stands in a switch", "case 1: ;", "switch (1) { case 1: break; }"
    ),
    _inside(
        "case-twice",
        "Cases have different values",
        "switch (1) { case 1: break; case 1: break; }",
        "switch (1) { case 1: break; case 2: break; }",
    ),
    _inside(
        "default-twice",
        "A switch has one default",
        "switch (1) { default: break; default: break; }",
        "switch (1) { default: break; case 1: break; }",
    ),
    _inside(
        "switch-of-float",
        "A switch is over an integer",
        "switch (1.0) { case 1: break; }",
        "switch (1) { case 1: break; }",
    ),
    _inside(
        "case-not-constant",
        "A case is a constant",
        "int i = 1; switch (1) { case i: break; }",
        "const int i = 1; switch (1) { case i: break; }",
    ),
    _inside(
        "missing-semicolon", "A statement ends with a semicolon", "float x = 1.0", "float x = 1.0;"
    ),
    _inside("missing-parenthesis", "Parentheses are closed", "float x = (1.0;", "float x = (1.0);"),
    _inside("else-without-if", "else follows an if", "else { }", "if (true) { } else { }"),
    # Qualifiers and globals.
    _outside("input-bool", "A fragment input is not a bool", "flat in bool b;", "flat in int b;"),
    _outside(
        "integer-input-not-flat",
        "An integer input of a fragment shader is flat",
        "in int i;",
        "flat in int i;",
    ),
    _outside("output-bool", "An output is not a bool", "out bool b;", "out vec4 b;"),
    _outside("output-matrix", "A fragment output is not a matrix", "out mat2 b;", "out vec2 b;"),
    _outside(
        "two-storage-qualifiers",
        "A variable has one storage qualifier",
        "in uniform float x;",
        "uniform float x;",
    ),
    _outside(
        "flat-and-smooth",
        "A variable has one interpolation",
        "flat smooth in float x;",
        "flat in float x;",
    ),
    _outside(
        "sampler-not-uniform",
        "A global sampler is a uniform",
        "sampler2D s;",
        "uniform sampler2D s;",
    ),
    Rule(
        "sampler-arithmetic",
        "Samplers are no operands",
        ("uniform sampler2D s; uniform sampler2D t;", "bool b = s == t;"),
        (
            "uniform sampler2D s; uniform sampler2D t;",
            "bool b = texture(s, vec2(0)) == vec4(0);",
        ),
    ),
    Rule(
        "texture-coordinate-type",
        "A lookup's coordinate has the sampler's size",
        ("uniform sampler2D s;", "vec4 v = texture(s, 1.0);"),
        ("uniform sampler2D s;", "vec4 v = texture(s, vec2(1.0));"),
    ),
    _outside(
        "block-member-sampler",
        "A uniform block has no samplers",
        "uniform B { sampler2D s; };",
        "uniform B { float s; };",
    ),
    _outside(
        "block-member-initialised",
        "Members of a block have no initialisers",
        "uniform B { float x = 1.0; };",
        "uniform B { float x; };",
    ),
    _outside(
        "block-member-name-taken",
        "Members of a block without instance name are global names",
        "float x; uniform B { float x; };",
        "float x; uniform B { float x; } b;",
    ),
    _outside(
        "structure-without-members",
        "A structure has members",
        "struct S { };",
        "struct S { float x; };",
    ),
    _outside(
        "structure-member-twice",
        "Members have different names",
        "struct S { float x; int x; };",
        "struct S { float x; int y; };",
    ),
    _outside(
        "structure-recursive",
        "A structure does not contain itself",
        "struct S { float x; S next; };",
        "struct S { float x; float next; };",
    ),
    _outside(
        "structure-twice",
        "A structure is defined once in a scope",
        "struct S { float x; }; struct S { int y; };",
        "struct S { float x; }; struct T { float x; };",
    ),
    _outside("invariant-input", "Only outputs are invariant", "float x; invariant x;", "float x;"),
    _outside(
        "layout-unknown",
        "A layout qualifier is one the language has",
        "layout(frobnicate) uniform B { float x; };",
        "layout(std140) uniform B { float x; };",
    ),
    _outside(
        "layout-location-negative",
        "A location is not negative",
        "layout(location = -1) out vec4 o;",
        "layout(location = 1) out vec4 o;",
    ),
    # Preprocessor.
    _outside(
        "hash-error", "#error refuses the shader", "#error no\n", "#if 0\n#error no\n#endif\n"
    ),
    _outside("if-without-endif", "#if is closed", "#if 1\n", "#if 1\n#endif\n"),
    _outside("endif-without-if", "#endif closes an #if", "#endif\n", "#if 1\n#endif\n"),
    _outside(
        "else-twice",
        "An #if has one #else",
        "#if 1\n#else\n#else\n#endif\n",
        "#if 1\n#else\n#endif\n",
    ),
    _outside(
        "macro-redefined",
        "A macro is not redefined differently",
        "#define A 1\n#define A 2\n",
        "#define A 1\n#undef A\n#define A 2\n",
    ),
    Rule(
        "macro-argument-count",
        "A macro gets its number of arguments",
        ("#define F(a, b) (a + b)\n", "float x = F(1.0);"),
        ("#define F(a, b) (a + b)\n", "float x = F(1.0, 2.0);"),
    ),
    _outside(
        "extension-required",
        "#extension ... : require refuses an unknown extension",
        "#extension GL_NOBODY_knows : require\n",
        "#extension GL_NOBODY_knows : warn\n",
    ),
    _outside(
        "directive-unknown",
        "A directive is one the language has",
        "#frobnicate\n",
        "#pragma frobnicate\n",
    ),
    # What newer versions brought.
    _outside("version-double", "double needs GLSL 4.00", "double d;", "float d;"),
    _outside(
        "binding-not-opaque",
        "A binding is for opaque types and blocks",
        "layout(binding = 1) uniform float x;",
        "layout(binding = 1) uniform sampler2D x;",
        420,
    ),
    _outside(
        "image-without-format",
        "An image that is read has a format",
        "uniform image2D i; vec4 f() { return imageLoad(i, ivec2(0)); }",
        "layout(rgba8) uniform image2D i; vec4 f() { return imageLoad(i, ivec2(0)); }",
        420,
    ),
    _outside(
        "readonly-written",
        "A readonly image is not written",
        "layout(rgba8) readonly uniform image2D i; void f() { imageStore(i, ivec2(0), vec4(0)); }",
        "layout(rgba8) uniform image2D i; void f() { imageStore(i, ivec2(0), vec4(0)); }",
        420,
    ),
)


def _shader(rule: Rule, parts: tuple[str, str]) -> str:
    outside, inside = parts
    lines = [f"#version {rule.version}"]
    if outside:
        lines += [outside.rstrip("\n")]
    lines += ["out vec4 color;", "", "void main()", "{"]
    if inside:
        lines.append(f"\t{inside}")
    lines += ["\tcolor = vec4(0.0, 1.0, 0.0, 1.0);", "}"]
    return "\n".join(lines)


def tests() -> Iterator[tuple[str, str, str]]:
    for rule in RULES:
        version = f"{rule.version // 100}.{rule.version % 100:02}"
        head = f"[require]\nGLSL >= {version}\nSIZE 8 8\n\n[vertex shader passthrough]\n\n"
        refused = (
            f"{head}[fragment shader]\n{_shader(rule, rule.bad)}\n\n"
            "[test]\ncompile error GL_FRAGMENT_SHADER\n"
        )
        accepted = (
            f"{head}[fragment shader]\n{_shader(rule, rule.good)}\n\n"
            "[test]\ndraw rect -1 -1 2 2\nprobe all rgba 0.0 1.0 0.0 1.0\n"
        )
        place = f"glsl-{version}/errors/{rule.name}"
        yield place, f"{rule.purpose}: a shader that breaks the rule is refused.", refused
        yield f"{place}-kept", f"{rule.purpose}: a shader that keeps the rule runs.", accepted
