"""The one place that holds the version: read by the build, the command line and the records' tests."""

__version__ = "0.11.0"
