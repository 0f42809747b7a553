"""The language of a question or a stored text: a cheap test for English, the script, then a statistical detector.

Most texts are English, which the main embedding model knows. So a test of letters and function words alone answers
"surely English", and neither the detector nor the multilingual model is loaded for such a text. A script that one
served language has to itself needs no detector either. For Latin script py3langid decides among the served languages
and their usual neighbours: right for all of 90 sentences of nine languages, and for 15 of 16 sentences of languages
that are not served. With all of its 140 languages it is right for three short sentences of four.

Languages are ISO 639-1 codes, or UNSERVED, or UNKNOWN.
"""

import asyncio
import re
import threading
from collections import OrderedDict
from typing import Any

import structlog

from mnemoir.core import first_use
from mnemoir.core.scope import Scope
from mnemoir.ports.languages import KeptLanguages
from mnemoir.search import stop_words

ENGLISH = "en"
UNSERVED = "und"  # a language that the multilingual model does not know
UNKNOWN = ""  # the detector cannot be loaded

_LATIN = ("de", "en", "es", "fr", "it", "nl", "pl", "pt", "tr")  # served languages in Latin script
_NEIGHBOURS = "sv da no nn fi cs hu ro sk hr sl et lv lt ca vi id ms eu sq is af sw tl"
_FEWEST_WORDS = 3  # in shorter texts neither function words nor the detector are reliable
_MOST_WITHOUT_FUNCTION_WORDS = 6
_MOST_READ = 2000  # characters: more tell nothing new
_SURE_BEYOND_ASCII = 5  # one letter of so many may be beyond ASCII in English: names
_MOST_SCOPES = 4096
_WORD = first_use.pattern(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_LETTER = first_use.pattern(r"[^\W\d_]")
_BEYOND_ASCII = first_use.pattern(r"[^\W\d_a-zA-Z]")
_ELISION = first_use.pattern(r"\b(?:[cdjlmnst]|qu)'", re.IGNORECASE)  # French and Italian: "j'ai", "l'aviron"
_NOT_LATIN = first_use.pattern(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
_SCRIPTS = (  # the first that occurs; Japanese has Han besides kana
    ("ja", first_use.pattern("[\u3040-\u30ff\uff66-\uff9f]")),
    ("ko", first_use.pattern("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")),
    ("zh", first_use.pattern("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")),
    ("th", first_use.pattern("[\u0e00-\u0e7f]")),
    (
        UNSERVED,
        first_use.pattern("[іїєґўђјљњћџѓќѕپچژگٹڈڑںے]", re.IGNORECASE),
    ),  # letters of neighbours of the next two
    ("ru", first_use.pattern("[\u0400-\u04ff]")),
    ("ar", first_use.pattern("[\u0600-\u06ff]")),
)
_log = structlog.get_logger(__name__)

# Words of one language that are not also common words of English, so "die", "in" and "me" are missing.
_ENGLISH = """
the a i my mine me you your yours he his him she her hers it its we us our they them their this that these those is
are was were be been being am isn't aren't wasn't do does did don't doesn't didn't has have had having hasn't
haven't can can't could should would will won't might must cannot and or but if than because while although of at by
for with about from up down to in on into over under between after before during through without again there here
when where why how who which what whose any each every some all both few more most no not only own same so too very
just now also ever never always often once still yet as an off out other another such until since already lives
works likes loves hates enjoys drinks eats plays owns wants needs goes takes makes speaks reads studies prefers uses
has got goes keeps runs says knows thinks feels plans married allergic years old please let's let tell give show
write make get go want need like love know think
"""
_OTHER_VERBS = """
heute morgen gern gerne wohnt wohne arbeitet arbeite trinkt isst heisst heiße spricht mag liebt danke habite
travaille aime fait parle mange bois vive vivo trabaja trabajo gusta habla llama casada casado abita lavora lavoro
piace parla mangia beve mora moro trabalha gosta woont woon werkt werk drinkt eet spreekt houdt graag mieszka
mieszkam pracuje lubi codziennie oturuyor yaşıyor çalışıyor seviyor bor arbetar tycker asuu
"""
_ENGLISH_WORDS = frozenset(_ENGLISH.split())
_OTHER_WORDS = (
    (stop_words.OTHERS | frozenset(_OTHER_VERBS.split()))
    - _ENGLISH_WORDS
    - {"die", "war", "hat", "hay", "care", "co", "par", "ti"}
)


def is_surely_english(text: str) -> bool:
    """True when letters and function words leave no doubt, and for a text without letters. Loads nothing.

    A few words of ASCII without a function word of any language count as English: "Plays chess", "Vegetarian?".
    English questions and longer sentences have function words.
    """
    text = text[:_MOST_READ].replace("’", "'")
    words = [word.lower() for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH_WORDS for word in words)
    other = sum(word in _OTHER_WORDS for word in words) + len(_ELISION.findall(text))
    foreign = 0 if text.isascii() else len(_BEYOND_ASCII.findall(text))
    if foreign and foreign * _SURE_BEYOND_ASCII > len(_LETTER.findall(text)):
        return False
    if english or other:
        return english > other
    return not foreign and len(words) < (_FEWEST_WORDS if "?" in text else _MOST_WITHOUT_FUNCTION_WORDS)


class LanguagesOfProcess:
    """The last language of each user, of which those of 4096 users are remembered. Thread-safe."""

    def __init__(self) -> None:
        self._last: OrderedDict[Scope, str] = OrderedDict()
        self._lock = threading.Lock()

    async def last_of(self, scope: Scope) -> str:
        """See the port."""
        return self._last.get(scope.owner, UNKNOWN)

    async def note(self, scope: Scope, language: str) -> None:
        """See the port."""
        with self._lock:
            self._last[scope.owner] = language
            self._last.move_to_end(scope.owner)
            if len(self._last) > _MOST_SCOPES:
                self._last.popitem(last=False)


class Languages:
    """Detects languages; a text too short to tell is in the last one of its user that `kept` has. Thread-safe."""

    def __init__(self, kept: KeptLanguages | None = None) -> None:
        """Without `kept` they are remembered in this process."""
        self._kept = kept or LanguagesOfProcess()

    async def of(self, scope: Scope, text: str) -> str:
        """The language of a question or turn of the user. May raise StorageUnavailable."""
        if _is_short(text) and not _NOT_LATIN.search(text[:_MOST_READ]) and (last := await self._kept.last_of(scope)):
            return last
        found = _cheap_language(text)
        return await asyncio.to_thread(_language_of, text) if found is None else found

    async def note(self, scope: Scope, text: str, language: str) -> None:
        """Remember the language of a text of the user that is long enough. May raise StorageUnavailable."""
        if language and not _is_short(text):
            await self._kept.note(scope, language)


def _cheap_language(text: str) -> str | None:
    """The language as far as it shows without the detector; None when it does not."""
    if is_surely_english(text):
        return ENGLISH
    if not _NOT_LATIN.search(text[:_MOST_READ]):
        return None
    return next((language for language, letters in _SCRIPTS if letters.search(text[:_MOST_READ])), UNSERVED)


def _is_short(text: str) -> bool:
    return len(_WORD.findall(text[:_MOST_READ])) < _FEWEST_WORDS


def _language_of(text: str) -> str:
    detector = _detector.get()
    if detector is None:
        return UNKNOWN
    language = str(detector.classify(text[:_MOST_READ].encode("utf-8", "replace"))[0])
    return language if language in _LATIN else UNSERVED


class _Detector:
    """py3langid, loaded once for the whole process at its first use: it takes half a second and 45 MiB."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: Any = None  # py3langid has no types
        self._has_failed = False

    def get(self) -> Any:
        """The detector; None when it cannot be loaded, which is logged once."""
        with self._lock:
            if self._loaded is None and not self._has_failed:
                try:
                    self._loaded = _load()
                except Exception as exc:  # noqa: BLE001 - a missing or damaged file of a foreign package
                    self._has_failed = True
                    _log.warning("languages cannot be detected", error=str(exc))
            return self._loaded


def _load() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    whole = LanguageIdentifier.from_model_file(MODEL_FILE)
    whole.set_languages([*_LATIN, *_NEIGHBOURS.split()])
    # Another one without the table of all languages, which the first keeps.
    return LanguageIdentifier(
        whole.nb_ptc, whole.nb_pc, whole.nb_classes, whole.tk_nextmove, whole.tk_output, tk_row=whole.tk_row
    )


_detector = _Detector()
