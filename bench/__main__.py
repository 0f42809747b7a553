"""`python -m bench [NAME ...]`: what is named, in order, or all there is."""

import sys
from importlib import import_module

NAMES = ("recall", "memories", "jobs", "conversations", "discussions", "chat", "workflows", "start", "ui")


def main() -> int:
    """Run what was named, in order; 2 for a name that is not there."""
    chosen = sys.argv[1:] or NAMES
    unknown = [name for name in chosen if name not in NAMES]
    if unknown:
        print(f"unknown: {', '.join(unknown)}. There are: {', '.join(NAMES)}.", file=sys.stderr)
        return 2
    for name in chosen:
        import_module(f"bench.{name}").run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
