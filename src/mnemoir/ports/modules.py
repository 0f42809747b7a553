"""Python modules of workflows: files of the user with a function `Invoke` that a node calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleCall:
    """One call of `Invoke(*args, **kwargs)`; all arguments are texts.

    `config_root` and `user` are available to the module through the compatibility package; `timeout_s` limits the
    call, in seconds.
    """

    path: str  # as given by the node: absolute, with `~`, or relative to the public root
    args: Sequence[str]
    kwargs: Mapping[str, str]
    config_root: Path
    user: str
    timeout_s: float


class ModuleRunner(Protocol):
    """Runs modules from the allowed directories of the settings."""

    async def call(self, call: ModuleCall) -> Any:
        """The value `Invoke` returned, as JSON; the text of a value that is not JSON.

        An exception inside the module is returned as a text beginning with `Error`. Raises SettingsError for a module
        that may not run (outside the allowed directories, writable by everyone, switched off), is missing or has no
        `Invoke`; ModuleFailed when it exceeded its time or memory, or its process ended.
        """

    async def aclose(self) -> None:
        """End all running calls."""
