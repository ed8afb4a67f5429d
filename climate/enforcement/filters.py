# SPDX-License-Identifier: Apache-2.0

"""All filters of a process: they run in order, and the first refusal decides."""

from __future__ import annotations

import dataclasses
import datetime
import logging
from collections.abc import Collection
from collections.abc import Mapping

from climate import exceptions
from climate.domain.charges import Charge
from climate.domain.charges import ChargeState
from climate.enforcement.base import Action
from climate.enforcement.base import Filter
from climate.enforcement.base import FilterQuestion

LOG = logging.getLogger(__name__)

# A margin for the transactions before and after the filters, and for clocks that
# differ slightly.
_MARGIN = datetime.timedelta(seconds=60)
_DECIDED = frozenset({ChargeState.COMMIT, ChargeState.RELEASE})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FilterDecision:
    """The answer of the filters to a question.

    :ivar refusal: None if they all agree
    :ivar noted: names of the filters that may have recorded it: they agreed,
        or did not respond
    """

    refusal: exceptions.LimitExceeded | None = None
    noted: frozenset[str] = frozenset()


class Filters:
    """The filters of a process.

    :param filters: by name, in the order in which they run
    :param exempt: ids of the projects whose leases they do not check
    :ivar names: names of the filters, in that order
    :ivar waits: whether a filter waits for something outside the process
    """

    def __init__(
        self, filters: Mapping[str, Filter] | None = None, exempt: Collection[str] = ()
    ) -> None:
        self._filters = dict(filters or {})
        self._exempt = frozenset(exempt)
        self.names = tuple(self._filters)
        self.waits = any(item.waits for item in self._filters.values())

    @property
    def local(self) -> Filters:
        """Those that wait for nothing and are notified of nothing: asking them has no effect."""
        members = {
            name: item
            for name, item in self._filters.items()
            if not item.waits and not item.notified_of
        }
        return Filters(members, self._exempt)

    def applies_to(self, project_id: str) -> bool:
        """Return whether any filter checks the leases of a project."""
        return bool(self.names) and project_id not in self._exempt

    @property
    def longest_check(self) -> datetime.timedelta:
        """The maximum duration of a check by all filters together."""
        return datetime.timedelta(
            seconds=sum(item.longest_check for item in self._filters.values())
        )

    @property
    def undecided_for(self) -> datetime.timedelta:
        """How long a question can remain open while its process is alive."""
        return self.longest_check + _MARGIN

    def notified_of(self, state: ChargeState) -> tuple[str, ...]:
        """Return the names of the filters that are notified of a state."""
        return tuple(name for name, item in self._filters.items() if state in item.notified_of)

    @property
    def notified_of_outcomes(self) -> tuple[str, ...]:
        """Names of the filters that are notified of the outcome of a question."""
        return tuple(name for name, item in self._filters.items() if item.notified_of & _DECIDED)

    @property
    def notified(self) -> tuple[str, ...]:
        """Names of the filters that are notified of anything."""
        return tuple(name for name, item in self._filters.items() if item.notified_of)

    def __getitem__(self, name: str) -> Filter:
        return self._filters[name]

    def check(self, question: FilterQuestion) -> FilterDecision:
        """Ask the filters, up to the first that refuses."""
        noted: list[str] = []
        for name, item in self._filters.items():
            try:
                if question.action is Action.CREATE:
                    item.check_create(question)
                else:
                    item.check_update(question)
            except exceptions.ExternalServiceUnavailable as error:
                return FilterDecision(refusal=error, noted=frozenset([*noted, name]))
            except exceptions.LimitExceeded as error:
                LOG.info('Lease %s: %s refuses: %s', question.terms.lease.id, name, error.message)
                return FilterDecision(refusal=error, noted=frozenset(noted))
            except Exception:
                LOG.exception('Lease %s: %s failed', question.terms.lease.id, name)
                failed = exceptions.ExternalServiceUnavailable()
                return FilterDecision(refusal=failed, noted=frozenset([*noted, name]))
            noted.append(name)
        return FilterDecision(noted=frozenset(noted))

    def notify(self, charge: Charge) -> None:
        """Notify a filter of an outcome or an end, unless it ignores that state.

        :raises climate.exceptions.Transient: to be notified again later
        """
        item = self._filters[charge.filter_name]
        if charge.state in item.notified_of:
            item.notify(charge)
