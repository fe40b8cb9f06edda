"""Immutable records of the state that the fragment engine reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.drivers.common.program import BoundProgram, ProgramFacts
from gallette.drivers.common.work import Work
from gallette.pipe.state import DepthStencilAlphaState

from .color import ColorTarget
from .depth import DepthTarget


@lazy_dataclass(frozen=True)
class SeveralPrograms:
    """The programs of merged draws: the same code with different textures."""

    programs: Sequence[BoundProgram | None]
    which: npt.NDArray[np.uint16]  # program number by primitive identity
    begins: Sequence[Callable[[], None]]  # called before each of them runs


@lazy_dataclass(frozen=True)
class FragmentShader:
    """The fragment program with its resources; None if the draw has no fragment shader."""

    program: BoundProgram | None = None
    quads: bool = False  # must be run on whole 2x2 quads
    several: SeveralPrograms | None = None  # `program` is the first of them


@lazy_dataclass(frozen=True)
class FragmentState:
    """The state of draws that the engine needs, apart from what their shaders read."""

    width: int  # pixels are numbered in rows of this width
    plane: int  # and layers of this size
    layers: int
    colors: Sequence[ColorTarget | None]
    depth: DepthTarget | None
    tests: DepthStencilAlphaState
    references: tuple[int, int]
    facts: ProgramFacts | None
    counting: bool  # samples that pass must be counted exactly
    depth_clamp: tuple[float, float] | None = None
    sample_mask: int = 0xFFFFFFFF
    work: Work = field(default_factory=Work)
