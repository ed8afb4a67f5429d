# SPDX-License-Identifier: Apache-2.0

"""Leases: create, list, show, change, delete."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator

from climate.booking.offers import alternatives
from climate.booking.offers import extensions
from climate.booking.offers import free_time
from climate.booking.planning import displacing_offers
from climate.booking.planning import flexible
from climate.booking.planning import queue
from climate.booking.planning.displacement import FixedChangeWork
from climate.booking.planning.displacement import FixedLeaseWork
from climate.booking.requests.context import Context
from climate.booking.writing import move
from climate.booking.writing import rehearsal
from climate.booking.writing.change import change as change_lease
from climate.booking.writing.create import create as create_lease
from climate.booking.writing.delete import delete
from climate.booking.writing.reallocate import reallocate
from climate.db.transactions import expired_holds
from climate.db.transactions.store import Transaction
from climate.domain import requests
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED
from climate.domain.history import History
from climate.domain.leases import Lease
from climate.domain.leases import Readiness
from climate.domain.lifecycles import LeaseStatus
from climate.domain.listed import ListedLease
from climate.domain.offers import StoredOffer
from climate.domain.usage import UsageQuery
from climate.domain.usage import UsageRow
from climate.leases import history
from climate.leases import readiness

LOG = logging.getLogger(__name__)

# The most leases in memory at once, in a list without a limit.
_BATCH = 200


class Leases(Context):
    """The operations on leases.

    Most of them are functions of the context, in modules of their own, which
    become methods here.
    """

    add_alternatives = alternatives.add
    add_alternatives_of_change = alternatives.add_of_change
    extension = extensions.find
    availability = free_time.show
    queue = queue.show
    offers = displacing_offers.make
    take = displacing_offers.take
    rehearse_take = displacing_offers.rehearse

    def create(self, caller: requests.Caller, draft: requests.LeaseDraft) -> Lease:
        """Book a lease.

        :raises climate.exceptions.ClimateError: if it is refused
        """
        if draft.earliest is not None:
            return flexible.book(self, caller, draft)
        return create_lease(self, caller, draft, FixedLeaseWork)

    def rehearse_create(
        self, caller: requests.Caller, draft: requests.LeaseDraft
    ) -> rehearsal.DryRun:
        """Return what creating a lease would do.

        :raises climate.exceptions.ClimateError: if it would be refused
        """
        if draft.earliest is not None:
            return flexible.rehearse(self, caller, draft)
        return rehearsal.create_lease(self, caller, draft, FixedLeaseWork)

    def update(
        self,
        caller: requests.Caller,
        lease_id: str,
        project_id: str | None,
        change: requests.LeaseChange,
    ) -> Lease:
        """Change a lease, wholly or not at all.

        :param project_id: None looks in every project
        :raises climate.exceptions.ClimateError: if it cannot be changed; it is then as before
        """
        if change.window.replans:
            return flexible.change(self, caller, lease_id, project_id, change)
        return change_lease(self, caller, lease_id, project_id, change, FixedChangeWork)

    def rehearse_update(
        self,
        caller: requests.Caller,
        lease_id: str,
        project_id: str | None,
        change: requests.LeaseChange,
    ) -> rehearsal.DryRun:
        """Return what changing a lease would do.

        :param project_id: None looks in every project
        :raises climate.exceptions.ClimateError: if it would be refused
        """
        if change.window.replans:
            return flexible.rehearse_change(self, caller, lease_id, project_id, change)
        return rehearsal.change_lease(self, caller, lease_id, project_id, change, FixedChangeWork)

    def page(self, query: requests.LeaseQuery) -> requests.LeasePage:
        """Return the leases that *query* asks for; at most 200 if it has no limit."""
        with self.store.reading() as tx:
            leases, more = tx.lease_lists.page(query, _BATCH)
        return requests.LeasePage(leases=tuple(leases), more=more)

    def batches(self, query: requests.LeaseQuery) -> Iterator[tuple[ListedLease, ...]]:
        """Yield all leases that *query* asks for in batches, in the order of their creation.

        Each batch shows the state at the time at which it is read.

        :param query: without an order and a limit
        """
        last: ListedLease | None = None
        more = True
        while more:
            with self.store.reading() as tx:
                leases, more = tx.lease_lists.page(query, _BATCH, after=last)
            yield tuple(leases)
            last = leases[-1] if leases else None

    def shown(self, lease_id: str, project_id: str | None, *, held: bool = False) -> ListedLease:
        """Return a lease as lists have it.

        :param project_id: None looks in every project
        :param held: whether with what its reservations hold
        :raises climate.exceptions.NotFound: if there is none
        """
        with self.store.reading() as tx:
            lease = tx.lease_lists.get(lease_id, project_id)
            return tx.holdings.listed(lease) if held else lease

    def with_holdings(self, lease: Lease) -> Lease:
        """Return a lease with what its reservations hold now."""
        with self.store.reading() as tx:
            return tx.holdings.added(lease)

    def get(self, lease_id: str, project_id: str | None) -> Lease:
        """Return a lease.

        :param project_id: None looks in every project
        :raises climate.exceptions.NotFound: if there is none
        """
        with self.store.reading() as tx:
            return tx.leases.get(lease_id, project_id)

    def offer(self, offer_id: str, project_id: str | None) -> StoredOffer:
        """Return a stored offer.

        :param project_id: None looks in every project
        :raises climate.exceptions.NotFound: if there is none
        """
        expired_holds.release(self.store)
        with self.store.reading() as tx:
            return tx.offers.get(offer_id, project_id)

    def delete_offer(self, offer_id: str, project_id: str | None) -> None:
        """Delete a stored offer, and release what is held for it.

        :param project_id: None looks in every project
        :raises climate.exceptions.NotFound: if there is none
        """

        def delete_locked(tx: Transaction) -> None:
            tx.offers.get(offer_id, project_id, lock=True)
            tx.offers.delete(offer_id)

        self.store.run(delete_locked)

    def history(self, lease_id: str, project_id: str | None) -> History:
        """Return the history of a lease in the cloud, and what it waits for.

        :param project_id: None looks in every project
        :raises climate.exceptions.NotFound: if there is none
        """
        with self.store.reading() as tx:
            return history.show(tx, lease_id, project_id)

    def reallocate(
        self,
        lease_id: str,
        project_id: str | None,
        wanted: requests.Reallocation,
        check: requests.Check | None = None,
        budget: RequestBudget = UNLIMITED,
    ) -> Lease:
        """Replace a resource of a reservation by another one.

        :param check: of the lease before; None for none
        :param budget: what is left for the request
        :raises climate.exceptions.ClimateError: if that is not possible; the lease
            is then as before
        """
        work = functools.partial(
            reallocate,
            plugins=self.plugins,
            settings=self.settings,
            rng=self.rng,
            lease_id=lease_id,
            project_id=project_id,
            wanted=wanted,
            check=check,
        )
        lease = move.run(self.store, self.settings.booking_attempts, work, budget)
        self.wake()
        return lease

    def say(self, lease_id: str, said: Readiness, check: requests.Check | None = None) -> Lease:
        """Record the readiness of the resources of a lease, of any project.

        :param check: of the lease before; None for none
        :raises climate.exceptions.NotFound: if there is none
        :raises climate.exceptions.InvalidState: if it is over
        """
        plugins = self.plugins
        lease = self.store.run(lambda tx: readiness.record(tx, plugins, lease_id, said, check))
        self.wake()
        return lease

    def usage(self, query: UsageQuery) -> list[UsageRow]:
        """Return how much leases booked and used in a period.

        :raises climate.exceptions.InvalidInput: if the report would be too long
        """
        self.refusals.flush()
        with self.store.reading() as tx:
            return tx.usage.report(query, tx.refusals.within(query))

    def status(self, lease_id: str) -> LeaseStatus | None:
        """Return the status of a lease of any project; None if there is no such lease."""
        with self.store.reading() as tx:
            return tx.leases.status(lease_id)

    def delete(
        self,
        caller: requests.Caller,
        lease_id: str,
        project_id: str | None,
        check: requests.Check | None = None,
    ) -> None:
        """Delete a lease; a manager releases its resources in the cloud.

        :param check: of the lease before; None for none
        :raises climate.exceptions.NotFound: if there is none
        """
        plugins, filters, origin = self.plugins, self.filters, caller.origin
        status = self.store.run(
            lambda tx: delete(tx, plugins, filters, lease_id, project_id, check, origin)
        )
        LOG.info('Lease %s: its deletion is requested, it is %s now', lease_id, status)
        self.wake()
