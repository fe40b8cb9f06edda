"""The two rounds of lowering: what every shader gets once, and what a key adds on a clone.

Round one is key-independent and does all the null key needs. Round two starts from its result,
runs the passes the key's fields ask for, and optimises again, because what they removed or
replaced may let more of the shader go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from gallette.compiler.nir.ir import Shader
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import PassLog, PassSpec, run_passes
from gallette.pipe.enums import CompareFunc

from . import merging as _merging  # noqa: F401 - registers its pass
from .keys import FragmentKey, VariantKey, VertexKey

__all__ = ["ShaderOptions", "first_round", "passes_for", "second_round"]


Ownership: TypeAlias = Literal["counted", "driver_owns", "always_clone"]
"""Who may change the shader a tracker hands over, for the lesson on ownership.

`counted`: whoever holds the only reference. `driver_owns`: the driver, so a tracker that wants to
keep the shader must have cloned it before (that clone is made here, in its name). `always_clone`:
nobody but the tracker, so the driver clones at once, and again for every variant.
"""

UsedOnce: TypeAlias = Literal["always", "never", "not_position"]


@dataclass(frozen=True, slots=True)
class ShaderOptions:
    """How a screen wants its shaders compiled.

    By default no inexact rewrite that counts uses touches what the position is computed from, so
    that a depth-only variant of a shader computes the very positions the full one does (depth test
    EQUAL in a later pass then works). `inexact_used_once="always"` gives that up for shorter code,
    as real drivers did; with it multiply-adds are fused unless `fuse_ffma` says otherwise.
    """

    inexact_used_once: UsedOnce = "not_position"
    position_invariant: bool = False
    fuse_ffma: bool | None = None
    budget: int = 1 << 18  # loop iterations a chunk of lanes may spend
    ownership: Ownership = "counted"
    record_passes: bool = False  # keep each pass's before and after for `explain`

    def new_log(self) -> PassLog:
        """A log for one round of passes; filled only when recording."""
        return PassLog(texts=True)

    def optimize_options(self) -> OptimizeOptions:
        fuse = self.inexact_used_once == "always" if self.fuse_ffma is None else self.fuse_ffma
        return OptimizeOptions(
            fuse_ffma=fuse,
            inexact_used_once=self.inexact_used_once,
            position_invariant=self.position_invariant,
            select_limit=12,
            scalar=True,
        )


def first_round(shader: Shader, options: ShaderOptions, log: PassLog | None) -> None:
    """Key-independent lowering and optimisation, once per shader."""
    optimize(shader, options.optimize_options(), log)


def second_round(
    shader: Shader, key: VariantKey, options: ShaderOptions, log: PassLog | None
) -> None:
    """What the key asks for, on a shader that is ours to change."""
    run_passes(shader, passes_for(key), log)
    optimize(shader, options.optimize_options(), log)


def passes_for(key: VariantKey) -> list[PassSpec]:
    """The NIR passes behind a key's fields, in the order they must run."""
    return _vertex_passes(key) if isinstance(key, VertexKey) else _fragment_passes(key)


def _vertex_passes(key: VertexKey) -> list[PassSpec]:
    passes: list[PassSpec] = []
    if key.clip_planes:
        passes.append(("lower_user_clip_planes", {"mask": key.clip_planes}))
    if key.clamp_color:
        passes.append("lower_clamp_color_outputs")
    if key.depth_only:
        passes.append("lower_depth_only")
    if key.merged:
        passes.append(("constants_per_draw", {"stride": key.merged}))
    return passes


def _fragment_passes(key: FragmentKey) -> list[PassSpec]:
    passes: list[PassSpec] = []
    if key.two_sided_color:
        passes.append("lower_two_sided_color")
    if key.sprite_coords:
        passes.append(("lower_sprite_coord", {"mask": key.sprite_coords}))
    if key.saturate_s or key.saturate_t or key.saturate_r:
        masks = {"s": key.saturate_s, "t": key.saturate_t, "r": key.saturate_r}
        passes.append(("lower_tex_saturate", masks))
    if key.clamp_color:
        passes.append("lower_clamp_color_outputs")
    if key.alpha_func is not CompareFunc.ALWAYS:
        passes.append(("lower_alpha_test", {"func": key.alpha_func.name.lower()}))
    if key.depth_only:
        passes.append("lower_depth_only")
    if key.merged:
        passes.append(("constants_per_draw", {"stride": key.merged}))
    return passes
