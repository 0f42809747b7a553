"""Terms of texts, and the posting lists of a word index over them.

Words are folded and stemmed by SQLite's own FTS5 tokenizers (porter over unicode61), so that what counts as a word is
what every SQLite user knows. Scripts written without spaces have no words to find: each run of them gives its
overlapping trigrams, as FTS5's trigram tokenizer does, and its bigrams and characters besides, because most words of
Chinese have two characters. Any text is data: no query grammar interprets quotes, NEAR( or column names.

Words are stemmed as English ones in every language, so that a name is the same term in all of them. A text that is
not surely English has other forms of its words besides: stems by its possible languages, pairs of letters in Korean.
Only questions in those languages look for them, so they change no rank of an English question. A text that asks
something has a term that tells how much of it does.

A term is kept as a 64-bit hash: eight bytes whatever its length, comparable without decoding. Two words of one user
sharing a hash is a one in 10^10 event, and costs one wrong word match.

Postings hold the rows and counts of each term in three flat arrays that never change. New rows become a small
`Postings` after the large one; whenever the last two are of similar size they are merged. So an index of n rows is
at most log2(n) pieces, a row is copied log2(n) times in its life, and a search right after a single add pays for
that one row.
"""

import functools
import hashlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

from mnemoir.core import first_use
from mnemoir.core.sentences import asking_share
from mnemoir.search.forms import forms, forms_in, has_forms
from mnemoir.search.language import ENGLISH, is_surely_english
from mnemoir.search.stop_words import BY_LANGUAGE, OTHERS

Terms = NDArray[np.uint64]
TERMS_VERSION = "terms/4"  # to be raised with any change of the terms or names of a text

# Thai and Lao, Burmese, Khmer, Japanese kana, Han; Hangul is written with spaces and goes by words.
_UNSPACED = first_use.pattern(
    "([\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17dc-\u17ff\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+)"
)

_WORD = first_use.pattern(_UNSPACED.pattern.removesuffix("+)") + r")|[^\W\d_]+|\d+")
MOST_WORDS = 8000

# Characters that mostly serve grammar in Chinese and Japanese, alone or side by side.
_STOP_CHARACTERS = frozenset("的了是我你您他她它们這这那在有不也都和与吗嗎呢啊吧么麼个個之就のはがをにでとも")
Slots = NDArray[np.int32]
Counts = NDArray[np.uint16]

MOST_COUNTED = np.iinfo(np.uint16).max
_STAND_FOR_ONE = 3  # terms of a query for one word
_OTHER = "\0"  # before a form, as no word has it
_FORMS_END = b"forms"  # the end of stored terms with others, behind their number; of words alone, one in 10^12
_ASKS = _OTHER + "?"
_ASKING_STEPS = 10
_MOST_ASKED = 4000  # characters that are looked at for questions


def beginning_of(text: str) -> str:
    """The part of a memory's text that its terms and vectors are made of: its first 8,000 words.

    A character of a script without spaces counts as a word.
    """
    if len(text) <= MOST_WORDS:
        return text
    last = next(islice(_WORD.finditer(text), MOST_WORDS - 1, None), None)
    return text if last is None else text[: last.end()]


def terms_of(text: str) -> bytes:
    """The words of `text` as little-endian hashes, in order, with repeats; b"" for none."""
    return b"".join(map(_hash_of_word, _compared_words(text)))


def terms_and_forms_of(text: str) -> bytes:
    """The result of `terms_and_mark_of`, and of a text that is not surely English the other forms of its words."""
    terms = terms_of(text)
    if not terms or is_surely_english(text):
        return _with_others(terms, _asking_mark(text))
    others = b"".join(_other_forms(raw, word) for raw, word in _words(text))
    return _with_others(terms, others + _asking_mark(text))


def terms_and_mark_of(text: str) -> bytes:
    """The result of `terms_of`, and of a text that asks the term for how much of it does."""
    return _with_others(terms_of(text), _asking_mark(text))


