# SPDX-License-Identifier: Apache-2.0

"""Idempotency keys: names that clients give to requests, so that they can repeat them."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class KeyedRequest:
    """A request with a key.

    :ivar key: unique in its project
    :ivar fingerprint: a digest; two requests are the same if theirs are equal; None if it
        cannot be decrypted
    """

    project_id: str
    key: str
    fingerprint: str | None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class KeyUsage:
    """What the keys of a project use.

    :ivar number: of keys
    :ivar expires_at: when the first of them expires (aware UTC); None without any
    :ivar size: of the stored bodies, in bytes
    """

    number: int
    expires_at: datetime.datetime | None
    size: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StoredAnswer:
    """The answer to a request, which its repetitions get as well.

    :ivar status: of HTTP
    :ivar headers: those that belong to the content
    :ivar body: None if it was not kept, or cannot be decrypted
    """

    status: int
    headers: Mapping[str, str]
    body: str | None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class IdempotencyKey:
    """A key, and what is known about the request that it names.

    :ivar request: the first one with the key
    :ivar object_id: the id of the object that the request makes, if it makes one;
        every try of the request makes it with this id
    :ivar expires_at: when the key can be used for another request (aware UTC)
    :ivar claim_owner: the try that is in progress; None if none is
    :ivar claim_until: when that try is assumed to be dead (aware UTC)
    :ivar answer: None if no try was answered yet
    :ivar room: how many bytes of a body may be stored
    """

    request: KeyedRequest
    object_id: str
    expires_at: datetime.datetime
    claim_owner: str | None = None
    claim_until: datetime.datetime | None = None
    answer: StoredAnswer | None = None
    room: int = 0
