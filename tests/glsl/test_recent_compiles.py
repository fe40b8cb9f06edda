"""A source that was compiled a moment ago is not compiled again, with equal results."""

from dataclasses import replace

import pytest

from gallette.compiler.glsl import CompileOptions, LinkOptions, api, compile_shader, link_program
from gallette.compiler.link.limits import DEFAULT_LIMITS
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.text.printer import print_shader

VERTEX = (
    "#version 330\nin vec4 p;\nout float f[];\nvoid main() { f[SIZE] = p.x; gl_Position = p; }\n"
)
FRAGMENT = "#version 330\nin float f[4];\nout vec4 c;\nvoid main() { c = vec4(f[READ]); }\n"


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "_recent", {})


def linked(vertex: str, fragment: str) -> str:
    shaders = [compile_shader(Stage.VERTEX, vertex), compile_shader(Stage.FRAGMENT, fragment)]
    program = link_program(shaders, LinkOptions())
    return program.info_log + "".join(map(print_shader, program.shaders.values()))


def test_programs_that_share_a_text_are_as_if_alone() -> None:
    """The linker sizes `f`; what it decides for one program is not there for the next."""
    pairs = [
        (VERTEX.replace("SIZE", size), FRAGMENT.replace("READ", read))
        for size in ("3", "1")
        for read in ("0", "3")
    ]
    together = [linked(*pair) for pair in pairs]
    for pair, expected in zip(pairs, together, strict=True):
        api._recent.clear()
        assert linked(*pair) == expected


def test_a_text_is_compiled_once_for_many() -> None:
    first, second = (compile_shader(Stage.VERTEX, "#version 330\nvoid main() {}") for _ in "ab")
    assert first.tree is not None
    assert first.tree is second.tree
    other = compile_shader(Stage.FRAGMENT, "#version 330\nvoid main() {}")
    assert other.tree is not first.tree


def test_two_shaders_of_one_text_define_their_functions_twice() -> None:
    main = compile_shader(Stage.VERTEX, "#version 330\nvoid main() { gl_Position = vec4(0.0); }")
    library = "#version 330\nfloat f() { return 1.0; }"
    for text, name in ((library, "f"), ("#version 330\nvoid main() {}", "main")):
        twice = [compile_shader(Stage.VERTEX, text) for _ in "ab"]
        program = link_program([*twice, main] if name == "f" else twice, LinkOptions())
        assert not program.ok
        assert "is defined in two vertex shaders" in program.info_log
    names = [compile_shader(Stage.VERTEX, "#version 330\nuniform float u;") for _ in "ab"]
    assert link_program([*names, main], LinkOptions()).ok  # declaring twice is allowed


def test_the_dialect_of_the_context_is_part_of_the_key() -> None:
    text = (
        "#version 330\n#extension GL_ARB_gpu_shader5 : enable\n"
        "int n = gl_MaxDrawBuffers; void main() {}"
    )
    plain = CompileOptions()
    fewer = CompileOptions(extensions=frozenset())
    smaller = CompileOptions(limits=replace(DEFAULT_LIMITS, max_draw_buffers=4))
    logs = [compile_shader(Stage.VERTEX, text, o).info_log for o in (plain, fewer, plain)]
    assert logs[0] == logs[2] != logs[1]
    trees = [compile_shader(Stage.VERTEX, text, o).tree for o in (plain, smaller, plain, plain)]
    assert trees[0] is not trees[1] is not trees[2]
    assert trees[2] is trees[3]


def test_includes_are_resolved_every_time() -> None:
    answers = iter(["float x;", "float y;"])
    options = CompileOptions(api="compat", include=lambda path, current: next(answers))
    text = '#version 330\n#extension GL_ARB_shading_language_include : require\n#include "/a"\n'
    names = []
    for _ in "ab":
        tree = compile_shader(Stage.VERTEX, text + "void main() {}", options).tree
        assert tree is not None
        names.append([var.name for var in tree.globals])
    assert names == [["x"], ["y"]]


def test_errors_are_repeated_for_each_compile() -> None:
    first = compile_shader(Stage.VERTEX, "#version 330\nvoid main() { x; }")
    log, found = first.info_log, list(first.diagnostics)
    first.diagnostics.clear()
    second = compile_shader(Stage.VERTEX, "#version 330\nvoid main() { x; }")
    assert not second.ok
    assert (second.info_log, second.diagnostics) == (log, found)
    assert found


def test_few_are_remembered_and_none_that_is_long() -> None:
    for i in range(3 * api._MOST_RECENT):
        compile_shader(Stage.VERTEX, f"#version 330\nfloat x{i};")
        compile_shader(Stage.VERTEX, "#version 330\nfloat often;")
        assert len(api._recent) <= api._MOST_RECENT
    assert any("often" in text for _, text, _ in api._recent)
    assert not any(text.endswith("x0;") for _, text, _ in api._recent)
    before = dict(api._recent)
    compile_shader(Stage.VERTEX, "#version 330\nfloat y;" + " " * api._LONGEST_RECENT)
    assert api._recent == before
