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

"""``openstack lease webhook``: subscriptions, and what was delivered to them."""

from __future__ import annotations

import argparse
from typing import Any
from typing import Final

from osc_lib.cli import format_columns
from osc_lib.command import command

from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc.columns import TimeColumn

_COLUMNS: Final = ('id', 'name', 'url', 'event_types', 'enabled', 'secret')


def _add_types(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--event-type', dest='event_types', metavar='TYPE', action='append',
        help='Type of notification, such as lease.delete, or the beginning of some, such as '
        'lease.event.*; all by default. Can be repeated',
    )  # fmt: skip


def _add_webhook(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('webhook', metavar='WEBHOOK', help='Id of a webhook')


class CreateWebhook(command.ShowOne):
    """Create a webhook, and show its secret, which is not shown again."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument('url', metavar='URL', help='Where events are sent')
        parser.add_argument('--name', metavar='NAME', help='A name for people')
        _add_types(parser)
        parser.add_argument(
            '--all-projects', action='store_true', help='Leases of all projects (administrators)'
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and values."""
        fields: dict[str, Any] = {'url': parsed_args.url}
        if parsed_args.name is not None:
            fields['name'] = parsed_args.name
        if parsed_args.event_types:
            fields['event_types'] = parsed_args.event_types
        if parsed_args.all_projects:
            fields['is_for_all_projects'] = True
        made = plugin.client(self.app).create_webhook(**fields)
        values = (made.id, made.name, made.url, made.event_types, made.is_enabled, made.secret)
        return _COLUMNS, values


class ListWebhooks(command.Lister):
    """List webhooks, without their secrets."""

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        rows = (
            (one.id, one.name, one.url, ' '.join(one.event_types), one.is_enabled)
            for one in plugin.client(self.app).webhooks()
        )
        return ('ID', 'Name', 'URL', 'Event types', 'Enabled'), rows


class ShowWebhook(command.ShowOne):
    """Show a webhook, without its secret."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        _add_webhook(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and values."""
        found = plugin.client(self.app).get_webhook(parsed_args.webhook)
        columns = {
            'id': found.id,
            'name': found.name,
            'url': found.url,
            'event_types': format_columns.ListColumn(found.event_types),
            'all_projects': found.is_for_all_projects,
            'enabled': found.is_enabled,
            'previous_secret_until': TimeColumn(found.previous_secret_until),
            'created_at': TimeColumn(found.created_at),
            'updated_at': TimeColumn(found.updated_at),
        }
        return tuple(columns), tuple(columns.values())


class TestWebhook(command.ShowOne):
    """Send a test event to a webhook."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        _add_webhook(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return the id of the delivery, which the list of deliveries shows."""
        delivery = plugin.client(self.app).test_webhook(parsed_args.webhook)
        return ('delivery_id',), (delivery,)


class RedeliverEvents(command.ShowOne):
    """Send what could not be delivered to a webhook again."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        _add_webhook(parser)
        parser.add_argument(
            'deliveries', metavar='DELIVERY', nargs='*',
            help='Id of a dead letter, which "lease webhook delivery list" shows; all by default',
        )  # fmt: skip
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return the number of events."""
        ids = parsed_args.deliveries or None
        return ('redelivered',), (plugin.client(self.app).redeliver(parsed_args.webhook, ids),)


class SetWebhook(command.ShowOne):
    """Change a webhook, or give it a new secret."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        _add_webhook(parser)
        parser.add_argument('--url', metavar='URL', help='Where events are sent')
        parser.add_argument('--name', metavar='NAME', help='A name for people')
        _add_types(parser)
        state = parser.add_mutually_exclusive_group()
        state.add_argument('--enable', dest='enabled', action='store_true', default=None)
        state.add_argument('--disable', dest='enabled', action='store_false')
        parser.add_argument(
            '--rotate-secret', action='store_true', help='Create a new secret, and show it'
        )
        parser.add_argument(
            '--keep-previous-secret-for', metavar='DURATION', type=options.duration,
            help='How long the previous secret signs as well, 1d by default',
        )  # fmt: skip
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and values."""
        names = ('url', 'name', 'event_types', 'enabled')
        fields = {name: getattr(parsed_args, name) for name in names}
        fields = {name: value for name, value in fields.items() if value is not None}
        if parsed_args.rotate_secret:
            fields['rotate_secret'] = True
        if parsed_args.keep_previous_secret_for is not None:
            seconds = int(parsed_args.keep_previous_secret_for.total_seconds())
            fields['keep_previous_secret_for'] = seconds
        found = plugin.client(self.app).update_webhook(parsed_args.webhook, **fields)
        columns = [column for column in _COLUMNS if column in found]
        return columns, [found[column] for column in columns]


class DeleteWebhook(command.Command):
    """Delete webhooks."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument('webhooks', metavar='WEBHOOK', nargs='+', help='Id of a webhook')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Delete the webhooks."""
        for webhook in parsed_args.webhooks:
            plugin.client(self.app).delete_webhook(webhook, ignore_missing=False)


class ListDeliveries(command.Lister):
    """List what was sent to a webhook, or waits to be sent, newest first."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        _add_webhook(parser)
        parser.add_argument(
            '--state', choices=('waiting', 'delivered', 'dead'), help='Only those in this state'
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        query = {'state': parsed_args.state} if parsed_args.state else {}
        rows = (
            (one.id, one.event_type, one.lease_id or '', one.state, one.attempts,
             TimeColumn(one.created_at), one.error or '')
            for one in plugin.client(self.app).webhook_deliveries(parsed_args.webhook, **query)
        )  # fmt: skip
        return ('ID', 'Type', 'Lease', 'State', 'Attempts', 'Created', 'Error'), rows
