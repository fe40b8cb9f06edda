"""Topics: the parts of OpenGL that have state in every context.

Required topics are lines of `context.Topics`. Optional ones are lines of `optional/topics.txt`,
each with a folder in `optional/`. Without that folder and the line, its functions raise
GL_INVALID_OPERATION, its extensions are not listed, and its parameters are unknown. Nothing else
imports an optional topic but those that name it in their line as what they need, which are left out
with it. Its modules register what they add when they are imported:

- functions with `entry_points.registry`, queries with `getters.gets`;
- parameters by lines of `parameters.txt` in its folder, extensions by `extensions.txt`, as in
  `state_tracker/parameters.txt` and `entry_points/data/gl_extensions.txt`;
- shaders for stages that no program has with `ProgramState.providers`;
- strings with `strings.says`, capabilities of glEnable with `enables.switches`;
- buffers that glClear clears with `targets.clears.clears`, parameters of textures with
  `texture_objects.texture_parameter`, built-in uniforms with `builtin_uniforms.PROVIDERS`;
- sizes of arguments in display lists with `compatibility.list_functions.reads`, selectors of
  EXT_direct_state_access with `compatibility.direct_access.selectors.SELECTORS`.

`STATES` in the topic's `__init__.py` names its states in a context: attributes and their classes.
`release_all`, if a state has it, releases its objects at the end of a context.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.text_tables import table_rows

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


FOLDER = Path(__file__).with_name("optional")


@lazy_dataclass(frozen=True)
class Topic:
    """A line of the table: the topic's folder, and the topic that it needs, if any."""

    name: str
    needs: str = ""

    def load(self) -> dict[str, Callable[[Context], Any]]:
        """Import the topic; returns the classes of its states, by attribute of the context."""
        module = importlib.import_module(f"gallette.state_tracker.optional.{self.name}")
        states: dict[str, Callable[[Context], Any]] = getattr(module, "STATES", {})
        return states


def _present(lines: list[str]) -> Iterator[Topic]:
    """The topics whose needs are met by earlier lines."""
    names = {""}
    for topic in (Topic(*line.split()) for line in lines):
        if topic.needs in names:
            names.add(topic.name)
            yield topic


TOPICS = tuple(_present(table_rows(FOLDER / "topics.txt")))


def lines_of_topics(name: str) -> list[str]:
    """The lines of all files of that name in folders of topics."""
    found = [FOLDER / topic.name / name for topic in TOPICS]
    return [line for path in found if path.exists() for line in table_rows(path)]
