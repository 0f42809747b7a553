"""Answers under way: each by the id it carries, so that a client can have it ended by another request, and by the
key a client may send with a chat, so that the same one sent twice runs once.
"""

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemoir.core.errors import Conflict, InvalidRequest, MnemoirError, NotFound
from mnemoir.server.bodies import read_json
from mnemoir.server.departure import Departure
from mnemoir.server.errors import failure

_LONGEST_KEY = 128


class UnderWay:
    """An ASGI application for `DELETE` on a chat route, with `{"request_id": …}` as its body."""

    def __init__(self, max_body_bytes: int) -> None:
        self._max_body_bytes = max_body_bytes
        self._answers: dict[str, Departure] = {}
        self._keys: set[Hashable] = set()

    @contextmanager
    def alone(self, owner: Hashable, key: str | None) -> Iterator[None]:
        """Runs the body unless a chat of that owner and key is under way: that is a Conflict. None is no key."""
        if key is None:
            yield
            return
        if len(key) > _LONGEST_KEY:
            raise InvalidRequest(f"X-Idempotency-Key must have at most {_LONGEST_KEY} characters.")
        claim = (owner, key)
        if claim in self._keys:
            raise Conflict("The same request is being answered already; wait for that answer.")
        self._keys.add(claim)
        try:
            yield
        finally:
            self._keys.discard(claim)

    def begins(self, answer_id: str, departure: Departure) -> None:
        """An answer may now be ended by its id."""
        self._answers[answer_id] = departure

    def ends(self, answer_id: str) -> None:
        """It may not any more."""
        self._answers.pop(answer_id, None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer_id = _asked(await read_json(scope, receive, self._max_body_bytes))
            self._end(answer_id)
        except MnemoirError as exc:
            await failure(scope, exc)(scope, receive, send)
            return
        body = orjson.dumps({"status": "cancelled", "request_id": answer_id})
        await Response(body, media_type="application/json")(scope, receive, send)

    def _end(self, answer_id: str) -> None:
        departure = self._answers.pop(answer_id, None)
        if departure is None:
            raise NotFound(f"No answer of the id {answer_id[:64]!r} is under way.")
        departure.ask()


def _asked(body: Mapping[str, Any]) -> str:
    answer_id = body.get("request_id") if isinstance(body, dict) else None
    if not isinstance(answer_id, str) or not answer_id:
        raise InvalidRequest("The 'request_id' field is required.", field="request_id")
    return answer_id
