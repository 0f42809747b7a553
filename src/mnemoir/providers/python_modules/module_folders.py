"""Lookup of the files that may run as modules: below the allowed directories, and not writable by everyone."""

import stat
from collections.abc import Sequence
from pathlib import Path

from mnemoir.core.errors import SettingsError

_MOST_SHOWN = 200  # characters of a path shown in a message; a path may come from a variable


class ModuleFolders:
    """The allowed directories (`roots`), and `base`, the public root against which a relative path is resolved."""

    def __init__(self, roots: Sequence[Path], base: Path) -> None:
        self._roots = [_resolved(root) for root in roots]
        self._base = _resolved(base)

    @property
    def install_root(self) -> Path:
        """The parent of a base named `Public`, so that modules can import `Public.modules`; else the base."""
        return self._base.parent if self._base.name.lower() == "public" else self._base

    @property
    def import_roots(self) -> Sequence[Path]:
        """Folders of a module's own imports, searched after all installed packages.

        Folders that everyone may write to are left out: any user could place a package there that an import finds.
        """
        roots = dict.fromkeys((self.install_root, self._base))
        return tuple(root for root in roots if not root.stat().st_mode & stat.S_IWOTH)

    def find(self, text: str) -> Path:
        """The file of a node's path, with all symlinks resolved. Raises SettingsError when it may not run."""
        try:
            return self._found(text)
        except OSError as exc:
            raise _refusal(text, f"the path cannot be followed ({exc.strerror})", "Correct `module_path`.") from exc

    def _found(self, text: str) -> Path:
        inside = [(path, root) for path in self._meant(text) if (root := self._root_of(path)) is not None]
        if not inside:
            allowed = ", ".join(str(root) for root in self._roots) or "none"
            raise _refusal(
                text,
                f"it is outside the directories that modules may come from ({allowed})",
                "Move it there, or allow its directory in the section `workflows` of the settings.",
            )
        for path, root in inside:
            if path.exists():
                _check(text, path, root)
                return path
        raise _refusal(
            text, f"there is no file {str(inside[0][0])[:_MOST_SHOWN]}", "Correct `module_path` of the node."
        )

    def _meant(self, text: str) -> list[Path]:
        """The files that a path may denote, the preferred one first."""
        if not text.strip() or "\0" in text:
            raise _refusal(text, "it is not a valid path", "Give the node a `module_path`.")
        try:
            path = Path(text.strip()).expanduser()
            folders = (self._base, self.install_root)
            return [(folder / path).resolve() for folder in folders]  # an absolute path stays what it is
        except RuntimeError as exc:  # an unknown home directory, or a circle of symlinks
            raise _refusal(text, f"the path cannot be followed ({exc})", "Correct `module_path`.") from exc

    def _root_of(self, path: Path) -> Path | None:
        return next((root for root in self._roots if path.is_relative_to(root)), None)


def _resolved(directory: Path) -> Path:
    return directory.expanduser().resolve()


def _check(text: str, path: Path, root: Path) -> None:
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) or path.suffix != ".py":
        raise _refusal(text, "it is not a Python file", "Name a file that ends in .py.")
    for place in (path, *path.parents):
        if place.stat().st_mode & stat.S_IWOTH:
            raise _refusal(text, f"everyone may write to {place}", f"Run: chmod o-w {place}")
        if place == root:
            return


def _refusal(text: str, cause: str, step: str) -> SettingsError:
    return SettingsError(f"Python module {text[:_MOST_SHOWN]!r} cannot run: {cause}. {step}")
