"""How long parse-and-check of a shader takes, and where the time goes.

    python bench/glsl_parse.py [--repeat N] [--profile]

Three shaders: 100 lines of ordinary lighting code, 1,000 generated lines, and the import of the
package itself in a fresh process.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gallette.compiler.glsl import compile_shader  # noqa: E402
from gallette.compiler.nir.ir import Stage  # noqa: E402

HEAD = """#version 330
struct Light { vec4 position; vec3 color; float range; };
layout(std140) uniform Scene { mat4 view; Light lights[8]; int count; };
uniform sampler2D albedo;
uniform sampler2D normals;
in vec2 uv;
in vec3 world;
in mat3 frame;
out vec4 color;
"""
FUNCTION = """
vec3 shade{0}(vec3 n, vec3 v, Light l, float gloss) {{
    vec3 d = l.position.xyz - world;
    float len2 = dot(d, d);
    float reach = clamp(1.0 - len2 / (l.range * l.range), 0.0, 1.0);
    vec3 dir = d * inversesqrt(len2);
    float diffuse = max(dot(n, dir), 0.0);
    vec3 half_way = normalize(dir + v);
    float spec = pow(max(dot(n, half_way), 0.0), mix(4.0, 256.0, gloss));
    if (diffuse <= 0.0) {{
        spec = 0.0;
    }}
    return l.color * reach * (diffuse + spec * {0}.0);
}}
"""
MAIN = """
void main() {{
    vec4 base = texture(albedo, uv);
    vec3 n = normalize(frame * (texture(normals, uv).xyz * 2.0 - 1.0));
    vec3 v = normalize(-world);
    vec3 sum = vec3(0.02) * base.rgb;
    for (int i = 0; i < count; i++) {{
        if (lights[i].range <= 0.0) continue;
        sum += shade{0}(n, v, lights[i], base.a);
    }}
    color = vec4(sum, 1.0);
}}
"""


def shader(functions: int) -> str:
    body = "".join(FUNCTION.format(i) for i in range(1, functions + 1))
    return HEAD + body + MAIN.format(functions)


def measure(source: str, repeat: int) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = compile_shader(Stage.FRAGMENT, source)
        times.append(time.perf_counter() - start)
        assert result.ok, result.info_log
    return statistics.median(times)


def import_time() -> float:
    code = (
        "import time; t = time.perf_counter(); import gallette.compiler.glsl;"
        "print(time.perf_counter() - t)"
    )
    out = subprocess.run(
        [sys.executable, "-c", f"import numpy; {code}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(out.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    for functions in (6, 70):
        source = shader(functions)
        seconds = measure(source, args.repeat)
        lines = source.count("\n")
        print(f"{lines:5d} lines: {1000 * seconds:7.2f} ms, {lines / seconds:9.0f} lines/s")
    print(f"import gallette.compiler.glsl (after numpy): {1000 * import_time():.0f} ms")
    if args.profile:
        profile = cProfile.Profile()
        profile.runcall(measure, shader(70), 5)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    return 0


if __name__ == "__main__":
    sys.exit(main())
