"""What a stream has told so far, for servers that send a text in pieces, whole at its end, or both.

Each text has a place, such as an item and a part of it. Servers leave places out or change them between the pieces
and the end, so a text that was told already is not told again wherever it was. Of what was told, only lengths and
digests are kept: an answer may be long.
"""

from collections import defaultdict
from hashlib import blake2b

_MOST_PLACES = 4096  # all further texts share one
_MOST_PENDING = 16 * 1024  # characters, before they become part of the digests


class _Mark:
    """The length and the digest of a text that grows."""

    def __init__(self) -> None:
        self.size = 0
        self._digest = blake2b()

    def add(self, text: str) -> None:
        self.size += len(text)
        self._digest.update(_bytes(text))

    def behind(self, whole: str) -> str:
        """`whole` without this text, which it begins with; "" where it does not."""
        begun = blake2b(_bytes(whole[: self.size]))
        return whole[self.size :] if begun.digest() == self._digest.digest() else ""


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

    def rest(self, kind: object, place: object, whole: str) -> str:
        """What was not told yet of the whole text at a place, which counts as told from now on.

        It is "" where what was told is not the beginning of the whole.
        """
        self._flush()
        if len(self._by_place) >= _MOST_PLACES and (kind, place) not in self._by_place:
            place = None
        is_own = (kind, place) in self._by_place
        digest = blake2b(_bytes(whole)).digest()
        if is_own:
            rest = self._by_place[kind, place].behind(whole)
        elif (kind, digest) in self._settled:
            rest = ""
        else:
            rest = self._unsettled[kind].behind(whole)
        if len(self._settled) < _MOST_PLACES:
            self._settled.add((kind, digest))
        self._by_place[kind, place] = mark = _Mark()
        mark.add(whole)
        self._all[kind].add(rest)
        self._unsettled[kind] = _Mark()
        return rest

    def rest_of_all(self, kind: object, whole: str) -> str:
        """What was not told yet of all texts of a kind, joined in their order."""
        self._flush()
        return self._all[kind].behind(whole)

    def _flush(self) -> None:
        text = "".join(self._pending)
        if text:
            kind, _ = self._open
            for mark in (self._by_place[self._open], self._all[kind], self._unsettled[kind]):
                mark.add(text)
        self._pending = []
        self._pending_size = 0


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
