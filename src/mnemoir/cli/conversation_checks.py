"""The check of `doctor` for the files of conversations."""

import asyncio
from pathlib import Path

from mnemoir.app.catalogue import SESSIONS_FILE
from mnemoir.app.tree import folder_of_conversations
from mnemoir.cli.finding import Finding, joined
from mnemoir.cli.output import counted
from mnemoir.settings import Settings
from mnemoir.storage.conversations.inspection import inspect_conversations


async def check_conversations(settings: Settings) -> Finding:
    """Check the integrity of the files of conversations."""
    root = folder_of_conversations(settings)
    users, problems = await asyncio.to_thread(_looked_at, root)
    if problems:
        to_do = "Put a backup in the place of each file, or take it away; see docs/conversations.md."
        return Finding(check="conversations", state="fail", found=joined(problems), to_do=to_do)
    found = f"{root}: of {counted(users, 'user')}, whole" if users else "none yet"
    return Finding(check="conversations", state="ok", found=found)


def _looked_at(root: Path) -> tuple[int, list[str]]:
    """The number of users with conversations, and the problems of their files."""
    folders = sorted(folder for folder in root.glob("*/*") if folder.is_dir())
    problems = [problem for folder in folders for problem in inspect_conversations(folder)]
    return sum((folder / SESSIONS_FILE).exists() for folder in folders), problems
