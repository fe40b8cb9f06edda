"""Programs that Debian carries, on gallette beside llvmpipe: a table, and 1 if a picture differs.

    make clients-all                            # installs what is missing (as root), and runs all
    python -m tests.clients.debian pipes mpv    # only some, of what is installed

Each program of `debian.txt` runs for some frames under `gallette run`, on an X server of its own,
and its calls are recorded. Then the record is drawn by gallette and by llvmpipe, and every picture
is compared. So it does not matter that a clock decides what most of them draw. What is printed is
the table of docs/conformance.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("debian.txt")
FRAMES = 3
COMPARING = 900
"""Seconds after which a comparison is taken for hung: atlantis has 7,000 pictures to compare."""
NATIVE = {
    "EGL_PLATFORM": "surfaceless",
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "GALLIUM_DRIVER": "llvmpipe",
}
_FILES = {
    "cube.obj": """\
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
""",
    "tetrahedron.obj": """\
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
""",
    "cube.scad": "difference() { cube(10, center = true); sphere(6); }\n",
    "window.py": """\
from ctypes import CDLL, c_float, c_void_p
glfw, gl = CDLL("libglfw.so.3"), CDLL("libGL.so.1")
glfw.glfwCreateWindow.restype = c_void_p
glfw.glfwInit()
window = c_void_p(glfw.glfwCreateWindow(320, 240, b"GLFW", None, None))
glfw.glfwMakeContextCurrent(window)
while not glfw.glfwWindowShouldClose(window):
    gl.glClear(0x4000)
    gl.glBegin(4)
    for x, y, color in ((-0.8, -0.7, (1, 0, 0)), (0.8, -0.7, (0, 1, 0)), (0, 0.8, (0, 0, 1))):
        gl.glColor3f(*map(c_float, color))
        gl.glVertex2f(c_float(x), c_float(y))
    gl.glEnd()
    glfw.glfwSwapBuffers(window)
    glfw.glfwPollEvents()
""",
    "project.godot": """\
config_version=4
[application]
run/main_scene="res://main.tscn"
[display]
window/size/width=320
window/size/height=240
""",
    "main.tscn": """\
[gd_scene load_steps=2 format=2]
[sub_resource type="CubeMesh" id=1]
[node name="Scene" type="Spatial"]
[node name="Cube" type="MeshInstance" parent="."]
mesh = SubResource( 1 )
[node name="Camera" type="Camera" parent="."]
transform = Transform( 0.8, -0.3, 0.52, 0, 0.87, 0.5, -0.6, -0.4, 0.69, 3, 2.8, 4 )
[node name="Light" type="DirectionalLight" parent="."]
transform = Transform( 1, 0, 0, 0, 0.5, 0.87, 0, -0.87, 0.5, 0, 4, 0 )
""",
    "scene.qml": """\
import QtQuick
Window { width: 320; height: 240; visible: true
    Rectangle { anchors.fill: parent; gradient: Gradient {
        GradientStop { position: 0; color: "navy" }
        GradientStop { position: 1; color: "orange" } } }
    Text { anchors.centerIn: parent; text: "Qt Quick"; font.pixelSize: 40; color: "white"
        NumberAnimation on rotation { from: 0; to: 360; duration: 2000; loops: -1 } } }
""",
    "workbench.py": """\
import bpy
bpy.context.preferences.view.show_splash = False
""",
}


@dataclass(frozen=True)
class Program:
    name: str
    packages: tuple[str, ...]
    seconds: int
    tolerance: str
    command: tuple[str, ...]


def programs() -> list[Program]:
    """What `debian.txt` lists."""
    found = []
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, packages, seconds, tolerance, *command = line.split()
            packaged = tuple(packages.split(","))
            found.append(Program(name, packaged, int(seconds), tolerance, tuple(command)))
    return found


def install(wanted: list[Program]) -> None:
    packages = sorted({p for program in wanted for p in program.packages} | {"xvfb"})
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=env)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)


def tried(program: Program, driver: str, folder: Path, display: str) -> tuple[bool, str]:
    """Whether the pictures agree, and what there is to say."""
    qml = shutil.which("qml6") or "/usr/lib/qt6/bin/qml"
    command = [w.format(data=folder, qml=qml) for w in program.command]
    steps, _, share = program.tolerance.partition(":")
    if shutil.which(command[0]) is None:
        return True, "not installed"
    record = folder / f"{program.name}.gcap"
    kept = ("LD_LIBRARY_PATH", "EGL", "__EGL", "SDL", "GALLETTE", "DISPLAY", "WAYLAND")
    env = {k: v for k, v in os.environ.items() if not k.startswith(kept)}
    x11 = {"DISPLAY": display, "GDK_BACKEND": "x11", "QT_QPA_PLATFORM": "xcb", "HOME": str(folder)}
    gallette = [sys.executable, "-m", "gallette"]
    run = [*gallette, "run", "--driver", driver, "--frames", str(FRAMES), "--capture", str(record)]
    try:
        subprocess.run(
            [*run, "--timeout", str(program.seconds), *command],
            env=env | x11,
            capture_output=True,
            timeout=program.seconds + 60,
        )
        if not record.is_file():
            return False, "drew nothing"
        done = subprocess.run(
            [*gallette, "diff", str(record), "--driver", driver, "--against", "native",
             "--tolerance", steps, *(["--share", share] if share else [])],
            env=env | NATIVE, capture_output=True, text=True, timeout=COMPARING,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False, "took too long"
    said = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return done.returncode == 0, said[0].replace(f"{record}: ", "") if said else "no answer"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help="programs (default: all)")
    parser.add_argument("--driver", default="jit", help="default: jit")
    parser.add_argument(
        "--install", action="store_true", help="install what is missing, by apt-get"
    )
    parser.add_argument(
        "--captures", type=Path, metavar="DIR", help="keep the records, for `gallette bench`"
    )
    options = parser.parse_args(arguments)
    wanted = [p for p in programs() if not options.name or p.name in options.name]
    if options.install:
        install(wanted)
    failed = 0
    print("| program | steps of 255 allowed | pictures |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in _FILES.items():
            (folder / file).write_text(text, encoding="utf-8")
        ready, told = os.pipe()
        screen = ["-screen", "0", "640x480x24", "-displayfd", str(told)]
        server = subprocess.Popen(["Xvfb", *screen], pass_fds=[told], stderr=subprocess.DEVNULL)
        try:
            os.close(told)
            with os.fdopen(ready) as file:
                display = f":{file.readline().strip()}"
            for program in wanted:
                good, words = tried(program, options.driver, folder, display)
                failed += not good
                record = folder / f"{program.name}.gcap"
                if options.captures is not None and record.is_file():
                    shutil.copy(record, options.captures)
                words = words.replace(f"{options.driver} and native ", "")
                print(f"| {program.name} | {program.tolerance} | {words} |", flush=True)
        finally:
            server.terminate()
            server.wait()
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
