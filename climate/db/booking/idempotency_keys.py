# SPDX-License-Identifier: Apache-2.0

"""The rows of idempotency keys.

A request with a key claims its row before it begins, in a transaction of its own, so
that two requests with one key never run at once. The row also has the id of the object
that the request makes. If a process dies in the middle, the claim expires, and the next
try makes the object with the same id: its primary key keeps it from being made twice.

A fingerprint is a digest of a body that can contain a weak password, which any reader of
the database could find by trying. So it is encrypted like the answer, with the same keys.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from climate.db.leases.reservations import SealedRows
from climate.db.schema.tables import IDEMPOTENCY_KEYS
from climate.db.statements.repository import UNCLAIMED
from climate.domain.idempotency_keys import IdempotencyKey
from climate.domain.idempotency_keys import KeyedRequest
from climate.domain.idempotency_keys import KeyUsage
from climate.domain.idempotency_keys import StoredAnswer


class IdempotencyKeys(SealedRows):
    """Rows of ``idempotency_keys``."""

    def find(self, request: KeyedRequest) -> IdempotencyKey | None:
        """Lock the row of the key of a request; return it, or None if there is none."""
        query = sa.select(IDEMPOTENCY_KEYS).where(*_named(request)).with_for_update()
        row = self._session.execute(query).one_or_none()
        return None if row is None else self._key(row)

    def insert(self, key: IdempotencyKey) -> None:
        """Insert a key that is claimed.

        :raises oslo_db.exception.DBDuplicateEntry: if another process was first;
            :meth:`climate.db.transactions.store.Store.run` then retries
        """
        self._insert_row(
            IDEMPOTENCY_KEYS,
            project_id=key.request.project_id,
            idempotency_key=key.request.key,
            **self._fingerprint(key.request.fingerprint),
            object_id=key.object_id,
            claim_owner=key.claim_owner,
            claim_until=key.claim_until,
            headers={},
            created_at=self._now,
            expires_at=key.expires_at,
        )

    def claim(self, key: IdempotencyKey) -> None:
        """Write the claim of a key whose row is locked."""
        claim = {'claim_owner': key.claim_owner, 'claim_until': key.claim_until}
        self._update_rows(IDEMPOTENCY_KEYS, *_named(key.request), **claim)

    def answer(self, key: IdempotencyKey, answer: StoredAnswer) -> None:
        """Store an answer and release the claim, unless another try has claimed the key."""
        body = None if answer.body is None else self._vault.seal_text(answer.body)
        # Without what encryption adds, which a rotation of keys changes.
        size = 0 if answer.body is None else len(answer.body.encode())
        self._finish(
            key, status=answer.status, headers=dict(answer.headers), body=body, body_size=size
        )

    def release(self, key: IdempotencyKey) -> None:
        """Release the claim, unless another try has claimed the key."""
        self._finish(key)

    def delete(self, request: KeyedRequest) -> None:
        """Delete the key of a request."""
        self._delete_rows(IDEMPOTENCY_KEYS, *_named(request))

    def usage(self, project_id: str) -> KeyUsage:
        """Return what a project has used; the index has all that is read.

        ::

            SELECT count(*), min(expires_at), sum(body_size) FROM idempotency_keys
            WHERE project_id = :project_id AND expires_at > :now
        """
        keys = IDEMPOTENCY_KEYS
        query = sa.select(
            sa.func.count(), sa.func.min(keys.c.expires_at), sa.func.sum(keys.c.body_size)
        ).where(keys.c.project_id == project_id, keys.c.expires_at > self._now)
        number, expires_at, size = self._session.execute(query).one()
        return KeyUsage(number=int(number), expires_at=expires_at, size=int(size or 0))

    def forget_expired(self, most: int) -> int:
        """Delete at most *most* expired keys; return their number."""
        keys = IDEMPOTENCY_KEYS
        query = sa.select(keys.c.id).where(keys.c.expires_at <= self._now)
        ids = list(self._session.scalars(query.order_by(keys.c.expires_at).limit(most)))
        if ids:
            self._delete_rows(keys, keys.c.id.in_(ids))
        return len(ids)

    def _finish(self, key: IdempotencyKey, **values: Any) -> None:
        mine = (*_named(key.request), IDEMPOTENCY_KEYS.c.claim_owner == key.claim_owner)
        self._update_rows(IDEMPOTENCY_KEYS, *mine, **UNCLAIMED, **values)

    def _fingerprint(self, fingerprint: str | None) -> dict[str, str | None]:
        assert fingerprint is not None
        sealed = self._vault.seal_text(fingerprint)
        if sealed == fingerprint:
            return {'fingerprint': fingerprint, 'sealed_fingerprint': None}
        return {'fingerprint': '', 'sealed_fingerprint': sealed}

    def _key(self, row: Any) -> IdempotencyKey:
        answer = None
        fingerprint: str | None = row.fingerprint
        if row.sealed_fingerprint is not None:
            fingerprint = self._vault.open_text(row.sealed_fingerprint)
        if row.status is not None:
            body = None if row.body is None else self._vault.open_text(row.body)
            answer = StoredAnswer(status=row.status, headers=row.headers, body=body)
        return IdempotencyKey(
            request=KeyedRequest(
                project_id=row.project_id, key=row.idempotency_key, fingerprint=fingerprint
            ),
            object_id=row.object_id,
            expires_at=row.expires_at,
            claim_owner=row.claim_owner,
            claim_until=row.claim_until,
            answer=answer,
        )


def _named(request: KeyedRequest) -> tuple[Any, Any]:
    return (
        IDEMPOTENCY_KEYS.c.project_id == request.project_id,
        IDEMPOTENCY_KEYS.c.idempotency_key == request.key,
    )