def query_terms(text: str, language: str = ENGLISH) -> Terms:
    """The distinct content words of a query, in order; all its words when it has no other.

    In a language with other forms, each word is a row of the terms that stand for it.
    """
    words = list(_words(text))
    stop_words = BY_LANGUAGE.get(language, OTHERS)
    content = [one for one in words if one[0] not in stop_words and not _STOP_CHARACTERS.issuperset(one[0])]
    wanted: dict[str, str] = {}
    for raw, word in content or words:
        wanted.setdefault(word, raw)
    if not has_forms(language):
        return read_terms(b"".join(map(_hash_of_word, wanted)))
    rows = [row for word, raw in wanted.items() for row in _rows_of(word, forms_in(language, raw))]
    return read_terms(b"".join(_hash_of_word(form) for row in rows for form in row)).reshape(
        len(rows), _STAND_FOR_ONE
    )


def read_terms(stored: bytes) -> Terms:
    """The hashes that `terms_of` encoded, as numbers; others behind them."""
    return np.frombuffer(stored[:-8] if stored.endswith(_FORMS_END) else stored, dtype="<u8")


def own_terms(stored: bytes) -> int:
    """The number of words, without other terms."""
    if not stored.endswith(_FORMS_END):
        return len(stored) // 8
    return len(stored) // 8 - 1 - int.from_bytes(stored[-8:-5], "little")


def asking_terms() -> Terms:
    """The terms for how much of a text asks something: the n-th, from 1, for n tenths of it."""
    return read_terms(b"".join(_hash_of_word(f"{_ASKS}{step}") for step in range(1, _ASKING_STEPS + 1)))


