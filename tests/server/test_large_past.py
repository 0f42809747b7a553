"""A past of ten thousand messages comes in within seconds, and takes little memory."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

import psutil
import pytest

from tests.server.pasts import USER, chat, estimated, export

WORDS = "Today I was out rowing with friends from the club, and it was windy. " * 6


def used_mib() -> float:
    used: int = psutil.Process().memory_info().rss
    return used / 2**20


@contextmanager
def growth_mib() -> Iterator[list[float]]:
    """By how much this process grows at most while the body runs, in MiB; the value is there behind it."""
    before, peak, ended = used_mib(), [0.0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            peak[0] = max(peak[0], used_mib() - before)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield peak
    finally:
        ended.set()
        watching.join()


@pytest.mark.slow
@pytest.mark.real_time
async def test_ten_thousand_messages_come_in_within_twenty_seconds_and_120_mib(server):
    said = [("user" if number % 2 == 0 else "assistant", "2023-05-01", f"{number}. {WORDS}") for number in range(50)]
    file = export(*(chat(f"chat-{number}", *said) for number in range(200)))
    began = perf_counter()
    with growth_mib() as grown:
        told = await server.post(f"/api/conversations/import?user_id={USER}", file)
    assert (told["conversations"], told["messages"]) == (200, 10_000)
    assert perf_counter() - began <= 20
    assert grown[0] <= 120
    assert (await estimated(server, told["import_id"]))["turns"] == 5000
