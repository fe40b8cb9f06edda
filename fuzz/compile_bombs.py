"""Shaders that make the compiler work: one construct each, ever more often or ever deeper.

    python fuzz/compile_bombs.py --driver jit --seconds 60
    python fuzz/compile_bombs.py --driver numpipe --only glsl/loops --size 250
    python fuzz/compile_bombs.py --list

A case compiles, links and draws with a shader of `bombs` twice, in a child process: with a quarter
of a construct's largest size (or of `--size`), and with all of it. Each ends in a result or in an
error of the log. A case fails if anything raises or the process dies, if it takes more than
`--limit` seconds of the processor or more than `--memory` MiB, or if four times as much takes far
more than four times as long. Exit status 1: some case failed; 2: a wrong option.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import struct
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bombs import BOMBS, Bomb

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.spirv.assembler import assemble
from gallette.state_tracker import create_context
from gallette.state_tracker.entry_points.enums import GL

__all__ = ["DRIVERS", "Runner"]

DRIVERS = ("numpipe", "jit", "simd", "tiler")
_VERTEX = """#version 430
void main() { gl_Position = vec4(gl_VertexID % 2 * 4 - 1, gl_VertexID / 2 * 4 - 1, 0, 1); }
"""
_STEEP = 3.0
"""Four times as much may take so many times longer than four times as long..."""
_SHORT = 3.0
"""...unless it takes less than so many seconds."""
_ADDRESSES = 8 << 30


class Runner:
    """Contexts of one driver, for shaders of every language."""

    def __init__(self, driver: str) -> None:
        self.gl = create_context(driver, profile="core", version=(4, 6), size=(8, 8))
        self.old = create_context(driver, profile="compat", version=(2, 1), size=(8, 8))

    def release(self) -> None:
        self.gl.release()
        self.old.release()

    def run(self, language: str, source: Any) -> tuple[str, str]:
        """Either ("drawn", the result) or ("refused", the log)."""
        return getattr(self, f"_run_{language}")(source)  # type: ignore[no-any-return]

    def _run_glsl(self, source: str) -> tuple[str, str]:
        gl = self.gl
        gl.make_current()
        program = gl.create_program()
        for stage, text in ((GL.VERTEX_SHADER, _VERTEX), (GL.FRAGMENT_SHADER, source)):
            shader = gl.create_shader(stage)
            gl.shader_source(shader, [text])
            gl.compile_shader(shader)
            if gl.get_shaderiv(shader, GL.COMPILE_STATUS) != [1]:
                return "refused", str(gl.get_shader_info_log(shader))
            gl.attach_shader(program, shader)
            gl.delete_shader(shader)
        gl.link_program(program)
        if gl.get_programiv(program, GL.LINK_STATUS) != [1]:
            return "refused", str(gl.get_program_info_log(program))
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        gl.use_program(program)
        for name, setter, value in (("u", gl.uniform1f, 0.5), ("m", gl.uniform1i, 1)):
            place = gl.get_uniform_location(program, name)
            if place >= 0:
                setter(place, value)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        return self._drawn(gl)

    def _drawn(self, gl: Any) -> tuple[str, str]:
        found = bytes(gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE)).hex()
        error = gl.get_error()
        return ("drawn", found) if not error else ("refused", f"error {error:#x}")

    def _run_spirv(self, data: bytes) -> tuple[str, str]:
        gl = self.gl
        gl.make_current()
        program, shader = gl.create_program(), gl.create_shader(GL.COMPUTE_SHADER)
        gl.shader_binary(1, [shader], GL.SHADER_BINARY_FORMAT_SPIR_V, data, len(data))
        gl.specialize_shader_arb(shader, "main", 0, None, None)
        if gl.get_shaderiv(shader, GL.COMPILE_STATUS) != [1]:
            gl.get_error()
            return "refused", str(gl.get_shader_info_log(shader))
        gl.attach_shader(program, shader)
        gl.link_program(program)
        if gl.get_programiv(program, GL.LINK_STATUS) != [1]:
            return "refused", str(gl.get_program_info_log(program))
        gl.use_program(program)
        gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.SHADER_STORAGE_BUFFER, 8, struct.pack("2f", 0.5, 0), GL.STATIC_DRAW)
        gl.dispatch_compute(1, 1, 1)
        found = bytes(gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, 8)).hex()
        error = gl.get_error()
        return ("drawn", found) if not error else ("refused", f"error {error:#x}")

    def _run_arb(self, source: str) -> tuple[str, str]:
        gl = self.old
        gl.make_current()
        target = GL.FRAGMENT_PROGRAM_ARB
        gl.bind_program_arb(target, gl.gen_programs_arb(1)[0])
        gl.program_string_arb(target, GL.PROGRAM_FORMAT_ASCII_ARB, len(source), source.encode())
        if gl.get_error():
            return "refused", str(gl.get_string(GL.PROGRAM_ERROR_STRING_ARB))
        gl.enable(target)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.begin(GL.TRIANGLES)
        for x, y in ((-1, -1), (3, -1), (-1, 3)):
            gl.vertex2f(x, y)
        gl.end()
        return self._drawn(gl)

    def _run_nir(self, source: str) -> tuple[str, str]:
        try:
            shader = parse(source)
            optimize(shader)
        except GalletteError as error:
            return "refused", str(error)
        shader.unref()
        return "drawn", ""


def prepared(bomb: Bomb, size: int) -> Any:
    """What the application hands over."""
    text = bomb.make(size)
    return assemble(text).to_bytes() if bomb.language == "spirv" else text


@dataclass
class Found:
    """What became of one shader."""

    size: int
    how: str
    what: str
    seconds: float
    mebibytes: int

    def __str__(self) -> str:
        return f"{self.size} {self.how} {self.seconds:.2f} s {self.mebibytes} MiB"


def child(driver: str, name: str, sizes: list[int]) -> int:
    """Run a case and print what was found, a line each."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    runner, bomb = Runner(driver), BOMBS[name]
    for size in sizes:
        source = prepared(bomb, size)
        start = time.process_time()
        try:
            how, what = runner.run(bomb.language, source)
        except BaseException:  # whatever it is, it is what is looked for
            how, what = "raised", traceback.format_exc()[-3000:]
        seconds = time.process_time() - start
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(json.dumps((size, how, what[:3000], seconds, most)), flush=True)
    os._exit(0)  # whatever the background still makes


