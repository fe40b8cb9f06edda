"""Source lines through LLVM.

The emitter writes the source line of instructions in a comment above them. `located` gives every
instruction that line as a debug location, which LLVM's passes preserve as they move and merge code;
`commented` and `commented_assembly` turn the locations into comments: `; line 12`.
"""

from __future__ import annotations

import re

_MADE_FOR = re.compile(r"^; .*, line (\d+)$")
_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)", re.M)
_ATTACHED = re.compile(r",? !dbg !(\d+)")
_LOC = re.compile(r"^\s*\.loc\s+\d+\s+(\d+)")
_ABOUT_LINES = re.compile(r"^\s*\.(?:file|loc|cfi_\w+)\b|^\.L(?:tmp|func_begin|func_end|cfi)\d+:")


def located(text: str) -> str:
    """A module with the source line of each instruction as its debug location (0: none)."""
    out: list[str] = []
    scopes: list[int] = []
    facts: list[str] = []  # metadata after the four nodes that are always there
    numbers: dict[tuple[int, int], int] = {}
    now, inside = 0, False

    def fact(words: str) -> int:
        facts.append(words)
        return len(facts) + 3

    for line in text.split("\n"):
        if line.startswith("define "):
            name = re.search(r"@([\w.$]+)", line)
            scopes.append(
                fact(
                    f'distinct !DISubprogram(name: "{name[1] if name else ""}", file: !2, line: 1, '
                    "type: !3, unit: !0, spFlags: DISPFlagDefinition)"
                )
            )
            line = line.replace(" {", f" !dbg !{scopes[-1]} {{", 1)
            now, inside = 0, True
        elif line == "}":
            inside = False
        elif inside and line.startswith(";"):
            made_for = _MADE_FOR.match(line)
            now = int(made_for[1]) if made_for else 0
        elif inside and line and not line.endswith(":"):
            place = scopes[-1], now
            if place not in numbers:
                numbers[place] = fact(f"!DILocation(line: {now}, scope: !{scopes[-1]})")
            line += f", !dbg !{numbers[place]}"
        out.append(line)
    always = (
        "!llvm.dbg.cu = !{!0}",
        "!llvm.module.flags = !{!1}",
        "!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: FullDebug)",
        '!1 = !{i32 2, !"Debug Info Version", i32 3}',
        '!2 = !DIFile(filename: "shader", directory: "")',
        "!3 = !DISubroutineType(types: !{null})",
    )
    return "\n".join((*out, *always, *(f"!{i} = {f}" for i, f in enumerate(facts, 4)), ""))


def commented(text: str) -> str:
    """A module with its debug locations as comments at the ends of lines."""
    lines = {number: int(line) for number, line in _LOCATION.findall(text)}
    out = []
    for line in text.split("\n"):
        if line.startswith("!"):
            continue
        attached = _ATTACHED.search(line)
        if attached:
            line = _ATTACHED.sub("", line)
            number = lines.get(attached[1], 0)
            line += f"  ; line {number}" if number else ""
        out.append(line)
    return "\n".join(out).rstrip("\n") + "\n"


def commented_assembly(text: str) -> str:
    """Assembly with its debug locations as comments, without other debug directives."""
    out, now = [], 0
    for line in text.split("\n"):
        if re.match(r"\s*\.section\s+\.debug_", line):
            break
        location = _LOC.match(line)
        if location:
            now = int(location[1])
        if _ABOUT_LINES.match(line):
            continue
        instruction = line.startswith("\t") and not line.startswith(("\t.", "\t#"))
        out.append(f"{line}  # line {now}" if instruction and now else line)
        if not line.startswith("\t") and line.endswith(":") and not line.startswith(".L"):
            now = 0
    return "\n".join(out).rstrip("\n") + "\n"
