"""Secrets that a sentence announces: "the alarm code is 9917", "my seed phrase: …", "4821 is my PIN".

A word for a secret is looked up in the tables of `secret_words`. What stands behind it, joined by a sign, a verb or
nothing, or before it, must also look like a secret of that kind: a sentence about passwords or codes tells none. A
code must have digits, and a password irregular signs or words that make no sentence. A number that counts something
is no code.
"""

import re
from collections.abc import Iterator
from itertools import pairwise, zip_longest

from mnemoir.core import first_use
from mnemoir.privacy.irregular import has_capital_inside, is_plainly_words, looks_key
from mnemoir.privacy.numbers import Span
from mnemoir.privacy.secret_words import SecretWords, secret_words
from mnemoir.privacy.spellings import without_accents

_REACH = 80  # characters between a word and what joins it to its secret
_SENTENCE = 160  # characters before and behind a word that are looked through for what a code opens
_LONGEST = 400  # characters of a secret in words
_FEWEST_DIGITS = 3
_FEWEST_OF_NUMBER = 6
_SHORTEST_PASSWORD = 4
_SHORTEST_IRREGULAR = 6  # of a password that nothing but its signs tells from a word
_MOST_SMALL_WORDS = 3
_LEAST_LISTED = 12  # words of a phrase that may have plain ones among them; wallets have lists of ordinary words
_LEAST_ADJACENT = 8  # words of a phrase that nothing joins to its name
_END = first_use.pattern(r"[.!?\n](?=\s|\Z)")
_CLAUSE_END = first_use.pattern(r"\s*(?:[.,;!?)\]\"'”»\n]|\Z)")
_NEXT = first_use.pattern(r"\s{0,3}[,(\[–—-]?\s{1,3}(?:#\s?)?(?=[^\s])|\s{0,3}[(\[]")
_QUOTED = first_use.pattern(r"(?P<mark>[\"'`“”„«‘])(?P<inside>[^\"'`“”„«»’\n]{4,200})[\"'`“”»’]")
_OPENING = first_use.pattern(r"[\"'`“„«(]{0,3}")
_TOKEN = first_use.pattern(r"[^\s\"'`”»]{1,300}")
_NOT_OF_NAME = first_use.pattern(r"[.!?\n\"`=:]")
_CODE = first_use.pattern(
    r"[#*]?(?P<code>\d{3,12}|\d{1,6}(?:(?:, |[ -])\d{1,6}){1,9}"
    r"|(?=[a-z-]{0,30}\d)[a-z0-9]{1,10}(?:-[a-z0-9]{1,10}){1,11}|(?=[a-z]{0,24}\d)[a-z0-9]{4,24})(?![\w@]|-\w)[#*]?"
)
_MORE_CODES = first_use.pattern(r"(?:\s{0,3}[,;/]?\s{1,3}(?:and\s|und\s|et\s|y\s|e\s|en\s)?)")
_DATE = first_use.pattern(r"(?:19|20)\d\d-\d{1,2}-\d{1,2}|\d{1,2}-\d{1,2}-(?:19|20)\d\d")
_YEAR = first_use.pattern(r"(?:19|20)\d\d")
_WEAK = frozenset({"to", "auf", "à", "a", "in", "para", "op", "naar", "e", "e'"})  # join other things, too
_NUMBERED = r"(?:\d{1,2}[.)]\s?)?[^\W\d_]{2,20}"  # a word, of a list perhaps
_PHRASE = first_use.pattern(rf"{_NUMBERED}(?:(?:,\s|[\s,;/_-])\s?{_NUMBERED}){{2,30}}")
_LETTERS = first_use.pattern(r"[^\W\d_]+")
_WORDS = first_use.pattern(r"(?P<words>[^\W\d_]{4,40}(?:\s[^\W\d_]{2,40})?)")
_SMALL_WORD = first_use.pattern(r"(?P<word>[^\W\d_]{1,15}),?\s")
_BEFORE = first_use.pattern(r"(?P<value>[^\s\"'`“„«(]{3,64})[\"'`”»)]?\Z")
# what stands where a secret might: a placeholder, a mask, an address, a name or a call in a program
_STAND_IN = first_use.pattern(
    r"\$?[<{\[(].*|\W+|\w+://.*|[$@:%&*]*[^\W\d]+(?:(?:\.|->|::)[^\W\d]+)*(?:[\[(].*)?[;,)\]}>]*", re.DOTALL
)
_MEMBERS = frozenset(f"{mark}{word}{mark}" for word in ("key", "keys", "token") for mark in "\"'`")
_ENDS = ".,;!?)"  # of a sentence, behind a value


