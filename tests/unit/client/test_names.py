# SPDX-License-Identifier: Apache-2.0

"""Names of objects in the cloud become their ids."""

from __future__ import annotations

import types
from typing import Any

from openstack import exceptions

from climate.client.osc import names
from tests import base

SERVER = {'resource_type': 'virtual:server'}
FLAVOR = {'resource_type': 'flavor:instance'}
UUID = '1f36ba27-6955-4c8f-806a-64c12f502f82'


def find(name: str, ignore_missing: bool) -> Any:
    """Stand in for a cloud with one object, ``known``.

    :raises openstack.exceptions.NotFoundException: if it is another name
    """
    if name != 'known':
        raise exceptions.NotFoundException(name)
    return types.SimpleNamespace(id='its-id')


def connection(auth_type: str = 'password') -> Any:
    """Return a connection to that cloud."""
    return types.SimpleNamespace(
        config=types.SimpleNamespace(config={'auth_type': auth_type}),
        compute=types.SimpleNamespace(find_flavor=find, find_server=find),
        network=types.SimpleNamespace(find_network=find),
        image=types.SimpleNamespace(find_image=find),
    )


class ResolvedNamesTest(base.TestCase):
    """Only fields that refer to the cloud are looked up."""

    def test_each_field(self) -> None:
        for kind, field in (
            ('flavor:instance', 'flavor_id'),
            ('virtual:server', 'flavor'),
            ('virtual:server', 'server_id'),
            ('virtual:floatingip', 'network_id'),
            ('virtual:server', 'image'),
            ('virtual:volume', 'image_id'),
        ):
            own = {'resource_type': kind}
            wanted = [{**own, field: 'known', 'amount': 2}, {**own, field: UUID}]
            found = names.resolve(connection(), wanted)
            self.assertEqual([{**own, field: 'its-id', 'amount': 2}, {**own, field: UUID}], found)

    def test_fields_of_other_types_stay(self) -> None:
        fields = ('flavor_id', 'flavor', 'server_id', 'network_id', 'image', 'networks')
        plain = dict.fromkeys(fields, 'known')
        for kind in ('baremetal:node', 'custom:licence', 'network'):
            wanted = [{'resource_type': kind, **plain}]
            self.assertEqual(wanted, names.resolve(connection('none'), wanted))
            self.assertEqual(wanted, names.resolve(connection(), wanted))

    def test_the_networks_of_a_server(self) -> None:
        wanted = [{**SERVER, 'networks': [{'uuid': 'known'}, {'port': 'a'}, {'uuid': UUID}]}]
        expected = [{**SERVER, 'networks': [{'uuid': 'its-id'}, {'port': 'a'}, {'uuid': UUID}]}]
        self.assertEqual(expected, names.resolve(connection(), wanted))

    def test_an_unknown_name(self) -> None:
        with self.assertRaisesRegex(exceptions.NotFoundException, "There is no server 'web'"):
            names.resolve(connection(), [{**SERVER, 'server_id': 'web'}])

    def test_without_keystone_nothing_can_be_looked_up(self) -> None:
        wanted = [{**FLAVOR, 'flavor_id': '1'}, {**SERVER, 'server_id': UUID}]
        for auth_type in ('none', 'admin_token'):
            alone = connection(auth_type)
            self.assertEqual(wanted, names.resolve(alone, wanted))
            with self.assertRaisesRegex(
                exceptions.NotFoundException, "'known' is no ID: without Keystone, the server"
            ):
                names.resolve(alone, [{**SERVER, 'server_id': 'known'}])
