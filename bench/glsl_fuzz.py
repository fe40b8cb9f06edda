"""Throw mutated and random shaders at the front end: it must answer, quickly, and never crash.

    python bench/glsl_fuzz.py [--count N] [--seconds S] [--seed N] [--link]

Inputs are token mutations of the seeds below (delete, repeat, swap, replace, splice), random token
soup, random bytes, and pathological nesting. Anything but a result is a bug and is printed with its
seed; so is an input that takes longer than the limit allows for its length.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("GALLETTE_DEBUG", "nir:validate")  # what the linker makes, too

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program  # noqa: E402
from gallette.compiler.glsl.builtins.functions import builtin_names  # noqa: E402
from gallette.compiler.glsl.check.layouts import LAYOUTS  # noqa: E402
from gallette.compiler.glsl.check.typenames import TYPE_NAMES  # noqa: E402
from gallette.compiler.nir.ir import Stage  # noqa: E402

STAGES = (
    Stage.VERTEX,
    Stage.FRAGMENT,
    Stage.FRAGMENT,
    Stage.GEOMETRY,
    Stage.TESS_CTRL,
    Stage.TESS_EVAL,
    Stage.COMPUTE,
)
SECONDS_PER_CHARACTER = 4e-5
SECONDS_MINIMUM = 1.0

SEEDS = (
    """#version 330
struct L { vec3 p; float k[2]; };
uniform L lights[3]; uniform sampler2D tex; in vec2 uv; out vec4 color;
layout(std140) uniform B { mat4 m; vec4 v[2]; } b;
const float table[3] = float[](1.0, 2.0, 3.0);
float f(inout vec2 a, const int n) { a.yx *= table[n]; return a.x; }
void main() {
    vec2 w = uv.yx; int i = 0;
    for (int j = 0; j < 3; j++) { if (lights[j].k[1] < 0.0) continue; w += lights[j].p.xy; }
    do { i++; } while (i < 4 && w.x > 0.5);
    switch (i) { case 1: w.x = 2.0; break; case 2: case 3: w.y++; default: w = -w; }
    color = (b.m * vec4(w, f(w, 1), 1.0)) + texture(tex, uv, -1.0) * b.v[i];
    if (color.a != 0.0) discard;
}
""",
    """#version 120
#define SQ(x) ((x) * (x))
#if defined(SQ) && __VERSION__ >= 110
varying vec4 v; attribute vec3 a;
#endif
uniform mat3 m[2]; uniform bool flag; invariant gl_Position;
vec4 g(vec4 x, float y); vec4 g(vec4 x, float y) { return flag ? x * SQ(y) : -x; }
void main() { gl_Position = ftransform() + vec4(m[1] * a, 1.0); v = g(gl_Color, dot(a, a)); }
""",
    """#version 450
layout(local_size_x = 8, local_size_y = 4) in;
layout(std430, binding = 1) buffer Data { uint n; uvec4 items[]; } data;
layout(rgba8, binding = 0) uniform writeonly image2D target;
layout(binding = 0, offset = 4) uniform atomic_uint counter; shared float cache[32];
void main() {
    uint i = gl_GlobalInvocationID.x; cache[gl_LocalInvocationIndex] = float(i);
    barrier(); if (i < data.items.length()) atomicAdd(data.items[i].x, 1u);
    imageStore(target, ivec2(i), vec4(cache[0])); atomicCounterIncrement(counter);
    double d = 1.0lf; dmat2 e = dmat2(d); data.n = uint(determinant(e));
}
""",
    """#version 400 core
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
in V { vec3 n; flat int id; } vs[]; out vec4 c; subroutine vec4 T(int);
subroutine(T) vec4 one(int i) { return vec4(vs[i].n, 1.0); } subroutine uniform T pick;
void main() { for (int i = 0; i < gl_in.length(); ++i) { gl_Position = gl_in[i].gl_Position;
    c = pick(i); EmitVertex(); } EndPrimitive(); }
""",
    """#version 300 es
