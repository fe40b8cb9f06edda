"""SPIR-V: the interchange format beside NIR.

`grammar` is the table of the format, `binary` reads and writes modules, `assembler` and
`disassembler` their text; `validate` says what is wrong with one.
"""
