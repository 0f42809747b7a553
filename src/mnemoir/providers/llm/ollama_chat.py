"""Chat models over Ollama's protocol."""

from mnemoir.ports.llm import ChatModel
from mnemoir.providers.llm.remote_model import Dialect, RemoteModel
from mnemoir.wire import ollama_chat, ollama_generate


class OllamaChat(RemoteModel):
    """A chat model of an Ollama server."""

    dialect = Dialect(
        provider="ollama",
        path="/api/chat",
        media_type="application/x-ndjson",
        write_request=ollama_chat.write_request,
        read_reply=ollama_chat.read_reply,
        new_reader=ollama_chat.StreamReader,
    )
    raw_dialect = Dialect(
        provider="ollama",
        path="/api/generate",
        media_type="application/x-ndjson",
        write_request=ollama_generate.write_request,
        read_reply=ollama_generate.read_reply,
        new_reader=ollama_generate.StreamReader,
    )


_: type[ChatModel] = OllamaChat  # checked, never run
