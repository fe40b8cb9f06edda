"""numpipe's variants: its keys and its code generator."""
