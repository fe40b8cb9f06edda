"""The face of gallette: command line, public API, reports, lessons."""
