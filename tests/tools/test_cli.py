"""The command line: help everywhere, and every mistake is one message with exit status 2."""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from gallette.cli import COMMANDS, command_parser, main
from gallette.commands import diff, trace
from gallette.compiler.errors import GalletteError
from gallette.egl import launch
from gallette.state_tracker import GL
from tests.conftest import native_context
from tests.interrupts import hear_interrupts
from tests.tools.documents import PAGES


def refuse(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run in this process; the one message a refused request prints."""
    assert main(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err.strip()


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert all(name in out for name in COMMANDS)
    assert "examples:" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    assert f"gallette {name}" in capsys.readouterr().out


def test_without_arguments_it_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "find out why:" in capsys.readouterr().out


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("gallette ")


def test_unknown_command_suggests_one(capsys: pytest.CaptureFixture[str]) -> None:
    message = refuse(capsys, "piglet")
    assert message == "gallette: unknown command 'piglet'; did you mean 'piglit'?"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--frob",),
        ("piglit", "run", "--frob"),
        ("diff", "--frob"),
        ("bench", "--frob"),
        ("drivers", "--frob"),
        ("conformance", "--frob"),
        ("explain", "x.frag", "--frob"),
        ("lesson", "--frob"),
        ("trace", "gradient", "--frob"),
    ],
)
def test_unknown_flag(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    message = refuse(capsys, *arguments)
    assert "--frob" in message
    assert "--help" in message


def test_an_option_with_a_typo_suggests_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert refuse(capsys, "diff", "--htlm", "x") == (
        "gallette diff: there is no option --htlm; did you mean --html? (try gallette diff --help)"
    )
    message = refuse(capsys, "piglit", "run", "--drivr=numpipe")
    assert message.startswith(
        "gallette piglit run: there is no option --drivr; did you mean --driv"
    )
    assert refuse(capsys, "glslc", "--jsn").startswith("gallette glslc: ")


def test_one_argument_too_many(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'gradient'" in refuse(capsys, "drivers", "numpipe", "gradient")


def test_missing_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    missing = tmp_path / "none.shader_test"
    assert refuse(capsys, "piglit", "run", str(missing)) == f"{missing}: no such file or folder"


def test_a_file_of_another_kind(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    other = tmp_path / "a.txt"
    other.write_text("")
    assert refuse(capsys, "piglit", "run", str(other)) == f"{other}: not a .shader_test file"


def test_unknown_driver(capsys: pytest.CaptureFixture[str]) -> None:
    message = refuse(capsys, "drivers", "numpip")
    assert message.startswith("unknown driver 'numpip'; did you mean 'numpipe'?")


def test_unknown_driver_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'numpip'" in refuse(capsys, "piglit", "run", "--driver", "numpip")


def test_unknown_scene(capsys: pytest.CaptureFixture[str]) -> None:
    message = refuse(capsys, "diff", "shadow_mop")
    assert message == "gallette diff: unknown scene 'shadow_mop'; did you mean 'shadow_map'?"


def test_unknown_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    assert "unknown benchmark 'mandel'" in refuse(capsys, "bench", "mandel")


def test_bad_filter(capsys: pytest.CaptureFixture[str]) -> None:
    assert refuse(capsys, "piglit", "run", "--filter", "(").startswith("--filter '('")


def test_nothing_matches(capsys: pytest.CaptureFixture[str]) -> None:
    assert refuse(capsys, "piglit", "run", "--filter", "nothing_has_this_name") == (
        "gallette piglit: no shader_test matches"
    )


def test_bad_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert "invalid int value" in refuse(capsys, "piglit", "run", "-j", "many")
    assert "NAME=VALUE" in refuse(capsys, "diff", "gradient", "--option", "x")
    assert "--repeat" in refuse(capsys, "bench", "--repeat", "0")


DIFFS: list[tuple[list[str], tuple[object, ...]]] = [
    # what is said; what is compared: scenes, drivers, tolerance, options, cluster, time limit
    (["blur"], (["blur"], "numpipe", "noop", 1.0, {}, "", None)),
    (["blur", "life"], (["blur", "life"], "numpipe", "noop", 1.0, {}, "", None)),
    (["blur", "--driver", "jit"], (["blur"], "jit", "noop", 1.0, {}, "", None)),
    (["blur", "--tolerance", "2.5"], (["blur"], "numpipe", "noop", 2.5, {}, "", None)),
    (
        ["blur", "--option", "budget=1"],
        (["blur"], "numpipe", "noop", 1.0, {"budget": "1"}, "", None),
    ),
    (
        ["blur", "--option", "budget=1", "--option", "fuse_ffma=x=y", "--option", "budget=3"],
        (["blur"], "numpipe", "noop", 1.0, {"budget": "3", "fuse_ffma": "x=y"}, "", None),
    ),
    (["blur", "--cluster", "local:2"], (["blur"], "numpipe", "noop", 1.0, {}, "local:2", None)),
]


@pytest.mark.parametrize(("said", "wanted"), DIFFS)
def test_what_is_said_of_a_comparison_is_what_is_compared(
    said: list[str], wanted: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []

    def run_diffs(*arguments: object) -> diff.DiffReport:
        asked.append(arguments)
        return diff.DiffReport("ours", "theirs", "", "", 1.0, "", [])

    monkeypatch.setattr(diff, "run_diffs", run_diffs)
    monkeypatch.setattr("gallette.commands.diff.default_driver", lambda: "numpipe")
    assert main(["diff", "--against", "noop", *said]) == 0
    assert asked == [wanted]


TRACED: list[tuple[list[str], list[str]]] = [
    # what is said; driver, capture and frames of the process, and the program's arguments
    ([], ["numpipe", "mine.gcap", ""]),
    (["--driver", "noop"], ["noop", "mine.gcap", ""]),
    (["-o", "x.gcap"], ["numpipe", "x.gcap", ""]),
    (["--frames", "3"], ["numpipe", "mine.gcap", "3"]),
    (["a", "b", "--", "-c"], ["numpipe", "mine.gcap", "", "a", "b", "-c"]),
]


@pytest.mark.parametrize(("said", "wanted"), TRACED)
@pytest.mark.parametrize("status", [0, 3])
def test_what_is_said_of_a_program_is_what_is_recorded(
    said: list[str],
    wanted: list[str],
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = tmp_path / "mine.py"
    program.write_text("")
    commands: list[list[str]] = []
    names = ("GALLETTE_DRIVER", "GALLETTE_CAPTURE", "GALLETTE_FRAME_LIMIT")

    def started(command: list[str], env: dict[str, str], **options: object) -> SimpleNamespace:
        assert command[:4] == [sys.executable, "-P", launch.__file__, str(program)]
        commands.append([*(env.get(name, "") for name in names), *command[4:]])
        return SimpleNamespace(wait=lambda timeout: status, poll=lambda: status, returncode=status)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "Popen", started)
    monkeypatch.setattr(trace, "default_driver", lambda: "numpipe")
    arguments = ["trace", str(program), *said]
    assert main(arguments) == 2
    assert f"{program} made no OpenGL calls" in capsys.readouterr().err
    monkeypatch.setattr(trace, "is_capture", lambda path: str(path).endswith(".gcap"))
    monkeypatch.setattr(trace, "_summary", lambda out, path: print(f"told: {path}"))
    assert main(arguments) == status
    assert commands == [[wanted[0], str(tmp_path / wanted[1]), *wanted[2:]]] * 2
    assert capsys.readouterr().out == f"told: {wanted[1]}\n"


TOLD: list[tuple[list[str], tuple[object, ...]]] = [
    ([], ("traced", "numpipe", None, "shown", False)),
    (["--all"], ("traced", "numpipe", None, "shown", True)),
    (["--json", "f.json"], ("traced", "numpipe", Path("f.json"), "shown", False)),
    (["--driver", "noop", "--html", "f"], ("traced", "noop", None, "page", Path("f"))),
    (["-o", "f.gcap"], ("recorded", Path("f.gcap"), "numpipe")),
]


@pytest.mark.parametrize(("said", "wanted"), TOLD)
def test_what_is_said_of_a_scene_is_what_is_traced(
    said: list[str], wanted: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def traced(target: str, driver: str, file: Path | None) -> str:
        seen.extend(("traced", driver, file))
        return f"the story of {target}"

    def shown(out: object, story: str, everything: bool) -> None:
        assert story == "the story of blur"
        seen.extend(("shown", everything))

    def page(story: str, path: Path) -> Path:
        assert story == "the story of blur"
        seen.extend(("page", path))
        return path

    def recorded(target: str, path: Path, driver: str) -> str:
        seen.extend(("recorded", path, driver))
        return target

    monkeypatch.setattr(trace, "default_driver", lambda: "numpipe")
    monkeypatch.setattr(trace, "trace_target", traced)
    monkeypatch.setattr(trace, "_print", shown)
    monkeypatch.setattr("gallette.reports.html.write_trace", page)
    monkeypatch.setattr(trace, "record_target", recorded)
    monkeypatch.setattr(trace, "_summary", lambda out, path: None)
    assert main(["trace", "blur", *said]) == 0
    assert tuple(seen) == wanted


def test_options_of_the_other_kind_of_comparison_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What only the other kind of comparison hears is refused."""
    for said in (
        ("--option", "a=1"), ("--html", "page"), ("--png", "folder"), ("--cluster", "local:2"),
        ("--record",),
    ):  # fmt: skip
        assert refuse(capsys, "diff", "a.gcap", *said) == (
            f"gallette diff: {said[0]} cannot be used with captures"
        )
    assert refuse(capsys, "diff", "blur", "--frame", "0") == (
        "gallette diff: --frame needs a capture"
    )


def test_summary_of_what_is_no_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert refuse(capsys, "piglit", "summary", str(tmp_path)) == (
        f"{tmp_path}: no results.json in this folder"
    )
    (tmp_path / "results.json").write_text("{")
    message = refuse(capsys, "piglit", "summary", str(tmp_path))
    assert message.startswith(f"{tmp_path / 'results.json'}: not a results file")


def test_pages_of_a_summary_are_those_it_knows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    message = refuse(capsys, "piglit", "summary", str(tmp_path), "--pages", "some")
    assert "--pages" in message
    assert all(f"'{word}'" in message for word in ("some", "problems", "all", "none"))


def test_explain_needs_a_shader_it_knows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "no such file" in refuse(capsys, "explain", str(tmp_path / "x.frag"))
    other = tmp_path / "x.txt"
    other.write_text("")
    assert "the stage cannot be inferred" in refuse(capsys, "explain", str(other))


def test_explain_of_a_stage_that_is_not_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shader = tmp_path / "x.frag"
    shader.write_text("#version 330\nout vec4 c; void main() { c = vec4(1.0); }\n")
    assert refuse(capsys, "explain", str(shader), "--stage", "fragmnt") == (
        "gallette explain: unknown stage 'fragmnt'; did you mean fragment?"
    )
    assert refuse(capsys, "explain", str(shader), "--stage", "vertex") == (
        f"{shader} has no vertex shader; it has: fragment"
    )


def test_shaders_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"#version 330\nout vec4 c; void main() { c = vec4(1.0); }\n"
    for arguments in (["glslc", "-"], ["explain", "-", "--brief"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert main([*arguments, "--stage", "fragment"]) == 0
        assert "fragment shader" in capsys.readouterr().out


def test_a_binary_file_cannot_talk_to_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shader = tmp_path / "x.frag"
    shader.write_bytes(b"\x1b]0;title\x07\x1b[31m \x9b2J\n")
    main(["glslc", str(shader)])
    shown = capsys.readouterr()
    assert str(shader) in shown.err
    assert not [c for c in shown.out + shown.err if ord(c) < 32 and c not in "\t\n"]
    assert "\x9b" not in shown.err


def test_a_negative_tolerance(capsys: pytest.CaptureFixture[str]) -> None:
    assert "not a number of 0 or more" in refuse(capsys, "diff", "gradient", "--tolerance", "-1")
    assert "not a number of 0 or more" in refuse(capsys, "diff", "gradient", "--tolerance", "nan")


@pytest.mark.parametrize("against", ["native:foo", "nativ"])
def test_another_side_that_does_not_exist(against: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Recorded pictures stand in for a missing native GL, not for a typo."""
    assert refuse(capsys, "diff", "gradient", "--against", against)


def test_trace_needs_something_it_knows(capsys: pytest.CaptureFixture[str]) -> None:
    assert refuse(capsys, "trace", "gradent") == (
        "gallette trace: unknown scene 'gradent'; did you mean 'gradient'?"
    )
    assert refuse(capsys, "trace", "none.shader_test") == "none.shader_test: no such file"
    assert "needs a driver of gallette" in refuse(capsys, "trace", "life", "--driver", "native")


def test_unknown_lesson(capsys: pytest.CaptureFixture[str]) -> None:
    assert "unknown lesson 'is_used_twice'" in refuse(capsys, "lesson", "is_used_twice")


def test_help_does_not_import_the_stack(gallette) -> None:
    """The help must be there at once: no NumPy, no jinja, no driver."""
    code = (
        "import sys; from gallette.cli import main; main([]);"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'jinja2', 'rich', 'drivers')))"
    )
    import subprocess

    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_list_of_scenes_and_benchmarks(gallette) -> None:
    assert "shadow_map" in gallette("diff", "--list").stdout
    assert "small_draws" in gallette("bench", "--list").stdout
    assert "all rgba R G B A: every pixel" in gallette("piglit", "commands").stdout


def test_a_debug_flag_that_does_not_exist(gallette) -> None:
    done = gallette("piglit", "run", "--filter", "float-arith", GALLETTE_DEBUG="nir:valid")
    assert "Traceback" not in done.stderr


def test_an_interrupt_ends_a_run_cleanly(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a test that takes for ever: soon over, no traceback, status 130."""
    import os
    import signal
    import subprocess
    import time

    root = Path(__file__).resolve().parent.parent.parent
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib, sys, time\n"
        "if 'gallette.piglit_subset.worker' in ' '.join(sys.orig_argv):\n"
        "    pathlib.Path('started').touch()\n"
        "    time.sleep(60)\n"
    )
    test = tmp_path / "a.shader_test"
    test.write_text("[test]\nclear\n")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(root)])}
    command = [sys.executable, "-m", "gallette", "piglit", "run", str(test), "--driver", "numpipe"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err.strip() == "interrupted"


def test_a_missing_cap_is_printed_with_its_brackets(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pip install gallette[jit]` is advice, not a colour."""

    def create(name: str) -> object:
        raise GalletteError(f"{name} wants gallette[jit]")

    monkeypatch.setattr("gallette.pipe.loader.create_screen", create)
    monkeypatch.setattr("gallette.pipe.loader.driver_names", lambda: ["jit"])
    assert main(["drivers"]) == 0
    told = capsys.readouterr().out
    assert "jit wants gallette[jit]" in told
    assert re.search(r"name\W+what it is\W+GLSL", told)


def options_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """Every option and argument of a command and of what is below it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from options_of(below)
        else:
            yield parser.prog, action


PATHS = ("DIR", "FILE", "PAGE", "CAPTURE")


@pytest.mark.parametrize("name", COMMANDS)
def test_folders_and_files_are_paths_and_numbers_are_numbers(name: str) -> None:
    for prog, action in options_of(command_parser(name)):
        if action.metavar in PATHS:
            given = (
                str if "standard input" in str(action.help) and not action.option_strings else Path
            )
            assert (action.type or str) is given, (prog, action.dest)
        elif action.metavar in ("N", "SECONDS"):
            assert callable(action.type) and action.type("3") == 3, (prog, action.dest)


def test_examples_of_run_say_our_options_before_the_program() -> None:
    """What comes behind it is the program's, who may be silent about it."""
    parser = command_parser("run")
    ours = {option for action in parser._actions for option in action.option_strings}
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    texts += [command.examples for command in COMMANDS.values()]
    lines = [line for text in texts for line in text.splitlines()]
    examples = [line for line in lines if line.startswith("gallette run ")]
    assert len(examples) > 3
    for line in examples:
        assert not ours & set(parser.parse_args(line.split()[2:]).program), line


@pytest.mark.native
def test_facts_of_the_native_driver(capsys: pytest.CaptureFixture[str]) -> None:
    """`gallette drivers native:llvmpipe` prints what that context says itself."""
    gl = native_context()
    said = {
        name: gl.get_string(getattr(GL, name.upper().replace(" ", "_")))
        for name in ("vendor", "renderer", "version", "shading language version")
    }
    gl.release()
    assert main(["drivers", "native:llvmpipe"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"{name:<26}{value}" for name, value in said.items()]


def test_a_pixels_history_as_json(tmp_path: Path) -> None:
    """All that happened to the pixel, as text and numbers; of other framebuffers on request."""
    file = tmp_path / "pixel.json"
    assert main(["pixel", "gradient", "128,96", "--json", str(file)]) == 0
    events = json.loads(file.read_text())
    assert [e["call"] for e in events] == ["clear", "draw_vbo"]
    assert [e["draw"] for e in events] == [1, 2]
    assert 0 < events[0]["number"] < events[1]["number"]  # of the OpenGL calls
    clear, draw = events
    # Bytes are told in hexadecimal.
    assert clear["after"] == {"colour 0": {"raw": "00000000", "value": [0.0] * 4}}
    assert draw["before"] == clear["after"] != draw["after"]
    (fragment,) = draw["fragments"]
    assert len(fragment["weights"]) == 3 and sum(fragment["weights"]) == pytest.approx(1.0)
    assert fragment["verdict"]
