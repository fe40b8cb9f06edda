"""Source text to a syntax tree: preprocessor, lexer, parser."""
