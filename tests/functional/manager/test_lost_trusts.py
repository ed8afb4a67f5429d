# SPDX-License-Identifier: Apache-2.0

"""An owner learns that a trust is of no use before the lease needs it."""

from __future__ import annotations

import logging
from typing import Any

import fixtures
import jsonschema

from climate.messaging import lines
from climate.messaging import publisher
from climate.messaging import schemas
from climate.metrics import catalogue
from climate.upkeep.owners import OwnerCheck
from climate.upkeep.trusts import TrustCheck
from tests import metrics
from tests.databases import fetch
from tests.functional.manager import harness
from tests.functional.manager import stack_case

WITHOUT = 'Climate cannot act for the owner of the lease'


class TestLostTrusts(stack_case.StackCase):
    """A lease of a stack that needs the trust of its user."""

    def setUp(self) -> None:
        super().setUp()
        self.logged = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.metrics = self.useFixture(metrics.RecordedMetrics())
        self.lease = self.made()
        trusts = TrustCheck(self.site.store, self.site.plugins)
        self.check = OwnerCheck(self.site.store, self.cloud, lambda *_: True, trusts)

    def lost(self) -> list[str]:
        """Check; return the reasons of new notifications."""
        before = {row.id for row in self.unsent()}
        number = self.check.run()
        found = [row for row in self.unsent() if row.id not in before]
        self.assertEqual(number, len(found))
        for row in found:
            self.assertEqual(schemas.TRUST_LOST, row.event_type)
            jsonschema.validate(dict(row.payload), schemas.SCHEMAS[schemas.TRUST_LOST])
            self.assertEqual(self.lease.id, row.lease_id)
        return [str(row.payload['reason']) for row in found]

    def unsent(self) -> list[Any]:
        return fetch(self.site.store, lambda tx: tx.outbox.unsent())

    def test_a_revoked_role(self) -> None:
        self.assertEqual([], self.lost())
        self.cloud.put_member('alice', harness.PROJECT, 'reader')
        reason = (
            f'{WITHOUT} until user alice has the role member in project {harness.PROJECT} again'
        )
        self.assertEqual([reason], self.lost())
        self.assertIn(
            f'Lease {self.lease.id}: its trust is of no use: {WITHOUT}', self.logged.output
        )
        self.assertEqual([(1,)], self.metrics.of(catalogue.TRUSTS_LOST))
        self.assertEqual('PENDING', self.site.status(self.lease))
        # Said once, until it is of use again.
        self.assertEqual([], self.lost())
        self.cloud.put_member('alice', harness.PROJECT, 'member')
        self.assertEqual([], self.lost())
        self.assertIn('its trust is of use again', self.logged.output)
        self.cloud.put_member('alice', harness.PROJECT, 'reader')
        self.assertEqual([reason], self.lost())

    def test_both_say_the_same_of_use(self) -> None:
        """The check, and Keystone when the lease starts."""
        self.cloud.put_member('alice', harness.PROJECT, 'reader')
        self.assertEqual(1, len(self.lost()))
        self.site.until(stack_case.START + 60)
        self.assertIn('has lost a role', self.reason(self.lease))

    def test_users_and_trusts_that_are_gone(self) -> None:
        self.cloud.set_enabled(user_id='alice', enabled=False)
        self.assertEqual([f'{WITHOUT}: user alice is disabled'], self.lost())
        self.cloud.set_enabled(user_id='alice', enabled=True)
        ((trust_id, *_),) = self.trusts()
        self.cloud.identity.delete_trust(trust_id)
        self.assertEqual([f'{WITHOUT}: the trust is deleted or expired'], self.lost())

    def test_a_lease_that_is_over(self) -> None:
        self.site.until(stack_case.END + 60)
        self.cloud.put_member('alice', harness.PROJECT)
        self.assertEqual([], self.lost())

    def test_an_unavailable_keystone_loses_no_trust(self) -> None:
        self.cloud.put_member('alice', harness.PROJECT)
        self.cloud.reachable = False
        self.assertEqual([], self.lost())
        self.assertIn('Keystone does not say', self.logged.output)
        self.cloud.reachable = True
        self.assertEqual(1, len(self.lost()))

    def test_a_line_of_the_notification(self) -> None:
        self.cloud.put_member('alice', harness.PROJECT)
        self.lost()
        row = self.unsent()[-1]
        message = publisher.OutboxMessage(
            id=row.id, event_type=row.event_type, payload=row.payload, created_at=row.created_at
        )
        text = lines.line(publisher.envelope(message, 'climate.lease'))
        self.assertIn(f'of project {harness.PROJECT}: the trust is of no use: {WITHOUT}', text)
