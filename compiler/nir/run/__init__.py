"""Running passes: the runner, the pipelines, the tools."""
