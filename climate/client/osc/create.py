# SPDX-License-Identifier: Apache-2.0

"""``openstack lease create``."""

from __future__ import annotations

import argparse
import datetime
import shlex
import sys
from typing import Any
from typing import Final

from osc_lib import exceptions

from climate.client import refusals
from climate.client import times
from climate.client.osc import booked
from climate.client.osc import files
from climate.client.osc import leases
from climate.client.osc import names
from climate.client.osc import notices
from climate.client.osc import options
from climate.client.osc import type_nouns
from climate.client.osc import typed
from climate.client.osc import waiting
from climate.client.sdk import errors
from climate.client.sdk.proxy import ReservationProxy
from climate.domain import periods
from climate.domain.leases import YieldMode

# What a lease has of its offer.
_FLEXIBLE: Final = '--soon, --not-before, --by, --firm-before, --queue and --preemptible'
_QUEUES: Final = '--wait-until needs --queue'
_OFFERED: Final = frozenset({'start_date', 'end_date', 'duration', 'reservations'})


class CreateLease(leases.LeaseCommand):
    """Lease resources for a period."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument('name', metavar='NAME', help='Name of the lease')
        _add_period(parser)
        options.add_reservations(parser)
        notices.add(parser)
        parser.add_argument(
            '--file', metavar='FILE', help='Fields of the lease as YAML; options take precedence'
        )
        parser.add_argument('--offer', metavar='ID', type=options.identifier, help='Take an offer')
        parser.add_argument(
            '--dry-run', action='store_true', help='Show what would be booked, and book nothing'
        )
        parser.add_argument('--wait', action='store_true', help='Wait until the lease is active')

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Create the lease."""
        body = self._body(proxy, parsed)
        if parsed.dry_run:
            return leases.rehearse(proxy, lambda: proxy.rehearse_lease(**body))
        try:
            lease = proxy.create_lease(**body)
        except errors.RefusedRequest as error:
            lease = self._take_another(proxy, body, error)
        if parsed.wait:
            lease = proxy.wait_for_lease(lease)
        return {**leases.shown(lease), **booked.columns(proxy, lease)}

    def _body(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        if parsed.offer:
            named = (parsed.at, parsed.length, parsed.until, parsed.within, parsed.wait_until)
            if parsed.reservations or parsed.file or any(named) or _is_flexible(parsed):
                raise exceptions.CommandError('--offer has a period and reservations already')
            return {'name': parsed.name, 'offer_id': parsed.offer, **notices.fields(parsed)}
        body = files.read(parsed.file) if parsed.file else {}
        body |= notices.fields(parsed)
        wanted = options.build_reservations(parsed) or body.get('reservations') or []
        if not wanted:
            raise exceptions.CommandError('A reservation is required, such as --hosts 1')
        wanted = typed.typed(proxy, wanted)
        body['reservations'] = names.resolve(self.app.client_manager.sdk_connection, wanted)
        body['name'] = parsed.name
        if parsed.within:
            return self._offered(proxy, parsed, body)
        more: dict[str, Any] = {'preempt_own': True} if parsed.preempt_own else {}
        if parsed.priority is not None:
            more['priority'] = parsed.priority
        return {**body, **more, **_period(parsed, body, proxy.microversion())}

    def _offered(
        self, proxy: ReservationProxy, parsed: argparse.Namespace, body: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the body of a lease that takes the soonest offer within a period."""
        length = parsed.length or datetime.timedelta(seconds=body.get('duration', 0))
        if not length or parsed.at or parsed.until:
            raise exceptions.CommandError('--within needs --for, and excludes --at and --until')
        latest = options.now() + parsed.within + length
        offers = proxy.offers(
            body['reservations'],
            duration=int(length.total_seconds()),
            latest=options.written(latest, ''),
            limit=1,
        )
        if not offers:
            raise exceptions.CommandError('There is no such period within that time')
        # A file can have more fields, such as notices.
        kept = {key: value for key, value in body.items() if key not in _OFFERED}
        return {**kept, 'offer_id': offers[0].id}

    def _take_another(
        self, proxy: ReservationProxy, body: dict[str, Any], error: errors.RefusedRequest
    ) -> Any:
        """Ask on a terminal which offer to take, and take it.

        :raises osc_lib.exceptions.CommandError: with the refusal, if the user takes none
        """
        text = type_nouns.describe(proxy, error)
        ask = waits = None
        terminal = sys.stdin.isatty() and sys.stderr.isatty()
        if terminal or 'start_date' not in body:
            waits, about = waiting.alternative(proxy, body, error)
        if terminal and (waits or refusals.takeable(error)):
            sys.stderr.write(f'{text}\n{about}')
            ask = _ask
        offer = refusals.choose(error, ask, waits)
        if offer is waits and waits:
            return proxy.create_lease(**waits)
        if offer is not None:
            kept = {key: body[key] for key in ('name', *notices.FIELDS) if key in body}
            return proxy.create_lease(**kept, offer_id=offer['id'])
        if ask:
            raise exceptions.CommandError('No lease was created') from None
        if refusals.takeable(error):
            name = shlex.quote(str(body['name']))
            text += f'\nTake an offer: openstack lease create {name} --offer ID'
        if waits:
            text += '\nWait for room instead: add --queue'
        raise exceptions.CommandError(text) from None


def _ask(question: str) -> str:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline()


def _add_period(parser: argparse.ArgumentParser) -> None:
    start = (
        "Start, now by default: 'tomorrow 9:00', 'next tuesday noon', '2030-01-31 09:00', "
        "'in 2 hours'"
    )
    options.add_period(parser, 'Length, such as 4h', start=start)
    options.add_duration(
        parser, '--within', 'Start as soon as there are resources, within this time, such as 7d'
    )
    _add_window(parser)


def _add_window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--soon',
        action='store_true',
        help='Start as soon as there are resources; until shortly before, the lease moves forward '
        'into what others give up',
    )
    parser.add_argument(
        '--not-before', metavar='TIME', type=options.instant, help='Likewise, but not before'
    )
    parser.add_argument(
        '--by', metavar='TIME', type=options.instant, help='Likewise, and end at this time at most'
    )
    parser.add_argument(
        '--queue',
        action='store_true',
        help='Likewise; if there is no room, wait for it instead of being refused',
    )
    parser.add_argument(
        '--wait-until',
        metavar='TIME',
        type=options.instant,
        help='With --queue: until when at most',
    )
    options.add_duration(
        parser,
        '--firm-before',
        'Likewise, but the lease stops moving so long before its start, or earlier if operators '
        'have set more',
    )
    _add_yielding(parser)


def _add_yielding(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--preemptible',
        action='store_true',
        help='Likewise, perhaps in several time slices between leases that are not preemptible',
    )
    parser.add_argument(
        '--yield',
        dest='yields',
        choices=[mode.value for mode in YieldMode],
        help='What becomes of a preemptible lease between two slices; by default the first of '
        'these that its resource types can do',
    )
    options.add_duration(
        parser, '--min-duration', 'How long a slice of a preemptible lease lasts at least'
    )
    options.add_preempt_own(parser)
    options.add_priority(parser)


def _is_flexible(parsed: argparse.Namespace) -> bool:
    given = (parsed.soon, parsed.not_before, parsed.by, parsed.firm_before, parsed.queue)
    return any(given) or bool(parsed.preemptible)


def _window(parsed: argparse.Namespace, body: dict[str, Any], microversion: str) -> dict[str, Any]:
    """Return the fields of a lease that begins as soon as there is room."""
    if parsed.at or parsed.until or 'start_date' in body or 'end_date' in body:
        raise exceptions.CommandError(f'{_FLEXIBLE} exclude --at, --until and fixed dates')
    fields: dict[str, Any] = {}
    if parsed.not_before:
        fields['earliest'] = options.written(parsed.not_before, microversion)
    if parsed.by:
        fields['latest'] = options.written(parsed.by, microversion)
    if parsed.firm_before:
        fields['firm_before'] = int(parsed.firm_before.total_seconds())
    if parsed.queue:
        fields['wait'] = True
    if parsed.wait_until:
        if not (parsed.queue or body.get('wait')):
            raise exceptions.CommandError(_QUEUES)
        fields['wait_until'] = options.written(parsed.wait_until, microversion)
    fields |= _yielding(parsed)
    if parsed.length:
        fields['duration'] = int(parsed.length.total_seconds())
    elif 'duration' not in body:
        raise exceptions.CommandError(f'{_FLEXIBLE} need --for')
    return fields


def _yielding(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a preemptible lease."""
    if not parsed.preemptible:
        if parsed.yields or parsed.min_duration:
            raise exceptions.CommandError('--yield and --min-duration need --preemptible')
        return {}
    fields: dict[str, Any] = {'preemptible': True}
    if parsed.yields:
        fields['yield'] = parsed.yields
    if parsed.min_duration:
        fields['min_duration'] = int(parsed.min_duration.total_seconds())
    return fields


def _period(parsed: argparse.Namespace, body: dict[str, Any], microversion: str) -> dict[str, Any]:
    """Return the fields of the period; those of a file count unless options replace them."""
    window = {'earliest', 'latest', 'firm_before', 'wait', 'wait_until', 'preemptible'}
    if _is_flexible(parsed) or body.keys() & window:
        return _window(parsed, body, microversion)
    _yielding(parsed)
    if parsed.wait_until:
        raise exceptions.CommandError(_QUEUES)
    fields: dict[str, Any] = {}
    start = parsed.at
    if start or 'start_date' not in body:
        fields['start_date'] = options.written(start, microversion) if start else 'now'
    if parsed.until:
        begin = start or _begin(body)
        fields['end_date'] = options.written(parsed.until.after(begin), microversion)
    elif parsed.length and microversion == '1.0':
        # Version 1.0 has no durations.
        begin = start or options.now()
        fields['end_date'] = options.written(begin + parsed.length, microversion)
    elif parsed.length:
        fields['duration'] = int(parsed.length.total_seconds())
    elif not {'end_date', 'duration'} & body.keys():
        raise exceptions.CommandError('An end is required: --for 4h, or --until TIME')
    if fields.keys() & {'end_date', 'duration'}:
        for key in ('end_date', 'duration'):
            body.pop(key, None)
    return fields


def _begin(body: dict[str, Any]) -> datetime.datetime | None:
    """Return the start in a file; None for the present."""
    start = body.get('start_date')
    return times.read(start) if start and start != periods.NOW else None
