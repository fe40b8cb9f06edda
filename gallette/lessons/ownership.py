"""Lesson: who owns the IR? Three models of handing shaders to a driver, counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gallette.compiler.nir.ir import clone_shader, mutable
from gallette.compiler.nir.ir.ownership import COUNTERS
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.text.serialize import serialize
from gallette.drivers.common.variants.keys import FragmentKey, VariantKey, VertexKey
from gallette.drivers.numpipe.variants.compiler import ShaderCompiler
from gallette.lessons.page import Code, Diff, Page, Prose, Table, lesson
from gallette.pipe.enums import CompareFunc
from gallette.pipe.keys import needs_nir

__all__ = ["FRAMES", "MODELS", "Tally", "simulate"]

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


@dataclass(slots=True)
class Tally:
    """What one model cost."""

    clones: int = 0
    references: int = 0
    cloned_bytes: int = 0
    kept_shaders: int = 0
    kept_bytes: int = 0


class _Model:
    """A way to hand a shader over. Methods answer shaders the caller has one reference to."""

    def __init__(self) -> None:
        self.tally = Tally()

    def clone(self, shader: Shader) -> Shader:
        self.tally.cloned_bytes += len(serialize(shader))
        return clone_shader(shader)

    def hand_over(self, shader: Shader) -> Shader:
        """The tracker keeps `shader` for itself; what does the driver get to work on?"""
        raise AssertionError

    def for_variant(self, base: Shader, key: VariantKey) -> Shader:
        """What does a variant of the driver's `base` start from?"""
        raise AssertionError


class _DriverOwns(_Model):
    """(i) The driver may change what it gets, so the tracker clones to keep its own."""

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
    """(iii) Handing over gives away a reference; `mutable` clones only if somebody else has one."""

    def hand_over(self, shader: Shader) -> Shader:
        return self._mutable(shader.ref())

    def for_variant(self, base: Shader, key: VariantKey) -> Shader:
        return self._mutable(base.ref()) if needs_nir(key) else base.ref()

    def _mutable(self, shader: Shader) -> Shader:
        if shader.refcount > 1:
            self.tally.cloned_bytes += len(serialize(shader))
        return mutable(shader)


class _HandedOn(_RefCounted):
    """(iii) again, with a tracker that does not keep what it will not need: no clone at all."""

    def hand_over(self, shader: Shader) -> Shader:
        return mutable(shader)


MODELS: dict[str, Callable[[], _Model]] = {
    "(i) the driver owns it": _DriverOwns,
    "(ii) read-only, drivers clone": _ReadOnly,
    "(iii) reference counts": _RefCounted,
    "(iii) and the tracker lets go": _HandedOn,
}


