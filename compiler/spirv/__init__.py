"""SPIR-V: the interchange format beside NIR.

`grammar` is the table of the format, `module` reads and writes modules, `assembler` and
`disassembler` convert to and from text; `read` translates to NIR, `emit` from NIR.
"""
