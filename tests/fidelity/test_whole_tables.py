"""The tables name every member that the installed packages of OpenAI and Ollama know."""

from collections.abc import Iterable, Mapping
from typing import Any, get_type_hints

import pytest
from ollama import _types as ollama
from openai.types import completion_create_params, embedding_create_params
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionAssistantMessageParam,
    ChatCompletionChunk,
    ChatCompletionContentPartImageParam,
    ChatCompletionContentPartInputAudioParam,
    ChatCompletionContentPartTextParam,
    ChatCompletionMessage,
    ChatCompletionStreamOptionsParam,
    chat_completion,
    chat_completion_chunk,
)
from openai.types.chat import (
    completion_create_params as chat_create_params,
)
from openai.types.completion_usage import CompletionTokensDetails, CompletionUsage, PromptTokensDetails

from tests.fidelity import (
    embedding_requests,
    ollama_answers,
    ollama_requests,
    openai_answers,
    openai_chat_requests,
    openai_completion_requests,
)

CHAT = {row.name for row in openai_chat_requests.ROWS}
ANSWERS = {row.name for row in openai_answers.ROWS}
ASKED: Mapping[str, tuple[Iterable[Any], type]] = {
    "chat": (openai_chat_requests.ROWS, chat_create_params.CompletionCreateParamsNonStreaming),
    "completions": (openai_completion_requests.ROWS, completion_create_params.CompletionCreateParamsNonStreaming),
    "embeddings": (embedding_requests.OPENAI.ROWS, embedding_create_params.EmbeddingCreateParams),
}
OLLAMA: Mapping[str, tuple[Iterable[Any], Any]] = {
    "chat": (ollama_requests.CHAT.ROWS, ollama.ChatRequest),
    "generate": (ollama_requests.GENERATE.ROWS, ollama.GenerateRequest),
    "embed": (embedding_requests.OLLAMA.ROWS, ollama.EmbedRequest),
    "embeddings": (embedding_requests.OLLAMA_PROMPT.ROWS, ollama.EmbeddingsRequest),
}


@pytest.mark.parametrize("name", ASKED)
def test_every_member_of_a_request_that_openai_knows_is_in_its_table(name: str) -> None:
    rows, known = ASKED[name]
    assert set(get_type_hints(known)) <= {row.name for row in rows}


@pytest.mark.parametrize("name", OLLAMA)
def test_every_member_of_a_request_that_ollama_knows_is_in_its_table(name: str) -> None:
    rows, known = OLLAMA[name]
    assert set(known.model_fields) - {"options"} <= {row.name for row in rows}


def test_every_option_that_ollama_knows_is_in_the_table() -> None:
    options = {f"options.{name}" for name in ollama.Options.model_fields}
    assert options <= {row.name for row in ollama_requests.CHAT.ROWS}


def test_every_member_of_a_message_and_its_parts_is_in_the_table() -> None:
    read = {"content", "type", "image_url", "input_audio", "text"}
    message = {f"messages.{name}" for name in get_type_hints(ChatCompletionAssistantMessageParam)}
    assert message - {"messages.content", "messages.role"} <= CHAT
    for part in (
        ChatCompletionContentPartTextParam,
        ChatCompletionContentPartImageParam,
        ChatCompletionContentPartInputAudioParam,
    ):
        assert {f"messages.content.{name}" for name in set(get_type_hints(part)) - read} <= CHAT
    options = {f"stream_options.{name}" for name in get_type_hints(ChatCompletionStreamOptionsParam)}
    assert options - {"stream_options.include_usage"} <= CHAT


FORMER = "message.function_call"
"""A tool call by its former name, which comes back as one: see `tests/wire/answers_of_calls.py`."""


def test_every_member_of_an_answer_that_openai_knows_is_in_its_table() -> None:
    known = {*ChatCompletion.model_fields, *ChatCompletionChunk.model_fields}
    known |= {f"message.{name}" for name in ChatCompletionMessage.model_fields}
    known |= {f"message.{name}" for name in chat_completion_chunk.ChoiceDelta.model_fields}
    known |= {f"choices.{name}" for name in chat_completion.Choice.model_fields}
    known |= {f"choices.{name}" for name in chat_completion_chunk.Choice.model_fields}
    known |= {f"usage.{name}" for name in CompletionUsage.model_fields}
    known |= {f"usage.completion_tokens_details.{name}" for name in CompletionTokensDetails.model_fields}
    known |= {f"usage.prompt_tokens_details.{name}" for name in PromptTokensDetails.model_fields}
    assert known - {FORMER} <= ANSWERS


def test_every_member_of_a_line_that_ollama_knows_is_in_its_table() -> None:
    known = {*ollama.ChatResponse.model_fields, *ollama.GenerateResponse.model_fields}
    known |= {f"message.{name}" for name in ollama.Message.model_fields}
    assert known <= {row.name for row in (*ollama_answers.ROWS, *ollama_answers.OF_GENERATE)}
