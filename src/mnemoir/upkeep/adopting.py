"""Giving what is kept under one memory user to a person: what was gathered before anybody signed in.

A project is given as a whole or not at all. It lies in several stores, so a note in the database tells that it is
being given. The last step gives the rows and removes the note, in one transaction; files that were moved before it
are hidden from both users while it is outstanding. What was cut is continued at the next start, and by the next
adoption.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import structlog

from mnemoir.chats.people import Everybody
from mnemoir.chats.remembering import past_queue_of, queue_of
from mnemoir.core.errors import Conflict, InvalidRequest, MnemoirError, NotSupported, StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.core.users import User
from mnemoir.memory.background import Background
from mnemoir.ports.holdings import Amounts, OpenHolding
from mnemoir.storage.sql.adoptions import Adoptions, BegunAdoption
from mnemoir.storage.sql.holds import Holds

Context = AbstractAsyncContextManager[bool]
ROWS = "rows"  # of all tables; no holding has the name
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """The projects in which something was given to a person, by the name of the holding, and by `ROWS`."""

    projects: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def of(self, name: str) -> Sequence[str]:
        """The projects in which something of one holding was given."""
        return self.projects.get(name, ())


class Adoption:
    """`why_not` says why nothing can be given in this installation; None where it can."""

    def __init__(
        self,
        *,
        everybody: Everybody,
        holdings: Sequence[OpenHolding],
        begun: Adoptions,
        background: Background,
        holds: Holds,
        why_not: str | None,
    ) -> None:
        self._everybody = everybody
        self._holdings = holdings
        self._begun = begun
        self._background = background
        self._holds = holds
        self._why_not = why_not
        self._hidden: frozenset[BegunAdoption] = frozenset()
        self._one_by_one = asyncio.Lock()

    async def hide_cut_adoptions(self) -> None:
        """Hide what adoptions that were cut may have moved. Raises StorageUnavailable."""
        self._hide(await self._begun.all())

    async def resume(self) -> None:
        """Continue what was cut. What fails again stays hidden. Raises StorageUnavailable if nothing can be read."""
        async with self._one_by_one:
            await self.hide_cut_adoptions()
            for adoption in self._hidden:
                try:
                    await self._continue(adoption)
                except MnemoirError as exc:
                    _log.warning("an adoption was not continued", project=adoption.given.project, cause=exc.message)

    async def end_those_of(self, tenant: str, user: str) -> None:
        """Continue what was cut. Raises StorageUnavailable where something of a user is still given in part alone."""
        await self.resume()
        for one in self._hidden:
            if one.given.tenant == tenant and user in (one.given.user, one.taken.user):
                raise StorageUnavailable(
                    f"What {one.given.user[:80]!r} has in the project {one.given.project!r} is given in part alone, "
                    "and that cannot be ended now. Look at the disk, and restart the server."
                )

    async def adopt(self, user: User, given: str) -> Adopted:
        """Give everything that is kept under the memory user `given` to a person, in each of their projects.

        A project is given as a whole or not at all, one after the other. Raises NotSupported, InvalidRequest,
        LegalHold, Conflict where the person has anything already or `given` is in use, and StorageUnavailable.
        """
        tenant, own = user.grant.tenant, user.grant.memory_user or ""
        if self._why_not is not None:
            raise NotSupported(self._why_not)
        if own == given:
            raise InvalidRequest(
                f"{user.name} has the memories of {given[:80]!r} already.", code="validation_error", field="from"
            )
        for name in (own, given):
            await self._holds.refuse(Scope(tenant=tenant, project="", user=name))
        async with self._one_by_one:
            return await self._give_projects(tenant, own, given, user.grant.projects)

    async def look(self, user: User, given: str) -> Amounts:
        """How many `memories` and `conversations` are kept under the memory user `given`, for `adopt` to give."""
        tenant, mine = user.grant.tenant, user.grant.projects
        found = Counter[str](memories=0, conversations=0)
        projects = [name for name in await self._everybody.projects_of(tenant, given) if mine is None or name in mine]
        for holding in self._holdings:
            if "memories" in holding.stored:
                found["memories"] += (await holding.stored["memories"](tenant, given)).get(given, 0)
            if holding.giving is None or holding.count is None:
                continue
            for project in projects:
                found.update(await holding.count(Scope(tenant=tenant, project=project, user=given)))
        return {name: found[name] for name in ("memories", "conversations")}

    async def _give_projects(self, tenant: str, own: str, given: str, mine: Sequence[str] | None) -> Adopted:
        done: dict[str, list[str]] = {}
        for adoption in await self._adoptions_between(tenant, own, given):
            _note(done, adoption, await self._continue(adoption))
        projects = await self._everybody.projects_of(tenant, given)
        scopes = [Scope(tenant=tenant, project=name, user=given) for name in projects if mine is None or name in mine]
        for queue in [queue for scope in scopes for queue in (queue_of(scope), past_queue_of(scope))]:
            if await self._background.waiting(queue, limit=1):
                raise Conflict(
                    f"Memories are still being made of what {given[:80]!r} said. Try again in a moment.",
                    code="memories_in_making",
                )
        for scope in scopes:
            adoption = BegunAdoption(given=scope, taken=Scope(tenant=tenant, project=scope.project, user=own))
            _note(done, adoption, await self._begin(adoption))
        return Adopted(projects=done)

    async def _adoptions_between(self, tenant: str, own: str, given: str) -> Sequence[BegunAdoption]:
        """The adoptions that were cut and are repeated now. Raises Conflict for one between others of the two."""
        found = [one for one in await self._begun.all() if one.given.tenant == tenant]
        for one in found:
            if len({one.given.user, one.taken.user} & {own, given}) == 1:
                raise Conflict(
                    f"What {one.given.user[:80]!r} has in the project {one.given.project!r} is being given to "
                    f"{one.taken.user[:80]!r}, and that was cut. Repeat it first.",
                    code="memories_in_making",
                )
        return [one for one in found if (one.given.user, one.taken.user) == (given, own)]

    async def _begin(self, adoption: BegunAdoption) -> Sequence[str]:
        """Give a project; the names of what there was. What fails is taken back, or hidden where that fails, too."""
        await self._begun.begin(adoption)
        entered: list[Context] = []
        try:
            await self._refuse_who_has_any(adoption.taken)
            found = await self._give(adoption, entered)
        except BaseException as exc:
            try:
                await _leave(entered, exc)
                if isinstance(exc, Conflict | NotSupported):  # which nothing was moved for
                    await self._begun.withdraw(adoption)
                else:
                    await self._take_back(adoption)
            except BaseException:
                await self.hide_cut_adoptions()
                raise
            raise
        await _leave(entered)
        return found

    async def _continue(self, adoption: BegunAdoption) -> Sequence[str]:
        """The same for one that was cut. It is taken back where the other user has got memories since."""
        entered: list[Context] = []
        try:
            found = await self._give(adoption, entered)
        except BaseException as exc:
            await _leave(entered, exc)
            if isinstance(exc, Conflict):
                await self._take_back(adoption)
            raise
        self._hide(self._hidden - {adoption})
        await _leave(entered)
        return found

    async def _give(self, adoption: BegunAdoption, entered: list[Context]) -> Sequence[str]:
        found = await self._enter(adoption, entered)
        return [*found, ROWS] if await self._begun.finish(adoption) else found

    async def _take_back(self, adoption: BegunAdoption) -> None:
        """Give all besides rows the other way. It is for a user who had nothing before."""
        entered: list[Context] = []
        try:
            await self._enter(BegunAdoption(given=adoption.taken, taken=adoption.given), entered)
        finally:
            await _leave(entered)
        await self._begun.withdraw(adoption)
        self._hide(self._hidden - {adoption})

    async def _enter(self, adoption: BegunAdoption, entered: list[Context]) -> list[str]:
        """Let each holding give what it has, until it is left; the names of those that had any."""
        found = []
        for holding in self._holdings:
            if holding.giving is not None:
                context = holding.giving(adoption.given, adoption.taken.user)
                has_any = await context.__aenter__()
                entered.append(context)
                found += [holding.name] if has_any else []
        return found

    async def _refuse_who_has_any(self, taken: Scope) -> None:
        for holding in self._holdings:
            if holding.giving is None or holding.count is None:
                continue
            for name, number in (await holding.count(taken)).items():
                if number:
                    raise Conflict(
                        f"There are {name} of {taken.user[:80]!r} already, so nothing was moved.",
                        code="memories_exist",
                    )

    def _hide(self, adoptions: Collection[BegunAdoption]) -> None:
        self._hidden = frozenset(adoptions)
        owners = [scope for one in adoptions for scope in (one.given, one.taken)]
        for holding in self._holdings:
            if holding.hide is not None:
                holding.hide(owners)


async def _leave(entered: Sequence[Context], cause: BaseException | None = None) -> None:
    """Leave all contexts, each as if no other had failed; then raise what one of them raised beside the cause."""
    failed: list[BaseException] = []
    for context in reversed(entered):
        try:
            await context.__aexit__(None if cause is None else type(cause), cause, None)
        except BaseException as exc:  # noqa: BLE001  # raised below
            failed += [exc] if exc is not cause else []
    if failed:
        raise failed[0]


def _note(done: dict[str, list[str]], adoption: BegunAdoption, found: Sequence[str]) -> None:
    for name in found:
        done.setdefault(name, []).append(adoption.given.project)
