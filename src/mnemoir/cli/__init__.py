"""The command `mnemoir`: parse, call, print.

Data goes to standard output, notes and errors to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage,
3 no such memory, run or discussion. Each command imports what it needs when it runs, so that `--help` is quick.
"""

from mnemoir.cli.commands import main

__all__ = ["main"]
