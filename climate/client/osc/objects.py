# SPDX-License-Identifier: Apache-2.0

"""Commands for objects that are known by their ids: feeds, maintenances, offers, webhooks."""

from __future__ import annotations

import abc
import argparse
from typing import Any
from typing import ClassVar

from climate.client.osc import commands
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc import prefixes
from climate.client.sdk.proxy import ReservationProxy


def add_id(
    parser: argparse.ArgumentParser, noun: str, several: bool = False, named: bool = False
) -> None:
    """Add the argument ``id`` or, for several objects, ``ids``.

    :param named: whether a name will do
    """
    parser.add_argument(
        'ids' if several else 'id',
        metavar=noun.upper(),
        nargs='+' if several else None,
        type=options.name if named else options.identifier,
        help=f'Name or ID of the {noun}' if named else f'ID of the {noun}',
    )


def found_id(proxy: ReservationProxy, noun: str, name_or_id: str) -> str:
    """Return the id of an object that the user has given by its name or id, or its beginning.

    :raises osc_lib.exceptions.CommandError: if there is none
    :raises openstack.exceptions.DuplicateResource: if several have the name
    """
    known = getattr(proxy, f'find_{noun}')(name_or_id)
    return str(known.id) if known else prefixed_id(proxy, noun, name_or_id)


def prefixed_id(proxy: ReservationProxy, noun: str, beginning: str) -> str:
    """Return the id of an object that the user has given by the beginning of its id.

    :raises osc_lib.exceptions.CommandError: if there is none, or if there are several
    """
    return prefixes.whole(getattr(proxy, f'{noun}s')(), beginning, noun)


class ShowById(commands.ShowOne):
    """Shows one object.

    :cvar noun: what it is
    :cvar named: whether a name will do; the proxy then has a method find_NOUN()
    :cvar listed: whether the beginning of an id will do; the proxy then has a method NOUNs()
    """

    noun: ClassVar[str]
    named: ClassVar[bool] = False
    listed: ClassVar[bool] = False

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_id(parser, self.noun, named=self.named)

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and values."""
        proxy = plugin.client(self.app)
        if self.named:
            parsed_args.id = found_id(proxy, self.noun, parsed_args.id)
        elif self.listed:
            parsed_args.id = prefixed_id(proxy, self.noun, parsed_args.id)
        columns = self.columns(proxy, parsed_args)
        return tuple(columns), tuple(columns.values())

    @abc.abstractmethod
    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the columns, for ``parsed.id``."""


class DeleteById(commands.Command):
    """Deletes objects, in their order.

    :cvar noun: what they are; the proxy has a method delete_NOUN()
    :cvar named: whether names will do; the proxy then has a method find_NOUN()
    :cvar listed: whether beginnings of ids will do; the proxy then has a method NOUNs()
    """

    noun: ClassVar[str]
    named: ClassVar[bool] = False
    listed: ClassVar[bool] = False

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_id(parser, self.noun, several=True, named=self.named)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Delete the objects."""
        proxy = plugin.client(self.app)
        delete = getattr(proxy, f'delete_{self.noun}')
        for each in parsed_args.ids:
            if self.named:
                each = found_id(proxy, self.noun, each)
            elif self.listed:
                each = prefixed_id(proxy, self.noun, each)
            delete(each, ignore_missing=False)
