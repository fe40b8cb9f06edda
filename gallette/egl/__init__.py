"""gallette as the system's OpenGL: for C programs, and for libraries that look for libGL.

`libraries.py` writes shared libraries (`libGL`, `libEGL`, `libGLESv2`, `libOSMesa`, ... and a
vendor library for glvnd's libEGL) as ELF files, without a compiler: their functions jump through a
table of addresses, which fills itself on demand (`machine.py`, `elf.py`). The first call of a
function loads Python into the process if necessary, and requests the function's address from
`boot.py`: a C pointer to a Python function. Later calls jump directly to it. EGL itself is in
`functions.py` and the modules it imports.
"""
