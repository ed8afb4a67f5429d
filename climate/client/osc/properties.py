# SPDX-License-Identifier: Apache-2.0

"""``openstack reservable resource property``: what requirements can compare."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

from cliff import columns
from osc_lib.cli import format_columns

from climate.client.osc import commands
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.sdk.proxy import ReservationProxy

_MOST: Final = 10


def _add_type(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--type',
        metavar='TYPE',
        required=True,
        help='Resource type whose resources have properties',
    )


class ListProperties(commands.Lister):
    """List the properties and traits that requirements can compare, with their values."""

    spare = ('Private',)

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        _add_type(parser)
        parser.add_argument(
            '--private', action='store_true', help='Include private properties (administrators)'
        )

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        proxy = plugin.client(self.app)
        query = {'all': True} if parsed_args.private else {}
        if proxy.supports('1.7'):
            rows = _counted(proxy.counted_properties(parsed_args.type, **query))
        else:
            rows = _plain(proxy, parsed_args.type, query)
        return ('Property', 'Private', 'Values'), rows


class CountedValuesColumn(columns.FormattableColumn[list[dict[str, Any]]]):
    """The values of a property, with the number of resources that have each."""

    def human_readable(self) -> str:
        """Return the first of them."""
        shown = [f'{each["value"]} ({each["resources"]})' for each in self._value[:_MOST]]
        more = len(self._value) - _MOST
        return ', '.join([*shown, *([f'{more} more'] if more > 0 else [])])

    def machine_readable(self) -> Any:
        """Return the values."""
        return [each['value'] for each in self._value]


def _counted(answer: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    for each in answer['resource_properties']:
        yield each['property'], each['private'], CountedValuesColumn(each['values'])
    for each in answer['traits']:
        required = {'value': 'required', 'resources': each['resources']}
        yield f'trait:{each["trait"]}', False, CountedValuesColumn([required])


def _plain(
    proxy: ReservationProxy, resource_type: str, query: Mapping[str, Any]
) -> Iterator[tuple[Any, ...]]:
    """Yield what older services list: only properties that operators have set."""
    for each in proxy.resource_properties(detail=True, type=resource_type, **query):
        yield each.property, each.is_private, format_columns.ListColumn(each.values)


class SetProperty(commands.ShowOne):
    """Hide a property from users, or show it to them (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            'property', metavar='PROPERTY', type=options.identifier, help='Name of the property'
        )
        _add_type(parser)
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument('--private', action='store_true', help='Only administrators see it')
        who.add_argument('--public', action='store_true', help='Users see it, and can require it')

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Change it, and return the values of the columns."""
        changed = proxy.update_resource_property(parsed.property, parsed.private, parsed.type)
        return {'property': changed.property, 'private': changed.is_private}
