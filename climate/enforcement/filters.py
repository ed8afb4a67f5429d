# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
class Verdict:
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
    :param exempt: ids of the projects whose leases they do not judge
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
        found = {
            name: item for name, item in self._filters.items() if not item.waits and not item.hears
        }
        return Filters(found, self._exempt)

    def judges(self, project_id: str) -> bool:
        """Return whether any filter judges the leases of a project."""
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

    def hearing(self, state: ChargeState) -> tuple[str, ...]:
        """Return the names of the filters that are notified of a state."""
        return tuple(name for name, item in self._filters.items() if state in item.hears)

    @property
    def holding(self) -> tuple[str, ...]:
        """Names of the filters that are notified of the outcome of a question."""
        return tuple(name for name, item in self._filters.items() if item.hears & _DECIDED)

    @property
    def told(self) -> tuple[str, ...]:
        """Names of the filters that are notified of anything."""
        return tuple(name for name, item in self._filters.items() if item.hears)

    def __getitem__(self, name: str) -> Filter:
        return self._filters[name]

    def judge(self, question: FilterQuestion) -> Verdict:
        """Ask the filters, up to the first that refuses."""
        noted: list[str] = []
        for name, item in self._filters.items():
            try:
                if question.action is Action.CREATE:
                    item.check_create(question)
                else:
                    item.check_update(question)
            except exceptions.ExternalServiceUnavailable as error:
                return Verdict(refusal=error, noted=frozenset([*noted, name]))
            except exceptions.LimitExceeded as error:
                LOG.info('Lease %s: %s refuses: %s', question.terms.lease.id, name, error.message)
                return Verdict(refusal=error, noted=frozenset(noted))
            except Exception:
                LOG.exception('Lease %s: %s failed', question.terms.lease.id, name)
                failed = exceptions.ExternalServiceUnavailable()
                return Verdict(refusal=failed, noted=frozenset([*noted, name]))
            noted.append(name)
        return Verdict(noted=frozenset(noted))

    def tell(self, charge: Charge) -> None:
        """Notify a filter of an outcome or an end, unless it ignores that state.

        :raises climate.exceptions.Transient: to be notified again later
        """
        item = self._filters[charge.judge]
        if charge.state in item.hears:
            item.tell(charge)