def announced_spans(text: str) -> Iterator[Span]:
    """The places of secrets that words announce, in the order of the words."""
    return (span for kind, span in _kinds_and_spans(text) if kind != "number")


def announces_secret(text: str) -> bool:
    """True when a word announces a secret, or a person's social security number, whatever its check digits."""
    return next(_kinds_and_spans(text), None) is not None


def _kinds_and_spans(text: str) -> Iterator[tuple[str | None, Span]]:
    folded = without_accents(text)
    if not secret_words().may_be_in(folded):
        return
    found = [
        word
        for start, end in secret_words().places(folded)
        for word in secret_words().word.finditer(folded, start, end)
    ]
    for word, following in zip_longest(found, found[1:]):
        # the same word again has its own secret behind it; the work stays linear
        limit = following.start() if following and following[0] == word[0] else len(text)
        announced = _Announced(text, folded, word, limit)
        if (span := announced.secret()) and announced.is_meant():
            yield word.lastgroup, span


class _Announced:
    """A word for a secret in a text, and what stands around it."""

    def __init__(self, text: str, folded: str, word: re.Match[str], limit: int) -> None:
        """`limit` is the place up to which it may be joined to its secret."""
        self._text, self._folded, self._word = text, folded, word
        self._limit = min(word.end() + _REACH, limit)
        self._words: SecretWords = secret_words()
        self._kind = word.lastgroup or ""

    def is_meant(self) -> bool:
        """False for a word of another meaning, "dress code", and for a code of nothing that opens."""
        start, end = self._word.span()
        if self._kind not in ("code", "bare"):
            is_member = self._folded[start - 1 : end + 1] in _MEMBERS  # whose value is a name as often as a secret
            return not is_member
        if self._kind == "code":
            return True
        before = self._folded[max(0, start - 30) : start]
        is_other = self._words.not_before.search(before) or self._words.not_before.search(self._first_part())
        if is_other or self._words.not_behind.match(self._folded, end):
            return False
        return self._words.thing.search(self._sentence()) is not None

    def _first_part(self) -> str:
        """The compound without its last part: "dress" of "dresscode"."""
        return re.sub(r"-?(?:codes?|kode)\Z", "", self._word[0])

    def _sentence(self) -> str:
        start, end = self._word.span()
        before = self._folded[max(0, start - _SENTENCE) : start]
        last = max((match.end() for match in _END.finditer(before)), default=0)
        behind = self._folded[end : end + _SENTENCE]
        ended = _END.search(behind)
        return before[last:] + self._word[0] + behind[: ended.start() if ended else None]

    def secret(self) -> Span | None:
        """The place of the secret; None when there is none."""
        end = self._word.end()
        if self._kind in ("code", "bare", "number") and not self._has_number():
            return None
        if (found := self._adjacent(end)) is not None:
            return found
        reach = self._text[end : self._limit].lower()
        for join in self._words.joins.finditer(reach):
            gap = self._folded[end : end + join.start()]
            if _NOT_OF_NAME.search(gap.strip("\"'`*_ ")):
                break
            if found := self._behind(end + join.end(), gap, join):
                return found
        return self._before()

    def _has_number(self) -> bool:
        start, end = self._word.start() - _REACH, self._word.end() + _REACH
        around = self._folded[max(0, start) : end]
        return any(map(str.isdigit, around)) or self._words.numerals.search(around) is not None

    def _adjacent(self, end: int) -> Span | None:
        """The secret directly behind the word: "PIN 4821"."""
        following = _NEXT.match(self._folded, end)
        if following is None:
            return None
        at = _OPENING.match(self._folded, following.end()).end()  # type: ignore[union-attr]  # it matches everything
        match self._kind:
            case "code" | "bare":
                return self._code(at)
            case "number":
                return self._number(at)
            case "phrase":
                return self._phrase(at, fewest=_LEAST_ADJACENT)
            case "key":
                return self._key(at)
            case _:
                found = self._password(at)
                return found if found and _mixes_signs(self._text[slice(*found)]) else None

    def _behind(self, at: int, gap: str, join: re.Match[str]) -> Span | None:
        """The secret behind what joins it to the word. `gap` is what stands between."""
        is_near = self._words.gap.match(gap.strip("\"'`*_")) is not None
        verb = (join["verb"] or "").strip()
        is_weak = verb in _WEAK and self._text[at - 3 : at].strip() not in ("è", "é")
        opened = _OPENING.match(self._text, at).end()  # type: ignore[union-attr]  # it matches everything
        if self._kind in ("code", "bare"):
            found = self._code(opened) if is_near or len(gap.split()) == 1 else None
            is_year = found is not None and is_weak and _YEAR.fullmatch(self._folded, *found)
            return None if is_year else found
        if self._kind == "number":
            return self._number(opened) if is_near else None
        if self._kind == "key":
            return self._key(opened)
        if self._kind == "password" and (found := self._password(opened, by_sign=not verb)):
            return None if is_weak and not any(map(str.isdigit, self._text[slice(*found)])) else found
        if self._kind == "password" and (found := self._password_behind_words(opened)):
            return found
        return self._in_words(at, join) if is_near and not is_weak else None

    def _password_behind_words(self, at: int) -> Span | None:
        """A password of letters and digits behind a few small words: "is still the same, Winter2025"."""
        for _ in range(_MOST_SMALL_WORDS):
            word = _SMALL_WORD.match(self._folded, at)
            if word is None or not (self._is_plain(word["word"]) or self._words.unit.match(f" {word['word']}")):
                break
            at = word.end()
            found = self._password(at)
            if found and _mixes_signs(self._text[slice(*found)]):
                return found
        return None

    def _in_words(self, at: int, join: re.Match[str]) -> Span | None:
        """A password or phrase of plain words: a quotation, three words and more, or one that ends the clause."""
        quoted = _QUOTED.match(self._text, at)
        if quoted and join["verb"] and not is_stand_in(quoted["inside"]):
            return quoted.span("inside")
        opened = _OPENING.match(self._text, at).end()  # type: ignore[union-attr]  # it matches everything
        if found := self._phrase(opened, fewest=3):
            return found
        single = _WORDS.match(self._folded, opened) if self._kind == "password" and "=" not in join[0] else None
        if single is None or not _CLAUSE_END.match(self._folded, single.end()):
            return None
        words = single["words"].split()
        is_short = len(words) == 1 or bool(join["sign"])
        return single.span("words") if is_short and not any(map(self._is_plain, words)) else None

    def _is_plain(self, word: str) -> bool:
        return word in self._words.plain or self._is_trait(word)

    def _is_trait(self, word: str) -> bool:
        return word in self._words.traits or self._words.describing.fullmatch(word) is not None

    def _phrase(self, at: int, *, fewest: int) -> Span | None:
        """Words that make no sentence: without small words, and with few that are said of secrets."""
        found = _PHRASE.match(self._folded, at, at + _LONGEST)
        words = _LETTERS.findall(found[0]) if found else []
        if found is None or len(words) < fewest:
            return None
        small = sum(map(self._words.plain.__contains__, words))
        odd = small + sum(map(self._is_trait, words))
        is_list = self._kind == "phrase" and len(words) >= _LEAST_LISTED
        return found.span() if 4 * odd <= len(words) and (is_list or not small) else None

    def _code(self, at: int) -> Span | None:
        """A code with enough digits, or in numerals, with those listed behind it."""
        if numerals := self._words.numerals.match(self._folded, at):
            return numerals.span()
        first = _CODE.match(self._folded, at)
        if first is None or not self._is_code(first):
            return None
        end = first.end("code")
        while (gap := _MORE_CODES.match(self._folded, end)) and (more := _CODE.match(self._folded, gap.end())):
            if not self._is_code(more):
                break
            end = more.end("code")
        return first.start("code"), end

    def _is_code(self, found: re.Match[str]) -> bool:
        value = found["code"]
        digits = sum(map(str.isdigit, value))
        is_counted = self._words.unit.match(self._folded, found.end("code"))
        if is_counted or is_plainly_words(value) or _DATE.fullmatch(value):
            return False
        return digits >= _FEWEST_DIGITS or (digits > 0 and len(value) >= 6 and "-" in value) or _mixes(value)

    def _number(self, at: int) -> Span | None:
        found = _TOKENS_OF_NUMBER.match(self._folded, at)
        digits = sum(map(str.isdigit, found[0])) if found else 0
        return found.span() if found and digits >= _FEWEST_OF_NUMBER else None

    def _key(self, at: int) -> Span | None:
        value = self._token(at)
        is_key = looks_key(value) and not is_plainly_words(value)
        return (at, at + len(value)) if is_key else None

    def _password(self, at: int, *, by_sign: bool = False) -> Span | None:
        """One token of irregular signs."""
        value = self._token(at)
        is_secret = len(value) >= _SHORTEST_PASSWORD and _is_mixed(value) and not is_stand_in(value)
        is_counted = value.isdigit() and self._words.unit.match(self._folded, at + len(value))
        if not is_secret or is_counted or (not by_sign and is_plainly_words(value)):
            return None
        return at, at + len(value)

    def _token(self, at: int) -> str:
        found = _TOKEN.match(self._text, at)
        value = found[0] if found else ""
        mark = self._text[at - 1 : at]
        is_quoted = mark in ("'", '"', "`") and self._text[at + len(value) :][:1] == mark
        return value if is_quoted else value.rstrip(_ENDS)

    def _before(self) -> Span | None:
        """The secret before the word: "4821 is my PIN"."""
        start = self._word.start()
        first = max(0, start - _REACH)
        joined = self._words.before.search(self._folded[first:start])
        value = _BEFORE.search(self._folded, first, first + joined.start()) if joined else None
        if joined is None or value is None or any(map(self._is_plain, joined["between"].split())):
            return None
        at, end = value.span("value")
        match self._kind:
            case "code" | "bare":
                code = _CODE.fullmatch(value["value"])
                return (at, end) if code and self._is_code(code) else None
            case "password":
                found = self._password(at)
            case "key":
                found = self._key(at)
            case _:
                return None
        return found if found and any(map(str.isdigit, self._text[slice(*found)])) else None


_TOKENS_OF_NUMBER = first_use.pattern(r"(?=[a-z0-9./ -]{0,12}\d)[a-z0-9]{1,16}(?:[ ./-][a-z0-9]{1,12}){0,8}")


def is_stand_in(value: str) -> bool:
    """True for a reference to a secret; a mere word with a capital inside may be the secret itself."""
    return bool(_STAND_IN.fullmatch(value)) and not value.isalpha()


def _mixes_signs(value: str) -> bool:
    """True for some letters and digits together, as nobody writes a word."""
    return len(value) >= _SHORTEST_IRREGULAR and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _mixes(value: str) -> bool:
    """True for letters and digits in turn, as in "8f3k"; not for a name with a number behind it."""
    return sum(a.isdigit() != b.isdigit() for a, b in pairwise(value)) >= 2 and len(value) >= 4


def _is_mixed(value: str) -> bool:
    """True for letters with digits or marks, digits alone, or capitals inside: no plain word has these."""
    core = value.strip("-–—")
    return not all(map(str.isalpha, core)) or has_capital_inside(core)
