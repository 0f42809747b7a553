"""The rules for object keys: only keys that a local directory and every cloud store accept."""

from mnemoir.core.errors import InvalidRequest

_LONGEST_STEP_BYTES = 240  # file systems allow 255, and a temporary file has a longer name
_TEMPORARY = ".tmp"  # the suffix of unfinished files


def steps_of(key: str) -> list[str]:
    """The parts of a key between slashes. Raises InvalidRequest for a key that some store does not accept."""
    steps = key.split("/")
    if not all(_is_allowed(step) for step in steps):
        raise InvalidRequest(
            f"Object key {key!r} is not allowed: every step between slashes needs a name of at most "
            f"{_LONGEST_STEP_BYTES} bytes that is not '.' or '..', holds no control character or backslash and does "
            f"not end in {_TEMPORARY!r}."
        )
    return steps


def _is_allowed(step: str) -> bool:
    return (
        step not in ("", ".", "..")
        and step.isprintable()
        and "\\" not in step
        and not step.endswith(_TEMPORARY)
        and len(step.encode()) <= _LONGEST_STEP_BYTES
    )


def is_unfinished(name: str) -> bool:
    """True for a temporary file that a writer left behind; it is not an object."""
    return name.endswith(_TEMPORARY)
