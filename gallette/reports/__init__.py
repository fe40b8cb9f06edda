"""Drawing results, for the terminal and as self-contained HTML. Nothing is computed here."""
