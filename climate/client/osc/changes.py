# SPDX-License-Identifier: Apache-2.0

"""``openstack lease``: set, extend, shorten and end."""

from __future__ import annotations

import argparse
import datetime
from typing import Any

from osc_lib import exceptions

from climate.client import times
from climate.client.osc import amounts
from climate.client.osc import flexible
from climate.client.osc import leases
from climate.client.osc import names
from climate.client.osc import notices
from climate.client.osc import options
from climate.client.osc import type_nouns
from climate.client.osc import typed
from climate.client.sdk import errors
from climate.client.sdk.leases import Lease
from climate.client.sdk.proxy import ReservationProxy
from climate.domain import lifecycles
from climate.domain import periods


def change(proxy: ReservationProxy, lease: Lease, **fields: Any) -> Lease:
    """Change a lease.

    :raises osc_lib.exceptions.CommandError: with reasons and offers, if it is refused
    """
    try:
        return proxy.update_lease(lease.id, **fields)
    except errors.RefusedRequest as error:
        raise exceptions.CommandError(type_nouns.describe(proxy, error)) from None


def end_of(lease: Lease) -> datetime.datetime:
    """Return the end of a lease."""
    return times.read(lease.end_date)


def until(lease: Lease, parsed: argparse.Namespace) -> datetime.datetime | None:
    """Return the instant of ``--until``, if it is given.

    A time alone is on the day on which the lease ends, or else starts with ``--at``.
    """
    if not parsed.until:
        return None
    start = getattr(parsed, 'at', None)
    if isinstance(start, datetime.datetime):
        end: datetime.datetime = parsed.until.after(start)
        return end
    return times.instant(parsed.until.text, options.now(), end_of(lease))


def _fields(parsed: argparse.Namespace, version: str) -> dict[str, Any]:
    """Return the fields of a change that do not depend on the lease."""
    fields = notices.fields(parsed)
    if parsed.name:
        fields['name'] = parsed.name
    if parsed.at:
        fields['start_date'] = options.written(parsed.at, version)
    fields |= flexible.fields(parsed, version)
    if parsed.preempt_own:
        fields['preempt_own'] = True
    if parsed.priority is not None:
        fields['priority'] = parsed.priority
    if parsed.length:
        fields['duration'] = int(parsed.length.total_seconds())
    return fields


def _check_start(lease: Lease, parsed: argparse.Namespace) -> None:
    """Check that a new start without a new end lies before the end."""
    if not isinstance(parsed.at, datetime.datetime) or parsed.length or parsed.until:
        return
    if parsed.at >= end_of(lease):
        raise exceptions.CommandError(
            f'It ends {times.write(lease.end_date)} already: give the new end, too, with --for or '
            '--until'
        )


class SetLease(leases.LeaseCommand):
    """Change a lease."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        leases.add_lease(parser)
        parser.add_argument('--name', metavar='NAME', help='New name')
        parser.add_argument(
            '--at', metavar='TIME', type=options.start, help='New start, which is fixed'
        )
        ends = parser.add_mutually_exclusive_group()
        options.add_length(ends, 'New length, such as 4h')
        options.add_until(
            ends,
            'New end, and a fixed start: a time alone is on the day of --at, or of the present end',
        )
        flexible.add(parser)
        options.add_preempt_own(parser)
        options.add_priority(parser)
        notices.add(parser)
        options.add_reservations(parser, changes=True)
        parser.add_argument(
            '--dry-run', action='store_true', help='Show what would be booked, and change nothing'
        )

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Change the lease, and return the values of the columns."""
        version = proxy.microversion()
        fields = _fields(parsed, version)
        wanted = options.build_reservations(parsed)
        if not (fields or parsed.until or wanted):
            raise exceptions.CommandError('Nothing to change: see openstack help lease set')
        lease = leases.find(proxy, parsed.lease)
        _check_start(lease, parsed)
        if parsed.until and parsed.until.text.strip() == periods.NOW:
            fields['end_date'] = periods.NOW
        elif end := until(lease, parsed):
            fields['end_date'] = options.written(end, version)
        wanted = typed.typed(proxy, wanted)
        wanted = names.resolve(self.app.client_manager.sdk_connection, wanted)
        if changed := amounts.changes(lease, wanted):
            fields['reservations'] = changed
        if parsed.dry_run:
            return leases.rehearse(proxy, lambda: proxy.rehearse_update(lease.id, **fields))
        if not fields:
            return leases.shown(lease)
        return leases.shown(change(proxy, lease, **fields))


