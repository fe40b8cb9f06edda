"""Stepping through a session in the terminal: a prompt, or commands from a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.console import Console
from rich.text import Text

from gallette.debugger.lookup import trace_lookup
from gallette.debugger.records import Session, Watched

HELP = """\
n, s [N]      the next instruction (N of them)
b [N]         back
l, line N     run on to source line N        (line: the next source line)
i, into       into a texture lookup: addresses, levels, filtering (u, up: back)
o, output     run on to the end of the shader: blending and storing
nan           run on to the first result that is NaN or infinite
c, end        run to the end (of the shader) start   back to the first
p NAME        a variable by its GLSL name    vars    all of them
w NAME        watch: show it at every step
quad          this value in the neighbours of the quad (or all lanes)
nir           the instructions around        src     the source around
out           what the shader wrote          help    this list
q, x          quit
"""


def shortest(value: float | int | bool | None) -> str:
    """A number in its shortest form."""
    if value is None:
        return "?"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.7g}" if isinstance(value, float) else str(value)


class Stepper:
    """A position in a session, and the commands that change it."""

    def __init__(self, session: Session, out: Console):
        self.session, self.out = session, out
        self.at = 0
        self.watched: list[str] = []
        self._outside: list[tuple[Session, int]] = []  # the lookups' sessions and steps

    def run(self, lines: Iterable[str], echo: bool = False) -> None:
        """Execute commands until one quits or there are no more."""
        self.out.print(Text(self.session.title, style="bold"))
        if self.session.note:
            self.out.print(Text(f"the fragment was {self.session.note}", style="yellow"))
        self.show()
        for line in lines:
            for command in line.split(";"):
                if echo and command.strip():
                    self.out.print(Text(f"> {command.strip()}", style="bright_black"))
                if not self.obey(command.strip()):
                    return

    def obey(self, text: str) -> bool:
        """Execute one command; returns False to stop."""
        word, _, rest = text.partition(" ")
        if word in ("q", "x", "exit", "quit"):
            return False
        if word.lstrip("-").isdigit():
            word, rest = "l", word
        command = self._COMMANDS.get(word or "n")
        if command is None:
            if word not in ("h", "help", "?"):
                self.out.print(f"there is no command {word!r}", markup=False, highlight=False)
            self.out.print(HELP, markup=False, highlight=False)
        else:
            command(self, rest.strip())
        return True

    # -- moving ----------------------------------------------------------------------------------

    def _move(self, to: int | None, why: str = "") -> None:
        if to is None:
            self.out.print(Text(why or "nothing further", style="yellow"))
            return
        self.at = min(max(to, 0), len(self.session.steps) - 1)
        self.show()

    def _next(self, rest: str) -> None:
        self._move(self.at + (int(rest) if rest.isdigit() else 1))

    def _back(self, rest: str) -> None:
        self._move(self.at - (int(rest) if rest.isdigit() else 1))

    def _line(self, rest: str) -> None:
        if rest.isdigit():
            found = self.session.find_line(int(rest), self.at)
            self._move(found, f"nothing more is executed for line {rest}")
            return
        here = self.session.source_line(self.at)
        later = range(self.at + 1, len(self.session.steps))
        lines = ((i, self.session.source_line(i)) for i in later)
        self._move(next((i for i, line in lines if line not in (here, -1)), None))

    def _nan(self, rest: str) -> None:
        self._move(self.session.find_nan(self.at), "every result from here on is a finite number")

    def _into(self, rest: str) -> None:
        inner = trace_lookup(self.session, self.at)
        if inner is None or not inner.steps:
            self._move(None, "this is not a texture lookup that can be stepped into")
            return
        self._outside.append((self.session, self.at))
        self.session, self.at = inner, 0
        self.out.print(Text(inner.title, style="bold"))
        self.show()

    def _up(self, rest: str) -> None:
        if not self._outside:
            self._move(None, "this is the shader itself")
            return
        self.session, self.at = self._outside.pop()
        self.show()

    def _output(self, rest: str) -> None:
        later = range(self.at + 1, len(self.session.steps))
        code = self.session.code
        here = code[self.session.steps[self.at].line].section
        sections = ((i, code[self.session.steps[i].line].section) for i in later)
        found = next((i for i, section in sections if section not in ("", here)), None)
        self._move(found, "nothing is stored after this")

    def _end(self, rest: str) -> None:
        steps, code = self.session.steps, self.session.code
        shader = sum(not code[step.line].section for step in steps) - 1
        self._move(shader if self.at < shader else len(steps) - 1)

    def _start(self, rest: str) -> None:
        self._move(0)

    # -- looking ---------------------------------------------------------------------------------

    def show(self) -> None:
        """Print the position, the result, and the watched variables."""
        session = self.session
        if not session.steps:
            self.out.print("the shader executes nothing")
            return
        line = session.source_line(self.at)
        if 0 < line <= len(session.source):
            self.out.print(Text(f"{line:>5}  {session.source[line - 1].strip()}", style="cyan"))
        step = session.steps[self.at]
        section = session.code[step.line].section
        if section:
            self.out.print(Text(f"       {section}", style="cyan"))
        code = session.code[step.line].text.strip()
        value = session.value(self.at)
        shown = "" if value is None else f"   = {', '.join(map(shortest, value))}"
        idle = "" if step.active[session.lane] else "   (not executed by this lane)"
        self.out.print(Text(f"{self.at:>5}  {code}"), Text(shown, style="bold green"), idle, sep="")
        if self.watched:
            known = session.watch(self.at)
            for name in self.watched:
                self._show_variable(name, known)

    def _show_variable(self, name: str, known: dict[str, Watched]) -> None:
        found = known.get(name)
        if found is None:
            assigned = any(name == n for line in self.session.code for n, _, _ in line.names)
            why = "not assigned yet" if assigned else "optimised out"
            if not assigned and name not in self.session.variables:
                why = "no such variable"
            self.out.print(Text(f"       {name}: {why}", style="yellow"))
            return
        where = f"   (line {found.assigned})" if found.assigned else ""
        self.out.print(
            f"       {name} = {', '.join(map(shortest, found.values))}{where}", markup=False
        )

    def _print(self, rest: str) -> None:
        known = self.session.watch(self.at)
        for name in rest.replace(",", " ").split():
            self._show_variable(name, known)

    def _watch(self, rest: str) -> None:
        self.watched += [n for n in rest.replace(",", " ").split() if n not in self.watched]
        self._print(rest)

    def _variables(self, rest: str) -> None:
        known = self.session.watch(self.at)
        for name in dict.fromkeys([*self.session.variables, *known]):
            self._show_variable(name, known)

    def _quad(self, rest: str) -> None:
        for lane, name in enumerate(self.session.lanes):
            value = self.session.value(self.at, lane)
            shown = "-" if value is None else ", ".join(map(shortest, value))
            mark = "*" if lane == self.session.lane else " "
            self.out.print(f"     {mark} {name}: {shown}", markup=False)

    def _nir(self, rest: str) -> None:
        here = self.session.steps[self.at].line
        for number in range(max(0, here - 5), min(len(self.session.code), here + 6)):
            mark = ">" if number == here else " "
            self.out.print(Text(f"    {mark} {self.session.code[number].text}"))

    def _source(self, rest: str) -> None:
        here = self.session.source_line(self.at)
        for number in range(max(1, here - 4), min(len(self.session.source), here + 4) + 1):
            mark = ">" if number == here else " "
            text = self.session.source[number - 1]
            self.out.print(Text(f"    {mark}{number:>4}  {text}"))

    def _outputs(self, rest: str) -> None:
        for name, values in self.session.outputs.items():
            self.out.print(f"       {name} = {', '.join(map(shortest, values))}", markup=False)
        for name, values in self.session.driver_outputs.items():
            shown = ", ".join(map(shortest, values))
            self.out.print(f"       the driver wrote {name} ({shown})", markup=False)

    _COMMANDS: dict[str, Callable[[Stepper, str], None]] = {
        "n": _next,
        "s": _next,
        "b": _back,
        "l": _line,
        "line": _line,
        "i": _into,
        "into": _into,
        "u": _up,
        "up": _up,
        "o": _output,
        "output": _output,
        "nan": _nan,
        "c": _end,
        "end": _end,
        "start": _start,
        "p": _print,
        "w": _watch,
        "watch": _watch,
        "vars": _variables,
        "quad": _quad,
        "nir": _nir,
        "src": _source,
        "out": _outputs,
    }
