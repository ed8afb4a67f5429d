# SPDX-License-Identifier: Apache-2.0

"""Manages the power of all hosts, each independently.

Each host is a separate job: a management controller that is slow, or never
answers, does not delay other hosts.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import datetime
import logging
import threading
from collections.abc import Mapping

from climate import exceptions
from climate.clock import Clock
from climate.cloud.base import Cloud
from climate.cloud.reservation import Host
from climate.domain.health import ASLEEP
from climate.power import deciding
from climate.power.deciding import PowerAction
from climate.power.deciding import PowerDecision
from climate.power.deciding import PowerSettings
from climate.power.deciding import View
from climate.power.drivers import Driver
from climate.power.drivers import PowerError
from climate.power.records import PowerRecords
from climate.power.reporting import StateReporter
from climate.power.reporting import Status
from climate.power.state import CloudState
from climate.power.state import next_need
from climate.power.state import ReservationsApi
from climate.power.state import StateReader

LOG = logging.getLogger(__name__)

_TO_SLEEP = frozenset({PowerAction.MARK, PowerAction.SHUT_DOWN, PowerAction.CUT_OFF})


class PowerController:
    """Brings each host closer to its intended state, one step at a time."""

    def __init__(
        self,
        *,
        drivers: Mapping[str, Driver],
        reservations: ReservationsApi,
        cloud: Cloud,
        clock: Clock,
        records: PowerRecords,
        settings: PowerSettings,
    ) -> None:
        self._drivers = drivers
        self._reservations = reservations
        self._cloud = cloud
        self._clock = clock
        self._records = records
        self._settings = settings
        self._reader = StateReader(reservations, cloud, settings.freepool)
        self._reporter = StateReporter(reservations, settings)
        self._pool = concurrent.futures.ThreadPoolExecutor(settings.workers, 'power')
        self._running: dict[str, concurrent.futures.Future[None]] = {}
        self._status: dict[str, Status] = {}
        self._failures: dict[str, tuple[int, datetime.datetime, str]] = {}
        self._lock = threading.Lock()
        self._sleep_quota = 0

    def round(self, seconds: float = 2.0) -> float:
        """Process every host once; return the seconds until the next round.

        :param seconds: how long to wait for hosts, in seconds; those that
            take longer continue, and are skipped until they are done
        """
        seen = self._reader.read()
        self._sleep_quota = self._count_spare(seen) - self._settings.keep_awake
        for name in self._drivers:
            host = seen.hosts.get(name)
            if host is not None and name not in self._running:
                self._running[name] = self._pool.submit(self._handle, seen, host)
        concurrent.futures.wait(self._running.values(), seconds)
        self._running = {name: job for name, job in self._running.items() if not job.done()}
        now = self._clock.now()
        with self._lock:
            status = dict(self._status)
        leads = {name: self._settings.lead(self._records.of(name)) for name in self._drivers}
        self._reporter.report(seen, status, leads, now)
        self._records.save()
        return self._pause(seen, status, now)

    def close(self) -> None:
        """Start no further jobs; does not wait for those under way."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    # -- one host

    def _handle(self, seen: CloudState, host: Host) -> None:
        try:
            step = self._advance(seen, host)
        except (PowerError, exceptions.EffectError) as error:
            record = self._records.of(host.name)
            detail = self._failed(host.name, error)
            step = PowerDecision(record=record, detail=detail)
        except Exception:
            LOG.exception('Host %s cannot be managed', host.name)
            step = PowerDecision(record=self._records.of(host.name), detail='?')
        status = Status(ready=step.ready, detail=step.detail, under_way=step.under_way)
        with self._lock:
            before = self._status.get(host.name)
            self._status[host.name] = status
        if before != status and (step.detail or (before is not None and status.ready)):
            LOG.info('Host %s: %s', host.name, step.detail or 'it is ready')

    def _advance(self, seen: CloudState, host: Host) -> PowerDecision:
        name = host.name
        on, trouble = self._power_of(name)
        view = self._view(seen, host, on)
        step = deciding.decide(view, self._settings)
        if step.action is PowerAction.MARK and not self._allowed_to_sleep():
            step = dataclasses.replace(step, action=PowerAction.NOTHING)
        if step.action in _TO_SLEEP and not self._still_idle(view, host):
            return PowerDecision(record=view.record, ready=step.ready)
        self._perform(step.action, host)
        self._records.put(name, step.record)
        if on is not None:
            self._failures.pop(name, None)
        if trouble and not step.ready:
            step = dataclasses.replace(step, detail=trouble)
        before = self._status.get(name)
        silent = seen.services is None and (trouble or step.detail in ('', deciding.SILENT))
        if silent and before is not None and before.ready:
            # Without news of it, a usable host counts as usable.
            return dataclasses.replace(step, ready=True, detail='')
        return step

    def _power_of(self, name: str) -> tuple[bool | None, str]:
        """Return whether a host is on, or None and why that is unknown."""
        count, not_before, why = self._failures.get(name, (0, self._clock.now(), ''))
        if count and self._clock.now() < not_before:
            return None, why
        try:
            return self._drivers[name].is_on(), ''
        except PowerError as error:
            return None, self._failed(name, error)

    def _view(self, seen: CloudState, host: Host, on: bool | None) -> View:
        now = self._clock.now()
        view = View(
            now=now,
            on=on,
            service=seen.service(host),
            needed=next_need(seen.busy.get(host.id, ()), now),
            spare=False,
            record=self._records.of(host.name),
        )
        may = bool(on) and seen.spare(host) and deciding.idle(view, self._settings)
        if may and not self._cloud.compute.list_servers(host.service_host):
            return dataclasses.replace(view, spare=True)
        return view

    def _still_idle(self, view: View, host: Host) -> bool:
        """Whether a host has not been booked since the round began."""
        now = self._clock.now()
        needed = next_need(self._reservations.find_allocations(host.id), now)
        return deciding.idle(dataclasses.replace(view, now=now, needed=needed), self._settings)

    def _allowed_to_sleep(self) -> bool:
        with self._lock:
            self._sleep_quota -= 1
            return self._sleep_quota >= 0

    def _perform(self, action: PowerAction, host: Host) -> None:
        driver, compute = self._drivers[host.name], self._cloud.compute
        if action is not PowerAction.NOTHING:
            LOG.info('Host %s: %s', host.name, action.value)
        match action:
            case PowerAction.MARK:
                compute.disable_service(host.service_host, ASLEEP)
            case PowerAction.GIVE_UP:
                compute.disable_service(host.service_host, deciding.FAILED)
            case PowerAction.ENABLE:
                compute.enable_service(host.service_host)
            case PowerAction.SWITCH_ON:
                driver.switch_on()
            case PowerAction.SHUT_DOWN | PowerAction.CUT_OFF:
                driver.switch_off(force=action is PowerAction.CUT_OFF)

    def _failed(self, name: str, error: PowerError | exceptions.EffectError) -> str:
        """Postpone the next attempt on a host; return the reason."""
        text = error.message if isinstance(error, exceptions.EffectError) else str(error)
        count = self._failures[name][0] + 1 if name in self._failures else 1
        self._failures[name] = (count, self._clock.now() + self._settings.pause(count), text)
        if count == 1:
            LOG.warning('Host %s: %s', name, text)
        return text

    # -- all hosts

    def _count_spare(self, seen: CloudState) -> int:
        """Return the number of hosts that are on and not needed soon."""
        now = self._clock.now()
        count = 0
        for name in self._drivers:
            host = seen.hosts.get(name)
            service = None if host is None else seen.service(host)
            if host is None or service is None or not seen.spare(host):
                continue
            busy = next_need(seen.busy.get(host.id, ()), now)
            lead = self._settings.lead(self._records.of(name))
            free = busy is None or (busy - now).total_seconds() > lead
            count += free and (service.state, service.status) == ('up', 'enabled')
        return count

    def _pause(
        self, seen: CloudState, status: Mapping[str, Status], now: datetime.datetime
    ) -> float:
        """Return the seconds until the next action or expected change."""
        pause = self._settings.interval
        if any(one.under_way for one in status.values()):
            pause = min(pause, self._settings.waking_interval)
        for _, not_before, _ in list(self._failures.values()):
            pause = min(pause, max((not_before - now).total_seconds(), 0.1))
        for name in self._drivers:
            host = seen.hosts.get(name)
            needed = None if host is None else next_need(seen.busy.get(host.id, ()), now)
            if needed is not None:
                lead = self._settings.lead(self._records.of(name))
                left = (needed - now).total_seconds() - lead
                if left > 0:
                    pause = min(pause, left + 0.01)
        return pause
