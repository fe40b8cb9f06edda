"""Compiling and linking with a memory: the same sources give the same program, in any process.

Three things are kept in the user's cache (`disk_cache.py`): that a shader compiled (its log and
language, not its tree), and what a program linked to (its tables, and its shaders as NIR text).
Keys are hashes of the sources, of everything the application and the context said, and of the
compiler's own code. Failures are not kept: they are rare, and their diagnostics want the tree.

A shader found in the cache has no tree; should its program be unknown, it is compiled after all.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from gallette.compiler import debug
from gallette.compiler.disk_cache import DiskCache, code_version, shared_cache
from gallette.compiler.glsl.api import (
    CompiledShader,
    CompileOptions,
    compile_shader,
    link_program,
)
from gallette.compiler.glsl.builtins.limits import Limits
from gallette.compiler.glsl.link.program import LinkedProgram, LinkOptions, vertex_elements
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.text.lazy_shader import LazyShader

__all__ = ["CachedShader", "compile_cached", "link_cached"]


@dataclass(slots=True)
class CachedShader(CompiledShader):
    """A compiled shader that knows its key, and how to be compiled again."""

    key: str = ""
    text: str = ""
    options: CompileOptions | None = None

    def with_tree(self) -> CompiledShader:
        """The shader as the linker needs it."""
        if self.tree is None and self.ok:
            again = compile_shader(self.stage, self.text, self.options)
            self.tree = again.tree
        return self


def _cache() -> DiskCache | None:
    """None, too, while somebody debugs the compiler: flags may change what it does."""
    return None if debug.flags() else shared_cache("programs")


def _key(*parts: object) -> str:
    text = "\0".join([code_version("compiler"), sys.version, *map(repr, parts)])
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def _stable(options: CompileOptions | LinkOptions) -> list[tuple[str, object]]:
    """Options as something whose text is the same in every process: sets in order."""
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
    """What a context says of every shader is long, and hashed once."""
    return _key(sorted(value) if isinstance(value, frozenset) else value)


def compile_cached(stage: Stage, text: str, options: CompileOptions) -> CompiledShader:
    """`compile_shader` of one text, from memory if it compiled before."""
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
    """`link_program`, from memory if the same shaders were linked the same way before."""
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
    """Keep a program; its shaders know from now on what they are filed under."""
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
