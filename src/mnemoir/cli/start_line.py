"""The command line options of WilmerAI, so that its start scripts also start Mnemoir.

Options for folders and addresses have the same meaning here. The limit on requests becomes a limit on the concurrent
calls to each endpoint, where calls wait and none is refused. Other options have no effect, and the start warns.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

_EVERYWHERE = "0.0.0.0"
_LISTENS = "--listen"

PublicDirectory = Annotated[
    str | None, typer.Option("--PublicDirectory", help="The same as --config-dir: the folder around Configs.")
]
DiscussionDirectory = Annotated[
    str | None,
    typer.Option("--DiscussionDirectory", help="Folder for discussions; wins over that of a user's file."),
]
LockDirectory = Annotated[
    str | None,
    typer.Option("--UserLevelSqlLiteDirectory", help="Folder for workflow locks; wins over that of a user's file."),
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", help="Most calls to one endpoint at a time; 0 sets no limit.", min=0)
]
ConcurrencyTimeout = Annotated[
    float | None, typer.Option("--concurrency-timeout", help="No effect: a waiting call waits for its turn.")
]
ConcurrencyLevel = Annotated[
    str | None, typer.Option("--concurrency-level", help="No effect: the limit is that of each endpoint.")
]


class ServeCommand(TyperCommand):
    """The command class that accepts `--listen` without an address, which means all addresses."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # a context of Click's, or of Typer's copy of it
        """Insert the address after a `--listen` without one."""
        return super().parse_args(ctx, list(_with_addresses(args)))


@dataclass(frozen=True, slots=True, kw_only=True)
class StartLine:
    """The values of these options; None for those not given."""

    public_directory: Path | None = None
    discussion_directory: Path | None = None
    lock_directory: Path | None = None
    concurrency: int | None = None
    concurrency_timeout_s: float | None = None
    concurrency_level: str | None = None

    def settings(self) -> dict[str, object]:
        """The corresponding settings by key; None for options not given."""
        return {
            "workflows.discussion_directory": self.discussion_directory,
            "workflows.lock_directory": self.lock_directory,
            "workflows.endpoint_calls_at_once": self.concurrency,
        }

    def without_effect(self, config_directory: Path | None) -> Iterator[str]:
        """A sentence for each option without effect. `config_directory` is the tree of --config-dir."""
        if self.concurrency_timeout_s is not None:
            yield "--concurrency-timeout has no effect: a call waits until it is its turn, or its client leaves."
        if self.concurrency_level is not None:
            yield "--concurrency-level has no effect: --concurrency limits the calls to each endpoint."
        if self._has_two_trees(config_directory):
            yield (
                f"--PublicDirectory has no effect beside {config_directory}: the tree is kept around its "
                "Configs. Name other folders with --DiscussionDirectory and --UserLevelSqlLiteDirectory."
            )

    def _has_two_trees(self, config_directory: Path | None) -> bool:
        if self.public_directory is None or config_directory is None:
            return False
        tree = config_directory.absolute()
        return self.public_directory.absolute() not in (tree, tree.parent)


def folder(named: str | None) -> Path | None:
    """The folder of an option; None for a blank value, which launch scripts pass."""
    return Path(named.strip()) if named is not None and named.strip() else None


def _with_addresses(args: list[str]) -> Iterator[str]:
    for index, argument in enumerate(args):
        yield argument
        follows = args[index + 1 : index + 2]
        if argument == _LISTENS and (not follows or follows[0].startswith("-")):
            yield _EVERYWHERE
