"""Self-contained HTML: every style, script and picture inside one file."""

from __future__ import annotations

import base64
import datetime
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gallette import __version__
from gallette.compiler.output_files import write_whole
from gallette.pictures import png_bytes
from gallette.piglit_subset.summary import Summary, pass_rate
from gallette.reports.highlight import coloured, mapped

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    from gallette.commands.diff import DiffReport
    from gallette.explaining import Explanation, ShaderStory
    from gallette.lessons.page import Block, Page
    from gallette.lessons.text import Lesson
    from gallette.tracing import TraceStory

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


def png_uri(image: Any) -> str:
    """An image (8-bit RGB) as a data URI."""
    return "data:image/png;base64," + base64.b64encode(png_bytes(image)).decode()


def _duration(microseconds: float) -> str:
    """A duration in three digits, in a suitable unit."""
    if microseconds < 1000:
        return f"{microseconds:.0f} µs"
    milli = microseconds < 1e6
    return f"{microseconds / (1e3 if milli else 1e6):.3g} {'ms' if milli else 's'}"


@functools.cache
def _markdown() -> MarkdownIt:
    """CommonMark without embedded HTML, which is shown as text."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False})


def _paragraphs(text: str) -> Markup:
    """Markdown as HTML."""
    from markupsafe import Markup

    return Markup(_markdown().render(text))


def _inline(text: str) -> Markup:
    """A line of Markdown (`code`, *emphasis*) as HTML."""
    from markupsafe import Markup

    return Markup(_markdown().renderInline(text))


@functools.cache
def _environment() -> Environment:
    """Templates, compiled once, and what they may call."""
    import jinja2

    from gallette.compiler.nir.text.difference import diff_lines

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=jinja2.select_autoescape(["html.jinja", "jinja"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["diff"] = diff_lines
    environment.filters["png"] = png_uri
    environment.filters["duration"] = _duration
    environment.filters["inline"] = _inline
    environment.filters["markdown"] = _paragraphs
    environment.filters["colour"] = coloured
    environment.filters["mapped"] = mapped
    return environment


def render_text(template: str, **values: Any) -> str:
    """Fill a template."""
    made = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    return (
        _environment()
        .get_template(template)
        .render(version=__version__, made=made, subtitle=values.pop("subtitle", ""), **values)
    )


def render_page(template: str, path: Path, **values: Any) -> Path:
    """Fill a template and write it to `path`, creating its folder."""
    write_whole(path, render_text(template, **values), folder=True)
    return path


def page_path(target: Path) -> Path:
    """The file of `--html`, which takes a folder (then index.html in it) or a file name."""
    return target if target.suffix in (".html", ".htm") else target / "index.html"


def write_diff(report: DiffReport, target: Path) -> Path:
    return render_page(
        "diff.html.jinja",
        page_path(target),
        title=f"{report.ours} against {report.theirs}",
        subtitle="multi-pass scenes, compared pass by pass",
        report=report,
    )


def write_conformance(
    summary: Summary, report: DiffReport, ok: bool, seconds: float, target: Path
) -> Path:
    return render_page(
        "conformance.html.jinja",
        page_path(target),
        title=f"Conformance of {report.ours}",
        subtitle="bundled shader_tests, then multi-pass scenes against a reference",
        summary=summary,
        report=report,
        ok=ok,
        seconds=seconds,
        rate=pass_rate,
    )


def write_explanation(explanation: Explanation, target: Path) -> Path:
    from gallette.compiler.nir.text.difference import diff_lines
    from gallette.explaining import unmarked

    return render_page(
        "explain.html.jinja",
        page_path(target),
        title=Path(explanation.name).name,
        subtitle=f"from source to {explanation.driver}",
        e=explanation,
        diff=lambda before, after: diff_lines(unmarked(before), unmarked(after)),
        panes=_panes,
        language=_language,
    )


def _panes(story: ShaderStory) -> Iterator[tuple[str, list[tuple[str, str, Markup]]]]:
    """Every form of a shader: (name, lines), a line being (source line, class, HTML)."""
    from difflib import SequenceMatcher

    from gallette.explaining import unmarked

    before: list[str] = []
    for name, text in story.forms():
        bare = [line.strip() for line in unmarked(text).splitlines()]
        fresh: set[int] = set()
        if before:
            edits = SequenceMatcher(None, before, bare, autojunk=False).get_opcodes()
            fresh = {j for tag, _, _, j1, j2 in edits if tag != "equal" for j in range(j1, j2)}
        before = bare
        yield (
            name,
            [
                (number, "fresh" if i in fresh else "", html)
                for i, (number, html) in enumerate(mapped(text, "nir"))
            ],
        )


def _language(code: str) -> str:
    """The language of a driver's code: LLVM IR begins with a comment, Python never with `;`."""
    return "llvm" if code.startswith(";") else "python"


def write_lesson(
    page: Page,
    target: Path,
    item: Lesson | None = None,
    driver: str = "",
    linked: bool = False,
    drivers: Sequence[str] = (),
    subtitle: str = "a lesson of gallette",
) -> Path:
    """Write a lesson's page. `linked`: its neighbours are beside it; `drivers`: it is live, and can
    be requested for these drivers.
    """
    from gallette.lessons.course import LESSONS, neighbours
    from gallette.lessons.exercises import EXERCISES
    from gallette.lessons.glossary import GLOSSARY, words_in

    before, after = neighbours(item.name) if item is not None else (None, None)
    text = " ".join(_words(page.blocks))
    return render_page(
        "lesson.html.jinja",
        page_path(target),
        title=page.title,
        subtitle=subtitle,
        page=page,
        item=item,
        needs=[LESSONS[name] for name in item.needs] if item is not None else [],
        exercises=[x for x in EXERCISES.values() if item is not None and x.lesson == item.name],
        before=before,
        after=after,
        linked=linked,
        driver=driver,
        drivers=drivers,
        words=[(word, GLOSSARY[word]) for word in words_in(text)],
    )


def _words(blocks: Sequence[Block]) -> Iterator[str]:
    """The prose of a lesson."""
    for block in blocks:
        for field in ("text", "caption", "answer"):
            if block.kind != "code" or field == "caption":
                yield getattr(block, field, "")
        for _, inside in getattr(block, "states", ()):
            yield from _words(inside)


def write_lesson_index(folder: Path, missing: dict[str, str], driver: str) -> Path:
    """The course's contents; `missing` lessons have no page, and a reason."""
    from gallette.lessons.course import chapters

    return render_page(
        "lessons.html.jinja",
        folder / "index.html",
        title="The course",
        subtitle=f"real problems of compilers and drivers, run on {driver}",
        chapters=list(chapters()),
        missing=missing,
    )


def write_glossary(path: Path) -> Path:
    from gallette.lessons.glossary import GLOSSARY

    return render_page(
        "glossary.html.jinja",
        path,
        title="Glossary",
        subtitle="for people who know OpenGL and not what is below it",
        words=sorted(GLOSSARY.items(), key=lambda item: item[0].lower()),
    )


def write_trace(story: TraceStory, target: Path) -> Path:
    return render_page(
        "trace.html.jinja",
        page_path(target),
        title=f"Trace of {Path(story.target).stem}",
        subtitle=f"calls made to {story.driver}",
        s=story,
    )
