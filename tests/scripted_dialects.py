"""How the scripted model server words its answers: six dialects, whole and streamed.

Written out by hand, and on purpose not with Mnemoir's own `wire`: a mistake there must not be hidden by the same
mistake here. A streamed answer comes in three parts, so that a fault can be put after the n-th piece of text.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CREATED = 1_767_225_600
CREATED_AT = "2026-01-01T00:00:00.000000Z"
MODEL = "scripted"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server says to one request, and what goes wrong while it says it.

    `pieces` is how the text is cut when streamed, words by default. `tool_calls` are (name, arguments) pairs;
    `usage` counts tokens of prompt and answer. With `body` set, exactly those bytes are sent, under `status` and
    `headers`. `*_after` count pieces of text: stop there until `release()`, tear the connection, end the body
    properly but without its end, put `bad_event` in between.
    """

    text: str = ""
    pieces: Sequence[str] | None = None
    thinking: str = ""
    tool_calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    reason: str = "stop"
    usage: tuple[int, int] = (7, 5)
    vectors: Sequence[Sequence[Any]] | None = None
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] | None = None
    silent: bool = False
    stall_after: int | None = None
    cut_after: int | None = None
    end_after: int | None = None
    bad_after: int | None = None
    bad_event: bytes = b"{not json"
    endless: bool = False
    crlf: bool = False
    bytewise: bool = False

    @property
    def words(self) -> Sequence[str]:
        """The pieces, in order; joined they are the text."""
        if self.pieces is not None:
            return self.pieces
        return [word for word in self.text.replace(" ", " \0").split("\0") if word]


@dataclass(frozen=True)
class Frames:
    """A streamed answer: what comes before the text, the text piece by piece, and the proper end."""

    opening: Sequence[bytes]
    pieces: Sequence[bytes]
    closing: Sequence[bytes]


@dataclass(frozen=True)
class Dialect:
    """One protocol: its whole body, its frames, and its media type when streamed."""

    whole: Callable[[Answer, Mapping[str, Any]], Mapping[str, Any]]
    frames: Callable[[Answer, Mapping[str, Any]], Frames]
    media_type: str
    streams_by_default: bool
    streams_always: bool | None = None  # where the path decides, and not the member `stream`

    def streams(self, body: Mapping[str, Any]) -> bool:
        """Whether `body` asks for a stream."""
        return body.get("stream", self.streams_by_default) if self.streams_always is None else self.streams_always

    def wrap(self, event: bytes) -> bytes:
        """One event as the protocol frames it."""
        return sse(event) if self.media_type == "text/event-stream" else event + b"\n"


def to_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def sse(event: bytes) -> bytes:
    return b"data: " + event + b"\n\n"


# --- OpenAI chat completions


def _chat_usage(answer: Answer) -> dict[str, Any]:
    spent, made = answer.usage
    return {"prompt_tokens": spent, "completion_tokens": made, "total_tokens": spent + made}


def _chat_calls(answer: Answer) -> list[dict[str, Any]]:
    return [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(answer.tool_calls)
    ]


def chat_whole(answer: Answer, body: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if not answer.tool_calls:
        message["content"] = answer.text
    else:
        message["tool_calls"] = _chat_calls(answer)
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": CREATED,
        "model": body.get("model", MODEL),
        "choices": [{"index": 0, "message": message, "finish_reason": _reason(answer)}],
        "usage": _chat_usage(answer),
    }


