"""Generated long discussions for benchmarks, with natural word frequencies: messages, records and summaries."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mnemoir.core.discussions import Block, ChunkSource, NewRecord, SourceMessage
from mnemoir.core.messages import Message, text_message

VOCABULARY = 20_000
_SYLLABLES = ("ka", "lo", "mi", "ren", "sta", "ve", "dor", "ul", "pin", "ge", "tro", "as", "fel", "ny", "bo", "qui")
_COMMON = np.arange(1, VOCABULARY + 1, dtype=np.float64)
_SHARES = (1 / _COMMON) / (1 / _COMMON).sum()  # Zipf: the second word is half as frequent as the first


def word(number: int) -> str:
    """The word of that frequency rank, 0 the most frequent; all words differ."""
    places = len(_SYLLABLES)
    return "".join(_SYLLABLES[number // places**place % places] for place in range(4))


_VERY_COMMON = frozenset(map(word, range(100)))


class Speaker:
    """A generator of texts with natural word frequencies, deterministic for a seed."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._words = [word(number) for number in range(VOCABULARY)]

    def words(self, count: int) -> list[str]:
        """`count` words, frequent ones more often."""
        return [self._words[number] for number in self._random.choice(VOCABULARY, size=count, p=_SHARES)]

    def texts(self, count: int, length: int) -> list[str]:
        """Texts of `length` words."""
        said = self.words(count * length)
        return [" ".join(said[start : start + length]) for start in range(0, len(said), length)]

    def pick(self, count: int) -> int:
        """A number below `count`."""
        return int(self._random.integers(count))


def records(count: int) -> list[NewRecord]:
    """Records with a summary of forty words."""
    speaker = Speaker(1)
    summaries, titles = speaker.texts(count, 40), speaker.texts(count, 4)
    rest = speaker.texts(count * 4, 2)
    return [
        NewRecord(
            metadata={
                "title": titles[number],
                "summary": summaries[number],
                "entities": rest[4 * number : 4 * number + 2],
                "key_phrases": rest[4 * number + 2 : 4 * number + 4],
            }
        )
        for number in range(count)
    ]


def keywords(count: int, made: Sequence[NewRecord], *, all_common: bool = False) -> list[list[str]]:
    """Search queries of three to eight words or phrases each, all of which occur.

    Of twenty, twelve are rare words, five are pairs of adjacent words with a rare one, and three are very common
    words. With `all_common` nearly all are common, as in "of the", the unusual worst case.
    """
    speaker = Speaker(2)
    chosen = [[_keyword(speaker, made, all_common) for _ in range(3 + speaker.pick(6))] for _ in range(count)]
    return [list(dict.fromkeys(phrases)) for phrases in chosen]


def _keyword(speaker: Speaker, made: Sequence[NewRecord], all_common: bool) -> str:
    kind = speaker.pick(20)
    while True:
        said = str(made[speaker.pick(len(made))].metadata["summary"]).split()
        start = speaker.pick(len(said) - 1)
        found = said[start : start + (2 if kind < 5 else 1)]
        has_rare = any(one not in _VERY_COMMON for one in found)
        if all_common or has_rare == (kind < 17):
            return " ".join(found)


def source(number: int) -> ChunkSource:
    """Five original messages of a chunk."""
    said = [f"message {message} of chunk {number}" for message in range(5)]
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in said]
    return ChunkSource(
        hash=hashes[-1],
        digests=[digest[:16] for digest in hashes],
        messages=[SourceMessage(role="user", text=text) for text in said],
    )


def ledger_lines(count: int) -> list[dict[str, object]]:
    """Chunk summaries of a hundred words, as lines of a ledger."""
    texts, lines = Speaker(3).texts(count, 100), []
    for number, text in enumerate(texts):
        made = source(number)
        messages = [{"role": said.role, "content": said.text} for said in made.messages]
        kept = {"text_block": text, "hash": made.hash, "id": f"chunk-{number}", "number": number + 1}
        lines.append(
            kept | {"created_at": "2026-11-21T10:00:00Z", "messages": list(made.digests), "source": messages}
        )
    return lines


def conversation(count: int) -> list[Message]:
    """Messages of thirty words; every fifth is the same short one."""
    texts = Speaker(4).texts(count, 30)
    said = ["ok" if number % 5 == 4 else text for number, text in enumerate(texts)]
    return [text_message(("user", "assistant")[number % 2], text) for number, text in enumerate(said)]


def blocks(digests: Sequence[str], size: int = 10) -> list[Block]:
    """The chunks of a conversation whose messages have these digests, ten messages each."""
    spans = [digests[start : start + size] for start in range(0, len(digests), size)]
    return [Block(key=f"chunk-{number}", hash=span[-1], digests=span) for number, span in enumerate(spans)]


def edited(messages: Sequence[Message], at: int) -> list[Message]:
    """The same conversation with another text at index `at`."""
    changed = list(messages)
    changed[at] = replace(changed[at], parts=text_message("user", "I meant something else.").parts)
    return changed
