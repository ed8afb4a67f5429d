# SPDX-License-Identifier: Apache-2.0

"""The calendar of resources by pages, for those who look at a window of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from climate import exceptions
from climate.db.transactions import expired_holds
from climate.db.transactions.store import Store
from climate.domain.budgets import RequestBudget
from climate.domain.calendar import CalendarPage
from climate.domain.calendar import CalendarPageQuery
from climate.leases.notices import Plugins
from climate.resources import registrar


class PagedCalendar:
    """Shows pages of the calendar.

    Whether a page has changed is known from the generations of its resources, and from
    the statuses and changes of the leases that the caller may see: what is reserved is
    read only if a client does not have the page already.
    """

    def __init__(self, store: Store, plugins: Plugins) -> None:
        self._store = store
        self._plugins = plugins

    def page(
        self, query: CalendarPageQuery, known: Callable[[str], bool], budget: RequestBudget
    ) -> CalendarPage | str:
        """Return a page, or its tag if the client has it.

        :param known: whether the client has the page with a tag; may raise
        :param budget: what is left for the request
        :raises climate.exceptions.RequirementsTooSlow: if it is spent
        :raises climate.exceptions.UnsupportedResourceType: if there is no such type, or it
            has no resources of its own
        :raises climate.exceptions.InvalidInput: naming the parameter that is wrong
        """
        registrar.owner(self._plugins, query.resource_type)
        expired_holds.release(self._store)
        with self._store.reading(budget=budget) as tx:
            pages = tx.calendar_pages
            if query.group_by is not None and not pages.has_property(query):
                raise exceptions.InvalidInput.of(
                    'group_by', f'no resource of the type {query.resource_type} has such a property'
                )
            groups, listed = pages.groups(query), pages.resources(query)
            total = pages.total(query) if groups is None else sum(one.number for one in groups)
            budget.check()
            resources, more = listed[: query.limit], len(listed) > query.limit
            ids = [one.id for one in resources]
            tag = _tag(query, total, groups, more, resources, pages.lease_state(ids, query))
            if known(tag):
                return tag
            budget.check()
            bars = pages.bars(ids, query)
            budget.check()
            return CalendarPage(
                tag=tag,
                total=total,
                groups=groups,
                more=more,
                resources=resources,
                capacities=pages.capacities(ids),
                bars=bars,
                closures=pages.closures(ids, query),
            )


def _tag(query: CalendarPageQuery, *state: object) -> str:
    """Return a digest of the query and of what its page depends on."""
    text = repr((query, state)).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()
