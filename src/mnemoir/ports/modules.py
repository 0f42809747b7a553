"""Python modules of a workflow: a file of the user's whose `Invoke` is called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleCall:
    """One call of `Invoke(*args, **kwargs)`; all arguments are texts.

    `config_root` and `user` are what the module may ask the compatibility package for; `timeout_s` limits the call.
    """

    path: str  # as the node names it: absolute, `~`, or relative to the public root
    args: Sequence[str]
    kwargs: Mapping[str, str]
    config_root: Path
    user: str
    timeout_s: float


class ModuleRunner(Protocol):
    """Runs modules from the directories that the settings allow."""

    async def call(self, call: ModuleCall) -> Any:
        """What `Invoke` returned: JSON, or its text for anything else.

        A failure inside the module comes back as a text beginning `Error`. Raises SettingsError for a module that may
        not be run (outside the allowed directories, writable by everyone, switched off) or is not there or has no
        `Invoke`; ModuleFailed when it took too long, too much memory, or ended its process.
        """

    async def aclose(self) -> None:
        """End what still runs."""
