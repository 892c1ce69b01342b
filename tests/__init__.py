"""The tests; they mirror the folders of the package, and share what is in `tests.tools`."""
