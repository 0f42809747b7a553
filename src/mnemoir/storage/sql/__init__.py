"""The stores, written once over named queries and `Sql`, for every database that has an engine."""

from mnemoir.storage.sql.job_queue import SqlJobQueue
from mnemoir.storage.sql.memory_store import SqlMemoryStore
from mnemoir.storage.sql.personal_values import SqlPersonalValues
from mnemoir.storage.sql.project_settings import SqlProjectSettings
from mnemoir.storage.sql.proposals import SqlProposals

__all__ = ["SqlJobQueue", "SqlMemoryStore", "SqlPersonalValues", "SqlProjectSettings", "SqlProposals"]
