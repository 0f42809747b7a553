"""Every member of a request to `/v1/completions`, and what becomes of it.

A prompt is answered as a chat. With a member that only this route has it goes on raw to the same route.
"""

from collections.abc import Sequence

from tests.fidelity.fates import SAME, USED, Fate, Json, Row, dropped, raw, refused, to

PATH = "/v1/completions"
PLAIN: Json = {"model": "?", "prompt": "Hello"}
_RAW = raw(PATH)


def _row(name: str, given: Json, **fates: Fate) -> Row:
    """Passed to OpenAI's chat, told to other places, where nothing else is said."""
    every, told = fates.get("every"), fates.get("told") or dropped(name)
    return Row(
        name=name,
        given=given,
        fates={
            "openai-chat": fates.get("chat") or every or SAME,
            "openai-responses": fates.get("responses") or every or told,
            "ollama": fates.get("ollama") or every or told,
            "tree": fates.get("tree") or fates.get("told") or every or SAME,
            "closed tree": fates.get("closed") or every or told,
        },
    )


def _member(name: str, value: object, **fates: Fate) -> Row:
    return _row(name, {name: value}, **fates)


def _own(name: str, value: object) -> Row:
    """A member that only this route has."""
    return _row(name, {name: value}, chat=_RAW, told=dropped(name))


def _option(name: str, value: object, **fates: Fate) -> Row:
    """A member that Ollama takes among its options."""
    return _member(name, value, ollama=to(f"`options.{name}`", options={name: value}), **fates)


ROWS: Sequence[Row] = (
    _member("model", "?", every=USED),
    _member("prompt", "Hello", every=USED),
    _member("stream", True, every=USED),
    _member("stream_options", {"include_usage": True}, every=USED),
    *(
        _member(name, value, every=USED)
        for name, value in {"store": False, "user": "alex", "metadata": {"topic": "bees"}}.items()
    ),
    _option("temperature", 0.5, responses=SAME),
    _option("top_p", 0.5, responses=SAME),
    _option("seed", 7),
    _option("presence_penalty", 0.5),
    _option("frequency_penalty", 0.5),
    _option("stop", ["\n"], responses=USED),
    _option("top_k", 2),
    _member(
        "max_tokens",
        9,
        responses=to(max_output_tokens=9),
        ollama=to("`options.num_predict`", options={"num_predict": 9}),
        tree=dropped("max_tokens"),
    ),
    _member("logit_bias", {"50256": -100}),
    _row("stream_options.include_obfuscation", {"stream_options": {"include_obfuscation": False}}),
    _own("suffix", "."),
    _own("echo", True),
    _own("best_of", 2),
    _own("logprobs", 2),
    _row("n", {"n": 2}, chat=_RAW, told=refused("n")),
    _row("several prompts", {"prompt": ["Hello", "Bye"]}, chat=_RAW, told=refused("prompt")),
    _row("prompts of tokens", {"prompt": [[1, 2], [3]]}, chat=_RAW, told=refused("prompt")),
    _row("one prompt of tokens", {"prompt": [[1, 2, 3]]}, chat=_RAW, told=refused("prompt")),
    _row("one token", {"prompt": [1]}, chat=_RAW, told=refused("prompt")),
    _member("api_key", "canary", chat=dropped("api_key"), tree=dropped("api_key")),
)
