"""What is written in one round of the loop goes out with one call of the system."""

import asyncio
from typing import Any, cast

import pytest

from mnemoir.server.door.lingering import LingeringTransport


class Wire:
    """A transport that notes each write."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes) -> None:
        assert not self.is_closed
        self.written.append(data)

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def write_eof(self) -> None:
        self.written.append(b"<end>")

    def resume_reading(self) -> None:
        """Nothing to read."""


@pytest.fixture
async def wire() -> Wire:
    return Wire()


def over(wire: Wire, *, unread: bool = False) -> LingeringTransport:
    return LingeringTransport(cast(Any, wire), lambda: unread)


async def test_head_and_body_are_written_together_and_the_next_round_apart(wire):
    transport = over(wire)
    transport.write(b"head")
    transport.write(b"body")
    assert wire.written == []
    await asyncio.sleep(0)
    transport.write(b"more")
    await asyncio.sleep(0)
    assert wire.written == [b"headbody", b"more"]


async def test_a_fast_sender_fills_no_memory(wire):
    transport = over(wire)
    for _ in range(3):
        transport.write(b"x" * 40_000)
    assert [len(one) for one in wire.written] == [80_000]


async def test_what_was_written_comes_before_the_close(wire):
    transport = over(wire)
    transport.write(b"last words")
    transport.close()
    await asyncio.sleep(0)
    assert (wire.written, wire.is_closed) == ([b"last words"], True)


async def test_what_was_written_comes_before_the_end_of_writing_to_a_client_that_still_sends(wire):
    transport = over(wire, unread=True)
    transport.write(b"too large")
    transport.close()
    assert (wire.written, wire.is_closed) == ([b"too large", b"<end>"], False)


async def test_nothing_is_written_to_a_connection_that_was_lost(wire):
    transport = over(wire)
    transport.write(b"nobody reads this")
    wire.close()
    await asyncio.sleep(0)
    assert wire.written == []
