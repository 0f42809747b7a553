"""Connection settings of a model server: address, key, timeouts, retries and size limits."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field

from yarl import URL

from mnemoir.core.errors import SettingsError

DEFAULT_TRIES = 3
_REDACTED = "[redacted]"
_PUBLIC_MEMBERS = ("api-version", "version", "v")
_KEY_PLACE = "API_KEY"
_SHORTEST_SECRET = 6  # replacing shorter values would tear messages apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Time limits in seconds: for the connection, the first byte of the answer, the next bytes, and the whole call.

    Repeated connection attempts count towards `connect_s` too. None for `total_s` means no limit.
    """

    connect_s: float = 10
    first_byte_s: float = 120
    between_bytes_s: float = 60
    total_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingNames:
    """Names of the settings for key, model and address of an endpoint, for advice in messages."""

    key: str = "its API key"
    model: str = "the name of the model"
    url: str = "its address"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Endpoint:
    """A model server. Its `repr` shows no key and no user or password of the URL.

    The dialect's path is appended to `base_url`: with `/v1` for OpenAI's, without a path for Ollama's. `tries`
    counts calls, the first included; None means DEFAULT_TRIES, and fewer for a client's own request
    (`ModelRequest.for_client`). `most_bytes` limits one answer after decompression. `name` is the user's name for the
    endpoint, used in messages; "" when it has none.
    """

    base_url: str
    name: str = ""
    api_key: str | None = None
    model: str = ""
    timeouts: Timeouts = Timeouts()
    tries: int | None = None
    backoff_s: float = 0.5
    most_bytes: int = 64 * 1024 * 1024
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    settings: SettingNames = SettingNames()

    def __post_init__(self) -> None:
        url = _url_of(self.base_url)
        if url is None or url.scheme not in ("http", "https") or not url.host:
            whose = f"The endpoint {self.name!r}: a" if self.name else "A"
            raise SettingsError(f"{whose} model's base URL must look like http://host:port or https://host/v1.")
        for value in (self.api_key or "", *self.extra_headers, *self.extra_headers.values()):
            if "\n" in value or "\r" in value or "\0" in value:
                raise SettingsError(f"The key or a header for {self.place} holds a line break; remove it.")

    def __repr__(self) -> str:
        return f"Endpoint({self.place}, model={self.model!r})"

    @property
    def place(self) -> str:
        """Name, host and port, as messages show them."""
        address = URL(self.base_url).host_port_subcomponent or ""
        return f"Endpoint {self.name} ({address})" if self.name else address

    @property
    def stores_by_default(self) -> bool:
        """True for OpenAI's own server, which stores chats unless the request forbids it."""
        return (URL(self.base_url).host or "").endswith(".openai.com")

    def url(self, path: str) -> URL:
        """The full URL of the dialect's `path`, without user and password."""
        base = URL(self.base_url).with_user(None)
        return base.with_path(base.raw_path.rstrip("/") + path, encoded=True, keep_query=True)

    def shown_url(self, path: str) -> str:
        """The URL for display: query values other than versions are masked, because they may be keys."""
        url = self.url(path)
        shown = [(name, value if name in _PUBLIC_MEMBERS else _KEY_PLACE) for name, value in url.query.items()]
        return str(url.with_query(shown).with_fragment(None))

    def headers(self) -> dict[str, str]:
        """The headers of every call. Authorization is the key, else the URL's user and password."""
        headers = {"Content-Type": "application/json", **self.extra_headers}
        url = URL(self.base_url)
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        elif url.user:
            headers["Authorization"] = f"Basic {_pair(url)}"
        return headers

    def redacted_text(self, text: str) -> str:
        """`text` with every secret masked that the server repeated, whole or cut at the end of the text."""
        for secret in self._secrets():
            text = _without_beginning(secret, text.replace(secret, _REDACTED))
        return text

    def _secrets(self) -> list[str]:
        """All secrets, longest first: masking a shorter one first could split a longer one."""
        url = URL(self.base_url)
        of_url = [url.password or url.user, url.raw_password or url.raw_user, _pair(url) if url.user else None]
        secrets = [self.api_key, *of_url, *self.extra_headers.values()]
        found = {secret for secret in secrets if secret and len(secret) >= _SHORTEST_SECRET}
        return sorted(found, key=len, reverse=True)


def _pair(url: URL) -> str:
    """User and password, encoded for the Authorization header."""
    return b64encode(f"{url.user}:{url.password or ''}".encode()).decode()


def _without_beginning(secret: str, text: str) -> str:
    """`text` with a beginning of the secret masked at its end, where a long message was cut off."""
    said = text.rstrip("'\". ")
    for length in range(len(secret) - 1, _SHORTEST_SECRET - 1, -1):
        if said.endswith(secret[:length]):
            return said[:-length] + _REDACTED + text[len(said) :]
    return text


def _url_of(text: str) -> URL | None:
    try:
        return URL(text)
    except ValueError:
        return None
