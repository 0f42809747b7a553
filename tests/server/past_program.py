"""A server without a door, which goes on with what is queued until it is killed.

`python -m tests.server.past_program <data directory> <URL of the model>`
"""

import asyncio
import sys

from mnemoir.app.parts import open_parts
from mnemoir.settings import load_settings


async def main(data_dir: str, llm_url: str) -> None:
    model = {"llm.provider": "openai-chat", "llm.base_url": llm_url, "llm.api_key": "sk-1", "llm.model": "far-model"}
    parts = await open_parts(load_settings(None, {"storage.data_dir": data_dir, **model}, environ={}))
    await parts.start()
    await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
