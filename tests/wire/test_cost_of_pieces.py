"""A piece of a stream that holds nothing but text is decoded once, and its text is encoded once."""

from types import ModuleType
from typing import Any

import orjson
import pytest

from mnemoir.wire import openai_chat_answers, openai_stream, second_reading, upstream
from mnemoir.wire.answers import answer_reader

PIECE = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n'


class Counting:
    """Stands for `orjson` and counts its calls."""

    JSONDecodeError = orjson.JSONDecodeError

    def __init__(self) -> None:
        self.read = self.written = 0

    def loads(self, data: bytes) -> Any:
        self.read += 1
        return orjson.loads(data)

    def dumps(self, value: object) -> bytes:
        self.written += 1
        return orjson.dumps(value)


def test_a_piece_of_text_costs_one_decode_and_one_encode(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer, counting = (
        openai_chat_answers.AnswerReader(),
        openai_chat_answers.StreamWriter("m", "id", 1, False),
        Counting(),
    )
    for module in (openai_chat_answers, openai_stream, upstream, answer_reader, second_reading):
        assert isinstance(module, ModuleType)
        monkeypatch.setattr(module, "orjson", counting)
    writer.events(reader.feed(PIECE))  # the first one opens the answer too
    opened = (counting.read, counting.written)
    for _ in range(100):
        assert writer.events(reader.feed(PIECE))
    assert (counting.read - opened[0], counting.written - opened[1]) == (100, 100)
