"""numpipe's variants: its keys, its code generator behind them, and draws merged into one."""
