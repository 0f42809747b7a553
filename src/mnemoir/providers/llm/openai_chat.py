"""OpenAI's chat completions, which nearly every other model server speaks too."""

from mnemoir.ports.llm import ChatModel
from mnemoir.providers.llm.remote_model import Dialect, RemoteModel
from mnemoir.wire import openai_chat


class OpenAIChat(RemoteModel):
    """Any server with OpenAI's chat protocol."""

    dialect = Dialect(
        provider="openai-chat",
        path="/chat/completions",
        media_type="text/event-stream",
        write_request=openai_chat.write_request,
        read_reply=openai_chat.read_reply,
        new_reader=openai_chat.StreamReader,
    )


_: type[ChatModel] = OpenAIChat  # checked, never run
