"""Parts of OpenGL that can be left out, a folder each: see `state_tracker.topics`."""
