"""How fuzzers damage files."""

from __future__ import annotations

import random

__all__ = ["damaged"]


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