def chat_frames(answer: Answer, body: Mapping[str, Any]) -> Frames:
    head = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": body.get("model", MODEL),
    }

    def chunk(delta: Mapping[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return sse(to_json({**head, "choices": [choice]}))

    opening = [chunk({"role": "assistant", "content": ""})]
    opening += [chunk({"reasoning_content": answer.thinking})] if answer.thinking else []
    pieces = [chunk({"content": piece}) for piece in answer.words]
    closing = [chunk({"tool_calls": [{"index": n, **call}]}) for n, call in enumerate(_chat_calls(answer))]
    closing.append(chunk({}, _reason(answer)))
    if (body.get("stream_options") or {}).get("include_usage"):
        closing.append(sse(to_json({**head, "choices": [], "usage": _chat_usage(answer)})))
    return Frames(opening, pieces, [*closing, b"data: [DONE]\n\n"])


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.tool_calls and answer.reason == "stop" else answer.reason


# --- OpenAI text completions


def completion_whole(answer: Answer, body: Mapping[str, Any]) -> dict[str, Any]:
    choice = {"text": answer.text, "logprobs": None, "finish_reason": answer.reason}
    choices = [{**choice, "index": n} for n in range(_prompts(body))]
    return {**_completion_head(body), "choices": choices, "usage": _chat_usage(answer)}


def _prompts(body: Mapping[str, Any]) -> int:
    """The number of prompts, each of which has an answer."""
    prompt = body.get("prompt")
    return len(prompt) if isinstance(prompt, list) and not any(isinstance(one, int) for one in prompt) else 1


def completion_frames(answer: Answer, body: Mapping[str, Any]) -> Frames:
    def chunk(text: str, reason: str | None = None) -> bytes:
        choice = {"text": text, "logprobs": None, "finish_reason": reason}
        choices = [{**choice, "index": n} for n in range(_prompts(body))]
        return sse(to_json({**_completion_head(body), "choices": choices}))

    closing = [chunk("", answer.reason)]
    if (body.get("stream_options") or {}).get("include_usage"):
        closing.append(sse(to_json({**_completion_head(body), "choices": [], "usage": _chat_usage(answer)})))
    return Frames([], [chunk(piece) for piece in answer.words], [*closing, b"data: [DONE]\n\n"])


def _completion_head(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": "cmpl-scripted",
        "object": "text_completion",
        "created": CREATED,
        "model": body.get("model", MODEL),
    }


# --- KoboldCpp


def kobold_whole(answer: Answer, body: Mapping[str, Any]) -> dict[str, Any]:
    spent, made = answer.usage
    result = {
        "text": answer.text,
        "finish_reason": answer.reason,
        "prompt_tokens": spent,
        "completion_tokens": made,
    }
    return {"results": [result]}


def kobold_frames(answer: Answer, body: Mapping[str, Any]) -> Frames:
    def message(token: str) -> bytes:
        return b"event: message\n" + sse(to_json({"token": token}))

    return Frames([], [message(piece) for piece in answer.words or [""]], [])


# --- OpenAI Responses


def responses_whole(answer: Answer, body: Mapping[str, Any]) -> dict[str, Any]:
    spent, made = answer.usage
    incomplete = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(answer.reason)
    output: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs_1", "summary": []}]
    if answer.text or not answer.tool_calls:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        output.append(
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
        )
    output += [_response_call(call) for call in _chat_calls(answer)]
    return {
        "id": "resp_scripted",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if incomplete else "completed",
        "model": body.get("model", MODEL),
        "output": output,
        "usage": {
            "input_tokens": spent,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": spent + made,
        },
        "error": None,
        "incomplete_details": {"reason": incomplete} if incomplete else None,
    }


def _response_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {"type": "function_call", "id": f"fc_{call['id']}", "call_id": call["id"], **function}


def responses_frames(answer: Answer, body: Mapping[str, Any]) -> Frames:
    def event(kind: str, **members: Any) -> bytes:
        return f"event: {kind}\n".encode() + sse(to_json({"type": kind, **members}))

    whole = responses_whole(answer, body)
    at = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
    opening = [
        event("response.created", response={**whole, "status": "in_progress", "output": []}),
        event("response.output_item.added", output_index=0, item=whole["output"][0]),
    ]
    if answer.thinking:
        opening.append(event("response.reasoning_summary_text.delta", item_id="rs_1", delta=answer.thinking))
    pieces = [event("response.output_text.delta", **at, delta=piece) for piece in answer.words]
    closing = [event("response.output_text.done", **at, text=answer.text)]
    for n, call in enumerate(_chat_calls(answer), start=2):
        item = _response_call(call)
        closing += [
            event("response.output_item.added", output_index=n, item={**item, "arguments": ""}),
            event(
                "response.function_call_arguments.delta", item_id=item["id"], output_index=n, delta=item["arguments"]
            ),
            event("response.output_item.done", output_index=n, item=item),
        ]
    closing.append(event(f"response.{whole['status']}", response=whole))
    return Frames(opening, pieces, closing)


# --- Ollama


def _ollama_end(answer: Answer) -> dict[str, Any]:
    return {
        "done": True,
        "done_reason": answer.reason,
        "total_duration": 1000,
        "load_duration": 10,
        "prompt_eval_count": answer.usage[0],
        "prompt_eval_duration": 400,
        "eval_count": answer.usage[1],
        "eval_duration": 500,
    }


def _ollama_head(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"model": body.get("model", MODEL), "created_at": CREATED_AT}


def _ollama_calls(answer: Answer) -> dict[str, Any]:
    if not answer.tool_calls:
        return {}
    return {"tool_calls": [{"function": {"name": name, "arguments": given}} for name, given in answer.tool_calls]}


def _ollama_message(answer: Answer, **members: str) -> dict[str, Any]:
    return {"role": "assistant", "content": "", **members}


def ollama_chat_whole(answer: Answer, body: Mapping[str, Any]) -> dict[str, Any]:
    thinking = {"thinking": answer.thinking} if answer.thinking else {}
    message = {**_ollama_message(answer, content=answer.text, **thinking), **_ollama_calls(answer)}
    return {**_ollama_head(body), "message": message, **_ollama_end(answer)}


def ollama_chat_frames(answer: Answer, body: Mapping[str, Any]) -> Frames:
    def line(message: Mapping[str, Any], **end: Any) -> bytes:
        return to_json({**_ollama_head(body), "message": message, "done": False, **end}) + b"\n"

    thinking = [line(_ollama_message(answer, thinking=answer.thinking))] if answer.thinking else []
    pieces = [line(_ollama_message(answer, content=piece)) for piece in answer.words]
    calls = [line({**_ollama_message(answer), **_ollama_calls(answer)})] if answer.tool_calls else []
    return Frames(thinking, pieces, [*calls, line(_ollama_message(answer), **_ollama_end(answer))])


def ollama_generate_whole(answer: Answer, body: Mapping[str, Any]) -> dict[str, Any]:
    thinking = {"thinking": answer.thinking} if answer.thinking else {}
    return {**_ollama_head(body), "response": answer.text, **thinking, **_ollama_end(answer)}


def ollama_generate_frames(answer: Answer, body: Mapping[str, Any]) -> Frames:
    def line(**members: Any) -> bytes:
        return to_json({**_ollama_head(body), "response": "", "done": False, **members}) + b"\n"

    thinking = [line(thinking=answer.thinking)] if answer.thinking else []
    return Frames(thinking, [line(response=piece) for piece in answer.words], [line(**_ollama_end(answer))])


CHAT_DIALECTS: Mapping[str, Dialect] = {
    "/v1/chat/completions": Dialect(chat_whole, chat_frames, "text/event-stream", False),
    "/v1/completions": Dialect(completion_whole, completion_frames, "text/event-stream", False),
    "/api/v1/generate": Dialect(kobold_whole, kobold_frames, "text/event-stream", False, streams_always=False),
    "/api/extra/generate/stream": Dialect(
        kobold_whole, kobold_frames, "text/event-stream", True, streams_always=True
    ),
    "/v1/responses": Dialect(responses_whole, responses_frames, "text/event-stream", False),
    "/api/chat": Dialect(ollama_chat_whole, ollama_chat_frames, "application/x-ndjson", True),
    "/api/generate": Dialect(ollama_generate_whole, ollama_generate_frames, "application/x-ndjson", True),
}
