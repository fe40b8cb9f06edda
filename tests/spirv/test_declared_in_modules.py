"""What a module declares that is written for a shader, and what it is when it is read again."""

from __future__ import annotations

from pathlib import Path

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.text.printer import print_shader
from gallette.compiler.spirv.disassembler import disassemble
from gallette.compiler.spirv.emit import nir_to_spirv
from gallette.compiler.spirv.module import Module, read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir
from tests.glsl.test_linked_declarations import PROGRAMS, parts_of

WANTED = (Path(__file__).parent / "declared.txt").read_text(encoding="ascii").splitlines()[2:]
KEPT = {"OpCapability", "OpExtension", "OpEntryPoint", "OpExecutionMode", "OpMemoryModel"}
KEPT |= {"OpDecorate", "OpMemberDecorate", "OpVariable"}


def declared(program: str) -> list[str]:
    """A line for each shader, each declaration of its module, each of what that becomes."""
    api, options, texts, _ = parts_of(program)
    shaders = [compile_shader(stage, text, CompileOptions(api=api)) for stage, text in texts]
    linked = link_program(shaders, LinkOptions(api=api, optimize=False, **options))
    found = []
    for nir in linked.shaders.values():
        found.append(f"# {nir.stage.value}")
        module = nir_to_spirv(nir)
        assert module.version == Module().version == 0x00010500  # SPIR-V 1.5
        lines = [line.split() for line in disassemble(module).splitlines()]
        found += [" ".join(words) for words in lines if KEPT.intersection(words[:3])]
        back = spirv_to_nir(read_module(module.to_bytes()))
        text = print_shader(back).partition("\nfunction ")[0]
        found += [f"> {line}" for line in text.splitlines()]
        nir.unref()
        back.unref()
    return found


def test_modules_declare_what_is_written_here() -> None:
    found = [
        line for program in PROGRAMS if "subroutine" not in program for line in declared(program)
    ]
    assert found == WANTED
