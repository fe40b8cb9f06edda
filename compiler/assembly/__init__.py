"""ARB assembly programs (`!!ARBvp1.0`, `!!ARBfp1.0`), translated to GLSL."""

from gallette.compiler.assembly.parser import LIMITS, STRICT, parse
from gallette.compiler.assembly.program import AssemblyError, Program
from gallette.compiler.assembly.translator import translate

__all__ = ["LIMITS", "STRICT", "AssemblyError", "Program", "parse", "translate"]
