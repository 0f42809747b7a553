"""What people say when something is worth keeping: one file a language, joined here."""

import re
from collections.abc import Iterable
from itertools import chain

from mnemoir.conversations.importance_cues.chinese import CHINESE
from mnemoir.conversations.importance_cues.english import ENGLISH
from mnemoir.conversations.importance_cues.german import GERMAN

_SPOKEN = (ENGLISH, GERMAN)  # written with spaces, so that words have borders
_ALL = (*_SPOKEN, CHINESE)


def _any(phrases: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{phrase})" for phrase in phrases), re.IGNORECASE)


def _nothing_but(words: Iterable[str], characters: Iterable[str]) -> re.Pattern[str]:
    """A whole text of such words. The groups are atomic: each place is read once, whatever the text is."""
    return re.compile(rf"[\W_]*+(?:(?>\b(?:{'|'.join(words)})\b|{'|'.join(characters)})[\W_]*+)++\Z", re.IGNORECASE)


REMEMBER = _any(chain.from_iterable(cues.remember for cues in _ALL))
DECISION = _any(chain.from_iterable(cues.decision for cues in _ALL))
FACT = _any(chain.from_iterable(cues.fact for cues in _ALL))
CORRECTION = _any(chain.from_iterable(cues.correction for cues in _ALL))
OFFER = _any(chain.from_iterable(cues.offer for cues in _ALL))
SMALL_TALK = _nothing_but(chain.from_iterable(cues.small_talk for cues in _SPOKEN), CHINESE.small_talk)
