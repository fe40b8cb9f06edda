"""Shaders that are deserialized only when their code is needed.

A cache returns bytes. Most operations on a cached program concern the shader as a whole
(its stage, its `info`, references, clones), and a driver that cached its code under the shader's
digest needs nothing else. So a `LazyShader` is a `Shader` whose `variables` and `functions` are
created on first access; from then on it is an ordinary shader, without its digest, because the code
may be modified.

    shader = LazyShader.of(shader)    # printed once; the shader's reference is taken over
    shader.digest, shader.pack()        # the key, and the bytes to store
    LazyShader.unpack(data)           # in another process: nothing is parsed
"""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

from gallette.compiler.nir.ir.cloning import copy_shader
from gallette.compiler.nir.ir.info import ShaderInfo
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.ownership import disown
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.text.serialize import deserialize, serialize


class _Kept:
    """The bytes, shared by all clones, and the code in its state when they were created or first
    read.

    That code is immutable: a shader that may be modified gets a copy.
    """

    __slots__ = ("body", "code", "count", "digest")

    def __init__(self, body: bytes, count: int, code: Shader | None = None):
        self.body, self.count, self.code = body, count, code
        self.digest = hashlib.blake2b(body, digest_size=20).hexdigest()

    def read(self) -> Shader:
        if self.code is None:
            self.code = disown(deserialize(self.body))
        return self.code


class LazyShader(Shader):
    """A shader that stays serialized until its code is needed."""

    __slots__ = ("_kept",)

    def __init__(self, stage: Stage, name: str, label: str, info: ShaderInfo, kept: _Kept):
        super().__init__(stage, name)
        self.label, self.info, self._kept = label, info, kept
        del self.variables, self.functions  # accesses now go to `__getattr__`

    @classmethod
    def of(cls, shader: Shader) -> LazyShader:
        """A lazy version of a shader, for the caller's reference (which must be the only one)."""
        if isinstance(shader, LazyShader) and shader.digest:
            return shader
        kept = _Kept(serialize(shader), shader.count_instrs(), shader)
        stored = cls(shader.stage, shader.name, shader.label, shader.info.copy(), kept)
        disown(shader)
        return stored

    @property
    def digest(self) -> str:
        """The key of the code; empty once it may have been modified."""
        return self._kept.digest if self._kept is not None else ""

    def pack(self) -> bytes:
        """The bytes for `unpack`."""
        kept = self._kept if self._kept is not None else _Kept(serialize(self), self.count_instrs())
        parts = (self.stage, self.name, self.label, self.info, kept.count, kept.body)
        return pickle.dumps(parts, pickle.HIGHEST_PROTOCOL)

    @classmethod
    def unpack(cls, data: bytes) -> LazyShader:
        """A new shader with one reference, from this user's own packed bytes (see `disk_cache`)."""
        stage, name, label, info, count, body = pickle.loads(data)
        return cls(stage, name, label, info, _Kept(body, count))

    def shared_copy(self) -> Shader | None:
        if self._kept is None:
            return None
        return LazyShader(self.stage, self.name, self.label, self.info.copy(), self._kept)

    def dissolve(self) -> None:
        if self._kept is None:  # else it has no code of its own
            super().dissolve()

    def count_instrs(self) -> int:
        return self._kept.count if self._kept is not None else super().count_instrs()

    def __getattr__(self, name: str) -> Any:
        """Deserialize the code on the first access to a missing attribute."""
        if name not in ("functions", "variables") or self._kept is None:
            raise AttributeError(name)
        kept, self._kept = self._kept, None  # type: ignore[assignment]
        code = disown(copy_shader(kept.read()))
        self.variables, self.functions = code.variables, code.functions
        for impl in self.impls():
            impl.shader = self
        return getattr(self, name)


def digest_of(shader: Shader) -> str:
    """The key of this shader's code; empty if it is unknown."""
    return shader.digest if isinstance(shader, LazyShader) else ""


def reading(shader: Shader) -> Shader:
    """A shader for reading only, for which no copy of the code is made."""
    if isinstance(shader, LazyShader) and shader.digest:
        return shader._kept.read()
    return shader
