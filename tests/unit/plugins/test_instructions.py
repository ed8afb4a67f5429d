# SPDX-License-Identifier: Apache-2.0

"""How people use what they have reserved."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from typing import Any

from climate.api.views import holdings
from climate.domain.holdings import HeldResource
from climate.domain.holdings import Holding
from climate.domain.leases import Reservation
from climate.domain.lifecycles import ReservationStatus
from climate.domain.resource_types import Declaration
from climate.domain.resources import Resource
from climate.leases import reading
from climate.plugins import contract
from climate.plugins import instructions
from climate.plugins.custom.plugin import Custom
from climate.plugins.host.isolation import Isolation
from climate.plugins.host.plugin import PhysicalHost
from climate.plugins.host.pools import HostSettings
from climate.plugins.host.resources import HostRefusals
from climate.plugins.instructions import Instruction
from climate.plugins.network.plugin import NetworkPlugin
from climate.plugins.volume.plugin import VirtualVolume
from tests import base
from tests.architecture import ROOT

PAGE = ROOT / 'doc' / 'source' / 'contributor' / 'plugins.rst'
HELD = Holding((HeldResource(1, 'compute-1'),), 1)


def reservation(**fields: Any) -> Reservation:
    """Return a reservation, active unless *fields* say otherwise."""
    usual: dict[str, Any] = {
        'id': 'r',
        'lease_id': 'l',
        'resource_type': 'physical:host',
        'request': {},
        'status': ReservationStatus.ACTIVE,
    }
    return Reservation(**{**usual, **fields})


class InstructionsTest(base.TestCase):
    """Commands and values to copy."""

    def test_words_are_quoted_for_the_shell(self) -> None:
        self.assertEqual(
            "openstack server create --network 'a b; rm -rf ~' --image IMAGE --flavor FLAVOR NAME",
            instructions.create_server('--network', 'a b; rm -rf ~'),
        )

    def test_the_command_in_a_refusal_is_quoted(self) -> None:
        here = Resource(resource_type='physical:host', name='node 1;x')
        there = Resource(resource_type='physical:host', name='a$b')
        error = HostRefusals().renamed(here, there)
        self.assertTrue(error.message.endswith("set --rename 'node 1;x' 'a$b'"), error.message)

    def test_what_is_wrong(self) -> None:
        fine = {'name': 'a', 'title': 'A', 'command': 'ls'}
        self.assertEqual('', instructions.fault(Instruction(**fine)))
        self.assertEqual('', instructions.fault(Instruction(name='a', title='A', value="it's")))
        for changed, text in (
            ({'name': 'Create server'}, 'is no word of lower-case letters'),
            ({'title': ' '}, 'it has no title'),
            ({'command': ''}, 'it has neither a command nor a value'),
            ({'command': "ls 'a"}, 'is not quoted for a shell'),
            ({'command': 'ls\nrm'}, 'characters that cannot be printed'),
            ({'title': 'A\u202e'}, 'characters that cannot be printed'),
            ({'value': 'x\u2028rm'}, 'characters that cannot be printed'),
        ):
            self.assertIn(text, instructions.fault(Instruction(**{**fine, **changed})))

    def test_what_must_not_be_copied_is_not_shown(self) -> None:
        """Such as a value from before the API refused line ends."""
        one = {'id': '1', 'name': 'cae', 'resources': {}}
        announced = {'server': '27000@licences.example', 'old': 'x\nrm -rf ~'}
        facts = {'allocated': [{**one, 'properties': announced}]}
        declared = Custom(Declaration(name='custom:licence', noun='licences'))
        found = reading.instructions(declared, reservation(facts=facts), HELD)
        self.assertEqual(['27000@licences.example'], [each.value for each in found])

    def test_hosts_where_nova_reads_no_hint(self) -> None:
        settings = HostSettings(isolation=Isolation.PLACEMENT, zone_prefix='blazar_')
        (found,) = PhysicalHost(settings).instructions(reservation(), ())
        self.assertIn('--availability-zone blazar_r --image IMAGE', found.command)

    def test_a_declared_type_says_what_it_announces(self) -> None:
        one = {'id': '1', 'name': 'cae', 'resources': {}}
        facts = {'allocated': [{**one, 'properties': {'server': '27000@licences.example'}}]}
        declared = Custom(Declaration(name='custom:licence', noun='licences'))
        (found,) = declared.instructions(reservation(facts=facts), ())
        self.assertEqual(
            Instruction(name='announced', title='server of cae', value='27000@licences.example'),
            found,
        )
        self.assertEqual(('licence', 'licences'), declared.nouns)

    def test_volumes_without_guarantee_are_held_by_no_allocation(self) -> None:
        volumes = reservation(
            resource_type='virtual:volume', facts={'volumes': {'0': 'v-1'}}, request={}
        )
        held = dataclasses.replace(volumes, holding=Holding())
        shown = holdings.instructions(held, VirtualVolume(), named=True)
        self.assertEqual(['attach_volume'], [one['name'] for one in shown])

    def test_a_network_that_does_not_exist_yet(self) -> None:
        self.assertEqual((), tuple(NetworkPlugin().instructions(reservation(), ())))

    def test_none_for_what_is_over_or_a_part(self) -> None:
        plugin = PhysicalHost()
        self.assertEqual(1, len(reading.instructions(plugin, reservation(), Holding())))
        pending = reservation(status=ReservationStatus.PENDING)
        self.assertEqual(1, len(reading.instructions(plugin, pending, HELD)))
        self.assertEqual((), reading.instructions(plugin, pending, Holding()))
        for changed in (
            {'status': ReservationStatus.DELETED},
            {'status': ReservationStatus.ERROR},
            {'part_of': 'other'},
        ):
            self.assertEqual((), reading.instructions(plugin, reservation(**changed), HELD))

    def test_none_of_a_plugin_that_fails(self) -> None:
        class Failing(PhysicalHost):
            def instructions(self, *_: Any) -> Any:
                raise KeyError('x')

        self.assertEqual((), reading.instructions(Failing(), reservation(), HELD))

    def test_the_example_of_the_page(self) -> None:
        block = re.search(
            r'code-block:: python\n\n((?:   .*\n|\n)*?   def instructions(?:.*\n)(?:   .*\n|\n)+)',
            PAGE.read_text(encoding='utf-8'),
        )
        assert block is not None
        names: dict[str, Any] = {'contract': contract, 'instructions': instructions}
        # In a class, the function would not hide the module of its name.
        own: dict[str, Any] = {}
        exec(textwrap.dedent(block[1]), names, own)
        (found,) = own['instructions'](None, reservation(), [HeldResource(1, 'gpu 1')])
        self.assertEqual('', instructions.fault(found))
        self.assertIn("--flavor 'gpu 1' --image", found.command)
