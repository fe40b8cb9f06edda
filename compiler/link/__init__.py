"""The program linker: one for GLSL, SPIR-V and assembly programs, on NIR variables.

A front end *declares*: it groups the variables of its shaders that are one resource of the program
(GLSL by name, SPIR-V by number), with what the shaders say of them. The linker *decides*: offsets,
units, locations, the layout of blocks, what transform feedback captures, which limits hold. It
writes that into the NIR variables and into the tables that GL queries read (`program`).

* `resources`: uniforms, blocks and atomic counters (OpenGL 4.6, 7.6 to 7.8)
* `layout`: where they lie, and what of them is enumerated (7.3.1.1, 7.6.2.2)
* `resource_limits`: how many a stage and a program may use (7.6, 7.7, 7.10, 7.11)
* `feedback`: declared transform feedback (GLSL 4.60, 4.4.2.1)
* `stages`: which stages a program may consist of (7.3)
* `slots`: those of varyings (GLSL 4.60, 4.4.1; 11.1.2.1)
* `references`: which stages use what (7.3.1)
* `ends`: vertex attributes and fragment outputs (11.1.1, 15.2.3)
* `finish`: from the NIR of the front end to that of drivers, all stages together

Assembly programs are translated to GLSL, whose front end is then theirs.
"""
