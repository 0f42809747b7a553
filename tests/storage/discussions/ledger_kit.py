"""Short words for the tests of discussions in files: sources, entries of WilmerAI, what a ledger holds."""

import json
from hashlib import sha256

from mnemoir.core.discussions import ChunkSource, Discussion, SourceMessage

ARRAYS = ["d1/memories.json", "d1_memories.json", "d1_memories.jsonl"]


def digest(text):
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def source(*texts):
    """The chunk of messages with these texts."""
    return ChunkSource(
        hash=digest(texts[-1]),
        digests=tuple(digest(text)[:16] for text in texts),
        messages=tuple(SourceMessage(role="user", text=text) for text in texts),
    )


def foreign(text, **members):
    """An entry as WilmerAI writes it."""
    return {"text_block": text, "hash": digest(text), **members}


def array(*values):
    return json.dumps(values, indent=4)


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


async def texts(ledger, discussion):
    return [chunk.text for chunk in await ledger.all(discussion)]


async def live(ledger, discussion):
    return [chunk.text for chunk in await ledger.all(discussion) if chunk.stale_since is None]


def called(root, id="d1"):
    return Discussion(root=root, id=id)


def keys(blocks):
    return [block.key for block in blocks]


def put(root, place, content):
    file = root / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file
