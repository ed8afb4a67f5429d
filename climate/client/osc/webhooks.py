# SPDX-License-Identifier: Apache-2.0

"""``openstack lease webhook``: subscriptions, and what was delivered to them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from osc_lib import exceptions
from osc_lib.cli import format_columns

from climate.client.osc import commands
from climate.client.osc import objects
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc import prefixes
from climate.client.osc.columns import attributes
from climate.client.osc.columns import given
from climate.client.osc.columns import IdColumn
from climate.client.osc.columns import TimeColumn
from climate.client.sdk.proxy import ReservationProxy


def _columns(webhook: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a webhook that was created or changed, with its secret if new."""
    return {
        **attributes(webhook, 'id', 'name', 'url'),
        'event_types': format_columns.ListColumn(webhook['event_types']),
        'enabled': webhook['enabled'],
        **({'secret': webhook['secret']} if webhook.get('secret') else {}),
    }


def _add_types(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--event-type', dest='event_types', metavar='TYPE', action='append',
        help='Type of notification, such as lease.delete, or the beginning of some, such as '
        'lease.event.* (repeat for several; all by default)',
    )  # fmt: skip


class CreateWebhook(commands.ShowOne):
    """Create a webhook, and show its secret, which is not shown again."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument('url', metavar='URL', help='Where events are sent')
        parser.add_argument('--name', metavar='NAME', help='A name for people')
        _add_types(parser)
        parser.add_argument(
            '--all-projects', action='store_true', help='Leases of all projects (administrators)'
        )

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the columns."""
        fields = given(
            url=parsed.url,
            name=parsed.name,
            event_types=parsed.event_types or None,
            is_for_all_projects=parsed.all_projects or None,
        )
        made = proxy.create_webhook(**fields)
        return _columns({**made.to_dict(), 'enabled': made.is_enabled})


class ListWebhooks(commands.Lister):
    """List webhooks, without their secrets."""

    spare = ('Event types', 'Stopped reason')

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        rows = (
            (IdColumn(one.id), one.name, one.url, ' '.join(one.event_types), one.is_enabled,
             one.stopped_reason or '')
            for one in plugin.client(self.app).webhooks()
        )  # fmt: skip
        return ('ID', 'Name', 'URL', 'Event types', 'Enabled', 'Stopped reason'), rows


class ShowWebhook(objects.ShowById):
    """Show a webhook, without its secret."""

    noun = 'webhook'
    named = True

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the columns."""
        webhook = proxy.get_webhook(parsed.id)
        return {
            **attributes(webhook, 'id', 'name', 'url'),
            'event_types': format_columns.ListColumn(webhook.event_types),
            'all_projects': webhook.is_for_all_projects,
            'enabled': webhook.is_enabled,
            **attributes(
                webhook, 'stopped_reason', 'previous_secret_until', 'created_at', 'updated_at'
            ),
        }


class TestWebhook(objects.ShowById):
    """Send a test event to a webhook."""

    noun = 'webhook'
    named = True

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the id of the delivery, which the list of deliveries shows."""
        return {'delivery_id': proxy.test_webhook(parsed.id)}


class RedeliverEvents(objects.ShowById):
    """Send what could not be delivered to a webhook again."""

    noun = 'webhook'
    named = True

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        super()._add_options(parser)
        parser.add_argument(
            'deliveries', metavar='DELIVERY', nargs='*', type=options.identifier,
            help='ID of a dead letter, which "lease webhook delivery list" shows; all by default',
        )  # fmt: skip

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the number of events."""
        chosen = [
            prefixes.whole(proxy.webhook_deliveries(parsed.id), each, 'delivery')
            for each in parsed.deliveries
        ]
        return {'redelivered': proxy.redeliver(parsed.id, chosen or None)}


class SetWebhook(objects.ShowById):
    """Change a webhook, or give it a new secret."""

    noun = 'webhook'
    named = True

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        super()._add_options(parser)
        parser.add_argument('--url', metavar='URL', help='Where events are sent')
        parser.add_argument('--name', metavar='NAME', help='A name for people')
        _add_types(parser)
        state = parser.add_mutually_exclusive_group()
        state.add_argument(
            '--enable', dest='enabled', action='store_true', default=None,
            help='Send events again',
        )  # fmt: skip
        state.add_argument(
            '--disable', dest='enabled', action='store_false', help='Send no more events'
        )
        parser.add_argument(
            '--rotate-secret', action='store_true', help='Create a new secret, and show it'
        )
        options.add_duration(
            parser,
            '--keep-previous-secret-for',
            'How long the previous secret signs as well, 1d by default',
        )

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Change it, and return the values of the columns."""
        kept = parsed.keep_previous_secret_for
        fields = given(
            url=parsed.url,
            name=parsed.name,
            event_types=parsed.event_types,
            enabled=parsed.enabled,
            rotate_secret=parsed.rotate_secret or None,
            keep_previous_secret_for=None if kept is None else int(kept.total_seconds()),
        )
        if not fields:
            raise exceptions.CommandError('Nothing to change: see openstack help lease webhook set')
        return _columns(proxy.update_webhook(parsed.id, **fields))


class DeleteWebhook(objects.DeleteById):
    """Delete webhooks."""

    noun = 'webhook'
    named = True


class ListDeliveries(commands.Lister):
    """List what was sent to a webhook, or waits to be sent, newest first."""

    spare = ('Attempts', 'Lease')

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        objects.add_id(parser, 'webhook', named=True)
        parser.add_argument(
            '--state',
            choices=('waiting', 'delivered', 'dead'),
            help='Only deliveries in this state',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        query = {'state': parsed_args.state} if parsed_args.state else {}
        proxy = plugin.client(self.app)
        webhook_id = objects.found_id(proxy, 'webhook', parsed_args.id)
        rows = (
            (IdColumn(one.id), one.event_type, IdColumn(one.lease_id), one.state, one.attempts,
             TimeColumn(one.created_at), one.error or '')
            for one in proxy.webhook_deliveries(webhook_id, **query)
        )  # fmt: skip
        return ('ID', 'Type', 'Lease', 'State', 'Attempts', 'Created', 'Error'), rows
