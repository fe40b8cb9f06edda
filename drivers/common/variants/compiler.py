"""The parts of shader objects that a driver defines: key classes, two rounds of lowering, a code
generator.

Round one is independent of keys and does all that the null key needs. Round two starts from its
result, runs the passes that the key's fields ask for, and optimises again, because what they
removed or replaced may make more of the shader dead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

from gallette.compiler import debug
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import PassLog, run_passes
from gallette.pipe.keys import key_passes
from gallette.pipe.loader import DriverError
from gallette.pipe.state import FramebufferState

Key = TypeVar("Key")
Code = TypeVar("Code")

Ownership: TypeAlias = Literal["counted", "driver_owns", "always_clone"]
"""Which references a driver counts before it changes the shader the state tracker hands over; the
lesson on ownership switches between them.

`counted`: the driver changes the shader in place if it holds the only reference. `driver_owns`: the
driver always changes it in place, so a state tracker that keeps the shader must have cloned it
before (see `pipe.shader_handover`). `always_clone`: the state tracker keeps it, so the driver
clones the shader at once, and again for every variant.
"""

UsedOnce: TypeAlias = Literal["always", "never", "not_position"]


@lazy_dataclass(frozen=True)
class LoweringOptions:
    """How a screen wants its shaders lowered.

    By default no inexact rewrite that counts uses touches what the position is computed from, so
    that a depth-only variant of a shader computes the very positions the full one does (depth test
    EQUAL in a later pass then works). `inexact_used_once="always"` gives that up for shorter code,
    as real drivers did; with it multiply-adds are fused unless `fuse_ffma` says otherwise.
    """

    inexact_used_once: UsedOnce = "not_position"
    position_invariant: bool = False
    fuse_ffma: bool | None = None
    ownership: Ownership = "counted"
    record_passes: bool = False  # record the IR before and after each pass, for `explain`
    scalar: bool = True  # one operation per component, for machines whose lanes are scalars
    inline_uniforms: int = 0  # how many sets of uniform values get variants of their own
    select_limit: int = 12  # the longest branch, in instructions, that becomes selects

    @classmethod
    def chosen(
        cls,
        inexact_used_once: str = "",
        position_invariant: bool | None = None,
        fuse_ffma: bool | None = None,
        ownership: str = "counted",
        record_passes: bool = False,
        inline_uniforms: int = 0,
    ) -> LoweringOptions:
        """Options from a screen's arguments; GALLETTE_DEBUG provides those that are missing."""
        used_once = inexact_used_once or debug.flag_value("driver:inexact_used_once", "")
        if position_invariant is None:
            position_invariant = debug.is_set("driver:position_invariant")
        return cls(
            _one_of("inexact_used_once", used_once or "not_position", get_args(UsedOnce)),
            position_invariant,
            fuse_ffma,
            _one_of("ownership", ownership, get_args(Ownership)),
            record_passes,
            inline_uniforms=inline_uniforms,
        )

    def optimize_options(self) -> OptimizeOptions:
        fuse = self.inexact_used_once == "always" if self.fuse_ffma is None else self.fuse_ffma
        return OptimizeOptions(
            fuse_ffma=fuse,
            inexact_used_once=self.inexact_used_once,
            position_invariant=self.position_invariant,
            select_limit=self.select_limit,
            scalar=self.scalar,
        )


def _one_of(name: str, value: str, known: tuple[str, ...]) -> Any:
    if value not in known:
        raise DriverError(f"{name} is {', '.join(known[:-1])} or {known[-1]}, not {value!r}")
    return value


class VariantCompiler(ABC, Generic[Key, Code]):
    """The part of a driver that turns shaders into code, for its variant keys.

    A driver defines the null key and how a lowered shader becomes code. It may extend both rounds:
    call the inherited method, then run further passes.
    """

    name = "driver"  # in debugging output
    subgroups = False  # are lanes grouped in subgroups? else each is its own
    tells_time = False  # can shaders read a clock (shader_clock)?
    home = ""  # the driver's folder under `gallette`, if its code may be cached on disk

    def __init__(self, options: LoweringOptions | None = None) -> None:
        self.options = options or LoweringOptions()

    @abstractmethod
    def null_key(self, stage: Stage) -> Key:
        """The key without any lowering."""

    def target_kind(self, framebuffer: FramebufferState) -> Any:
        """A hashable summary of a framebuffer, equal for framebuffers that `adapted` treats
        alike.
        """
        return None

    def adapted(self, key: Any, framebuffer: FramebufferState) -> Any:
        """A shared key converted to this driver's key class."""
        return key

    @abstractmethod
    def generate(self, shader: Shader, key: Key) -> Code:
        """Code for a shader lowered for `key`, which is not changed (see `lazy_shader.reading`)."""

    def text(self, code: Code) -> str:
        """The code as people read it, for `explain`."""
        return str(getattr(code, "code", ""))

    def pictures(self, shader: Shader, key: Key) -> list[tuple[str, Any]]:
        """Images of a variant's code: captions and 8-bit RGB arrays, for `explain`."""
        return []

    def measure(self, shader: Shader) -> dict[str, int]:
        """The cost of a lowered shader's code, by name, for `shader-db`; empty if unknown."""
        return {}

    def machine(self) -> str:
        """What the code depends on besides shader, key and options."""
        return ""

    def pack(self, code: Code) -> bytes:
        """The code as bytes for another process; empty if it depends on this one."""
        return b""

    def unpack(self, data: bytes, shader: Shader) -> Code:
        """The code that `pack` packed, and the lowered shader it was made of."""
        raise NotImplementedError(self.name)

    def first_round(self, shader: Shader, log: PassLog | None) -> None:
        """Key-independent lowering and optimisation, once per shader."""
        if not self.subgroups:
            run_passes(shader, ["lower_subgroups"], log)
        optimize(shader, self.options.optimize_options(), log)

    def second_round(self, shader: Shader, key: Any, log: PassLog | None) -> None:
        """The lowering that the key requires, on a shader that may be modified."""
        run_passes(shader, key_passes(key), log)
        optimize(shader, self.options.optimize_options(), log)
