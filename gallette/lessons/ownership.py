"""The lesson: who owns the IR? Three models of passing shaders to a driver, counted."""

from __future__ import annotations

from collections.abc import Callable

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import clone_shader, mutable
from gallette.compiler.nir.ir.ownership import COUNTERS
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.text.serialize import serialize
from gallette.drivers.common.variants.keys import FragmentKey, VariantKey, VertexKey
from gallette.drivers.numpipe.variants.compiler import ShaderCompiler
from gallette.pipe.enums import CompareFunc
from gallette.pipe.keys import needs_nir

# What the draws of a frame ask of each program: most want nothing special.
FRAMES: dict[str, tuple[VariantKey, ...]] = {
    "vertex": (
        VertexKey(),
        VertexKey(clip_planes=1),
        VertexKey(),
        VertexKey(depth_only=True),
        VertexKey(),
    ),
    "fragment": (
        FragmentKey(),
        FragmentKey(flat_colors=True),
        FragmentKey(alpha_func=CompareFunc.GREATER),
        FragmentKey(sample_shading=True),
        FragmentKey(),
    ),
}


@lazy_dataclass()
class Tally:
    """The costs of one model."""

    clones: int = 0
    references: int = 0
    cloned_bytes: int = 0
    kept_shaders: int = 0
    kept_bytes: int = 0


class _Model:
    """A way to pass a shader on. Methods return shaders to which the caller has one reference."""

    def __init__(self) -> None:
        self.tally = Tally()

    def clone(self, shader: Shader) -> Shader:
        self.tally.cloned_bytes += len(serialize(shader))
        return clone_shader(shader)

    def hand_over(self, shader: Shader) -> Shader:
        """The shader that the driver gets; the tracker keeps `shader`."""
        raise AssertionError

    def for_variant(self, base: Shader, key: VariantKey) -> Shader:
        """The shader that a variant of the driver's `base` starts from."""
        raise AssertionError


class _DriverOwns(_Model):
    """(i) The driver may modify the shader it gets, so the tracker clones to keep its own."""

    def hand_over(self, shader: Shader) -> Shader:
        return self.clone(shader)

    def for_variant(self, base: Shader, key: VariantKey) -> Shader:
        # Code generation may change its input here, so every variant needs one of its own.
        return self.clone(base)


class _ReadOnly(_Model):
    """(ii) The tracker's copy is read-only, so every driver clones before it may lower."""

    def hand_over(self, shader: Shader) -> Shader:
        return self.clone(shader)

    def for_variant(self, base: Shader, key: VariantKey) -> Shader:
        return self.clone(base) if needs_nir(key) else base.ref()


class _RefCounted(_Model):
    """(iii) Passing a shader gives away a reference; `mutable` clones only if there are other
    references.
    """

    def hand_over(self, shader: Shader) -> Shader:
        return self._mutable(shader.ref())

    def for_variant(self, base: Shader, key: VariantKey) -> Shader:
        return self._mutable(base.ref()) if needs_nir(key) else base.ref()

    def _mutable(self, shader: Shader) -> Shader:
        if shader.refcount > 1:
            self.tally.cloned_bytes += len(serialize(shader))
        return mutable(shader)


class _HandedOn(_RefCounted):
    """The third model with a tracker that keeps no shader it does not need: no clone at all."""

    def hand_over(self, shader: Shader) -> Shader:
        return mutable(shader)


MODELS: dict[str, Callable[[], _Model]] = {
    "(i) the driver owns it": _DriverOwns,
    "(ii) read-only, drivers clone": _ReadOnly,
    "(iii) reference counts": _RefCounted,
    "(iii) and the tracker lets go": _HandedOn,
}


def simulate(make: Callable[[], _Model], shaders: list[Shader]) -> tuple[Tally, list[str]]:
    """Run the frames under a model; returns the costs, and the NIR of every variant.

    `shaders` are consumed: one reference each.
    """
    from gallette.compiler.nir.text.printer import print_shader

    model = make()
    compiler = ShaderCompiler()
    COUNTERS.reset()
    results: list[str] = []
    kept: list[Shader] = []
    keeps = not isinstance(model, _HandedOn)
    for shader in shaders:
        base = model.hand_over(shader)
        compiler.first_round(base, None)
        kept.append(base)
        if keeps:
            kept.append(shader)
        variants: dict[VariantKey, Shader] = {}
        for key in FRAMES[base.stage.value]:
            if key in variants:
                continue
            variant = model.for_variant(base, key)
            if needs_nir(key):
                compiler.second_round(variant, key, None)
            variants[key] = variant
            results.append(print_shader(variant))
        kept += variants.values()
    tally = model.tally
    tally.clones, tally.references = COUNTERS.cloned, COUNTERS.refs
    distinct = {id(s): s for s in kept}
    tally.kept_shaders = len(distinct)
    tally.kept_bytes = sum(len(serialize(s)) for s in distinct.values())
    for shader in kept:
        shader.unref()
    return tally, results


# -- what goes wrong ------------------------------------------------------------------------------


Steps = list[tuple[str, int]]
"""What was done, and how many references there are after it."""


def given_back_twice() -> tuple[Steps, str]:
    """Pass a shader on, and release it as well; returns the resulting error."""
    shader = _one()
    told = [("linked", shader.refcount)]
    handed = shader  # passing it on gives the reference away: it is the driver's now
    told.append(("create_shader_state: the driver's now", handed.refcount))
    shader.unref()
    told.append(("the tracker's unref: it is dead", shader.refcount))
    try:
        handed.unref()
    except AssertionError as error:
        told.append(("the driver gives it back", shader.refcount))
        return told, f"AssertionError: {error}"
    return told, ""


def never_given_back(driver: str = "noop") -> tuple[Steps, str]:
    """Pass a shader on, keep another, and destroy the context without deleting what was made of
    it.
    """
    from gallette.pipe.loader import create_screen
    from gallette.pipe.resource import LeakError

    shader = _one()
    told = [("linked", shader.refcount)]
    screen = create_screen(driver)
    context = screen.context_create()
    handle = context.create_shader_state(shader.stage, shader.ref())
    told.append(("create_shader_state with ref", shader.refcount))
    complaint = ""
    try:
        context.destroy()
    except LeakError as error:
        told.append(("context.destroy: one is the driver's", shader.refcount))
        complaint = f"LeakError: {error}"
    context.delete_shader_state(handle)
    told.append(("delete_shader_state: the tracker's is left", shader.refcount))
    context.destroy()
    screen.destroy()
    shader.unref()
    return told, complaint


def changed_meanwhile() -> tuple[str, str]:
    """The shader before and after, if the tracker keeps it without a reference and the driver
    lowers it.
    """
    from gallette.compiler.nir.run.pass_runner import run_passes
    from gallette.compiler.nir.text.printer import print_shader

    shader = _one()
    before = print_shader(shader)
    given = mutable(shader)  # one reference only: it is the very shader the tracker still looks at
    run_passes(given, ["lower_depth_only"])
    after = print_shader(shader)
    given.unref()
    return before, after


def _one() -> Shader:
    from gallette.lessons.experiments import link
    from gallette.scenes.depth_prepass import GLSL

    linked = link(GLSL)
    linked["fragment"].unref()
    return linked["vertex"]
