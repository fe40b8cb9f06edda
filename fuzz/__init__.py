"""Fuzzers that look for harm: programs, files and requests that mean no good."""
