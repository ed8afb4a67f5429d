# SPDX-License-Identifier: Apache-2.0

"""``openstack lease history``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate.client import words
from climate.client.osc import commands
from climate.client.osc import leases
from climate.client.osc import plugin
from climate.client.osc.columns import TextColumn
from climate.client.osc.columns import TimeColumn
from climate.client.osc.columns import WordColumn
from climate.client.sdk.histories import LeaseHistory


class ShowHistory(commands.Lister):
    """Show what was done for a lease in the cloud, and what is still to come."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        leases.add_lease(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        proxy = plugin.client(self.app)
        lease = leases.find(proxy, parsed_args.lease)
        columns = ('Time', 'What', 'State', 'Type', 'Attempts', 'Details')
        return columns, rows(proxy.lease_history(lease))


def rows(history: LeaseHistory) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each step and for each event to come, in this order."""
    for step in history.steps or ():
        about = [step['error'], step['waiting_for'], *(line['text'] for line in step['lines'])]
        yield (
            TimeColumn(step['last_at']),
            WordColumn(step['effect']),
            WordColumn('noted' if _is_note(step) else step['state']),
            step['resource_type'] or '',
            step['attempts'],
            TextColumn('\n'.join(filter(None, about))),
        )
    for event in words.for_people(history.awaited or (), 'due'):
        yield (
            TimeColumn(event['due']),
            WordColumn(event['event_type']),
            words.SCHEDULED,
            '',
            event['failures'],
            TextColumn(event['why'] or ''),
        )


def _is_note(step: Mapping[str, Any]) -> bool:
    """Return whether a step is only a remark about an event, such as that it has moved."""
    return step['reservation_id'] is None and step['state'] == 'done'
