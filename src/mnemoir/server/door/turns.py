"""Turns by key: where several keys exist, no key's work fills the event loop while another one waits.

A request takes a turn when it begins, and a chat takes one for each batch of its model's words. In one round of the
loop a key has so many turns; what it wants beyond waits for the next rounds, in order. So of a crowd of requests of
one key, and of all its streams, a few steps at most lie before the next step of another key's chat.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable

AT_ONCE = 4  # turns of one key in one round; a batch of words costs about 0.2 ms


class Turns:
    """For one event loop. `is_shared` tells whether there are several keys; where there are not, nobody waits."""

    def __init__(self, is_shared: Callable[[], bool] = lambda: True) -> None:
        self._is_shared = is_shared
        self._taken: Counter[str] = Counter()  # in this round
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._is_counting = False

    async def take(self, key: str) -> None:
        """Return when it is the key's turn: at once unless it has had its turns of this round. "" is no key."""
        if not key or not self._is_shared():
            return
        if self._taken[key] < AT_ONCE and key not in self._waiting:
            self._taken[key] += 1
            self._count()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(turn)
        await turn

    def _count(self) -> None:
        if not self._is_counting:
            self._is_counting = True
            asyncio.get_running_loop().call_soon(self._next_round)

    def _next_round(self) -> None:
        self._is_counting = False
        self._taken.clear()
        for key, turns in list(self._waiting.items()):
            while turns and self._taken[key] < AT_ONCE:
                turn = turns.popleft()
                if not turn.done():  # else the waiting caller was cancelled
                    turn.set_result(None)
                    self._taken[key] += 1
            if not turns:
                del self._waiting[key]
        if self._taken:
            self._count()
