"""The records that the page shows: draws with their state, pictures, meshes and programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.capture.container import content_hash
from gallette.compiler.lazy_dataclass import field, lazy_dataclass

Picture = npt.NDArray[Any]


@lazy_dataclass()
class Mesh:
    """A draw's primitives before and after the vertex shader."""

    names: list[str]  # of the attributes of a vertex
    before: list[list[float]]  # attributes by vertex, one after the other
    after: list[list[float]]  # window x, y, z and clip w by vertex
    corners: list[list[int]]  # vertices by primitive
    total: int  # primitives there are, if not all are kept


@lazy_dataclass()
class Texture:
    """A texture a stage can sample."""

    stage: str
    unit: int
    label: str
    format: str
    size: str
    picture: str  # content hash, "" if it cannot be shown


@lazy_dataclass()
class Compared:
    """The corresponding draw of another run."""

    number: int
    attachments: dict[str, str] = field(default_factory=dict)  # name -> content hash
    pixels: dict[str, int] = field(default_factory=dict)  # name -> how many differ
    unlike: list[tuple[str, str, str]] = field(default_factory=list)  # what, here, there


@lazy_dataclass()
class Draw:
    """One call that draws, clears, copies or computes."""

    number: int
    call: str
    words: dict[str, str]
    group: list[str]
    frame: int
    microseconds: int
    target: str
    size: tuple[int, int]
    attachments: dict[str, str] = field(default_factory=dict)  # name -> content hash
    overlays: dict[str, str] = field(default_factory=dict)
    legend: list[str] = field(default_factory=list)  # the variants its overlay has numbers for
    overdraw: float = 0.0
    fragments: int = 0
    primitives: int = 0
    state: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    uniforms: list[tuple[str, str, str]] = field(default_factory=list)  # name, type, value
    textures: list[Texture] = field(default_factory=list)
    variants: list[str] = field(default_factory=list)
    program: str = ""
    has_mesh: bool = False
    compared: Compared | None = None


@lazy_dataclass()
class Frame:
    """A whole run."""

    title: str
    driver: str
    draws: list[Draw] = field(default_factory=list)
    frames: int = 1
    calls: int = 0
    pictures: dict[str, Picture] = field(default_factory=dict)
    meshes: dict[int, Mesh] = field(default_factory=dict)
    programs: dict[str, dict[str, str]] = field(default_factory=dict)  # key -> stage -> source
    profiles: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    executed: list[list[int]] = field(default_factory=list)  # calls that were drawn together
    against: str = ""  # the run that `Draw.compared` is about

    def keep(self, picture: Picture) -> str:
        """Store a picture; returns its name."""
        whole = np.ascontiguousarray(picture)
        head = f"{whole.shape}{whole.dtype}".encode()
        name = content_hash(head + whole.tobytes())
        self.pictures.setdefault(name, whole)
        return name

    def plain(self) -> dict[str, Any]:
        """Everything except pictures and meshes, in a form that JSON can represent."""
        return {
            "title": self.title,
            "driver": self.driver,
            "frames": self.frames,
            "calls": self.calls,
            "notes": self.notes,
            "executed": self.executed,
            "against": self.against,
            "draws": [asdict(d) for d in self.draws],
            "programs": self.programs,
        }
