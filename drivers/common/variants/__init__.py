"""Shader variants: which code runs for which bound state, and why it had to be built.

`shader` is the object of a shader state handle, `compiler` what a driver adds to it (its keys and
its code generator), `reads` finds the bound state that can matter to a shader, `standard` has the
keys most drivers start from. Key fields and their lowering passes are declared in
`gallette.pipe.keys`.
"""
