"""The records of a pixel's history."""

from __future__ import annotations

from typing import Any

from gallette.compiler.lazy_dataclass import field, lazy_dataclass


@lazy_dataclass(frozen=True)
class Stored:
    """The contents of the pixel in one attachment: the texel's bytes, and their values."""

    raw: bytes
    value: tuple[float, ...]

    def __str__(self) -> str:
        return "(" + ", ".join(f"{v:.6g}" for v in self.value) + ")"


@lazy_dataclass(frozen=True)
class Test:
    """One test of a fragment: its operands in words, and the verdict."""

    name: str
    operands: str
    passed: bool

    def __str__(self) -> str:
        return f"{self.name} {self.operands}: {'passes' if self.passed else 'fails'}"


@lazy_dataclass()
class Fragment:
    """One fragment of the pixel, or one that was not generated, with the reason in `verdict`."""

    primitive: int
    vertices: tuple[int, ...]
    weights: tuple[float, ...] = ()
    front: bool = True
    depth: float | None = None
    tests: list[Test] = field(default_factory=list)
    outputs: dict[str, tuple[float, ...]] = field(default_factory=dict)
    before: dict[str, Stored] = field(default_factory=dict)
    after: dict[str, Stored] = field(default_factory=dict)
    blend: str = ""
    verdict: str = ""
    stores: list[str] = field(default_factory=list)  # what its shader wrote to images and buffers


@lazy_dataclass()
class PixelEvent:
    """One call of the pipe that could touch the pixel: a clear, draw, blit, copy or upload."""

    number: int  # of the OpenGL call that it was made in
    call: str
    text: str
    attachments: dict[str, str]  # attachment -> resource
    before: dict[str, Stored]
    after: dict[str, Stored] = field(default_factory=dict)
    fragments: list[Fragment] = field(default_factory=list)
    missing: list[Fragment] = field(default_factory=list)
    draw: int = 0  # which drawing call that is; 0 if it is none
    images: tuple[str, ...] = ()  # resources whose texel a shader stored to
    sampled: tuple[str, ...] = ()  # textures and images that the draw's fragments could read

    @property
    def place(self) -> str:
        """The call numbers in words, as all commands print them."""
        return f"call {self.number}" + (f", draw {self.draw}" if self.draw else "")

    @property
    def changed(self) -> bool:
        """Whether the call changed the bytes."""
        return any(self.before.get(k) != v for k, v in self.after.items())

    @property
    def touched(self) -> bool:
        """Whether the call has something to report."""
        return bool(self.changed or self.fragments or self.missing or self.call != "draw_vbo")


@lazy_dataclass()
class History:
    """The history of pixel (x, y) of a target's framebuffers; y counts upwards, as in OpenGL."""

    target: str
    driver: str
    x: int
    y: int
    events: list[PixelEvent] = field(default_factory=list)
    outcome: str = ""
    resource: str = ""

    def __repr__(self) -> str:
        at = f"pixel {self.x}, {self.y} of {self.target}"
        return f"<History of {at} on {self.driver}: {len(self.events)} events>"

    def _repr_html_(self) -> str:
        from gallette.reports import cells

        return cells.history(self)

    @property
    def final(self) -> dict[str, Stored]:
        """The final contents of the pixel, by the attachments of the framebuffer last drawn to."""
        names: dict[str, str] = {}  # resource -> what that framebuffer calls it
        held: dict[str, Stored] = {}
        for event in self.events:
            told = {v: k for k, v in event.attachments.items()}
            if told.get(self.resource, "").startswith(("colour", "depth")):
                names, held = told, {}
            for name, stored in event.after.items():
                of = "depth" if name == "stencil" else name
                known = names.get(event.attachments[of])
                if known is not None:
                    held["stencil" if name == "stencil" else known] = stored
        return held

    def about(self, resource: str) -> list[PixelEvent]:
        """The events on framebuffers that have this resource attached, other writes to it, and the
        stores of shaders to textures that were read there.
        """
        read = {r for e in self.events if resource in e.attachments.values() for r in e.sampled}
        return [
            e
            for e in self.events
            if resource in e.attachments.values() or read.intersection(e.images)
        ]


def numbers(values: Any) -> tuple[float, ...]:
    """A texel's components as plain Python numbers."""
    return tuple(v.item() for v in values)
