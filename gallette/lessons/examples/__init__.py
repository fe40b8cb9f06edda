"""Small complete programs that lessons show and run."""
