"""What is drawn into: framebuffers, renderbuffers, clears."""
