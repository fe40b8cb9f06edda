"""The read-only part of the page as one file: data, pictures, scripts and styles inside."""

from __future__ import annotations

import base64
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.compiler.output_files import write_whole
from gallette.inspector.frames import Frame, Picture
from gallette.inspector.programs import way_of
from gallette.inspector.server import ASSETS, style_sheet

LIMIT = 2_000_000
WIDEST = 256


def export_page(frame: Frame, path: Path) -> int:
    """Write the page; returns its size. Pictures and meshes become coarser until it is under
    `LIMIT`.
    """
    programs: dict[str, Any] = {}
    for key, sources in frame.programs.items():
        ways, log = way_of(sources, frame.driver, frame.profiles.get(key, "core"))
        programs[key] = {"stages": [asdict(w) for w in ways], "log": log}
    for widest, triangles in ((WIDEST, 2000), (128, 800), (64, 300), (32, 100)):
        page = _page(frame, programs, widest, triangles)
        if len(page) < LIMIT:
            break
    else:
        raise GalletteError(f"{path}: too many draws for one page; choose a frame")
    write_whole(path, page, folder=True)
    return len(page)


def _page(frame: Frame, programs: Any, widest: int, triangles: int) -> bytes:
    data = {
        "frame": frame.plain(),
        "pictures": {name: _png(p, widest) for name, p in frame.pictures.items()},
        "meshes": {
            str(n): {**asdict(m), "corners": m.corners[:triangles]} for n, m in frame.meshes.items()
        },
        "programs": programs,
    }
    # In a script element, `</script` and `<!--` mean something wherever they stand.
    text = json.dumps(data, separators=(",", ":"), default=str).replace("<", "\\u003c")
    page = (ASSETS / "index.html").read_text(encoding="utf-8")
    style = f"<style>{style_sheet()}</style>"
    page = page.replace('<link rel="stylesheet" href="app.css">', style)
    scripts = f"<script>window.GALLETTE={text}</script>"
    for name in ("htm-preact.js", "views.js", "explore.js", "app.js"):
        source = (ASSETS / name).read_text(encoding="utf-8").replace("</script", "<\\/script")
        page = page.replace(f'<script src="{name}"></script>', "")
        scripts += f"<script>{source}</script>"
    return page.replace("</body>", scripts + "</body>").encode()


def _png(picture: Picture, widest: int) -> dict[str, Any]:
    """A picture as 8-bit PNG, with the range of its numbers; bottom row first."""
    from PIL import Image

    step = max(1, -(-max(picture.shape[:2]) // widest))
    small = picture[::step, ::step]
    low, high = 0.0, 255.0
    if small.dtype != np.uint8:
        finite = small[np.isfinite(small)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        scale = 255 / (high - low) if high > low else 1.0
        with np.errstate(all="ignore"):
            small = np.clip(np.nan_to_num((small - low) * scale), 0, 255).astype(np.uint8)
    channels = small.shape[2]
    if channels == 2:
        small = np.concatenate([small, np.zeros_like(small)], axis=2)[..., :3]
    image = Image.fromarray(small[..., 0] if channels == 1 else np.ascontiguousarray(small))
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    uri = "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
    floats = picture.dtype != np.uint8
    return {"uri": uri, "channels": channels, "low": low, "high": high, "floats": floats,
            "size": [picture.shape[1], picture.shape[0]]}  # fmt: skip
