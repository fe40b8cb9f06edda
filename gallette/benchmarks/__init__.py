"""How fast drivers draw: frames of scenes and captures, timed on several drivers alternately."""

from gallette.benchmarks.registry import find, lacks, read_scenes
from gallette.scenes.common import BENCHMARKS, benchmark

__all__ = ["BENCHMARKS", "benchmark", "find", "lacks", "read_scenes"]
