"""Late answers and a slow processor, for the browser tests of `make test-late`.

A page that relies on the order of answers works on a quiet machine and fails a person with a slow one. So each answer
of the server is held back for a random time once it is made, and the browser's processor is throttled. The times
follow from the seed of the test order, which the run prints: `make test-late ARGS=--randomly-seed=N`.
"""

import asyncio
import random

from playwright.async_api import Page
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LATEST_S = 0.4  # of an answer
TIMES_SLOWER = 4  # of the processor


class LateAnswers:
    """Sends the beginning of each answer of `app` up to LATEST_S late; the rest follows at once."""

    def __init__(self, app: ASGIApp, seed: int) -> None:
        self._app = app
        self._chance = random.Random(seed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        delay_s = self._chance.uniform(0, LATEST_S)

        async def send_late(message: Message) -> None:
            if message["type"] == "http.response.start":
                await asyncio.sleep(delay_s)
            await send(message)

        await self._app(scope, receive, send_late)


async def slow_down(page: Page) -> None:
    """Give the page a processor that is TIMES_SLOWER slower, until it is closed."""
    session = await page.context.new_cdp_session(page)
    await session.send("Emulation.setCPUThrottlingRate", {"rate": TIMES_SLOWER})
