"""A file that one request carries."""

from pathlib import Path

from mnemoir.core.errors import InvalidRequest, TooLarge

_MOST_BYTES = 256 * 1024 * 1024  # more than any server takes at once


def read_file(file: Path) -> bytes:
    """What is in it. Raises InvalidRequest, and TooLarge for what no server would take."""
    try:
        with file.open("rb") as source:
            data = source.read(_MOST_BYTES + 1)
    except OSError as exc:
        raise InvalidRequest(f"{file} cannot be read: {exc.strerror or exc}.") from exc
    if len(data) > _MOST_BYTES:
        raise TooLarge(f"{file} has more than {_MOST_BYTES // 1024**2} MiB. Import it in parts.")
    return data
