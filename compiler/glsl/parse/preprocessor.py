"""The preprocessor: directives, conditions and macros; text in, tokens out.

It also determines the language: `#version` and `#extension` are directives, so the `Language` is
complete when the preprocessor is done. Comments are removed by the lexer.
"""

from __future__ import annotations

from gallette.compiler.glsl.diagnostics import Abort, Log, did_you_mean
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.parse.conditions import Conditions
from gallette.compiler.glsl.parse.directives import Directives
from gallette.compiler.glsl.parse.keywords import plain_words
from gallette.compiler.glsl.parse.lexer import Token, tokenize
from gallette.compiler.glsl.parse.macros import EXPANSION_PER_CHARACTER, Macro
from gallette.compiler.glsl.parse.settings import Dialect, Settings
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.work_limits import INCLUDE_COST, MOST_CHARACTERS, MOST_TOKENS

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


@lazy_dataclass()
class Preprocessed:
    """The tokens, and the results of directives."""

    tokens: list[Token]
    language: Language
    pragmas: list[tuple[list[str], int]]
    classified: bool
    """whether the tokens already have their kinds of the language"""


def last_directive(text: str) -> int:
    """The start of the line after the last possible directive; the end of the text if that is
    unclear.
    """
    if "/*" in text or "\r" in text:
        return len(text)
    at = text.rfind("#")
    if at < 0:
        return 0
    return text.find("\n", at) + 1 or len(text)


_LONGEST_HEAD = 2000
_MOST_HEADS = 256
_heads: dict[tuple[str, Dialect], tuple[dict[str, Macro], Language]] = {}
"""(directives at the top of a shader, dialect) -> the language and its macros, since many shaders
begin alike
"""


class _Preprocessor(Directives):
    def __init__(self, settings: Settings, log: Log, stage: str):
        super().__init__(settings, log)
        self.stage = stage
        self.conditions = Conditions(self.expander, log)
        self.characters = 0
        """number of characters in all texts so far; short texts count for more than they have"""
        self.known = 0
        """number of tokens that already have their kinds of the language"""

    def run(self, name: str, text: str) -> None:
        base, spliced = self.sources.add(name, text)
        self.expander.limit += EXPANSION_PER_CHARACTER * len(text)
        conditions = self.conditions
        depth = len(conditions.stack)
        end = last_directive(spliced)
        head, rest = spliced[:end], spliced[end:]
        if base or not self.recall(head):
            if not base:
                self.lang = self.settings.language(self.stage)
            if not self.builtins and not head.startswith("#version"):  # it selects the macros
                self.define_builtins()
            if head:
                self.lines(tokenize(head, base, self.log))
            if not base:
                self.remember(head)
        words = None
        if len(conditions.stack) == depth and (not self.macros or not self.has_own_macros):
            words = plain_words(rest, base + end, self.lang)
        if words is None:
            if not self.macros:
                self.macros.update(self.builtins)
            self.lines(tokenize(rest, base + end, self.log))
        else:
            self.out += words
            self.known += len(words)
        conditions.end(depth)

    @property
    def has_own_macros(self) -> bool:
        """Whether the shader has defined macros. (Those of the language cannot be undefined.)"""
        return len(self.macros) != len(self.builtins)

    def recall(self, head: str) -> bool:
        """Take over the language that these directives selected in an earlier shader.

        Its macros are not defined, since few shaders use any after their directives.
        """
        known = _heads.get((head, self.settings.dialect))
        if known is None:
            return False
        self.builtins, language = known
        self.lang = language.copy(self.stage)
        self.version_possible = False
        return True

    def remember(self, head: str) -> None:
        """Cache the language after the directives, if they determine nothing else."""
        if (
            len(head) > _LONGEST_HEAD
            or "include" in head  # its result depends on the application
            or self.out
            or self.conditions.stack
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
        """Process directives, and the lines between them."""
        i, n = 0, len(tokens)
        line_start = True
        looked = 0
        out, macros, conditions = self.out, self.macros, self.conditions.stack
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
            if conditions and not conditions[-1].active:
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
        """Take the lines up to the next directive at once if they contain no macro name.

        Returns where they end, and whether they were taken.
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
        live = self.conditions.live
        if name in ("if", "ifdef", "ifndef"):
            self.conditions.open(name, rest, at, self.lang.es)
        elif name in ("elif", "else", "endif"):
            self.conditions.next_branch(name, rest, at, self.lang.es)
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

    def add_characters(self, count: int, at: int) -> None:
        """Count the characters of another text, because texts that include each other would never
        end.
        """
        self.characters += count
        if self.characters > MOST_CHARACTERS:
            raise self.log.give_up(
                f"the shader and what it includes have more than {MOST_CHARACTERS} characters", at
            )

    def has_include(self) -> bool:
        return "ARB_shading_language_include" in self.lang.extensions

    def do_include(self, rest: list[Token], at: int) -> None:
        text = self.sources.line_text(at).partition("include")[2].strip()
        path = text[1:-1] if len(text) > 2 and text[0] + text[-1] in ('""', "<>") else ""
        if not path:
            raise self.log.abort('expected #include "path" or #include <path>', at, at + 7)
        if len(self.include_stack) >= MAX_INCLUDE_DEPTH:
            raise self.log.abort(f"#include of '{path}' is nested too deeply", at, at + 7)
        # Only "path" is searched relative to the including text.
        current = self.include_stack[-1] if self.include_stack and text[0] == '"' else ""
        lookup = self.settings.include
        found = lookup(path, current) if lookup else None
        if found is None:
            raise self.log.abort(f"cannot find '{path}'", at, at + 7)
        self.add_characters(max(len(found), INCLUDE_COST), at)
        self.include_stack.append(path)
        self.run(path, found)
        self.include_stack.pop()


def preprocess(text: str, name: str, settings: Settings, log: Log, stage: str = "") -> Preprocessed:
    """Preprocess one shader; errors are in `log`."""
    pp = _Preprocessor(settings, log, stage)
    pp.add_characters(len(text), 0)
    try:
        pp.run(name, text)
    except Abort:
        if not log.error_count:
            raise
    if len(pp.out) > MOST_TOKENS:
        message = f"the shader has {len(pp.out)} tokens, at most {MOST_TOKENS} are supported"
        raise log.give_up(message, pp.out[MOST_TOKENS][2])
    return Preprocessed(pp.out, pp.lang, pp.pragmas, classified=pp.known == len(pp.out))
