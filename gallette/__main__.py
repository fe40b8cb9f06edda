"""`python -m gallette` is the `gallette` command."""

from gallette.cli import main

raise SystemExit(main())
