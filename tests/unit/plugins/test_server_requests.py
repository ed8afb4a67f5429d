# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a server for a time, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.clock import ManualClock
from climate.cloud.base import ServerDraft
from climate.domain.leases import Reservation
from climate.plugins.server import request as server_request
from climate.plugins.server.plugin import VirtualServer
from climate.plugins.server.request import Seen
from climate.plugins.server.request import ServerRequest
from climate.simulator import SimulatedCloud
from tests import base
from tests.unit.plugins.effect_runners import NOW

PLUGIN = VirtualServer()
TYPE = 'virtual:server'
SERVER = '8e1b1a4c-2f63-4a1c-9d8e-6c5f1d2a3b4c'
MINE = {'resource_type': TYPE, 'server_id': SERVER}
IMAGE = '5b0d6d0e-2c2a-4f39-8f0e-6b1f0f3c9a11'
BOOTED = {'resource_type': TYPE, 'name': 'web', 'flavor': '2', 'image': IMAGE}
MALFORMED = exceptions.MalformedParameter

words = st.text(
    st.characters(codec='utf-8', exclude_categories=['Cc', 'Cf', 'Zl', 'Zp', 'Zs']),
    min_size=1,
    max_size=8,
)
ends = {
    'on_end': st.sampled_from([('snapshot', 'stop', 'delete'), ('stop', 'delete'), ('delete',)]),
    'before_end': st.sampled_from([(), ('notify',), ('snapshot', 'notify')]),
    'guarantee': st.booleans(),
    'seen': st.none() | st.builds(Seen, name=words, flavor_id=words),
}
booted = st.builds(
    ServerRequest,
    name=words,
    flavor=words,
    image=st.uuids().map(str),
    networks=st.lists(st.fixed_dictionaries({'uuid': words}), max_size=2).map(tuple),
    key_name=words,
    user_data=words,
    block_device_mapping=st.lists(
        st.fixed_dictionaries({'source_type': words, 'boot_index': st.integers(-1, 9)}), max_size=2
    ).map(tuple),
    metadata=st.dictionaries(st.from_regex(r'[a-z][a-z_.:-]?', fullmatch=True), words, max_size=2),
    security_groups=st.lists(words, max_size=2).map(tuple),
    **ends,
)
requests = booted | st.builds(ServerRequest, server_id=st.just(SERVER), **ends)


