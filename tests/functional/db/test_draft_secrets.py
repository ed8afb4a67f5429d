# SPDX-License-Identifier: Apache-2.0

"""Secrets of drafts: encrypted, decrypted, encrypted anew, and forgotten."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from climate.db.administration import rotation
from climate.db.encryption import vault
from climate.db.transactions.store import Store
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Reservation
from climate.domain.lifecycles import ReservationStatus
from climate.domain.payloads import ChangePayload
from climate.plugins.stack.plugin import VirtualStack
from climate.plugins.stack.request import StackRequest
from tests import services
from tests.databases import fetch
from tests.functional.db import cases
from tests.functional.db import everything

# A word that says whether it was stored in clear, and does not look like base64.
SECRET = 'open-sesame!'
SERVER = {'draft': {'name': 'web', 'flavor': 'f', 'image': 'i', 'user_data': SECRET}}
_GIVEN = {'parameters': {'password': SECRET}, 'files': {'a.yaml': SECRET}}
STACK = {'draft': {'template': SECRET, 'environment': '', **_GIVEN}}
REQUESTS = (SERVER, STACK, {'min': 1}, {'draft': None})


def secret_reservation(place: int, request: dict[str, Any]) -> Reservation:
    """Return one of a lease of several."""
    ids = {'id': f'reservation-{place}', 'lease_id': 'secret'}
    return Reservation(**ids, resource_type='virtual:server', position=place, request=request)


@services.on_each_engine(cases.StoreCase)
class _Secrets:
    """The same on each engine."""

    def keyed(self, *keys: str) -> Store:
        """Return a process that has these keys."""
        return self.closing(cases.connect(self.url, keys=keys))

    def put(self, store: Store, **facts: Any) -> None:
        """Write a lease of each request through a process."""
        parts = tuple(secret_reservation(place, each) for place, each in enumerate(REQUESTS))
        made = dataclasses.replace(cases.lease(1, 2), id='secret', reservations=parts, events=())
        store.run(lambda tx: tx.leases.insert(made))
        store.run(lambda tx: tx.reservations.insert(parts))

    def requests(self, store: Store) -> list[Any]:
        """Return the requests as a process reads them."""
        with store.reading() as tx:
            return [item.request for item in tx.reservations.of_leases(['secret'])]

    def text(self) -> str:
        return everything.text(self.store.engine)

    def end(self, store: Store) -> None:
        """Let the lease be over."""
        found = fetch(store, lambda tx: tx.reservations.of_leases(['secret']))
        for item in found:
            over = dataclasses.replace(item, status=ReservationStatus.DELETED)
            store.run(lambda tx, over=over: tx.reservations.update(over))

    def test_in_clear_without_a_key_and_forgotten_at_the_end(self) -> None:
        self.put(self.store)
        self.assertIn(SECRET, self.text())
        self.assertEqual(list(REQUESTS), self.requests(self.store))
        self.end(self.store)
        self.assertNotIn(SECRET, self.text())
        left = self.requests(self.store)
        self.assertEqual(('web', {'min': 1}), (left[0]['draft']['name'], left[2]))

    def test_encrypted_and_forgotten_at_the_end(self) -> None:
        store = self.keyed(vault.new_key())
        self.put(store)
        self.assertNotIn(SECRET, self.text())
        self.assertIn('web', self.text())
        self.assertEqual(list(REQUESTS), self.requests(store))
        # Whether the process that ends it has the key or not.
        self.end(self.store)
        self.assertNotIn(vault.SEALED, self.text())

    def test_a_change_by_a_process_without_the_key_loses_nothing(self) -> None:
        store = self.keyed(vault.new_key())
        self.put(store)
        first, second, *_ = fetch(self.store, lambda tx: tx.reservations.of_leases(['secret']))
        self.assertRaises(TypeError, VirtualStack().load, {**_bare_stack(), **second.request})
        changed = dataclasses.replace(first, missing_resources=True)
        self.store.run(lambda tx: tx.reservations.update(changed))
        self.assertEqual(SERVER, self.requests(store)[0])

    def test_rotation(self) -> None:
        old, new = vault.new_key(), vault.new_key()
        self.put(self.keyed(old))
        both = self.keyed(new, old)
        self.assertEqual(list(REQUESTS), self.requests(both))
        self.assertEqual(rotation.Outcome(encrypted=2), rotation.rotate(both, both.vault))
        self.assertEqual(list(REQUESTS), self.requests(self.keyed(new)))
        found = rotation.rotate(self.keyed(old), self.keyed(old).vault)
        self.assertEqual(('reservation-0', 'reservation-1'), found.unreadable)
        self.assertEqual(list(REQUESTS), self.requests(self.keyed(new)))

    def test_what_was_stored_in_clear_is_encrypted_by_a_rotation(self) -> None:
        self.put(self.store)
        payload = ChangePayload(before={'reservation-0': SERVER}, undoing=True)
        facts = {'kind': EventKind.UPDATE, 'time': cases.NOW, 'due': cases.NOW}
        event = Event(id='update', lease_id='secret', payload=payload, **facts)
        self.store.run(lambda tx: tx.events.insert([event]))
        store = self.keyed(vault.new_key())
        self.assertEqual(list(REQUESTS), self.requests(store))
        rotation.rotate(store, store.vault)
        self.assertNotIn(SECRET, self.text())
        self.assertEqual(list(REQUESTS), self.requests(store))
        (event,) = fetch(store, lambda tx: tx.leases.get('secret', None).events)
        self.assertEqual('web', event.change.before['reservation-0']['draft']['name'])
        self.assertTrue(event.change.undoing)

    def test_a_rotation_forgets_what_an_old_release_kept_of_ended_leases(self) -> None:
        self.put(self.store)
        with self.store.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE reservations SET status = 'deleted'")
        store = self.keyed(vault.new_key())
        self.assertEqual(rotation.Outcome(forgotten=2), rotation.rotate(store, store.vault))
        self.assertNotIn(SECRET, self.text())
        stack = VirtualStack().load({**_bare_stack(), **self.requests(store)[1]})
        self.assertEqual('', stack.draft.template)


def _bare_stack() -> dict[str, Any]:
    return dict(json.loads(json.dumps(VirtualStack().dump(StackRequest(name='web')))))
