"""Map functions of EXT_direct_state_access to their ordinary forms, by name.

`TextureImage2DEXT` is `TexImage2D` on a named texture, `MatrixRotatefEXT` is `Rotatef` on a named
matrix stack: a table of patterns gives the ordinary function and the selector (`selectors.py`) for
the leading arguments. Display lists use the table too, since these functions are recorded in their
ordinary form.
"""

from __future__ import annotations

import re
from functools import cache

_RULES: tuple[tuple[str, str, str], ...] = (
    (r"Matrix(Load|Mult)(Transpose|)([fd])", r"\1\2Matrix\3", "matrix"),
    (r"Matrix(LoadIdentity|(?:Rotate|Scale|Translate)[fd]|Frustum|Ortho)", r"\1", "matrix"),
    (r"Matrix(Push|Pop)", r"\1Matrix", "matrix"),
    (r"GenerateTextureMipmap", "GenerateMipmap", "texture"),
    (r"GenerateMultiTexMipmap", "GenerateMipmap", "unit"),
    (r"BindMultiTexture", "BindTexture", "unit"),
    (r"(Get|Copy|Compressed|GetCompressed|)MultiTex(?!Coord)(\w+)", r"\1Tex\2", "unit"),
    (r"(Get|Copy|Compressed|GetCompressed|)Texture(?!Light|Material|Normal)(\w+)", r"\1Tex\2",
     "texture"),
    (r"NamedCopyBufferSubData", "CopyNamedBufferSubData", "buffers"),
    (r"\w*NamedBuffer\w*", r"\g<0>", "buffer"),
    (r"NamedFramebuffer(Texture[123]D)", r"Framebuffer\1", "bound framebuffer"),
    (r"Framebuffer((?:Draw|Read)Buffers?)", r"NamedFramebuffer\1", "framebuffer"),
    (r"\w*NamedFramebuffer\w+", r"\g<0>", "framebuffer"),
    (r"\w*NamedRenderbuffer\w+", r"\g<0>", "renderbuffer"),
    (r"(Get|)NamedProgram(LocalParameters4fv)", r"\1Program\2EXT", "program"),
    (r"(Get|)NamedProgram(\w+)", r"\1Program\2ARB", "program"),
    (r"VertexArrayBindVertexBuffer", "VertexArrayVertexBuffer", "array"),
    (r"VertexArrayVertexAttrib([IL]?)Format", r"VertexArrayAttrib\1Format", "array"),
    (r"VertexArrayVertexAttribBinding", "VertexArrayAttribBinding", "array"),
    (r"VertexArrayVertexBindingDivisor", "VertexArrayBindingDivisor", "array"),
    (r"(Enable|Disable)VertexArrayAttrib", r"\g<0>", "array"),
)  # fmt: skip


@cache
def ordinary_form(name: str) -> tuple[str, str] | None:
    """The ordinary function and the selector's name, for a C name without `gl`."""
    if name.endswith("EXT"):
        for pattern, twin, selector in _RULES:
            match = re.fullmatch(pattern, name.removesuffix("EXT"))
            if match is not None:
                return match.expand(twin), selector
    return None
