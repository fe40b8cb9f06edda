"""The preprocessor: directives, conditionals and macros; text in, tokens out.

It also settles the language: `#version` and `#extension` are directives, so the `Language` the
later stages ask is complete when the preprocessor is done. Comments are removed by the lexer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from gallette.compiler.glsl.diagnostics import Abort, Log, did_you_mean
from gallette.compiler.glsl.language import DESKTOP_VERSIONS, ES_VERSIONS, EXTENSIONS, Language
from gallette.compiler.glsl.parse.keywords import plain_words
from gallette.compiler.glsl.parse.lexer import Token, number_value, tokenize
from gallette.compiler.glsl.parse.macros import EXPANSION_PER_CHARACTER, Expander, Macro
from gallette.compiler.glsl.parse.pp_expression import evaluate

__all__ = ["Preprocessed", "Settings", "preprocess"]

MAX_INCLUDE_DEPTH = 64
_DIRECTIVES = [
    "define",
    "undef",
    "if",
    "ifdef",
    "ifndef",
    "else",
    "elif",
    "endif",
    "error",
    "pragma",
    "extension",
    "version",
    "line",
    "include",
]


@lru_cache(maxsize=16)
def _without_prefix(names: frozenset[str]) -> frozenset[str]:
    return frozenset([name.removeprefix("GL_") for name in names])


Dialect = tuple[str, int, int, frozenset[str] | None]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the outside world decides about a compile."""

    api: str = "core"
    """core, compat or es"""
    version_limit: int = 460
    es_version_limit: int = 320
    extensions: frozenset[str] | None = None
    """names of supported extensions, given with or without `GL_` and kept without; None is every
    one the compiler knows"""
    include: Callable[[str, str], str | None] | None = None
    """answers the text of `#include <path>`: (path, the including string's name)"""

    def __post_init__(self) -> None:
        if self.extensions is not None:
            object.__setattr__(self, "extensions", _without_prefix(self.extensions))

    @property
    def dialect(self) -> Dialect:
        """All of it that is data."""
        return self.api, self.version_limit, self.es_version_limit, self.extensions

    def language(self, stage: str = "") -> Language:
        """What a shader is written in that does not say it."""
        es = self.api == "es"
        language = Language(100 if es else 110, es, not es, stage=stage)
        if not es and (self.extensions is None or "ARB_texture_rectangle" in self.extensions):
            language.enable("ARB_texture_rectangle")  # the one extension that is on from the start
        return language


@dataclass(slots=True)
class Preprocessed:
    """Tokens and what the directives said."""

    tokens: list[Token]
    language: Language
    pragmas: list[tuple[list[str], int]]
    classified: bool
    """have the tokens the kinds of the language already?"""


def last_directive(text: str) -> int:
    """Where the line behind the last that may be a directive begins; the end if hard to say."""
    if "/*" in text or "\r" in text:
        return len(text)
    at = text.rfind("#")
    if at < 0:
        return 0
    return text.find("\n", at) + 1 or len(text)


@dataclass(slots=True)
class _Condition:
    loc: int
    active: bool
    """tokens of the current branch are kept"""
    taken: bool
    """some branch has been kept already"""
    enclosing: bool
    seen_else: bool = False


def _supported(name: str, es: bool, offered: frozenset[str] | None) -> bool:
    where = EXTENSIONS.get(name)
    if where is None or (where != "both" and (where == "es") != es):
        return False
    return offered is None or name in offered


@lru_cache(maxsize=64)
def _builtin_macros(
    version: int, es: bool, compat: bool, offered: frozenset[str] | None
) -> dict[str, Macro]:
    """What is defined from the start: versions, profiles and every extension on offer."""
    values = {"__LINE__": 0, "__FILE__": 0, "__VERSION__": version}
    if es:
        values["GL_ES"] = 1
        values["GL_FRAGMENT_PRECISION_HIGH"] = 1
    elif version >= 130:
        values["GL_FRAGMENT_PRECISION_HIGH"] = 1
    if version >= 150 and not es:
        values["GL_core_profile"] = 1
        if compat:
            values["GL_compatibility_profile"] = 1
    if es and version >= 300:
        values["GL_es_profile"] = 1
    values |= {f"GL_{name}": 1 for name in EXTENSIONS if _supported(name, es, offered)}
    return {
        name: Macro(name, None, (("num", str(value), 0),), True) for name, value in values.items()
    }


