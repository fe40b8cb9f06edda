"""What simulated machines share: threads whose channels diverge and reconverge, launches, and the
shared units.

A machine brings instructions, registers and a compiler. `threads` and `executable` run blocks of
steps over many threads at once; `messages` is the table of messages that a thread may send to the
shared units, `units` are those units; `program` makes a compiled shader a program of the shared
draw code (`drivers.common.program`).
"""
