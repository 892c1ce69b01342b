"""Data files shipped with the package; each file's source is cited where it is read."""
