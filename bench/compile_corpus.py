"""How long the bundled corpus takes to compile and link, against an older commit of this project.

    python bench/compile_corpus.py [--against REVISION] [--rounds 8] [--every 4] [--lines 500]

Two processes, one per revision, alternate over the bundled shader_tests (compile, then link; one
in four, or one in `--every N`), so that whatever else the machine does hits both. A program counts
with its fastest round, in processor time. The older revision is checked out into a temporary
folder. `--lines N` measures one long generated fragment shader instead of the corpus.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STAGES = {
    "vertex shader": "VERTEX",
    "tessellation control shader": "TESS_CTRL",
    "tessellation evaluation shader": "TESS_EVAL",
    "geometry shader": "GEOMETRY",
    "fragment shader": "FRAGMENT",
    "compute shader": "COMPUTE",
}


def programs(tests: list[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """(profile, [(stage, source)]) of the tests with shaders of their own."""
    found = []
    for path in tests:
        text = Path(path).read_text(encoding="utf-8")
        parts = re.split(r"^\[(.*?)\]\s*$", text, flags=re.MULTILINE)
        api = "core" if "CORE" in parts[2] else "compat"
        sources = [
            (STAGES[name], body.lstrip("\n"))
            for name, body in zip(parts[1::2], parts[2::2], strict=True)
            if name in STAGES
        ]
        if sources:
            found.append((api, sources))
    return found


def long_program(lines: int) -> list[tuple[str, list[tuple[str, str]]]]:
    """One fragment shader of so many statements, each depending on others."""
    body = ["#version 330", "in vec4 a;", "uniform vec4 u[8];", "out vec4 color;", "void main() {"]
    body.append("    vec4 v0 = a, v1 = a.yzwx, v2 = u[0], v3 = u[1];")
    for i in range(lines):
        x, y, z = f"v{i % 4}", f"v{(i * 7 + 1) % 4}", f"v{(i * 3 + 2) % 4}"
        if i % 10 == 9:
            body.append(f"    if ({x}.x > {y}.y) {{ {z} += {x}; }} else {{ {z} *= u[{i % 8}]; }}")
        else:
            body.append(f"    {x} = {y} * u[{i % 8}] + {z}.{'wzyx' if i % 2 else 'yxwz'} * {i}.5;")
    return [("core", [("FRAGMENT", "\n".join([*body, "    color = v0 + v1 + v2 + v3;", "}"]))])]


def child(lines: int, tests: list[str]) -> None:
    """Once for every line on standard input; answers with seconds of the fastest rounds so far."""
    # Before 22 November 2026 the packages stood at the top.
    package = "gallette." if Path("gallette", "compiler").exists() else ""
    api = importlib.import_module(f"{package}compiler.glsl.api")
    link_options = importlib.import_module(f"{package}compiler.glsl").LinkOptions
    stages = importlib.import_module(f"{package}compiler.nir.ir").Stage

    jobs = long_program(lines) if lines else programs(tests)
    best = [(math.inf, math.inf)] * len(jobs)
    for _ in sys.stdin:
        instrs = 0
        getattr(api, "_recent", {}).clear()  # texts that were compiled in the round before
        for number, (profile, sources) in enumerate(jobs):
            start = time.process_time()
            shaders = [
                api.compile_shader(stages[stage], [text], api.CompileOptions(api=profile))
                for stage, text in sources
            ]
            middle = end = time.process_time()
            if all(shader.ok for shader in shaders):
                program = api.link_program(shaders, link_options(separable=bool(lines)))
                end = time.process_time()
                for shader in program.shaders.values():
                    instrs += shader.count_instrs()
                    shader.unref()
            fastest = best[number]
            best[number] = min(fastest[0], middle - start), min(fastest[1], end - middle)
        print(sum(b[0] for b in best), sum(b[1] for b in best), instrs, flush=True)


def start(root: Path, lines: int, tests: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(Path(__file__).resolve()), "--child", str(tests)]
    command += ["--lines", str(lines)]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=root
    )


def measure(process: subprocess.Popen[str]) -> list[float]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    return [float(word) for word in process.stdout.readline().split()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", help="a commit to compare with")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--every", type=int, default=4, help="one in so many bundled tests")
    parser.add_argument("--lines", type=int, default=0, help="a generated shader of this length")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options: Any = parser.parse_args()
    if options.child:
        child(options.lines, options.child.read_text().splitlines())
        return
    from gallette.piglit_subset.suite import find_tests

    with tempfile.TemporaryDirectory() as folder:
        tests = Path(folder) / "tests"  # both sides read the files of this checkout
        tests.write_text("\n".join(str(path) for _, path in find_tests([])[:: options.every]))
        sides = {"now": ROOT}
        if options.against:
            old = Path(folder) / "old"
            add = ["git", "worktree", "add", "--detach", str(old), options.against]
            subprocess.run(add, cwd=ROOT, check=True, capture_output=True)
            sides[options.against] = old
        try:
            processes = {name: start(root, options.lines, tests) for name, root in sides.items()}
            for process in processes.values():
                measure(process)  # imports, tables, caches
            figures: dict[str, list[float]] = {}
            for _ in range(options.rounds):
                for name, process in processes.items():
                    figures[name] = measure(process)
            for process in processes.values():
                assert process.stdin is not None
                process.stdin.close()
                process.wait()
        finally:
            if options.against:
                remove = ["git", "worktree", "remove", "--force", str(old)]
                subprocess.run(remove, cwd=ROOT, check=True, capture_output=True)
    for name, (compiling, linking, instrs) in figures.items():
        print(
            f"{name:12} compile {compiling * 1e3:8.0f} ms   link {linking * 1e3:8.0f} ms   "
            f"both {(compiling + linking) * 1e3:8.0f} ms   {instrs:,.0f} instructions"
        )
    if options.against:
        now, then = figures["now"], figures[options.against]
        print(
            f"now / then: compile {now[0] / then[0]:.2f}, link {now[1] / then[1]:.2f}, "
            f"both {sum(now[:2]) / sum(then[:2]):.2f}"
        )


if __name__ == "__main__":
    main()
