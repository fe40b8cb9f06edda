"""What commands print, as it stands in files: `NAME.txt` beside this, a session each.

    python -m tests.tools.sessions            run all sessions and write the files anew
    python -m tests.tools.sessions drivers    one of them

A line that begins with `$ ` is a command; what follows is what it printed, and how it ended unless
all was well. The commands of a session share a folder with a few files to work on. What differs
from run to run (seconds, places) is left out.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np

from gallette.cli import main as gallette

__all__ = ["FOLDER", "ROOT", "commands", "run", "sessions"]

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[2]
FILES = {
    "shader.vert": """#version 330
in vec3 position;
in vec3 normal;
uniform mat4 matrix;
out vec3 n;
void main() { gl_Position = matrix * vec4(position, 1.0); n = normal; }
""",
    "shader.frag": """#version 330
in vec3 n;
uniform sampler2D image;
out vec4 color;
void main() {
    vec3 sum = vec3(0.0);
    for (int i = 0; i < 3; i++)
        if (n[i] > 0.25) sum += texture(image, n.xy * float(i)).rgb;
    color = vec4(sum * n.z, 1.0);
}
""",
    "wrong.frag": "#version 330\nout vec4 color;\nvoid main() { colour = vec4(1.0); }\n",
    "double.comp": """#version 430
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
void main() { data[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * 2u + data[0]; }
""",
    "flat.frag": "#version 330\nout vec4 color;\nvoid main() { color = vec4(0.5); }\n",
    "twice.shader_test": """[require]
GLSL >= 3.30
SIZE 16 16
[vertex shader passthrough]
[fragment shader]
#version 330
uniform vec4 c;
out vec4 color;
void main() { color = c; }
[test]
clear
uniform vec4 c 0 1 0 1
draw rect -0.5 -0.5 1 1
uniform vec4 c 0 1 1 1
draw rect -0.5 -0.5 0.5 0.5
""",
    "suite/right.shader_test": """[require]
GLSL >= 3.30
SIZE 16 16
[vertex shader passthrough]
[fragment shader]
#version 330
out vec4 color;
void main() { color = vec4(0.0, 1.0, 0.0, 1.0); }
[test]
draw rect -1 -1 2 2
probe all rgba 0 1 0 1
""",
    "suite/[red].shader_test": """[require]
GLSL >= 3.30
SIZE 16 16
[test]
clear color 0 0 1 1
clear
probe rgba 0 0 1 0 0 1
""",
    "suite/later.shader_test": "[require]\nGLSL >= 9.90\n[test]\nclear\n",
    "mine.py": """import gallette
import moderngl

ctx = moderngl.create_context(standalone=True)
picture = ctx.simple_framebuffer((16, 12))
picture.clear(0.2, 0.4, 0.6, 1.0)
gallette.mark("plain", picture)
picture.clear(0.9, 0.6, 0.1, 1.0, viewport=(4, 4, 8, 4))
gallette.mark("a box", picture)
""",
    "glsl/flat.frag": "#version 330\nout vec4 color;\nvoid main() { color = vec4(0.5); }\n",
    "opt.nir": """shader vertex "t" {
  var shader_in %x: float, location 0
  var shader_out %y: float, location 32
  fn main {
    block 0:
      f32 %a = load_var x
  }
}
""",
}
_LEFT_OUT = (
    # Progress, which a slow machine prints where there is no terminal.
    (re.compile(r"^\S+ on \S+: \d+ of \d+.* left.*\n", re.M), ""),
    (re.compile(r"\b\d+(\.\d+)? ?(s|ms|us|min)\b"), "T"),
    (re.compile(r"\b\d+ kB\b"), "SIZE"),
    (re.compile(r"NumPy [\d.]+"), "NumPy N"),
)


def sessions() -> list[str]:
    """Their names."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def commands(name: str) -> list[str]:
    """The commands of a session."""
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line[2:] for line in lines if line.startswith("$ ")]


@contextlib.contextmanager
def _in(folder: Path) -> Iterator[None]:
    """A folder with files, and a terminal that is no terminal."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "tests").symlink_to(ROOT / "piglit_subset" / "spec")
    (folder / "kernels.spvasm").symlink_to(ROOT / "tests" / "kernels" / "kernels.spvasm")
    np.save(folder / "three.npy", np.array([1.5, 2.5, -3.0], np.float32))
    set_here = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "GALLETTE_CACHE": "off"}
    with mock.patch.dict(os.environ, set_here), contextlib.chdir(folder):
        os.environ.pop("GALLETTE_CONFIG", None)  # the settings of all tests
        yield


def run(lines: list[str]) -> Iterator[str]:
    """What a session's commands print, line by line, the commands as well."""
    with tempfile.TemporaryDirectory() as place, _in(Path(place)):
        for line in lines:
            words = shlex.split(line)
            assert words[0] == "gallette"
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                try:
                    status = gallette(words[1:])
                except SystemExit as end:
                    status = int(end.code or 0)
            text = printed.getvalue().replace(place, "HERE").replace(str(ROOT), "CHECKOUT")
            for pattern, instead in _LEFT_OUT:
                text = pattern.sub(instead, text)
            yield f"$ {line}"
            yield from (each.rstrip() for each in text.splitlines())
            if status:
                yield f"[ended with {status}]"


def main() -> None:
    """Write files anew."""
    for name in sys.argv[1:] or sessions():
        text = "\n".join(run(commands(name)))
        (FOLDER / f"{name}.txt").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
