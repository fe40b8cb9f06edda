"""The process that runs tests: one request per line on stdin, one answer per line on a pipe.

Tests run in workers so that a crash or a hang of the implementation costs one test and not the run.
The implementation may print to stdout, so answers go to a private copy of it, and stdout itself is
redirected to stderr.

    {"path": "a.shader_test", "driver": "numpipe"}  ->  {"result": "pass", ...}
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def png_data(image: npt.NDArray[Any]) -> str:
    """A PNG of an 8-bit RGBA image, in base64, without alpha, since reports show colours."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image[..., :3])).save(out, "PNG", optimize=True)
    return base64.b64encode(out.getvalue()).decode()


def answer(request: dict[str, Any]) -> dict[str, Any]:
    from gallette.piglit_subset.execute import run_file

    outcome = run_file(Path(request["path"]), request["driver"])
    return {
        "result": outcome.result,
        "reason": outcome.reason,
        "out": "\n".join(outcome.messages),
        "start": outcome.start,
        "end": outcome.end,
        "images": {k: png_data(v) for k, v in outcome.images.items()},
    }


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        reply = answer(json.loads(line))
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
