"""SPIR-V modules with hostile names: neither results nor generated code may depend on a name.

    python -m fuzz spirv-names --count 1000
    python -m fuzz spirv-names --driver numpipe,jit --seconds 60

Each case gives every id, member, string and entry point of a program a name that tries to leave
whatever text it is put into: line ends, quotes, braces, comments, bytes that are no UTF-8, code of
Python, LLVM IR and HTML. The program is then linked, from the modules or from a program binary made
of them, and run on each driver. A case fails if the result or the text of the generated code is
another than with plain names, if a name was executed, or if anything raises.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import struct
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fuzz.gl_programs.shaders import link
from fuzz.harness import Finding, Fuzzer
from fuzz.named_modules import PROGRAMS, Program
from gallette.compiler.spirv.grammar import opcode
from gallette.compiler.spirv.module import Instruction, Module, text_of
from gallette.state_tracker import create_context
from gallette.state_tracker.entry_points.enums import GL

DRIVERS = ("numpipe", "jit", "simd", "tiler")
MARK = "gallette_name_was_executed"
"""The attribute of `sys` that names set if they are executed."""

Namer = Callable[[], bytes]

_CODE = f"import sys; sys.{MARK} = True"
_PIECES = (
    *(
        "\n",
        "\r",
        "\r\n",
        "\v",
        "\f",
        "\x1c",
        "\x1e",
        "\x85",
        "\u2028",
        "\u2029",
        "\t",
        " ",
        "\x1b",
    ),
    *('"', "'", '"""', "'''", "\\", "\\n", "\\\n", "`", "{", "}", "{0}", "{{", "%s", "%(a)s", "$"),
    *("#", ";", "//", "/*", "*/", "<!--", "-->", "</script>", "]]>", "&lt;", "<b>", "(", ")", ","),
    *("main", "state", "lanes", "gl_Position", "gl_FragCoord", "v1", "rows0", "None", "0", ""),
    f"\n    {_CODE}\n",
    f"\r    {_CODE}\r",
    f'"""\n    {_CODE}\n    """',
    f"\n    return\n{_CODE}\n",
    "\n}\ndefine void @main(ptr %ctx) {\n  ret void\n}\n",
    '\nmodule asm "ud2"\n',
    "\n   0: end\n",
)
_BYTES = (b"\xff", b"\xfe\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\0")
_MOST_WORDS = 1 << 14  # of a name: an instruction has fewer than 2^16
_LONGEST_LABEL = 80  # a byte may become a character of three in UTF-8

_DROPPED = frozenset(
    map(opcode, ("OpName", "OpMemberName", "OpString", "OpSource", "OpLine", "OpModuleProcessed"))
)
_ENTRY, _STRUCT = opcode("OpEntryPoint"), opcode("OpTypeStruct")
_DECORATIONS = frozenset(map(opcode, ("OpDecorate", "OpMemberDecorate")))


def plain() -> Namer:
    """Names `n1`, `n2`, and so on."""
    numbers = iter(range(1, 1 << 30))
    return lambda: f"n{next(numbers)}".encode()


def hostile(random_: random.Random) -> Namer:
    """Names made of pieces that mean something in some language, all different or all the same."""
    same = _hostile_name(random_) if random_.random() < 0.1 else None
    return lambda: _hostile_name(random_) if same is None else same


def _hostile_name(random_: random.Random) -> bytes:
    pieces = []
    for _ in range(random_.choice((1, 1, 2, 3, 5, 9))):
        if random_.random() < 0.15:
            pieces.append(random_.choice(_BYTES))
        elif random_.random() < 0.1:
            pieces.append(chr(random_.choice((random_.randrange(0xD800), 0x10FFFF))).encode())
        else:
            pieces.append(random_.choice(_PIECES).encode())
    name = b"".join(pieces)
    return name * random_.choice((1, 100, 2000)) if random_.random() < 0.02 else name


def _words(name: bytes) -> tuple[int, ...]:
    """A string literal of any bytes: its reader stops at the first zero."""
    data = name[: 4 * _MOST_WORDS] + b"\0"
    data += b"\0" * (-len(data) % 4)
    return struct.unpack(f"<{len(data) // 4}I", data)


def renamed(module: Module, name: Namer) -> tuple[Module, str]:
    """The module with names for all there is in it, and what its entry point is called."""
    kept = [i for i in module.instructions if i.opcode not in _DROPPED]
    first = next(k for k, i in enumerate(kept) if i.opcode in _DECORATIONS)
    entry, string = "", module.bound
    names = [
        Instruction(opcode("OpString"), (string, *_words(name()))),
        Instruction(opcode("OpSource"), (2, 450, string, *_words(name()))),
        Instruction(opcode("OpModuleProcessed"), _words(name())),
    ]
    put: list[Instruction] = []
    for instr in kept:
        if instr.opcode == _ENTRY:
            words = _words(name())
            _, behind = text_of(instr.words, 2)
            entry = text_of(words)[0]
            instr = Instruction(_ENTRY, (*instr.words[:2], *words, *instr.words[behind:]))
        if instr.result_id:
            names.append(Instruction(opcode("OpName"), (instr.result_id, *_words(name()))))
        if instr.opcode == _STRUCT:
            for member in range(len(instr.words) - 1):
                about = instr.result_id, member
                names.append(Instruction(opcode("OpMemberName"), (*about, *_words(name()))))
        put.append(instr)
    made = [*put[:first], *names, *put[first:]]
    return Module(module.version, module.generator, module.bound + 1, 0, made), entry


@dataclass(frozen=True)
class Outcome:
    """What a program gave, and the text of all code that was made for it."""

    result: bytes
    code: tuple[str, ...]


class Runner:
    """The context of one driver, and what the programs give there under plain names."""

    def __init__(self, driver: str) -> None:
        self.driver = driver
        self.gl = create_context(driver, profile="core", version=(3, 3), size=(8, 8))
        self._prepare()
        self.plain = [self.run(program, plain()) for program in PROGRAMS]

    def release(self) -> None:
        self.gl.release()

    def _prepare(self) -> None:
        gl = self.gl
        corners = struct.pack("12f", -1, -1, 0, 1, 3, -1, 0, 1, -1, 3, 0, 1)
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.ARRAY_BUFFER, len(corners), corners, GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(0, 4, GL.FLOAT, False, 0, 0)
        gl.enable_vertex_attrib_array(0)
        gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
        texels = bytes(range(64))
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
        self.store, self.block = gl.gen_buffers(2)
        rows = struct.pack("16f", *(n / 8 for n in range(16)))
        gl.bind_buffer_base(GL.UNIFORM_BUFFER, 0, self.block)
        gl.buffer_data(GL.UNIFORM_BUFFER, len(rows), rows, GL.STATIC_DRAW)
        gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, self.store)

    def run(self, program: Program, name: Namer, binary: bool = False) -> Outcome:
        """Link and run a program with such names; `binary`: after a way through a binary."""
        gl = self.gl
        label, modules, entries = name()[:_LONGEST_LABEL], {}, {}
        for stage, module in program.stages.items():
            changed, entries[stage] = renamed(module, name)
            modules[stage] = changed.to_bytes()
        made, log = link(gl, modules, entries=entries)
        assert not log, log
        gl.object_label(GL.PROGRAM, made, len(label), label)
        if binary:
            format, raw = gl.get_program_binary(made)
            gl.delete_program(made)
            made = int(gl.create_program())
            raw = _with_more_names(raw, name)
            gl.program_binary(made, format, raw, len(raw))
        assert gl.get_programiv(made, GL.LINK_STATUS) == [1], gl.get_program_info_log(made)
        gl.use_program(made)
        result = self._dispatched() if "compute" in program.stages else self._drawn()
        handles = gl.programs.executable.handles.values()
        code = tuple(text for handle in handles for text in _texts(handle))
        assert gl.get_error() == 0
        gl.use_program(0)
        gl.delete_program(made)
        return Outcome(result, code)

    def _dispatched(self) -> bytes:
        gl, words = self.gl, struct.pack("16I", *range(16))
        gl.buffer_data(GL.SHADER_STORAGE_BUFFER, len(words), words, GL.STATIC_DRAW)
        gl.dispatch_compute(1, 1, 1)
        return bytes(gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, 64))

    def _drawn(self) -> bytes:
        gl = self.gl
        for tint in range(4):
            gl.uniform4f(4 + tint, tint / 4, 0.5, 1 - tint / 4, 1.0)
        gl.uniform1f(11, 0.75)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        return bytes(gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE))


def _with_more_names(raw: bytes, name: Namer) -> bytes:
    """The program binary with names of attributes, outputs and more that no shader has."""
    start = raw.index(b"x", raw.index(b" ", raw.index(b" ") + 1))
    described = json.loads(zlib.decompress(raw[start:]))
    described["attributes"] = {_bindable(name()): 3}
    described["outputs"] = {_bindable(name()): (2, 0)}
    for shader in described["shaders"]:
        assert base64.b64decode(shader["code"])
        shader["source"] = name().decode("utf-8", "replace")
        shader["included"] = [[name().decode("utf-8", "replace"), None]]
    return raw[:start] + zlib.compress(json.dumps(described).encode())


def _bindable(name: bytes) -> str:
    """A name that a location may be bound to: built-in ones have none."""
    text = name.decode("utf-8", "replace")
    return f"x{text}" if text.startswith("gl_") else text


def _texts(handle: Any) -> Sequence[str]:
    """The code a driver made of a shader: of all variants, and what they are called."""
    found = []
    for variant in handle.variants.values():
        program = variant.program
        if handle.compiler.name != "jit":  # whose text explains, which takes long
            found.append(handle.compiler.text(program))
        found.append(program.code if isinstance(program.code, str) else "")
        run = getattr(program, "run", None)
        found.append(getattr(getattr(run, "__code__", None), "co_filename", ""))
        found += [tile.code.text for tile in getattr(program, "tiles", {}).values() if tile]
    return found


class Names(Fuzzer[int]):
    """The programs under hostile names, on every driver; an input is its number."""

    limit = 90.0

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.set_defaults(driver=",".join(DRIVERS))

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        self.runners = [Runner(driver) for driver in options.driver.split(",")]

    def make(self, number: int) -> int:
        return number

    def attempt(self, given: int) -> str:
        which = given % len(PROGRAMS)
        for runner in self.runners:
            random_ = random.Random(given)
            found = runner.run(PROGRAMS[which], hostile(random_), random_.random() < 0.3)
            wanted = runner.plain[which]
            if getattr(sys, MARK, False):
                delattr(sys, MARK)
                raise Finding(f"a name was executed on {runner.driver}")
            if found.result != wanted.result:
                raise Finding(f"the result is another on {runner.driver}")
            if found.code != wanted.code:
                raise Finding(f"the generated code is another on {runner.driver}")
        return "alike"

    def release(self) -> None:
        for runner in self.runners:
            runner.release()


FUZZER = Names
