"""What a driver may say about algebraic rewriting.

Each `lower_*` asks for an operation to be expressed by simpler ones, each `fuse_*` for simpler ones
to be joined; a rule names the option it belongs to. `inexact_used_once` is about a problem, not a
preference: a rule that changes rounding *and* fires only if some value is used once lets
unrelated code change a result in its last bit. Two passes of a multi-pass renderer that use the
same position computation beside different other outputs may then disagree about depth.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, TypeAlias

__all__ = ["AlgebraicOptions", "RuleGroup", "RuleText", "UsedOnce"]

RuleText: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class RuleGroup:
    """Rules of the tables that are there for one reason, which is said in a line."""

    name: str
    reason: str
    rules: list[RuleText]


UsedOnce: TypeAlias = Literal["always", "never", "not_position"]


@dataclass(frozen=True)
class AlgebraicOptions:
    """Switches of the algebraic passes, hashable so that rule sets can be kept per choice."""

    inexact_used_once: UsedOnce = "always"
    """May rules that count uses fire: always, never, or not in what feeds gl_Position.

    The name is about the inexact ones, which are what moves a vertex. Exact ones are bound by it
    too: random shaders show that what an exact rule leaves behind can let an inexact one match.
    """
    fuse_ffma: bool = False
    """The target has `ffma`: fuse products into sums (late)."""
    fuse_ffma_shared: bool = False
    """Fuse a product even if it is needed elsewhere too: slower, but blind to use counts."""
    share_reciprocals: bool = False
    """Divide by a value that is used several times through its reciprocal."""
    fuse_flrp: bool = False
    """Turn `a * (1 - c) + b * c` into `flrp`."""
    fuse_fsub: bool = True
    """The target has `fsub` and `isub`: undo the canonical addition of a negation (late)."""
    lower_fdiv: bool = False
    lower_frcp_sqrt: bool = False
    """No `frsq`: use `frcp(fsqrt(x))`."""
    lower_fsqrt: bool = False
    lower_fpow: bool = False
    lower_fmod: bool = False
    lower_frem: bool = False
    lower_flrp: bool = False
    lower_ffma: bool = False
    lower_ffract: bool = False
    lower_ffloor: bool = False
    lower_fceil: bool = False
    lower_ftrunc: bool = False
    lower_fsat: bool = False
    lower_fsign: bool = False
    lower_isign: bool = False
    lower_iabs: bool = False
    lower_ldexp: bool = False
    lower_fdot: bool = False
    lower_fdph: bool = False
    lower_fsum: bool = False
    lower_vector_compare: bool = False
    lower_slt: bool = False
    lower_bitfield_extract: bool = False
    lower_bitfield_insert: bool = False
    lower_rotate: bool = False
    lower_sat_arithmetic: bool = False
    lower_hadd: bool = False
    lower_carry: bool = False
    lower_find_lsb: bool = False
    lower_mul_2x32_64: bool = False
    lower_mul24: bool = False
    lower_pack_half: bool = False
    lower_pack_split: bool = False
    lower_pack_norm: bool = False

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Rule sets are looked up for every shader, and there are some forty switches."""
        return hash(tuple([getattr(self, field.name) for field in fields(self)]))

    @staticmethod
    def names() -> frozenset[str]:
        """Every switch a rule may name."""
        return frozenset(f.name for f in fields(AlgebraicOptions)) - {"inexact_used_once"}
