"""The object of a shader state handle: one NIR shader and its variants.

Ownership: the object takes over the reference that the state tracker gave away. Round one runs on
`mutable(shader)`, so a state tracker that kept a reference keeps an unchanged shader. A variant
whose key asks for no lowering shares the shader (one more reference); others get a clone. The
option `ownership` demonstrates two other schemes.

`destroy` releases everything; `gallette.compiler.nir.ir.ownership` counts references.
"""

from __future__ import annotations

import time
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from gallette.compiler import debug
from gallette.compiler.errors import GalletteError, print_message
from gallette.compiler.gc_pause import gc_paused
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Shader, clone_shader, mutable
from gallette.compiler.nir.run.pass_runner import PassLog
from gallette.compiler.nir.text.lazy_shader import LazyShader, digest_of, reading
from gallette.compiler.nir.text.printer import print_shader
from gallette.pipe.keys import describe_key, differing_fields, needs_nir
from gallette.pipe.state import StreamOutputInfo
from gallette.pipe.variant_log import VariantEvent, VariantLog

from .compiler import LoweringOptions, VariantCompiler
from .disk_cache import VariantDiskCache
from .keys import Inlined
from .merging import can_merge
from .reads import ShaderReads

Key = TypeVar("Key")
Code = TypeVar("Code")

MOST_VARIANTS = 256
"""The number of variants kept per shader; the least recently used one is dropped first."""


@lazy_dataclass(eq=False)
class Variant(Generic[Key, Code]):
    """One variant of a shader, its key, and the reason it was built."""

    key: Key
    program: Code
    shader: Shader
    log: PassLog
    reason: str
    lowered: bool
    seconds: float
    mergeable: bool  # whether draws with it may be merged


