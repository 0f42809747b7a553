"""The live feed of runs: each follower has a queue of unread events, of limited length."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Literal

from mnemoir.core.errors import Overloaded
from mnemoir.core.runs import NodeTrace, RunTrace
from mnemoir.core.scope import Scope
from mnemoir.ports.run_store import MOST_FOLLOWERS, NodeMoved, RunSummary

Told = RunSummary | NodeMoved
_Unread = asyncio.Queue[Told | None]
_Chosen = Callable[[Scope], bool]

_MOST_UNREAD = 256


class RunFeed:
    """The followers of runs. Callers check for followers first, so that no event is built without any."""

    def __init__(self) -> None:
        self.followers: dict[_Unread, _Chosen] = {}
        self.node_followers: dict[_Unread, _Chosen] = {}  # those among them that also get nodes

    def follow(self, *, nodes: bool, of: Callable[[Scope], bool]) -> AsyncGenerator[Told, None]:
        """The events from now on, until the feed is closed. Raises Overloaded when too many follow already."""
        if len(self.followers) >= MOST_FOLLOWERS:
            raise Overloaded(f"All {MOST_FOLLOWERS} places to follow runs are taken. Try again later.")
        return self._follow(of, nodes=nodes)

    def tell(self, summary: RunSummary, scope: Scope) -> None:
        """Send the begin or end of a run of this scope to its followers."""
        for follower, is_chosen in self.followers.items():
            if is_chosen(scope):
                _put(follower, summary)

    def tell_node(self, run: RunTrace, node: NodeTrace) -> None:
        """Send the begin, output or end of a node. A slow follower misses nodes before runs."""
        for follower, is_chosen in self.node_followers.items():
            if not follower.full() and is_chosen(run.scope):
                follower.put_nowait(_event_of_node(run, node))

    def close(self) -> None:
        """End the feed for all followers."""
        for follower in self.followers:
            _put(follower, None)

    async def _follow(self, of: _Chosen, *, nodes: bool) -> AsyncGenerator[Told, None]:
        unread: _Unread = asyncio.Queue(_MOST_UNREAD)
        self.followers[unread] = of
        if nodes:
            self.node_followers[unread] = of
        try:
            while (told := await unread.get()) is not None:
                yield told
        finally:
            self.followers.pop(unread, None)
            self.node_followers.pop(unread, None)


def _put(follower: _Unread, told: Told | None) -> None:
    if follower.full():
        follower.get_nowait()  # the oldest: a feed favours recent events
    follower.put_nowait(told)


def _event_of_node(run: RunTrace, node: NodeTrace) -> NodeMoved:
    state: Literal["running", "finished", "failed"] = "running" if node.duration_ms is None else "finished"
    return NodeMoved(
        run_id=run.id,
        number=node.number,
        title=node.title,
        type=node.type,
        state="failed" if node.error is not None else state,
    )
