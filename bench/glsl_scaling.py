"""How compiling and linking a shader grows with its length, step by step.

    python bench/glsl_scaling.py [--lines 100,500,...] [--optimize]

The shader is ordinary lighting code, one function after the other, all of them called. Times are
processor time of this process, so that other work on the machine does not count. Without
`--optimize` the NIR passes are left out: what is shown is the front end (preprocessor, parser,
checker, linker, lowering).
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "bench"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from glsl_parse import FUNCTION, HEAD  # noqa: E402

from gallette.compiler.glsl import LinkOptions, compile_shader, link_program  # noqa: E402
from gallette.compiler.nir.ir import Stage  # noqa: E402

_fresh = itertools.count(time.time_ns())
LINES_OF_A_FUNCTION = FUNCTION.count("\n")


def shader(lines: int) -> str:
    """About so many lines."""
    count = max(1, (lines - HEAD.count("\n") - 12) // (LINES_OF_A_FUNCTION + 1))
    calls = "".join(f"    sum += shade{i}(n, v, lights[{i % 8}], base.a);\n" for i in range(count))
    main = f"""void main() {{
    vec4 base = texture(albedo, uv);
    vec3 n = normalize(frame * (texture(normals, uv).xyz * 2.0 - 1.0));
    vec3 v = normalize(-world);
    vec3 sum = vec3(0.02) * base.rgb;
{calls}    color = vec4(sum, base.a);
}}
"""
    return HEAD + "".join(FUNCTION.format(i) for i in range(count)) + main


def measured(lines: int, optimize: bool) -> tuple[int, float, float]:
    """(lines, seconds to compile, seconds to link)"""
    text = shader(lines) + f"// {next(_fresh)}\n"  # no cache has seen it
    start = time.process_time()
    compiled = compile_shader(Stage.FRAGMENT, text)
    middle = time.process_time()
    assert compiled.ok, compiled.info_log
    program = link_program([compiled], LinkOptions(separable=True, optimize=optimize))
    end = time.process_time()
    assert program.ok, program.info_log
    for nir in program.shaders.values():
        nir.unref()
    return text.count("\n"), middle - start, end - middle


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", default="100,500,2000,10000")
    parser.add_argument("--optimize", action="store_true")
    options = parser.parse_args()
    measured(100, options.optimize)  # imports and caches
    print(f"{'lines':>8}{'compile':>12}{'link':>12}{'microseconds per line':>26}")
    for size in options.lines.split(","):
        lines, compiling, linking = min(
            (measured(int(size), options.optimize) for _ in range(3 if int(size) < 3000 else 1)),
            key=lambda m: m[1] + m[2],
        )
        each = 1e6 * (compiling + linking) / lines
        print(f"{lines:8,}{compiling * 1e3:9.1f} ms{linking * 1e3:9.1f} ms{each:26.0f}")


if __name__ == "__main__":
    main()
