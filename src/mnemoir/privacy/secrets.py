"""Secrets in texts, found without a model: keys, tokens and passwords.

Keys and tokens are found by shape, other values behind words that announce a secret. A plain sentence about passwords
or keys is no secret, so an announced value must also look like one. What memories and their sources are kept free of
are secrets and card numbers.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from mnemoir.privacy.numbers import Span, card_spans
from mnemoir.privacy.spellings import plain

_SHAPES = re.compile(
    r"""
      -----BEGIN\ [A-Z ]*PRIVATE\ KEY
    | \b(?:sk|pk|rk)[-_](?=[-_A-Za-z]{0,60}(?:\d|[A-Za-z]{16}))(?:live|test|proj|ant|or)?[-_A-Za-z0-9]{16,}  # OpenAI
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,}      # GitHub
    | \bglpat-[A-Za-z0-9_-]{16,}                                         # GitLab
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b                                      # AWS
    | \bAIza[A-Za-z0-9_-]{30,}                                           # Google
    | \bxox[a-z]-[A-Za-z0-9-]{10,}                                       # Slack
    | \b(?:hf|npm)_[A-Za-z0-9]{20,} | \bpypi-AgE[A-Za-z0-9_-]{17,}
    | \beyJ[\w-]{8,}\.(?:eyJ[\w-]{4,}|[\w-]{8,}\.)[\w.-]*               # JSON web token
    | \b[a-z][a-z0-9+.-]{0,20}://(?P<login>[^\s/:@]+:[^\s/@]+)@         # a password inside an address
    | (?i:authorization)["']?\s*[:=]\s*["']?(?i:bearer|basic|token)\s+(?P<header>[\w+/=.~-]{12,})
    """,
    re.VERBOSE,
)
_ANNOUNCED = re.compile(
    r"""(?:(?<![^\W_])(?P<word>pass(?:word|code|phrase|wort)|passwd|pwd|passwort|kennwort|contraseña|mot\sde\spasse|mdp
            |clave\sde\sacceso|wachtwoord|palavra-passe|senha|secret
            |(?:api|access|secret|private|auth|client|license|recovery|encryption)[\s_-]?(?:key|token|code|secret)s?)
          |\b(?P<alone>pin(?:\s(?:code|number))?|cvv|cvc|token|key))\b
        (?:(?<![^\w-]key)["'`](?=\s?[:=])|[^.!?\n:="`]{0,60}?)
        (?:\s*(?P<sign>[:=])(?!//)\s*|\s(?:is|was|ist|war|lautet|est|c['’]est|es|era|è|é|luidt|changed\sto|set\sto)\s+)
        (?:now\s+)?["'`“]?(?P<value>[^\s"'`”]+)""",
    re.VERBOSE | re.IGNORECASE,
)
_PIECE, _OVERLAP = 4_000, 200  # characters; patterns that look back take quadratic time over a longer text
_MOST_READ = 100_000  # characters of a turn
_ENDS = ".,;!?)"  # of a sentence, behind a value
_REST = re.compile(r"[\w+/=.-]*")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY")
_END_OF_KEY = re.compile(r"-----END [A-Z ]{0,40}PRIVATE KEY-----")
_KEY_LINES = re.compile(r"[\w+/=\s-]*")  # of one whose end is missing
_NUMERIC = frozenset({"pin", "pin code", "pin number", "cvv", "cvc"})
_PASS = re.compile(r"pass|pwd|mdp|kennwort|contraseña|clave|wachtwoord|senha", re.IGNORECASE)
# what stands where a secret might: a placeholder, a mask, an address, a name or a call in a program
_STAND_IN = re.compile(
    r"\$?[<{\[(].*|\W+|\w+://.*|[$@:%&*]*[^\W\d]+(?:(?:\.|->|::)[^\W\d]+)*(?:[\[(].*)?[;,)\]}>]*", re.DOTALL
)
_PLAIN_WORDS = re.compile(r"(?:\d{1,3}|[^\W\d_]+)(?:[-'’/][^\W\d_]+)+")  # case-sensitive, 8-character
_KEY_LIKE = re.compile(r"[A-Za-z0-9+/_=.-]{12,}")


def holds_secret(text: str) -> bool:
    """True when `text` contains a key, a card number or a password."""
    text = plain(text)
    return next(_secret_spans(text), None) is not None or next(card_spans(text), None) is not None


def without_secret(text: str) -> str:
    """`text` as the source of a memory; a note in its place when it holds a secret or cannot be read."""
    if len(text) > _MOST_READ:
        return "(left out: too long to look through for secrets)"
    return "(left out: it holds a secret)" if any(holds_secret(piece) for _, piece in _pieces(text)) else text


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
    for match in _SHAPES.finditer(text):
        if match["header"] is None or _looks_key(match["header"], by_case=True):
            yield match.span("login" if match["login"] else "header" if match["header"] else 0)
    for match in _ANNOUNCED.finditer(text):
        start, end = match.span("value")
        is_quoted = text[start - 1] in "\"'`" and text[end : end + 1] == text[start - 1]
        value = match["value"] if is_quoted else match["value"].rstrip(_ENDS)
        if _looks_secret((match["word"] or match["alone"]).lower(), value, by_sign=bool(match["sign"])):
            yield start, start + len(value)


def _looks_secret(word: str, value: str, *, by_sign: bool) -> bool:
    """True when the value after `word` is a secret rather than the next word of a sentence or a program."""
    if " ".join(word.split()) in _NUMERIC:
        return value.isdigit() and 3 <= len(value) <= 8
    if _PASS.search(word):
        return (
            len(value) >= 4
            and _is_mixed(value)
            and not _is_stand_in(value)
            and (by_sign or not _PLAIN_WORDS.fullmatch(value))
        )
    return _looks_key(value)


def _is_stand_in(value: str) -> bool:
    """True for a reference to a secret; a mere word with a capital inside may be the secret itself."""
    return bool(_STAND_IN.fullmatch(value)) and not value.isalpha()


def _looks_key(value: str, *, by_case: bool = False) -> bool:
    """True for a long value that is too irregular for a name; `by_case`: small and capital letters count, too."""
    is_irregular = any(map(str.isdigit, value)) or (by_case and _has_capital_inside(value))
    return bool(_KEY_LIKE.fullmatch(value)) and is_irregular and _is_mixed(value) and _entropy(value) >= 3.0


def _is_mixed(value: str) -> bool:
    """True for letters with digits or marks, digits alone, or capitals inside: no plain word has these."""
    core = value.strip("-–—")
    kinds = [char.isalpha() for char in core]
    return not all(kinds) or _has_capital_inside(core)


def _has_capital_inside(value: str) -> bool:
    return any(a.islower() and b.isupper() for a, b in pairwise(value))


def _entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
