"""The command line `mnemoir`: each command parses its options, calls a route and prints the answer.

Data goes to standard output, notes and errors to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage,
3 no such memory, run or discussion. Commands import their modules when they run, so that `--help` is fast.
"""

from mnemoir.cli.commands import main

__all__ = ["main"]
