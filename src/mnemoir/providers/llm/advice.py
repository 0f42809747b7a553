"""Advice for the user after a model server refused a call: one sentence that fits the error, or none.

The error names of the server say more than its status, so they are checked first.
"""

from collections.abc import Callable, Mapping

from mnemoir.core.errors import ProviderError
from mnemoir.providers.llm.endpoint import SettingNames
from mnemoir.wire.upstream import QuotaExhausted

_TOO_LONG = "Shorten the conversation, or take a model with a larger context."
_NO_CREDIT = "Its account has no credit left, and waiting does not help: add credit there, or take another model."
_BY_NAME: Mapping[str, str] = {
    "context_length_exceeded": _TOO_LONG,
    "exceed_context_size_error": _TOO_LONG,  # llama.cpp's
}
_BY_STATUS: Mapping[int, Callable[[SettingNames], str]] = {
    401: lambda settings: f"Check {settings.key}.",
    402: lambda _: _NO_CREDIT,
    403: lambda settings: f"Check what the account may use, and {settings.key}.",
    404: lambda settings: f"Check {settings.model} and {settings.url}.",
    429: lambda _: "Try again later.",
}


def advice(error: ProviderError, settings: SettingNames) -> str:
    """The sentence for `error`; "" when there is none and the server's message has to suffice."""
    if isinstance(error, QuotaExhausted):
        return _NO_CREDIT
    names = [name for name in (error.names.code, error.names.type) if name]
    by_name = next((_BY_NAME[name] for name in names if name in _BY_NAME), None)
    if by_name is not None:
        return by_name
    if "model_not_found" in names:
        return f"Check {settings.model}."
    by_status = _BY_STATUS.get(error.status or 0)
    return "" if by_status is None else by_status(settings)


def with_advice(message: str, error: ProviderError, settings: SettingNames) -> str:
    """`message` followed by the advice for `error`, if there is any."""
    step = advice(error, settings)
    if not step:
        return message
    return f"{message} {step}" if message.endswith((".", "!", "?")) else f"{message}. {step}"
