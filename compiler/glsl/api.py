"""Compiles shaders and links programs. Neither raises for invalid GLSL; the log has the errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from gallette.compiler import debug
from gallette.compiler.gc_pause import gc_paused
from gallette.compiler.glsl.availability import ARRAYS
from gallette.compiler.glsl.diagnostics import Abort, Diagnostic, Log
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.parse.settings import Dialect, Settings
from gallette.compiler.glsl.parse.source import SourceMap
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.limits import DEFAULT_LIMITS, Limits
from gallette.compiler.link.program import LinkedProgram, LinkOptions
from gallette.compiler.nir.ir import Stage

if TYPE_CHECKING:
    from gallette.compiler.glsl.check import hir
    from gallette.compiler.nir.run.optimize import OptimizeOptions

_WORDS = {stage: stage.value for stage in Stage}


@lazy_dataclass(frozen=True)
class CompileOptions(Settings):
    """The dialect and limits of a context."""

    limits: Limits = DEFAULT_LIMITS


@lazy_dataclass()
class CompiledShader:
    """The result of compiling one shader; NIR is built when a program is linked."""

    stage: Stage
    ok: bool
    info_log: str
    diagnostics: list[Diagnostic]
    language: Language
    tree: hir.Shader | None = None


def _make_invariant(tree: hir.Shader) -> None:
    """`#pragma STDGL invariant(all)`: declare every output invariant."""
    for var in tree.globals:
        if var.quals.storage == "out":
            var.quals.invariant = var.quals.precise = True
    for var in tree.builtins.values():
        if var.quals.storage == "out":
            var.quals.invariant = True


_Recent: TypeAlias = "dict[tuple[Stage, str, Dialect], tuple[Limits, CompiledShader]]"
_recent: _Recent = {}
"""The most recently compiled shaders, the latest last. Programs often share a shader, and
applications compile its text for each of them.
"""
_MOST_RECENT = 16
_LONGEST_RECENT = 20_000
_DEFAULT_OPTIONS = CompileOptions()


@gc_paused
def compile_shader(
    stage: Stage,
    sources: str | Sequence[str],
    options: CompileOptions | None = None,
    file_names: Sequence[str] = (),
) -> CompiledShader:
    """Preprocess, parse and check one shader.

    A recently compiled text is not compiled again, because nothing changes a checked tree.
    """
    options = options or _DEFAULT_OPTIONS
    text = sources if isinstance(sources, str) else "".join(sources)
    if options.include is not None or file_names or len(text) > _LONGEST_RECENT:
        return _compile(stage, text, options, file_names)
    key = stage, text, options.dialect
    limits, known = _recent.pop(key, (None, None))
    if known is None or (limits is not options.limits and limits != options.limits):
        known = _compile(stage, text, options)
        for oldest in list(_recent)[: 1 - _MOST_RECENT]:
            _recent.pop(oldest, None)  # another thread may have removed it
    _recent[key] = options.limits, known
    log, found, language = known.info_log, list(known.diagnostics), known.language
    return CompiledShader(stage, known.ok, log, found, language, known.tree)


def _compile(
    stage: Stage, text: str, options: CompileOptions, file_names: Sequence[str] = ()
) -> CompiledShader:
    # These are many modules, which callers that find their shaders in the cache do not need.
    from gallette.compiler.glsl.check.checker import check
    from gallette.compiler.glsl.lower import fold
    from gallette.compiler.glsl.parse.parser import parse
    from gallette.compiler.glsl.parse.preprocessor import preprocess

    name = file_names[0] if file_names else f"<{_WORDS[stage].replace('_', ' ')} shader>"
    log = Log(SourceMap(tuple(file_names)))
    language: Language | None = None
    tree: hir.Shader | None = None
    try:
        pre = preprocess(text, name, options, log, _WORDS[stage])
        language = pre.language
        unit = parse(pre.tokens, language, log, pre.classified)
        tree = check(unit, language, options.limits, log, fold)
        for words, at in pre.pragmas:
            if words[:4] == ["STDGL", "invariant", "(", "all"]:
                if stage is Stage.FRAGMENT and language.has(ARRAYS):
                    log.error("this pragma is not for fragment shaders", at)
                _make_invariant(tree)
        for function in tree.functions:
            function.lines = log.sources.text_line
    except Abort:
        pass
    ok = log.error_count == 0 and tree is not None
    if language is None:
        language = options.language(_WORDS[stage])
    return CompiledShader(stage, ok, log.text, log.diagnostics, language, tree if ok else None)


@gc_paused
def link_program(
    shaders: Sequence[CompiledShader],
    options: LinkOptions | None = None,
    optimize_options: OptimizeOptions | None = None,
) -> LinkedProgram:
    """Link compiled shaders into a program; the NIR shaders in it belong to the caller."""
    held = debug.hold()
    try:
        return _link(shaders, options, optimize_options)
    finally:
        debug.release(held)


def _link(
    shaders: Sequence[CompiledShader],
    options: LinkOptions | None,
    optimize_options: OptimizeOptions | None,
) -> LinkedProgram:
    # The linker imports the NIR passes, which callers that only compile do not need.
    from gallette.compiler.glsl.link.linker import link

    parts = [(s.stage, s.tree, s.language) for s in shaders if s.ok and s.tree is not None]
    if len(parts) < len(shaders):
        return LinkedProgram(False, "error: a shader of the program did not compile\n")
    return link(parts, options or LinkOptions(), optimize_options)
