"""Shaders that make the compiler work: one construct each, ever more often or ever deeper.

    python -m fuzz compile-bombs --driver jit --seconds 60
    python -m fuzz compile-bombs --driver numpipe --only glsl/loops --size 250

A case compiles, links and draws with a shader of `bombs` twice: with a quarter of a construct's
largest size (or of `--size`), and with all of it. Each ends in a result or in an error of the log.
A case fails if anything raises or the process dies, if it takes more than `--longest` seconds of
the processor or more than `--most` MiB, or if four times as much takes far more than four times as
long.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import struct
import time
from typing import Any

from fuzz.bombs import BOMBS, Bomb
from fuzz.gl_programs.shaders import link
from fuzz.harness import Finding, Fuzzer
from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.spirv.assembler import assemble
from gallette.state_tracker import create_context
from gallette.state_tracker.entry_points.enums import GL

DRIVERS = ("numpipe", "jit", "simd", "tiler")
_VERTEX = """#version 430
void main() { gl_Position = vec4(gl_VertexID % 2 * 4 - 1, gl_VertexID / 2 * 4 - 1, 0, 1); }
"""
_STEEP = 3.0
"""Four times as much may take so many times longer than four times as long..."""
_SHORT = 3.0
"""...unless it takes less than so many seconds."""


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
        program, log = link(gl, {"vertex": _VERTEX, "fragment": source})
        if log:
            return "refused", log
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
        program, log = link(gl, {"compute": data})
        if log:
            gl.get_error()
            return "refused", log
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


Construct = tuple[str, str, int]
"""a construct, a driver, and how much of it"""


class CompileBombs(Fuzzer[Construct]):
    """All constructs on all drivers, each in a process of its own."""

    memory = 8 << 30
    lasting = False
    limit = 160.0

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.set_defaults(driver=",".join(DRIVERS))
        parser.add_argument(
            "--only", metavar="NAME", default="", help="those with this in the name"
        )
        parser.add_argument("--size", type=int, default=0, help="instead of the construct's own")
        parser.add_argument("--longest", type=float, default=20.0, help="seconds of a shader")
        parser.add_argument("--most", type=int, default=2048, help="MiB that a shader may take")
        parser.add_argument("--order", type=int, default=0, help="in another order, unless it is 0")

    @classmethod
    def prepare(cls, options: argparse.Namespace) -> list[Construct]:
        os.environ["GALLETTE_CACHE"] = "off"
        drivers = options.driver.split(",")
        cases = [
            (name, driver, options.size or bomb.most)
            for name, bomb in BOMBS.items()
            if options.only in name
            for driver in drivers
        ]
        if options.order:
            random.Random(options.order).shuffle(cases)
        options.count = min(options.count, len(cases) - options.first)
        return cases

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        self.cases: list[Construct] = prepared

    def make(self, number: int) -> Construct:
        return self.cases[number]

    def attempt(self, given: Construct) -> str:
        name, driver, size = given
        runner, bomb = Runner(driver), BOMBS[name]
        few = max(1, size // 4)
        took, held = {}, _peak()
        for part in sorted({few, size}):
            source = prepared(bomb, part)
            self.say(f"{part} of {name} on {driver}")
            start = time.process_time()
            how, _ = runner.run(bomb.language, source)
            took[how, part] = seconds = time.process_time() - start
            most = _peak() - held
            if seconds > self.options.longest:
                raise Finding(f"{name} takes long on {driver}", f"{part} take {seconds:.1f} s")
            if most > self.options.most:
                raise Finding(f"{name} takes much on {driver}", f"{part} take {most} MiB")
        before, after = took.get((how, few)), took[how, size]
        if before and after > max(_SHORT, _STEEP * before * size / few):
            text = f"{few} take {before:.2f} s, {size} {after:.2f} s"
            raise Finding(f"{name} grows steeply on {driver}", text)
        return how


FUZZER = CompileBombs


def _peak() -> int:
    """The most memory that the process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
