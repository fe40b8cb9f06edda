"""Writing LLVM IR as text, and turning it into functions that can be called."""
