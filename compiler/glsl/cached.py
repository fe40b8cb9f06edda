"""Cached compiling and linking: equal sources give equal programs, in any process.

Two things are kept in the user's cache (`disk_cache.py`): that a shader compiled (with its log and
language, without its tree), and what a program linked to (its tables, and its shaders as NIR text).
Keys are hashes of the sources, of everything that the application and the context specify, and of
the compiler's own code. Failures are not cached: they are rare, and their diagnostics need the
tree.

A shader found in the cache has no tree; if its program is not cached, the shader is compiled after
all.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import lru_cache

from gallette.compiler import debug
from gallette.compiler.disk_cache import DiskCache, code_version, shared_cache
from gallette.compiler.glsl.api import (
    CompiledShader,
    CompileOptions,
    compile_shader,
    link_program,
)
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.program import LinkedProgram, LinkOptions, vertex_elements
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.text.lazy_shader import LazyShader


@lazy_dataclass()
class CachedShader(CompiledShader):
    """A compiled shader with its key, which can be compiled again."""

    key: str = ""
    text: str = ""
    options: CompileOptions | None = None

    def with_tree(self) -> CompiledShader:
        """The shader with its tree, as the linker needs it."""
        if self.tree is None and self.ok:
            again = compile_shader(self.stage, self.text, self.options)
            self.tree = again.tree
        return self


def _cache() -> DiskCache | None:
    """The cache; None also while the compiler's debug flags are set, since they may change its
    output.
    """
    return None if debug.flags() else shared_cache("programs")


def _key(*parts: object) -> str:
    text = "\0".join([code_version("compiler"), sys.version, *map(repr, parts)])
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def _stable(options: CompileOptions | LinkOptions) -> list[tuple[str, object]]:
    """Options in a form whose text is equal in every process, with sorted sets."""
    found: list[tuple[str, object]] = []
    for field in fields(options):
        value = getattr(options, field.name)
        if isinstance(value, (frozenset, Limits)):
            value = _digest(value)
        elif isinstance(value, dict):
            value = sorted(value.items())
        found.append((field.name, value))
    return found


@lru_cache(maxsize=64)
def _digest(value: frozenset[str] | Limits) -> str:
    """A digest of long options that a context passes with every shader, cached."""
    return _key(sorted(value) if isinstance(value, frozenset) else value)


def compile_cached(stage: Stage, text: str, options: CompileOptions) -> CompiledShader:
    """Compile one text with `compile_shader`, or take the result from the cache."""
    cache = _cache()
    if cache is None or options.include is not None:
        return compile_shader(stage, text, options)
    key = _key("shader", stage.value, text, _stable(options))
    found = cache.load(key)
    if found is not None:
        log, diagnostics, language = found
        return CachedShader(
            stage, True, log, diagnostics, language, key=key, text=text, options=options
        )
    fresh = compile_shader(stage, text, options)
    if not fresh.ok:
        return fresh
    kept = (fresh.info_log, fresh.diagnostics, fresh.language)
    cache.keep(key, kept)
    plain = {f.name: getattr(fresh, f.name) for f in fields(CompiledShader)}
    return CachedShader(**plain, key=key, text=text, options=options)


def link_cached(shaders: Sequence[CompiledShader], options: LinkOptions) -> LinkedProgram:
    """Link with `link_program`, or take the result from the cache."""
    cache = _cache()
    keys = [s.key for s in shaders if isinstance(s, CachedShader) and s.ok]
    if cache is None or len(keys) != len(shaders):
        return link_program(_with_trees(shaders), options)
    key = _key("program", keys, _stable(options))
    found = cache.load(key)
    if found is not None:
        return _revived(*found)
    program = link_program(_with_trees(shaders), options)
    if program.ok:
        _keep(cache, key, program)
    return program


def _with_trees(shaders: Sequence[CompiledShader]) -> list[CompiledShader]:
    return [s.with_tree() if isinstance(s, CachedShader) else s for s in shaders]


def _keep(cache: DiskCache, key: str, program: LinkedProgram) -> None:
    """Store a program; its shaders remember the keys under which they are stored."""
    vertex = program.shaders.get(Stage.VERTEX)
    program.elements = vertex_elements(vertex) if vertex is not None else ()
    stored = {stage: LazyShader.of(shader) for stage, shader in program.shaders.items()}
    bodies = {stage: shader.pack() for stage, shader in stored.items()}
    tables = replace(program, shaders={})
    program.shaders = dict(stored)
    cache.keep(key, (tables, bodies))


def _revived(tables: LinkedProgram, bodies: dict[Stage, bytes]) -> LinkedProgram:
    tables.shaders = {stage: LazyShader.unpack(body) for stage, body in bodies.items()}
    return tables
