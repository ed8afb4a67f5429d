# SPDX-License-Identifier: Apache-2.0

"""``openstack reservable resource``."""

from __future__ import annotations

import argparse
from typing import Any

from osc_lib import exceptions
from osc_lib.cli import format_columns

from climate.client.osc import commands
from climate.client.osc import options
from climate.client.osc import pairs
from climate.client.osc import plugin
from climate.client.osc import typed
from climate.client.osc.columns import attributes
from climate.client.osc.columns import InventoriesColumn
from climate.client.osc.columns import TimeColumn
from climate.client.osc.columns import ValuesColumn
from climate.client.sdk.proxy import ReservationProxy
from climate.client.sdk.resources import ReservableResource

_COLUMNS = ('ID', 'Type', 'Name', 'State', 'Inventories', 'Properties')


def add_resource(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the arguments that name a resource, or several."""
    name = 'resources' if nargs else 'resource'
    parser.add_argument(
        name, metavar='RESOURCE', nargs=nargs, type=options.name,
        help='Name or ID of the resource',
    )  # fmt: skip
    parser.add_argument(
        '--type', metavar='TYPE', help='Resource type, if several types have such a name'
    )


def find(proxy: ReservationProxy, parsed: argparse.Namespace, name: str) -> ReservableResource:
    """Return the resource that the user names."""
    return proxy.find_resource(name, parsed.type)


def state(resource: ReservableResource) -> str:
    """Return whether leases can have a resource, in a word."""
    if resource.failed_at:
        return 'failed'
    if resource.is_disabled:
        return 'disabled'
    return 'available' if resource.is_reservable else 'not reservable'


def shown(resource: ReservableResource) -> dict[str, Any]:
    """Return the columns of a resource, and their values."""
    return {
        **attributes(resource, 'id', 'resource_type', 'name'),
        'state': state(resource),
        'attributes': ValuesColumn(resource.attributes),
        'properties': ValuesColumn(resource.properties),
        'inventories': InventoriesColumn(resource.inventories),
        'traits': format_columns.ListColumn(resource.traits),
        'failed_at': TimeColumn(resource.failed_at),
        **({'degraded': resource.degraded} if resource.degraded else {}),
        **attributes(resource, 'created_at', 'updated_at'),
    }


class ListResources(commands.Lister):
    """List resources that can be reserved."""

    spare = ('Properties', 'Inventories')

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument('--type', metavar='TYPE', help='Only resources of this type')
        parser.add_argument('--name', metavar='NAME', help='Only resources of this name')

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        query = {'type': parsed_args.type, 'name': parsed_args.name}
        listed = plugin.client(self.app).resources(**{k: v for k, v in query.items() if v})
        rows = (
            (
                each.id,
                each.resource_type,
                each.name,
                state(each),
                InventoriesColumn(each.inventories),
                ValuesColumn(each.properties),
            )
            for each in listed
        )
        return _COLUMNS, rows


class ShowResource(commands.ShowOne):
    """Show a resource that can be reserved."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_resource(parser)

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the columns."""
        return shown(find(proxy, parsed, parsed.resource))


class CreateResource(commands.ShowOne):
    """Register a resource, so that it can be reserved (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument('type', metavar='TYPE', help='Resource type, such as custom:licence')
        parser.add_argument(
            'name', metavar='NAME', nargs='?',
            help='Name, as the cloud knows it; resources that --attribute describes have none',
        )  # fmt: skip
        parser.add_argument(
            '--attribute', metavar='NAME=VALUE', type=pairs.pair, action='append', default=[],
            help='What its type requires, such as the network of an address',
        )  # fmt: skip
        _add_values(parser)

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Register it, and return the values of the columns."""
        fields = {
            'attributes': _attributes(proxy, parsed),
            'properties': dict(parsed.property),
            'inventories': _inventories(parsed),
        }
        given = {key: value for key, value in fields.items() if value}
        return shown(proxy.create_resource(parsed.type, parsed.name, **given))


class SetResource(commands.ShowOne):
    """Change a resource (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_resource(parser)
        _add_values(parser)
        parser.add_argument(
            '--no-property', metavar='NAME', action='append', default=[], help='Remove a property'
        )
        parser.add_argument('--rename', metavar='NAME', help='Name that the cloud now uses for it')
        switch = parser.add_mutually_exclusive_group()
        switch.add_argument('--disable', action='store_true', help='Exclude it from new leases')
        switch.add_argument('--enable', action='store_true', help='Include it in new leases again')

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Change it, and return the values of the columns."""
        properties = {**dict.fromkeys(parsed.no_property), **dict(parsed.property)}
        fields: dict[str, Any] = {
            'name': parsed.rename,
            'properties': properties,
            'inventories': _inventories(parsed),
        }
        fields = {key: value for key, value in fields.items() if value}
        if parsed.disable or parsed.enable:
            fields['disabled'] = parsed.disable
        if not fields:
            raise exceptions.CommandError('Nothing to change: use --property or --disable')
        resource = find(proxy, parsed, parsed.resource)
        return shown(proxy.update_resource(resource, **fields))


class RefreshResource(commands.ShowOne):
    """Read a resource again from the cloud, with its capacity (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_resource(parser)

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Read it again, and return the values of the columns."""
        return shown(proxy.refresh_resource(find(proxy, parsed, parsed.resource)))


class DeleteResource(commands.Command):
    """Unregister resources, which must not be reserved (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_resource(parser, nargs='+')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Unregister them; look all of them up before the first."""
        proxy = plugin.client(self.app)
        given = [find(proxy, parsed_args, name) for name in parsed_args.resources]
        for each in given:
            proxy.delete_resource(each, ignore_missing=False)


def _add_values(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--property', metavar='NAME=VALUE', type=pairs.pair, action='append', default=[],
        help='What requirements can compare, such as rack=A',
    )  # fmt: skip
    parser.add_argument(
        '--inventory', metavar='CLASS=TOTAL', type=pairs.amount, action='append', default=[],
        help='How much it has of a resource class',
    )  # fmt: skip


def _attributes(proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
    """Return attributes with the types that the resource type requires."""
    given = dict(parsed.attribute)
    if not given:
        return given
    schema = proxy.get_resource_type(parsed.type).resource_schema or {}
    known = schema.get('properties') or {}
    return {key: typed.value(known.get(key, {}), text) for key, text in given.items()}


def _inventories(parsed: argparse.Namespace) -> dict[str, int]:
    return dict(parsed.inventory)
