"""The extensions that a context lists: a table of names, profiles and driver requirements.

The table is `entry_points/data/gl_extensions.txt`. A condition after `?` is the name of a cap that
must not be false or 0, or one of `CONDITIONS`; the first context version follows `@`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.text_tables import table_rows
from gallette.state_tracker.entry_points.functions import DATA
from gallette.state_tracker.topics import lines_of_topics

if TYPE_CHECKING:
    from gallette.pipe.caps import Caps


@lazy_dataclass(frozen=True)
class Extension:
    """One extension: where it may be listed, and its requirements."""

    name: str
    profiles: frozenset[str]
    condition: str
    since: tuple[int, int]

    def available(self, caps: Caps, profile: str, version: tuple[int, int]) -> bool:
        if profile not in self.profiles or version < self.since:
            return False
        if not self.condition:
            return True
        special = CONDITIONS.get(self.condition)
        return special(caps) if special is not None else bool(getattr(caps, self.condition))


CONDITIONS: dict[str, Callable[[Caps], bool]] = {
    "_tessellation": lambda caps: "tess_eval" in caps.stages,
    "_geometry": lambda caps: "geometry" in caps.stages,
    "_multisample": lambda caps: caps.max_samples > 1,
    "_anisotropy": lambda caps: caps.max_anisotropy > 1.0,
    "_android_pack": lambda caps: (
        {"tess_eval", "geometry"} <= caps.stages
        and caps.max_samples > 1
        and caps.blend_advanced
        and caps.indep_blend
        and caps.max_shader_images >= 4
        and caps.max_shader_buffers >= 4
    ),
    "_streams": lambda caps: caps.max_vertex_streams >= 4,
    "_viewports": lambda caps: caps.max_viewports >= 16,
}


def _read(lines: Iterable[str]) -> Iterator[Extension]:
    profiles: frozenset[str] = frozenset()
    for line in lines:
        if line.startswith("["):
            profiles = frozenset(line[1:-1].split())
        else:
            for item in line.split():
                item, _, since = item.partition("@")
                name, _, condition = item.partition("?")
                major, minor = since.split(".") if since else ("0", "0")
                yield Extension("GL_" + name, profiles, condition, (int(major), int(minor)))


@cache
def extension_table() -> tuple[Extension, ...]:
    """All lines of the table; a name may occur in several sections with different requirements."""
    own, topics = table_rows(DATA / "gl_extensions.txt"), lines_of_topics("extensions.txt")
    return tuple(_read((*own, *topics)))


@cache
def extensions_of(caps: Caps, profile: str, version: tuple[int, int]) -> tuple[str, ...]:
    """The names a context lists, sorted."""
    found = {e.name for e in extension_table() if e.available(caps, profile, version)}
    return tuple(sorted(found))
