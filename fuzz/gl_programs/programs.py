"""The programs that generated lines use: linked once for each context, their uniforms zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.gl_programs.es import HEADER
from fuzz.gl_programs.shaders import link, source
from gallette.state_tracker import GL

ATTRIBUTES = ("position", "color", "uv")
_STAGES = ("VERTEX", "TESS_CONTROL", "TESS_EVALUATION", "GEOMETRY", "FRAGMENT")


class Programs:
    """The programs of one context."""

    def __init__(self, gl: Any, profile: str) -> None:
        self.gl, self.profile = gl, profile
        self.linked: dict[tuple[Any, ...], int] = {}
        self.uses: dict[tuple[str, str, bool], int] = {}

    def program(self, vertex: str, fragment: str, capture: bool = False) -> int:
        """A linked program no other line of this program has; its uniforms are zero."""
        kind = (vertex, fragment, capture)
        number = self.uses.get(kind, 0)
        self.uses[kind] = number + 1
        name = self.linked.get((*kind, number))
        if name is None:
            language = "old" if vertex == "old" else "plain"
            head = "#version 120\n" if vertex == "old" else "#version 330\n"
            head = HEADER if self.profile == "es" else head
            pair = (("vertex", vertex), ("fragment", fragment))
            sources = {stage: head + source(language, stage, of) for stage, of in pair}
            captured = ("gl_Position", "v_color") if capture else ()
            name = self.link(sources, captured=captured, attributes=ATTRIBUTES)
            self.linked[(*kind, number)] = name
        else:
            self.gl.use_program(name)
            for uniform in ("offset", "tint"):
                self.uniform(name, uniform, 0.0, 0.0, 0.0, 0.0)
        return name

    def link(self, sources: dict[str, str], **how: Any) -> int:
        """A program of these stages, which must link."""
        name, log = link(self.gl, sources, **how)
        if log:
            raise RuntimeError(log)
        return name

    def drop(self, program: int) -> None:
        """Delete a program."""
        for kind in [kind for kind, name in self.linked.items() if name == program]:
            del self.linked[kind]
        self.gl.delete_program(program)

    def uniform(self, program: int, name: str, *values: float) -> None:
        """Set a vec4 of the program in use."""
        location = self.gl.get_uniform_location(program, name)
        self.gl.uniform4f(location, *values)

    # -- programs of all stages ----------------------------------------------------------------

    @staticmethod
    def _sources(vertex: str, evaluation: str, geometry: str, fragment: str) -> dict[str, str]:
        wanted = {
            "vertex": vertex,
            "tess_control": "control" if evaluation else "",
            "tess_evaluation": evaluation,
            "geometry": geometry,
            "fragment": fragment,
        }
        return {stage: source("new", stage, name) for stage, name in wanted.items() if name}

    def stages(self, vertex: str, evaluation: str, geometry: str, fragment: str) -> int:
        """One program of all stages."""
        return self._linked(self._sources(vertex, evaluation, geometry, fragment), False)

    def pipeline(self, vertex: str, evaluation: str, geometry: str, fragment: str) -> int:
        """A pipeline with a program of its own for each stage; none is in use instead of it."""
        gl = self.gl
        (name,) = gl.gen_program_pipelines(1)
        for stage, text in self._sources(vertex, evaluation, geometry, fragment).items():
            bit = getattr(GL, f"{stage.upper()}_SHADER_BIT")
            gl.use_program_stages(name, bit, self._linked({stage: text}, True))
        return int(name)

    def kernel(self, name: str) -> int:
        return self._linked({"compute": source("new", "compute", name)}, False)

    def _linked(self, sources: dict[str, str], separable: bool) -> int:
        """One of those that are kept for the next program; its uniforms are zero."""
        known, key = self.linked, ("stages", separable, *sources.values())
        if key not in known:
            texts = {stage: "#version 450\n" + text for stage, text in sources.items()}
            known[key] = self.link(texts, separable=separable)
        for location in (0, 1):
            self.set(known[key], location, 0.0, 0.0, 0.0, 0.0)
        return known[key]

    def set(self, program: int, location: int, *values: float) -> None:
        """A vec4 at this location, if the program has one there."""
        if location in self._locations(program):
            self.gl.program_uniform4f(program, location, *values)

    def _locations(self, program: int) -> set[int]:
        names = ("offset", "tint")
        return {self.gl.get_uniform_location(program, name) for name in names}

    def set_all(self, pipeline: int, location: int, *values: float) -> None:
        """The uniforms of the programs of a pipeline."""
        for stage in _STAGES:
            kind = getattr(GL, f"{stage}_SHADER")
            (program,) = self.gl.get_program_pipelineiv(pipeline, kind)[:1]
            if program:
                self.set(int(program), location, *values)

    def choose(self, program: int, function: str) -> None:
        """The subroutine of the program in use."""
        index = self.gl.get_subroutine_index(program, GL.FRAGMENT_SHADER, function)
        self.gl.uniform_subroutinesuiv(GL.FRAGMENT_SHADER, 1, np.array([index], np.uint32))
