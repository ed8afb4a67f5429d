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

"""All filters as one: asked in their order, the first that refuses decides."""

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
from climate.enforcement.base import Question

LOG = logging.getLogger(__name__)

# Beyond what the filters take: for the transactions around them, and for
# clocks that do not quite agree.
_MARGIN = datetime.timedelta(seconds=60)
_DECIDED = frozenset({ChargeState.COMMIT, ChargeState.RELEASE})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the filters say to a question.

    :ivar refusal: None if they all agree
    :ivar noted: names of those who may have taken note of it: they agreed, or
        were asked and did not answer
    """

    refusal: exceptions.LimitExceeded | None = None
    noted: frozenset[str] = frozenset()


class Gate:
    """The filters of a process.

    :param filters: by name, in the order in which they are asked
    :param exempt: ids of the projects whose leases are not judged
    """

    def __init__(
        self, filters: Mapping[str, Filter] | None = None, exempt: Collection[str] = ()
    ) -> None:
        self._filters = dict(filters or {})
        self._exempt = frozenset(exempt)

    def judges(self, project_id: str) -> bool:
        """Say whether leases of a project are judged at all."""
        return bool(self._filters) and project_id not in self._exempt

    @property
    def waits(self) -> bool:
        """Whether a filter waits for something outside of the process."""
        return any(item.waits for item in self._filters.values())

    @property
    def patience(self) -> datetime.timedelta:
        """The longest that all filters together take."""
        return datetime.timedelta(seconds=sum(item.patience for item in self._filters.values()))

    @property
    def undecided_for(self) -> datetime.timedelta:
        """How long a question can be open before whoever asked must be gone."""
        return self.patience + _MARGIN

    def hearing(self, state: ChargeState) -> tuple[str, ...]:
        """Return the names of the filters that want to be told this."""
        return tuple(name for name, item in self._filters.items() if state in item.hears)

    @property
    def holding(self) -> tuple[str, ...]:
        """Names of the filters that are told what came of a question."""
        return tuple(name for name, item in self._filters.items() if item.hears & _DECIDED)

    @property
    def told(self) -> tuple[str, ...]:
        """Names of the filters that are told anything afterwards."""
        return tuple(name for name, item in self._filters.items() if item.hears)

    def __getitem__(self, name: str) -> Filter:
        return self._filters[name]

    def judge(self, question: Question) -> Verdict:
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
        """Tell a filter what came of a question, if it wants to know.

        :raises climate.exceptions.Transient: to be told again later
        """
        item = self._filters[charge.judge]
        if charge.state in item.hears:
            item.tell(charge)
