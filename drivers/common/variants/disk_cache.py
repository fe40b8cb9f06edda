"""The disk cache of lowered shaders and variants.

It has three kinds of files, all named by hashes: a digest of NIR maps to the result of round one
(another digest, and its `ShaderReads`); that digest and a key map to a variant's code; and a
variant's digest and a description map to code that a driver emits later, for what is bound. If
these are cached, a shader is never parsed, optimised or translated: it stays serialized until a
pass needs its code (`compiler/nir/text/lazy_shader.py`).

The cache is disabled while debug flags or recording of passes are on, because these need the passes
to run.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gallette.compiler import debug
from gallette.compiler.disk_cache import DiskCache, code_version, shared_cache
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Shader
from gallette.compiler.nir.text.lazy_shader import LazyShader, digest_of

from .compiler import VariantCompiler
from .reads import ShaderReads

Emitted = TypeVar("Emitted")


@lazy_dataclass(frozen=True)
class VariantDiskCache:
    """One driver's part of the cache, for the options of one screen."""

    compiler: VariantCompiler[Any, Any]
    cache: DiskCache
    version: str

    @classmethod
    def of(cls, compiler: VariantCompiler[Any, Any]) -> VariantDiskCache | None:
        """None where caching is disabled."""
        options = compiler.options
        if not compiler.home or options.record_passes or options.ownership != "counted":
            return None
        cache = None if debug.flags() else shared_cache(compiler.name)
        if cache is None:
            return None
        code = code_version("compiler", "pipe", "drivers/common", compiler.home)
        host = f"{sys.version} {np.__version__} {compiler.machine()}"
        return cls(compiler, cache, f"{code}\0{host}\0{options!r}")

    def lowered(self, shader: Shader) -> tuple[Shader, ShaderReads] | None:
        """The cached result of round one (with a reference for the caller)."""
        found = self._load("lowered", digest_of(shader))
        return None if found is None else (LazyShader.unpack(found[0]), found[1])

    def keep_lowered(self, digest: str, shader: Shader, reads: ShaderReads) -> Shader:
        """Store the result of round one; returns the shader with its digest."""
        stored = LazyShader.of(shader)
        self._keep((stored.pack(), reads), "lowered", digest)
        return stored

    def program(self, shader: Shader, key: Any) -> tuple[Shader, Any, bool] | None:
        """A variant's lowered shader (one reference), its code, and whether draws with it may be
        merged.
        """
        found = self._load("program", digest_of(shader), repr(key))
        if found is None:
            return None
        code, mergeable, body = found
        lowered = LazyShader.unpack(body) if body else shader.ref()
        return lowered, self.compiler.unpack(code, lowered), mergeable

    def keep_program(
        self, shader: Shader, key: Any, program: Any, mergeable: bool, lowered: Shader
    ) -> None:
        """Store a variant of a shader."""
        code = self.compiler.pack(program)
        if code:
            body = (
                lowered.pack() if isinstance(lowered, LazyShader) and lowered is not shader else b""
            )
            self._keep((code, mergeable, body), "program", digest_of(shader), repr(key))

    def emitted(self, digest: str, what: str, emit: Callable[[], Emitted]) -> Emitted:
        """Code that is emitted from the lowered shader with this digest for a state, `what`."""
        found: Emitted | None = self._load("emitted", digest, what)
        if found is None:
            found = emit()
            self._keep(found, "emitted", digest, what)
        return found

    def _name(self, kind: str, digest: str, *more: str) -> str:
        text = "\0".join((self.version, kind, digest, *more))
        return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()

    def _load(self, kind: str, digest: str, *more: str) -> Any:
        return self.cache.load(self._name(kind, digest, *more)) if digest else None

    def _keep(self, what: Any, kind: str, digest: str, *more: str) -> None:
        if digest:
            self.cache.keep(self._name(kind, digest, *more), what)
