"""Recorded reference pictures, for machines without a native GL.

`gallette diff --record` renders every scene with moderngl on the machine's GL and stores the
passes as `references/NAME.npz`, with the renderer's own name in `references/renderer.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from gallette.compiler.errors import GalletteError
from gallette.render import Rendering, load_passes, render_scenes, save_passes

FOLDER = Path(__file__).resolve().parent / "references"


def record(scenes: Sequence[str], driver: str = "native") -> Rendering:
    """Render on the native GL and store the pictures."""
    rendering = render_scenes(driver, scenes)
    if rendering.errors:
        name, error = next(iter(rendering.errors.items()))
        raise GalletteError(f"cannot record {name}: {error}")
    FOLDER.mkdir(exist_ok=True)
    for name in scenes:
        save_passes(FOLDER / f"{name}.npz", {name: rendering.passes[name]}, small=True)
    about = {"renderer": rendering.renderer, "made with": "moderngl"}
    (FOLDER / "renderer.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return rendering


def load(scenes: Sequence[str]) -> Rendering:
    """The recorded pictures, in the form of rendered ones."""
    about = FOLDER / "renderer.json"
    if not about.exists():
        raise GalletteError("there are no recorded references (gallette diff --record makes them)")
    renderer = json.loads(about.read_text(encoding="utf-8"))["renderer"]
    result = Rendering("recorded", f"recorded from {renderer}")
    for name in scenes:
        path = FOLDER / f"{name}.npz"
        if path.exists():
            result.passes.update(load_passes(path))
        else:
            result.errors[name] = "no recorded reference"
    return result


def native_or_recorded(
    against: str,
    scenes: Sequence[str],
    on_pass: Callable[[str], None] | None = None,
    timeout: float | None = None,
) -> tuple[Rendering, str]:
    """Render on the other side; if "native" does not start, use the recordings and report so.

    `GALLETTE_REQUIRE_REFERENCE=1` makes a missing native GL an error instead.
    """
    try:
        return render_scenes(against, scenes, on_pass, timeout=timeout), ""
    except GalletteError as error:
        required = os.environ.get("GALLETTE_REQUIRE_REFERENCE", "") not in ("", "0")
        if against != "native" or required:
            raise
        rendering = load(scenes)
        reason = str(error).splitlines()[0]
        return rendering, f"no native OpenGL here ({reason}): using images {rendering.renderer}"
