"""Every member of a request for vectors, by both protocols, and what becomes of it."""

from types import SimpleNamespace

from tests.fidelity.fates import SAME, USED, Fate, Json, Row, dropped

_SIZE = 16  # of the scripted model's vectors


def _openai(name: str, value: object, same: Fate = SAME, other: Fate | None = None) -> Row:
    return Row(name=name, given={name: value}, fates={"openai-chat": same, "ollama": other or dropped(name)})


def _ollama(name: str, value: object, same: Fate = SAME, other: Fate | None = None) -> Row:
    given: Json = {"options": {"num_ctx": 512}} if name == "options.num_ctx" else {name: value}
    return Row(name=name, given=given, fates={"ollama": same, "openai-chat": other or dropped(name)})


OPENAI = SimpleNamespace(
    PATH="/v1/embeddings",
    PLAIN={"model": "?", "input": "Hello"},
    ROWS=(
        _openai("model", "?", USED, USED),
        _openai("input", ["Hello", "Bye"], SAME, SAME),
        _openai("encoding_format", "base64", USED, USED),
        _openai("dimensions", _SIZE, SAME, SAME),
        _openai("user", "alex", USED, USED),
        _openai("input_type", "query"),
        _openai("a_name_of_tomorrow", {"a": None}),
        _openai("api_key", "canary", dropped("api_key")),
    ),
)
OLLAMA = SimpleNamespace(
    PATH="/api/embed",
    PLAIN={"model": "?", "input": "Hello"},
    ROWS=(
        _ollama("model", "?", USED, USED),
        _ollama("input", ["Hello", "Bye"], SAME, SAME),
        _ollama("dimensions", _SIZE, SAME, SAME),
        _ollama("truncate", False),
        _ollama("options.num_ctx", 512),
        _ollama("keep_alive", "5m"),
        _ollama("a_name_of_tomorrow", 1),
    ),
)
OLLAMA_PROMPT = SimpleNamespace(
    PATH="/api/embeddings",
    PLAIN={"model": "?", "prompt": "Hello"},
    ROWS=(
        _ollama("model", "?", USED, USED),
        _ollama("prompt", "Hello", USED, USED),
        _ollama("options.num_ctx", 512),
        _ollama("keep_alive", "5m"),
    ),
)
