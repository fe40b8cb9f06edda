"""How fuzzers damage what they are given: files, texts of GLSL, words of SPIR-V, values of JSON."""

from __future__ import annotations

import random
import re
from array import array
from collections.abc import Sequence
from typing import Any

from gallette.compiler.glsl.builtins.functions import builtin_names
from gallette.compiler.glsl.qualifiers import LAYOUTS
from gallette.compiler.glsl.typenames import TYPE_NAMES

NUMBERS = (
    0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 65, 255, 256, 4095, 4096, 65535, 65536, 1 << 20,
    1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63,
    (1 << 64) - 1, 1 << 64, 10**300, -1, -2, -4, -4096, -(1 << 31), -(1 << 63),
    0x1404, 0x1406, 0x8892, 0x8893, 0x88EC, 0x0DE1, 0x1908, 0x8B30, 0x8B31, 0x8DD9, 0x91B9, 0x8C8C,
)  # fmt: skip
ODD = (None, "", "x", "gl_Position", "\ud800", [], {}, [[]], 1.5, float("nan"), float("inf"), 1e300,
       True, {"@": 0}, {"b": "00"})  # fmt: skip
TOKEN = re.compile(r"\s+|\w+|[-+*/%<>=!&|^]+|.", re.DOTALL)
KEYWORDS = """
if else for while do switch case default break continue return discard struct const in out inout
uniform buffer shared layout flat smooth centroid invariant precise highp varying attribute void
true false main gl_Position gl_FragColor gl_in gl_FragData gl_TexCoord
( ) [ ] { } ; , . ? : = == + - * / % << >> && || ^^ ! ~ ++ -- += <<= # ## 0 1 2 -1 3u 1e9
0x7fffffff 4294967295u 99999999999 1.5 1.0lf a b x y xyzw i /* //
"""
WORDS = [
    *TYPE_NAMES,
    *LAYOUTS,
    *KEYWORDS.split(),
    "\n",
    "#define A A B\n",
    "#if\n",
    "#endif\n",
    "#version 460\n",
    "#line 5 5\n",
    "\\\n",
]


_EDGES = (0, 1, 2, 3, 5, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
"""of words"""


def damaged(whole: bytes, random_: random.Random) -> bytes:
    """A file with bytes changed, added, removed or cut off."""
    data = bytearray(whole)
    for _ in range(random_.choice((1, 1, 2, 8))):
        at = random_.randrange(max(len(data), 1))
        kind = random_.randrange(5) if at < len(data) else 3
        if kind == 0:
            data[at] = random_.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << random_.randrange(8)
        elif kind == 2:
            del data[at : at + random_.randrange(1, 16)]
        elif kind == 3:
            data[at:at] = random_.randbytes(random_.randrange(1, 16))
        else:
            del data[max(at, 1) :]
    return bytes(data)


def spirv(data: bytes, random_: random.Random) -> bytes:
    """A module a few edits away."""
    words = array("I", data)
    for _ in range(random_.choice((1, 1, 1, 2, 3, 8))):
        if len(words) < 7:
            break
        at = random_.randrange(5, len(words))
        kind = random_.randrange(7)
        if kind == 0:
            words[at] = random_.choice(_EDGES)
        elif kind == 1:
            words[at] ^= 1 << random_.randrange(32)
        elif kind == 2:
            words[at] = random_.randrange(1, max(words[3], 2))
        elif kind == 3:
            words[at] = words[random_.randrange(5, len(words))]
        elif kind == 4:
            other = random_.randrange(5, len(words))
            words[at], words[other] = words[other], words[at]
        elif kind == 5:
            del words[at : at + random_.randrange(1, 4)]
        else:
            words[at:at] = words[at : at + random_.randrange(1, 6)]
    return words.tobytes()


def glsl(text: str, others: Sequence[str], rng: random.Random) -> str:
    """A text some tokens away, with pieces of others."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 2, 3, 6, 12))):
        i = rng.randrange(len(tokens)) if tokens else 0
        kind = rng.randrange(7)
        if not tokens or kind == 0:
            tokens.insert(i, rng.choice(WORDS))
        elif kind == 1:
            del tokens[i : i + rng.choice((1, 1, 2, 5))]
        elif kind == 2:
            j = rng.randrange(len(tokens))
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif kind == 3:
            tokens[i] = rng.choice(WORDS)
        elif kind == 4:
            tokens[i:i] = tokens[i : i + rng.randrange(1, 20)]
        elif kind == 5:
            tokens[i] = f" {rng.choice(builtin_names())} "
        else:
            other = TOKEN.findall(rng.choice(others)) or [""]
            start = rng.randrange(len(other))
            tokens[i:i] = other[start : start + rng.randrange(1, 15)]
    return "".join(tokens)


def other(before: Any, random_: random.Random) -> Any:
    """Another value than this one, of its type or of any."""
    if random_.random() < 0.12:
        return random_.choice(ODD)
    if isinstance(before, int) and random_.random() < 0.4:
        return before + random_.choice((-1, 1, -before, before, 2, 16, 1 << 31, -2 * before))
    if isinstance(before, str):
        return random_.choice((before[: len(before) // 2], before * 3, "", before + "\n\x1b[2J"))
    if isinstance(before, list) and random_.random() < 0.3:
        return before * random_.choice((0, 2, 40))
    return random_.choice(NUMBERS)


def change_somewhere(holder: Any, random_: random.Random, but: str = "") -> None:
    """Some value anywhere in lists and objects is another, gone or under another name."""
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return
        key = random_.choice([k for k in keys if k != but] or keys)
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or random_.random() < 0.25:
            break
        holder = inner
    if isinstance(holder, dict) and random_.random() < 0.3:
        del holder[key]
        if random_.random() < 0.5:
            holder[random_.choice(("position", "color", "gl_Vertex", "x" * 5000, ""))] = inner
    else:
        holder[key] = other(inner, random_)
