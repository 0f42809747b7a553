"""`python -m bench [NAME ...]`: runs the named benchmarks in order, by default all."""

import sys
from importlib import import_module

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
)


def main() -> int:
    """Run the named benchmarks in order; the exit code, 2 for an unknown name."""
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
