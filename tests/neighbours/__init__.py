"""What other packages do with environments, done by these packages; `make test-slow` installs them."""
