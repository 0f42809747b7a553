"""All settings, with types, defaults and limits.

The tree is frozen: it is read once at the start and passed on. `docs/settings.md` explains each key in the same
order, and a test compares the two. Secrets are `SecretStr`, which prints as stars.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, SecretStr, model_validator
from pydantic.functional_validators import AfterValidator

from mnemoir.core.proxies import Proxies
from mnemoir.core.scope import PROJECT_NAME
from mnemoir.core.zones import zone_name
from mnemoir.ports.project_settings import Quarantine, Reviewed
from mnemoir.settings.access import Audit, Auth, Encryption, Limits, Pii, Quotas, Redis, Retention, Security
from mnemoir.settings.addresses import (
    default_data_dir,
    http_url,
    is_loopback,
    listening_host,
    network,
    ollama_address,
    proxy_url,
)
from mnemoir.settings.memory_config import MemoryConfig, Section, VectorBackend, VectorProvider, VectorStoreConfig
from mnemoir.settings.values import AbsolutePath, Key, Names, lower, lower_or_off, split_list

OPENAI_URL = "https://api.openai.com/v1"
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)

LlmProvider = Literal["auto", "openai-responses", "openai-chat", "ollama", "offline"]
MultilingualUse = Literal["auto", "always", "off"]
EmbeddingProvider = Literal["builtin", "openai", "ollama", "sentence-transformers"]
StorageBackend = Literal["sqlite", "file", "postgres"]
LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["console", "json"]
Forward = Literal[
    "all", "listed", "none"
]  # which members of a client's request a model gets that Mnemoir does not use
ThinkAs = Literal["none", "reasoning_effort", "chat_template_kwargs"]
PythonModules = Literal["process", "in-process", "off"]
History = Literal["client", "server"]  # the side that chooses the messages a model gets


def _prefix(raw: str) -> str:
    path = raw.strip().strip("/")
    return f"/{path}" if path else ""


def _project(raw: str) -> str:
    if not PROJECT_NAME.fullmatch(raw):
        raise ValueError("must be 1 to 128 letters, digits, '.', '_' or '-', starting with a letter, a digit or '_'")
    return raw


def _header(raw: str) -> str:
    if not _HEADER_NAME.fullmatch(raw):
        raise ValueError("must be names of HTTP headers, such as X-Session-Id")
    return raw


def _field(raw: str) -> str:
    if not all(step.strip() for step in raw.split(".")):
        raise ValueError("must be names of fields, with a dot for one within an object, such as metadata.session_id")
    return raw


def _days(raw: object) -> object:
    """None, which means no decay, for 0 and negative numbers; other values unchanged."""
    try:
        return None if float(str(raw)) <= 0 else raw
    except ValueError:
        return raw


def _proxy(raw: SecretStr) -> SecretStr:
    return SecretStr(proxy_url(raw.get_secret_value()))


def _split_hosts(raw: object) -> object:
    """Split a text at commas and blanks, as programs that read NO_PROXY do."""
    return split_list(raw.replace(" ", ",")) if isinstance(raw, str) else raw


Url = Annotated[str, AfterValidator(http_url)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
HeaderNames = Annotated[tuple[Annotated[str, AfterValidator(_header)], ...], BeforeValidator(split_list)]
OutsideOrigins = Annotated[tuple[Literal["tool", "document"], ...], BeforeValidator(split_list)]
FieldNames = Annotated[tuple[Annotated[str, AfterValidator(_field)], ...], BeforeValidator(split_list)]
Networks = Annotated[tuple[Annotated[str, AfterValidator(network)], ...], BeforeValidator(split_list)]
Keys = Annotated[tuple[Key, ...], BeforeValidator(split_list)]
ProxyUrl = Annotated[SecretStr, AfterValidator(_proxy)]
Hosts = Annotated[tuple[str, ...], BeforeValidator(_split_hosts)]
Paths = Annotated[tuple[AbsolutePath, ...], BeforeValidator(split_list)]


class Server(Section):
    """Address, access and limits of the server."""

    host: Annotated[str, AfterValidator(listening_host)] = "127.0.0.1"
    port: int = Field(default=6060, ge=0, le=65_535)  # 0 takes any free one
    public_url: Url | None = None
    root_path: Annotated[str, AfterValidator(_prefix)] = ""
    max_body_mib: int = Field(default=10, ge=1, le=1024)
    api_keys: Keys = ()
    admin_api_key: Key | None = None
    allowed_hosts: Names = ()
    cors_origins: Names = ()
    trusted_proxies: Networks = ()
    session_headers: HeaderNames = (
        "X-Conversation-Id",
        "X-Session-Id",
        "X-OpenWebUI-Chat-Id",
        "X-Claude-Code-Session-Id",
    )
    session_fields: FieldNames = ("conversation_id", "session_id", "metadata.session_id")
    most_connections: int = Field(default=1000, ge=1)
    most_active_chats: int = Field(default=256, ge=1)
    request_deadline_s: Seconds = 30
    heartbeat_s: Seconds = 15
    resume_s: Seconds = 60
    generated_titles: bool = True
    title_endpoint: str | None = None
    metrics: bool = False
    docs: bool = True
    allow_unauthenticated: bool = False
    debug_process: bool = False

    @property
    def url(self) -> str:
        """The server's URL for a client on this machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{self.root_path}"

    @property
    def page_url(self) -> str:
        """The URL for a browser. On this machine it names localhost, as passkeys work at no bare address."""
        if self.public_url is not None:
            return self.public_url
        is_here = self.host in ("0.0.0.0", "::") or is_loopback(self.host)
        return f"http://localhost:{self.port}{self.root_path}" if is_here else self.url


