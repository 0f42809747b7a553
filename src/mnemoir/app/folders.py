"""The folders that the settings name: for conversations, and for files that workflows may read and write."""

from pathlib import Path

from mnemoir.settings import Settings
from mnemoir.storage.files.user_files import FileUserFiles
from mnemoir.workflows.checking import Outside
from mnemoir.workflows.config.tree import ConfigTree

CONVERSATIONS = "conversations"
_MODULE_FOLDERS = ("modules", "workflow_python_scripts")  # where trees keep their modules


def folder_of_conversations(settings: Settings) -> Path:
    """The root folder of conversations: one folder for each project, and in it one for each user."""
    return settings.memory.storage_path or settings.storage.data_dir / CONVERSATIONS


def outside(settings: Settings, tree: ConfigTree | None) -> Outside:
    """The files outside `tree` that its check takes into account."""
    files = user_files(settings, tree)
    return Outside(user_files=files, discussion_directory=settings.workflows.discussion_directory)


def user_files(settings: Settings, tree: ConfigTree | None) -> FileUserFiles:
    """The public folder of a tree, without files that model output must not change: configuration, modules, data."""
    chosen = settings.workflows
    if tree is None:
        return FileUserFiles(chosen.file_directories, settings.storage.data_dir)
    roots = [tree.public, *chosen.file_directories]
    vectors = settings.memory.vector_store.persist_directory
    stores = [settings.storage.data_dir, settings.storage.workspace_root, folder_of_conversations(settings)]
    stores += [vectors] if vectors is not None else []
    closed: list[Path] = [
        tree.root,
        *chosen.module_directories,
        *(tree.public / name for name in _MODULE_FOLDERS),
        *(store for store in stores if any(root.resolve() in store.resolve().parents for root in roots)),
    ]
    return FileUserFiles(roots, tree.public, closed=closed)