class ShaderObject(Generic[Key, Code]):
    """A shader as a driver stores it: its NIR and its variants."""

    __slots__ = (
        "compiler",
        "content",
        "hits",
        "inlined",
        "kept",
        "log",
        "misses",
        "name",
        "reads",
        "shader",
        "stage",
        "stream_output",
        "users",
        "variant_log",
        "variants",
    )

    @gc_paused
    def __init__(
        self,
        shader: Shader,
        compiler: VariantCompiler[Key, Code],
        variant_log: VariantLog,
        stream_output: StreamOutputInfo | None = None,
    ):
        """Takes over one reference to `shader`, even if it raises."""
        self.stage = shader.stage
        self.name = shader.name or "unnamed"
        self.compiler = compiler
        self.stream_output = stream_output
        self.users = 0  # programs that have this object: those with equal shaders share it
        self.content: object = None  # what is equal in their shaders
        self.variant_log = variant_log
        self.variants: dict[Key, Variant[Key, Code]] = {}  # in order of last use
        self.hits = self.misses = 0
        self.inlined: set[Inlined] = set()  # sets of inlined values that have variants
        self.log = PassLog(texts=True)
        self.shader = _taken_over(shader, compiler.options)
        self.kept = VariantDiskCache.of(compiler)
        try:
            self._first_round()
            self.variant_for(compiler.null_key(self.stage))
        except BaseException:
            self.destroy()
            raise
        self.hits = self.misses = 0

    def _first_round(self) -> None:
        """Run round one, or take its result from the disk cache."""
        found = self.kept.lowered(self.shader) if self.kept is not None else None
        if found is not None:
            self.shader.unref()
            self.shader, self.reads = found
            return
        digest = digest_of(self.shader)
        self.compiler.first_round(self.shader, self._recorder(self.log))
        inlining = self.compiler.options.inline_uniforms > 0
        self.reads = ShaderReads.of(self.shader, inlining)
        if self.kept is not None:
            self.shader = self.kept.keep_lowered(digest, self.shader, self.reads)

    @property
    def null(self) -> Variant[Key, Code]:
        """The variant of the null key, built with the shader."""
        key = self.compiler.null_key(self.stage)
        return self.variants.get(key) or self._build(key)

    def variant_for(self, key: Key) -> Variant[Key, Code]:
        """The variant for `key`, built now if there is none yet."""
        found = self.variants.pop(key, None)
        if found is not None:
            self.variants[key] = found
            self.hits += 1
            return found
        self.misses += 1
        return self._build(key)

    def values_to_inline(self, block: npt.NDArray[np.uint8] | None) -> Inlined:
        """The uniforms to inline in the variant for this default block.

        As many sets of values get variants as the screen's option says, in order of appearance; for
        others the shader reads its uniforms.
        """
        offsets = self.reads.deciding
        if not offsets or block is None or offsets[-1] + 4 > block.size:
            return ()
        values = tuple([(at, int.from_bytes(block[at : at + 4], "little")) for at in offsets])
        if values not in self.inlined:
            if len(self.inlined) >= self.compiler.options.inline_uniforms:
                return ()
            self.inlined.add(values)
        return values

    def _build(self, key: Key) -> Variant[Key, Code]:
        start = time.perf_counter()
        reason = self._reason(key)
        lowered = needs_nir(key)
        log = PassLog(texts=True)
        found = self.kept.program(self.shader, key) if self.kept is not None else None
        if found is not None:
            shader, program, mergeable = found
        else:
            shader, program, mergeable = self._generate(key, lowered, log)
        seconds = time.perf_counter() - start
        variant = Variant(key, program, shader, log, reason, lowered, seconds, mergeable)
        while len(self.variants) >= MOST_VARIANTS:
            self.variants.pop(next(iter(self.variants))).shader.unref()
        self.variants[key] = variant
        event = VariantEvent(
            self.name, self.stage.value, describe_key(key), reason, lowered, seconds
        )
        self.variant_log.append(event)
        driver = self.compiler.name
        if debug.is_set("driver:variants"):
            text = f"{event.stage} {event.shader}: {event.key} ({reason})"
            print_message(f"{driver}: {text}")
        if debug.is_set("driver:code"):
            print_message(self.compiler.text(program))
        return variant

    @gc_paused
    def _generate(self, key: Key, lowered: bool, log: PassLog) -> tuple[Shader, Code, bool]:
        """The variant's shader (one reference), its code, and whether its draws may be merged."""
        shader = self.shader.ref()
        try:
            if self.compiler.options.ownership == "always_clone":
                shader = _exchanged(shader)
            if lowered:
                shader = mutable(shader)
                self.compiler.second_round(shader, key, self._recorder(log))
                if self.kept is not None:
                    shader = LazyShader.of(shader)
            program = self.compiler.generate(shader, key)
            mergeable = can_merge(reading(shader))
            if self.kept is not None:
                self.kept.keep_program(self.shader, key, program, mergeable, shader)
        except BaseException:
            shader.unref()
            raise
        return shader, program, mergeable

    def _recorder(self, log: PassLog) -> PassLog | None:
        return log if self.compiler.options.record_passes else None

    def _reason(self, key: Key) -> str:
        """The key fields in which `key` differs from the most similar existing variant."""
        if not self.variants:
            return "first variant"
        fields = min((differing_fields(key, other) for other in self.variants), key=len)
        return "differs in " + ", ".join(fields)

    def destroy(self) -> None:
        """Release the references to the shader and to all variants."""
        for variant in self.variants.values():
            variant.shader.unref()
        self.variants.clear()
        if self.shader.refcount > 0:
            self.shader.unref()

    def explain(self) -> dict[str, Any]:
        """How the shader became code.

        Passes of the first round are included only with the option `record_passes`; those of a
        variant are otherwise run again, on a clone, to record them.
        """
        return {
            "name": self.name,
            "stage": self.stage.value,
            "hits": self.hits,
            "misses": self.misses,
            "passes": self.log.records,
            "variants": [self._explain(v) for v in self.variants.values()],
        }

    def _explain(self, variant: Variant[Key, Code]) -> dict[str, Any]:
        log = variant.log
        if variant.lowered and not log.records:
            again = clone_shader(self.shader)
            self.compiler.second_round(again, variant.key, log)
            again.unref()
        return {
            "key": describe_key(variant.key),
            "reason": variant.reason,
            "lowered": variant.lowered,
            "seconds": variant.seconds,
            "passes": log.records,
            "nir": print_shader(variant.shader),
            "code": self.compiler.text(variant.program),
            "pictures": self.compiler.pictures(variant.shader, variant.key),
        }


def _taken_over(shader: Shader, options: LoweringOptions) -> Shader:
    """A shader this driver may change, for the caller's reference."""
    if options.ownership == "always_clone":
        return _exchanged(shader)
    if options.ownership == "driver_owns":
        if shader.refcount > 1:
            name = shader.name or "a shader"
            shader.unref()
            raise GalletteError(f"{name} was handed over, but is still referenced elsewhere")
        return shader
    return mutable(shader)


def _exchanged(shader: Shader) -> Shader:
    """A clone, for the caller's reference."""
    clone = clone_shader(shader)
    shader.unref()
    return clone
