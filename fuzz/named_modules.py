"""The modules of `named_modules.spvasm`, which says what they are for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import Module, read_module


@dataclass(frozen=True)
class Program:
    """The modules of a program, by stage."""

    stages: Mapping[str, Module]

    @classmethod
    def of(cls, *stages: str) -> Program:
        """Of parts of the text: "vertex", "fragment" or "compute"."""
        return cls({stage: read_module(assemble(_assembly(stage)).to_bytes()) for stage in stages})


_TEXT = Path(__file__).with_suffix(".spvasm").read_text()
_PARTS = dict(part.split("\n", 1) for part in _TEXT.split("\n;; ")[1:])


def _assembly(part: str) -> str:
    return re.sub(r"^\{(\w+)\}$", lambda found: _assembly(found[1]), _PARTS[part], flags=re.M)


PROGRAMS = (Program.of("compute"), Program.of("vertex", "fragment"))
