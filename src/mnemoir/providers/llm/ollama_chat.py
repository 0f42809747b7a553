"""Chat models over Ollama's protocol."""

from dataclasses import replace

from mnemoir.ports.llm import ChatModel
from mnemoir.providers.llm.remote_model import Dialect, RemoteModel
from mnemoir.wire import ollama_chat, ollama_generate


class OllamaChat(RemoteModel):
    """A chat model of an Ollama server."""

    dialect = Dialect(
        provider="ollama",
        path="/api/chat",
        write_request=ollama_chat.write_request,
        reader=ollama_chat.AnswerReader,
    )
    raw_dialect = Dialect(
        provider="ollama",
        path="/api/generate",
        write_request=ollama_generate.write_request,
        reader=ollama_generate.LoadingReader,
    )
    loading_dialect = replace(dialect, reader=ollama_chat.LoadingReader)


_: type[ChatModel] = OllamaChat  # checked, never run
