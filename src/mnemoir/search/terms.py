"""Terms of texts, and the posting lists of a word index over them.

Words are folded and stemmed by SQLite's own FTS5 tokenizers (porter over unicode61), so that what counts as a word is
what every SQLite user knows. Scripts written without spaces have no words to find: each run of them gives its
overlapping trigrams, as FTS5's trigram tokenizer does, and its bigrams and characters besides, because most words of
Chinese have two characters. Any text is data: no query grammar interprets quotes, NEAR( or column names.

A term is kept as a 64-bit hash: eight bytes whatever its length, comparable without decoding. Two words of one user
sharing a hash is a one in 10^10 event, and costs one wrong word match.

Postings hold the rows and counts of each term in three flat arrays that never change. New rows become a small
`Postings` after the large one; whenever the last two are of similar size they are merged. So an index of n rows is
at most log2(n) pieces, a row is copied log2(n) times in its life, and a search right after a single add pays for
that one row.
"""

import functools
import hashlib
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

Terms = NDArray[np.uint64]
TERMS_VERSION = "terms/1"  # to be raised with any change of the terms of a text

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

# The same of German, French, Spanish, Italian, Portuguese, Dutch, Polish, Turkish, and of some others that have few
# here: they tell languages apart too. "ist" and "est" are as common as "is", so one list serves all.
_OTHER_STOPPED = """
" der das den dem des ein eine einen einem einer eines ich du er sie wir ihr mich mir dich dir ihn ihm uns euch sich
mein meine meinen meiner dein deine sein seine ihre ihren unser ist sind bin bist war waren hat hast habe haben wird
werden wurde kann kannst soll muss und oder aber nicht kein keine wie wo wer wann warum welche welcher welches
welchen auf aus bei mit nach von zu zum zur im am vom beim als auch noch nur schon sehr immer jeden jede bitte le la
les un une de je tu il elle nous vous ils elles mon ma mes ton ta tes son sa ses notre votre leur est sont suis es
sommes avons ont ai as et ou mais pas ne que qui quoi quel quelle quels quelles où dans sur avec pour sans chez aux
au ce cet cette ces très plus aussi toujours chaque comme el los las una unos unas yo tú él ella nosotros ellos mi
mis tus su sus soy eres somos está están estoy tiene tengo hay y o pero no qué quien quién cual cuál cuando cuándo
donde dónde como cómo por para con sin en del al muy también siempre todos todas cada lo gli i uno io lui lei noi
voi loro mio mia miei tuo tua suo sua sono sei siamo è ho hai ha hanno e non che chi cosa quale quali quando dove
come perché di da per tra fra della dello delle degli dei nel nella sul sulla molto anche sempre ogni os um uma eu
ele ela nós eles meu minha seu é são sou estou tem tenho não mas quem qual onde porque em na nos nas do dos com sem
muito também het een ik jij hij zij ze wij we mijn jouw zijn haar ons onze is ben bent heeft heb hebben wordt worden
kan moet of maar niet geen wat waar wanneer waarom hoe welke op uit bij met naar van voor om te aan ook nog altijd
elke w z od po za się nie to jest są jestem mam jak gdzie kto kiedy dlaczego czy ale lub jego jej mój moja dla przez
przy bardzo zawsze każdy bir ve bu şu sen biz siz onlar benim senin onun için ile değil var yok mı mu mü nerede kim
nasıl çok daha her gibi ama jag är och inte det som på av att för med har hon han jeg og ikke af at hun minä olen on
ei ja hän että se já jsem a že s si nem egy az és hogy în și este nu care sunt saya yang dan tidak ini itu dengan
untuk
"""
OTHER_STOP_WORDS = frozenset(_OTHER_STOPPED.split())

# Characters that mostly serve grammar in Chinese and Japanese, alone or side by side.
_STOP_CHARACTERS = frozenset("的了是我你您他她它们這这那在有不也都和与吗嗎呢啊吧么麼个個之就のはがをにでとも")
Slots = NDArray[np.int32]
Counts = NDArray[np.uint16]

MOST_COUNTED = np.iinfo(np.uint16).max


def terms_of(text: str) -> bytes:
    """The words of `text` as little-endian hashes, in order, with repeats; b"" for none."""
    return b"".join(map(_hashed, _compared(text)))


def query_terms(text: str, *, is_english: bool = True) -> Terms:
    """The distinct content words of a query, in order; all its words when it has no other."""
    words = list(_words(text))
    stop_words = STOP_WORDS if is_english else OTHER_STOP_WORDS
    content = [word for raw, word in words if raw not in stop_words and not _STOP_CHARACTERS.issuperset(raw)]
    wanted = dict.fromkeys(content or [word for _, word in words])
    return read_terms(b"".join(_hashed(word) for word in wanted))


def read_terms(stored: bytes) -> Terms:
    """The hashes that `terms_of` encoded, as numbers."""
    return np.frombuffer(stored, dtype="<u8")


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
    return _grouped(terms[at], slots[at], np.minimum(counts, MOST_COUNTED).astype(np.uint16))


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
    return [_concatenated(parts) for parts in found]


def merged_postings(pieces: Sequence[Postings]) -> Postings:
    """Several pieces merged into one; every slot of a piece must precede those of the next."""
    terms = np.concatenate([_each(piece) for piece in pieces])
    slots = np.concatenate([piece.slots for piece in pieces])
    counts = np.concatenate([piece.counts for piece in pieces])
    order = np.argsort(terms, kind="stable")
    return _grouped(terms[order], slots[order], counts[order])


def moved_postings(postings: Postings, to: NDArray[np.int64]) -> Postings:
    """A copy with slots mapped by `to`, which keeps their order; slots mapped below 0 are left out."""
    slots = to[postings.slots]
    stays = slots >= 0
    return _grouped(_each(postings)[stays], slots[stays].astype(np.int32), postings.counts[stays])


def _each(postings: Postings) -> Terms:
    return np.repeat(postings.terms, np.diff(postings.starts))


def _grouped(terms: Terms, slots: Slots, counts: Counts) -> Postings:
    """Postings of entries that are sorted by term, then slot."""
    first = np.ones(len(terms), bool)
    first[1:] = terms[1:] != terms[:-1]
    at = np.flatnonzero(first)
    return Postings(terms[at], np.append(at, len(terms)), slots, counts)


def _concatenated(parts: Sequence[tuple[Slots, Counts]]) -> tuple[Slots, Counts]:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.zeros(0, np.int32), np.zeros(0, np.uint16)
    return np.concatenate([slots for slots, _ in parts]), np.concatenate([counts for _, counts in parts])
