"""From the checked tree to NIR, through the builder."""
