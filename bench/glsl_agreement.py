"""How often the GLSL front end agrees with a shader_test about what compiles and links.

    python bench/glsl_agreement.py DIRECTORY|LIST_FILE... [--sample N] [--show N] [--jobs N]

A test agrees when every shader compiles and linking gives what it asks for: `link error` in its
[test] section wants an error, everything else a program. Tests of assembly programs or SPIR-V, or
that require an extension the compiler does not have, are out of scope and counted apart.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import posixpath
import random
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gallette.compiler.glsl import (  # noqa: E402
    EXTENSIONS,
    CompileOptions,
    LinkOptions,
    compile_shader,
    link_program,
)
from gallette.compiler.nir.ir import Stage  # noqa: E402

STAGES = {
    "vertex": Stage.VERTEX,
    "tessellation control": Stage.TESS_CTRL,
    "tessellation evaluation": Stage.TESS_EVAL,
    "geometry": Stage.GEOMETRY,
    "fragment": Stage.FRAGMENT,
    "compute": Stage.COMPUTE,
}
PASSTHROUGH = """#if __VERSION__ >= 130
in vec4 piglit_vertex;
#else
attribute vec4 piglit_vertex;
#endif
void main() { gl_Position = piglit_vertex; }
"""


@dataclass
class Test:
    """What matters here of a shader_test."""

    path: str
    shaders: list[tuple[Stage, str]] = field(default_factory=list)
    includes: dict[str, str] = field(default_factory=dict)
    include_paths: list[str] = field(default_factory=list)
    geometry: dict[str, str] = field(default_factory=dict)
    out_of_scope: str = ""
    api: str = "core"
    separable: bool = False
    separate_stages: bool = False
    expect_error: bool = False
    version: str = "110"
    """what a shader without #version is compiled as"""
    xfb: list[str] = field(default_factory=list)


def parse(path: str) -> Test:
    """Read the sections of one test."""
    test = Test(path)
    text = Path(path).read_text(errors="replace").replace("\r\n", "\n")
    parts = re.split(r"^\[([^\]\n]*)\][^\n]*\n", text, flags=re.MULTILINE)
    glsl = 1.10
    for header, body in zip(parts[1::2], parts[2::2], strict=True):
        name = header.removesuffix(" shader")
        if header == "require":
            glsl = requirements(test, body)
        elif name in STAGES and header.endswith(" shader"):
            test.shaders.append((STAGES[name], body))
        elif header == "vertex shader passthrough":
            test.shaders.append((Stage.VERTEX, PASSTHROUGH))
        elif "spirv" in header or "program" in header or "specializations" in header:
            test.out_of_scope = header
        elif header == "shader include":
            first, _, rest = body.partition("\n")
            test.includes[posixpath.normpath(first.strip())] = rest
        elif header == "shader include paths":
            test.include_paths = [line for line in body.splitlines() if line.strip()]
        elif header == "geometry layout":
            for line in body.splitlines():
                words = line.split("#")[0].split()
                if words:
                    test.geometry[words[0]] = words[-1].removeprefix("GL_").lower()
        elif header == "test":
            test.expect_error = bool(re.search(r"^link error", body, re.MULTILINE))
            test.xfb = [m[1] for m in re.finditer(r"^xfb varying (\S+)", body, re.MULTILINE)]
    if test.api == "core" and glsl < 1.40:
        test.api = "compat"
    if not test.shaders:
        test.out_of_scope = test.out_of_scope or "no shaders"
    return test


def requirements(test: Test, body: str) -> float:
    glsl = 1.10
    for line in body.splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0].startswith("GL_") and len(words) == 1:
            short = words[0].removeprefix("GL_")
            if short in KNOWN_LANGUAGE and short not in EXTENSIONS:
                test.out_of_scope = f"requires {words[0]}"
        if words[:2] == ["GLSL", "ES"] or words[:2] == ["GL", "ES"]:
            test.api = "es"
            if words[1] == "ES" and words[0] == "GLSL":
                number = round(100 * float(words[3]))
                test.version = "100" if number == 100 else f"{number} es"
        elif words[:2] == ["GL", "COMPAT"]:
            test.api = "compat"
        elif words[0] == "GLSL" and len(words) == 3:
            glsl = float(words[2])
            test.version = str(round(100 * glsl))
        if words[:2] == ["SSO", "ENABLED"]:
            test.separate_stages = True
        if words[:2] == ["SEPARABLE", "PROGRAM"]:
            test.separable = True
        if words[:2] == ["SPIRV", "ONLY"]:
            test.out_of_scope = "SPIR-V"
    return glsl


