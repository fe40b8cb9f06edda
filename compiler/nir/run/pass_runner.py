"""Passes and the one runner that runs them.

A pass is a function `(shader, *, options) -> bool` (did it change anything?) registered by
`@nir_pass`; its keyword-only parameters are its options, its docstring says why it exists. Pass `x`
lives in a module `x` in one of the rooms of `compiler.nir.passes` and is imported when first asked
for. The runner validates, times, counts instructions, and records the text before and after on
request: the record is what `gallette explain` and the lessons draw.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from gallette.compiler import debug
from gallette.compiler.errors import InputError, tell
from gallette.compiler.nir.analysis.census import census
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.shader import Shader

PassFunction = TypeVar("PassFunction", bound=Callable[..., bool])
PassSpec: TypeAlias = "str | tuple[str, dict[str, Any]]"


@dataclass(frozen=True, slots=True)
class PassInfo:
    """A registered pass: what it keeps valid, and whether results stay bit for bit the same."""

    name: str
    function: Callable[..., bool]
    preserves: Metadata
    exact: bool
    options: dict[str, Any]
    doc: str
    looks_for: frozenset[str]
    looks_for_with: dict[str, frozenset[str]]
    brings: Callable[[Shader], frozenset[str] | None]


PASSES: dict[str, PassInfo] = {}
# The algebraic passes live beside their rules.
_ALGEBRAIC = "gallette.compiler.nir.algebraic.passes"


def nir_pass(
    name: str,
    *,
    preserves: Metadata = Metadata.NONE,
    exact: bool = True,
    looks_for: Iterable[str] = (),
    looks_for_with: Mapping[str, Iterable[str]] | None = None,
    brings: Iterable[str] | Callable[[Shader], frozenset[str] | None] | None = None,
) -> Callable[[PassFunction], PassFunction]:
    """Register a pass. `preserves` is the metadata that still holds after it made progress.

    Structural edits drop metadata by themselves, so a pass that only sometimes edits control flow
    can declare `Metadata.CONTROL_FLOW`. `exact=False` says that rounding may change.
    `looks_for` names what the pass, called without options, does something about (words of
    `analysis.census`); a sequence of passes leaves it out for shaders that have none of it.
    `looks_for_with` says the same of the pass with one of its options, which is a switch.
    `brings` names what there may be behind it that was not there, or is a function that tells (by
    default, and where it answers None: anything, and less).
    """

    if brings is not None and not callable(brings):
        brings = frozenset(brings)
    kept = int(preserves)

    def register(function: PassFunction) -> PassFunction:
        def run(shader: Shader, **options: Any) -> bool:
            progress = function(shader, **options)
            if progress:
                for impl in shader.impls():
                    impl.valid &= kept
                    impl.at_rest = None
            return progress

        run.__name__ = name
        run.__doc__ = function.__doc__
        run.__wrapped__ = function  # type: ignore[attr-defined]
        parameters = inspect.signature(function).parameters.values()
        options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        doc = inspect.getdoc(function) or ""
        PASSES[name] = PassInfo(
            name,
            run,
            preserves,
            exact,
            options,
            doc,
            frozenset(looks_for),
            {name: frozenset(words) for name, words in (looks_for_with or {}).items()},
            brings if callable(brings) else partial(_always, brings),
        )
        return run  # type: ignore[return-value]

    return register


def _always(brought: frozenset[str] | None, shader: Shader) -> frozenset[str] | None:
    return brought


@cache
def _homes() -> dict[str, str]:
    """The module of every pass by the pass's name, without importing any of them."""
    import gallette.compiler.nir.passes as package

    found = {}
    for room in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        where = Path(package.__path__[0]) / room.name.rpartition(".")[2]
        for module in pkgutil.iter_modules([str(where)]):
            found[module.name] = f"{room.name}.{module.name}"
    return found


_whole: set[str] = set()
"""The passes whose modules have run to the end: another thread may be importing others."""


def get_pass(name: str) -> PassInfo:
    """Look a pass up, importing its module if need be."""
    if name not in _whole:
        importlib.import_module(_homes().get(name, _ALGEBRAIC))
        _whole.add(name)
    if name not in PASSES:
        close = ", ".join(difflib.get_close_matches(name, all_passes(), n=3))
        raise InputError(f"unknown pass {name!r}" + (f"; did you mean {close}?" if close else ""))
    return PASSES[name]


def all_passes() -> dict[str, PassInfo]:
    """Every pass there is, by name (imports them all)."""
    for module in (*_homes().values(), _ALGEBRAIC):
        importlib.import_module(module)
    return dict(sorted(PASSES.items()))


@dataclass(slots=True)
class PassRecord:
    """What one run of a pass did."""

    name: str
    options: dict[str, Any]
    progress: bool
    seconds: float
    instrs_before: int
    instrs_after: int
    before: str = ""
    after: str = ""
    stage: str = ""

    @property
    def delta(self) -> int:
        """Instructions added (or, if negative, saved)."""
        return self.instrs_after - self.instrs_before


@dataclass(slots=True)
class PassLog:
    """Collects records; with `texts` also the shader before and after each pass with progress."""

    texts: bool = False
    lines: bool = False  # texts say source lines, and values keep their names from pass to pass
    numbers: dict[Any, int] = field(default_factory=dict)
    records: list[PassRecord] = field(default_factory=list)

    def made_progress(self) -> list[PassRecord]:
        return [r for r in self.records if r.progress]


