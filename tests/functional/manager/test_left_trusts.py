# SPDX-License-Identifier: Apache-2.0

"""Trusts that nobody could use, or delete, are found by repair, whoever crashed when."""

from __future__ import annotations

import datetime
from typing import Any
from unittest import mock

import sqlalchemy as sa
from oslo_db import exception as oslo_exception

from climate import exceptions
from climate.booking.requests import trusts
from climate.db.administration.purge import purge
from climate.db.schema import tables
from tests.functional.manager import harness
from tests.functional.manager import stack_case
from tests.functional.manager.broken_transactions import Killed
from tests.functional.manager.broken_transactions import transaction_fails

LATER = 3 * 3600
SECOND = datetime.timedelta(seconds=1)
_LEASES = sa.select(tables.LEASES.c.id)


class TestLeftTrusts(stack_case.StackCase):
    """A lease of a stack wants a trust."""

    def repaired(self, **limits: Any) -> list[tuple[str, str]]:
        """Repair, and return what was found about trusts."""
        found = self.site.repair().run(**limits)
        return [(item.what, item.done) for item in found if 'trust' in item.what]

    def rehearsed(self) -> list[tuple[str, str]]:
        """Return what a repair would find about trusts."""
        found = self.site.repair().rehearse()
        return [(item.what, item.done) for item in found if 'trust' in item.what]

    def known(self) -> list[str]:
        """Return the trusts that the store knows of."""
        with self.site.store.reading() as tx:
            return [item.id for item in tx.trusts.left(harness.at(10 * LATER))]

    def test_one_whose_booking_was_cut_off(self) -> None:
        # The trust is announced in the first transaction, written down in the second,
        # and booked in the third.
        with transaction_fails(3, Killed(), after=False):
            self.assertRaises(Killed, self.made)
        self.assertEqual(1, len(self.trusts()))
        # Somebody may be about to book with it.
        self.assertEqual([], self.repaired())
        self.site.away_until(LATER)
        ((what, done),) = self.rehearsed()
        self.assertIn('not booked', what)
        self.assertEqual('', done)
        self.assertEqual([(what, 'deleted')], self.repaired())
        self.assertEqual([], self.trusts())
        self.assertEqual(([], []), (self.repaired(), self.known()))

    def test_one_whose_answer_was_lost(self) -> None:
        self.cloud.fail('identity.create_trust', when='after')
        self.assertRaises(exceptions.CloudUnavailable, self.made)
        # Others of the same user, of this service and of another one.
        with mock.patch.object(trusts, '_recognizable', lambda end: end + SECOND):
            lease = self.made()
        other = self.cloud.identity.create_trust(
            f'alice:{harness.PROJECT}',
            roles=frozenset({'member'}),
            expires_at=harness.at(9 * LATER),
        )
        self.assertEqual(3, len(self.trusts()))
        self.assertEqual([], self.repaired())
        self.site.away_until(LATER / 2)
        ((what, done),) = self.rehearsed()
        self.assertIn('did not confirm', what)
        self.assertEqual('', done)
        self.assertEqual([(what, 'deleted')], self.repaired())
        left = {str(row[0]) for row in self.trusts()}
        self.assertEqual({other.id, self.site.now(lease).trust_id}, left)
        self.assertEqual([], self.repaired())

    def test_one_that_keystone_refused_is_forgotten(self) -> None:
        self.cloud.fail('identity.create_trust', error='permanent')
        self.assertRaises(exceptions.Conflict, self.made)
        self.site.away_until(LATER)
        with self.site.store.reading() as tx:
            self.assertEqual([], tx.trusts.announced(harness.at(10 * LATER)))

    def test_one_that_cannot_be_written_down_goes_at_once(self) -> None:
        with transaction_fails(2, oslo_exception.DBError(), after=False):
            self.assertRaises(oslo_exception.DBError, self.made)
        self.assertEqual([], self.trusts())

    def test_a_trust_of_an_unconfirmed_booking(self) -> None:
        with transaction_fails(3, exceptions.DatabaseUnavailable(), after=True):
            self.assertRaises(exceptions.DatabaseUnavailable, self.made)
        with self.site.store.reading() as tx:
            (lease,) = [tx.leases.get(row.id) for row in tx.session.execute(_LEASES)]
        self.assertEqual('ACTIVE', self.site.status_at(200, lease))
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))
        self.assertEqual(([], []), (self.trusts(), self.known()))

    def test_one_of_a_refused_lease_that_keystone_would_not_delete(self) -> None:
        self.made()
        self.cloud.fail('identity.delete_trust')
        self.assertRaises(exceptions.NotEnoughResources, self.made)
        self.assertEqual(2, len(self.trusts()))
        self.site.until(3000)
        self.assertEqual([], self.repaired())
        self.site.until(LATER)
        self.assertEqual(['deleted'], [done for _, done in self.repaired()])
        self.assertEqual([], self.trusts())

    def test_what_was_refused_is_forgotten_at_once(self) -> None:
        self.made()
        self.assertRaises(exceptions.NotEnoughResources, self.made)
        self.site.until(3700)
        self.assertEqual([], self.known())

    def test_one_of_a_lease_that_is_over(self) -> None:
        lease = self.made()
        (trust_id,) = (str(row[0]) for row in self.trusts())
        self.site.until(3700)
        self.assertEqual(([], []), (self.trusts(), self.known()))
        # As if whoever deleted it had been killed before.
        self.site.store.run(lambda tx: tx.trusts.add(trust_id))
        self.site.store.run(lambda tx: tx.trusts.give(trust_id, lease.id))
        found = self.repaired(lease_id=lease.id)
        self.assertEqual([(f'the trust of lease {lease.id}, which is over', 'deleted')], found)
        self.assertEqual([], self.known())

    def test_one_of_a_lease_that_is_not_known_any_more(self) -> None:
        lease = self.made()
        self.site.store.run(lambda tx: tx.trusts.add('left'))
        self.site.store.run(lambda tx: tx.trusts.give('left', lease.id))
        self.site.until(LATER)
        purge(self.site.store, harness.at(LATER))
        ((what, done),) = self.repaired()
        self.assertEqual((f'the trust of lease {lease.id}, which is over', 'deleted'), (what, done))

    def test_keystone_is_unavailable(self) -> None:
        lease = self.made()
        self.site.until(3700)
        self.site.store.run(lambda tx: tx.trusts.add('left'))
        self.site.store.run(lambda tx: tx.trusts.give('left', lease.id))
        self.cloud.fail('identity.delete_trust')
        ((what, done),) = self.repaired()
        self.assertIn('cannot be deleted', what)
        self.assertEqual('', done)
        self.assertNotIn('left', what.split())
        self.assertEqual(['deleted'], [done for _, done in self.repaired()])

    def test_those_that_are_needed_stay(self) -> None:
        lease = self.made()
        for second in (50, 200, 3599):
            self.site.until(second)
            self.assertEqual([], self.repaired())
        self.assertEqual(1, len(self.trusts()))
        self.site.delete(lease)
        self.site.until(3600)
        self.assertEqual([], self.trusts())

    def test_those_of_others_are_left_alone(self) -> None:
        # Another service with the same user, say in another region.
        self.cloud.identity.create_trust(f'alice:{harness.PROJECT}', roles=frozenset({'member'}))
        self.site.until(LATER)
        self.assertEqual([], self.repaired())
        self.assertEqual(1, len(self.trusts()))
