# SPDX-License-Identifier: Apache-2.0

"""``openstack lease offer``: list and delete."""

from __future__ import annotations

import argparse
from typing import Any

from osc_lib import exceptions

from climate.client.osc import commands
from climate.client.osc import names
from climate.client.osc import objects
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc import type_nouns
from climate.client.osc import typed
from climate.client.osc.columns import AmountsColumn
from climate.client.osc.columns import attributes
from climate.client.osc.columns import given
from climate.client.osc.columns import ReservationsColumn
from climate.client.osc.columns import TimeColumn
from climate.client.sdk.proxy import ReservationProxy


class ListOffers(commands.Lister):
    """List periods in which a lease could be booked."""

    spare = ('Displaces', 'Take until', 'Reason')

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        options.add_length(parser, 'Length of the lease, such as 4h', required=True)
        options.add_at(parser, 'Earliest start')
        options.add_duration(
            parser, '--within', 'Latest start, from the earliest one; 14d by default'
        )
        parser.add_argument('--limit', metavar='N', type=int, help='Number of offers, 3 by default')
        options.add_duration(
            parser, '--hold', 'Hold the resources of the first offer for this time, such as 5m'
        )
        parser.add_argument(
            '--prefer',
            choices=('soonest', 'cheapest', 'fewest_resources'),
            help='Which offers come first',
        )
        parser.add_argument(
            '--same', metavar='PROPERTY',
            help='Offers whose resources share the value of a property, such as a rack',
        )  # fmt: skip
        options.add_reservations(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        proxy = plugin.client(self.app)
        wanted = options.build_reservations(parsed_args)
        if not wanted:
            raise exceptions.CommandError('A reservation is required, such as --hosts 1')
        if parsed_args.same and parsed_args.prefer:
            raise exceptions.CommandError('--same and --prefer exclude each other')
        wanted = typed.typed(proxy, wanted)
        resolved = names.resolve(self.app.client_manager.sdk_connection, wanted)
        offers = proxy.offers(resolved, **_query(parsed_args))
        type_nouns.learn(proxy, resolved)
        rows = (
            (
                offer.id,
                TimeColumn(offer.start_date),
                TimeColumn(offer.end_date),
                AmountsColumn(offer.reservations),
                offer.reason,
                offer.displaced or 0,
                TimeColumn(offer.held_until or offer.expires_at),
            )
            for offer in offers
        )
        return ('ID', 'Start', 'End', 'Reservations', 'Reason', 'Displaces', 'Take until'), rows


class ShowOffer(objects.ShowById):
    """Show an offer that was listed before, and the lease that took it."""

    noun = 'offer'

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the columns."""
        offer = proxy.get_offer(parsed.id)
        type_nouns.learn(proxy, offer.reservations)
        return {
            **attributes(offer, 'id', 'start_date', 'end_date'),
            'reservations': ReservationsColumn(offer.reservations),
            'reason': offer.reason,
            'displaced': offer.displaced or 0,
            **attributes(offer, 'expires_at', 'held_until'),
            'lease_id': offer.lease_id or '',
        }


class DeleteOffer(objects.DeleteById):
    """Release offers, and the resources that are held for them."""

    noun = 'offer'


def _query(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of the request, apart from the reservations."""
    latest = None
    if parsed.within:
        latest = (parsed.at or options.now()) + parsed.within + parsed.length
    return given(
        duration=int(parsed.length.total_seconds()),
        earliest=parsed.at and options.written(parsed.at, ''),
        latest=latest and options.written(latest, ''),
        limit=parsed.limit,
        hold=int(parsed.hold.total_seconds()) if parsed.hold else None,
        prefer='same' if parsed.same else parsed.prefer,
        property=parsed.same or None,
    )
