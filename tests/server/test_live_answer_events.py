"""The events of an answer under way: numbered, bounded, and held back where nobody reads them."""

import asyncio
from contextlib import aclosing
from functools import partial

import orjson
import pytest

from mnemoir.core.events import Finished, Text
from mnemoir.core.scope import Scope
from mnemoir.server.door.under_way import Outflow
from mnemoir.server.live_answers import MOST_BYTES, LiveAnswer
from mnemoir.wire.openai_chat import StreamWriter

PIECE = "word " * 10_000
PIECES = 3 * MOST_BYTES // len(PIECE)


class FirstReader:
    """The client that asked; it stands still, or has left."""

    def __init__(self, *, stands: bool = False) -> None:
        self.leaving = asyncio.Event()
        if not stands:
            self.leaving.set()

    async def receive(self):
        await self.leaving.wait()
        return {"type": "http.disconnect"}

    async def send(self, message) -> None:
        if message.get("body"):
            await self.leaving.wait()


def live_answer(reader: FirstReader) -> LiveAnswer:
    """An answer whose first reader that is."""
    answer = LiveAnswer("chatcmpl-1", "run_1", Scope(project="p", user="mira", conversation="tea"), lambda: None)
    writing = partial(StreamWriter, "mnemoir", "chatcmpl-1", 0, False)
    return answer.begin(writing, Outflow(reader.send, head=list, heartbeat=lambda: b"", every_s=600), reader.receive)


async def say(answer: LiveAnswer, count: int = PIECES) -> None:
    """Say so many pieces and the end."""
    for _ in range(count):
        await answer.write(answer.events([Text(PIECE)]))
    await answer.write(answer.events([Finished()]))
    await answer.write(b"", more=False)


async def settled() -> None:
    """All has been done that needs nothing from outside."""
    for _ in range(100):
        await asyncio.sleep(0)


def text_of(stream: bytes) -> str:
    chunks = [orjson.loads(line[6:]) for line in stream.splitlines() if line.startswith(b"data: {")]
    return "".join(one["delta"].get("content", "") for chunk in chunks for one in chunk["choices"])


@pytest.mark.parametrize("stands", [True, False])
async def test_what_nobody_reads_waits_at_four_mib_until_somebody_reads(stands):
    first = FirstReader(stands=stands)
    async with live_answer(first) as answer:
        saying = asyncio.create_task(say(answer))
        await settled()
        held = answer.last * len(PIECE)
        assert MOST_BYTES - 2 * len(PIECE) < held <= MOST_BYTES
        async with aclosing(answer.read(0)) as events:
            came = b"".join([data async for data in events])
        assert text_of(came) == PIECE * PIECES
        first.leaving.set()
        await saying


async def test_a_slow_reader_holds_back_nobody_and_is_ended_when_it_fell_out_of_what_is_held():
    async with live_answer(FirstReader()) as answer:
        await answer.write(answer.events([Text(PIECE)]))
        async with aclosing(answer.read(0)) as slow:
            await anext(slow)
            saying = asyncio.create_task(say(answer))
            async with aclosing(answer.read(0)) as quick:
                came = b"".join([data async for data in quick])
            assert text_of(came) == PIECE * (PIECES + 1)
            assert [data async for data in slow] == []
            await saying
        assert answer.place(1) == 0
        assert answer.place(answer.last) == answer.last


async def test_who_takes_it_up_from_the_beginning_reads_all_although_the_beginning_is_not_held():
    async with live_answer(FirstReader()) as answer:
        saying = asyncio.create_task(say(answer))
        async with aclosing(answer.read(0)) as quick:
            _ = [data async for data in quick]
        await saying
        async with aclosing(answer.read(0)) as late:
            came = b"".join([data async for data in late])
        assert text_of(came) == PIECE * PIECES
        assert came.endswith(b"data: [DONE]\n\nid: %d\n\n" % answer.last)
