# SPDX-License-Identifier: Apache-2.0

"""Rotates keys: encrypts the secrets in the database with the first key."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.encryption import vault as vaults
from climate.db.encryption.vault import Vault
from climate.db.leases.events import dump_payload
from climate.db.leases.events import load_payload
from climate.db.schema.tables import EVENTS
from climate.db.schema.tables import IDEMPOTENCY_KEYS
from climate.db.schema.tables import OFFERS
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import WEBHOOKS
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain import drafts
from climate.domain.events import EventKind
from climate.domain.lifecycles import ReservationStatus
from climate.domain.payloads import ChangePayload

_BATCH = 200
_TEXTS: Final = (
    (IDEMPOTENCY_KEYS, 'body'),
    (IDEMPOTENCY_KEYS, 'sealed_fingerprint'),
    (OFFERS, 'request'),
    (WEBHOOKS, 'url'),
    (WEBHOOKS, 'secret'),
    (WEBHOOKS, 'previous_secret'),
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The outcome of a rotation.

    :ivar encrypted: the number of drafts and texts that the first key now decrypts
    :ivar forgotten: the number of drafts of ended reservations that lost their secrets
    :ivar unreadable: ids of reservations that no key decrypts
    """

    encrypted: int = 0
    forgotten: int = 0
    unreadable: tuple[str, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            encrypted=self.encrypted + other.encrypted,
            forgotten=self.forgotten + other.forgotten,
            unreadable=self.unreadable + other.unreadable,
        )


def rotate(store: Store, vault: Vault) -> Outcome:
    """Encrypt all drafts with the first key, including those in clear text.

    Does the same with the answers that are stored for idempotency keys, with the requests
    of offers, and with the addresses and secrets of webhooks. Removes the secrets of ended
    reservations. Works in small transactions, so that it does not block a running service.
    """
    total, last = Outcome(), ''
    while True:
        done, last = store.run(functools.partial(_rotate_batch, vault=vault, after=last))
        total += done
        if not last:
            break
    last = ''
    while True:
        last = store.run(functools.partial(_clean_events, after=last))
        if not last:
            break
    for table, column in _TEXTS:
        row_id: Any = None
        while True:
            done, row_id = store.run(
                functools.partial(
                    _rotate_texts, table=table, column=column, vault=vault, after=row_id
                )
            )
            total += done
            if row_id is None:
                break
    return total


def _rotate_batch(tx: Transaction, vault: Vault, after: str) -> tuple[Outcome, str]:
    table = RESERVATIONS
    query = sa.select(table.c.id, table.c.status, table.c.request).where(table.c.id > after)
    rows = tx.session.execute(query.order_by(table.c.id).limit(_BATCH).with_for_update()).all()
    total = Outcome()
    for row in rows:
        new, done = _rotated(vault, row)
        total += done
        if new != row.request:
            change = sa.update(table).where(table.c.id == row.id)
            tx.session.execute(change.values(request=new))
    return total, rows[-1].id if len(rows) == _BATCH else ''


def _rotated(vault: Vault, row: Any) -> tuple[Mapping[str, Any], Outcome]:
    """Return the request to store for a row."""
    if row.status == ReservationStatus.DELETED:
        new = drafts.hidden(row.request)
        return new, Outcome(forgotten=int(new != row.request))
    request = vault.open(row.request)
    if vaults.sealed(request):
        return row.request, Outcome(unreadable=(row.id,))
    return vault.seal(request), Outcome(encrypted=int(bool(drafts.secrets(request))))


def _rotate_texts(
    tx: Transaction, table: sa.Table, column: str, vault: Vault, after: Any
) -> tuple[Outcome, Any]:
    """Encrypt a batch of texts.

    :param after: the id of the last row of the batch before; None for the first batch
    :returns: what was encrypted, and the id of the last row; None after the last batch
    """
    encrypted = 0
    text = table.c[column]
    query = sa.select(table.c.id, text).order_by(table.c.id).limit(_BATCH).with_for_update()
    if after is not None:
        query = query.where(table.c.id > after)
    rows = tx.session.execute(query).all()
    for row_id, stored in rows:
        opened = None if stored is None else vault.open_text(stored)
        # Without its key it stays as it is: it expires soon.
        if opened is not None:
            change = sa.update(table).where(table.c.id == row_id)
            tx.session.execute(change.values({column: vault.seal_text(opened)}))
            encrypted += 1
    return Outcome(encrypted=encrypted), rows[-1].id if len(rows) == _BATCH else None


def _clean_events(tx: Transaction, after: str) -> str:
    """Remove the secrets that old releases wrote into a batch of events."""
    table = EVENTS
    query = sa.select(table.c.id, table.c.payload).where(
        table.c.id > after, table.c.kind == EventKind.UPDATE
    )
    rows = tx.session.execute(query.order_by(table.c.id).limit(_BATCH).with_for_update()).all()
    for row in rows:
        known = load_payload(EventKind.UPDATE, row.payload)
        assert isinstance(known, ChangePayload)
        hidden = {key: drafts.hidden(request) for key, request in known.before.items()}
        if hidden != known.before:
            clean = dataclasses.replace(known, before=hidden)
            change = sa.update(table).where(table.c.id == row.id)
            tx.session.execute(change.values(payload=dump_payload(clean)))
    return str(rows[-1].id) if len(rows) == _BATCH else ''
