"""A gallette without one of the topics of `state_tracker.topics`, and what works without it.

    python -m tests.state_tracker.left_out [TOPIC...]    all bundled tests, without each topic

The folder and the line of the table are really gone, in a copy of the state tracker.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from gallette.state_tracker.topics import TOPICS

ROOT = Path(__file__).parents[2]
PROGRAM = """
import json, sys
import numpy
import gallette
from gallette.compiler.errors import GalletteError
from gallette.piglit_subset.execute import run_file
from gallette.piglit_subset.suite import BUNDLED, find_tests
from gallette.state_tracker import getters
from gallette.state_tracker.entry_points.enums import GL

first, step, words = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
queried, results, errors = 0, {}, {}
for profile, version in (("core", (4, 6)), ("compat", (4, 6)), ("es", (3, 2)), ("es", (1, 1))):
    key = f"{profile} {version[0]}"
    try:
        gl = gallette.create_context("numpipe", profile=profile, version=version, size=(8, 8))
    except GalletteError as error:
        errors[key] = str(error)
        continue
    assert len(dir(gl)) > 400
    for pname in getters._GETTERS:
        queried += bool(gl.get_integerv(pname))
    for call, arguments in (
        ("push_attrib", (GL.ALL_ATTRIB_BITS,)), ("pop_attrib", ()),
        ("clear", (GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.ACCUM_BUFFER_BIT,)),
        ("begin", (GL.TRIANGLES,)), ("vertex2f", (0.0, 0.0)), ("vertex2f", (1.0, 0.0)),
        ("vertex2f", (0.0, 1.0)), ("end", ()), ("finish", ()),
    ):
        getattr(gl, call)(*arguments)
    while gl.get_error():
        pass
    for name in ("eval_coord1f", "accum", "gen_programs_arb", "gen_fragment_shaders_ati",
                 "get_texture_handle_arb", "tex_page_commitment_arb", "alpha_funcx", "matrix_mode"):
        function = gallette.state_tracker.entry_points.functions.FUNCTIONS.method(name)
        errors[f"{key} {name}"] = gl.has_function(function)
    gl.release()
for number, (name, path) in enumerate(find_tests([])):
    wanted = number % step == first
    if words and not wanted and BUNDLED in path.parents:
        wanted = any(word in path.read_text() for word in words)
    if wanted:
        found = run_file(path, "numpipe")
        results[name] = found.result, found.reason
print(json.dumps({"queried": queried, "errors": errors, "results": results}))
"""


def without(topic: str, folder: Path) -> Path:
    """A package `gallette` in the folder that has all but a topic."""
    package = folder / "gallette"
    package.mkdir()
    for entry in (ROOT / "gallette").iterdir():
        if entry.name not in ("state_tracker", "__pycache__"):
            (package / entry.name).symlink_to(entry.resolve())
    shutil.copytree(ROOT / "state_tracker", package / "state_tracker")  # and its bytecode
    optional = package / "state_tracker" / "optional"
    shutil.rmtree(optional / topic)  # those that need it remain, and are not imported
    table = optional / "topics.txt"
    lines = table.read_text().splitlines(keepends=True)
    table.write_text("".join(line for line in lines if line.split()[:1] != [topic]))
    return folder


def answers(folder: Path, first: int, step: int, *words: str) -> dict[str, Any]:
    """What the program says with the package in that folder: it runs every `step`-th bundled test
    from the first, and those whose text has one of the words.
    """
    env = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    env["GALLETTE_DEBUG"] = ""  # that shaders are valid has nothing to do with topics
    command = [sys.executable, "-c", PROGRAM, str(first), str(step), *words]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    bad = 0
    for topic in sys.argv[1:] or [topic.name for topic in TOPICS]:
        with tempfile.TemporaryDirectory() as folder:
            results = answers(without(topic, Path(folder)), 0, 1)["results"]
        wrong = {name: why for name, (result, why) in results.items() if result == "fail"}
        skipped = {name: why for name, (result, why) in results.items() if result == "skip"}
        print(f"without {topic}: {len(results)} tests, {len(skipped)} skip, {len(wrong)} fail")
        for name, why in (*skipped.items(), *wrong.items()):
            print(f"    {name}: {why}")
        bad += bool(wrong)
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
