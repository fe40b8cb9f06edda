"""The object behind a shader state handle: one NIR shader and the variants made of it.

Ownership: the object takes over the reference the tracker gave away. Round one runs on
`shader.mutable()`, so a tracker that kept a reference keeps an untouched shader. A variant whose
key asks for nothing in NIR shares the shader (one more reference); one that does gets a clone.
The option `ownership` shows the other two ways of sharing the work.
`destroy` gives everything back; `gallette.compiler.nir.ir.ownership` counts it all.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gallette.compiler import debug
from gallette.compiler.nir.ir import Alu, Instr, Intrinsic, Shader, Tex
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.run.pass_runner import PassLog
from gallette.compiler.nir.text.printer import print_shader
from gallette.drivers.numpipe.shader.program import CompiledShader, compile_program
from gallette.pipe.interface import VariantEvent
from gallette.pipe.state import StreamOutputInfo

from .keys import (
    FragmentKey,
    VariantKey,
    describe_key,
    differing_fields,
    needs_nir,
    null_key,
)
from .lowering import ShaderOptions, first_round, second_round

__all__ = ["ShaderObject", "ShaderReads", "Variant"]

_COLOR_INPUTS = (VaryingSlot.COL0, VaryingSlot.COL1)
_COLOR_OUTPUTS = (VaryingSlot.COL0, VaryingSlot.COL1, VaryingSlot.BFC0, VaryingSlot.BFC1)
_KEPT_BY_DEPTH_ONLY = frozenset(
    {
        VaryingSlot.POS,
        VaryingSlot.PSIZ,
        VaryingSlot.CLIP_DIST0,
        VaryingSlot.CLIP_DIST1,
        VaryingSlot.CULL_DIST0,
        VaryingSlot.CULL_DIST1,
        VaryingSlot.CLIP_VERTEX,
        VaryingSlot.LAYER,
        VaryingSlot.VIEWPORT,
    }
)
_FIRST_COLORS = frozenset({FragResult.COLOR, FragResult.DATA0})


@dataclass(frozen=True, slots=True)
class ShaderReads:
    """What of the bound state can matter to a shader: fields of its key stay null otherwise."""

    reads_color: bool  # gl_Color, gl_SecondaryColor
    writes_color: bool  # colour varyings (vertex) or any colour result (fragment)
    writes_color0: bool  # the colour the alpha test looks at
    writes_clip_distance: bool
    has_varyings: bool  # outputs a depth-only pass can do without
    sprite_mask: int  # bit i: reads TEXi
    samplers: tuple[int, ...]

    @classmethod
    def of(cls, shader: Shader) -> ShaderReads:
        inputs: set[int] = set()
        outputs: set[int] = set()
        samplers: set[int] = set()
        for instr in _instructions(shader):
            if isinstance(instr, Tex):
                samplers.add(instr.sampler_index)
            elif isinstance(instr, Intrinsic):
                if instr.name in ("load_input", "load_interpolated_input"):
                    inputs.update(_slots(instr))
                elif instr.name == "store_output":
                    outputs.update(_slots(instr))
        fragment = shader.stage.value == "fragment"
        sprites = 0
        if fragment:
            for i in range(8):
                sprites |= (VaryingSlot.TEX0 + i in inputs) << i
            colors = {s for s in outputs if s >= FragResult.DATA0 or s == FragResult.COLOR}
        else:
            colors = outputs.intersection(_COLOR_OUTPUTS)
        clip = {VaryingSlot.CLIP_DIST0, VaryingSlot.CLIP_DIST1}
        return cls(
            reads_color=fragment and bool(inputs.intersection(_COLOR_INPUTS)),
            writes_color=bool(colors),
            writes_color0=fragment and bool(outputs & _FIRST_COLORS),
            writes_clip_distance=not fragment and bool(outputs & clip),
            has_varyings=not fragment and bool(outputs - _KEPT_BY_DEPTH_ONLY),
            sprite_mask=sprites,
            samplers=tuple(sorted(samplers)),
        )


def _slots(instr: Intrinsic) -> range:
    return range(instr["location"], instr["location"] + max(1, instr["num_slots"]))


def _instructions(shader: Shader) -> Iterator[Instr]:
    for block in shader.entry.blocks():
        yield from block.instrs()


@dataclass(slots=True, eq=False)
class Variant:
    """One program of a shader, with the key it serves and why it came to be."""

    key: VariantKey
    program: CompiledShader
    shader: Shader
    log: PassLog
    reason: str
    lowered: bool
    seconds: float


class ShaderObject:
    """A shader as the driver keeps it."""

    __slots__ = (
        "hits",
        "log",
        "misses",
        "name",
        "options",
        "reads",
        "shader",
        "stage",
        "stream_output",
        "variant_log",
        "variants",
    )

    def __init__(
        self,
        shader: Shader,
        options: ShaderOptions,
        variant_log: list[VariantEvent],
        stream_output: StreamOutputInfo | None = None,
    ):
        """Takes over one reference to `shader`, whatever happens."""
        self.stage = shader.stage
        self.name = shader.name or "unnamed"
        self.options = options
        self.stream_output = stream_output
        self.variant_log = variant_log
        self.variants: dict[VariantKey, Variant] = {}
        self.hits = self.misses = 0
        self.log = options.new_log()
        self.shader = _taken_over(shader, options)
        try:
            first_round(self.shader, options, self._recorder(self.log))
            self.reads = ShaderReads.of(self.shader)
            self.variant_for(null_key(self.stage.value))
        except BaseException:
            self.destroy()
            raise
        self.hits = self.misses = 0

    @property
    def null(self) -> Variant:
        """The variant for the null key, made with the shader."""
        return self.variants[null_key(self.stage.value)]

    def variant_for(self, key: VariantKey) -> Variant:
        """The variant that serves `key`, made now if there is none yet."""
        found = self.variants.get(key)
        if found is not None:
            self.hits += 1
            return found
        self.misses += 1
        return self._build(key)

    def _build(self, key: VariantKey) -> Variant:
        start = time.perf_counter()
        reason = self._reason(key)
        lowered = needs_nir(key)
        shader = self.shader.ref()
        log = self.options.new_log()
        try:
            if self.options.ownership == "always_clone":
                shader = _exchanged(shader)
            if lowered:
                shader = shader.mutable()
                second_round(shader, key, self.options, self._recorder(log))
            flat = isinstance(key, FragmentKey) and key.flat_colors
            program = compile_program(shader, flat_colors=flat, budget=self.options.budget)
        except BaseException:
            shader.unref()
            raise
        seconds = time.perf_counter() - start
        variant = Variant(key, program, shader, log, reason, lowered, seconds)
        self.variants[key] = variant
        event = VariantEvent(
            self.name, self.stage.value, describe_key(key), reason, lowered, seconds
        )
        self.variant_log.append(event)
        if debug.is_set("numpipe:variants"):
            print(f"numpipe: {event.stage} {event.shader}: {event.key} ({reason})", file=sys.stderr)
        if debug.is_set("numpipe:code"):
            print(program.code, file=sys.stderr)
        return variant

    def _recorder(self, log: PassLog) -> PassLog | None:
        return log if self.options.record_passes else None

    def _reason(self, key: VariantKey) -> str:
        """The key fields in which `key` differs from the nearest variant there is."""
        if not self.variants:
            return "first variant"
        fields = min((differing_fields(key, other) for other in self.variants), key=len)
        return "differs in " + ", ".join(fields)

    def destroy(self) -> None:
        """Give back the references to the shader and to all variants."""
        for variant in self.variants.values():
            variant.shader.unref()
        self.variants.clear()
        if self.shader.refcount > 0:
            self.shader.unref()

    def explain(self) -> dict[str, Any]:
        """How the shader became code.

        Passes of the first round are there with the option `record_passes` only; those of a
        variant are otherwise run again, on a clone, for the record.
        """
        return {
            "name": self.name,
            "stage": self.stage.value,
            "hits": self.hits,
            "misses": self.misses,
            "passes": self.log.records,
            "variants": [self._explain(v) for v in self.variants.values()],
        }

    def _explain(self, variant: Variant) -> dict[str, Any]:
        log = variant.log
        if variant.lowered and not log.records:
            again = self.shader.clone()
            second_round(again, variant.key, self.options, log)
            again.unref()
        return {
            "key": describe_key(variant.key),
            "reason": variant.reason,
            "lowered": variant.lowered,
            "seconds": variant.seconds,
            "passes": log.records,
            "nir": print_shader(variant.shader),
            "code": variant.program.code,
        }


def _taken_over(shader: Shader, options: ShaderOptions) -> Shader:
    """A shader this driver may change, for the reference it was given."""
    if options.ownership == "always_clone":
        return _exchanged(shader)
    return shader.mutable()


def _exchanged(shader: Shader) -> Shader:
    """A clone, in exchange for the caller's reference."""
    clone = shader.clone()
    shader.unref()
    return clone


def count_alu(shader: Shader) -> int:
    """Arithmetic instructions: the figure the shader-db lesson compares."""
    return sum(isinstance(instr, Alu) for instr in _instructions(shader))
