"""`python -m bench [NAME ...]`: runs the named benchmarks in order, by default all.

`bench/figures.json` has figures and the commit they are of; `--against bench/figures.json` fails where one got worse.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path

from bench import figures

NAMES = (
    "recall",
    "memories",
    "facts",
    "extraction",
    "jobs",
    "conversations",
    "discussions",
    "chat",
    "access",
    "personal_data",
    "workflows",
    "encryption",
    "start",
    "ui",
    "memories_page",
)


def main() -> int:
    """Run the named benchmarks in order; the exit code: 1 for a figure that got worse, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure recall and speed, as tables.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; without one, all")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="fail where a figure is a tenth worse than in it"
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures of this run, with the commit")
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="a checkout whose chats are measured, too")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in NAMES]:
        parser.error(f"unknown: {', '.join(unknown)}. There are: {', '.join(NAMES)}.")
    figures.beside = given.beside and given.beside.resolve()
    for name in given.names or NAMES:
        import_module(f"bench.{name}").run()
    if given.save is not None:
        figures.save(given.save)
    worse = [] if given.against is None else figures.worse_than(given.against)
    for sentence in worse:
        print(f"worse: {sentence}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
