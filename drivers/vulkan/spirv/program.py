"""A module whose locations and bindings are filled in when a pipeline is made.

Stages are compiled separately, so neither knows the other's slots. A `Program` records which words
of its module are the location of a slot or the binding of a descriptor.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.spirv.module import Module

Open = tuple[str, int]
"""What a word stands for: `("in", slot)`, `("out", slot)`, or a descriptor such as `("tex", 3)`."""


@lazy_dataclass(frozen=True)
class Binding:
    """A descriptor of a program: its VkDescriptorType, how many there are, and their shape.

    `shape` of textures and images is (Dim, is it an array?, letter of the texels, is it compared?).
    """

    type: int
    count: int = 1
    shape: tuple[str, bool, str, bool] = ("2D", False, "f", False)


@lazy_dataclass(eq=False)
class Program:
    """One stage of a pipeline."""

    stage: Stage
    words: npt.NDArray[np.uint32]
    open: tuple[tuple[int, Open], ...]  # indices of words, and what they stand for
    bindings: dict[Open, Binding]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    wide_inputs: frozenset[int] = frozenset()  # of vertex shaders: those of two locations
    doubles: frozenset[int] = frozenset()  # of vertex shaders: inputs of 64 bits
    writes_memory: bool = False
    pushes_first: bool = False  # does it read which vertex the draw began at?
    module: Module | None = field(default=None, repr=False)

    def linked(self, numbers: Mapping[Open, int]) -> npt.NDArray[np.uint32]:
        """The module with its locations and bindings."""
        words = self.words.copy()
        for index, what in self.open:
            words[index] = numbers[what]
        return words
