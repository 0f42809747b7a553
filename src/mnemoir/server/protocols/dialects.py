"""The chat protocols of this server, each as the functions of its `wire` file."""

from dataclasses import replace

from mnemoir.server.chat import Dialect
from mnemoir.wire import ollama_chat, ollama_generate, openai_chat, openai_completions

_NDJSON = b"application/x-ndjson"

_OPENAI_FUNCTIONS = Dialect(
    read=openai_chat.read_request,
    write_reply=openai_chat.write_function_reply,
    writer=openai_chat.FunctionStreamWriter,
    stream_type=b"text/event-stream; charset=utf-8",
    id_prefix="chatcmpl-",
)
OPENAI_CHAT = replace(
    _OPENAI_FUNCTIONS,
    write_reply=openai_chat.write_reply,
    writer=openai_chat.StreamWriter,
    with_functions=_OPENAI_FUNCTIONS,
)
OPENAI_COMPLETIONS = Dialect(
    read=openai_completions.read_request,
    write_reply=openai_completions.write_reply,
    writer=openai_completions.StreamWriter,
    stream_type=b"text/event-stream; charset=utf-8",
    id_prefix="cmpl-",
)
OLLAMA_CHAT = Dialect(
    read=ollama_chat.read_request,
    write_reply=ollama_chat.write_reply,
    tells_durations=True,
    writer=ollama_chat.StreamWriter,
    stream_type=_NDJSON,
    id_prefix="chat-",
)
OLLAMA_GENERATE = Dialect(
    read=ollama_generate.read_request,
    write_reply=ollama_generate.write_reply,
    tells_durations=True,
    writer=ollama_generate.StreamWriter,
    stream_type=_NDJSON,
    id_prefix="gen-",
)
