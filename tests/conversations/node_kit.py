"""What the tests of node memory share: a model that counts, a store that counts and fails, and writers at work."""

import multiprocessing
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from mnemoir.conversations.nodes.memory import NodeParts, NodeTokenBufferMemory
from mnemoir.core.conversations import Message
from mnemoir.ports.objects import ObjectEntry, ObjectNotFound
from mnemoir.storage.locks.file import FileLock
from mnemoir.storage.objects.local import LocalObjects

KEY = "node_memory/app/talk/node.json"


class WordsModel:
    """A token is a word, or a part that is no text."""

    def get_llm_num_tokens(self, messages: Sequence[Message]) -> int:
        return sum(max(1, len(message.text.split())) for message in messages)


class PlainStore:
    """A store in memory without versions, as other makers have them; it remembers what it was asked."""

    def __init__(self, objects: dict[str, bytes] | None = None) -> None:
        self.objects = dict(objects or {})
        self.asked: list[str] = []
        self.failing: dict[str, Exception] = {}

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if what in self.failing:
            raise self.failing[what]

    def save(self, key: str, content: bytes) -> None:
        self._ask("save")
        self.objects[key] = content

    def load_once(self, key: str) -> bytes:
        self._ask("load_once")
        if key not in self.objects:
            raise ObjectNotFound(key)
        return self.objects[key]

    def exists(self, key: str) -> bool:
        self._ask("exists")
        return key in self.objects

    def delete(self, key: str) -> None:
        self._ask("delete")
        self.objects.pop(key, None)

    def scan(self, prefix: str) -> Iterator[ObjectEntry]:
        raise NotImplementedError

    def modified_at(self, key: str) -> datetime | None:
        raise NotImplementedError

    @property
    def copies(self) -> list[bytes]:
        """The damaged bytes that were kept."""
        return [content for key, content in self.objects.items() if ".corrupt-" in key]


def memory(store: Any, node: str = "node", **parts: Any) -> NodeTokenBufferMemory:
    return NodeTokenBufferMemory("app", "talk", node, WordsModel(), parts=NodeParts(objects=store, **parts))


def say(memory: NodeTokenBufferMemory, turn: str, question: str, answer: str, parent: str | None = None) -> None:
    memory.add_messages(turn, parent, question, [], answer, [])


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages]


def shared_memory(root: Path, *, is_locked: bool = True) -> NodeTokenBufferMemory:
    """A memory on a directory that processes share."""
    lock = FileLock(root / "locks") if is_locked else None
    return memory(LocalObjects(root / "objects"), lock=lock)


def flush_turns(own: NodeTokenBufferMemory, worker: int, turns: int) -> None:
    """The work of one writer: as many turns, each flushed by itself, all by one instance."""
    for number in range(turns):
        say(own, f"{worker}-{number}", f"question {worker} {number}", f"answer {worker} {number}")
        own.flush()


def in_processes(root: Path, workers: int, turns: int, *, is_locked: bool) -> list[int | None]:
    """Run that many writers at once; their exit codes."""
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=flush_turns, args=(shared_memory(root, is_locked=is_locked), worker, turns))
        for worker in range(workers)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    return [writer.exitcode for writer in writers]
