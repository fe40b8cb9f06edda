"""Passes, and the runner that all of them go through.

A pass is a function `(shader, *, options) -> bool` that returns whether it changed anything,
registered by `@nir_pass`; its keyword-only parameters are its options, its docstring says why it
exists. Pass `x` is in a module `x` of a package in `compiler.nir.passes` and is imported on first
use. The runner validates, times, counts instructions, and records the text before and after on
request: `gallette explain` and the lessons show these records.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from gallette.compiler import debug
from gallette.compiler.errors import InputError, ValidationError, print_message
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.check.metadata import check_metadata
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.text.printer import print_shader

PassFunction = TypeVar("PassFunction", bound=Callable[..., bool])
PassSpec: TypeAlias = "str | tuple[str, dict[str, Any]]"


@lazy_dataclass(frozen=True)
class PassInfo:
    """A registered pass: the metadata it preserves, and whether results stay bitwise equal."""

    name: str
    function: Callable[..., bool]
    body: Callable[..., bool]
    """the function itself, without recording progress"""
    preserves: Metadata
    exact: bool
    options: dict[str, Any]
    doc: str
    idempotent: bool

    def run(self, shader: Shader, options: dict[str, Any]) -> bool:
        """Run the pass without recording; returns whether it changed the code."""
        if not self.body(shader, **options):
            return False
        self.note_progress(shader)
        return True

    def note_progress(self, shader: Shader) -> None:
        """Record that the pass has changed the code."""
        for impl in shader.impls():
            impl.preserve(self.preserves)


PASSES: dict[str, PassInfo] = {}
_REWRITER = "gallette.compiler.nir.rewrite.passes"
"""the module of the passes that only select rules of the rewriter"""


def nir_pass(
    name: str,
    *,
    preserves: Metadata = Metadata.NONE,
    exact: bool = True,
    idempotent: bool = False,
) -> Callable[[PassFunction], PassFunction]:
    """Register a pass. `preserves` is the metadata that is still valid after it made progress.

    Structural edits invalidate metadata themselves, so a pass that only sometimes edits control
    flow can declare `Metadata.CONTROL_FLOW`. `exact=False` says that rounding may change.
    `idempotent` says that the pass itself repeats until it makes no progress.
    """

    def register(function: PassFunction) -> PassFunction:
        def run(shader: Shader, **options: Any) -> bool:
            progress = function(shader, **options)
            if progress:
                info.note_progress(shader)
            return progress

        run.__name__ = name
        run.__doc__ = function.__doc__
        run.__wrapped__ = function  # type: ignore[attr-defined]
        parameters = inspect.signature(function).parameters.values()
        options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        doc = inspect.getdoc(function) or ""
        info = PASSES[name] = PassInfo(
            name,
            run,
            function,
            preserves,
            exact,
            options,
            doc,
            idempotent,
        )
        return run  # type: ignore[return-value]

    return register


@cache
def _homes() -> dict[str, str]:
    """The module of every pass by the pass's name, without importing any."""
    import gallette.compiler.nir.passes as package

    found = {}
    for room in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        where = Path(package.__path__[0]) / room.name.rpartition(".")[2]
        for module in pkgutil.iter_modules([str(where)]):
            found[module.name] = f"{room.name}.{module.name}"
    return found


_whole: set[str] = set()
"""passes whose modules are completely imported; another thread may be importing others"""


def get_pass(name: str) -> PassInfo:
    """Look up a pass, importing its module if necessary."""
    if name not in _whole:
        importlib.import_module(_homes().get(name, _REWRITER))
        _whole.add(name)
    if name not in PASSES:
        close = ", ".join(difflib.get_close_matches(name, all_passes(), n=3))
        raise InputError(f"unknown pass {name!r}" + (f"; did you mean {close}?" if close else ""))
    return PASSES[name]


def all_passes() -> dict[str, PassInfo]:
    """Every pass by name (imports them all)."""
    for module in (*_homes().values(), _REWRITER):
        importlib.import_module(module)
    return dict(sorted(PASSES.items()))


@lazy_dataclass()
class PassRecord:
    """The record of one run of a pass."""

    name: str
    options: dict[str, Any]
    progress: bool
    seconds: float
    instrs_before: int
    instrs_after: int
    before: str = ""
    after: str = ""
    stage: str = ""
    rules: dict[tuple[str, str], int] = field(default_factory=dict)
    """how often each rule of the rewriter was applied, by its name and reason"""

    @property
    def delta(self) -> int:
        """Instructions added (or, if negative, removed)."""
        return self.instrs_after - self.instrs_before


@lazy_dataclass()
class PassLog:
    """Collects records; with `texts` also the shader before and after each pass with progress."""

    texts: bool = False
    lines: bool = False  # texts have source lines, and values keep their names from pass to pass
    numbers: dict[Any, int] = field(default_factory=dict)
    records: list[PassRecord] = field(default_factory=list)

    def made_progress(self) -> list[PassRecord]:
        return [r for r in self.records if r.progress]