def _with_others(terms: bytes, others: bytes) -> bytes:
    return terms + others + (len(others) // 8).to_bytes(3, "little") + _FORMS_END if terms and others else terms


def _asking_mark(text: str) -> bytes:
    step = round(asking_share(text[:_MOST_ASKED]) * _ASKING_STEPS)
    return _hash_of_word(f"{_ASKS}{step}") if step else b""


def _rows_of(word: str, forms: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """The terms that stand for a word: its English stem and its first form. Each further form counts as a word."""
    first = forms[0] if forms else word
    yield word, first, _OTHER + first
    for form in forms[1:]:
        yield form, form, _OTHER + form


@functools.lru_cache(maxsize=16384)
def _other_forms(raw: str, word: str) -> bytes:
    return b"".join(_hash_of_word(_OTHER + form) for form in forms(raw) if form != word)


def _words(text: str) -> Iterator[tuple[str, str]]:
    """Yield each word as (lower case as written, as compared), in order."""
    if text.isascii():
        yield from _words_with_stems(text)
        return
    for number, part in enumerate(_UNSPACED.split(text)):
        yield from ((gram, gram) for gram in _grams(part)) if number % 2 else _words_with_stems(part)


def _words_with_stems(text: str) -> Iterator[tuple[str, str]]:
    utf8 = text.encode("utf-8", "replace")
    tokens = cast("list[tuple[int, int, str]]", _tokenizers.porter(utf8, apsw.FTS5_TOKENIZE_DOCUMENT, None))
    for start, end, word in tokens:
        yield utf8[start:end].decode("utf-8", "replace").lower(), word


def _compared_words(text: str) -> Iterable[str]:
    """The words in their compared form only; the written form takes most of the time."""
    if text.isascii():
        return _porter_stems(text)
    parts = enumerate(_UNSPACED.split(text))
    return (word for number, part in parts for word in (_grams(part) if number % 2 else _porter_stems(part)))


def _porter_stems(text: str) -> list[str]:
    utf8, reason = text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT
    return cast("list[str]", _tokenizers.porter(utf8, reason, None, include_offsets=False, include_colocated=False))


def _grams(run: str) -> Iterator[str]:
    for length in (1, 2, 3):
        for start in range(len(run) - length + 1):
            yield run[start : start + length]


@functools.lru_cache(maxsize=16384)
def _hash_of_word(word: str) -> bytes:
    return hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()


class _Tokenizers(threading.local):
    """A connection per thread: apsw refuses concurrent use by two threads."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:")
        self.porter = self._connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])


_tokenizers = _Tokenizers()


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """`terms` are distinct and ascending; the slots of `terms[i]` are `slots[starts[i]:starts[i + 1]]`, ascending."""

    terms: Terms
    starts: NDArray[np.int64]
    slots: Slots
    counts: Counts

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.terms.nbytes + self.starts.nbytes + self.slots.nbytes + self.counts.nbytes


EMPTY = Postings(np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint16))


def post(texts: Sequence[Terms], first_slot: int) -> Postings:
    """The postings of consecutive rows, the first of which has number `first_slot`."""
    lengths = [len(text) for text in texts]
    terms = np.concatenate(texts) if texts else np.zeros(0, np.uint64)
    slots = np.repeat(np.arange(first_slot, first_slot + len(texts), dtype=np.int32), lengths)
    order = np.argsort(terms, kind="stable")  # stable: slots stay ascending within a term
    terms, slots = terms[order], slots[order]
    first = np.ones(len(terms), bool)
    first[1:] = (terms[1:] != terms[:-1]) | (slots[1:] != slots[:-1])
    at = np.flatnonzero(first)
    counts = np.diff(at, append=len(terms))
    return postings_of(terms[at], slots[at], np.minimum(counts, MOST_COUNTED).astype(np.uint16))


def append_postings(pieces: Sequence[Postings], newest: Postings) -> list[Postings]:
    """`pieces` followed by `newest`, with pieces of similar size merged."""
    out = [*pieces, newest]
    while len(out) > 1 and len(out[-2].slots) < 2 * len(out[-1].slots):
        last = out.pop()
        out[-1] = merged_postings([out[-1], last])
    return out


def find_postings(pieces: Sequence[Postings], terms: Terms) -> list[tuple[Slots, Counts]]:
    """Slots and counts for each of `terms`, in their order; empty arrays for a term without rows."""
    found: list[list[tuple[Slots, Counts]]] = [[] for _ in terms]
    for piece in pieces:
        at = np.searchsorted(piece.terms, terms)
        at[at == len(piece.terms)] = 0
        hits = np.flatnonzero(piece.terms[at] == terms) if len(piece.terms) else ()
        for number in hits:
            start, end = piece.starts[at[number]], piece.starts[at[number] + 1]
            found[number].append((piece.slots[start:end], piece.counts[start:end]))
    return [_concatenation_of(parts) for parts in found]


def merged_postings(pieces: Sequence[Postings]) -> Postings:
    """Several pieces merged into one; every slot of a piece must precede those of the next."""
    terms = np.concatenate([_each(piece) for piece in pieces])
    slots = np.concatenate([piece.slots for piece in pieces])
    counts = np.concatenate([piece.counts for piece in pieces])
    order = np.argsort(terms, kind="stable")
    return postings_of(terms[order], slots[order], counts[order])


def moved_postings(postings: Postings, to: NDArray[np.int64]) -> Postings:
    """A copy with slots mapped by `to`, which keeps their order; slots mapped below 0 are left out."""
    slots = to[postings.slots]
    stays = slots >= 0
    return postings_of(_each(postings)[stays], slots[stays].astype(np.int32), postings.counts[stays])


def _each(postings: Postings) -> Terms:
    return np.repeat(postings.terms, np.diff(postings.starts))


def postings_of(terms: Terms, slots: Slots, counts: Counts) -> Postings:
    """Postings of entries that are sorted by term, then slot."""
    first = np.ones(len(terms), bool)
    first[1:] = terms[1:] != terms[:-1]
    at = np.flatnonzero(first)
    return Postings(terms[at], np.append(at, len(terms)), slots, counts)


def _concatenation_of(parts: Sequence[tuple[Slots, Counts]]) -> tuple[Slots, Counts]:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.zeros(0, np.int32), np.zeros(0, np.uint16)
    return np.concatenate([slots for slots, _ in parts]), np.concatenate([counts for _, counts in parts])
