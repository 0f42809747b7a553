"""Finds personal data in a text: what it is, and where.

All but names and postal addresses is found by rules: shapes, check digits, numbering plans. Names and addresses need
the detector of the settings. Places that overlap are given to the kind that comes first in `KINDS`.
"""

import ipaddress
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from mnemoir.core import first_use
from mnemoir.core.errors import ModuleFailed
from mnemoir.privacy.numbers import Span, card_spans, iban_spans, id_spans
from mnemoir.privacy.secrets import secret_spans
from mnemoir.privacy.spellings import plain_with_places

KINDS = ("SECRET", "EMAIL", "CARD", "IBAN", "NATIONAL_ID", "IP", "PHONE")  # others are the detector's
KIND = first_use.pattern(r"[A-Z]+(?:_[A-Z]+)*")
Detector = Callable[[str], Iterable[tuple[str, int, int]]]
"""Finds names, addresses and what else it knows: kind in capitals, first character, character behind the last."""

_EMAIL = first_use.pattern(
    r"""(?<![\w.+%-])[.+%-]{0,3}(?P<address>\w[\w.%&'+~-]{0,63}
    @(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}(?P<top>xn--[a-z0-9-]{2,59}|[^\W\d_]{2,63}))(?![^\W_]|@|[-.]\w|:[\w/])""",
    re.VERBOSE | re.IGNORECASE,
)
_FILE_ENDINGS = frozenset({"png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "html", "json", "service"})
_IPV4 = first_use.pattern(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)")
_IPV6 = first_use.pattern(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")
_NO_ADDRESS = first_use.pattern(
    r"""(?:\b(?:version|v|ver|release|build|chapter|section|clause|paragraph|article|rule|figure|table|appendix|step|kapitel
    |abschnitt|absatz|punkt|artikel|chapitre|section|cap[ií]tulo|secci[óo]n|apartado|versi[óo]n|capitolo)|§)\W{0,3}$""",
    re.IGNORECASE | re.VERBOSE,
)
_ADDRESS_HINT = first_use.pattern(
    r"""\b(?:ip(?:v4)?|address|adresse|direcci[óo]n|indirizzo|host|server|serveur|servidor|client|router|gateway|ping
    |ssh|dns|proxy|subnet|firewall|login|logged|connect\w*|from(?!\ \d[\d.]*\ to\ ))\b|\bhttps?://(?=\d)""",
    re.IGNORECASE | re.VERBOSE,
)
_SMALL = 32  # four numbers below this may be a version as well
# what may stand within a number, as `phonenumbers` has it; no line break: no number goes on behind one
_SEPARATORS = " \t\u00a0\u00ad\u200b\u2060\u3000()（）.[]［］-‐‑‒–—―−ー－/／~⁓∼～．"
_RUN = first_use.pattern(rf"[+＋(（\[［]{{0,3}}\d[\d{re.escape(_SEPARATORS)}]*")
_LEAST_DIGITS = 6
_LONGEST_RUN = 40  # characters; what is longer is a table or data
_LONGEST_EXTENSION = 24  # characters
_EXTENSION = first_use.pattern(r"[ \t.,;:]{0,4}(?:[x#~;,]|e?xt|anexo|int|доб)", re.IGNORECASE)
_DATE_LIKE = first_use.pattern(
    r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d|(?:19|20)\d\d[-/]\d{3,6}\Z"
)
_ONE_PIECE = first_use.pattern(r"\d+(?:\.\d+)?")  # digits, or a decimal
_SHORTEST_BARE = 9  # digits of a number in one piece that begins with 0
_NO_PHONE = first_use.pattern(r".*\.\.|(?:\d+\.)+\d\.[\d.]+|0\.")  # a version, a range of them, a fraction
_BEFORE_NONE = first_use.pattern(  # a decimal, a year, what else the number is of
    r"""(?:\d[.,]|\b(?:19|20)\d\d[/-]|\b(?:isbn|ean|gtin|upc|sku
    |(?:order|lot|serial|invoice|ticket|tracking|batch|part|item)\ (?:no|nr|number|id)
    |(?:bestell|serien|rechnungs|artikel|auftrags|sendungs|bestelling|factuur|order)-?(?:nummer|nr)
    |num[ée]ro\ de\ (?:commande|facture|lot|série)
    |n[úu]mero\ d[aeo]\ (?:pedido|encomenda|factura|fatura|lote|s[eé]rie)
    |numero\ (?:d['’]ordine|di\ (?:serie|lotto)|della\ fattura))\W{0,3})\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_BEHIND_NONE = first_use.pattern(r":\d|-[^\W\d_]")  # the hour of a time, a part with a letter
_IN_URL = first_use.pattern(r"://\S*\Z")
_LONGEST_URL = 200  # characters of it that are looked through
_PHONE_HINT = first_use.pattern(
    r"""\b(?:phone|tel\w*|t[ée]l\w*|mobil\w*|m[óo]vil|cell\w*|portable|handy\w*|fax|call|ring|dial|text|sms|whatsapp
    |ruf\w*|nummer|number|num[ée]ro|n[úu]mero|appelle\w*|ll[áa]ma\w*|llamar|chiama\w*)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_LETTER = first_use.pattern(r"[^\W\d_]")
_KNOWN_TEXTS = 20_000  # texts whose findings are remembered: a client sends its whole history again each time


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of personal data: its kind, its first character, and the character behind its last."""

    kind: str
    start: int
    end: int


class Rules:
    """The rules for a server. `regions` and `countries` are ISO codes, `detector` is for further kinds.

    Without regions only phone numbers that begin with + are found; without countries no tax and national ids.
    """

    def __init__(
        self, regions: Sequence[str] = (), countries: Sequence[str] = (), detector: Detector | None = None
    ) -> None:
        self._regions = tuple(region.upper() for region in regions)
        self._countries = tuple(countries)
        self._detector = detector
        self._known = lru_cache(_KNOWN_TEXTS)(self._unknown)

    def find(self, text: str) -> Sequence[Finding]:
        """What the text holds, in its order, without overlaps. Blocks. Raises ModuleFailed for a failing detector."""
        return self._known(_Text(text))

    def _unknown(self, text: "_Text") -> Sequence[Finding]:
        found = self._all(text.read())
        text.forget()
        return found

    def _all(self, text: str) -> list[Finding]:
        """In the order of the text; of those that overlap, the first candidate."""
        kept: list[Finding] = []
        for one in self._candidates(text):
            at = bisect(kept, one.start, key=lambda other: other.start)
            if (at == 0 or kept[at - 1].end <= one.start) and (at == len(kept) or one.end <= kept[at].start):
                kept.insert(at, one)
        return kept

    def _candidates(self, text: str) -> Iterator[Finding]:
        """All places, those first that win over others."""
        plain, place = plain_with_places(text)
        yield from (Finding(one.kind, *place(one.start, one.end)) for one in self._by_rules(plain))
        if self._detector is not None:
            yield from _findings_of_detector(self._detector, text)

    def _by_rules(self, text: str) -> Iterator[Finding]:
        has_digits = any(map(text.__contains__, "0123456789"))
        spans: dict[str, Iterable[Span]] = {"SECRET": secret_spans(text)}
        if "@" in text:
            spans["EMAIL"] = _emails(text)
        if has_digits:
            spans["CARD"] = card_spans(text)
            spans["IBAN"] = iban_spans(text)
            if self._countries:
                spans["NATIONAL_ID"] = id_spans(text, self._countries)
            spans["IP"] = _addresses(text)
            if self._regions or "+" in text or "＋" in text:
                spans["PHONE"] = _phones(text, self._regions)
        elif "::" in text:
            spans["IP"] = _addresses(text)
        for kind in KINDS:
            yield from (Finding(kind, *span) for span in spans.get(kind, ()))


class _Text:
    """A text as a key of remembered findings: it is equal to a text of the same digest, and is not kept."""

    __slots__ = ("_digest", "_text")

    def __init__(self, text: str) -> None:
        self._text: str | None = text
        self._digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def __hash__(self) -> int:
        return hash(self._digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Text) and other._digest == self._digest

    def read(self) -> str:
        assert self._text is not None
        return self._text

    def forget(self) -> None:
        self._text = None


def _emails(text: str) -> Iterator[Span]:
    for match in _EMAIL.finditer(text):
        if match["top"].lower() not in _FILE_ENDINGS and ".." not in match["address"]:
            yield match.span("address")


def _addresses(text: str) -> Iterator[Span]:
    for match in _IPV4.finditer(text):
        if _is_personal(match[0]) and not _is_version(text, match):
            yield match.span()
    for match in _IPV6.finditer(text):
        if len([group for group in match[0].split(":") if group]) >= 3 and _is_personal(match[0]):
            yield match.span()


def _is_personal(raw: str) -> bool:
    """True for an address of a machine; not for that of every machine itself, of a group or a mask, nor for none."""
    try:
        address = ipaddress.ip_address(raw)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or address.is_multicast or raw.startswith("255."))


def _is_version(text: str, match: re.Match[str]) -> bool:
    """True when the four numbers are those of a version or a chapter rather than an address."""
    if _NO_ADDRESS.search(text, max(0, match.start() - 20), match.start()):
        return True
    if any(int(part) >= _SMALL for part in match[0].split(".")):
        return False
    around = text[max(0, match.start() - 40) : match.end() + 20]
    return not _ADDRESS_HINT.search(around) and not re.match(r"[:/]\d", text[match.end() : match.end() + 2])


def _phones(text: str, regions: Sequence[str]) -> Iterator[Span]:
    """Numbers that are valid in the numbering plan of a region, or of the country behind a +."""
    runs = [run for run in _RUN.finditer(text) if _may_be_phone(text, run)]
    for place, run in enumerate(runs):
        upto = min(run.end() + _LONGEST_EXTENSION, len(text))
        if place + 1 < len(runs):
            upto = min(upto, runs[place + 1].start())
        yield from _phones_in(text, run.start(), run.end(), upto, regions)


def _may_be_phone(text: str, run: re.Match[str]) -> bool:
    """False for digits and separators that are no phone number in any plan, which bounds what matching costs."""
    raw = run[0].rstrip(_SEPARATORS)
    if len(raw) > _LONGEST_RUN or sum(map(str.isdigit, raw)) < _LEAST_DIGITS or _DATE_LIKE.fullmatch(raw):
        return False
    end = run.start() + len(raw)
    return not _is_bare(raw) or _has_hint(text, run.start(), end) or bool(_EXTENSION.match(text, end))


def _phones_in(text: str, start: int, end: int, upto: int, regions: Sequence[str]) -> Iterator[Span]:
    """The phone numbers in one run of digits and separators; `upto` is the end of an extension behind it."""
    from mnemoir.privacy.numbering_plans import phone_matches

    begin = max(0, start - 1)  # the character before it tells whether it is part of a longer word
    for match in phone_matches(text[begin:upto], regions or (None,)):
        is_open = match.raw_string.startswith("(") and ")" not in match.raw_string
        found = begin + match.start + is_open, begin + match.end
        if not _is_phone(text, *found):
            continue
        yield found
        if found[0] <= start + 1 and found[1] >= start + len(text[start:end].rstrip(_SEPARATORS)):
            return  # all of it: other regions would say the same of less


def _is_phone(text: str, start: int, end: int) -> bool:
    """False for dates, decimals, versions, parts of URLs, and digits that nothing says are a phone's."""
    raw = text[start:end]
    if _DATE_LIKE.search(raw) or _NO_PHONE.match(raw) or _BEHIND_NONE.match(text, end):
        return False
    if _BEFORE_NONE.search(text[max(0, start - 30) : start]):
        return False
    if raw[0] != "+" and _IN_URL.search(text[max(0, start - _LONGEST_URL) : start]):
        return False
    return not _is_bare(raw) or _has_hint(text, start, end)


def _is_bare(raw: str) -> bool:
    """True for digits in one piece, or a decimal, that do not begin as a number to be dialled."""
    is_dialled = raw[0] == "0" and raw[1] != "." and sum(map(str.isdigit, raw)) >= _SHORTEST_BARE
    return bool(_ONE_PIECE.fullmatch(raw)) and not is_dialled


def _has_hint(text: str, start: int, end: int) -> bool:
    """Whether a word near a place says that it is a phone's."""
    around = text[max(0, start - 40) : end + 20]
    return bool(_LETTER.search(around) and _PHONE_HINT.search(around))


def _findings_of_detector(detector: Detector, text: str) -> Iterator[Finding]:
    try:
        found = [Finding(str(kind), int(start), int(end)) for kind, start, end in detector(text)]
    except Exception as exc:  # another program's function may raise anything
        raise ModuleFailed(
            f"pii.detector failed ({type(exc).__name__}), and without it nothing is stored or sent. "
            "Repair it, or leave it out of the settings."
        ) from exc
    return (one for one in found if KIND.fullmatch(one.kind) and 0 <= one.start < one.end <= len(text))
