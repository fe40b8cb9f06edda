"""Shader variants: which code runs for which bound state, and why it had to be built.

`shader` is the object behind a shader state handle, `compiler` what a driver brings to it (its keys
and its code generator), `reads` what of the bound state can matter to a shader, `standard` the keys
most drivers start from. Key fields and the passes behind them are declared in `gallette.pipe.keys`.
"""
