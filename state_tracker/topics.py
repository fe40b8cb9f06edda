"""Topics: the parts of OpenGL that have state in every context.

Required topics are lines of `context.Topics`. Optional ones are lines of `optional/topics.txt`,
each with a folder in `optional/`. Without that folder and the line, its functions raise
GL_INVALID_OPERATION, its extensions are not listed, and its parameters are unknown. Nothing else
imports an optional topic. Its modules register what they add when they are imported:

- functions with `entry_points.registry`, queries with `getters.gets`;
- parameters by lines of `parameters.txt` in its folder, extensions by `extensions.txt`, as in
  `state_tracker/parameters.txt` and `entry_points/data/gl_extensions.txt`;
- shaders for stages that no program has with `ProgramState.providers`;
- strings with `strings.says`, buffers that glClear clears with `targets.clears.clears`, parameters
  of textures with `texture_objects.texture_parameter`, sizes of arguments in display lists with
  `compatibility.list_functions.reads`, selectors with `direct_access.selectors.SELECTORS`.

The state of an optional topic is the attribute of the context with the topic's name. `release_all`,
if a state has it, releases its objects at the end of a context.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["TOPICS", "Topic", "lines_of_topics", "table_lines"]


FOLDER = Path(__file__).with_name("optional")


@dataclass(frozen=True, slots=True)
class Topic:
    """A line of the table: the topic's folder, and the class of its state in a context, if any."""

    name: str
    state: str = ""

    def load(self, module: str = "") -> Any:
        """Import the topic, or one of its modules."""
        return importlib.import_module(f"gallette.state_tracker.optional.{self.name}{module}")

    def make(self, ctx: Context) -> Any:
        """The state of a context."""
        module, _, name = self.state.partition(".")
        return getattr(self.load(f".{module}"), name)(ctx)


def table_lines(path: Path) -> list[str]:
    """The lines of a table, without comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


TOPICS = tuple(Topic(*line.split()) for line in table_lines(FOLDER / "topics.txt"))


def lines_of_topics(name: str) -> list[str]:
    """The lines of all files of that name in folders of topics."""
    found = [FOLDER / topic.name / name for topic in TOPICS]
    return [line for path in found if path.exists() for line in table_lines(path)]