class Postgres(Section):
    """The PostgreSQL database of memories, jobs and settings of projects; all else lies in the data directory."""

    dsn: SecretStr | None = None


class Storage(Section):
    """Storage of memories: back end and directories."""

    backend: Annotated[StorageBackend, BeforeValidator(lower)] = "sqlite"
    postgres: Postgres = Postgres()
    data_dir: AbsolutePath = Field(default_factory=lambda: default_data_dir(os.environ))
    workspace_root: AbsolutePath = Path("/workspace")

    @property
    def dsn(self) -> str | None:
        """The connection string of the database where that is PostgreSQL's; None for a file of SQLite."""
        return self.postgres.dsn.get_secret_value() if self.backend == "postgres" and self.postgres.dsn else None

    @model_validator(mode="after")
    def _has_dsn(self) -> Self:
        if self.backend == "postgres" and self.postgres.dsn is None:
            raise ValueError("backend postgres needs storage.postgres.dsn, the connection string of the database")
        return self


class Vectors(VectorStoreConfig):
    """Vectors of messages. The provider `server` is the embedding model of the section `embedding`."""

    enabled: bool = True
    backend: VectorBackend = "builtin"
    embedding_model: str = ""
    embedding_provider: VectorProvider = "server"
    collection_name: str = "mnemoir_embeddings"


class Memory(MemoryConfig):
    """Storage and recall of facts and of conversations.

    `learn_from` are tools and documents, which are learned from only if they are named.
    `storage_path` is a folder with one folder per user; None means `conversations` in the data directory. Where it
    names the file of another program, its conversations are imported once, and the folder is the one of None.
    """

    storage_path: AbsolutePath | None = None
    auto_prune_days: int | None = Field(default=None, ge=1)
    keep_sessions: bool = True
    history: History = "client"
    vector_store: Vectors = Vectors()
    default_project: Annotated[str, AfterValidator(_project)] = "default"
    management_url: Url = "http://localhost:6060/api/memories"
    management_key: Key | None = None
    forward_credentials: bool = False
    decay_days: Annotated[
        Annotated[float, Field(le=1_000_000, allow_inf_nan=False)] | None, BeforeValidator(_days)
    ] = None
    touch_on_none: bool = False
    search_limit: int = Field(default=5, ge=1, le=100)
    recall_tokens: int = Field(default=1200, ge=1, le=100_000)
    recall_fact_tokens: int = Field(default=400, ge=1, le=100_000)
    kept_recall_tokens: int = Field(default=4000, ge=1, le=1_000_000)
    recall_unlikely: bool = True
    time_zone: Annotated[str, AfterValidator(zone_name)] | None = None
    review: Annotated[Reviewed, BeforeValidator(lower_or_off)] = "off"
    learn_from: OutsideOrigins = ()
    quarantine: Annotated[Quarantine, BeforeValidator(lower_or_off)] = "rules"
    max_text_kib: int = Field(default=32, ge=1, le=1024)
    search_timeout_s: Seconds = 2.0

    @property
    def past_file(self) -> Path | None:
        """The file that `storage_path` names; None where it names a folder, or nothing yet."""
        path = self.storage_path
        return path if path is not None and os.path.isfile(path) else None

    @property
    def conversations_folder(self) -> Path | None:
        """The folder of conversations; None where they are in the data directory."""
        return None if self.past_file else self.storage_path


class Timeouts(Section):
    """Time limits of a model server; `total_s` None means no limit on a long answer."""

    connect_s: Seconds = 10
    first_byte_s: Seconds = 120
    between_bytes_s: Seconds = 60
    total_s: Seconds | None = None


class EmbeddingTimeouts(Timeouts):
    """Time limits of an embedding model, which sends its answer at once."""

    first_byte_s: Seconds = 30
    total_s: Seconds | None = 60


