"""The shaders of random programs, read from `shaders.txt`, and how sources become a program."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gallette.state_tracker import GL

_HEAD = re.compile(r"== (?P<of>\w+ \w+)(?P<bare>!?)(?: (?P<name>\w+))?(?: : (?P<kind>\w+))?\n")
SAMPLED: dict[str, str] = {}
"""which kind of texture a new fragment shader reads"""


@cache
def _sources() -> dict[str, dict[str, str]]:
    """By language and stage, then by name."""
    found: dict[str, dict[str, str]] = {}
    before: dict[str, str] = {}
    text = Path(__file__).with_name("shaders.txt").read_text()
    heads = [*_HEAD.finditer(text)]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        of, body = head["of"], text[head.end() : end]
        if not head["name"]:
            before[of] = body
            continue
        known = found.setdefault(of, {})
        known[head["name"]] = body if head["bare"] else before.get(of, "") + body
        if head["kind"]:
            SAMPLED[head["name"]] = head["kind"]
    return found


def source(language: str, stage: str, name: str) -> str:
    """Without its version."""
    return _sources()[f"{language} {stage}"][name]


def names(stage: str) -> list[str]:
    """Those of a stage of new programs."""
    return [*_sources()[f"new {stage}"]]


def link(
    gl: Any,
    sources: Mapping[str, str | bytes],
    captured: Sequence[str] = (),
    mode: int = GL.INTERLEAVED_ATTRIBS,
    separable: bool = False,
    attributes: Sequence[str] = (),
    entries: Mapping[str, str] = MappingProxyType({}),
    constants: Mapping[str, Mapping[int, int]] = MappingProxyType({}),
) -> tuple[int, str]:
    """A program of these stages ("vertex", "VERTEX"), and why it did not link, if it did not.

    Sources are GLSL or modules of SPIR-V, which have entry points and specialized constants.
    """
    name, log = gl.create_program(), ""
    for stage, text in sources.items():
        shader = gl.create_shader(getattr(GL, f"{stage.upper()}_SHADER"))
        if isinstance(text, bytes):
            gl.shader_binary(1, [shader], GL.SHADER_BINARY_FORMAT_SPIR_V, text, len(text))
            given = constants.get(stage, {})
            values = [*given], [*given.values()]
            gl.specialize_shader_arb(shader, entries.get(stage, "main"), len(given), *values)
        else:
            gl.shader_source(shader, text)
            gl.compile_shader(shader)
        if not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
            log += gl.get_shader_info_log(shader)
        gl.attach_shader(name, shader)
        gl.delete_shader(shader)
    for index, attribute in enumerate(attributes):
        gl.bind_attrib_location(name, index, attribute)
    if captured:
        gl.transform_feedback_varyings(name, len(captured), list(captured), mode)
    if separable:
        gl.program_parameteri(name, GL.PROGRAM_SEPARABLE, 1)
    gl.link_program(name)
    if not gl.get_programiv(name, GL.LINK_STATUS)[0]:
        log += gl.get_program_info_log(name) or "not linked"
    return int(name), log
