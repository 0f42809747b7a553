"""The live feed of runs: each follower has a queue of unread events, of limited length."""

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
    """The followers of runs. Callers check for followers first, so that no event is built without any."""

    def __init__(self) -> None:
        self.followers: set[_Unread] = set()
        self.node_followers: set[_Unread] = set()  # those among them that also get nodes

    def follow(self, *, nodes: bool) -> AsyncGenerator[Told, None]:
        """The events from now on, until the feed is closed. Raises Overloaded when too many follow already."""
        if len(self.followers) >= _MOST_FOLLOWERS:
            raise Overloaded(f"All {_MOST_FOLLOWERS} places to follow runs are taken. Try again later.")
        return self._follow(nodes=nodes)

    def tell(self, summary: RunSummary) -> None:
        """Send the begin or end of a run to all followers."""
        for follower in self.followers:
            _put(follower, summary)

    def tell_node(self, run: RunTrace, node: NodeTrace) -> None:
        """Send the begin, output or end of a node. A slow follower misses nodes before runs."""
        for follower in self.node_followers:
            if not follower.full():
                follower.put_nowait(_moved(run, node))

    def close(self) -> None:
        """End the feed for all followers."""
        for follower in self.followers:
            _put(follower, None)

    async def _follow(self, *, nodes: bool) -> AsyncGenerator[Told, None]:
        unread: _Unread = asyncio.Queue(_MOST_UNREAD)
        self.followers.add(unread)
        if nodes:
            self.node_followers.add(unread)
        try:
            while (told := await unread.get()) is not None:
                yield told
        finally:
            self.followers.discard(unread)
            self.node_followers.discard(unread)


def _put(follower: _Unread, told: Told | None) -> None:
    if follower.full():
        follower.get_nowait()  # the oldest: a feed favours recent events
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
