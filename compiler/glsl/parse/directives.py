"""Directives other than conditions: version, extensions, line numbers, macros."""

from __future__ import annotations

from gallette.compiler.glsl.diagnostics import Abort, Log, did_you_mean
from gallette.compiler.glsl.language import DESKTOP_VERSIONS, ES_VERSIONS, EXTENSIONS, Language
from gallette.compiler.glsl.parse.lexer import Token, number_value
from gallette.compiler.glsl.parse.macros import Expander, Macro
from gallette.compiler.glsl.parse.pp_expression import evaluate
from gallette.compiler.glsl.parse.settings import Settings, builtin_macros, is_supported


class Directives:
    """The state set by directives; `do_NAME` processes the directive NAME."""

    def __init__(self, settings: Settings, log: Log):
        self.settings = settings
        self.log = log
        self.sources = log.sources
        self.expander = Expander(log, log.sources)
        self.macros = self.expander.macros
        self.builtins: dict[str, Macro] = {}
        self.pragmas: list[tuple[list[str], int]] = []
        self.out: list[Token] = []
        """tokens between directives; some directives must precede all of them"""
        self.include_stack: list[str] = []
        """paths of the texts being included"""
        self.version_possible = True

    lang: Language
    """set by the first directives"""

    # -- predefined names --------------------------------------------------------------------

    def supported(self, name: str) -> bool:
        """Whether this shader may use the extension."""
        return is_supported(name, self.lang.version, self.lang.es, self.settings.extensions)

    def define_builtins(self) -> None:
        """Define the macros of the current language, replacing those of an earlier one."""
        macros, lang = self.macros, self.lang
        if len(macros) == len(self.builtins):
            macros.clear()
        else:
            for name in self.builtins:
                del macros[name]
        self.builtins = builtin_macros(lang.version, lang.es, lang.compat, self.settings.extensions)
        macros.update(self.builtins)

    # -- the language ------------------------------------------------------------------------
    def do_version(self, rest: list[Token], at: int) -> None:
        if not self.version_possible or self.out or self.include_stack:
            raise self.log.abort(
                "#version must come first, before anything but comments", at, at + 7
            )
        self.version_possible = False
        if rest and rest[0][0] == "id" and not self.builtins:
            self.define_builtins()
        if rest and rest[0][0] == "id" and rest[0][1] in self.macros:
            rest = self.expander.expand_list(rest)
        number = number_value(rest[0][1]) if rest and rest[0][0] == "num" else "no number"
        if isinstance(number, str) or number[0] != "int":
            raise self.log.abort("#version needs a number", at, at + 7)
        end = rest[0][2] + len(rest[0][1])
        profile = rest[1][1] if len(rest) > 1 else ""
        if len(rest) > 2 or profile not in ("", "core", "compatibility", "es"):
            token = rest[2] if len(rest) > 2 else rest[1]
            raise self.log.abort(
                f"unexpected '{token[1]}' after #version",
                token[2],
                token[2] + len(token[1]),
                "expected 'core', 'compatibility' or 'es'",
            )
        self.set_version(int(number[1]), profile, rest[0][2], end)

    def set_version(self, version: int, profile: str, loc: int, end: int) -> None:
        lang, settings = self.lang, self.settings
        es = profile == "es" or version == 100
        versions: tuple[int, ...] = DESKTOP_VERSIONS
        limit = settings.version_limit
        if es:
            versions, limit = ES_VERSIONS, settings.es_version_limit
        message = hint = ""
        known = [v for v in versions if v <= limit]
        if version == 100 and profile:
            message = "#version 100 takes no profile"
        elif version not in known:
            message = f"{'GLSL ES' if es else 'GLSL'} {version / 100:.2f} is not supported"
            hint = "supported: " + ", ".join(map(str, known))
            if version in ES_VERSIONS:
                hint = f"for GLSL ES write '#version {version} es'"
        elif profile in ("core", "compatibility") and version < 150:
            message = f"#version {version} has no profiles"
        elif profile == "compatibility" and settings.api != "compat":
            message = "the compatibility profile is not supported in this context"
        elif settings.api == "es" and not es:
            message = f"GLSL {version / 100:.2f} is not supported in an OpenGL ES context"
        if message:
            self.log.error(message, loc, end, hint)
            if version not in versions:
                return
        if es:
            lang.disable("ARB_texture_rectangle")
        compat = not es and (
            version < 140
            or profile == "compatibility"
            or (version == 140 and settings.api == "compat")
        )
        lang.become(version, es, compat)
        self.define_builtins()

    def do_extension(self, rest: list[Token], at: int) -> None:
        words = [t[1] for t in rest]
        if len(words) != 3 or words[1] != ":" or rest[0][0] != "id":
            raise self.log.abort(
                "malformed #extension", at, at + 9, "expected '#extension name : behavior'"
            )
        name, behavior = words[0], words[2]
        loc, end = rest[0][2], rest[0][2] + len(name)
        if behavior not in ("require", "enable", "warn", "disable"):
            raise self.log.abort(
                f"unknown extension behavior '{behavior}'",
                rest[2][2],
                rest[2][2] + len(behavior),
                did_you_mean(behavior, ("require", "enable", "warn", "disable")),
            )
        if self.out:
            raise self.log.abort(
                "#extension must come before everything but other directives", at, at + 9
            )
        if name == "all":
            if behavior in ("require", "enable"):
                raise self.log.abort(f"'all' cannot be used with '{behavior}'", loc, end)
            for extension in EXTENSIONS:
                if self.supported(extension):
                    (self.lang.enable if behavior == "warn" else self.lang.disable)(extension)
            return
        short = name.removeprefix("GL_")
        if not name.startswith("GL_") or not self.supported(short):
            message = f"extension '{name}' is not supported"
            if behavior != "require" and not self.log.takes_warnings:
                return
            hint = did_you_mean(name, (f"GL_{e}" for e in EXTENSIONS))
            if behavior == "require":
                self.log.error(message, loc, end, hint)
            else:
                self.log.warning(message, loc, end, hint)
            return
        if behavior == "disable":
            self.lang.disable(short)
        else:
            self.lang.enable(short)
            if behavior == "warn":
                self.lang.warned.add(short)

    def do_line(self, rest: list[Token], at: int) -> None:
        numbers: list[int] = []
        try:
            expanded = self.expander.expand_list(rest)
            if len(expanded) == 2 and expanded[1][0] == "num":
                numbers = [evaluate([t], at, self.log, True) for t in expanded]
            else:
                numbers = [evaluate(expanded, at, self.log, True)]
        except Abort:
            return
        source = numbers[1] if len(numbers) > 1 else None
        line = numbers[0]
        if self.lang.version < 330 and not self.lang.es:
            line += 1  # before 3.30 #line sets the number of its own line
        if source is not None:
            self.expander.source_string = source
        self.sources.override_line(at, line, source)

    # -- macros and other directives ---------------------------------------------------------------

    def do_define(self, rest: list[Token], at: int) -> None:
        if not rest or rest[0][0] != "id":
            raise self.log.abort("#define needs a name", rest[0][2] if rest else at)
        _, name, loc = rest[0]
        end = loc + len(name)
        self.check_macro_name(name, loc)
        params: tuple[str, ...] | None = None
        body = rest[1:]
        if body and body[0][0] == "(" and body[0][2] == end:
            params, body = self.parameters(name, body)
        if body and (body[0][0] == "##" or body[-1][0] == "##"):
            self.log.error("'##' cannot begin or end a macro", body[0][2])
            return
        quotes = next((token for token in body if token[0] == "#"), None)
        if quotes is not None:
            self.log.error("'#' is no operator of macros", quotes[2])
            return
        joins = next((token for token in body if token[0] == "##"), None)
        if joins is not None and self.lang.es:
            self.log.error(f"'##' is not available in {self.lang.name}", joins[2])
            return
        macro = Macro(name, params, tuple(body))
        old = self.macros.get(name)
        if old is not None and not old.same_as(macro):
            self.log.error(f"macro '{name}' is already defined differently", loc, end)
            return
        self.macros[name] = macro

    def parameters(self, name: str, body: list[Token]) -> tuple[tuple[str, ...], list[Token]]:
        names: dict[str, None] = {}  # in order
        i = 1
        if i < len(body) and body[i][0] == ")":
            return (), body[2:]
        while i + 1 < len(body) and body[i][0] == "id":
            if body[i][1] in names:
                raise self.log.abort(
                    f"macro '{name}' has two parameters '{body[i][1]}'", body[i][2]
                )
            names[body[i][1]] = None
            if body[i + 1][0] == ")":
                return tuple(names), body[i + 2 :]
            if body[i + 1][0] != ",":
                break
            i += 2
        raise self.log.abort(f"malformed parameters of macro '{name}'", body[0][2])

    def check_macro_name(self, name: str, loc: int) -> None:
        old = self.macros.get(name)
        if (old is not None and old.builtin) or name == "defined":
            raise self.log.abort(f"'{name}' cannot be redefined", loc, loc + len(name))
        if name.startswith("GL_"):
            raise self.log.abort(
                f"macro names beginning with 'GL_' are reserved: '{name}'", loc, loc + len(name)
            )
        if "__" in name:
            self.log.warning(f"names containing '__' are reserved: '{name}'", loc, loc + len(name))

    def do_undef(self, rest: list[Token], at: int) -> None:
        if not rest or rest[0][0] != "id":
            raise self.log.abort("#undef needs a macro name", at)
        _, name, loc = rest[0]
        old = self.macros.get(name)
        if (old is not None and old.builtin) or name.startswith("GL_") or name == "defined":
            raise self.log.abort(f"'{name}' cannot be undefined", loc, loc + len(name))
        if len(rest) > 1:
            self.log.error("extra text after #undef", rest[1][2])
        self.macros.pop(name, None)

    def do_error(self, rest: list[Token], at: int) -> None:
        line = self.sources.line_text(at)
        self.log.error("#error " + line.partition("error")[2].strip(), at - 1, at + 5)

    def do_pragma(self, rest: list[Token], at: int) -> None:
        self.pragmas.append(([t[1] for t in rest], at))
