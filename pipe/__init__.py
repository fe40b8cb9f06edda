"""The contract between state tracker and drivers: state, formats, caps, screens, contexts."""