_recorders: list[PassLog] = []


@contextmanager
def recording(texts: bool = True, lines: bool = False) -> Iterator[PassLog]:
    """Record every pass that runs inside the block and has no log of its own.

    This is for observing a whole compilation: `gallette explain` wraps front end, linker and driver
    in it.
    """
    log = PassLog(texts=texts, lines=lines)
    _recorders.append(log)
    try:
        yield log
    finally:
        _recorders.remove(log)


def is_watched(log: PassLog | None) -> bool:
    """Whether passes must run through `_run_recorded`, for a log, a recorder or debug flags."""
    return log is not None or bool(_recorders or debug.flags())


def run_pass(
    shader: Shader, name: str, options: dict[str, Any] | None = None, log: PassLog | None = None
) -> bool:
    """Run one pass with everything that the debug flags and the log require."""
    if log is None and _recorders:
        log = _recorders[-1]
    flags = debug.flags()
    if log is None and not flags:
        return get_pass(name).run(shader, options or _NO_OPTIONS)
    return _run_recorded(shader, get_pass(name), options or {}, log, flags)


def _run_recorded(
    shader: Shader,
    info: PassInfo,
    options: dict[str, Any],
    log: PassLog | None,
    active: dict[str, str],
) -> bool:
    texts = log is not None and log.texts
    lines = log is not None and log.lines
    numbers = log.numbers if log is not None and lines else None
    before = print_shader(shader, lines=lines, numbers=numbers) if texts else ""
    count = shader.count_instrs() if log is not None else 0
    rules: Counter[tuple[str, str]] = Counter()
    shader.applied = rules if log is not None else None
    start = time.perf_counter()
    progress = info.function(shader, **options)
    seconds = time.perf_counter() - start
    shader.applied = None
    if log is not None:
        record = PassRecord(info.name, options, progress, seconds, count, shader.count_instrs())
        record.stage = shader.stage.value
        record.rules = dict(rules)
        if texts:
            record.before = before
            record.after = (
                print_shader(shader, lines=lines, numbers=numbers) if progress else before
            )
        log.records.append(record)
    if progress and "nir:print" in active:
        print_message(f"// after {info.name}\n{print_shader(shader, annotate=True)}")
    if progress and "nir:validate" in active:
        validate(shader, info.name)
    if "nir:metadata" in active:
        for impl in shader.impls():
            check_metadata(impl, info.name)
    return progress


_NO_OPTIONS: dict[str, Any] = {}


class PassList(tuple[PassSpec, ...]):
    """Passes in order, each a name or `(name, options)`, which are looked up once."""

    @cached_property
    def found(self) -> list[tuple[PassInfo, dict[str, Any]]]:
        """The passes and their options; modules of passes are imported when they first run."""
        pairs = [(spec, _NO_OPTIONS) if isinstance(spec, str) else spec for spec in self]
        return [(get_pass(name), options) for name, options in pairs]


def run_passes(shader: Shader, passes: Iterable[PassSpec], log: PassLog | None = None) -> bool:
    """Run passes in order; each is a name or `(name, options)`. True if any made progress."""
    progress, watched = False, is_watched(log)
    for info, options in (passes if isinstance(passes, PassList) else PassList(passes)).found:
        if watched:
            made = run_pass(shader, info.name, options, log)
        else:
            made = info.body(shader, **options)
            if made:
                info.note_progress(shader)
        if made:
            progress = True
    return progress


class Step:
    """A pass with its options, in a list that runs until no pass makes progress.

    A pass that made no progress at a version of the code (`FunctionImpl.version`) is not run again
    at that version.
    """

    __slots__ = ("info", "options")

    def __init__(self, name: str, options: dict[str, Any] | None = None):
        self.info = get_pass(name)
        self.options = options or _NO_OPTIONS


def run_until_idle(
    shader: Shader, steps: Sequence[Step], rounds: int, log: PassLog | None = None
) -> bool:
    """Run passes in order, repeatedly, until none makes progress; returns whether any did.

    With the debug flag `nir:idle`, skipped passes run as well, and must make no progress.
    """
    progress, watched = False, is_watched(log)
    checked = watched and debug.is_set("nir:idle")
    impls = shader.impls()
    for _ in range(rounds):
        idle = True
        for step in steps:
            for impl in impls:
                if impl.idle.get(step) != impl.version:
                    break
            else:
                if checked and step.info.function(shader, **step.options):
                    raise ValidationError(
                        f"{step.info.name} was left out and finds something to do"
                    )
                continue
            if watched:
                made = run_pass(shader, step.info.name, step.options, log)
            else:
                made = step.info.run(shader, step.options)
            if made:
                progress, idle = True, False
            if step.info.idempotent or not made:
                for impl in impls:
                    impl.idle[step] = impl.version
        if idle:
            break
    return progress
