"""OpenAI's Responses API, the one to use for OpenAI itself."""

from mnemoir.ports.llm import ChatModel
from mnemoir.providers.llm.remote_model import Dialect, RemoteModel
from mnemoir.wire import openai_responses


class OpenAIResponses(RemoteModel):
    """OpenAI's own models."""

    dialect = Dialect(
        provider="openai-responses",
        path="/responses",
        media_type="text/event-stream",
        write_request=openai_responses.write_request,
        read_reply=openai_responses.read_reply,
        new_reader=openai_responses.StreamReader,
    )


_: type[ChatModel] = OpenAIResponses  # checked, never run
