"""Server options as plain values, independent of where the settings came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mnemoir.core.errors import SettingsError
from mnemoir.core.scope import DEFAULT_USER
from mnemoir.ports.project_settings import Reviewed
from mnemoir.settings.addresses import is_loopback

SHORTEST_KEY = 16  # characters of a key for an address that other machines can reach
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """The address the server listens on, the keys and origins it accepts, and its limits.

    `public_url` is the address that browsers use. `root_path` is "" or starts with "/" and does not end with one.
    `api_keys` are plain texts; none means that no key is required, unless `has_stored_keys`: some were made for the
    data directory, or the settings name issuers. `admin_api_key` is one of them, if it is set, and is needed to
    change the language model and workflows. With `is_in_process` the caller is this program itself, and needs no
    key. `session_fields` and `session_headers` name the places of a chat's session id, in the order in which they
    are read; a field within an object is written with a dot. `decay_days`, `search_limit` and `review` are the
    values shown for a project without settings of its own. `trusted_proxies` are addresses and networks;
    `rate_limits` the requests that a key may make in 10 seconds and in a minute, by bucket, if these are limited.
    """

    host: str = "127.0.0.1"
    port: int = 6060
    public_url: str | None = None
    root_path: str = ""
    trusted_proxies: Sequence[str] = ()
    api_keys: Sequence[str] = field(default=(), repr=False)
    admin_api_key: str | None = field(default=None, repr=False)
    is_in_process: bool = False
    has_stored_keys: bool = False
    allow_unauthenticated: bool = False
    allowed_hosts: Sequence[str] = ()
    cors_origins: Sequence[str] = ()
    session_headers: Sequence[str] = (
        "X-Conversation-Id",
        "X-Session-Id",
        "X-OpenWebUI-Chat-Id",
        "X-Claude-Code-Session-Id",
    )
    session_fields: Sequence[str] = ("conversation_id", "session_id", "metadata.session_id")
    max_body_bytes: int = 10 * MIB
    most_connections: int = 1000
    most_active_chats: int = 256
    request_deadline_s: float = 30.0
    heartbeat_s: float = 15.0
    resume_s: float = 60.0
    keep_alive_s: float = 30.0
    graceful_s: float = 5.0
    rate_limits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    metrics: bool = False
    docs: bool = True
    default_project: str = "default"
    default_user: str = DEFAULT_USER
    decay_days: float | None = None
    search_limit: int = 5
    review: Reviewed = "off"

    @property
    def is_local(self) -> bool:
        """True when the address is reachable from this machine only."""
        return is_loopback(self.host)


def check_exposure(options: ServerOptions) -> None:
    """Raise SettingsError when other machines can reach the address and no key, or too short a one, guards it."""
    if options.is_local or options.allow_unauthenticated or (options.has_stored_keys and not options.api_keys):
        return
    if options.api_keys and all(len(key) >= SHORTEST_KEY for key in options.api_keys):
        return
    problem = f"a key has fewer than {SHORTEST_KEY} characters" if options.api_keys else "no API key is set"
    raise SettingsError(
        f"Refused to listen on {options.host}: other machines can reach that address and {problem}. "
        f"Make a key by `mnemoir keys create`, set API_KEYS to one of at least {SHORTEST_KEY} characters, "
        "or listen on 127.0.0.1, "
        "or, on a network you trust wholly, pass --allow-unauthenticated."
    )
