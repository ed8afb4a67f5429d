# SPDX-License-Identifier: Apache-2.0

"""What members can make the service do, and have, with offers, alternatives and keys.

The cost is counted in statements and choices. Half a second in all.
"""

from __future__ import annotations

import json
from typing import Any

from fixtures import MonkeyPatch

from climate.booking.choosing import choose
from climate.booking.choosing import matching
from climate.booking.offers import other_properties
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from tests.functional import http
from tests.functional.db import plans
from tests.functional.test_holds import HoldsCase
from tests.functional.test_offers import HOSTS
from tests.functional.test_offers import PERIOD

ONE = {'reservations': [HOSTS], 'duration': '2h', 'earliest': PERIOD['start_date'], 'hold': '120s'}


class TestCosts(HoldsCase):
    """Requests that a member can make expensive."""

    def test_many_comparisons(self) -> None:
        """A refusal looks for other values of some properties, not of two thousand."""
        self.start()
        texts = [
            json.dumps(['and', *(['==', f'$p{place}_{one}', 'x'] for one in range(25))])
            for place in range(4)
        ]
        lease = self.lease([{**HOSTS, 'resource_properties': text} for text in texts])
        with plans.captured(self.service.store.engine) as statements:
            self.send_in_vain('POST', 'leases', lease, 409)
        searches = [one for one in statements if one.text.count('EXISTS') >= 24]
        self.assertLess(len(searches), other_properties.MOST_COMPARISONS + 4 * len(texts))

    def test_choices_that_take_long(self) -> None:
        """The search for offers and alternatives ends, however long one choice takes."""
        self.start()
        counts = []

        def together(*facts: Any) -> Any:
            counts.append(1)
            self.service.clock.advance(0.5)
            return choose.together(*facts)

        # Each reservation is free on its own, but not both of them.
        self.send('POST', 'leases', self.lease([HOSTS]))
        self.useFixture(MonkeyPatch('climate.booking.offers.offers.together', together))
        both = [{**HOSTS, 'min': 2, 'max': 2, 'resource_properties': text} for text in self.texts()]
        found = self.send_in_vain('POST', 'leases', self.lease(both), 409)
        self.assertEqual('NOT_ENOUGH_RESOURCES', found['error_name'])
        self.assertEqual(2, len(counts))
        counts.clear()
        wanted = {**ONE, 'reservations': both, 'limit': 10}
        del wanted['hold']
        answer = self.send('POST', 'offers', wanted)
        self.assertEqual(2, len(counts))
        self.assertLess(answer.json['searched_until'], '2030-02-02')

    def test_requirements_that_take_long(self) -> None:
        """The search ends while it looks for the resources that meet each of them."""
        self.start()
        self.send('POST', 'leases', self.lease([HOSTS]))
        counts = []
        rows = matching.rows

        def slow(*facts: Any) -> Any:
            counts.append(1)
            self.service.clock.advance(0.5)
            return rows(*facts)

        self.useFixture(MonkeyPatch('climate.booking.choosing.matching.rows', slow))
        texts = [json.dumps(['>=', '$vcpus', str(number)]) for number in range(9)]
        many = [{**HOSTS, 'resource_properties': text} for text in texts]
        wanted = {'reservations': many, 'duration': '1h', 'earliest': '2030-02-01T00:00:00Z'}
        for more in ({}, {'hold': '60s'}, {'prefer': 'cheapest'}):
            counts.clear()
            refused = self.send_in_vain('POST', 'offers', {**wanted, **more}, 400)
            self.assertEqual('REQUIREMENTS_TOO_SLOW', refused['error_name'])
            self.assertEqual(2, len(counts))
        counts.clear()
        refused = self.send_in_vain('POST', 'leases', self.lease(many), 400)
        self.assertEqual('REQUIREMENTS_TOO_SLOW', refused['error_name'])
        self.assertEqual(2, len(counts))
        # Each value of a property is a requirement of its own.
        counts.clear()
        same = {**wanted, 'reservations': many[:1], 'prefer': 'same', 'property': 'rack'}
        self.assertEqual(200, self.send('POST', 'offers', same).status_int)
        self.assertEqual(2, len(counts))

    def texts(self) -> list[str]:
        """Return two requirements that every host meets."""
        return [json.dumps(['>=', '$vcpus', number]) for number in ('0', '1')]


class TestLimitOfResources(HoldsCase):
    """What is held for a project counts, until the hold has ended."""

    def test_what_is_held_counts(self) -> None:
        self.start(limits=ProjectLimits(usual=Limits(resources=2, leases=1)))
        held = self.held({**HOSTS, 'min': 2, 'max': 2})
        self.assertEqual(403, self.send('POST', 'offers', ONE).status_int)
        self.assertEqual(403, self.send('POST', 'leases', self.lease([HOSTS])).status_int)
        self.assertEqual(201, self.take(held).status_int)
        self.assertEqual(403, self.send('POST', 'offers', ONE).status_int)

    def test_not_after_the_hold(self) -> None:
        self.start(limits=ProjectLimits(usual=Limits(resources=2)))
        self.held({**HOSTS, 'min': 2, 'max': 2})
        self.service.clock.advance(121)
        self.assertEqual(200, self.send('POST', 'offers', ONE).status_int)

    def test_concurrent_holds(self) -> None:
        """What the search has read may be out of date when the offer is held."""
        self.start(limits=ProjectLimits(usual=Limits(resources=1)))
        self.held(HOSTS)
        self.useFixture(
            MonkeyPatch('climate.booking.offers.offers.OfferSearch._check', lambda *_: None)
        )
        self.assertEqual(403, self.send('POST', 'offers', ONE).status_int)


class TestLateTries(HoldsCase):
    """A try of a request with a key that another try overtakes."""

    def overtaken(self, path: str, body: Any, function: str) -> None:
        """Send a request that another try overtakes behind its look for earlier ones."""
        self.start()

        def post() -> Any:
            facts = {'token': http.MEMBER, 'headers': {'Idempotency-Key': 'k'}}
            return http.send(self.service.app, 'POST', path, body, version='1.4', **facts)

        def earlier(*_: Any) -> None:
            return None

        # The first try books, but its process dies before it stores the answer.
        with MonkeyPatch('climate.api.routing.idempotency_keys.IdempotentRequests.end', end):
            self.assertLess(post().status_int, 300)
        self.service.clock.advance(61)
        with MonkeyPatch(function, earlier):
            late = post()
        self.assertEqual(409, late.status_int, late.text)
        self.assertEqual('IDEMPOTENCY_KEY_IN_USE', late.json['error_name'])
        self.assertIn('Retry-After', late.headers)
        again = post()
        self.assertLess(again.status_int, 300, again.text)
        self.assertNotIn('Idempotency-Replayed', again.headers)
        self.assertEqual(again.text, post().text)

    def test_a_lease(self) -> None:
        self.overtaken('/v1/leases', self.lease([HOSTS]), 'climate.booking.writing.create.earlier')

    def test_an_offer(self) -> None:
        wanted = {**ONE, 'limit': 1}
        del wanted['hold']
        self.overtaken('/v1/offers', wanted, 'climate.booking.offers.holds._earlier')

    def test_a_hold(self) -> None:
        self.overtaken('/v1/offers', {**ONE, 'limit': 1}, 'climate.booking.offers.holds._earlier')


def end(_: Any, environ: Any, *__: Any, **___: Any) -> None:
    """Forget to store an answer."""
    environ.pop('climate.idempotency_key')
