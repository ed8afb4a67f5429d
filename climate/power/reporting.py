# SPDX-License-Identifier: Apache-2.0

"""Reports the state of hosts to Climate, and how early to announce their leases."""

from __future__ import annotations

import dataclasses
import datetime
import logging
from collections.abc import Mapping
from typing import Final

from climate import exceptions
from climate.cloud import reservation
from climate.power.deciding import PowerSettings
from climate.power.state import CloudState
from climate.power.state import ReservationsApi

LOG = logging.getLogger(__name__)

BY: Final = 'climate-power'
_LONGEST: Final = 2000


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """The readiness of a host.

    :ivar detail: why it is not ready, for operators and users
    :ivar under_way: whether that is about to change
    """

    ready: bool
    detail: str = ''
    under_way: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Report:
    """A report on a lease."""

    ready: tuple[str, ...]
    waiting: tuple[str, ...]
    detail: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Lease:
    """A lease and those of its hosts that climate-power manages."""

    start: datetime.datetime
    hosts: tuple[str, ...]


class StateReporter:
    """Sends a report only when it differs from the last one."""

    def __init__(self, reservations: ReservationsApi, settings: PowerSettings) -> None:
        self._reservations = reservations
        self._settings = settings
        self._sent: dict[str, _Report] = {}
        self._refused: dict[tuple[str, str], str] = {}

    def report(
        self,
        seen: CloudState,
        status: Mapping[str, Status],
        leads: Mapping[str, int],
        now: datetime.datetime,
    ) -> None:
        """Report changes; try again the next time if that fails.

        :param leads: the managed hosts, and how many seconds before a lease
            they are switched on
        """
        if not seen.fresh:
            return
        try:
            self._report_hosts(seen, leads, status)
            leases = _leases(seen, leads, now)
            self._sent = {key: report for key, report in self._sent.items() if key in leases}
            for lease_id, lease in leases.items():
                self._report_lease(lease_id, lease, status, now)
        except exceptions.Transient as error:
            LOG.info('The state of hosts cannot be reported yet: %s', error.message)

    def _report_hosts(
        self, seen: CloudState, leads: Mapping[str, int], status: Mapping[str, Status]
    ) -> None:
        """Report how early to announce leases of each host, and whether it is up."""
        for name, lead in leads.items():
            host = seen.hosts.get(name)
            if host is None or name not in status:
                continue
            awake = 'true' if status[name].ready else 'false'
            if host.lead_time != str(lead):
                self._set_property(host, reservation.LEAD_TIME, str(lead))
            if host.awake != awake:
                self._set_property(host, reservation.AWAKE, awake)

    def _set_property(self, host: reservation.Host, key: str, value: str) -> None:
        if self._refused.get((host.name, key)) == value:
            return
        try:
            self._reservations.set_properties(host.id, {key: value})
        except exceptions.Permanent as error:
            # A reservation may require the old value. Tried again when it changes.
            self._refused[host.name, key] = value
            LOG.warning('Host %s: %s', host.name, error.message)

    def _report_lease(
        self, lease_id: str, lease: _Lease, status: Mapping[str, Status], now: datetime.datetime
    ) -> None:
        unknown = Status(ready=False, detail='its state is not known yet')
        states = {name: status.get(name, unknown) for name in lease.hosts}
        report = _Report(
            ready=tuple(name for name, one in states.items() if one.ready),
            waiting=tuple(name for name, one in states.items() if not one.ready),
            detail='; '.join(
                f'{name}: {one.detail}' for name, one in states.items() if not one.ready
            )[:_LONGEST],
        )
        before = self._sent.get(lease_id)
        # A started lease whose hosts are all up needs no first report.
        if report == before or (before is None and lease.start <= now and not report.waiting):
            return
        try:
            self._reservations.say_readiness(
                lease_id, ready=report.ready, waiting=report.waiting, by=BY, detail=report.detail
            )
        except exceptions.Permanent as error:
            # It has ended or was deleted, so it needs no report.
            LOG.info('Lease %s: %s', lease_id, error.message)
        self._sent[lease_id] = report


def _leases(
    seen: CloudState, leads: Mapping[str, int], now: datetime.datetime
) -> dict[str, _Lease]:
    """Return the active leases, and those near enough that a host is switched on."""
    starts: dict[str, datetime.datetime] = {}
    hosts: dict[str, set[str]] = {}
    near: set[str] = set()
    for name, lead in leads.items():
        host = seen.hosts.get(name)
        for one in seen.busy.get(host.id, ()) if host is not None else ():
            if one.end <= now:
                continue
            starts[one.lease_id] = min(starts.get(one.lease_id, one.start), one.start)
            hosts.setdefault(one.lease_id, set()).add(name)
            if (one.start - now).total_seconds() <= lead:
                near.add(one.lease_id)
    return {
        lease_id: _Lease(start=starts[lease_id], hosts=tuple(sorted(hosts[lease_id])))
        for lease_id in near
    }
