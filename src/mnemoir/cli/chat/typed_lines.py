"""The history of typed lines: a file in the data directory that only its owner can read."""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import FileHistory

HISTORY_FILE = "chat-history"


class TypedLines(FileHistory):
    """The typed lines of earlier chats, newest first. The constructor raises OSError for a file it cannot write."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = folder / HISTORY_FILE
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        os.close(descriptor)
        self._file.chmod(0o600)
        super().__init__(self._file)

    def store_string(self, string: str) -> None:
        """Store a line that is not blank. Write errors are ignored: a full disk must not end a chat."""
        if string.strip():
            with suppress(OSError):
                super().store_string(string)

    def forget(self, texts: Collection[str]) -> None:
        """Delete the lines equal to one of these texts, and all searches, which may contain words of them.

        Raises OSError on failure; the old file then stays unchanged.
        """
        said = {text.strip() for text in texts}
        lines = [line for line in self.load_history_strings() if line.strip() not in said]
        kept = [line for line in lines if not line.lower().startswith("/search")]
        rewritten = self._file.with_name(f"{HISTORY_FILE}.partial")
        rewritten.unlink(missing_ok=True)
        os.close(os.open(rewritten, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        self.filename = rewritten
        try:
            for line in reversed(kept):
                super().store_string(line)
            rewritten.replace(self._file)
        finally:
            self.filename = self._file
            rewritten.unlink(missing_ok=True)
        self._loaded_strings = kept
