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

"""What one project may have, as the operator says; checks what needs no SQL.

Unlike a filter, these limits count what else the project has, so the rest of the
checks is done in the transaction that books: see :mod:`climate.leasing.quota`.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.conf import limits as options
from climate.domain.leases import Lease

_DAY = datetime.timedelta(days=1)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The limits of a project; 0 is none.

    :ivar leases: that are not over
    :ivar days_ahead: from now to the start of a lease
    :ivar resources: at one instant, of all leases
    """

    leases: int = 0
    reservations_per_lease: int = 0
    days_per_lease: int = 0
    days_ahead: int = 0
    resources: int = 0

    def check(self, name: str, wanted: int) -> None:
        """Check a figure against the limit *name*.

        :raises climate.exceptions.ProjectLimit: naming the limit and both figures
        """
        most = getattr(self, name)
        if most and wanted > most:
            raise exceptions.ProjectLimit(limit=name, most=most, wanted=wanted)

    def check_lease(self, lease: Lease, old: Lease | None, now: datetime.datetime) -> None:
        """Check a new or changed lease by itself.

        What goes beyond a limit already may be changed, but not to go further.

        :param old: the lease as it is; None for a new one
        :param now: the instant (aware UTC)
        :raises climate.exceptions.ProjectLimit: naming the limit and both figures
        """
        lasts = _length(lease)
        if old is None or lasts > _length(old):
            self.check('days_per_lease', _days(lasts))
        if old is None or lease.period.start > old.period.start:
            self.check('days_ahead', _days(lease.period.start - now))


NONE = Limits()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ProjectLimits:
    """The limits of all projects.

    :ivar usual: of those that are not named
    :ivar by_project: of those that are
    """

    usual: Limits = NONE
    by_project: Mapping[str, Limits] = dataclasses.field(default_factory=dict)

    @classmethod
    def from_conf(cls, conf: Any) -> ProjectLimits:
        """Return what *conf* (an oslo.config ConfigOpts) says.

        Projects that no filter judges have no limits either.

        :raises climate.exceptions.ConfigurationError: if an override is wrong
        """
        usual = Limits(**{name: conf.limits[name] for name in options.NAMES})
        found = dict.fromkeys(conf.enforcement.exempt_projects, NONE)
        for text in conf.limits.override:
            project_id, limits = _override(text, usual)
            found[project_id] = limits
        return cls(usual=usual, by_project=found)

    def of(self, project_id: str) -> Limits:
        """Return the limits of a project."""
        return self.by_project.get(project_id, self.usual)


def _override(text: str, usual: Limits) -> tuple[str, Limits]:
    project_id, colon, rest = text.partition(':')
    values: dict[str, int] = {}
    for part in rest.split(','):
        name, _, value = (word.strip() for word in part.partition('='))
        if name not in options.NAMES or not (value.isascii() and value.isdigit()):
            raise exceptions.ConfigurationError(
                f"[limits] override: '{part.strip()}' of '{text}' is not one of "
                f'{", ".join(options.NAMES)}, an equals sign and a number from 0'
            )
        values[name] = int(value)
    if not colon or not project_id.strip():
        raise exceptions.ConfigurationError(f"[limits] override: '{text}' names no project")
    return project_id.strip(), dataclasses.replace(usual, **values)


def _length(lease: Lease) -> datetime.timedelta:
    return lease.period.end - lease.period.start


def _days(time: datetime.timedelta) -> int:
    return math.ceil(time / _DAY)
