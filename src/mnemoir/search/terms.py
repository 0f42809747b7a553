"""Converts text to words and words to numbers: the form in which full text is stored and searched.

Words are folded and stemmed by SQLite's own FTS5 tokenizers (porter over unicode61), so that what counts as a word is
what every SQLite user knows. Scripts written without spaces have no words to find: each run of them gives its
overlapping trigrams, as FTS5's trigram tokenizer does, and its bigrams and characters besides, because most words of
Chinese have two characters.

A term is kept as a 64-bit hash: eight bytes whatever its length, comparable without decoding. Two words of one user
sharing a hash is a one in 10^10 event, and costs one wrong word match.

Any text is data: no query grammar interprets quotes, NEAR( or column names.
"""

import functools
import hashlib
import re
import threading
from collections.abc import Iterable, Iterator
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

Terms = NDArray[np.uint64]

# Thai and Lao, Burmese, Khmer, Japanese kana, Han; Hangul is written with spaces and goes by words.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17dc-\u17ff\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+)"
)

# Stop words; the short ones at the end are the remains of n't, 'll, 've after an apostrophe.
_STOPPED = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves this that these those who whom whose which what
a an the some any each every such own same other another both few more most all no nor not only
am is are was were be been being do does did doing done have has had having
can could shall should will would may might must ought cannot
and or but if then than so because as until while although though
of at by for with about against between into through during before after above below to from up down in out on off
over under within without upon
again further once here there when where why how too very just also ever
d ll m re s t ve don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn ain
let please tell
"""
STOP_WORDS = frozenset(_STOPPED.split())

# Characters that mostly serve grammar in Chinese and Japanese, alone or side by side.
_STOP_CHARACTERS = frozenset("的了是我你您他她它们這这那在有不也都和与吗嗎呢啊吧么麼个個之就のはがをにでとも")


def terms_of(text: str) -> bytes:
    """The words of `text` as little-endian hashes, in order, with repeats; b"" for none."""
    return b"".join(map(_hashed, _compared(text)))


def query_terms(text: str) -> Terms:
    """The distinct content words of a query, in order; all its words when it has no other."""
    words = list(_words(text))
    content = [word for raw, word in words if not _is_stop(raw)]
    wanted = dict.fromkeys(content or [word for _, word in words])
    return read_terms(b"".join(_hashed(word) for word in wanted))


def read_terms(stored: bytes) -> Terms:
    """The hashes that `terms_of` encoded, as numbers."""
    return np.frombuffer(stored, dtype="<u8")


def _is_stop(raw: str) -> bool:
    return raw in STOP_WORDS or _STOP_CHARACTERS.issuperset(raw)


def _words(text: str) -> Iterator[tuple[str, str]]:
    """Yield each word as (lower case as written, as compared), in order."""
    if text.isascii():
        yield from _spaced(text)
        return
    for number, part in enumerate(_UNSPACED.split(text)):
        yield from ((gram, gram) for gram in _grams(part)) if number % 2 else _spaced(part)


def _spaced(text: str) -> Iterator[tuple[str, str]]:
    utf8 = text.encode("utf-8", "replace")
    tokens = cast("list[tuple[int, int, str]]", _tokenizers.porter(utf8, apsw.FTS5_TOKENIZE_DOCUMENT, None))
    for start, end, word in tokens:
        yield utf8[start:end].decode("utf-8", "replace").lower(), word


def _compared(text: str) -> Iterable[str]:
    """The words in their compared form only; the written form takes most of the time."""
    if text.isascii():
        return _folded(text)
    parts = enumerate(_UNSPACED.split(text))
    return (word for number, part in parts for word in (_grams(part) if number % 2 else _folded(part)))


def _folded(text: str) -> list[str]:
    utf8, reason = text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT
    return cast("list[str]", _tokenizers.porter(utf8, reason, None, include_offsets=False, include_colocated=False))


def _grams(run: str) -> Iterator[str]:
    for length in (1, 2, 3):
        for start in range(len(run) - length + 1):
            yield run[start : start + length]


@functools.lru_cache(maxsize=16384)
def _hashed(word: str) -> bytes:
    return hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()


class _Tokenizers(threading.local):
    """A connection per thread: apsw refuses concurrent use by two threads."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:")
        self.porter = self._connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])


_tokenizers = _Tokenizers()
