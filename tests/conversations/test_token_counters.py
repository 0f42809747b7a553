"""Token costs of messages, and failing counters."""

import hashlib
import json
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs
from tokenizers import Tokenizer

from mnemoir.conversations.windows.counters import (
    CHARS4,
    HEURISTIC,
    FunctionCounter,
    counter_named,
    estimate_tokens,
    estimate_total_tokens,
    local_encoding,
    model_counter,
    plain_model_counter,
    tiktoken_counter,
)
from mnemoir.core.conversations import MediaPart, Message, TextPart, ToolCall
from mnemoir.core.errors import SettingsError
from tests.conversations.counted_texts import CJK, ENGLISH
from tests.conversations.histories import any_messages

SCREENSHOT = MediaPart(type="image", mime_type="image/png", base64_data="A" * 400_000)


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (Message("user", ""), 0),
        (Message("user", "abc"), 0),
        (Message("user", "x" * 9), 2),
        (Message("tool", "x" * 40, tool_call_id="c"), 10),
        (Message("assistant", None), 0),
        (Message("assistant", None, tool_calls=[ToolCall("c", "search", {"q": "x" * 8})]), 4),
        (Message("assistant", "x" * 3, tool_calls=[ToolCall("c", "f", {}), ToolCall("d", "f", {"q": "é"})]), 5),
        (Message("user", [SCREENSHOT, TextPart("x" * 8)]), 87),
    ],
)
def test_chars4_is_a_quarter_of_the_letters_and_of_the_arguments_as_json_rounded_down(message, tokens):
    assert CHARS4.count([message]) == CHARS4.count_one(message) == tokens


def test_chars4_counts_the_arguments_with_escapes_as_json_writes_them():
    arguments = {"place": "京都"}
    assert CHARS4.count_one(Message("assistant", None, tool_calls=[ToolCall("c", "f", arguments)])) == (
        len(json.dumps(arguments)) // 4
    )


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (Message("user", ""), 4),
        (Message("user", "abc"), 5),
        (Message("user", "x" * 9), 7),
        (Message("user", "日本語"), 7),
        (Message("user", "日本 go"), 7),
        (Message("user", "한국어"), 7),
        (Message("user", "👍👍"), 6),
        (Message("assistant", None), 4),
        (Message("assistant", None, tool_calls=[ToolCall("c", "look", {"q": 1})]), 7),
        (Message("assistant", None, tool_calls=[ToolCall("c", "look", {"q": "京都"})]), 10),
        (Message("user", [SCREENSHOT]), 89),
        (Message("user", [MediaPart(type="document", url="https://x/y", tokens=1200), TextPart("abcd")]), 1205),
        (Message("user", [MediaPart(type="audio", tokens=0)]), 4),
    ],
)
def test_heuristic_counts_four_a_message_wide_characters_one_by_one_and_files_at_their_price(message, tokens):
    assert HEURISTIC.count_one(message) == tokens


@given(messages=any_messages(), at=st.integers(0, 16))
def test_the_built_in_counters_add_up_and_never_count_the_bytes_of_a_file(messages, at):
    for counter in (CHARS4, HEURISTIC):
        assert counter.growth == "additive"
        assert counter.count(messages) == counter.count(messages[:at]) + counter.count(messages[at:])
        assert counter.count([*messages, Message("user", [SCREENSHOT])]) - counter.count(messages) < 100


@pytest.fixture(scope="module")
def wordpiece():
    """The vocabulary that the built-in embedding model brings along: a real encoder that is always there."""
    folder = resources.files("mnemoir.providers.embedding.minilm")
    return Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))


