"""Chat models over OpenAI's chat completions, a protocol of nearly every other model server too."""

from mnemoir.ports.llm import ChatModel
from mnemoir.providers.llm.remote_model import Dialect, RemoteModel
from mnemoir.wire import openai_chat, openai_completions


class OpenAIChat(RemoteModel):
    """A chat model of any server with OpenAI's chat protocol."""

    dialect = Dialect(
        provider="openai-chat",
        path="/chat/completions",
        write_request=openai_chat.write_request,
        reader=openai_chat.AnswerReader,
    )
    raw_dialect = Dialect(
        provider="openai-completions",
        path="/completions",
        write_request=openai_completions.write_request,
        reader=openai_completions.AnswerReader,
    )


_: type[ChatModel] = OpenAIChat  # checked, never run