class TestParse(base.TestCase):
    def test_a_server_that_exists(self) -> None:
        request = PLUGIN.parse(MINE, strict=True)
        self.assertEqual(ServerRequest(server_id=SERVER), request)
        self.assertEqual(('snapshot', 'delete'), request.on_end)
        self.assertEqual(((), True), (request.before_end, request.guarantee))
        for changes in (
            {'server_id': SERVER.upper()},
            {'server_id': SERVER.replace('-', '')},
            {'on_end': 'create_image, delete', 'guarantee': 'True', 'before_end': ''},
            {'on_end': None, 'guarantee': None, 'before_end': None, 'name': '', 'networks': []},
            {'on_end': '', 'guarantee': ''},
        ):
            self.assertEqual(request, PLUGIN.parse({**MINE, **changes}))

    def test_a_server_to_be_booted(self) -> None:
        sent = {
            **BOOTED,
            'networks': [{'uuid': 'n', 'fixed_ip': '10.0.0.7'}, {'port': 'p', 'uuid': None}],
            'key_name': 'k',
            'user_data': '#cloud-config',
            'block_device_mapping': [{'source_type': 'blank', 'volume_size': 5}],
            'metadata': {'a': 'b'},
            'availability_zone': 'z',
            'security_groups': ['open'],
            'on_end': ['delete'],
        }
        request = PLUGIN.parse(sent, strict=True)
        changed = server_request.for_nova(request, 'f', {'climate:reservation': 'r'})
        self.assertEqual(('web', 'f', IMAGE, 'k'), _four(changed))
        self.assertEqual({'a': 'b', 'climate:reservation': 'r'}, dict(changed.metadata))
        found = [(nic.network_id, nic.port_id, nic.fixed_ip) for nic in changed.nics]
        self.assertEqual([('n', None, '10.0.0.7'), (None, 'p', None)], found)
        self.assertEqual(('open',), changed.security_groups)
        self.assertEqual(sent['block_device_mapping'], list(changed.block_device_mapping))

    def test_each_field_wrong_in_turn(self) -> None:
        for sent, text in (
            ({}, 'server_id'),
            ({**MINE, 'server_id': 'web'}, 'server_id'),
            ({**MINE, 'name': 'web'}, 'name'),
            ({**MINE, 'metadata': {'a': 'b'}}, 'metadata'),
            ({**BOOTED, 'name': ' '}, 'name'),
            ({**BOOTED, 'flavor': None}, 'flavor'),
            ({**BOOTED, 'image': ''}, 'image'),
            ({**BOOTED, 'networks': [{}]}, 'networks'),
            ({**BOOTED, 'networks': [{'uuid': 'a', 'port': 'b'}]}, 'networks'),
            ({**BOOTED, 'networks': [{'uuid': 7}]}, 'networks'),
            ({**BOOTED, 'networks': [{'net': 'a'}]}, 'networks'),
            ({**BOOTED, 'networks': 'auto'}, 'networks'),
            ({**BOOTED, 'user_data': 7}, 'user_data'),
            ({**BOOTED, 'user_data': 'x' * 50000}, 'user_data'),
            ({**BOOTED, 'block_device_mapping': [{}]}, 'block_device_mapping'),
            ({**BOOTED, 'block_device_mapping': [{'source': 'x'}]}, 'block_device_mapping'),
            ({**BOOTED, 'block_device_mapping': [{'tag': 7}]}, 'block_device_mapping'),
            ({**BOOTED, 'block_device_mapping': [{'boot_index': True}]}, 'boot_index'),
            ({**BOOTED, 'metadata': {'climate:lease_end': 'x'}}, 'metadata'),
            ({**BOOTED, 'metadata': {'a': 7}}, 'metadata'),
            ({**BOOTED, 'metadata': []}, 'metadata'),
            ({**BOOTED, 'security_groups': ['']}, 'security_groups'),
            ({**BOOTED, 'security_groups': 'open'}, 'security_groups'),
            ({**MINE, 'on_end': 'explode'}, 'on_end'),
            ({**MINE, 'on_end': []}, 'on_end'),
            ({**MINE, 'on_end': [['delete']]}, 'on_end'),
            ({**MINE, 'on_end': {'delete': True}}, 'on_end'),
            ({**MINE, 'on_end': 'delete,delete'}, 'on_end'),
            ({**MINE, 'before_end': ['delete']}, 'before_end'),
            ({**MINE, 'guarantee': 'maybe'}, 'guarantee'),
            ({**MINE, 'guarantee': 1}, 'guarantee'),
            ({**MINE, 'guarantee': False, 'resource_properties': '["==", "$a", "1"]'}, 'guarantee'),
        ):
            self.assertRaisesRegex(exceptions.InvalidInput, text, PLUGIN.parse, sent)
        with self.assertRaisesRegex(MALFORMED, 'flavors'):
            PLUGIN.parse({**BOOTED, 'flavors': 1}, strict=True)

    def test_ends_that_cannot_be(self) -> None:
        for end, text in (
            ('delete,snapshot', "'snapshot' cannot come after 'delete'"),
            ('shelve,snapshot', "'snapshot' cannot come after 'shelve'"),
            ('stop,suspend,delete', "'suspend' cannot come after 'stop'"),
            # It would stay on a host that others will lease.
            ('snapshot', 'leaves its host'),
            ('snapshot,stop', 'leaves its host'),
        ):
            self.assertRaisesRegex(MALFORMED, text, PLUGIN.parse, {**MINE, 'on_end': end})
        for end in ('shelve', 'stop,shelve,delete', 'suspend,snapshot,delete', 'delete'):
            self.assertEqual(tuple(end.split(',')), PLUGIN.parse({**MINE, 'on_end': end}).on_end)
        self.assertEqual(
            ('stop',), PLUGIN.parse({**MINE, 'on_end': 'stop', 'guarantee': False}).on_end
        )
        # The flavor that it is made of goes with the lease.
        with self.assertRaisesRegex(MALFORMED, "has to be 'delete'"):
            PLUGIN.parse({**BOOTED, 'on_end': 'shelve'})
        PLUGIN.parse({**BOOTED, 'on_end': 'shelve', 'guarantee': False})

    @hypothesis.given(requests)
    def test_round_trip(self, request: ServerRequest) -> None:
        self.assertEqual(request, PLUGIN.load(json.loads(json.dumps(PLUGIN.dump(request)))))


class TestChange(base.TestCase):
    @hypothesis.given(requests)
    def test_nothing(self, request: ServerRequest) -> None:
        try:
            PLUGIN.change(request, {})
        except MALFORMED:
            hypothesis.reject()
        same = {'id': 'r', **PLUGIN.describe(_reservation(request))}
        same.pop('image_ids')
        self.assertEqual(request, PLUGIN.change(request, same, strict=True, running=True))
        self.assertEqual(request, PLUGIN.change(request, dict.fromkeys(same), strict=True))

    def test_the_end_at_any_time_and_nothing_else(self) -> None:
        old = PLUGIN.parse(MINE)
        for running in (False, True):
            new = PLUGIN.change(
                old, {'on_end': 'shelve', 'before_end': 'snapshot'}, running=running
            )
            self.assertEqual((('shelve',), ('snapshot',)), (new.on_end, new.before_end))
            with self.assertRaisesRegex(MALFORMED, 'leaves its host'):
                PLUGIN.change(old, {'on_end': ['stop']}, running=running)
            for key, value in (
                ('server_id', SERVER[::-1]),
                ('guarantee', False),
                ('name', 'new'),
                ('metadata', {}),
                ('resource_properties', '["==", "$a", "1"]'),
            ):
                with self.assertRaisesRegex(exceptions.CantUpdateParameter, key):
                    PLUGIN.change(old, {key: value}, running=running)


