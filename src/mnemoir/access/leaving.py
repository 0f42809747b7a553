"""What outlives somebody's sign-in: keys that they made or that are theirs, and invitations that they sent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from mnemoir.access.api_keys import ApiKeys
from mnemoir.access.sign_in.users import Users
from mnemoir.core.api_keys import ApiKey
from mnemoir.core.users import Invitation, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Valid keys and open invitations, oldest first."""

    keys: Sequence[ApiKey]
    invitations: Sequence[Invitation]


def left_by(people: Iterable[User], users: Users, api_keys: ApiKeys, removed: Sequence[str] = ()) -> Left:
    """What people have left: keys that they made, also by keys made so, or that are bound to them. Blocks.

    For somebody who was removed the `User` of before does, or for what they made their name as a caller, `removed`.
    """
    keys = {key.id: key for person in people for key in api_keys.live_keys_of(person)}
    keys |= {key.id: key for maker in removed for key in api_keys.live_keys_made_by(maker)}
    makers = {person.principal.key for person in people} | {*removed} | keys.keys()
    invited = [one for one in users.invitations(None) if one.created_by in makers]
    return Left(keys=sorted(keys.values(), key=_age), invitations=invited)


def _age(key: ApiKey) -> tuple[datetime, str]:
    return key.created_at, key.id


def remove(user: User, users: Users, api_keys: ApiKeys) -> tuple[Sequence[ApiKey], Left]:
    """Remove somebody, not what is remembered of them; the keys that end with that, and what is left. Blocks.

    The keys bound to their memory user end, unless that is somebody else's, too. They end first, so that what was cut
    can be repeated.
    """
    tenant, memory_user = user.grant.tenant, user.grant.memory_user or ""
    ended: list[ApiKey] = []
    if len(users.of_memory(tenant, memory_user)) == 1:
        bound = [key for key in api_keys.live_keys_of(user) if (key.tenant, key.user) == (tenant, memory_user)]
        ended = [api_keys.revoke(key.id) for key in bound]
    users.remove(user)
    return ended, left_by([user], users, api_keys)
