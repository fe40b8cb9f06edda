"""gallette as the system's OpenGL: for C programs, and for libraries that look for libGL.

Two ways in, one core. `libraries.py` writes shared libraries (`libGL`, `libEGL`, `libGLESv2`,
`libOSMesa`, ... and a vendor library for glvnd's libEGL) as ELF files, without a compiler: their
functions jump through a table of addresses, which fills itself on demand (`machine.py`, `elf.py`).
The first call of a function brings Python into the process if it is not there yet, and asks
`boot.py` for the function's address: a C pointer around a Python function. From there on the call
goes straight to it. What EGL itself does is in `functions.py` and the modules it names.
"""
