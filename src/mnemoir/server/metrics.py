"""Metrics for Prometheus, in a registry of their own; created only when switched on."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from mnemoir.core.events import Usage

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """The server's metrics. Labels hold routes, methods and statuses; never a project, a user or a text."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "mnemoir_requests", "Requests answered", ["method", "route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "mnemoir_request_seconds", "Time to the end of the answer", ["route"], registry=self._registry
        )
        self._memories = Counter("mnemoir_memory_operations", "Memory routes", ["operation"], registry=self._registry)
        self._tokens = Counter("mnemoir_model_tokens", "Tokens of models", ["use", "kind"], registry=self._registry)
        self._chats = Gauge("mnemoir_active_chats", "Chats being answered", registry=self._registry)

    def request(self, method: str, route: str, status: int, took_s: float) -> None:
        """Count one finished request."""
        known = method if method in _KNOWN_METHODS else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(route).observe(took_s)

    def memory_operation(self, operation: str) -> None:
        """Count one completed `add`, `search`, `list` or `delete`."""
        self._memories.labels(operation).inc()

    def usage(self, use: str, usage: Usage) -> None:
        """Count the tokens a model used, by the purpose (`chat` or `add`)."""
        self._tokens.labels(use, "input").inc(usage.input_tokens)
        self._tokens.labels(use, "output").inc(usage.output_tokens)
        self._tokens.labels(use, "cached").inc(usage.cached_tokens)

    def active_chats(self, count: int) -> None:
        """Set the number of chats being answered now."""
        self._chats.set(count)

    def text(self) -> bytes:
        """All metrics, in Prometheus' text format."""
        return generate_latest(self._registry)
