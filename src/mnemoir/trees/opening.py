"""Workflows, their files in the config tree, and the traces of their runs."""

from dataclasses import dataclass

from mnemoir.core.data_directory import RUNS_FILE
from mnemoir.ports.run_store import RunStore
from mnemoir.settings import Settings
from mnemoir.storage.databases import Database
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sql.run_store import NoRuns, SqlRunStore
from mnemoir.trees.served import Served, outside
from mnemoir.trees.workflow_edits import WorkflowEdits
from mnemoir.trees.workflow_files import WorkflowFiles
from mnemoir.workflows.dispatch import Workflows
from mnemoir.workflows.trials import Trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """The workflows of the served tree; without a tree the built-in one."""

    served: Served | None
    workflows: Workflows
    trials: Trials | None  # None without a config tree
    files: WorkflowFiles
    edits: WorkflowEdits
    runs: RunStore


def open_trees(
    settings: Settings, served: Served | None, workflows: Workflows, trials: Trials | None, runs: RunStore
) -> Trees:
    """Add the files of the tree to its workflows; none is read yet."""
    beside = outside(settings, served.tree if served else None)
    files = WorkflowFiles(served, beside)
    return Trees(
        served=served,
        workflows=workflows,
        trials=trials,
        files=files,
        edits=WorkflowEdits(files, served, beside, settings.storage.data_dir, is_on=settings.workflows.edit),
        runs=runs,
    )


def open_runs(settings: Settings, databases: Database, cells: Cells | None = None) -> RunStore:
    """The store of run traces, which `cells` encrypt, or one that records none."""
    return _open_store(settings, databases, cells) if settings.runs.enabled else NoRuns()


def open_kept_runs(settings: Settings, databases: Database) -> RunStore | None:
    """The traces that were kept before recording was switched off; None while it is on, and without any."""
    if settings.runs.enabled or not databases.has_runs(settings.storage.data_dir / RUNS_FILE):
        return None
    return _open_store(settings, databases, None)


def _open_store(settings: Settings, databases: Database, cells: Cells | None) -> SqlRunStore:
    path, chosen = settings.storage.data_dir / RUNS_FILE, settings.runs
    file = databases.open_runs(path, cells)
    return SqlRunStore(file, path, most_runs=chosen.most, keep_days=chosen.keep_days)
