"""Back-filling in the background: one at a time, and once more when something new was left to it meanwhile.

Where the stored vectors are of another model than the one at hand, all are made anew.
"""

import threading

import structlog

from mnemoir.conversations.embedding_jobs import EmbeddingJobs, EmbeddingModelChanged
from mnemoir.conversations.embedding_worker import EmbeddingWorker

_log = structlog.get_logger(__name__)
_BATCH = 100


class CatchUp:
    """Runs in the worker's loop, beside its queue, and ends with it. Thread-safe."""

    def __init__(self, worker: EmbeddingWorker, jobs: EmbeddingJobs) -> None:
        self._worker = worker
        self._jobs = jobs
        self._changed = threading.Condition()
        self._is_behind = False
        self._is_running = False

    def begin(self) -> None:
        """See to it that what has no vector now is embedded. Never raises."""
        with self._changed:
            self._is_behind = True
            if self._is_running:
                return
            self._is_running = True
        try:
            self._worker.submit(self._run())
        except RuntimeError:  # the worker was closed
            self.close()

    def wait(self) -> None:
        """Until nothing is under way."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_running)

    def close(self) -> None:
        """The worker has ended, and with it what was under way."""
        with self._changed:
            self._is_running = False
            self._changed.notify_all()

    async def _run(self) -> None:
        while self._is_to_go_on():
            await self._once()

    def _is_to_go_on(self) -> bool:
        with self._changed:
            self._is_running, self._is_behind = self._is_behind, False
            if not self._is_running:
                self._changed.notify_all()
            return self._is_running

    async def _anew(self) -> None:
        try:
            _log.info("embedded_anew", messages=await self._jobs.reindex(_BATCH, None))
        except Exception as exc:  # noqa: BLE001  # the same
            _log.warning("backfill_failed", error=type(exc).__name__, cause=str(exc))

    async def _once(self) -> None:
        try:
            embedded = await self._jobs.backfill(None, _BATCH, None)
        except EmbeddingModelChanged as exc:
            _log.info("embedding_anew", cause=exc.message)
            await self._anew()
        except Exception as exc:  # noqa: BLE001  # nobody waits for an answer, and the next time begins anew
            _log.warning("backfill_failed", error=type(exc).__name__, cause=str(exc))
        else:
            if embedded:
                _log.info("backfilled", messages=embedded)
