"""How fast drivers draw: frames of scenes and captures, timed on several drivers alternately."""

from gallette.benchmarks.registry import BENCHMARKS, benchmark, find, lacks, read_scenes

__all__ = ["BENCHMARKS", "benchmark", "find", "lacks", "read_scenes"]
