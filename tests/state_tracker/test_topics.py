"""Each optional topic can be left out, and everything else works as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.state_tracker.topics import TOPICS, lines_of_topics

from .left_out import answers, without

# A function of the topic, and the profiles that have it.
FUNCTIONS = {
    "compatibility": ("matrix_mode", {"compat 4", "es 1"}),
    "evaluators": ("eval_coord1f", {"compat 4"}),
    "accumulation": ("accum", {"compat 4"}),
    "assembly": ("gen_programs_arb", {"compat 4"}),
    "ati": ("gen_fragment_shaders_ati", {"compat 4"}),
    "bindless": ("get_texture_handle_arb", {"core 4", "compat 4"}),
    "sparse": ("tex_page_commitment_arb", {"core 4", "compat 4"}),
    "es1": ("alpha_funcx", {"compat 4", "es 1"}),
}
EXTENSIONS = {
    "assembly": ("ARB_vertex_program", "ARB_fragment_program"),
    "ati": ("ATI_fragment_shader",),
    "bindless": ("ARB_bindless_texture",),
    "sparse": ("ARB_sparse_texture", "ARB_sparse_buffer"),
}
WORDS = EXTENSIONS | {
    "compatibility": ("the compatibility profile was left out",),
    "evaluators": ("Map1f",),
    "accumulation": ("Accum",),
}
"""words of the bundled tests that need a topic, and of the reasons why they skip"""


def test_every_topic_is_tried() -> None:
    assert {topic.name for topic in TOPICS} == FUNCTIONS.keys()
    listed = " ".join(lines_of_topics("extensions.txt")).split()
    names = {name for names in EXTENSIONS.values() for name in names}
    assert names <= {name.partition("?")[0] for name in listed}


@pytest.mark.parametrize("topic", FUNCTIONS)
def test_a_topic_is_left_out(topic: str, tmp_path: Path) -> None:
    """Its functions and extensions are gone; bundled tests that need them skip, all others pass.

    Each topic runs other ones: together an eighth.
    """
    words = WORDS.get(topic, ())
    found = answers(without(topic, tmp_path), [*FUNCTIONS].index(topic) * 8, 64, *words)
    assert found["queried"] > 300
    contexts = {"core 4", "compat 4", "es 3", "es 1"}
    gone = {t.name for t in TOPICS if topic in (t.name, t.needs)}
    if "es1" in gone:
        assert found["errors"].pop("es 1") == "OpenGL ES 1.1 was left out of this gallette"
        contexts.remove("es 1")
    if "compatibility" in gone:
        words_of_it = "the compatibility profile was left out of this gallette"
        assert found["errors"].pop("compat 4") == words_of_it
        contexts.remove("compat 4")
    for name, (function, profiles) in FUNCTIONS.items():
        known = {key for key in contexts if found["errors"][f"{key} {function}"]}
        assert known == (set() if name in gone else profiles & contexts)
    skipped = {name: why for name, (result, why) in found["results"].items() if result != "pass"}
    assert all(result in ("pass", "skip") for result, _ in found["results"].values()), skipped
    assert all(any(word in why for word in words) for why in skipped.values()), skipped
    assert bool(skipped) == (topic in WORDS.keys() - {"ati", "sparse"})