class TestInspect(base.TestCase):
    """What is seen of a server with the caller's token."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud = self.closing(SimulatedCloud(':memory:', clock=ManualClock(NOW)))
        self.cloud.seed(1)
        compute = self.cloud.compute_of('blue')
        self.server = compute.create_server(ServerDraft(name='web', flavor_id='2'))

    def inspect(self, project: str = 'blue', **changes: Any) -> ServerRequest:
        request = PLUGIN.parse({'resource_type': TYPE, 'server_id': self.server, **changes})
        return PLUGIN.inspect(request, lambda: self.cloud.of_caller(f'user:{project}'), project)

    def boot(self, **changes: Any) -> ServerRequest:
        request = PLUGIN.parse({**BOOTED, **changes})
        return PLUGIN.inspect(request, lambda: self.cloud.of_caller('user:blue'), 'blue')

    def test_one_of_the_project(self) -> None:
        seen = self.inspect()
        self.assertEqual(Seen(name='web', flavor_id='2'), seen.seen)
        (room,) = PLUGIN.parts(seen)
        self.assertEqual(('flavor:instance', '2', 1), tuple(room.values())[:3])
        self.assertEqual((), PLUGIN.parts(self.inspect(guarantee=False)))
        self.assertEqual([self.server], list(PLUGIN.things(seen)))
        search = PLUGIN.search(seen)
        self.assertEqual((1, 1, (self.server,)), (search.minimum, search.maximum, search.names))
        # It is looked at once: by then it may well be shelved.
        self.cloud.compute.delete_server(self.server)
        self.assertEqual(seen, PLUGIN.inspect(seen, lambda: self.cloud, 'blue'))

    def test_one_of_others_and_none(self) -> None:
        for project, server in (('red', self.server), ('blue', SERVER)):
            with self.assertRaisesRegex(exceptions.InvalidInput, f"'{server}' not found"):
                self.inspect(project, server_id=server)

    def test_one_that_cannot_be_leased_as_it_is(self) -> None:
        self.cloud.set_server(self.server, locked=True)
        self.assertRaisesRegex(exceptions.Conflict, 'locked', self.inspect)
        self.cloud.set_server(self.server, locked=False, status='ERROR')
        self.assertRaisesRegex(exceptions.Conflict, 'is ERROR', self.inspect)
        self.cloud.set_server(self.server, status='ACTIVE')
        self.cloud.set_seconds('server_action', 5)
        self.cloud.compute.stop_server(self.server)
        self.assertRaisesRegex(exceptions.Conflict, 'busy .powering-off', self.inspect)

    def test_one_whose_flavor_is_gone(self) -> None:
        self.cloud.compute.delete_flavor('2')
        self.assertRaisesRegex(exceptions.InvalidInput, 'guarantee', self.inspect)
        self.assertIsNotNone(self.inspect(guarantee=False).seen)

    def test_what_one_is_to_be_made_of(self) -> None:
        image = self.cloud.add_image('cirros')
        network = self.cloud.networks.add_network('inner', 'blue').id
        seen = self.boot(image=image, networks=[{'uuid': network}])
        self.assertEqual(Seen(name='web', flavor_id='2'), seen.seen)
        self.assertEqual({'member', 'reader'}, PLUGIN.roles(seen))
        self.assertEqual((0, 0), (PLUGIN.search(seen).minimum, len(PLUGIN.things(seen))))
        for changes, text in (
            ({'flavor': 'none'}, 'flavor'),
            ({'image': 'none'}, 'image'),
            ({'image': IMAGE}, 'image'),
            ({'image': image, 'networks': [{'uuid': 'none'}]}, 'networks'),
        ):
            self.assertRaisesRegex(exceptions.InvalidInput, text, self.boot, **changes)

    def test_what_is_shown(self) -> None:
        request = PLUGIN.parse({**BOOTED, 'user_data': 'password: x'})
        shown = PLUGIN.describe(_reservation(request, server_id=SERVER, image_ids=['i']))
        self.assert_has(shown, server_id=SERVER, name='web', image_ids=['i'])
        self.assertNotIn('password', str(shown))


def _reservation(request: ServerRequest, **facts: Any) -> Reservation:
    return Reservation(
        id='r', lease_id='l', resource_type=TYPE, request=PLUGIN.dump(request), facts=facts
    )


def _four(draft: ServerDraft) -> tuple[Any, ...]:
    return draft.name, draft.flavor_id, draft.image_id, draft.key_name