def case(driver: str, name: str, size: int, limit: float, memory: int) -> tuple[list[Found], str]:
    """What was found of a case, and what is wrong with it."""
    sizes = sorted({max(1, size // 4), size})
    command = [sys.executable, __file__, "--child", driver, name, *map(str, sizes)]
    environment = {**os.environ, "GALLETTE_CACHE": "off"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=5 * limit + 60, env=environment
        )
        output, status, errors = done.stdout, done.returncode, done.stderr
    except subprocess.TimeoutExpired as stopped:
        output = (stopped.stdout or b"").decode()  # type: ignore[union-attr]
        status, errors = 0, "it does not end"
    found = [Found(*json.loads(line)) for line in output.splitlines()]
    for one in found:
        if one.how == "raised":
            return found, one.what
    if status or len(found) < len(sizes):
        return found, f"the process ended with status {status}: {errors[-2000:]}"
    few, many = found[0], found[-1]
    if many.seconds > limit:
        return found, f"{many.size} take {many.seconds:.1f} s"
    if many.mebibytes > memory:
        return found, f"{many.size} take {many.mebibytes} MiB"
    expected = many.size / few.size * few.seconds
    if few.how == many.how and many.seconds > max(_SHORT, _STEEP * expected):
        return found, f"{few.size} take {few.seconds:.2f} s, {many.size} {many.seconds:.2f} s"
    return found, ""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=__doc__[__doc__.index("\n") :],
    )
    parser.add_argument("--driver", action="append", choices=DRIVERS, help="default: all of them")
    parser.add_argument("--only", metavar="NAME", help="those whose name contains this")
    parser.add_argument("--size", type=int, default=0, help="instead of the construct's own")
    parser.add_argument("--count", type=int, default=1 << 30, help="cases")
    parser.add_argument("--seconds", type=float, default=0.0, help="begin no case after so long")
    parser.add_argument("--seed", type=int, default=0, help="in another order, unless it is 0")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds a shader may take")
    parser.add_argument("--memory", type=int, default=2048, help="MiB that it may take")
    parser.add_argument("--verbose", action="store_true", help="tell of every case")
    parser.add_argument("--list", action="store_true", help="list the constructs")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.names = [name for name in BOMBS if not options.only or options.only in name]
    if not options.names:
        parser.error(f"no construct is called {options.only}")
    return options


def main() -> int:
    options = _options()
    if options.child:
        driver, name, *sizes = options.child
        return child(driver, name, [int(size) for size in sizes])
    if options.list:
        print("\n".join(f"{name}  up to {BOMBS[name].most}" for name in options.names))
        return 0
    stop = time.monotonic() + options.seconds if options.seconds else float("inf")
    cases = [(name, driver) for name in options.names for driver in options.driver or DRIVERS]
    if options.seed:
        random.Random(options.seed).shuffle(cases)
    failures = done = 0
    for name, driver in cases[: options.count]:
        if time.monotonic() >= stop:
            break
        size = options.size or BOMBS[name].most
        found, wrong = case(driver, name, size, options.limit, options.memory)
        done += 1
        failures += bool(wrong)
        if wrong or options.verbose:
            times = ", ".join(
                f"{f.size} {f.how} {f.seconds:.2f} s {f.mebibytes} MiB" for f in found
            )
            print(f"{name} of {size} on {driver}: {wrong or 'ok'} [{times}]", flush=True)
            if wrong:
                print(f"    --driver {driver} --only {name} --size {size}", flush=True)
    print(f"{done} cases: {failures} failed")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
