# SPDX-License-Identifier: Apache-2.0

"""``openstack reservable resource type``."""

from __future__ import annotations

import argparse
from typing import Any

from osc_lib import exceptions
from osc_lib.cli import format_columns

from climate.client.osc import commands
from climate.client.osc import options
from climate.client.osc import pairs
from climate.client.osc import plugin
from climate.client.osc.columns import attributes
from climate.client.osc.columns import given
from climate.client.osc.columns import InventoriesColumn
from climate.client.sdk.proxy import ReservationProxy
from climate.client.sdk.resource_types import ReservableType


def shown(resource_type: ReservableType) -> dict[str, Any]:
    """Return the columns of a resource type, and their values."""
    return {
        **attributes(resource_type, 'name', 'description', 'origin'),
        'exclusive': resource_type.is_exclusive,
        'noun': resource_type.noun or '',
        'inventories': InventoriesColumn(resource_type.inventories),
        'announce': format_columns.ListColumn(resource_type.announce),
        'fields': format_columns.ListColumn(
            sorted(resource_type.reservation_schema.get('properties') or {})
        ),
        **attributes(resource_type, 'created_at', 'updated_at'),
    }


class ListResourceTypes(commands.Lister):
    """List the types of resources that can be reserved."""

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        rows = (
            (each.name, each.origin, each.is_exclusive, each.noun or '', each.description)
            for each in plugin.client(self.app).resource_types()
        )
        return ('Name', 'Origin', 'Exclusive', 'Noun', 'Description'), rows


class ShowResourceType(commands.ShowOne):
    """Show a resource type, with the fields of its reservations."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        _add_name(parser)

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the columns."""
        return shown(proxy.get_resource_type(parsed.name))


class CreateResourceType(commands.ShowOne):
    """Declare a resource type (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        _add_name(parser)
        _add_fields(parser)

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Declare it, and return the values of the columns."""
        return shown(proxy.create_resource_type(parsed.name, **_fields(parsed)))


class SetResourceType(commands.ShowOne):
    """Change a declared resource type (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        _add_name(parser)
        _add_fields(parser)

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Change it, and return the values of the columns."""
        fields = _fields(parsed)
        if not fields:
            raise exceptions.CommandError('Nothing to change: use --description')
        return shown(proxy.update_resource_type(parsed.name, **fields))


class DeleteResourceType(commands.Command):
    """Delete declared resource types that have no resources (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            'names', metavar='NAME', nargs='+', type=options.identifier,
            help='Name, such as custom:licence',
        )  # fmt: skip

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Delete them."""
        for name in parsed_args.names:
            plugin.client(self.app).delete_resource_type(name, ignore_missing=False)


def _add_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'name', metavar='NAME', type=options.identifier, help='Name, such as custom:licence'
    )


def _add_fields(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--description', metavar='TEXT', help='What it is')
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        '--exclusive', action='store_true', default=None, help='A reservation has whole resources'
    )
    kind.add_argument(
        '--counted', dest='exclusive', action='store_false', help='It has amounts of classes'
    )
    parser.add_argument('--noun', metavar='NOUN', help='Its resources, in the plural: licences')
    parser.add_argument(
        '--class', dest='classes', metavar='CLASS=TOTAL', type=pairs.amount, action='append',
        help='A resource class, and how much of it a resource has by default',
    )  # fmt: skip
    parser.add_argument(
        '--announce', metavar='PROPERTY', action='append',
        help='A property that the owner of a lease sees in notifications',
    )  # fmt: skip


def _fields(parsed: argparse.Namespace) -> dict[str, Any]:
    return given(
        description=parsed.description,
        exclusive=parsed.exclusive,
        noun=parsed.noun,
        classes=parsed.classes and dict(parsed.classes),
        announce=parsed.announce,
    )