class Llm(Section):
    """The language model. `base_url` and `api_key` are for the OpenAI protocols, `ollama_url` for Ollama."""

    provider: Annotated[LlmProvider, BeforeValidator(lower)] = "auto"
    model: str | None = None
    base_url: Url = OPENAI_URL
    api_key: Key | None = None
    ollama_url: Annotated[str, AfterValidator(ollama_address)] = "http://127.0.0.1:11434"
    forward: Annotated[Forward, BeforeValidator(lower)] | None = None
    think_as: Annotated[ThinkAs, BeforeValidator(lower)] = "none"
    timeouts: Timeouts = Timeouts()
    tries: int | None = Field(default=None, ge=1, le=10)
    most_bytes: int = Field(default=64 * 1024 * 1024, ge=1024)


class Embedding(Section):
    """The embedding model. Without a `base_url` it has the address of the language model of the same provider."""

    provider: Annotated[EmbeddingProvider, BeforeValidator(lower)] = "builtin"
    multilingual: Annotated[MultilingualUse, BeforeValidator(lower_or_off)] = "auto"
    model: str | None = None
    base_url: Url | None = None
    api_key: Key | None = None
    timeouts: EmbeddingTimeouts = EmbeddingTimeouts()


class Graph(Section):
    """How memories hang together. With `links`, search finds those that share names with the question."""

    links: bool = True


class EndpointTimeouts(Timeouts):
    """Time limits of a config tree's endpoints: a small machine needs minutes to process a long prompt."""

    first_byte_s: Seconds = 600
    between_bytes_s: Seconds = 120


class Workflows(Section):
    """The config tree, its served users, and the limits of its workflows."""

    config_dir: AbsolutePath | None = None
    users: Names = ()
    edit: bool = False
    python_modules: Annotated[PythonModules, BeforeValidator(lower_or_off)] = "process"
    module_directories: Paths = ()
    module_timeout_s: Seconds = 60
    file_directories: Paths = ()
    discussion_directory: AbsolutePath | None = None
    lock_directory: AbsolutePath | None = None
    node_timeout_s: Seconds = 1800
    most_depth: int = Field(default=50, ge=1, le=100)  # the interpreter's own limit is not far beyond
    most_nodes: int = Field(default=1000, ge=1)
    endpoint_calls_at_once: int = Field(default=0, ge=0)
    timeouts: EndpointTimeouts = EndpointTimeouts()


class Runs(Section):
    """Recording of workflow runs: on or off, the number kept, and for how many days."""

    enabled: bool = True
    most: int = Field(default=1000, ge=1)
    keep_days: float = Field(default=7, gt=0, le=36_500, allow_inf_nan=False)


class Log(Section):
    """Logging to standard error, and with a directory to a file there too."""

    level: Annotated[LogLevel, BeforeValidator(lower)] = "info"
    format: Annotated[LogFormat, BeforeValidator(lower)] = "console"
    directory: AbsolutePath | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The origin of the settings: the file read, if any, and for each given key its file or variable."""

    file: Path | None = None
    given: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    warnings: tuple[str, ...] = ()


class Http(Section):
    """Proxies through which other servers are asked, and which are asked directly in any case."""

    http_proxy: ProxyUrl | None = None
    https_proxy: ProxyUrl | None = None
    no_proxy: Hosts = ()
    proxy_private: bool = False

    @property
    def proxies(self) -> Proxies:
        """The proxies as the rest of the program takes them."""
        http, https = (None if one is None else one.get_secret_value() for one in (self.http_proxy, self.https_proxy))
        return Proxies(http=http, https=https, direct=self.no_proxy, private_too=self.proxy_private)


class Settings(Section):
    """The whole tree; `source` holds its origin and the warnings to show at the start."""

    server: Server = Server()
    limits: Limits = Limits()
    redis: Redis = Redis()
    quotas: Quotas = Quotas()
    security: Security = Security()
    auth: Auth = Auth()
    audit: Audit = Audit()
    pii: Pii = Pii()
    retention: Retention = Retention()
    encryption: Encryption = Encryption()
    storage: Storage = Field(default_factory=Storage)
    memory: Memory = Memory()
    llm: Llm = Llm()
    embedding: Embedding = Embedding()
    graph: Graph = Graph()
    http: Http = Http()
    workflows: Workflows = Workflows()
    runs: Runs = Runs()
    log: Log = Log()
    _source: Source = PrivateAttr(default_factory=Source)

    @property
    def source(self) -> Source:
        return self._source

    @property
    def warnings(self) -> tuple[str, ...]:
        """Messages about odd values that do not prevent the start."""
        return self._source.warnings

    @property
    def embedding_url(self) -> str:
        """The URL of a remote embedding model."""
        own = self.embedding.base_url
        return own or (self.llm.ollama_url if self.embedding.provider == "ollama" else self.llm.base_url)

    @property
    def embedding_key(self) -> SecretStr | None:
        """The key of a remote embedding model. The language model's key is used only for the same address."""
        shared = self.embedding.provider == "openai" and self.embedding.base_url in (None, self.llm.base_url)
        return self.embedding.api_key or (self.llm.api_key if shared else None)
