"""How long the first picture takes: ours with a cold and a warm cache, and llvmpipe's.

    python bench/first_frame.py [NAME...] [--driver jit] [--runs 5] [--size 512] [--json FILE]

Every sample is a process of its own that makes a context, compiles a scene's shaders, draws one
frame and reads it back. The sides alternate, so that a busy moment of the machine slows all alike:
the driver with an empty cache folder, the driver with the folder that the run before it has filled,
and llvmpipe with its shader cache off. Three figures are kept: until the context is there (loading
the libraries), from there to the picture, and both together; by the clock and as processor time of
all threads. The table shows the medians of one of them.

Scenes are those of `gallette bench`, with the target as large as `--size` says. Needs a native GL.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gallette.benchmarks import BENCHMARKS
from gallette.piglit_subset.environment import child_environment

SCENES = (
    "gradient",
    "bilinear_texture",
    "mandelbrot",
    "lit_mesh",
    "overdraw",
    "blended_quads",
    "mipmaps",
    "four_targets",
    "msaa_mesh",
    "geometry",
    "reduction",
)
PHASES = {"context": (0, 1), "frame": (1, 2), "both": (0, 2)}
SIDES = ("llvmpipe", "cold", "warm")


def picture(driver: str, name: str, size: int) -> dict[str, list[float]]:
    """Draw one frame of a scene in this process; the times before, between and after."""
    import moderngl

    import gallette
    from gallette.scenes.common import quad

    quad()  # numpy has been used once
    bench = BENCHMARKS[name]
    clock, processor = [time.perf_counter()], [time.process_time()]

    def stamp() -> None:
        clock.append(time.perf_counter())
        processor.append(time.process_time())

    window: Any = gallette.moderngl_context(driver)
    ctx = moderngl.create_context(standalone=True, context=window)
    ctx.extra = window
    stamp()
    shape = (size, size)
    target = ctx.framebuffer([ctx.texture(shape, 4)], ctx.depth_renderbuffer(shape))
    target.use()
    draw = bench.prepare(ctx, shape)
    target.use()
    target.clear()
    draw()
    target.read(components=4)
    stamp()
    return {"clock": clock, "processor": processor}


def sample(driver: str, name: str, size: int, cache: str, bytecode: str) -> dict[str, list[float]]:
    """`picture` in a fresh process; Python's bytecode is cached in a folder, as when installed."""
    env = child_environment(driver)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPYCACHEPREFIX"] = bytecode
    env["GALLETTE_CACHE"] = cache
    env["MESA_SHADER_CACHE_DISABLE"] = env["MESA_GLSL_CACHE_DISABLE"] = "1"
    if driver.startswith("native"):
        env["GALLIUM_DRIVER"] = driver.partition(":")[2]
    command = [sys.executable, __file__, "--child", driver, name, "--size", str(size)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise SystemExit(f"{name} on {driver}:\n{done.stderr}")
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(
    name: str, driver: str, runs: int, size: int, bytecode: str
) -> dict[str, list[dict[str, Any]]]:
    """Samples of all sides, which alternate."""
    found: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            found["llvmpipe"].append(sample("native:llvmpipe", name, size, "off", bytecode))
            found["cold"].append(sample(driver, name, size, cache, bytecode))
            found["warm"].append(sample(driver, name, size, cache, bytecode))
    return found


def milliseconds(samples: list[dict[str, Any]], clock: str, phase: str) -> float:
    first, last = PHASES[phase]
    return statistics.median(s[clock][last] - s[clock][first] for s in samples) * 1e3


def table(found: dict[str, dict[str, list[dict[str, Any]]]], clock: str, phase: str) -> str:
    """A row per scene: milliseconds of each side, ours over theirs."""
    rows = [f"| scene ({clock}, {phase}, ms) | llvmpipe | cold | warm | cold ratio | warm ratio |"]
    rows.append("| --- " + "| ---: " * 5 + "|")
    ratios: list[tuple[float, float]] = []
    for name, sides in found.items():
        theirs, cold, warm = (milliseconds(sides[s], clock, phase) for s in SIDES)
        ratios.append((cold / theirs, warm / theirs))
        rows.append(
            f"| `{name}` | {theirs:.1f} | {cold:.1f} | {warm:.1f} | {cold / theirs:.2f} "
            f"| {warm / theirs:.2f} |"
        )
    means = [statistics.geometric_mean(column) for column in zip(*ratios, strict=True)]
    rows.append(f"| geometric mean | | | | **{means[0]:.2f}** | **{means[1]:.2f}** |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: {' '.join(SCENES)}")
    parser.add_argument("--driver", default="jit")
    parser.add_argument("--runs", type=int, default=5, help="processes per side and scene")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(picture(options.child, options.names[0], options.size)))
        return
    found = {}
    with tempfile.TemporaryDirectory() as bytecode:
        for name in options.names or SCENES:
            for driver in ("native:llvmpipe", options.driver):
                sample(driver, name, options.size, "off", bytecode)
            found[name] = measure(name, options.driver, options.runs, options.size, bytecode)
            print(name, file=sys.stderr, flush=True)
    for clock in ("processor", "clock"):
        for phase in ("frame", "both"):
            print(table(found, clock, phase), end="\n\n")
    if options.json is not None:
        options.json.write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("EGL_PLATFORM", "surfaceless")
    main()
