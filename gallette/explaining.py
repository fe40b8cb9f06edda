"""Observing how a shader compiles: the records that `gallette explain` and the lessons show.

A file is compiled and linked by the front end and handed to a driver, with every pass recorded.
A shader_test is then also *run*, so that the bound state of its draws makes the driver build real
variants, and the log says which key field forced each.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gallette.compiler.arguments import read_source
from gallette.compiler.errors import CompileError, GalletteError, InputError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.modes import GL_NAMES, SUFFIXES
from gallette.compiler.nir.run.pass_runner import PassRecord, recording
from gallette.compiler.nir.text.difference import stable
from gallette.compiler.nir.text.printer import print_shader
from gallette.debugger.invocation import without_compile_cache
from gallette.inspector.programs import marked_code
from gallette.pipe.shader_handover import shader_for_driver

MOST_TEXT = 500_000  # characters of NIR that a page shows of one shader
MOST_LINES = 5_000  # of a source: every pass prints the shader before and after
_MARK = re.compile(r"\s*//@\d+$", re.M)


def unmarked(text: str) -> str:
    """A text without the source lines at the ends of its lines."""
    return _MARK.sub("", text)


STAGES = {suffix: stage.value for suffix, stage in SUFFIXES.items()}
_SECTIONS = {f"{name}_SHADER": stage.value for stage, name in GL_NAMES.items()}


@lazy_dataclass()
class VariantStory:
    """One variant: the key, the reason it was built, its second round, its code."""

    key: str
    reason: str
    lowered: bool
    seconds: float
    passes: list[PassRecord]
    nir: str
    code: str
    pictures: list[tuple[str, Any]] = field(default_factory=list)
    marked_nir: str = ""  # lines end in the source line they were made for: `//@12`
    marked_code: str = ""


@lazy_dataclass()
class ShaderStory:
    """How one stage compiles. Texts of passes have the source line of each instruction: `//@12`."""

    stage: str
    source: str
    first_line: int = 1  # of the source, in its file
    passes: list[PassRecord] = field(default_factory=list)
    nir: str = ""
    variants: list[VariantStory] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return sum(r.seconds for r in self.passes)

    def forms(self) -> list[tuple[str, str]]:
        """Every form of the shader and of each variant: (producer, text)."""
        changed = [r for r in self.passes if r.progress]
        found = [("the front end", changed[0].before)] if changed else []
        found += [(r.name, r.after) for r in changed]
        for v in self.variants:
            found += [(f"{v.key}: {r.name}", r.after) for r in v.passes if r.progress]
            text = v.marked_nir or v.nir  # printed apart from the passes: numbered anew
            found.append((f"variant: {v.key}", stable(found[-1][1], text) if found else text))
        if sum(len(text) for _, text in found) > MOST_TEXT:  # a page has to stay readable
            found = [found[0], *(f for f in found if f[0].startswith("variant: "))]
        return found


@lazy_dataclass()
class Explanation:
    """The whole explanation of one file."""

    name: str
    driver: str
    shaders: list[ShaderStory]
    events: list[Any] = field(default_factory=list)
    log: str = ""
    outcome: str = ""
    memory: dict[str, Any] | None = None  # map and picture of a run's buffers, if the driver tells

    def __repr__(self) -> str:
        stages = ", ".join(shader.stage for shader in self.shaders)
        return f"<Explanation of {self.name} on {self.driver}: {stages}>"

    def _repr_html_(self) -> str:
        from gallette.reports import cells

        return cells.explanation(self)


def explain_file(
    name: str, driver: str, stage: str | None = None, alone: bool = False
) -> Explanation:
    """Compile, link, pass to the driver, and (for a shader_test) run, with everything recorded.

    `-` is standard input. `stage` is for a file whose name does not determine it. A vertex shader
    is linked with the fragment shader beside it (`a.vert`, `a.frag`), and vice versa, unless
    `alone`.
    """
    with without_compile_cache():
        return _explain(name, driver, stage, alone)


def _explain(name: str, driver: str, stage: str | None, alone: bool) -> Explanation:
    path = Path(name)
    if path.suffix == ".shader_test":
        from gallette.piglit_subset.suite import file_at

        if not path.exists() and file_at(path) is None:
            raise InputError(f"{path}: no such file")
        return _explain_test(path, driver)
    source, shown = read_source(name)
    if path.suffix in STAGES:
        stage = STAGES[path.suffix]
    elif stage is None and path.suffix == ".glsl":
        stage = _stage_of_name(path)
    elif stage is None:
        raise InputError(
            f"{shown}: the stage cannot be inferred from the file name; use --stage or a suffix: "
            f"{', '.join(STAGES)}"
        )
    lines = source.count("\n") + 1
    if lines > MOST_LINES:
        raise InputError(
            f"{shown}: too long to explain ({lines:,} lines; up to {MOST_LINES:,} are shown pass"
            f" by pass); `gallette glslc {shown}` compiles it"
        )
    result = Explanation(shown, driver, [])
    stages = [(stage, source, shown)]
    other = path.with_suffix({".vert": ".frag", ".frag": ".vert"}.get(path.suffix, path.suffix))
    if not alone and other != path and other.is_file():
        text, also = read_source(str(other))
        stages.append((STAGES[other.suffix], text, also))
    try:
        _compile(result, stages, "core")
    except CompileError:
        if len(stages) == 1:
            raise
        result = Explanation(shown, driver, [])
        _compile(result, stages[:1], "core")  # they are no pair: this one by itself
    result.shaders.sort(key=lambda s: list(STAGES.values()).index(s.stage))
    return result


def _stage_of_name(path: Path) -> str:
    """The stage in a name such as `lit.frag.glsl` or `lit_fs.glsl`; a plain `.glsl` is a fragment
    shader.
    """
    inner = path.with_suffix("").suffix
    if inner in STAGES:
        return STAGES[inner]
    return "vertex" if path.stem.endswith(("_vs", "_vert", "vertex")) else "fragment"


def _explain_test(path: Path, driver: str) -> Explanation:
    from gallette.piglit_subset.requirements import context_needs
    from gallette.piglit_subset.shader_test import parse_file

    test = parse_file(path)
    needs = context_needs(test)
    result = Explanation(str(path), driver, [])
    stages = []
    for s in test.shaders:
        if s.form == "glsl":
            # Blank lines in front keep the file's own line numbers in messages.
            stages.append((_SECTIONS[s.stage], "\n" * (s.line - 1) + s.text, str(path)))
        elif s.form == "passthrough":
            stages.append((_SECTIONS[s.stage], _passthrough(needs), str(path)))
    _compile(result, stages, needs.profile)
    _run_test(result, path, driver)
    return result


def _passthrough(needs: Any) -> str:
    from gallette.piglit_subset.programs import passthrough_source
    from gallette.piglit_subset.session import Session
    from gallette.piglit_subset.shader_test import ShaderTest

    return passthrough_source(Session(None, ShaderTest("passthrough"), needs))


def _compile(result: Explanation, stages: list[tuple[str, str, str]], profile: str) -> None:
    from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
    from gallette.compiler.nir.ir.modes import Stage

    compiled = []
    with recording(lines=True) as log:
        for stage, source, name in stages:
            options = CompileOptions(api=profile)
            shader = compile_shader(Stage(stage), source, options, file_names=[name])
            if not shader.ok:
                raise CompileError(shader.info_log.strip() or f"{name}: does not compile")
            compiled.append(shader)
            result.log += shader.info_log
        alone = len({stage for stage, _, _ in stages}) == 1
        program = link_program(compiled, LinkOptions(separable=alone))
    if not program.ok:
        raise CompileError(program.info_log.strip() or "the program does not link")
    sources = {stage: source for stage, source, _ in stages}
    for kind, linked in program.shaders.items():
        source = sources.get(kind.value, "")
        bare = source.lstrip("\n")
        story = ShaderStory(kind.value, bare, 1 + len(source) - len(bare))
        story.passes = [r for r in log.records if r.stage == kind.value]
        result.shaders.append(story)
        _hand_over(story, linked, result.driver)


def _hand_over(story: ShaderStory, shader: Any, driver: str) -> None:
    """Pass the shader to the driver, which builds the null variant, and request its explanation."""
    from gallette.pipe.loader import create_screen

    story.nir = print_shader(shader)
    if driver.split(":")[0] == "native":
        shader.unref()
        return
    screen = create_screen(driver)
    context = screen.context_create()
    if story.stage not in screen.caps.stages:
        shader.unref()
    else:
        with recording(lines=True) as log:
            handle = context.create_shader_state(
                shader.stage, shader_for_driver(shader, screen.caps)
            )
        story.passes += log.records
        story.variants = _variants(context.explain(handle), handle)
        context.delete_shader_state(handle)
    context.destroy()
    screen.destroy()


def _variants(explained: dict[str, Any], handle: Any) -> list[VariantStory]:
    """The variants that the driver has built of a shader; with source lines, if it is one of our
    drivers.
    """
    stories = [_variant(v) for v in explained["variants"]]
    made = getattr(handle, "variants", None) or {}
    if len(made) == len(stories):
        for story, variant in zip(stories, made.values(), strict=True):
            story.marked_nir = print_shader(variant.shader, lines=True)
            story.marked_code = marked_code(variant, story.code)
    return stories


def _variant(v: dict[str, Any]) -> VariantStory:
    return VariantStory(
        v["key"],
        v["reason"],
        bool(v.get("lowered")),
        float(v.get("seconds", 0.0)),
        list(v["passes"]),
        v["nir"],
        v["code"],
        list(v.get("pictures", ())),
    )


def _run_test(result: Explanation, path: Path, driver: str) -> None:
    """Run the test and record the driver's variant log: the draw and the reason of each variant."""
    from gallette.piglit_subset.execute import run_test
    from gallette.piglit_subset.shader_test import parse_file

    if driver.split(":")[0] == "native":
        return

    def look(gl: Any) -> None:
        """Record the variants of the program in use before the context is released."""
        result.events = list(gl.pipe.variant_log)
        executable = gl.programs.executable
        handles = executable.handles if executable is not None else {}
        for (stage, _), handle in handles.items():
            for story in result.shaders:
                if story.stage == stage.value:
                    explained = gl.pipe.explain(handle)
                    story.variants = _variants(explained, handle)
                    result.memory = explained.get("memory", result.memory)

    try:
        outcome = run_test(parse_file(path), driver, before_release=look)
    except GalletteError as error:
        result.outcome = str(error)
        return
    result.outcome = f"{outcome.result}: {outcome.reason}" if outcome.reason else outcome.result
