"""What a tree of messages is, in the plainest way: every rule looks at everything."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

Said = tuple[str, str]  # role and text


def meant(said: Said) -> Said:
    """What it says, whoever thought what on the way."""
    role, text = said
    return role, re.sub("<think>.*?</think>", "", text).strip() if role == "assistant" else text.strip()


@dataclass
class Node:
    parent: int  # 0 at the beginning
    said: Said
    at: float  # its time, in seconds, which is never before its parent's


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

    def append(self, ids: Sequence[int], parent: int, said: Sequence[Said], now: float) -> None:
        for one, words in zip(ids, said, strict=True):
            at = max(now, self.nodes[parent].at if parent else now)
            self.nodes[one] = Node(parent, words, at)
            parent = self.head = one

    def let_in(self, new: int, said: Said, at: float) -> None:
        """On the thread, behind all that is not younger."""
        before = [one for one in self.thread if self.nodes[one].at <= at]
        after = [one for one in self.thread if self.nodes[one].at > at]
        self.nodes[new] = Node(before[-1] if before else 0, said, at)
        if after:
            self.nodes[after[0]].parent = new
        else:
            self.head = new

    def answer(self, new: int, question: int, said: Said, at: float, followers: Collection[int]) -> None:
        """Between a question and what was put behind it while its answer was under way."""
        for one in followers:
            if self.nodes[one].parent == question:
                self.nodes[one].parent = new
        self.nodes[new] = Node(question, said, at)
        if self.head == question:
            self.head = new

    def place(self, history: Sequence[Said]) -> tuple[list[int], int]:
        """The nodes of its first messages, and the node behind which the others belong."""
        words = [meant(one) for one in history]
        roles = [role for role, _ in words]
        found = self._best(self._from_the_beginning(words))
        past = self._past_what_came_late(words)
        found = past if len(past) > len(found) else found
        if "assistant" not in roles:
            others = [one for one in self.thread if self.nodes[one].said[0] == "user" and one not in found]
            if not found or (len(found) == 1 and others):
                return self._at_the_head(words)
            return found, found[-1]
        if set(roles[: len(found)]) <= {"assistant"} and "assistant" in roles[len(found) :]:
            found = found + self._within(words[len(found) :], found)
        return found, found[-1] if found else 0

    def _from_the_beginning(self, words: Sequence[Said]) -> Iterator[list[int]]:
        for one in self.nodes:
            way = self.way(one)
            if self.words(way) == words[: len(way)]:
                yield way

    def _past_what_came_late(self, words: Sequence[Said]) -> list[int]:
        """Along the thread, past nodes that were put in front of an older one."""
        rest, found = self.thread, list[int]()
        for said in words:
            while rest and meant(self.nodes[rest[0]].said) != said and rest[1:] and rest[1] < rest[0]:
                rest = rest[1:]
            if not rest or meant(self.nodes[rest[0]].said) != said:
                break
            found.append(rest[0])
            rest = rest[1:]
        return found

    def _best(self, ways: Iterator[list[int]]) -> list[int]:
        """The longest; of several that on the thread, else that to the newest."""
        return max(ways, key=lambda way: (len(way), way[-1] in self.thread, way[-1]), default=[])

    def _within(self, words: Sequence[Said], greeting: Sequence[int]) -> list[int]:
        """Where the thread says the first of them for longest, at the latest; then along any branch."""
        if self.thread[: len(greeting)] != greeting:
            return []
        thread = self.thread[len(greeting) :]
        pieces = [thread[start:stop] for start, stop in combinations(range(len(thread) + 1), 2)]
        fitting = [piece for piece in pieces if self.words(piece) == words[: len(piece)]]
        if not fitting:
            return []
        piece = max(fitting, key=lambda piece: (len(piece), thread.index(piece[0])))
        start = self.thread.index(piece[0])
        ways = (self.way(one)[start:] for one in self.nodes)
        longer = [way for way in ways if way[: len(piece)] == piece and self.words(way) == words[: len(way)]]
        return max(longer, key=lambda way: (len(way), way[-1]))

    def _at_the_head(self, words: Sequence[Said]) -> tuple[list[int], int]:
        ends = [self.thread[start:] for start in range(len(self.thread) + 1)]
        return next(end for end in ends if self.words(end) == words[: len(end)]), self.head