_recorders: list[PassLog] = []


@contextmanager
def recording(texts: bool = True, lines: bool = False) -> Iterator[PassLog]:
    """Record every pass that runs inside the block and was not given a log of its own.

    For watching a whole compilation from outside: `gallette explain` wraps front end, linker and
    driver in one of these.
    """
    log = PassLog(texts=texts, lines=lines)
    _recorders.append(log)
    try:
        yield log
    finally:
        _recorders.remove(log)


def is_recorded() -> bool:
    """Does somebody want to see what every pass does?"""
    return bool(_recorders)


def run_pass(
    shader: Shader, name: str, options: dict[str, Any] | None = None, log: PassLog | None = None
) -> bool:
    """Run one pass with everything the debug flags and the log ask for."""
    info = get_pass(name)
    if log is None and _recorders:
        log = _recorders[-1]
    active = debug.flags()
    if log is None and not active:
        return info.function(shader, **(options or {}))
    return _run_recorded(shader, info, options or {}, log, active)


def unwatched(log: PassLog | None) -> bool:
    """Does nobody look at what passes do? Sequences of many ask once."""
    return log is None and not _recorders and not debug.flags()


def _run_recorded(
    shader: Shader,
    info: PassInfo,
    options: dict[str, Any],
    log: PassLog | None,
    active: dict[str, str],
) -> bool:
    from gallette.compiler.nir.text.printer import print_shader

    texts = log is not None and log.texts
    lines = log is not None and log.lines
    numbers = log.numbers if log is not None and lines else None
    before = print_shader(shader, lines=lines, numbers=numbers) if texts else ""
    count = shader.count_instrs() if log is not None else 0
    start = time.perf_counter()
    progress = info.function(shader, **options)
    seconds = time.perf_counter() - start
    if log is not None:
        record = PassRecord(info.name, options, progress, seconds, count, shader.count_instrs())
        record.stage = shader.stage.value
        if texts:
            record.before = before
            record.after = (
                print_shader(shader, lines=lines, numbers=numbers) if progress else before
            )
        log.records.append(record)
    if progress and "nir:print" in active:
        tell(f"// after {info.name}\n{print_shader(shader, annotate=True)}")
    if progress and "nir:validate" in active:
        from gallette.compiler.nir.check.validate import validate

        validate(shader, info.name)
    if "nir:metadata" in active:
        from gallette.compiler.nir.check.metadata import check_metadata

        for impl in shader.impls():
            check_metadata(impl, info.name)
    return progress


class PassSequence(tuple[PassSpec, ...]):
    """Passes that run in this order for shader after shader.

    Which of them is the next for a shader that has certain things is worked out once.
    """

    def __init__(self, specs: Iterable[PassSpec]):
        del specs  # the tuple has them
        self._next: dict[tuple[int, frozenset[str]], int] = {}

    def next_for(self, position: int, words: frozenset[str]) -> int:
        """The first place from a position on whose pass looks for something of `words`."""
        found = self._next.get((position, words))
        if found is None:
            found = position
            while found < len(self) and _is_for_nothing(*self.step(found), words):
                found += 1
            self._next[position, words] = found
        return found

    def step(self, position: int) -> tuple[PassInfo, dict[str, Any]]:
        return self._steps[position]

    @cached_property
    def _steps(self) -> list[tuple[PassInfo, dict[str, Any]]]:
        named = [(spec, {}) if isinstance(spec, str) else spec for spec in self]
        return [(get_pass(name), options) for name, options in named]


def _wanted(info: PassInfo, options: dict[str, Any]) -> frozenset[str]:
    """What a pass looks for when it is called like this; nothing, if it does not say."""
    if not options:
        return info.looks_for
    if len(options) == 1:
        for name, value in options.items():
            if value is True:
                return info.looks_for_with.get(name, frozenset())
    return frozenset()


def _is_for_nothing(info: PassInfo, options: dict[str, Any], words: frozenset[str]) -> bool:
    wanted = _wanted(info, options)
    return bool(wanted) and wanted.isdisjoint(words)


class Found:
    """What is known about what a shader has (words of `analysis.census`; None: nothing)."""

    __slots__ = ("words",)

    def __init__(self) -> None:
        self.words: frozenset[str] | None = None


def run_passes(
    shader: Shader,
    passes: Iterable[PassSpec] | Sequence[PassSpec],
    log: PassLog | None = None,
    found: Found | None = None,
) -> bool:
    """Run passes in order; each is a name or `(name, options)`. True if any made progress.

    Who runs several sequences one after the other hands `found` from one to the next.
    """
    sequence = passes if passes.__class__ is PassSequence else PassSequence(passes)
    assert isinstance(sequence, PassSequence)
    progress = False
    plain = unwatched(log)
    words = found.words if found is not None else None
    at, end = 0, len(sequence)
    while at < end:
        if words is None:
            info, options = sequence.step(at)
            if _wanted(info, options):
                words = census(shader)
        if words is not None:
            at = sequence.next_for(at, words)
            if at == end:
                break
            info, options = sequence.step(at)
        at += 1
        if plain:
            made = info.function(shader, **options)
        else:
            made = run_pass(shader, info.name, options, log)
        if made:
            progress = True
            brought = info.brings(shader)
            if brought is None:
                words = None
            elif words is not None and brought:
                words |= brought
    if found is not None:
        found.words = words
    return progress
