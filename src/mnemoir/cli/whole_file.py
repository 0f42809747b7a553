"""Reading of a file that is sent in one request."""

from pathlib import Path

from mnemoir.core.errors import InvalidRequest, TooLarge

_MOST_BYTES = 256 * 1024 * 1024  # more than any server takes at once


def read_file(file: Path) -> bytes:
    """The file's bytes. Raises InvalidRequest when it cannot be read, TooLarge above 256 MiB."""
    try:
        with file.open("rb") as source:
            data = source.read(_MOST_BYTES + 1)
    except OSError as exc:
        raise InvalidRequest(f"{file} cannot be read: {exc.strerror or exc}.") from exc
    if len(data) > _MOST_BYTES:
        raise TooLarge(f"{file} has more than {_MOST_BYTES // 1024**2} MiB. Import it in parts.")
    return data
