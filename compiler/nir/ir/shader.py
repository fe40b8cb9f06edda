"""Shaders and functions, which contain the code.

A `Shader` is reference-counted (see `ownership`). It has `variables` (its interface and globals),
`functions`, and `info`, a summary that passes and drivers read. Locals of a function are in
`FunctionImpl.locals`. `cloning` makes copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.cf import Block, Body, blocks_in, list_blocks
from gallette.compiler.nir.ir.info import ShaderInfo
from gallette.compiler.nir.ir.metadata import Metadata, compute
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.ownership import COUNTERS, forget, track
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.variables import Parameter, Variable


@lazy_dataclass(eq=False)
class Function:
    """A named function; `impl` is None for a declaration.

    A function that returns a value does so through a deref parameter, by convention the first.
    """

    name: str
    params: list[Parameter] = field(default_factory=list)
    impl: FunctionImpl | None = None
    is_entry: bool = False


class FunctionImpl:
    """The code of a function: a body, local variables, and cached metadata."""

    __slots__ = (
        "body",
        "by_kind",
        "divergent_locals",
        "function",
        "idle",
        "locals",
        "shader",
        "valid",
        "version",
    )

    def __init__(self, shader: Shader, function: Function):
        self.shader = shader
        self.function = function
        self.locals: list[Variable] = []
        self.divergent_locals: frozenset[Variable] = frozenset()  # of `Metadata.DIVERGENCE`
        self.body: Body = []
        self.body.append(Block(self, self.body))
        self.valid = 0
        self.version = 0
        """counter of changes: facts about the code hold for one version"""
        self.idle: dict[object, int] = {}
        """by pass and options (`pass_runner.Step`), the version at which the pass made no
        progress
        """
        self.by_kind: Any = None  # owned by `queries.by_kind`
        function.impl = self

    @property
    def first(self) -> Block:
        return self.body[0]  # type: ignore[return-value]

    @property
    def last(self) -> Block:
        return self.body[-1]  # type: ignore[return-value]

    def blocks(self) -> Iterable[Block]:
        """Every block in source order."""
        return blocks_in(self.body)

    def invalidate(self) -> None:
        """Invalidate all metadata after a change of control flow."""
        self.valid = 0
        self.version += 1

    def preserve(self, kept: Metadata) -> None:
        """Invalidate all metadata but `kept` after a change."""
        self.valid &= int(kept)
        self.version += 1

    def require(self, wanted: Metadata) -> None:
        """Compute the parts of `wanted` that are not valid."""
        needed = int(wanted)
        if self.valid & needed != needed:
            compute(self, wanted)

    def add_local(self, name: str, type: Type, **attributes: Any) -> Variable:
        var = Variable(name, type, Mode.FUNCTION_TEMP, **attributes)
        self.locals.append(var)
        return var

    def dissolve(self) -> None:
        """Destroy the code by dropping all references within it.

        So it is freed at once instead of by the garbage collector.
        """
        for block in list_blocks(self.body):
            at = block.first
            block.dissolve()
            while at is not None:
                following = at.next
                at.block = at.prev = at.next = None
                if at.dest is not None:
                    at.dest.uses = {}
                    at.dest = None
                at.srcs = []
                at = following
        self.body = []
        self.by_kind = None
        self.function.impl = None

    def count_instrs(self) -> int:
        total = 0
        for block in list_blocks(self.body):
            at = block.first
            while at is not None:
                total += 1
                at = at.next
        return total


class Shader:
    """One shader of one stage, with its reference count (initially one)."""

    __slots__ = (
        "__weakref__",
        "applied",
        "functions",
        "info",
        "label",
        "name",
        "refcount",
        "stage",
        "variables",
    )

    def __init__(self, stage: Stage, name: str = ""):
        self.stage = stage
        self.name = name
        self.label = ""
        self.variables: list[Variable] = []
        self.functions: list[Function] = []
        self.info = ShaderInfo()
        self.applied: Counter[tuple[str, str]] | None = None
        """how often each rule (its name and reason) was applied, while a pass is recorded"""
        self.refcount = 1
        COUNTERS.created += 1
        track(self)

    @property
    def entry_function(self) -> Function:
        for function in self.functions:
            if function.is_entry:
                return function
        raise LookupError(f"shader {self.name!r} has no entry point")

    @property
    def entry(self) -> FunctionImpl:
        """The code of `main`."""
        impl = self.entry_function.impl
        assert impl is not None
        return impl

    def add_function(self, name: str, *, is_entry: bool = False) -> Function:
        function = Function(name, is_entry=is_entry)
        self.functions.append(function)
        return function

    def add_entry(self, name: str = "main") -> FunctionImpl:
        return FunctionImpl(self, self.add_function(name, is_entry=True))

    def impls(self) -> list[FunctionImpl]:
        """The code of all functions that have a body."""
        functions = self.functions
        if len(functions) == 1:  # the case after inlining
            impl = functions[0].impl
            return [] if impl is None else [impl]
        return [f.impl for f in functions if f.impl is not None]

    def add_variable(self, name: str, type: Type, mode: Mode, **attributes: Any) -> Variable:
        var = Variable(name, type, mode, **attributes)
        self.variables.append(var)
        return var

    def variables_of(self, modes: int) -> list[Variable]:
        return [v for v in self.variables if v.mode & modes]

    def find_variable(self, name: str) -> Variable | None:
        for var in self.variables:
            if var.name == name:
                return var
        return None

    def count_instrs(self) -> int:
        return sum(impl.count_instrs() for impl in self.impls())

    def shared_copy(self) -> Shader | None:
        """A copy that costs nothing while the code is still serialized, or None."""
        return None

    def ref(self) -> Shader:
        """Take another reference."""
        assert self.refcount > 0, f"shader {self.name!r} is dead"
        self.refcount += 1
        COUNTERS.refs += 1
        return self

    def unref(self) -> None:
        """Release one reference; at zero the shader is dead."""
        assert self.refcount > 0, f"shader {self.name!r} was given back too often"
        self.refcount -= 1
        COUNTERS.unrefs += 1
        if self.refcount == 0:
            COUNTERS.destroyed += 1
            forget(self)
            self.dissolve()

    def dissolve(self) -> None:
        """Destroy the code, which is not needed any more."""
        for impl in self.impls():
            impl.dissolve()

    def __repr__(self) -> str:
        return f"<{self.stage.value} shader {self.name!r}, {self.refcount} references>"