def simulate(make: Callable[[], _Model], shaders: list[Shader]) -> tuple[Tally, list[str]]:
    """Run the frames under a model: what it cost, and the NIR of every variant.

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


@lesson("ownership", "Who owns the IR?", chapter="Drivers", place=10)
def run(page: Page, driver: str) -> None:
    """A state tracker hands shaders to a driver that makes variants: who may keep, change, delete?

    Three models run the same frames; clones, references and bytes are counted.
    """
    from gallette.lessons.shaders import corpus, link

    page.section(
        "Two rights",
        """Owning a shader means two things: the right to delete it and the right to modify it.
        The tracker may want to keep a program (another context, a relink); the driver wants to
        lower it, once when it is created and again whenever bound state asks for a variant.
        Three models have been argued over.""",
    )
    page.add(
        Code(
            "(i)   the driver owns what it gets and may change it; the tracker clones to keep one\n"
            "(ii)  the tracker keeps a read-only copy; every driver clones before it lowers\n"
            "(iii) references are counted; passing a shader transfers one; `mutable` gives back\n"
            "      the shader itself if nobody else holds a reference, otherwise a clone",
            "text",
        )
    )
    _mistakes(page)
    sources = list(corpus())[:40]
    rows: list[tuple[str, ...]] = []
    outputs = []
    for name, make in MODELS.items():
        page.progress(name)
        shaders = [s for _, text in sources for s in link(text).values()]
        tally, results = simulate(make, shaders)
        outputs.append(results)
        rows.append(
            (
                name,
                str(tally.clones),
                str(tally.references),
                f"{tally.cloned_bytes / 1024:.0f} KiB",
                str(tally.kept_shaders),
                f"{tally.kept_bytes / 1024:.0f} KiB",
            )
        )
    same = "the same, instruction for instruction"
    verdict = same if all(o == outputs[0] for o in outputs) else "DIFFERENT"
    page.section(
        "The same frames, three models",
        f"""{len(sources)} programs, and draws that ask each vertex shader for
        {len(FRAMES["vertex"])} keys and each fragment shader for {len(FRAMES["fragment"])},
        some of which need no lowering in NIR. The variants come out
        {verdict}.""",
    )
    columns = ("model", "clones", "references", "copied", "shaders kept", "memory kept")
    page.add(Table(columns, rows))
    page.section(
        "What decides it",
        """Most draws use the null key, and of the others some need nothing from NIR: flat
        shading and sample shading are the code generator's business. Under (i) even those cost
        a clone, because code generation may change its input. Under (ii) the hand-over always
        costs one. Under (iii) a clone is made exactly where two parties want different things
        from the same shader. One rule remains: passes die when they meet registers, so an IR
        that has left SSA must always be a private clone.""",
    )
    page.ask(
        "Under (iii), when does handing over a shader cost nothing at all?",
        """When the tracker does not keep a reference: the driver's is then the only one, and
        `mutable` returns the shader itself. The last row of the table is that.""",
    )
    page.ask(
        "Could the driver lower the tracker's shader in place if it is the only driver?",
        """Not if the tracker may need it again: for another context with other caps, for the
        other stages at a relink, for a second variant of what it lowers itself. What was lowered
        for one key is wrong for another.""",
    )
    page.tries(
        (
            "GALLETTE_DEBUG=driver:ownership=driver_owns gallette trace two_sided",
            "the driver takes what it is given; the tracker clones to keep one",
        ),
        (
            "GALLETTE_DEBUG=driver:ownership=always_clone gallette trace two_sided",
            "every driver clones before it lowers",
        ),
    )


# -- what goes wrong ------------------------------------------------------------------------------


def given_back_twice() -> tuple[str, str]:
    """Hand a shader over, and give it back as well: what happens, step by step; the complaint."""
    shader = _one()
    told = [f"linked:                         {shader.refcount} reference"]
    handed = shader  # passing it on gives the reference away: it is the driver's now
    told.append(f"create_shader_state(shader):    {handed.refcount} reference, the driver's")
    shader.unref()
    told.append(f"shader.unref() by the tracker:  {shader.refcount} references: the shader is dead")
    try:
        handed.unref()
    except AssertionError as error:
        told.append("delete_shader_state(handle):    the driver gives back what it was given")
        return "\n".join(told), f"AssertionError: {error}"
    return "\n".join(told), ""


def never_given_back(driver: str = "noop") -> tuple[str, str]:
    """Hand a shader over, keep one, and end the context without deleting what was made of it."""
    from gallette.pipe.loader import create_screen
    from gallette.pipe.resource import LeakError

    shader = _one()
    told = [f"linked:                         {shader.refcount} reference"]
    screen = create_screen(driver)
    context = screen.context_create()
    handle = context.create_shader_state(shader.stage, shader.ref())
    told.append(f"create_shader_state(ref()):     {shader.refcount} references")
    complaint = ""
    try:
        context.destroy()
    except LeakError as error:
        told.append("context.destroy():              one of them is still the driver's")
        complaint = f"LeakError: {error}"
    context.delete_shader_state(handle)
    told.append(f"delete_shader_state(handle):    {shader.refcount} reference, the tracker's")
    context.destroy()
    screen.destroy()
    shader.unref()
    return "\n".join(told), complaint


def changed_under_his_feet() -> tuple[str, str]:
    """The tracker keeps a shader without saying so; the driver lowers it. Before and after."""
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
    from gallette.lessons.shaders import link
    from gallette.scenes.depth_prepass import FRAGMENT, VERTEX

    linked = link({"vertex": VERTEX, "fragment": FRAGMENT})
    linked["fragment"].unref()
    return linked["vertex"]


def _mistakes(page: Page) -> None:
    page.section(
        "Three ways to get it wrong",
        """In C these are a crash, a slow death and a wrong picture. Here the count is checked at
        every step, so each is told at the place where it happens.""",
    )
    twice, complaint = given_back_twice()
    never, leak = never_given_back()
    before, after = changed_under_his_feet()
    page.flip(
        "what went wrong",
        (
            "given back twice",
            [
                Code(twice, "text"),
                Code(complaint, "text", "and the stack says"),
                Prose(
                    "In C the second free would be of memory that belongs to somebody else by"
                    " now. The rule that prevents it: whoever passes a shader on gives one"
                    " reference away, and to keep one takes another first."
                ),
            ],
        ),
        (
            "never given back",
            [
                Code(never, "text"),
                Code(leak, "text", "and the stack says"),
                Prose("A context counts what was made through it, and names it when it ends."),
            ],
        ),
        (
            "changed under his feet",
            [
                Diff(before, after, "the tracker's shader before and after the driver's lowering"),
                Prose(
                    "The tracker kept the shader without a reference of its own. The driver, with"
                    " the only one, was free to make it a depth-only shader; the next variant"
                    " would be made of what is left, without any varying."
                ),
            ],
        ),
    )