# Extensions that change the language and are missing in the compiler put a test out of scope.
KNOWN_LANGUAGE = frozenset(
    (
        "ARB_sparse_texture2",
        "ARB_sparse_texture_clamp",
        "NV_gpu_shader5",
        "AMD_gpu_shader_half_float",
        "EXT_fragment_shading_rate",
        "NV_shader_thread_group",
    )
)


def run(path: str) -> tuple[str, str, str]:
    """(path, agree | differ | crash | out of scope, explanation)"""
    try:
        test = parse(path)
    except (OSError, ValueError) as error:
        return path, "out of scope", f"unreadable: {error}"
    if test.out_of_scope:
        return path, "out of scope", test.out_of_scope

    def include(name: str, current: str) -> str | None:
        if name.startswith("/"):
            return test.includes.get(posixpath.normpath(name))
        for directory in [posixpath.dirname(current), *test.include_paths]:
            found = test.includes.get(posixpath.normpath(f"{directory}/{name}"))
            if found is not None:
                return found
        return None

    options = CompileOptions(api=test.api, include=include)
    try:
        compiled = [
            compile_shader(
                stage,
                source if "#version" in source else f"#version {test.version}\n{source}",
                options,
            )
            for stage, source in test.shaders
        ]
        bad = next((c for c in compiled if not c.ok), None)
        if bad is not None:
            return path, "differ", f"does not compile:\n{bad.info_log}"
        groups = [compiled]
        if test.separate_stages:
            groups = [[c for c in compiled if c.stage is s] for s in Stage]
            groups = [g for g in groups if g]
        log, ok = "", True
        for group in groups:
            link = LinkOptions(
                api=test.api,
                separable=test.separable or test.separate_stages,
                optimize=False,
                xfb_varyings=test.xfb,
                geometry_input=test.geometry.get("input", ""),
                geometry_output=test.geometry.get("output", ""),
                geometry_max_vertices=int(test.geometry.get("vertices", 0)),
            )
            program = link_program(group, link)
            for shader in program.shaders.values():
                shader.unref()
            log += program.info_log
            ok = ok and program.ok
    except Exception as error:  # the point of the run is to find these
        return path, "crash", f"{type(error).__name__}: {error}"
    if ok == (not test.expect_error):
        return path, "agree", ""
    wanted = "error expected, none found" if test.expect_error else f"does not link:\n{log}"
    return path, "differ", wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    names: list[str] = []
    for given in args.paths:
        place = Path(given)
        if place.is_dir():
            names += [str(p) for p in sorted(place.rglob("*.shader_test"))]
        elif place.suffix == ".shader_test":
            names.append(given)
        else:
            names += place.read_text().split()
    if args.sample and args.sample < len(names):
        names = random.Random(0).sample(names, args.sample)
    start = time.perf_counter()
    with multiprocessing.Pool(args.jobs) as pool:
        results = list(pool.imap_unordered(run, names, chunksize=16))
    counts = collections.Counter(kind for _, kind, _ in results)
    shown = 0
    for path, kind, why in sorted(results):
        if kind in ("differ", "crash") and shown < args.show:
            print(f"--- {kind}: {path}\n{why[:600]}")
            shown += 1
    judged = counts["agree"] + counts["differ"] + counts["crash"]
    share = 100 * counts["agree"] / max(1, judged)
    seconds = time.perf_counter() - start
    print(
        f"{counts['agree']} of {judged} agree ({share:.2f} %), {counts['differ']} differ, "
        f"{counts['crash']} crash, {counts['out of scope']} out of scope, {seconds:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
