# SPDX-License-Identifier: Apache-2.0

"""``openstack lease feed``: create, list, show and delete."""

from __future__ import annotations

import argparse
from typing import Any

from climate.client.osc import commands
from climate.client.osc import leases
from climate.client.osc import objects
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc.columns import attributes
from climate.client.osc.columns import given
from climate.client.osc.columns import IdColumn
from climate.client.osc.columns import NumbersColumn
from climate.client.osc.columns import TimeColumn
from climate.client.sdk.proxy import ReservationProxy


class CreateFeed(commands.ShowOne):
    """Create a secret link to a calendar, which is shown only once."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument('--name', metavar='NAME', help='Name of the calendar')
        shown = parser.add_mutually_exclusive_group()
        shown.add_argument(
            '--lease', metavar='LEASE', type=options.name,
            help='Show only this lease, by name or ID',
        )  # fmt: skip
        shown.add_argument(
            '--resource', metavar='RESOURCE', type=options.name,
            help='Show when this resource is reserved, by name or ID (administrators)',
        )  # fmt: skip
        parser.add_argument(
            '--time-zone', metavar='ZONE', help='Zone of the times, such as Europe/Berlin'
        )
        options.add_duration(parser, '--lifetime', 'How long the link works, such as 30d')

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the columns."""
        fields: dict[str, Any] = {'name': parsed.name, 'time_zone': parsed.time_zone}
        if parsed.lease:
            fields['lease_id'] = leases.find(proxy, parsed.lease).id
        if parsed.resource:
            fields['resource_id'] = proxy.find_resource(parsed.resource, None).id
        if parsed.lifetime:
            fields['lifetime'] = int(parsed.lifetime.total_seconds())
        feed = proxy.create_feed(**given(**fields))
        return attributes(feed, 'id', 'name', 'kind', 'time_zone', 'expires_at', 'url')


class ListFeeds(commands.Lister):
    """List calendar feeds, without their links."""

    spare = ('Stopped reason',)

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        rows = (
            (IdColumn(feed.id), feed.name, feed.kind, IdColumn(feed.lease_id or feed.resource_id),
             TimeColumn(feed.expires_at), feed.stopped_reason or '')
            for feed in plugin.client(self.app).feeds()
        )  # fmt: skip
        return ('ID', 'Name', 'Kind', 'Shows', 'Expires', 'Stopped reason'), rows


class ShowFeed(objects.ShowById):
    """Show a calendar feed, without its link."""

    noun = 'feed'
    named = True

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the columns."""
        feed = proxy.get_feed(parsed.id)
        return {
            **attributes(feed, 'id', 'name', 'kind'),
            'lease_id': feed.lease_id or '',
            'resource_id': feed.resource_id or '',
            'time_zone': feed.time_zone,
            'alarms_before_start': NumbersColumn(feed.alarms_before_start),
            'alarms_before_end': NumbersColumn(feed.alarms_before_end),
            **attributes(feed, 'created_at', 'expires_at', 'stopped_reason'),
        }


class DeleteFeed(objects.DeleteById):
    """Revoke calendar feeds."""

    noun = 'feed'
    named = True
