"""What became of shaders in earlier processes: lowered NIR and code, kept in the user's cache.

Two kinds of files, both named by hashes: a digest of NIR leads to what the first round made of it
(another digest, and what `ShaderReads` says); that digest and a key lead to a variant's code. A
shader whose both steps are there is never parsed, optimised or translated again: it stays bytes
until somebody asks for its code (`compiler/nir/text/lazy_shader.py`).

Nothing is kept while somebody debugs or records passes, because they want to see them run.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from gallette.compiler import debug
from gallette.compiler.disk_cache import DiskCache, code_version, shared_cache
from gallette.compiler.nir.ir import Shader
from gallette.compiler.nir.text.lazy_shader import LazyShader, digest_of

from .compiler import VariantCompiler
from .reads import ShaderReads

__all__ = ["VariantDiskCache"]


@dataclass(frozen=True, slots=True)
class VariantDiskCache:
    """One driver's part of the cache, under the options of one screen."""

    compiler: VariantCompiler[Any, Any]
    cache: DiskCache
    version: str

    @classmethod
    def of(cls, compiler: VariantCompiler[Any, Any]) -> VariantDiskCache | None:
        """None where nothing may be kept."""
        options = compiler.options
        if not compiler.home or options.record_passes or options.ownership != "counted":
            return None
        cache = None if debug.flags() else shared_cache(compiler.name)
        if cache is None:
            return None
        code = code_version("compiler", "pipe", "drivers/common", compiler.home)
        return cls(compiler, cache, f"{code}\0{sys.version} {np.__version__}\0{options!r}")

    def lowered(self, shader: Shader) -> tuple[Shader, ShaderReads] | None:
        """What the first round made of such a shader (one reference, the caller's)."""
        found = self._load("lowered", digest_of(shader))
        return None if found is None else (LazyShader.unpack(found[0]), found[1])

    def keep_lowered(self, digest: str, shader: Shader, reads: ShaderReads) -> Shader:
        """Keep what the first round made; the same shader, which has a digest now."""
        stored = LazyShader.of(shader)
        self._keep((stored.pack(), reads), "lowered", digest)
        return stored

    def program(self, shader: Shader, key: Any) -> tuple[Any, bool, Shader | None] | None:
        """A variant's code, may it be merged, and its shader (one reference) if not `shader`."""
        found = self._load("program", digest_of(shader), repr(key))
        if found is None:
            return None
        code, mergeable, body = found
        return self.compiler.unpack(code), mergeable, LazyShader.unpack(body) if body else None

    def keep_program(
        self, shader: Shader, key: Any, program: Any, mergeable: bool, changed: Shader | None
    ) -> Shader:
        """Keep a variant; its shader, for the caller's reference to `changed` (or `shader`)."""
        code = self.compiler.pack(program)
        if not code:
            return shader if changed is None else changed
        stored = LazyShader.of(changed) if changed is not None else None
        body = stored.pack() if stored is not None else b""
        self._keep((code, mergeable, body), "program", digest_of(shader), repr(key))
        return shader if stored is None else stored

    def _name(self, kind: str, digest: str, *more: str) -> str:
        text = "\0".join((self.version, kind, digest, *more))
        return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()

    def _load(self, kind: str, digest: str, *more: str) -> Any:
        return self.cache.load(self._name(kind, digest, *more)) if digest else None

    def _keep(self, what: tuple[Any, ...], kind: str, digest: str, *more: str) -> None:
        if digest:
            self.cache.keep(self._name(kind, digest, *more), what)
