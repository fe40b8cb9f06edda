"""The pages of `gallette piglit summary --html`: the index's data, and what a test's page says."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gallette.piglit_subset.execute import run_file
from gallette.piglit_subset.results import Entry, Run
from gallette.piglit_subset.summary import summarise
from gallette.piglit_subset.worker import png_data
from gallette.reports.findings import Finding, findings
from gallette.reports.summary_site import write_summary

TEST = """[require]
GLSL >= 3.30
[vertex shader passthrough]
[fragment shader]
#version 330
out vec4 color;
void main() { color = gl_FragCoord.x < 9.0 ? vec4(0, 1, 0, 1) : vec4(1, 0, 0, 1); }
[test]
clear color 0 0 0 0
clear
draw rect -1 -1 2 2
probe all rgba 0 1 0 1
probe rgba 3 3 0.5 1 0 1
"""


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    """Two runs: `before` all passed, but `odd`; `numpipe` has a real failure and a skip."""
    path = tmp_path / "spec" / "glsl-3.30" / "half & <half>.shader_test"
    path.parent.mkdir(parents=True)
    path.write_text(TEST)
    outcome = run_file(path, "numpipe")
    images = {name: png_data(image) for name, image in outcome.images.items()}
    out = "\n".join(outcome.messages)
    half = Entry(outcome.result, outcome.reason, out, "", "run it", 1.0, 1.5, images, str(path))
    first = Run("before", start=1.0, end=3.0)
    second = Run("numpipe", start=1.0, end=4.0)
    first.tests = {
        "spec@glsl-3.30@half & <half>": Entry("pass"),
        "spec@glsl-1.10@odd": Entry("fail", "it was </script> odd"),
        "spec@glsl-1.10@fine": Entry("pass"),
    }
    second.tests = {
        "spec@glsl-3.30@half & <half>": half,
        "spec@glsl-1.10@odd": Entry("pass"),
        "spec@glsl-1.10@fine": Entry("pass"),
        "spec@arb_x@later": Entry("skip", "requires GL_ARB_x"),
    }
    return [first, second]


def data_of(folder: Path) -> dict[str, Any]:
    text = (folder / "tests.js").read_text().removeprefix("window.SUMMARY = ").rstrip(";\n")
    found: dict[str, Any] = json.loads(text)
    return found


def known(name: str) -> dict[str, str]:
    return {"spec@glsl-3.30@half & <half>": "nobody knows"} if name == "numpipe" else {}


def test_findings_take_messages_apart(runs: list[Run]) -> None:
    found = findings(runs[1].tests["spec@glsl-3.30@half & <half>"])
    assert found == [
        Finding(
            12,
            "probe all rgba 0 1 0 1: probe at (9, 0): expected 0 1 0 1, observed 1 0 0 1 "
            "(60250 of 62500 pixels differ)",
            "probe all rgba 0 1 0 1",
            "0 1 0 1",
            "1 0 0 1",
            (9, 0),
            "60250 of 62500 pixels differ",
        ),
        Finding(
            13,
            "probe rgba 3 3 0.5 1 0 1: probe at (3, 3): expected 0.5 1 0 1, observed 0 1 0 1 "
            "(1 of 1 pixels differ)",
            "probe rgba 3 3 0.5 1 0 1",
            "0.5 1 0 1",
            "0 1 0 1",
            (3, 3),
            "1 of 1 pixels differ",
        ),
    ]


def test_the_index_has_kinds_known_failures_and_pages(runs: list[Run], tmp_path: Path) -> None:
    write_summary(summarise(runs), tmp_path / "site", known=known)
    data = data_of(tmp_path / "site")
    rows = {row[0]: row for row in data["tests"]}
    assert {name: row[4] for name, row in rows.items()} == {
        "spec/arb_x/later": "changed",
        "spec/glsl-1.10/fine": "same",
        "spec/glsl-1.10/odd": "fix",
        "spec/glsl-3.30/half & <half>": "regression",
    }
    half = rows["spec/glsl-3.30/half & <half>"]
    assert half[5] == "nobody knows"
    assert half[6].startswith("half & <half>.shader_test:12: probe all")
    assert rows["spec/glsl-1.10/fine"][7] == ""  # nothing to say: no page
    for row in data["tests"]:
        assert not row[7] or (tmp_path / "site" / row[7]).is_file()


def test_a_page_says_what_is_known(runs: list[Run], tmp_path: Path) -> None:
    write_summary(summarise(runs), tmp_path / "site", known=known, deep=1)
    page = tmp_path / "site" / "tests" / "spec@glsl-3.30@half____half_.html"
    text = page.read_text()
    assert "<title>spec/glsl-3.30/half &amp; &lt;half&gt;</title>" in text
    assert 'id="L12" class="del"' in text and 'id="L11" class="same"' in text
    assert "A known failure of numpipe: nobody knows" in text
    assert text.count('data-role="heat"') == 1
    assert "primitive 0" in text.split('id="history"')[1]  # the wrong pixel's history
    assert (tmp_path / "site" / "explained" / page.name).is_file()
    assert "</script> odd" not in (tmp_path / "site" / "index.html").read_text()


def test_pages_for_all_and_for_none(runs: list[Run], tmp_path: Path) -> None:
    for pages, count in (("all", 4), ("problems", 3), ("none", 0)):
        write_summary(summarise(runs), tmp_path / pages, pages=pages)
        assert len(list((tmp_path / pages).glob("tests/*.html"))) == count


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
def test_the_address_says_what_is_shown(runs: list[Run], tmp_path: Path) -> None:
    index = write_summary(summarise(runs), tmp_path / "site", known=known)

    def shown(state: str) -> str:
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
        command.append(f"--user-data-dir={tmp_path / 'profile'}")  # whoever else has one open
        done = subprocess.run(
            [*command, f"{index.as_uri()}#{state}"], capture_output=True, text=True, timeout=60
        )
        return done.stdout.split("<tbody>")[1].split("</tbody>")[0]

    fixes = shown("tab=fixes")
    assert "glsl-1.10/odd" in fixes and "half" not in fixes
    found = shown("tab=all&q=requires&sort=name&dir=down")
    assert "arb_x/later" in found and "fine" not in found
    ordered = shown("tab=all&sort=name&dir=down")
    assert ordered.index("half") < ordered.index("odd") < ordered.index("later")