class ExtendLease(leases.LeaseCommand):
    """Extend a lease."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        leases.add_lease(parser)
        how = parser.add_mutually_exclusive_group(required=True)
        options.add_length(how, 'Extend it by this time, such as 1h')
        options.add_until(how, 'New end: a time alone is on the day of the present end')
        how.add_argument(
            '--as-far-as-possible',
            action='store_true',
            dest='most',
            help='Extend it up to the next reservation in the way, by two weeks at most',
        )

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Extend the lease, and return the values of the columns."""
        lease = leases.find(proxy, parsed.lease)
        end = until(lease, parsed)
        if parsed.length:
            end = end_of(lease) + parsed.length
        elif parsed.most:
            end = times.read(proxy.lease_extension(lease)['end_date'])
        if end is None or end <= end_of(lease):
            raise exceptions.CommandError(f'It ends {times.write(lease.end_date)} already')
        fields = {'end_date': options.written(end, proxy.microversion())}
        return leases.shown(change(proxy, lease, **fields))


class ShortenLease(leases.LeaseCommand):
    """Shorten a lease, so that others can use the time."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        leases.add_lease(parser)
        how = parser.add_mutually_exclusive_group(required=True)
        options.add_duration(how, '--by', 'Shorten it by this time, such as 30m')
        options.add_until(how, 'New end: a time alone is on the day of the present end')

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Shorten the lease, and return the values of the columns."""
        lease = leases.find(proxy, parsed.lease)
        end = until(lease, parsed) or end_of(lease) - parsed.by
        if end >= end_of(lease):
            raise exceptions.CommandError(f'It ends {times.write(lease.end_date)} already')
        fields = {'end_date': options.written(end, proxy.microversion())}
        return leases.shown(change(proxy, lease, **fields))


class EndLease(leases.LeaseCommand):
    """End a lease early, so that others can use its resources; it stays in the list."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        leases.add_lease(parser)
        how = parser.add_mutually_exclusive_group()
        how.add_argument('--now', action='store_true', help='End it at once, the default')
        options.add_at(how, 'End it then')
        parser.add_argument(
            '--reason', metavar='TEXT', help='Reason, which the owner sees in the lease'
        )

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """End the lease, and return the values of the columns."""
        fields: dict[str, Any] = {'end_date': 'now'}
        if parsed.at:
            fields['end_date'] = options.written(parsed.at, proxy.microversion())
        if parsed.reason:
            fields['end_reason'] = parsed.reason
        lease = leases.find(proxy, parsed.lease)
        if lease.status == lifecycles.LeaseStatus.TERMINATED:
            raise exceptions.CommandError(
                f'Lease {lease.name!r} has ended already, {times.write(lease.end_date)}'
            )
        if not parsed.at and lease.status == lifecycles.LeaseStatus.PENDING:
            raise exceptions.CommandError(
                f'Lease {lease.name!r} has not started; openstack lease delete cancels it'
            )
        if lease.status == lifecycles.LeaseStatus.WAITING:
            raise exceptions.CommandError(
                f'Lease {lease.name!r} waits for room; openstack lease delete cancels it'
            )
        if parsed.at and parsed.at >= end_of(lease):
            raise exceptions.CommandError(f'It ends {times.write(lease.end_date)} already')
        return leases.shown(change(proxy, lease, **fields))
