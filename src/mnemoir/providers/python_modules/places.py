"""Which files may run as modules: those below the allowed directories that not everyone can write to."""

import stat
from collections.abc import Sequence
from pathlib import Path

from mnemoir.core.errors import SettingsError

_MOST_SHOWN = 200  # characters of a path that goes into a message; it may come from a variable


class ModulePlaces:
    """`roots` are the allowed directories; `base` is the public root, to which a relative path belongs."""

    def __init__(self, roots: Sequence[Path], base: Path) -> None:
        self._roots = [_resolved(root) for root in roots]
        self._base = _resolved(base)

    @property
    def install_root(self) -> Path:
        """The folder around a public root of that name, from which modules say `Public.modules`; else the root."""
        return self._base.parent if self._base.name.lower() == "public" else self._base

    @property
    def import_roots(self) -> Sequence[Path]:
        """Where a module's own imports are looked up, behind all installed packages.

        Not where everyone may write: there, anyone could leave a package that some import would take.
        """
        roots = dict.fromkeys((self.install_root, self._base))
        return tuple(root for root in roots if not root.stat().st_mode & stat.S_IWOTH)

    def find(self, text: str) -> Path:
        """The file meant by a node's path, with all symlinks followed. Raises SettingsError unless it may run."""
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
        """The files a path may stand for, best first."""
        if not text.strip() or "\0" in text:
            raise _refusal(text, "this is no path", "Give the node a `module_path`.")
        try:
            path = Path(text.strip()).expanduser()
            folders = (self._base, self.install_root)
            return [(folder / path).resolve() for folder in folders]  # an absolute path stays what it is
        except RuntimeError as exc:  # a home of nobody, or a circle of symlinks
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
