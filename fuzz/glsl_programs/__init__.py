"""Random GLSL programs that are valid, compared with a plain Python evaluator.

`programs.txt` has the rules that write them, `writer.py` what a program has so far, `evaluate.py`
the evaluator, `lanes.py` what programs are run on and leave, `machines.py` what runs them.
"""
