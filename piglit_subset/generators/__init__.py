"""Generated families of tests.

A family is a module with `tests()`, which yields texts: a test's path in the bundled suite on the
first line, its purpose on the second, then the shader_test. The module has the rows and the oracle;
the text around the values is in `templates/`, one file of Jinja macros per family. Modules may
import only what `generated.py` lists as `SOURCES`.
"""

from gallette.piglit_subset.generators.common import Generated, all_tests

__all__ = ["Generated", "all_tests"]
