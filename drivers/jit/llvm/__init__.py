"""LLVM IR as text, and its compilation to callable functions."""
