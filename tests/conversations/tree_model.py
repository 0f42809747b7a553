"""What a tree of messages is, in the plainest way: every rule looks at everything."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Said = tuple[str, str]  # role and text


def meant(said: Said) -> Said:
    """What it says, whoever thought what on the way."""
    role, text = said
    return role, re.sub("<think>.*?</think>", "", text).strip() if role == "assistant" else text.strip()


@dataclass
class Node:
    parent: int  # 0 at the beginning
    said: Said
    at: int  # its time, which is never before its parent's


@dataclass
class Tree:
    """One session. Nodes stand under the ids that the store gave them."""

    nodes: dict[int, Node] = field(default_factory=dict)
    head: int = 0
    mark: int = 0

    def way(self, node: int) -> list[int]:
        """From the beginning to a node."""
        found: list[int] = []
        while node:
            found.insert(0, node)
            node = self.nodes[node].parent
        return found

    @property
    def thread(self) -> list[int]:
        return self.way(self.head)

    @property
    def begins_after(self) -> int:
        """The node of the thread that the mark is, or hangs on; 0 for none."""
        return max((one for one in self.way(self.mark) if one in self.thread), key=self.thread.index, default=0)

    def words(self, ids: Sequence[int]) -> list[Said]:
        return [meant(self.nodes[one].said) for one in ids]

    def append(self, ids: Sequence[int], parent: int, said: Sequence[Said], now: int) -> None:
        for one, words in zip(ids, said, strict=True):
            at = max(now, self.nodes[parent].at if parent else now)
            self.nodes[one] = Node(parent, words, at)
            parent = self.head = one

    def let_in(self, new: int, said: Said, at: int) -> None:
        """On the thread, behind all that is not younger."""
        before = [one for one in self.thread if self.nodes[one].at <= at]
        after = [one for one in self.thread if self.nodes[one].at > at]
        self.nodes[new] = Node(before[-1] if before else 0, said, at)
        if after:
            self.nodes[after[0]].parent = new
        else:
            self.head = new

    def place(self, history: Sequence[Said]) -> tuple[list[int], int]:
        """The nodes of its first messages, and the node behind which the others belong."""
        words = [meant(one) for one in history]
        roles = [role for role, _ in words]
        found = self._best(self._from_the_beginning(words))
        if "assistant" not in roles:
            others = [one for one in self.thread if self.nodes[one].said[0] == "user" and one not in found]
            if not found or (len(found) == 1 and others):
                return self._at_the_head(words)
            return found, found[-1]
        if set(roles[: len(found)]) <= {"assistant"} and "assistant" in roles[len(found) :]:
            found = found + self._within(words[len(found) :])
        return found, found[-1] if found else 0

    def _from_the_beginning(self, words: Sequence[Said]) -> Iterator[list[int]]:
        for one in self.nodes:
            way = self.way(one)
            if self.words(way) == words[: len(way)]:
                yield way

    def _best(self, ways: Iterator[list[int]]) -> list[int]:
        """The longest; of several that on the thread, else that to the newest."""
        return max(ways, key=lambda way: (len(way), way[-1] in self.thread, way[-1]), default=[])

    def _within(self, words: Sequence[Said]) -> list[int]:
        thread, pieces = self.thread, []
        for start in range(len(thread)):
            for stop in range(start + 1, len(thread) + 1):
                if self.words(thread[start:stop]) == words[: stop - start]:
                    pieces.append((stop - start, start))
        if not pieces:
            return []
        length, start = max(pieces)
        fixed = thread[start : start + length]
        further = [self.way(one) for one in self.nodes if self.way(one)[: start + length] == thread[: start + length]]
        ways = (way[start:] for way in further if self.words(way[start:]) == words[: len(way) - start])
        return max(ways, key=lambda way: (len(way), way[-1]), default=fixed)

    def _at_the_head(self, words: Sequence[Said]) -> tuple[list[int], int]:
        thread = self.thread
        fitting = [
            n for n in range(min(len(words), len(thread)) + 1) if self.words(thread[len(thread) - n :]) == words[:n]
        ]
        return thread[len(thread) - max(fitting) :], self.head
