"""Secrets in texts, found without a model: keys, tokens and passwords.

Keys and tokens are found by their form, other values by the words that announce a secret (`announced.py`). What
memories and their sources are kept free of are secrets, and numbers of cards and social security.

Scanners of source code were tried and left: of 168 sentences that tell a secret, detect-secrets 1.5.0
finds 2 and classifinder-engine 0.1.2 finds 4. They know the keys of programs, not what people say.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from mnemoir.privacy.announced import announced_spans, announces_secret
from mnemoir.privacy.irregular import is_plainly_words, looks_key
from mnemoir.privacy.numbers import Span, card_spans
from mnemoir.privacy.secret_words import key_forms
from mnemoir.privacy.spellings import plain

_PIECE, _OVERLAP = 4_000, 200  # characters; patterns that look back take quadratic time over a longer text
_MOST_READ = 100_000  # characters of a turn
_SHORTEST_REPEATED = 4
_LONG_RUN = re.compile(r"[\w.-]{14,}")
_MOST_BEFORE = 40  # characters of a key before its long run
_NO_SPACE_BEFORE = re.compile(r"\S{1,40}\Z")
_NO_SPACE = re.compile(r"\S*")
_MARKS = ("://", "PRIVATE KEY", "uthorization", "UTHORIZATION")
_REST = re.compile(r"[\w+/=.-]*")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY")
_END_OF_KEY = re.compile(r"-----END [A-Z ]{0,40}PRIVATE KEY-----")
_KEY_LINES = re.compile(r"[\w+/=\s-]*")  # of one whose end is missing


def holds_secret(text: str) -> bool:
    """True when `text` contains a key, a password, a code that opens something, a card or social security number."""
    text = plain(text)
    return announces_secret(text) or any(next(spans(text), None) is not None for spans in (_key_spans, card_spans))


def without_secret(text: str) -> str:
    """`text` as the source of a memory; a note in its place when it holds a secret or cannot be read."""
    if len(text) > _MOST_READ:
        return "(left out: too long to look through for secrets)"
    return "(left out: it holds a secret)" if any(holds_secret(piece) for _, piece in _pieces(text)) else text


def secrets_in(texts: Iterable[str]) -> frozenset[str]:
    """The secrets of the texts that are no plain words, to be found again in other words. See `repeats_secret`."""
    spans = ((text, span) for text in map(plain, texts) for span in secret_spans(text))
    values = (text[start:end].strip().casefold() for text, (start, end) in spans)
    return frozenset(value for value in values if len(value) >= _SHORTEST_REPEATED and not value.isalpha())


def repeats_secret(text: str, secrets: Collection[str]) -> bool:
    """True when the text has one of these secrets as a word of its own, in whatever words."""
    folded = plain(text).casefold() if secrets else ""
    held = (secret for secret in secrets if secret in folded)
    return any(re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", folded) for secret in held)


def secret_spans(text: str) -> Iterator[Span]:
    """The places of keys, tokens and passwords, in no order; of places that overlap the first counts."""
    yield from _private_keys(text)
    for start, piece in _pieces(text):
        for first, last in _secret_spans(piece):
            end = start + last
            if last == len(piece):  # cut by the end of the piece
                end = _REST.match(text, end).end()  # type: ignore[union-attr]  # it matches everything
            yield start + first, end


def _private_keys(text: str) -> Iterator[Span]:
    """PEM blocks, which may be longer than a piece."""
    done = 0
    for begun in _PRIVATE_KEY.finditer(text):
        if begun.start() >= done:
            ended = _END_OF_KEY.search(text, begun.end()) or _KEY_LINES.match(text, begun.end())
            done = ended.end() if ended else begun.end()
            yield begun.start(), done


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Pieces of the text with their places; each begins before the end of the one before it."""
    return ((at, text[at : at + _PIECE + _OVERLAP]) for at in range(0, len(text), _PIECE))


def _secret_spans(text: str) -> Iterator[Span]:
    yield from _key_spans(text)
    yield from announced_spans(text)


def _key_spans(text: str) -> Iterator[Span]:
    """The places of keys and tokens by their forms, each of which has a long run of signs, or a mark of its own."""
    for start, end in _places_of_keys(text):
        for match in key_forms().finditer(text, start, end):
            if _is_key(match):
                yield match.span("login" if match["login"] else "header" if match["header"] else 0)


def _places_of_keys(text: str) -> Iterator[Span]:
    """Where keys may stand: in all of a text with a mark, else where there is no space around a long run of signs."""
    runs = list(_LONG_RUN.finditer(text))
    if any(mark in text for mark in _MARKS):
        yield 0, len(text)
    elif not all(run[0].isalpha() for run in runs):
        done = 0
        for run in runs:
            if run.start() >= done:
                before = _NO_SPACE_BEFORE.search(text, max(done, run.start() - _MOST_BEFORE), run.start())
                done = _NO_SPACE.match(text, run.end()).end()  # type: ignore[union-attr]  # it matches everything
                yield before.start() if before else run.start(), done


def _is_key(match: re.Match[str]) -> bool:
    """True for a form that is enough by itself, and for irregular signs behind a word or a prefix."""
    if match["header"] is not None:
        return looks_key(match["header"], by_case=True)
    return match["prefixed"] is None or (looks_key(match[0]) and not is_plainly_words(match[0]))
