"""Answers as users of proxies, servers and front ends reported them in public, and the verdict on each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.wire.answer_kit import (
    BROKEN_OFF,
    DONE,
    END,
    HI,
    LINES,
    SOUND,
    UNREADABLE,
    USAGE,
    Case,
    Verdict,
    as_json,
    called,
    chunk,
    failed,
    lines,
    sse,
    whole,
)

_W = ("w", '{"c":1}')


def _call(arguments: Any = '{"c":1}', name: str | None = "w", **members: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {**members, "function": {one: value for one, value in function.items() if value is not None}}


def _calls(*calls: object) -> dict[str, Any]:
    return chunk({"tool_calls": list(calls)})


_CHAT: Mapping[str, tuple[bytes, Verdict]] = {
    "a router's comments": (b": OPENROUTER PROCESSING\n\n" * 3 + sse(HI, END, DONE), SOUND),
    "a router's comments, wrapped by a proxy": (b"data: : OPENROUTER PROCESSING\n\n" + sse(HI, END, DONE), SOUND),
    "a ping as an object": (sse({"type": "ping"}, HI, {"type": "ping"}, END, DONE), SOUND),
    "blank lines before a whole answer": (b"\n\n\n\n" + as_json(whole({"content": "Hi "}) | {"usage": None}), SOUND),
    "comments before a whole answer": (
        b": keep-alive\n\n" * 2 + sse(whole({"content": "Hi "}) | {"usage": None}),
        SOUND,
    ),
    "no space and further members": (
        b"data:" + as_json({**HI, "content": "", "lastOne": False}) + b"\n\ndata:" + as_json(END) + b"\n\n",
        SOUND,
    ),
    "a reason of nothing in each frame": (sse(chunk({"content": "Hi "}, ""), END, DONE), SOUND),
    "no reason and an end": (sse(HI, chunk({}, None), DONE), SOUND),
    "the reason beside the last word": (sse(chunk({"content": "Hi "}, "stop"), DONE), SOUND),
    "the reason twice": (sse(HI, END, {**END, "usage": USAGE}, DONE), Verdict(text="Hi ", usage=(3, 2))),
    "usage in each frame": (sse({**HI, "usage": USAGE}, {**END, "usage": USAGE}), Verdict(text="Hi ", usage=(3, 2))),
    "a filter's frame first": (sse({"choices": [], "prompt_filter_results": []}, HI, END, DONE), SOUND),
    "a filter's own failure": (
        sse(
            chunk({"content": "Hi "})
            | {
                "choices": [
                    {
                        "delta": {"content": "Hi "},
                        "content_filter_result": {"error": {"code": "content_filter_error"}},
                    }
                ]
            },
            END,
            DONE,
        ),
        SOUND,
    ),
    "words on index 1 and the end on 0": (
        sse({"choices": [{"index": 1, "delta": {"content": "Hi "}}]}, END, DONE),
        SOUND,
    ),
    "lines of JSON": (b"\n".join(map(as_json, (HI, END))) + b"\n", SOUND),
    "lines of JSON and no reason": (b"\n".join(map(as_json, (HI, HI))) + b"\n", BROKEN_OFF),
    "thoughts by two names": (
        sse(chunk({"reasoning": "hm", "reasoning_content": "hm"}), HI, END, DONE),
        Verdict(text="Hi ", thinking="hm"),
    ),
    "thoughts by the other name": (
        sse(chunk({"reasoning": "hm"}), HI, END, DONE),
        Verdict(text="Hi ", thinking="hm"),
    ),
    "thoughts in parts": (
        sse(chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}), HI, END),
        Verdict(text="Hi ", thinking="hm"),
    ),
}
_FAILURES: Mapping[str, tuple[bytes, Verdict, str]] = {
    "an error and no choices": (
        sse(HI, {"choices": [], "error": {"message": "request limit reached", "code": 502}}, DONE),
        failed("ProviderUnavailable", 502),
        "request limit reached",
    ),
    "an error beside the reason error": (
        sse(HI, chunk({"content": ""}, "error", error={"code": "server_error", "message": "disconnected"})),
        failed("ProviderUnavailable", 500),
        "disconnected",
    ),
    "an error with the words of another server": (
        sse({"error": {"message": "Provider error", "code": 429, "metadata": {"raw": "no quota"}}, "choices": []}),
        failed("ProviderRefused", 429),
        "no quota",
    ),
    "a network error": (sse(HI, chunk({}, "network_error"), DONE), BROKEN_OFF, "network_error"),
    "an error told twice": (
        sse(HI, {"error": {"message": "Compute error."}, "message": "Compute error."}),
        BROKEN_OFF,
        "Compute error.",
    ),
    "a named error of a tool": (
        sse(HI)
        + b'event: error\ndata: {"error":{"message":"no such tool","code":"tool_use_failed","status_code":400}}\n\n',
        failed("ProviderRefused", 400),
        "no such tool",
    ),
    "a named error with a type": (
        sse(HI) + b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n',
        failed("ProviderUnavailable", 503),
        "busy",
    ),
    "an error with its kind beside it": (
        sse(HI, {"error": "Request failed during generation", "error_type": "generation"}),
        BROKEN_OFF,
        "during generation",
    ),
    "an error that calls itself one": (
        sse(HI, {"error": {"object": "error", "message": "too long", "code": 400}}),
        failed("ProviderRefused", 400),
        "too long",
    ),
    "a gateway's words": (sse(HI) + b"error code: 524", UNREADABLE, "error code: 524"),
    "a gateway's page": (sse(HI) + b"<html><title>524</title></html>", UNREADABLE, "524"),
    "an abort and an end": (sse(HI, chunk({}, "abort"), DONE), BROKEN_OFF, "abort"),
    "an error in a list": (
        as_json([{"error": {"code": 404, "message": "no model", "status": "NOT_FOUND"}}]),
        failed("ProviderRefused", 404),
        "no model",
    ),
}
_TOOLS: Mapping[str, tuple[bytes, Verdict]] = {
    "no index and no reason of its own": (sse(_calls(_call(id="a")), END, DONE), called(_W)),
    "fragments without an index": (sse(_calls(_call('{"c"', id="a")), _calls(_call(":1}", None)), END), called(_W)),
    "a piece of members alone": (
        sse(_calls(_call(id="a")), _calls({"extra_content": {"google": {"thought_signature": "x"}}}), END),
        called(_W),
    ),
    "an empty id, whole": (as_json({"choices": [{"message": {"tool_calls": [_call(id="")]}}]}), called(_W)),
    "an empty name in later pieces": (
        sse(_calls(_call('{"c"', index=0, id="a")), _calls(_call(":1}", "", index=0, id="")), END),
        called(_W),
    ),
    "one index for two ids": (
        sse(_calls(_call(index=0, id="a"), _call(index=0, id="b")), END),
        called(_W, _W),
    ),
    "one index, and fragments of the second": (
        sse(
            _calls(_call(index=0, id="a")),
            _calls(_call("{", index=0, id="b")),
            _calls(_call("}", None, index=0)),
            END,
        ),
        called(_W, ("w", "{}")),
    ),
    "one id for two calls": (
        sse(_calls(_call(index=0, id="a"), _call("{}", "v", index=1, id="a")), END),
        called(_W, ("v", "{}")),
    ),
    "all arguments once more": (
        sse(
            _calls(_call("", index=0, id="a")),
            _calls(_call(name=None, index=0)),
            _calls(_call(name=None, index=0)),
            END,
        ),
        called(_W),
    ),
    "all of the call once more": (
        sse(_calls(_call(index=0, id="a")), _calls(_call(index=0, id="a")), END),
        called(_W),
    ),
    "the reason twice behind a call": (
        sse(_calls(_call(index=0, id="a")), chunk({}, "tool_calls"), chunk({}, "tool_calls", usage=USAGE), DONE),
        Verdict(calls=(_W,), reason="tool_calls", usage=(3, 2)),
    ),
    "the first fragment beside the name": (
        sse(_calls(_call("{", index=0, id="a")), _calls(_call('"c":1}', None, index=0)), END),
        called(_W),
    ),
}


def _text(text: str, **place: Any) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "delta": text, **place}


def _message(text: str, **members: Any) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "output_text", "text": text}], **members}


def _item(name: str = "w", call_id: str = "a", arguments: str = '{"c":1}', **members: Any) -> dict[str, Any]:
    return {"type": "function_call", "name": name, "call_id": call_id, "arguments": arguments, **members}


def _event(kind: str, index: int, item: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": f"response.output_item.{kind}", "output_index": index, "item": item}


def _end(*output: object, status: str = "completed", **members: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, "output": list(output), **members}}


_HM = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
_RESPONSES: Mapping[str, tuple[bytes, Verdict]] = {
    "the end of a text behind its first piece": (
        sse(
            _text("H", output_index=0),
            {"type": "response.output_text.done", "output_index": 0, "text": "H"},
            _event("done", 0, _message("H")),
            _text("i ", output_index=0),
            _end(_message("Hi ")),
        ),
        SOUND,
    ),
    "another id in each event": (
        sse(
            _text("H", output_index=0, item_id="x"),
            _text("i ", output_index=0, item_id="y"),
            _event("done", 0, _message("Hi ", id="z")),
            _end(_message("Hi ", id="q")),
        ),
        SOUND,
    ),
    "an end that lacks an item": (
        sse(_event("done", 0, _HM), _event("done", 1, _message("Hi ", id="a")), _end(_message("Hi ", id="b"))),
        Verdict(text="Hi ", thinking="hm"),
    ),
    "an output of null": (sse(_text("Hi "), {"type": "response.completed", "response": {"output": None}}), SOUND),
    "an end of another protocol behind it": (sse(_text("Hi "), _end(_message("Hi ")), DONE), SOUND),
    "thoughts alone at the limit": (
        sse(_end(_HM, status="incomplete", incomplete_details={"reason": "max_output_tokens"})),
        Verdict(thinking="hm", reason="length"),
    ),
    "thoughts alone at the limit, whole": (
        as_json(_end(_HM, status="incomplete", incomplete_details={"reason": "max_output_tokens"})["response"]),
        Verdict(thinking="hm", reason="length"),
    ),
    "calls that share a place": (
        sse(
            *(_event("added", 0, _item(call_id=one, arguments="", id=f"i{one}")) for one in "ab"),
            *(
                {
                    "type": "response.function_call_arguments.delta",
                    "item_id": f"i{one}",
                    "output_index": 0,
                    "delta": '{"c":1}',
                }
                for one in "ab"
            ),
            *(_event("done", 0, _item(call_id=one, id=f"i{one}")) for one in "ab"),
            _end(_item(call_id="a"), _item(call_id="b")),
        ),
        called(_W, _W),
    ),
    "a call without pieces": (sse(_event("done", 1, _item()), _end(_item())), called(_W)),
    "pieces of two items in turns": (
        sse(
            _text("a", output_index=0),
            _text("c", output_index=1),
            _text("b", output_index=0),
            _end(_message("ab"), _message("c")),
        ),
        Verdict(text="acb"),
    ),
}
_OLLAMA: Mapping[str, tuple[bytes, Verdict, str]] = {
    "an error of another name": (
        lines({"message": {"content": "Hi"}, "done": False}, {"error parsing tool call": "invalid character"}),
        UNREADABLE,
        "invalid character",
    ),
    "an error with its status": (
        lines({"StatusCode": 401, "Status": "401 Unauthorized", "error": "unauthorized"}),
        failed("ProviderRefused", 401),
        "unauthorized",
    ),
    "two calls alike": (
        lines(*({"message": {"content": "", "tool_calls": [_call({"c": 1})]}, "done": one} for one in (False, True))),
        called(_W, _W),
        "",
    ),
    "lines that end in CRLF": (
        lines({"message": {"content": "Hi"}, "done": False}, {"message": {"content": " "}, "done": True}).replace(
            b"\n", b"\r\n"
        ),
        SOUND,
        "",
    ),
    "a last line without an end": (
        lines({"message": {"content": "Hi "}, "done": False}, {"done": True, "done_reason": "stop"})[:-1],
        SOUND,
        "",
    ),
}


def split_calls() -> Iterator[Case]:
    """Answers of which the text and each call have a choice of their own, as GitHub's Copilot writes them."""
    text = {"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "tool_calls"}
    calls = [
        {"message": {"role": "assistant", "tool_calls": [{"id": one, **_call("{}")}]}, "finish_reason": "tool_calls"}
        for one in "ab"
    ]
    both = Verdict(text="Hi", calls=(("w", "{}"),) * 2, reason="tool_calls")
    for name, index in (("no index", {}), ("one index", {"index": 0}), ("an index of null", {"index": None})):
        choices = [{**choice, **index} for choice in (text, *calls)]
        yield _case("openai-chat", f"calls in choices of {name}", as_json({"choices": choices}), both)
        in_frame = [{**choice, "delta": choice["message"], "message": None} for choice in choices]
        yield _case("openai-chat", f"calls in choices of {name}, streamed", sse({"choices": in_frame}, DONE), both)
    two = [{**text, "index": n, **({} if n else calls[0])} for n in (0, 1)]
    first = Verdict(calls=(("w", "{}"),), reason="tool_calls")
    yield _case("openai-chat", "two choices of two indexes", as_json({"choices": two}), first)
    usage = {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    counted = {"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop", **usage}
    said = Verdict(text="Hi", usage=(3, 2))
    yield _case("openai-chat", "counts within the choice", as_json({"choices": [counted]}), said)
    yield _case("openai-chat", "counts within the choice, streamed", sse({"choices": [counted]}, DONE), said)
    for status in ({}, {"status": None}):
        output = {**status, "output": [{"type": "message", "content": "Hi"}]}
        yield _case("openai-responses", f"an output and the status {status}", as_json(output), Verdict(text="Hi"))


def reports() -> Iterator[Case]:
    for name, (body, verdict) in (*_CHAT.items(), *_TOOLS.items()):
        yield _case("openai-chat", name, body, verdict)
    for name, (body, verdict, words) in _FAILURES.items():
        yield _case("openai-chat", name, body, verdict, words)
    for name, (body, verdict) in _RESPONSES.items():
        yield _case("openai-responses", name, body, verdict)
    for kind in ("response.error", "response.unknown"):
        error = {"type": kind, "error": {"code": "server_error", "message": "boom"}}
        said = failed("ProviderUnavailable", 500)
        yield _case("openai-responses", f"an error by the name {kind}", sse(_text("Hi"), error, _end()), said, "boom")
    numbered = {"type": "error", "code": "400", "message": "not found", "sequence_number": 5}
    yield _case("openai-responses", "a code in words", sse(numbered), failed("ProviderRefused", 400), "not found")
    for name, (body, verdict, words) in _OLLAMA.items():
        yield _case("ollama-chat", name, body, verdict, words)
    yield from split_calls()


def _case(protocol: str, name: str, body: bytes, verdict: Verdict, words: str = "") -> Case:
    label = "application/x-ndjson" if protocol in LINES else "text/event-stream"
    return Case(
        protocol=protocol, name=name, body=body, verdict=verdict, words=words, media_type=label, reach="reader"
    )


REPORTED: Sequence[Case] = tuple(reports())
