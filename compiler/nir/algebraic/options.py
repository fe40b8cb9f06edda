"""A driver's options of algebraic rewriting.

Each `lower_*` option has an operation expressed by simpler ones, each `fuse_*` option combines
simpler ones; a rule names the option it belongs to. `inexact_used_once` concerns a problem, not a
preference: with a rule that changes rounding *and* applies only if a value is used once, unrelated
code can change a result in its last bit. Two passes of a multi-pass renderer with the same position
computation but different other outputs may then disagree about depth.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, TypeAlias

RuleText: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class RuleGroup:
    """Rules with a common reason, in one line."""

    name: str
    reason: str
    rules: list[RuleText]


UsedOnce: TypeAlias = Literal["always", "never", "not_position"]


@dataclass(frozen=True)
class AlgebraicOptions:
    """Options of the algebraic passes, hashable so that rule sets can be cached."""

    inexact_used_once: UsedOnce = "always"
    """When rules that count uses may apply: always, never, or not to what gl_Position depends on.

    The name refers to inexact rules, which are those that move a vertex. Exact ones are restricted,
    too, because the result of an exact rule can let an inexact one match, as random shaders show.
    """
    fuse_ffma: bool = False
    """The target has `ffma`: fuse products into sums (late)."""
    fuse_ffma_shared: bool = False
    """Fuse a product even if it has other uses: slower, but independent of use counts."""
    share_reciprocals: bool = False
    """Divide by a value with several uses by multiplying with its reciprocal."""
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
        """A cached hash, because rule sets are looked up for every shader and there are some forty
        options.
        """
        return hash(tuple([getattr(self, field.name) for field in fields(self)]))

    @staticmethod
    def names() -> frozenset[str]:
        """Every option that a rule may name."""
        return frozenset(f.name for f in fields(AlgebraicOptions)) - {"inexact_used_once"}
