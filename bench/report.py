"""Plain-text tables, and the statistics that they show."""

import statistics
from collections.abc import Sequence


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows below a title, with aligned columns."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    print(f"\n{title}")
    for number, row in enumerate(cells):
        first, *rest = row
        print("  ".join([first.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(rest, widths[1:], strict=True))]))
        if number == 0:
            print("  ".join("-" * width for width in widths))


def percentile(values: Sequence[float], part: float) -> float:
    """The percentile: the value that a share `part` (0 to 1) of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def median(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


def ms(seconds: float) -> str:
    """Seconds as milliseconds with two digits."""
    return f"{seconds * 1e3:.2f} ms"
