# SPDX-License-Identifier: Apache-2.0

"""Commands for objects that are known by their ids: feeds, maintenances, offers, webhooks."""

from __future__ import annotations

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
    return str(known.id) if known else _prefixed_id(proxy, noun, name_or_id)


def _prefixed_id(proxy: ReservationProxy, noun: str, beginning: str) -> str:
    return prefixes.whole(getattr(proxy, f'{noun}s')(), beginning, noun)


class _ById:
    """A command for objects that are known by their ids.

    :cvar noun: what they are
    :cvar named: whether a name will do; the proxy then has a method find_NOUN()
    :cvar listed: whether the beginning of an id will do; the proxy then has a method NOUNs()
    """

    noun: ClassVar[str]
    named: ClassVar[bool] = False
    listed: ClassVar[bool] = False

    def _whole_id(self, proxy: ReservationProxy, given: str) -> str:
        """Return the id of the object that the user has given.

        :raises osc_lib.exceptions.CommandError: if there is none, or if there are several
        """
        if self.named:
            return found_id(proxy, self.noun, given)
        return _prefixed_id(proxy, self.noun, given) if self.listed else given


class ShowById(_ById, commands.ShowOne):
    """Shows one object; :meth:`columns` gets its id as ``parsed.id``."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_id(parser, self.noun, named=self.named)

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Find the id for which :meth:`columns` returns values."""
        parsed_args.id = self._whole_id(plugin.client(self.app), parsed_args.id)
        return super().take_action(parsed_args)


class DeleteById(_ById, commands.Command):
    """Deletes objects, in their order; the proxy has a method delete_NOUN()."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_id(parser, self.noun, several=True, named=self.named)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Delete the objects."""
        proxy = plugin.client(self.app)
        delete = getattr(proxy, f'delete_{self.noun}')
        for each in parsed_args.ids:
            delete(self._whole_id(proxy, each), ignore_missing=False)