_LONGEST_HEAD = 2000
_MOST_HEADS = 256
_heads: dict[tuple[str, Dialect], tuple[dict[str, Macro], Language]] = {}
"""directives at the top of a shader, and the dialect on offer -> the macros of the language, the
language: most shaders begin like another one"""


class _Preprocessor:
    def __init__(self, settings: Settings, log: Log, stage: str):
        self.settings = settings
        self.stage = stage
        self.log = log
        self.sources = log.sources
        self.expander = Expander(log, log.sources)
        self.macros = self.expander.macros
        self.out: list[Token] = []
        self.pragmas: list[tuple[list[str], int]] = []
        self.conditions: list[_Condition] = []
        self.include_stack: list[str] = []
        self.version_possible = True
        self.known = 0
        """how many of the tokens have the kinds that they have in the language"""
        self.builtins: dict[str, Macro] = {}

    lang: Language
    """known from the first directives on"""

    # -- predefined names --------------------------------------------------------------------

    def supported(self, name: str) -> bool:
        """May this shader name the extension?"""
        return _supported(name, self.lang.es, self.settings.extensions)

    def define_builtins(self) -> None:
        """The macros of the language as it is now, instead of those it had before."""
        macros, lang = self.macros, self.lang
        if len(macros) == len(self.builtins):
            macros.clear()
        else:
            for name in self.builtins:
                del macros[name]
        self.builtins = _builtin_macros(
            lang.version, lang.es, lang.compat, self.settings.extensions
        )
        macros.update(self.builtins)

    # -- the main loop -----------------------------------------------------------------------

    def run(self, name: str, text: str) -> None:
        base, spliced = self.sources.add(name, text)
        self.expander.limit += EXPANSION_PER_CHARACTER * len(text)
        depth = len(self.conditions)
        end = last_directive(spliced)
        head, rest = spliced[:end], spliced[end:]
        if base or not self.recall(head):
            if not base:
                self.lang = self.settings.language(self.stage)
            if not self.builtins and not head.startswith("#version"):  # which says what there is
                self.define_builtins()
            if head:
                self.lines(tokenize(head, base, self.log))
            if not base:
                self.remember(head)
        words = None
        if len(self.conditions) == depth and (not self.macros or not self.has_own_macros):
            words = plain_words(rest, base + end, self.lang)
        if words is None:
            if not self.macros:
                self.macros.update(self.builtins)
            self.lines(tokenize(rest, base + end, self.log))
        else:
            self.out += words
            self.known += len(words)
        while len(self.conditions) > depth:
            self.log.error("#if without #endif", self.conditions.pop().loc)

    @property
    def has_own_macros(self) -> bool:
        """Has the shader defined any? (Those of the language cannot be taken back.)"""
        return len(self.macros) != len(self.builtins)

    def recall(self, head: str) -> bool:
        """Take over what these directives meant when another shader began with them.

        The macros of the language are left out: few shaders name any behind their directives.
        """
        known = _heads.get((head, self.settings.dialect))
        if known is None:
            return False
        self.builtins, language = known
        self.lang = language.copy(self.stage)
        self.version_possible = False
        return True

    def remember(self, head: str) -> None:
        """The directives are done; if they settled the language and nothing else, keep that."""
        if (
            len(head) > _LONGEST_HEAD
            or "include" in head  # which asks the outside world
            or self.out
            or self.conditions
            or self.has_own_macros
            or self.pragmas
            or self.log.diagnostics
            or self.sources.has_overrides
        ):
            return
        if len(_heads) >= _MOST_HEADS:
            _heads.clear()
        _heads[head, self.settings.dialect] = self.builtins, self.lang.copy()

    def lines(self, tokens: list[Token]) -> None:
        """Directives, and what is between them."""
        i, n = 0, len(tokens)
        line_start = True
        looked = 0
        out, macros = self.out, self.macros
        while i < n:
            token = tokens[i]
            kind = token[0]
            if kind == "nl":
                line_start = True
                i += 1
                continue
            if kind == "#" and line_start:
                end = i + 1
                while end < n and tokens[end][0] != "nl":
                    end += 1
                self.directive(tokens[i + 1 : end], token[2])
                i = end
                continue
            if self.conditions and not self.conditions[-1].active:
                while i < n and tokens[i][0] != "nl":
                    i += 1
                continue
            if line_start and i >= looked:
                looked, plain = self.plain_lines(tokens, i)
                if plain:
                    i = looked
                    continue
            line_start = False
            if kind == "id" and token[1] in macros:
                try:
                    i = self.expander.expand(tokens, i, out)
                except Abort:
                    self.expander._depth = 0
                    if self.expander.produced > self.expander.limit:
                        raise
                    while i < n and tokens[i][0] != "nl":
                        i += 1
            else:
                if kind in ("bad", "str"):
                    self.log.error(f"unexpected character '{token[1][0]}'", token[2])
                else:
                    out.append(token)
                i += 1

    def plain_lines(self, tokens: list[Token], start: int) -> tuple[int, bool]:
        """Take the lines up to the next directive at once if no macro is named in them.

        Answers where they end, and whether they were taken.
        """
        part = tokens[start:] if start else tokens
        kinds = [t[0] for t in part]
        end = len(tokens)
        if "#" in kinds:
            count = kinds.index("#")
            while count and kinds[count - 1] != "nl":
                count -= 1
            end = start + count
            if not count:
                return end, False
            part, kinds = part[:count], kinds[:count]
        if "bad" in kinds or "str" in kinds:
            return end, False
        if not self.macros.keys().isdisjoint([t[1] for t in part]):
            return end, False
        self.out += [t for t in part if t[0] != "nl"]
        return end, True

    # -- directives --------------------------------------------------------------------------

    def directive(self, line: list[Token], loc: int) -> None:
        if not line:
            return
        kind, name, at = line[0]
        rest = line[1:]
        live = not self.conditions or self.conditions[-1].active
        if name in ("if", "ifdef", "ifndef"):
            self.open_condition(name, rest, at, live)
        elif name in ("elif", "else", "endif"):
            self.next_branch(name, rest, at)
        elif live:
            if name not in _DIRECTIVES or (name == "include" and not self.has_include()):
                if kind == "num":
                    self.log.error("'#' is not followed by a directive", at, at + len(name))
                else:
                    hint = did_you_mean(name, _DIRECTIVES)
                    self.log.error(f"unknown directive '#{name}'", at, at + len(name), hint)
                return
            try:
                getattr(self, f"do_{name}")(rest, at)
            except Abort:
                if self.log.error_count >= 20:
                    raise
            if not self.builtins:
                self.define_builtins()
        if name != "version" and live:
            self.version_possible = False

    def has_include(self) -> bool:
        return "ARB_shading_language_include" in self.lang.extensions

    def open_condition(self, name: str, rest: list[Token], at: int, live: bool) -> None:
        value = False
        if live:
            try:
                value = self.condition(name, rest, at)
            except Abort:
                if self.log.error_count >= 20:
                    raise
        self.conditions.append(_Condition(at, live and value, value, live))

    def condition(self, name: str, rest: list[Token], at: int) -> bool:
        if name == "if":
            return self.evaluate(rest, at)
        if not rest or rest[0][0] != "id":
            raise self.log.abort(f"#{name} needs a macro name", at, at + len(name))
        if len(rest) > 1:
            self.log.warning(f"extra text after #{name}", rest[1][2])
        return (rest[0][1] in self.macros) == (name == "ifdef")

    def next_branch(self, name: str, rest: list[Token], at: int) -> None:
        if not self.conditions:
            self.log.error(f"#{name} without #if", at, at + len(name))
            return
        top = self.conditions[-1]
        if name == "endif":
            self.conditions.pop()
            if rest:
                self.log.warning("extra text after #endif", rest[0][2])
            return
        if top.seen_else:
            self.log.error(f"#{name} after #else", at, at + len(name))
            return
        if name == "else":
            top.seen_else = True
            if rest:
                self.log.warning("extra text after #else", rest[0][2])
            top.active = top.enclosing and not top.taken
            top.taken = True
            return
        if not top.enclosing or top.taken:
            top.active = False
            return
        try:
            top.active = top.taken = self.evaluate(rest, at)
        except Abort:
            if self.log.error_count >= 20:
                raise
            top.active = False

    def evaluate(self, tokens: list[Token], at: int) -> bool:
        if not tokens:
            raise self.log.abort("#if without an expression", at)
        resolved: list[Token] = []
        i = 0
        while i < len(tokens):
            kind, text, loc = tokens[i]
            if kind != "id" or text != "defined":
                resolved.append(tokens[i])
                i += 1
                continue
            names = list(tokens[i + 1 : i + 4])
            if names and names[0][0] == "id":
                word, i = names[0], i + 2
            elif len(names) == 3 and names[0][0] == "(" and names[1][0] == "id":
                if names[2][0] != ")":
                    raise self.log.abort("expected ')' after defined(name", names[2][2])
                word, i = names[1], i + 4
            else:
                raise self.log.abort("'defined' needs a macro name", loc, loc + 7)
            resolved.append(("num", "1" if word[1] in self.macros else "0", loc))
        return bool(evaluate(self.expander.expand_list(resolved), at, self.log, self.lang.es))

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
        names: list[str] = []
        i = 1
        if i < len(body) and body[i][0] == ")":
            return (), body[2:]
        while i + 1 < len(body) and body[i][0] == "id":
            if body[i][1] in names:
                raise self.log.abort(
                    f"macro '{name}' has two parameters '{body[i][1]}'", body[i][2]
                )
            names.append(body[i][1])
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
        if (old is not None and old.builtin) or name.startswith("GL_"):
            raise self.log.abort(f"'{name}' cannot be undefined", loc, loc + len(name))
        if len(rest) > 1:
            self.log.warning("extra text after #undef", rest[1][2])
        self.macros.pop(name, None)

    def do_error(self, rest: list[Token], at: int) -> None:
        line = self.sources.line_text(at)
        self.log.error("#error " + line.partition("error")[2].strip(), at - 1, at + 5)

    def do_pragma(self, rest: list[Token], at: int) -> None:
        self.pragmas.append(([t[1] for t in rest], at))

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
        if len(words) != 3 or words[1] != ":":
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
            line += 1  # before 3.30 #line names the line it stands on
        if source is not None:
            self.expander.source_string = source
        self.sources.override_line(at, line, source)

    def do_include(self, rest: list[Token], at: int) -> None:
        text = self.sources.line_text(at).partition("include")[2].strip()
        path = text[1:-1] if len(text) > 2 and text[0] + text[-1] in ('""', "<>") else ""
        if not path:
            raise self.log.abort('expected #include "path" or #include <path>', at, at + 7)
        if len(self.include_stack) >= MAX_INCLUDE_DEPTH:
            raise self.log.abort(f"#include of '{path}' is nested too deeply", at, at + 7)
        # Only "path" is looked for beside the text that includes it.
        current = self.include_stack[-1] if self.include_stack and text[0] == '"' else ""
        lookup = self.settings.include
        found = lookup(path, current) if lookup else None
        if found is None:
            raise self.log.abort(f"cannot find '{path}'", at, at + 7)
        self.include_stack.append(path)
        self.run(path, found)
        self.include_stack.pop()


def preprocess(text: str, name: str, settings: Settings, log: Log, stage: str = "") -> Preprocessed:
    """Run the preprocessor over one shader; errors are in `log`."""
    pp = _Preprocessor(settings, log, stage)
    try:
        pp.run(name, text)
    except Abort:
        if not log.error_count:
            raise
    return Preprocessed(pp.out, pp.lang, pp.pragmas, classified=pp.known == len(pp.out))
