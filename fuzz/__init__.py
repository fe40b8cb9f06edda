"""Random input for every part of the stack: `python -m fuzz` lists the fuzzers.

A fuzzer makes an input of a number and says what becomes of it (`harness.Fuzzer`); the harness runs
the numbers in worker processes, makes what fails small, and prints or saves it.
"""
