"""Chats that are kept: what a client sends is stored before a model is asked, and the answer before it is finished.

A client that sends its whole history again adds only what is new; where it says something else than is stored, a
branch begins. Trouble with the files never fails a chat, unless it is to be answered from what is stored: it is
logged, and the chat goes on unrecorded.
"""

import asyncio
import traceback
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import structlog

from mnemoir.agent.memory import Reader
from mnemoir.agent.retrieval import Recalled, RetrievalLimits, recalled_for
from mnemoir.app.in_thread import in_thread
from mnemoir.app.shown_history import INSTRUCTIONS, StoredHistory, with_recalled
from mnemoir.conversations.attachments import Attachments
from mnemoir.conversations.messages import Message
from mnemoir.conversations.model_messages import from_model, read_call
from mnemoir.conversations.sessions import MessageNotFoundError, checked_session_id
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.discussion_id import without_tags
from mnemoir.core.errors import InvalidRequest, MnemoirError
from mnemoir.core.events import Event
from mnemoir.core.gathering import Gathering
from mnemoir.core.messages import ChatRequest
from mnemoir.wire.session import History
from mnemoir.workflows.caller import Caller, RecordedTurn
from mnemoir.workflows.dispatch import Workflows
