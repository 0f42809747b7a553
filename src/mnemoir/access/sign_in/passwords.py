"""Passwords: hashed by argon2, in few threads, as each hash takes 64 MiB and a tenth of a second."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from mnemoir.core.users import LONGEST_PASSWORD, plain_password

_AT_ONCE = 2
T = TypeVar("T")


class Passwords:
    """Makes and checks hashes. For one event loop."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="passwords")

    async def hash(self, password: str) -> str:
        """The hash to store of a password that was checked to be one."""
        return await self._run(self._hasher.hash, password)

    async def is_right(self, password: str, hash: str | None) -> bool:
        """Whether it is the password of that hash; False for None, after the same time."""
        text = plain_password(password)
        if len(text.encode("utf-8", "surrogatepass")) > LONGEST_PASSWORD:
            text = ""
        return await self._run(self._is_right, text, hash) and hash is not None

    def is_outdated(self, hash: str) -> bool:
        """Whether hashes are made in another way now."""
        return self._hasher.check_needs_rehash(hash)

    async def aclose(self) -> None:
        """End the threads."""
        await asyncio.to_thread(self._threads.shutdown)

    @cached_property
    def _of_nobody(self) -> str:
        return self._hasher.hash("")

    def _is_right(self, text: str, hash: str | None) -> bool:
        of_nobody = (
            self._of_nobody
        )  # made for known names, too: the first try must not take longer for an unknown one
        try:
            return self._hasher.verify(hash or of_nobody, text.encode("utf-8", "surrogatepass"))
        except (VerificationError, InvalidHashError):
            return False

    async def _run(self, work: Callable[..., T], *values: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *values)