class Encoder:
    """A tokenizer with the methods of an encoding."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self.longest = 0

    def encode_ordinary(self, text: str) -> list[int]:
        self.longest = max(self.longest, len(text))
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, tokens: Sequence[int]) -> str:
        return self._tokenizer.decode(list(tokens))


def test_heuristic_is_within_a_quarter_of_an_encoder_on_english(wordpiece):
    messages = [Message("user", text) for text in list(ENGLISH)[:8]]
    exact = tiktoken_counter(Encoder(wordpiece))
    assert HEURISTIC.count(messages) == pytest.approx(exact.count(messages), rel=0.25)
    for message in messages:
        assert HEURISTIC.count_one(message) == pytest.approx(exact.count_one(message), rel=0.33)


def test_heuristic_is_never_a_third_under_the_characters_of_a_script_without_spaces():
    for text in CJK:
        assert HEURISTIC.count_one(Message("user", text)) >= 0.7 * len(text)


def test_an_encoding_given_as_an_object_counts_texts_calls_and_files(wordpiece):
    counter = tiktoken_counter(Encoder(wordpiece))
    assert counter.count_one(Message("user", "the cat sat")) == 4 + 3
    assert counter.count_one(Message("user", [SCREENSHOT, TextPart("the cat sat")])) == 4 + 3 + 85
    assert counter.count_one(Message("assistant", None, tool_calls=[ToolCall("c", "cat", {})])) > 4
    assert counter.growth == "additive"


def test_a_word_of_megabytes_is_encoded_in_pieces(wordpiece):
    encoder = Encoder(wordpiece)
    tiktoken_counter(encoder).count_one(Message("user", "x" * 100_000))
    assert encoder.longest <= 8192


def cached(folder: Path, name: str) -> Path:
    address = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    return folder / hashlib.sha1(address.encode()).hexdigest()


def test_an_encoding_that_is_not_on_this_machine_is_not_fetched_and_the_estimate_says_so_once(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with capture_logs() as logs:
        first, second = tiktoken_counter("not_an_encoding"), tiktoken_counter("not_an_encoding")
    assert first is second is HEURISTIC
    assert [(line["event"], line["counter"]) for line in logs] == [
        ("token_counter_failed", "tiktoken not_an_encoding")
    ]
    assert tiktoken_counter("o200k_base") is HEURISTIC
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_encoding_file_is_left_alone_and_not_replaced_from_the_network(tmp_path, monkeypatch):
    (tmp_path / "tiktoken.py").write_text("def get_encoding(name): raise OSError('no network to load ' + name)")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "tiktoken", raising=False)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    cached(tmp_path, "cl100k_base").write_bytes(b"IQ== 0\n")
    assert local_encoding("cl100k_base") is None
    assert cached(tmp_path, "cl100k_base").read_bytes() == b"IQ== 0\n"


def test_a_cache_that_is_switched_off_has_no_encodings(monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert local_encoding("r50k_base") is None


def test_tiktoken_itself_counts_when_it_is_installed():
    tiktoken = pytest.importorskip("tiktoken")
    letters = tiktoken.Encoding(
        "letters", pat_str=r"\S+|\s+", mergeable_ranks={bytes([byte]): byte for byte in range(256)}, special_tokens={}
    )
    assert tiktoken_counter(letters).count_one(Message("user", "hey you <|endoftext|> \ud800")) == 4 + 22 + 3


class Model:
    """A model that counts as it is told to."""

    def __init__(self, *answers) -> None:
        self.answers = list(answers)
        self.asked = 0

    def get_llm_num_tokens(self, messages):
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


HELLO = [Message("user", "hello"), Message("assistant", "hello")]


def test_a_model_counts_whole_lists_and_says_nothing_of_how_they_grow():
    counter = model_counter(Model(17, 5))
    assert (counter.count(HELLO), counter.count_one(HELLO[0]), counter.growth) == (17, 5, "unknown")


def test_a_model_may_be_said_to_count_monotonously_or_say_so_itself():
    class Monotone(Model):
        token_growth = "monotone"

    assert model_counter(Model(), "monotone").growth == model_counter(Monotone()).growth == "monotone"
    assert model_counter(Monotone(), "unknown").growth == "unknown"
    assert plain_model_counter(Monotone()).growth == "monotone"


@pytest.mark.parametrize(("said", "growth"), [("additive", "monotone"), ("wildly", "unknown"), (None, "unknown")])
def test_a_models_declared_growth_counts_at_most_as_monotone(said, growth):
    model = Model()
    vars(model)["token_growth"] = said
    assert model_counter(model).growth == growth


def test_a_model_may_answer_with_the_numbers_of_numpy():
    model = Model(np.int64(17))
    assert model_counter(model).count(HELLO) == 17
    assert model.asked == 1


def test_an_empty_list_is_not_counted_by_the_model():
    counter = model_counter(Model())
    assert counter.count([]) == 0
    assert counter.growth == "unknown"


@pytest.mark.parametrize("answer", [0, -3, None, 12.5, RuntimeError("down")])
def test_a_model_that_cannot_count_is_replaced_by_the_estimate_for_good(answer):
    model = Model(answer, 99)
    counter = model_counter(model)
    assert counter.count(HELLO) == HEURISTIC.count(HELLO)
    assert counter.count_one(HELLO[0]) == HEURISTIC.count_one(HELLO[0])
    assert (counter.growth, model.asked) == ("additive", 1)


def test_a_failing_model_is_logged_once_without_texts_of_the_chat():
    class FailingModel(Model):
        pass

    with capture_logs() as logs:
        for _ in range(3):
            model_counter(FailingModel(ValueError("hello"))).count(HELLO)
    assert [line["reason"] for line in logs] == ["it raised ValueError"]
    assert "hello" not in str(logs)


def test_a_function_counter_accepts_every_result():
    assert FunctionCounter(lambda messages: 0).count(HELLO) == 0
    assert FunctionCounter(len).count_one(HELLO[0]) == 1


def test_counters_have_names():
    assert counter_named("chars4") is CHARS4
    assert counter_named("heuristic") is HEURISTIC
    assert counter_named("model", Model(7)).count(HELLO) == 7
    with pytest.raises(SettingsError, match="needs a model"):
        counter_named("model")
    with pytest.raises(SettingsError, match="chars4, heuristic, tiktoken, model"):
        counter_named(cast(Any, "words"))


def test_the_public_estimates_are_characters_by_four_and_their_sum():
    call = Message("assistant", "x" * 5, tool_calls=[ToolCall("1", "weather", {"city": "Graz"})])  # 16 as JSON
    assert [estimate_tokens(message) for message in (Message("user", "x" * 9), call)] == [2, 5]
    assert estimate_total_tokens([Message("user", "x" * 9), call]) == 7
    assert estimate_total_tokens([]) == 0
    assert (estimate_tokens([Message("user", "x" * 9), call]), estimate_tokens(())) == (7, 0)


@given(any_messages())
def test_the_public_estimates_are_those_of_the_counter(messages):
    assert estimate_total_tokens(messages) == CHARS4.count(messages) == sum(map(estimate_tokens, messages))
