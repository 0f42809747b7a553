"""Who may hold a connection when there are many.

A connection whose first head has not come has a budget of its own: over it, the oldest of those that had their time
gives way, so heads that are sent slowly or never keep nobody out. A connection that has sent a head counts against
the limit of connections, and of those one key holds at most its share, as do all callers without a key together.
"""

import math
from collections import Counter, OrderedDict
from collections.abc import Callable, MutableMapping
from functools import partial
from typing import Any, Protocol

from starlette.responses import Response
from starlette.types import Scope
from uvicorn.protocols.http.flow_control import FlowControl

from mnemoir.core.errors import Overloaded
from mnemoir.server.door.errors import failure
from mnemoir.server.door.shares import share_of

_CONNECTION = "mnemoir.connection"
_LEAST_UNREAD = 8
_TIME_FOR_HEAD_S = 10.0  # a client that opens a thousand connections on a busy machine may need some seconds


class Connection(Protocol):
    """One connection of a client."""

    def give_way(self) -> None:
        """End it: another one needs its place."""


class WatchedConnection(Connection, Protocol):
    """A connection that calls its `watchers` when it ends; they are None once it has."""

    flow: FlowControl
    watchers: set[Callable[[], None]] | None


class Crowd:
    """The connections of one server: those without a head, and those with one by the key of their last request."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.most_unread = max(most // 4, _LEAST_UNREAD)
        self._unread: OrderedDict[int, tuple[Connection, float]] = OrderedDict()
        self._keys: dict[int, str] = {}
        self._held: Counter[str] = Counter()  # by keys
        self._most_of_one = share_of(most)

    def came(self, connection: Connection, now: float) -> None:
        """Note a new connection, at a time in seconds. Of too many without a head the oldest give way."""
        self._unread[id(connection)] = connection, now
        while len(self._unread) > self.most_unread:
            oldest, since = next(iter(self._unread.values()))
            if now - since < _TIME_FOR_HEAD_S and len(self._unread) + len(self._keys) <= self.most + self.most_unread:
                return
            del self._unread[id(oldest)]
            oldest.give_way()

    def has_sent_head(self, connection: Connection) -> bool:
        """Note that a head has come; False when there is no room for one more connection."""
        if id(connection) not in self._keys:
            if len(self._keys) >= self.most:
                return False  # it still counts as one without, so those that are being refused are bounded, too
            self._keys[id(connection)] = ""
        self._unread.pop(id(connection), None)
        return True

    def belongs_to(self, connection: Connection, key: str, *, is_shared: Callable[[], bool]) -> bool:
        """Note whose connection it is; False, and it is nobody's, when the key has its share already.

        Whether others want theirs, too, is asked only then.
        """
        before = self._keys.get(id(connection))
        if before == key or before is None:
            return True
        if self._held[key] >= self._most_of_one and is_shared():
            self.note_end(connection)
            self._unread[id(connection)] = connection, -math.inf  # it is the first that gives way until it is closed
            self._unread.move_to_end(id(connection), last=False)
            return False
        self._give_back(before)
        self._keys[id(connection)] = key
        self._held[key] += 1
        return True

    def note_end(self, connection: Connection) -> None:
        """Note that a connection has ended."""
        self._unread.pop(id(connection), None)
        self._give_back(self._keys.pop(id(connection), ""))

    def _give_back(self, key: str) -> None:
        self._held[key] -= 1
        if self._held[key] <= 0:
            del self._held[key]


def note_connection(scope: MutableMapping[str, Any], connection: WatchedConnection, crowd: Crowd) -> None:
    """Keep the connection of a request in its scope."""
    scope[_CONNECTION] = connection, crowd


def watch_end(scope: Scope, tell: Callable[[], None]) -> Callable[[], None] | None:
    """Call `tell` when the connection of a request, whose body was read, ends: at once, if it has.

    What is returned ends the watch; it is None for a request that came over no connection of this server. A task that
    waits for the end costs a chat as much as all layers of the door.
    """
    connection, _ = scope.get(_CONNECTION, (None, None))
    if connection is None:
        return None
    if connection.watchers is None:
        tell()
        return lambda: None
    connection.flow.resume_reading()  # after a large body the end would not be noticed
    connection.watchers.add(tell)
    return partial(connection.watchers.discard, tell)


def end_watches(connection: WatchedConnection) -> None:
    """Tell those that watch a connection that it has ended."""
    watchers, connection.watchers = connection.watchers or (), None
    for tell in watchers:
        tell()


def refuse_crowd(scope: Scope, key: str, *, is_shared: Callable[[], bool]) -> Response | None:
    """The refusal of a request on one connection more than its key may hold, which ends it; None for all others."""
    connection, crowd = scope.get(_CONNECTION, (None, None))
    if connection is None or crowd is None or crowd.belongs_to(connection, key, is_shared=is_shared):
        return None
    refused = failure(scope, Overloaded("You hold as many connections as one key may. Close some, and try again."))
    refused.headers["connection"] = "close"
    return refused
