# SPDX-License-Identifier: Apache-2.0

"""A text of the cloud that no database stores does not stop a lease."""

from __future__ import annotations

import dataclasses
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.plugins import contract
from climate.plugins.host.plugin import PhysicalHost
from tests import base
from tests import services
from tests.databases import fetch
from tests.functional.manager.harness import Site

NASTY = f'a\x00b\ud800c\x1bd {"x" * 100_000}'
hostile = st.builds(''.join, st.lists(st.characters(categories=['Cs', 'Cc', 'Co', 'L', 'So'])))


class _Refusing(PhysicalHost):
    """Fails with a text, as often as it starts."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def start(self, *_: Any) -> contract.Outcome:
        raise self.error


@services.on_each_engine(base.TestCase, 'TestOn')
class _Tests:
    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(hosts=1, database=self.kind))

    def start(self) -> Event:
        return self.site.event(self.lease, EventKind.START)

    @property
    def lease(self) -> Lease:
        (found,) = self.site.every_lease()
        return found

    def test_a_start_is_tried_again_and_then_abandoned(self) -> None:
        for error in (exceptions.Transient(NASTY), exceptions.Permanent(NASTY)):
            self.site.plugins['physical:host'] = _Refusing(error)
            if not self.site.every_lease():
                self.site.create()
            self.site.until(self.site.seconds() + 10)
            self.assertGreater(self.start().attempts, 0)
            self.assertIn('a\ufffdb\ufffdc d x', self.start().error or '')
        self.assertEqual('ERROR', self.site.status(self.lease))
        self.assertIn('a\ufffdb', self.site.bus.last('lease.event.error')['reason'])

    def test_what_was_missed_where_it_entered(self) -> None:
        self.site.create(start=60)

        @hypothesis.given(hostile | st.just(NASTY))
        @hypothesis.settings(max_examples=15, deadline=None, database=None)
        def check(text: str) -> None:
            event = dataclasses.replace(self.start(), error=text)
            self.site.store.run(lambda tx: tx.events.update(event))
            self.assertIsNotNone(self.start().error)

        check()

    def test_a_property_that_the_cloud_reports(self) -> None:
        (resource,) = fetch(self.site.store, lambda tx: tx.resources.of_type('physical:host'))
        nasty = dataclasses.replace(
            resource,
            id=None,
            name='compute-9',
            attributes={**resource.attributes, 'cpu_info': NASTY},
        )
        added = self.site.store.run(lambda tx: tx.resources.insert(nasty))
        found = fetch(self.site.store, lambda tx: tx.resources.get('physical:host', added))
        self.assertTrue(str(found.attributes['cpu_info']).startswith('a\ufffdb\ufffdc\x1bd'))
