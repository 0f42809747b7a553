"""Benchmarks; each runs next to a plain baseline. Start them with `make bench` or `python -m bench NAME ...`."""
