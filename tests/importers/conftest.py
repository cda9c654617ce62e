"""The command fixture of the doors."""

from tests.cli.conftest import nebula

__all__ = ["nebula"]
