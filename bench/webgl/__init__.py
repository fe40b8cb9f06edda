"""WebGL conformance tests, in a browser on gallette."""
