"""The status of the server as one value: health of its parts, stored data, background work."""

from asyncio import gather, to_thread
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Literal

from mnemoir import __version__
from mnemoir.app.parts import Parts
from mnemoir.chats.stock import Counts, Room, counts_of
from mnemoir.chats.titles import writes_titles
from mnemoir.core.clock import to_text
from mnemoir.core.errors import StorageUnavailable
from mnemoir.models.endpoints import EndpointHealth
from mnemoir.models.health import Connected, EmbedderHealth, ModelHealth
from mnemoir.models.latencies import Spread
from mnemoir.models.reaching import Health
from mnemoir.ports.jobs import JobTally
from mnemoir.storage.databases import ON_A_WARNING
from mnemoir.storage.private_folders import is_open_to_others

_HOUR, _DAY = 60, 24 * 60
_LITTLE_SPACE = 200 * 1024 * 1024
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """`done` of `of`; equal when nothing is left to do."""

    done: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningState:
    """`days` is None where old conversations are kept; the times are None for never."""

    days: int | None
    last_at: str | None
    next_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Background work. `memory_vectors` and `message_vectors` are None until they are counted.

    Vectors of messages are made while their user chats, so some may wait for that.
    """

    jobs: Sequence[JobTally]
    memory_vectors: Progress | None
    message_vectors: Progress | None
    pruning: PruningState


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Latencies of the last hour and the last day."""

    hour: Spread
    day: Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLatency:
    """How long chats waited for memories, and how long adding to them took."""

    recall: Latency
    write: Latency


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The settings that decide what is remembered and kept; `decay_days` is None for no decay.

    `names_chats`: a model writes titles for chats of the web UI; else lists show their first words.
    """

    default_project: str
    default_user: str
    decay_days: float | None
    search_limit: int
    keeps_named_chats: bool
    keeps_all_chats: bool
    history: str
    strategy: str
    max_history_tokens: int
    keeps_runs: bool
    names_chats: bool
    config_dir: str | None
    workflow_users: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A problem and the next step to solve it."""

    about: Literal["settings", "model", "endpoints", "embedder", "storage", "work"]
    state: Health
    found: str
    to_do: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The status of the server. `storage_problem` says why stored memories cannot be read, "" when they can.

    `degraded` are the files that are gone or damaged, below the folder of conversations.
    `endpoints` are the models of the config tree, those with problems first; without a tree there are none.
    """

    version: str
    started_at: str
    up_s: float
    model: ModelHealth
    endpoints: Sequence[EndpointHealth]
    embedder: EmbedderHealth
    room: Room
    storage_problem: str
    counts: Counts
    latency: MemoryLatency
    work: Work
    choices: Choices
    remarks: Sequence[Remark]
    degraded: Sequence[str] = ()


async def status_of(parts: Parts, *, default_user: str, fresh: bool = False) -> Status:
    """The current status; slow figures are some seconds old, those of models not when `fresh` is set."""
    model, endpoints, embedder, room = await gather(
        parts.models.checkup.model(fresh=fresh),
        parts.models.checkup.endpoints(fresh=fresh),
        parts.models.checkup.embedder(fresh=fresh),
        parts.chats.stock.room(),
    )
    problem = await _problem_of(parts.memory.store.check())
    counts = counts_of({}) if problem else await parts.chats.stock.counts()
    work = await _work(parts, counts, is_stored=not problem)
    damaged = await parts.chats.stock.damaged_files()
    remarks = [
        *_remarks_of_settings(parts),
        *_remarks_of_damage(damaged),
        *_remarks_of_models(model, embedder, serves_tree=parts.trees.workflows.serves_tree),
        *_remarks_of_endpoints(endpoints),
        *_remarks_of_storage(
            parts, room, problem, await to_thread(is_open_to_others, parts.settings.storage.data_dir)
        ),
        *_remarks_of_work(work, parts.upkeep.reembedding.trouble),
    ]
    times = parts.chats.times
    return Status(
        version=__version__,
        started_at=to_text(parts.opened.at),
        up_s=round(monotonic() - parts.opened.clock, 1),
        model=model,
        endpoints=endpoints,
        embedder=embedder,
        room=room,
        storage_problem=problem or await _problem_of(parts.upkeep.encryption.check()),
        counts=counts,
        latency=MemoryLatency(
            recall=Latency(hour=times.recall.last(_HOUR), day=times.recall.last(_DAY)),
            write=Latency(hour=times.write.last(_HOUR), day=times.write.last(_DAY)),
        ),
        work=work,
        choices=_choices(parts, default_user),
        remarks=remarks,
        degraded=damaged,
    )


async def _problem_of(check: Awaitable[None]) -> str:
    try:
        await check
    except StorageUnavailable as exc:
        return exc.message
    return ""


async def vector_backlog(parts: Parts) -> tuple[int, int]:
    """(vectors of memories that are still to be made, all that there are to be), those of further spaces too."""
    pending, total = await parts.memory.store.backlog(parts.memory.indexing.model)
    for filling in parts.upkeep.further_vectors:
        waiting, wanted = await filling.backlog()
        pending, total = pending + waiting, total + wanted
    return pending, total


async def _work(parts: Parts, counts: Counts, *, is_stored: bool) -> Work:
    jobs: Sequence[JobTally] = ()
    vectors = last = None
    if is_stored:
        jobs = await parts.upkeep.jobs.tally()
        pending, total = await vector_backlog(parts)
        vectors = Progress(done=total - pending, of=total)
        last = await parts.upkeep.pruning.last_run_at()
    days = parts.settings.memory.auto_prune_days
    following = None if days is None or last is None else to_text(last + timedelta(days=1))
    said = counts.embeddable
    return Work(
        jobs=jobs,
        memory_vectors=vectors,
        message_vectors=None if said is None else Progress(done=counts.embedded or 0, of=said),
        pruning=PruningState(days=days, last_at=None if last is None else to_text(last), next_at=following),
    )


def _choices(parts: Parts, default_user: str) -> Choices:
    memory, workflows = parts.settings.memory, parts.settings.workflows
    return Choices(
        default_project=memory.default_project,
        default_user=default_user,
        decay_days=memory.decay_days,
        search_limit=memory.search_limit,
        keeps_named_chats=memory.keep_sessions,
        keeps_all_chats=memory.enabled,
        history=memory.history,
        strategy=memory.strategy,
        max_history_tokens=memory.max_history_tokens,
        keeps_runs=parts.settings.runs.enabled,
        names_chats=writes_titles(parts.settings),
        config_dir=None if workflows.config_dir is None else str(workflows.config_dir),
        workflow_users=list(parts.trees.workflows.users),
    )


def _remarks_of_settings(parts: Parts) -> Iterator[Remark]:
    for warning in parts.settings.warnings:
        yield Remark(about="settings", state="warn", found=warning, to_do="Correct the value; see docs/settings.md.")


def _remarks_of_models(model: ModelHealth, embedder: EmbedderHealth, *, serves_tree: bool) -> Iterator[Remark]:
    said = f"The model {model.name} at {model.url}"
    if model.url is None:
        found = (
            "No language model is connected beside those of the workflows: facts are found by rules only."
            if serves_tree
            else "No language model is connected: answers only quote what is remembered."
        )
        yield Remark(about="model", state="warn", found=found, to_do=model.connected.to_do)
    elif not _is_well(model.connected):
        yield _remark_of_connection("model", said, model.connected)
    elif model.error is not None and (model.failed_at or "") > (model.answered_at or ""):
        found = f"The last call of the model {model.name} failed: {model.error}"
        yield Remark(about="model", state="warn", found=found, to_do="Try again; see the run for what was asked.")
    if not _is_well(embedder.connected):
        yield _remark_of_connection("embedder", f"The embedding model {embedder.name}", embedder.connected)


def _remarks_of_endpoints(endpoints: Sequence[EndpointHealth]) -> Iterator[Remark]:
    """One remark for all endpoints with problems, since many may share a server that is down."""
    ill = [one for one in endpoints if one.state in ("warn", "fail")]
    if not ill:
        return
    state: Health = "fail" if any(one.state == "fail" for one in ill) else "warn"
    if len(ill) == 1:
        [one] = ill
        yield Remark(about="endpoints", state=state, found=f"The endpoint {one.name}: {one.problem}", to_do=one.to_do)
        return
    named = ", ".join(one.name for one in ill[:_MOST_NAMED])
    more = f" and {len(ill) - _MOST_NAMED} more" if len(ill) > _MOST_NAMED else ""
    found = f"{len(ill)} of {len(endpoints)} endpoints have problems: {named}{more}."
    yield Remark(about="endpoints", state=state, found=found, to_do="See the list of endpoints for what to do.")


def _is_well(connected: Connected) -> bool:
    """True when no problem is known, also before the first check."""
    return connected.state in (None, "ok")


def _remark_of_connection(about: Literal["model", "embedder"], said: str, connected: Connected) -> Remark:
    found, state = f"{said}: {connected.problem}.", connected.state or "warn"
    return Remark(about=about, state=state, found=found, to_do=connected.to_do)


def _remarks_of_storage(parts: Parts, room: Room, problem: str, is_open: bool) -> Iterator[Remark]:
    if problem:
        yield Remark(about="storage", state="fail", found=problem, to_do="Run `mnemoir doctor`.")
    if warning := parts.memory.database.warning:
        yield Remark(about="storage", state="warn", found=warning, to_do=ON_A_WARNING)
    if not room.writable:
        found = f"{room.data_dir} cannot be written."
        yield Remark(about="storage", state="fail", found=found, to_do="Make it writable for the server.")
    if room.free_bytes is not None and room.free_bytes < _LITTLE_SPACE:
        found = f"Only {room.free_bytes // 1024**2} MiB are free on the disk of {room.data_dir}."
        yield Remark(about="storage", state="warn", found=found, to_do="Free some space.")
    if is_open:
        found = f"Other users of this machine may read {room.data_dir}."
        yield Remark(about="storage", state="warn", found=found, to_do=f"chmod 700 {room.data_dir}")


def _remarks_of_damage(damaged: Sequence[str]) -> Iterator[Remark]:
    if damaged:
        more = f" and {len(damaged) - _MOST_NAMED} more" if len(damaged) > _MOST_NAMED else ""
        found = f"Files of conversations are damaged or gone: {', '.join(damaged[:_MOST_NAMED])}{more}."
        to_do = "Run `mnemoir doctor`, and put a backup in the place of each; see docs/storage.md."
        yield Remark(about="storage", state="fail", found=found, to_do=to_do)


def _remarks_of_work(work: Work, trouble: str) -> Iterator[Remark]:
    if trouble:
        found = (
            f"Vectors of memories could not be made: {trouble}. Until then those memories are found by words only."
        )
        yield Remark(
            about="work", state="warn", found=found, to_do="It is retried automatically; see the embedding model."
        )
    failed = sum(job.failed for job in work.jobs)
    if failed:
        found = f"{failed} background {'job was' if failed == 1 else 'jobs were'} given up in the last week."
        yield Remark(
            about="work", state="warn", found=found, to_do="Status lists each with its error, to try it again."
        )
