"""Who follows runs as they happen: each has a queue of what it was told and has not read yet, of limited length."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Literal

from mnemoir.core.errors import Overloaded
from mnemoir.core.runs import NodeTrace, RunTrace
from mnemoir.ports.run_store import NodeMoved, RunSummary

Told = RunSummary | NodeMoved
_Unread = asyncio.Queue[Told | None]

_MOST_FOLLOWERS = 64
_MOST_UNREAD = 256


class RunFeed:
    """Nothing is made for nobody: whoever tells asks first whether anybody follows."""

    def __init__(self) -> None:
        self._followers: set[_Unread] = set()
        self._node_followers: set[_Unread] = set()  # those among them who hear of nodes too

    @property
    def is_followed(self) -> bool:
        """Whether anybody listens."""
        return bool(self._followers)

    def follow(self, *, nodes: bool) -> AsyncGenerator[Told, None]:
        """What is told from now on, until the feed is closed. Raises Overloaded when too many follow already."""
        if len(self._followers) >= _MOST_FOLLOWERS:
            raise Overloaded(f"All {_MOST_FOLLOWERS} places to follow runs are taken. Try again later.")
        return self._follow(nodes=nodes)

    def tell(self, summary: RunSummary) -> None:
        """A run begins or ends."""
        for follower in self._followers:
            _put(follower, summary)

    def tell_node(self, run: RunTrace, node: NodeTrace) -> None:
        """A node begins, speaks or ends. Who reads slowly misses nodes before runs."""
        for follower in self._node_followers:
            if not follower.full():
                follower.put_nowait(_moved(run, node))

    def close(self) -> None:
        """Let all followers go."""
        for follower in self._followers:
            _put(follower, None)

    async def _follow(self, *, nodes: bool) -> AsyncGenerator[Told, None]:
        unread: _Unread = asyncio.Queue(_MOST_UNREAD)
        self._followers.add(unread)
        if nodes:
            self._node_followers.add(unread)
        try:
            while (told := await unread.get()) is not None:
                yield told
        finally:
            self._followers.discard(unread)
            self._node_followers.discard(unread)


def _put(follower: _Unread, told: Told | None) -> None:
    if follower.full():
        follower.get_nowait()  # the oldest: a feed is for what happens now
    follower.put_nowait(told)


def _moved(run: RunTrace, node: NodeTrace) -> NodeMoved:
    state: Literal["running", "finished", "failed"] = "running" if node.duration_ms is None else "finished"
    return NodeMoved(
        run_id=run.id,
        number=node.number,
        title=node.title,
        type=node.type,
        state="failed" if node.error is not None else state,
    )
