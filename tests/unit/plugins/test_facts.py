# SPDX-License-Identifier: Apache-2.0

"""Facts are stored, and rows of releases before are read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import hypothesis
from hypothesis import strategies

from climate.domain.facts import Facts
from climate.domain.leases import Reservation
from climate.plugins.custom.facts import CustomFacts
from climate.plugins.floating_ip.facts import FloatingIPFacts
from climate.plugins.host.facts import HostFacts
from climate.plugins.host.facts import ReleaseFacts
from climate.plugins.instance.facts import InstanceFacts
from climate.plugins.network.facts import NetworkFacts
from climate.plugins.server.facts import ServerFacts
from climate.plugins.server.facts import SnapshotFacts
from climate.plugins.stack.facts import StackFacts
from climate.plugins.storage.facts import StorageFacts
from climate.plugins.volume.facts import VolumeFacts
from tests import base

# As they are in the databases of releases that knew no versions.
OLD_ROWS: list[tuple[dict[str, Any], Facts]] = [
    (
        {'aggregate_id': 7, 'imaging': {'s': ['i', 'j']}, 'images': {'s': 'k'}},
        HostFacts(aggregate_id=7, images_before={'s': ('i', 'j')}, images={'s': 'k'}),
    ),
    ({'door': 'compute-1', 'of another': 1}, ReleaseFacts(released_host='compute-1')),
    (
        {
            'aggregate_id': 7,
            'server_group_id': 'g',
            'other_server_groups': True,
            'shrinking': [[1, 2], [3, 1]],
        },
        InstanceFacts(
            aggregate_id=7,
            server_group_id='g',
            other_server_groups=True,
            shrinking=((1, 2), (3, 1)),
        ),
    ),
    (
        {'network_id': 'n', 'network_described': ['name', 'words']},
        NetworkFacts(network_id='n', described=('name', 'words')),
    ),
    ({'floating_ips': {'192.0.2.1': 'f'}}, FloatingIPFacts(floating_ips={'192.0.2.1': 'f'})),
    (
        {'allocated': [{'id': '1', 'name': 'rack-1', 'resources': {'RACK': 2}}]},
        CustomFacts(allocated=({'id': '1', 'name': 'rack-1', 'resources': {'RACK': 2}},)),
    ),
    (
        {'volumes': {'1': 'v'}, 'ready': 1, 'calls': {'1': 'c'}, 'copies': [{'id': 's'}]},
        VolumeFacts(volumes={'1': 'v'}, ready=1, calls={'1': 'c'}, copies=({'id': 's'},)),
    ),
    (
        {'volume_types': {'h@b#p': 'reservation:r'}, 'copies': [{'id': 's'}]},
        StorageFacts(volume_types={'h@b#p': 'reservation:r'}, copies=({'id': 's'},)),
    ),
    (
        {
            'door': 'compute-1',
            'was': 'ACTIVE',
            'server_id': 's',
            'call': 'c',
            'asked': 'start',
            'tried': 'start',
            'snapshots': {'before_end': {'before': []}, 'end': {'before': ['i'], 'id': 'j'}},
            'image_ids': ['j'],
            'ended': ['snapshot'],
        },
        ServerFacts(
            released_host='compute-1',
            was='ACTIVE',
            server_id='s',
            call='c',
            asked='start',
            tried='start',
            snapshots={
                'before_end': SnapshotFacts(before=()),
                'end': SnapshotFacts(before=('i',), image_id='j'),
            },
            image_ids=('j',),
            ended=('snapshot',),
        ),
    ),
    (
        {'stack_id': 's', 'before': 'running', 'started': True, 'over': True, 'snapshot_id': 'n'},
        StackFacts(stack_id='s', before='running', started=True, over=True, snapshot_id='n'),
    ),
]
KINDS = sorted({type(facts) for _, facts in OLD_ROWS}, key=lambda kind: kind.__name__)


def any_facts() -> strategies.SearchStrategy[Facts]:
    """Return facts of any kind: some of those in the rows above, of any version."""
    return strategies.one_of(
        strategies.builds(
            lambda facts, stored, names, version: type(facts).load(
                {**{key: stored[key] for key in stored if key in names}, 'version': version}
            ),
            strategies.just(facts),
            strategies.just(stored),
            strategies.sets(strategies.sampled_from(sorted(stored))),
            strategies.integers(1, 3),
        )
        for stored, facts in OLD_ROWS
    )


def reservation(stored: dict[str, Any]) -> Reservation:
    """Return a reservation with facts."""
    return Reservation(id='r', lease_id='l', resource_type='t', request={}, facts=stored)


def merged(stored: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return what the store has after an effect."""
    known = json.loads(json.dumps({**stored, **changes}))
    return {key: value for key, value in known.items() if value is not None}


class TestFacts(base.TestCase):
    """What is stored is what is read."""

    @hypothesis.given(any_facts())
    def test_facts_are_read_as_they_were_written(self, facts: Facts) -> None:
        stored = json.loads(json.dumps(facts.dump()))
        self.assertEqual(facts, type(facts).load(stored))

    def test_rows_of_earlier_releases_are_read_and_stay_as_they_are(self) -> None:
        for stored, facts in OLD_ROWS:
            read = type(facts).of(reservation(stored))
            self.assertEqual((facts, 1), (read, read.version))
            self.assertEqual({}, read.changes(reservation(stored)))
            own = {key: value for key, value in stored.items() if key != 'of another'}
            self.assertEqual(own, json.loads(json.dumps(read.dump())))

    def test_no_key_and_null_and_an_unknown_key_are_read(self) -> None:
        for kind, keys in self.kinds():
            for stored in ({}, dict.fromkeys(keys), {'of a later release': [1]}):
                self.assertEqual(kind(), kind.load(stored))
                self.assertEqual({}, kind().dump())

    @hypothesis.given(any_facts(), any_facts())
    def test_changes_lead_from_one_to_the_other(self, before: Facts, after: Facts) -> None:
        stored = {**before.dump(), 'of another': 1}
        changes = after.changes(reservation(stored))
        self.assertEqual(after, type(after).load(merged(stored, changes)))
        self.assertEqual(1, merged(stored, changes)['of another'])

    def test_changes_name_only_what_differs(self) -> None:
        before = reservation({'aggregate_id': 7, 'server_group_id': 'g'})
        self.assertEqual(
            {'aggregate_id': 8, 'server_group_id': None, 'other_server_groups': True},
            InstanceFacts(aggregate_id=8, other_server_groups=True).changes(before),
        )

    def kinds(self) -> Iterator[tuple[type[Facts], list[str]]]:
        """Yield the classes with the keys that they store."""
        for kind in KINDS:
            keys = [key for stored, facts in OLD_ROWS if type(facts) is kind for key in stored]
            yield kind, keys
