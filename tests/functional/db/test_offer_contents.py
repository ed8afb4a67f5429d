# SPDX-License-Identifier: Apache-2.0

"""Offers as the database stores them: what is read is what was written."""

from __future__ import annotations

import dataclasses
import datetime
import json

from fixtures import MonkeyPatch

from climate.db.administration import rotation
from climate.db.booking import offer_contents
from climate.db.encryption import vault
from climate.db.transactions.store import Store
from climate.domain.offers import Offer
from climate.domain.offers import OfferedReservation
from climate.domain.offers import OfferKind
from climate.domain.offers import PropertyValues
from climate.domain.offers import Shortage
from climate.domain.offers import StoredOffer
from climate.domain.periods import Period
from tests import services
from tests.base import TestCase
from tests.functional.db import cases
from tests.functional.db import everything

NOON = datetime.datetime(2030, 1, 1, 12, 0, 30, 250000, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)
SHORTAGE = Shortage(
    place=1, resource_type='physical:host', resource_class=None, missing=2, until=NOON
)
OFFER = Offer(
    period=Period(start=NOON, end=NOON + HOUR),
    reservations=(
        OfferedReservation(place=0, resource_type='physical:host', amount=2),
        OfferedReservation(
            place=1, resource_type='virtual:instance', amount=3, classes={'VCPU': 6}
        ),
    ),
    kind=OfferKind.LONGEST,
    blocked_before=(SHORTAGE, dataclasses.replace(SHORTAGE, resource_class='VCPU', until=None)),
    cost=2.5,
    displaced=4,
    resources=3,
    requirements=(PropertyValues(place=0, name='rack', values=('r1', 'r2')),),
)


class TestContents(TestCase):
    """There and back."""

    def test_an_offer(self) -> None:
        found = offer_contents.read(json.loads(json.dumps(offer_contents.written(OFFER))))
        self.assertEqual(OFFER, found)
        self.assertIs(OfferKind.LONGEST, found.kind)

    def test_all_fields(self) -> None:
        """Fails for a new field of an offer until this test covers it."""
        for field in dataclasses.fields(Offer):
            if field.default is not dataclasses.MISSING:
                self.assertNotEqual(field.default, getattr(OFFER, field.name), field.name)

    def test_what_an_older_release_has_written(self) -> None:
        stored = offer_contents.written(OFFER)
        del stored['blocked_before']
        self.assertEqual((), offer_contents.read(stored).blocked_before)


class TestRequests(cases.StoreCase):
    """The requests of offers are encrypted, and follow a rotation of the keys."""

    kind = services.SQLITE
    SECRET = 'open-sesame!'

    def keyed(self, *keys: str) -> Store:
        """Return a process that has these encryption keys."""
        return self.closing(cases.connect(self.url, self.clock, keys))

    def test_rotation(self) -> None:
        self.useFixture(MonkeyPatch('climate.db.administration.rotation._BATCH', 2))
        offers = [
            StoredOffer(
                id=name,
                project_id='blue',
                user_id='alice',
                offer=OFFER,
                reservations=({'user_data': self.SECRET},),
                created_at=cases.NOW,
                expires_at=cases.NOW + HOUR,
            )
            for name in ('a', 'b', 'c')
        ]
        self.store.run(lambda tx: tx.offers.insert(offers))
        self.assertIn(self.SECRET, everything.text(self.store.engine))
        old, new = vault.new_key(), vault.new_key()
        for keys in ((old,), (new, old)):
            store = self.keyed(*keys)
            rotation.rotate(store, store.vault)
            self.assertNotIn(self.SECRET, everything.text(self.store.engine))
        for one in offers:
            found = self.keyed(new).run(lambda tx, one=one: tx.offers.find(one.id, 'blue'))
            self.assertEqual(one, found)
            self.assertIsNone(self.keyed(old).run(lambda tx: tx.offers.find('a', 'blue')))
