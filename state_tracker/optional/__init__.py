"""Parts of OpenGL that can be left out, one folder each: see `state_tracker.topics`."""
