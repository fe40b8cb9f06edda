"""What simulated machines share: threads that part and meet, launches, and the units they call.

A machine brings instructions, registers and a compiler; here is what is the same for all of them.
`threads` and `executable` run blocks of steps over many threads at once; `messages` is the table of
what a thread may ask of the shared units, `units` are those units; `program` makes a compiled
shader what the draw room calls (`drivers.common.program`).
"""
