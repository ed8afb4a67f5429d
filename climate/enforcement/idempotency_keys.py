# SPDX-License-Identifier: Apache-2.0

"""What a request with an idempotency key may do: begin, or get a stored answer."""

from __future__ import annotations

import dataclasses
import datetime
import math
import uuid
from typing import Final

from climate import exceptions
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.idempotency_keys import IdempotencyKey
from climate.domain.idempotency_keys import KeyedRequest
from climate.domain.idempotency_keys import KeyUsage
from climate.domain.idempotency_keys import StoredAnswer
from climate.enforcement.limits import ProjectLimits

LASTS: Final = datetime.timedelta(hours=24)
"""How long a key names its request."""

LARGEST: Final = 64 * 1024
"""Size of the largest body of an answer that is stored, in bytes."""
MOST_OF_PROJECT: Final = 32 * 1024 * 1024
"""How many bytes of bodies are stored for a project at the same time.

Concurrent requests can exceed it by a few bodies.
"""


class KeyedAnswers:
    """The keys of requests, and the answers to them.

    :param limits: how many keys each project may have
    """

    def __init__(self, store: Store, limits: ProjectLimits) -> None:
        self._store = store
        self._limits = limits

    def begin(self, request: KeyedRequest, lasts: datetime.timedelta) -> IdempotencyKey:
        """Claim the key of a request, unless the request was answered already.

        :param lasts: how long the request can take; the process is then assumed dead
        :returns: with the answer, or with a claim to pass to :meth:`end`
        :raises climate.exceptions.IdempotencyKeyReused: if the key names another request
        :raises climate.exceptions.IdempotencyKeyInUse: if another try is in progress
        :raises climate.exceptions.TooManyRequests: if the project has too many keys
        """
        owner = uuid.uuid4().hex

        def claim(tx: Transaction) -> IdempotencyKey:
            known = tx.idempotency_keys.find(request)
            if known is not None and known.expires_at <= tx.now:
                tx.idempotency_keys.delete(request)
                known = None
            if known is None:
                return self._new(tx, request, owner, lasts)
            return _again(tx, known, request, owner, lasts)

        return self._store.run(claim)

    def end(self, key: IdempotencyKey, answer: StoredAnswer | None) -> None:
        """Store the answer to the request that has claimed a key.

        :param answer: None keeps nothing, so that the next try does the work again
        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        if answer is None:
            self._store.run(lambda tx: tx.idempotency_keys.release(key))
            return
        # The status stays: a repetition is refused, but never does the work again.
        most = min(LARGEST, key.room)
        if answer.body is not None and len(answer.body.encode()) > most:
            answer = dataclasses.replace(answer, body=None)
        self._store.run(lambda tx: tx.idempotency_keys.answer(key, answer))

    def _new(
        self, tx: Transaction, request: KeyedRequest, owner: str, lasts: datetime.timedelta
    ) -> IdempotencyKey:
        usage = tx.idempotency_keys.usage(request.project_id)
        self._check_number(tx, request.project_id, usage)
        key = IdempotencyKey(
            request=request,
            object_id=str(uuid.uuid4()),
            expires_at=tx.now + LASTS,
            claim_owner=owner,
            claim_until=tx.now + lasts,
            room=_room(usage),
        )
        tx.idempotency_keys.insert(key)
        return key

    def _check_number(self, tx: Transaction, project_id: str, usage: KeyUsage) -> None:
        most = self._limits.of(project_id).idempotency_keys
        if most and usage.number >= most and usage.expires_at is not None:
            raise exceptions.TooManyRequests(
                kind='project',
                limit=f'{most} idempotency keys within 24 hours',
                retry_after=math.ceil((usage.expires_at - tx.now).total_seconds()),
            )


def _again(
    tx: Transaction,
    known: IdempotencyKey,
    request: KeyedRequest,
    owner: str,
    lasts: datetime.timedelta,
) -> IdempotencyKey:
    """Return what a further try of a request may do."""
    unreadable = known.request.fingerprint is None
    if known.request.fingerprint != request.fingerprint and not (unreadable and known.answer):
        raise exceptions.IdempotencyKeyReused
    if known.answer is not None:
        if known.answer.body is None or unreadable:
            location = known.answer.headers.get('Content-Location')
            raise exceptions.IdempotentAnswerLost(
                status=known.answer.status, hint=f': read {location}' if location else ''
            )
        return known
    if known.claim_until is not None and known.claim_until > tx.now:
        raise exceptions.IdempotencyKeyInUse(retry_after=1)
    claimed = dataclasses.replace(
        known,
        claim_owner=owner,
        claim_until=tx.now + lasts,
        room=_room(tx.idempotency_keys.usage(request.project_id)),
    )
    tx.idempotency_keys.claim(claimed)
    return claimed


def _room(usage: KeyUsage) -> int:
    return max(MOST_OF_PROJECT - usage.size, 0)