precision mediump float; uniform highp isampler2D s; flat in ivec3 q; out vec4 o;
void main() { ivec4 t = texelFetch(s, q.xy, q.z); o = vec4(t >> 2) / float(t.x | 1); }
""",
)

SEED_STAGES = (Stage.FRAGMENT, Stage.VERTEX, Stage.COMPUTE, Stage.GEOMETRY, Stage.FRAGMENT)

TOKEN = re.compile(r"\s+|\w+|[-+*/%<>=!&|^]+|.", re.DOTALL)
KEYWORDS = """
if else for while do switch case default break continue return discard struct const in out inout
uniform buffer shared layout flat smooth centroid invariant precise highp varying attribute void
true false main gl_Position gl_FragColor gl_in gl_FragData gl_TexCoord
( ) [ ] { } ; , . ? : = == + - * / % << >> && || ^^ ! ~ ++ -- += <<= # ## 0 1 2 -1 3u 1e9
0x7fffffff 4294967295u 99999999999 1.5 1.0lf a b x y xyzw i /* //
"""
WORDS = [
    *TYPE_NAMES,
    *LAYOUTS,
    *KEYWORDS.split(),
    "\n",
    "#define A A B\n",
    "#if\n",
    "#endif\n",
    "#version 460\n",
    "#line 5 5\n",
    "\\\n",
]


def mutate(rng: random.Random, text: str) -> str:
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 2, 3, 6, 12))):
        i = rng.randrange(len(tokens)) if tokens else 0
        kind = rng.randrange(7)
        if not tokens or kind == 0:
            tokens.insert(i, rng.choice(WORDS))
        elif kind == 1:
            del tokens[i : i + rng.choice((1, 1, 2, 5))]
        elif kind == 2:
            j = rng.randrange(len(tokens))
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif kind == 3:
            tokens[i] = rng.choice(WORDS)
        elif kind == 4:
            tokens[i:i] = tokens[i : i + rng.randrange(1, 20)]
        elif kind == 5:
            tokens[i] = f" {rng.choice(builtin_names())} "
        else:
            other = TOKEN.findall(rng.choice(SEEDS))
            start = rng.randrange(len(other))
            tokens[i:i] = other[start : start + rng.randrange(1, 15)]
    return "".join(tokens)


def nested(rng: random.Random) -> str:
    """Depth or breadth where a recursive or quadratic compiler would fall over."""
    n = rng.choice((50, 190, 210, 3000, 20000))
    body = rng.choice(
        (
            f"float x = {'(' * n}1.0{')' * n};",
            f"float x = {'-' * n}1.0;",
            f"bool x = {'!' * n}true;",
            f"float x = {'1.0 + ' * n}1.0;",
            f"float x = {'a = ' * n}1.0;",
            f"{'{' * n}{'}' * n}",
            f"{'if (true) ' * n};",
            f"{'if (a > 0.0) ; else ' * n};",
            f"{'for (;;) ' * n}break;",
            f"float x = {'sin(' * n}1.0{')' * n};",
            f"float x = a{'[0]' * n};",
            f"float x = v{'.xyzw' * n}.x;",
            f"float x = {'true ? 1.0 : ' * n}1.0;",
            f"vec4 x = {'vec4(' * n}1.0{')' * n};",
            f"x{', x' * n};",
            f"int x{'[2]' * min(n, 500)};",
            f"switch (1) {{ {'case 1: ' * n} }}",
            "a += 1.0; " * n,
        )
    )
    pre = rng.choice(
        (
            "",
            "#define A B B\n#define B C C\n#define C D D\n#define D A A\nA\n",
            "".join(f"#define M{i + 1} M{i} M{i}\n" for i in range(40)) + "#define M0 x\nM40\n",
            "#if 1\n" * min(n, 3000),
            "#if " + "(" * n + "1\n",
            "#define F(x) x x\n" + "F(" * min(n, 300) + "1" + ")" * min(n, 300),
        )
    )
    return f"#version 430\n{pre}\nvoid main() {{ float a = 1.0; vec4 v = vec4(a); {body} }}\n"


def inputs(seed: int) -> Iterator[tuple[Stage, str]]:
    rng = random.Random(seed)
    while True:
        kind = rng.random()
        stage = rng.choice(STAGES)
        if kind < 0.80:
            number = rng.randrange(len(SEEDS))
            text = mutate(rng, SEEDS[number])
            if rng.random() < 0.8:
                stage = SEED_STAGES[number]
        elif kind < 0.93:
            text = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 120)))
        elif kind < 0.97:
            text = "".join(chr(rng.randrange(1, 256)) for _ in range(rng.randrange(1, 300)))
        else:
            text = nested(rng)
        yield stage, text


def attempt(stage: Stage, text: str, link: bool) -> str:
    """ok, rejected, or the traceback of a crash."""
    try:
        result = compile_shader(stage, text, CompileOptions(api="compat"))
        if result.ok and link:
            program = link_program([result], LinkOptions(api="compat", optimize=False))
            for shader in program.shaders.values():
                shader.unref()
        if not result.ok and not result.info_log:
            return "rejected without a message"
    except Exception:
        return traceback.format_exc()
    return "ok" if result.ok else "rejected"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--link", action="store_true", help="also link what compiles")
    args = parser.parse_args()
    start = time.perf_counter()
    counts = {"ok": 0, "rejected": 0}
    bugs = 0
    slowest = 0.0
    for number, (stage, text) in enumerate(inputs(args.seed)):
        if number >= args.count or time.perf_counter() - start > args.seconds:
            break
        begin = time.process_time()  # not wall time: others may use the machine
        answer = attempt(stage, text, args.link)
        took = time.process_time() - begin
        slowest = max(slowest, took)
        slow = took > SECONDS_MINIMUM + SECONDS_PER_CHARACTER * len(text)
        if answer in counts and not slow:
            counts[answer] += 1
            continue
        bugs += 1
        shown = text if len(text) < 1500 else text[:700] + "\n...\n" + text[-200:]
        print(f"=== input {number} ({stage.value}), {took:.2f} s\n{shown}\n{answer[-1500:]}")
        if bugs >= 20:
            break
    seconds = time.perf_counter() - start
    total = sum(counts.values()) + bugs
    print(
        f"{total} inputs in {seconds:.0f} s: {counts['ok']} compile, {counts['rejected']} are "
        f"rejected, {bugs} bugs; slowest {slowest:.2f} s"
    )
    return 1 if bugs else 0


if __name__ == "__main__":
    sys.exit(main())
