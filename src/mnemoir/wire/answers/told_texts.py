"""What a stream has told so far, for servers that send a text in pieces, whole at its end, or both.

Each text has a place, such as an item and a part of it. Servers leave places out or change them between the pieces
and the end, so a text that was told already is not told again wherever it was. A whole text that is neither told nor
goes on from the pieces contradicts them: words are missing. White space at the ends of a text counts for nothing in
this, nor do pieces with `�`, which may be half of a character. Of what was told, only lengths and digests are kept:
an answer may be long.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.wire import upstream

_MOST_PLACES = 4096  # all further texts share one, and are not compared
_MOST_PENDING = 16 * 1024  # characters, before they become part of the digests
_UNKNOWN = "\ufffd"


def contradiction(what: str) -> ProviderInvalidOutput:
    """The error for pieces that are not what the stream says at its end."""
    return upstream.unusable(f"pieces of a {what} that differ from the whole {what} at its end, so words are missing")


def rest_of(whole: str, pieces: Iterable[str], *, is_all: bool = True) -> str:
    """What a whole text says beyond its pieces; "" where they hold it. Raises ProviderInvalidOutput for another.

    Without `is_all` the pieces are the last of the text alone.
    """
    told = "".join(pieces)
    if whole.strip() in told:
        return ""
    if not is_all and _UNKNOWN not in told:
        behind = [
            rest for end in (told, told.strip() or told) for _, found, rest in (whole.rpartition(end),) if found
        ]
        rest = behind[0] if behind else None
    else:
        texts = ToldTexts()
        texts.add(None, None, told)
        rest = texts.rest_of_all(None, (whole,))
    if rest is None:
        raise contradiction("text")
    return rest if rest.strip() else ""


class _Mark:
    """The length and the digest of a text that grows, without the white space around it."""

    def __init__(self) -> None:
        self._lead = ""
        self._size = 0
        self._digest = blake2b()
        self._blank: list[str] = []  # white space that may be the end
        self._is_odd = False

    @property
    def digest(self) -> bytes:
        """The digest of the text between its ends."""
        return self._digest.digest()

    @property
    def is_empty(self) -> bool:
        """True when nothing was added."""
        return not self._size and not self._blank

    def add(self, text: str) -> None:
        core = text.strip()
        if not core:
            self._blank.append(text)
            return
        front = len(text) - len(text.lstrip())
        blank = "".join(self._blank) + text[:front]
        if self._size:
            core = blank + core
        else:
            self._lead = blank
        self._digest.update(_bytes(core))
        self._size += len(core)
        self._blank = [text[len(text.rstrip()) :]]
        self._is_odd = self._is_odd or _UNKNOWN in core

    def behind(self, whole: str) -> str | None:
        """`whole` without this text, which it begins with; None where it does not."""
        tail = "".join(self._blank)
        if not self._size:
            return whole[len(tail) :] if whole.startswith(tail) else whole.lstrip()
        for begun in (whole.removeprefix(self._lead), whole.lstrip()):
            if _digest_of(begun[: self._size]) == self.digest:
                rest = begun[self._size :]
                if rest.startswith(tail):
                    return rest[len(tail) :]
                return None if rest.strip() else ""
        return "" if self._is_odd or _UNKNOWN in whole or not whole.strip() else None


class ToldTexts:
    """Texts by kind and place. `add` what is told, and tell what `rest` gives."""

    def __init__(self) -> None:
        self._by_place: defaultdict[tuple[object, object], _Mark] = defaultdict(_Mark)
        self._all: defaultdict[object, _Mark] = defaultdict(_Mark)
        self._unsettled: defaultdict[object, _Mark] = defaultdict(_Mark)  # since the last whole text of a kind
        self._settled: set[tuple[object, bytes]] = set()
        self._open: tuple[object, object] = (None, None)
        self._pending: list[str] = []
        self._pending_size = 0

    def add(self, kind: object, place: object, text: str) -> None:
        """Note a piece of a text."""
        if self._open != (kind, place) and len(self._by_place) >= _MOST_PLACES:
            place = place if (kind, place) in self._by_place else None
        if self._open != (kind, place) or self._pending_size > _MOST_PENDING:
            self._flush()
            self._open = kind, place
        self._pending.append(text)
        self._pending_size += len(text)

    def knows(self, kind: object, place: object) -> bool:
        """True when something was told at this place."""
        return (kind, place) in self._by_place or (bool(self._pending) and self._open == (kind, place))

    def rest(self, kind: object, place: object, whole: str) -> str | None:
        """What was not told yet of the whole text at a place, which counts as told from now on.

        It is None where what was told is not the beginning of the whole.
        """
        self._flush()
        if len(self._by_place) >= _MOST_PLACES and (kind, place) not in self._by_place:
            place = None
        rest = self._behind(kind, place, whole)
        if len(self._settled) < _MOST_PLACES:
            self._settled.add((kind, _digest_of(whole.strip())))
        self._by_place[kind, place] = mark = _Mark()
        mark.add(whole)
        self._all[kind].add(rest or "")
        self._unsettled[kind] = _Mark()
        return rest

    def rest_of_all(self, kind: object, texts: Sequence[str]) -> str | None:
        """What was not told yet of all texts of a kind, in their order.

        It is "" where each of them was told, in whatever order, and None where words are missing.
        """
        self._flush()
        rest = self._all[kind].behind("".join(texts))
        if rest is not None:
            return rest
        told = self._told_of(kind)
        is_told = all(_digest_of(text.strip()) in told for text in texts)
        return "" if is_told or len(self._by_place) >= _MOST_PLACES else None

    def _behind(self, kind: object, place: object, whole: str) -> str | None:
        is_own = (kind, place) in self._by_place
        rest = self._by_place[kind, place].behind(whole) if is_own else None
        if rest is not None:
            return rest
        if (kind, _digest_of(whole.strip())) in self._settled:
            return ""
        newest = self._unsettled[kind]  # pieces at a place that other texts have, too, or that has changed
        if not (is_own and newest.is_empty):
            rest = newest.behind(whole)
        return "" if rest is None and len(self._by_place) >= _MOST_PLACES else rest

    def _told_of(self, kind: object) -> set[bytes]:
        told = {mark.digest for (of, _), mark in self._by_place.items() if of == kind}
        return told | {digest for of, digest in self._settled if of == kind}

    def _flush(self) -> None:
        text = "".join(self._pending)
        if text:
            kind, _ = self._open
            for mark in (self._by_place[self._open], self._all[kind], self._unsettled[kind]):
                mark.add(text)
        self._pending = []
        self._pending_size = 0


def _digest_of(text: str) -> bytes:
    return blake2b(_bytes(text)).digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
