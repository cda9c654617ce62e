"""`python -m nebula`."""

from nebula.cli import run

run()
