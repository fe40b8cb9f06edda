"""Parses `.shader_test` files: sections of shaders, requirements, vertex data and commands.

A file is a sequence of sections. `[require]` lists what the implementation must support, shader
sections contain GLSL (or assembly programs, or SPIR-V), `[vertex data]` is a table of vertices and
`[test]` a list of commands to run in order. Line numbers are kept, so an error found while running
a command points into the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gallette.compiler.errors import InputError
from gallette.compiler.nir.ir.modes import GL_NAMES, IN_PROSE
from gallette.piglit_subset.suite import file_at
from gallette.piglit_subset.text import Line

# Section head -> (stage as GL names it, form of the text).
_STAGES = {name: f"{GL_NAMES[stage]}_SHADER" for stage, name in IN_PROSE.items()}
SHADER_SECTIONS: dict[str, tuple[str, str]] = {
    **{f"{name} shader": (stage, "glsl") for name, stage in _STAGES.items()},
    **{f"{name} shader spirv": (stage, "spirv") for name, stage in _STAGES.items()},
    **{f"{name} shader specializations": (stage, "spec") for name, stage in _STAGES.items()},
    "vertex shader passthrough": ("VERTEX_SHADER", "passthrough"),
    "vertex program": ("VERTEX_PROGRAM_ARB", "assembly"),
    "fragment program": ("FRAGMENT_PROGRAM_ARB", "assembly"),
    "shader include": ("INCLUDE", "include"),
}
_LINE_SECTIONS = {
    "require", "test", "vertex data", "elements", "geometry layout", "shader include paths",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShaderSource:
    """One shader of the file; `line` is the number of its first source line."""

    stage: str
    form: str
    text: str
    line: int


@dataclass(slots=True)
class ShaderTest:
    """A parsed file. The line lists contain only non-empty lines, without comments."""

    name: str
    require: list[Line] = field(default_factory=list)
    shaders: list[ShaderSource] = field(default_factory=list)
    vertex_data: list[Line] = field(default_factory=list)
    elements: list[Line] = field(default_factory=list)
    commands: list[Line] = field(default_factory=list)
    geometry_layout: list[Line] = field(default_factory=list)
    include_paths: list[Line] = field(default_factory=list)
    # The table of `vertex_data`, after it was parsed.
    vertices: tuple[list[Any], Any] | None = None

    def stages(self) -> list[str]:
        return [s.stage for s in self.shaders]


def parse_file(path: Path) -> ShaderTest:
    """Read a file, or a generated test by its place in the bundled suite."""
    path = file_at(path) or path
    try:
        # Old tests have Latin-1 names in their comments: any byte must be readable.
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror or error}") from None
    return parse_text(text, str(path))


def parse_text(text: str, name: str = "<shader_test>") -> ShaderTest:
    test = ShaderTest(name)
    targets = {
        "require": test.require,
        "test": test.commands,
        "vertex data": test.vertex_data,
        "elements": test.elements,
        "geometry layout": test.geometry_layout,
        "shader include paths": test.include_paths,
    }
    section = ""
    body: list[str] = []
    body_line = 0
    prose = False  # inside a /* comment */ of a section of lines

    def close() -> None:
        if section in SHADER_SECTIONS:
            stage, form = SHADER_SECTIONS[section]
            source = "\n".join(body) + "\n"
            test.shaders.append(ShaderSource(stage, form, source, body_line))

    for number, raw in enumerate(text.splitlines(), 1):
        if raw.startswith("["):
            close()
            section = _section_name(Line(number, raw, name))
            body, body_line, prose = [], number + 1, False
        elif section in SHADER_SECTIONS:
            body.append(raw)
        elif section in _LINE_SECTIONS:
            line = Line(number, raw.split("#", 1)[0].rstrip(), name)
            stripped = line.text.strip()
            prose = prose or stripped.startswith("/*")
            if stripped and not prose and not stripped.startswith("//"):
                targets[section].append(line)
            prose = prose and "*/" not in stripped
        # Text before the first section describes the test.
    close()
    if not section:
        raise InputError(f"{name}: no [section] in the file")
    return test


def _section_name(line: Line) -> str:
    head, bracket, rest = line.text[1:].partition("]")
    if not bracket:
        raise line.error("a section head needs a closing ']'")
    if rest.strip() and not rest.lstrip().startswith("#"):
        raise line.error("unexpected text after the section head", len(head) + 2)
    section = " ".join(head.split())
    if section not in SHADER_SECTIONS and section not in _LINE_SECTIONS:
        raise line.error(f"unknown section [{section}]")
    return section
