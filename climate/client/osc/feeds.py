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

"""``openstack lease feed``: create, list, show and delete."""

from __future__ import annotations

import argparse
from typing import Any

from osc_lib.cli import format_columns
from osc_lib.command import command

from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc.columns import TimeColumn


class CreateFeed(command.ShowOne):
    """Create a secret link to a calendar, which is shown only once."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument('--name', metavar='NAME', help='Name of the calendar')
        shown = parser.add_mutually_exclusive_group()
        shown.add_argument('--lease', metavar='ID', help='Show only this lease')
        shown.add_argument('--resource', metavar='ID', help='Show the use of a resource')
        parser.add_argument('--time-zone', metavar='ZONE', help='Zone of the times')
        parser.add_argument(
            '--lifetime', metavar='DURATION', type=options.duration,
            help='How long the link works, such as 30d',
        )  # fmt: skip
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and values."""
        fields = {
            'name': parsed_args.name,
            'lease_id': parsed_args.lease,
            'resource_id': parsed_args.resource,
            'time_zone': parsed_args.time_zone,
        }
        if parsed_args.lifetime:
            fields['lifetime'] = int(parsed_args.lifetime.total_seconds())
        given = {key: value for key, value in fields.items() if value is not None}
        feed = plugin.client(self.app).create_feed(**given)
        columns = ('id', 'name', 'kind', 'time_zone', 'expires_at', 'url')
        return columns, [getattr(feed, column) for column in columns]


class ListFeeds(command.Lister):
    """List calendar feeds, without their links."""

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        rows = (
            (feed.id, feed.name, feed.kind, feed.lease_id or feed.resource_id or '',
             TimeColumn(feed.expires_at))
            for feed in plugin.client(self.app).feeds()
        )  # fmt: skip
        return ('ID', 'Name', 'Kind', 'Shows', 'Expires'), rows


class ShowFeed(command.ShowOne):
    """Show a calendar feed, without its link."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument('feed', metavar='FEED', help='Id of a feed')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and values."""
        feed = plugin.client(self.app).get_feed(parsed_args.feed)
        columns = {
            'id': feed.id,
            'name': feed.name,
            'kind': feed.kind,
            'lease_id': feed.lease_id or '',
            'resource_id': feed.resource_id or '',
            'time_zone': feed.time_zone,
            'alarms_before_start': format_columns.ListColumn(feed.alarms_before_start),
            'alarms_before_end': format_columns.ListColumn(feed.alarms_before_end),
            'created_at': TimeColumn(feed.created_at),
            'expires_at': TimeColumn(feed.expires_at),
        }
        return tuple(columns), tuple(columns.values())


class DeleteFeed(command.Command):
    """Revoke calendar feeds."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument('feeds', metavar='FEED', nargs='+', help='Id of a feed')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Revoke the feeds."""
        for feed in parsed_args.feeds:
            plugin.client(self.app).delete_feed(feed, ignore_missing=False)
