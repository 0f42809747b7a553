"""Which keys a store takes: what a local directory and every cloud understand alike."""

from mnemoir.core.errors import InvalidRequest

_LONGEST_STEP_BYTES = 240  # file systems stop at 255, and a writer needs a longer name for a moment
_TEMPORARY = ".tmp"  # the ending of what a writer has not finished


def steps_of(key: str) -> list[str]:
    """The steps of a key. Raises InvalidRequest for one that could leave its store, or that not every store takes."""
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
    """Whether a file of a directory is what a writer left behind, and so no object."""
    return name.endswith(_TEMPORARY)
