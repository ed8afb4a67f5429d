# SPDX-License-Identifier: Apache-2.0

"""``openstack maintenance``."""

from __future__ import annotations

import argparse
from typing import Any

from osc_lib import exceptions

from climate.client import times
from climate.client.osc import commands
from climate.client.osc import objects
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc import resources
from climate.client.osc.columns import attributes
from climate.client.osc.columns import given
from climate.client.osc.columns import IdColumn
from climate.client.osc.columns import TimeColumn
from climate.client.sdk.maintenances import ResourceMaintenance
from climate.client.sdk.proxy import ReservationProxy


def _columns(maintenance: ResourceMaintenance) -> dict[str, Any]:
    """Return the columns of a maintenance with their values."""
    return attributes(
        maintenance,
        *('id', 'resource_id', 'resource_type', 'resource_name'),
        *('start_date', 'end_date', 'reason', 'user_id', 'created_at'),
    )


class ListMaintenances(commands.Lister):
    """List current and future maintenances (administrators)."""

    spare = ('Type',)

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        rows = (
            (
                IdColumn(each.id),
                each.resource_type,
                each.resource_name,
                TimeColumn(each.start_date),
                TimeColumn(each.end_date),
                each.reason,
            )
            for each in plugin.client(self.app).maintenances()
        )
        return ('ID', 'Type', 'Resource', 'Start', 'End', 'Reason'), rows


class ShowMaintenance(objects.ShowById):
    """Show a maintenance (administrators)."""

    noun = 'maintenance'
    listed = True

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the columns."""
        return _columns(proxy.get_maintenance(parsed.id))


class CreateMaintenance(commands.ShowOne):
    """Announce a maintenance: no new lease books the resource then (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        resources.add_resource(parser)
        options.add_period(parser, 'Length, such as 4h', required=True)
        parser.add_argument('--reason', metavar='TEXT', default='', help='Reason')

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Announce it, and return the values of the columns."""
        resource = resources.find(proxy, parsed, parsed.resource)
        start = parsed.at or options.now()
        end = start + parsed.length if parsed.length else parsed.until.after(start)
        maintenance = proxy.create_maintenance(
            resource_id=resource.id,
            start_date=options.written(start, ''),
            end_date=options.written(end, ''),
            reason=parsed.reason,
        )
        return _columns(maintenance)


class SetMaintenance(objects.ShowById):
    """Change the period or the reason of a maintenance (administrators)."""

    noun = 'maintenance'
    listed = True

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        super()._add_options(parser)
        options.add_at(parser, 'New start')
        end = parser.add_mutually_exclusive_group()
        options.add_length(end, 'New length, from the new start or the present one, such as 4h')
        options.add_until(end, 'New end: a time alone is on the day of the start')
        parser.add_argument('--reason', metavar='TEXT', help='New reason')

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Change it, and return the values of the columns."""
        end = None
        if parsed.length or parsed.until:
            start = parsed.at or times.read(proxy.get_maintenance(parsed.id).start_date)
            end = start + parsed.length if parsed.length else parsed.until.after(start)
        fields = given(
            start_date=parsed.at and options.written(parsed.at, ''),
            end_date=end and options.written(end, ''),
            reason=parsed.reason,
        )
        if not fields:
            raise exceptions.CommandError('Nothing to change: give --at, --for or --reason')
        return _columns(proxy.update_maintenance(parsed.id, **fields))


class DeleteMaintenance(objects.DeleteById):
    """Cancel maintenances, so that leases can book the resources again (administrators)."""

    noun = 'maintenance'
    listed = True
