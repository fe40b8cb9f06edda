"""The environment variables that gallette reads: one table, from which `gallette --help` and the
page *Environment variables* are written. A test compares it with what the sources read.
"""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True)
class Variable:
    """An environment variable: the tool or person that sets it, its values, and its effect."""

    name: str
    value: str
    doc: str
    brief: str = ""
    """One line for `gallette --help`; variables without one are only in the manual."""
    internal: bool = False
    """gallette sets it for the programs it starts; setting it by hand works, too."""


VARIABLES: dict[str, Variable] = {
    variable.name: variable
    for variable in (
        Variable(
            "GALLETTE_DRIVER",
            "a driver, such as `jit` or `trace:numpipe`",
            "The driver to use when neither the program nor an option names one. Without it, "
            "`gallette run` and the pytest fixtures use jit if llvmlite is installed; everything "
            "else uses numpipe.",
            "the default driver",
        ),
        Variable(
            "GALLETTE_CAPS",
            "`NAME=VALUE,...`",
            "Overrides capabilities of the driver, to see how the state tracker lowers what the "
            "driver then lacks: `two_sided_color=0,max_samples=4`. See [drivers](../drivers.md).",
            "overrides of the driver's capabilities",
        ),
        Variable(
            "GALLETTE_THREADS",
            "a number",
            "Threads that share a draw. Default: numpipe uses one, jit one per processor. "
            "Pictures do not depend on it.",
            "threads that share a draw",
        ),
        Variable(
            "GALLETTE_STREAM",
            "`on` or `off`",
            "`off` executes every OpenGL call and every draw at once instead of collecting them "
            "in batches. Pictures are the same: one that differs shows a bug in the command "
            "stream.",
            "off: execute every call and draw at once",
        ),
        Variable(
            "GALLETTE_CONFIG",
            "a file",
            "Reads driver options from this file instead of `gallette/gallette.toml` in the "
            "user's configuration folder and `gallette.toml` in the working directory.",
            "the file with driver options",
        ),
        Variable(
            "GALLETTE_LOAD",
            "files, separated as in `PATH`",
            "Adds the drivers that these Python files list in their table `DRIVERS`, such as one "
            "that `gallette new driver` wrote.",
            "Python files with further drivers",
        ),
        Variable(
            "GALLETTE_CACHE",
            "a folder, `on` or `off`",
            "Where compiled shaders and generated tests are kept. Default: "
            "`$XDG_CACHE_HOME/gallette` or `~/.cache/gallette`. `off` disables the cache.",
            "the folder for compiled shaders; off: none",
        ),
        Variable(
            "GALLETTE_DEBUG",
            "`FLAG,...` or `FLAG=VALUE,...`",
            "Turns debug flags on; they are listed below. An unknown flag is an error.",
            "debug flags, separated by commas (see below)",
        ),
        Variable(
            "GALLETTE_TRACE",
            "a file",
            "Where the driver `trace` writes one JSON line for each call. Default: "
            "`gallette-trace.jsonl`.",
        ),
        Variable(
            "GALLETTE_VULKAN_DEVICE",
            "a number, or part of a name",
            "The device that the driver vulkan uses. Default: a discrete GPU if there is one.",
        ),
        Variable(
            "GALLETTE_VULKAN_VALIDATION",
            "`1`, or a file with a slash in its name",
            "Turns Vulkan's validation layers on; their messages go to standard error or the file.",
        ),
        Variable(
            "GALLETTE_REQUIRE_REFERENCE",
            "`1`",
            "Makes a missing native OpenGL an error instead of using recorded pictures. "
            "Continuous integration sets it.",
        ),
        Variable(
            "GALLETTE_CAPTURE",
            "a file",
            "Records every OpenGL call of the program (`gallette run --capture`).",
            internal=True,
        ),
        Variable(
            "GALLETTE_FRAMES",
            "a PNG file, with `%d` for every frame",
            "Saves the frames that the program shows (`gallette run --save`).",
            internal=True,
        ),
        Variable(
            "GALLETTE_FRAME_LIMIT",
            "a number",
            "Ends the program after this many frames (`gallette run --frames`).",
            internal=True,
        ),
        Variable(
            "GALLETTE_SIZE",
            "`WIDTHxHEIGHT`",
            "The size of off-screen surfaces (`gallette run --size`).",
            internal=True,
        ),
        Variable(
            "GALLETTE_PROGRAM",
            "a name",
            "The name under which the program's driver options are looked up.",
            internal=True,
        ),
    )
}
