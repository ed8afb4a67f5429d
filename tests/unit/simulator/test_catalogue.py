# SPDX-License-Identifier: Apache-2.0

"""What the simulated cloud has to be tried out, and servers that nobody asked Nova for."""

from __future__ import annotations

import contextlib
import io
import json

from climate.cloud import base
from climate.cloud.protocols.stacks import StackDraft
from climate.cmd import standalone
from climate.simulator import catalogue
from climate.simulator import cli
from climate.simulator import templates
from tests.base import FolderCase
from tests.narrowing import present
from tests.unit.simulator.memory import MemoryCase


class CatalogueTest(MemoryCase):
    """A cloud that is to be furnished."""

    hypervisors = 0

    def names(self, kind: str) -> list[str]:
        """Return what there is of a kind."""
        return [each.name for each in self.cloud.overview()[kind]]


class TestCatalogue(CatalogueTest):
    """It is there, once."""

    def test_there_is_something_of_everything(self) -> None:
        found = [each.hostname for each in self.cloud.furnish(2)]
        self.assertEqual(['common-1', 'compute-1', 'compute-2'], found)
        flavors = {each.id: each.name for each in self.cloud.overview()['flavors']}
        sizes = ('tiny', 'small', 'medium', 'large', 'xlarge')
        self.assertEqual({str(n): f'm1.{size}' for n, size in enumerate(sizes, 1)}, flavors)
        self.assertEqual(['ubuntu', 'cirros'], self.names('images'))
        self.assertEqual(['private', 'public'], sorted(self.names('networks')))
        self.assertEqual(['storage-1@nvme#nvme', 'storage@lvm#lvm'], self.names('pools'))
        self.assertEqual(['ssd', 'standard'], self.names('volume_types'))
        self.assertEqual(['archive'], self.names('volumes'))
        self.assertEqual(['lab'], self.names('stacks'))
        (web,) = self.cloud.servers()
        self.assert_has(
            web, name='web', status='ACTIVE', project_id='demo', flavor_id='2', host='common-1'
        )

    def test_a_host_that_was_renamed_is_not_added_again(self) -> None:
        self.cloud.furnish(2)
        self.cloud.rename_hypervisor('compute-2', 'compute-2.example.org')
        found = [each.hostname for each in self.cloud.furnish(2)]
        self.assertEqual(['common-1', 'compute-1', 'compute-2.example.org'], found)

    def test_deleted_rows_stay_deleted(self) -> None:
        self.cloud.furnish(1)
        before = self.cloud.contents()
        self.cloud.furnish(1)
        self.assertEqual(before, self.cloud.contents())
        self.cloud.compute.delete_server(catalogue.SERVER[1])
        self.cloud.furnish(1)
        self.assertEqual((), self.cloud.servers())

    def test_what_an_earlier_state_has_stays_as_it_is(self) -> None:
        self.cloud.seed(1)
        mine = self.cloud.networks.add_network('private', 'demo')
        own = base.Flavor(id='big', name='m1.large', vcpus=32, memory_mb=1, disk_gb=1)
        self.cloud.compute.create_flavor(own)
        self.cloud.furnish(1)
        self.assertEqual([mine], [n for n in self.cloud.networks.networks() if n.name == 'private'])
        found = [each for each in self.cloud.overview()['flavors'] if each.name == 'm1.large']
        self.assertEqual([own], found)

    def test_a_server_of_an_earlier_state_gets_the_id_of_its_flavor(self) -> None:
        self.cloud.seed(1)
        server = self.cloud.boot_server('compute-1', 'demo', 'old')
        self.cloud.set_server(server.id, flavor='m1.small')
        self.cloud.furnish(1)
        self.assertEqual('2', present(self.cloud.compute.find_server(server.id)).flavor_id)

    def test_the_template_is_one(self) -> None:
        planned = templates.plan(StackDraft(name='lab', template=catalogue.TEMPLATE))
        self.assertEqual(2, sum(each.type == 'OS::Nova::Server' for each in planned))


class TestBoots(CatalogueTest):
    """Servers that run without anybody having asked Nova for them."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud.furnish(1)
        pool = present(self.cloud.compute.find_aggregate('freepool'))
        self.cloud.compute.add_host(pool.id, 'compute-1')

    def test_a_flavor_goes_by_name_or_id(self) -> None:
        named = self.cloud.boot_server(None, 'p', 'a', 'm1.large')
        numbered = self.cloud.boot_server(None, 'p', 'b', '4')
        self.assertEqual(('4', '4'), (named.flavor_id, numbered.flavor_id))
        self.assertRaises(LookupError, self.cloud.boot_server, None, 'p', 'c', 'huge')

    def test_it_holds_what_it_needs(self) -> None:
        server = self.cloud.boot_server('compute-1', 'p', 'a', 'm1.large')
        provider = present(self.cloud.placement.find_provider('compute-1'))
        (held,) = self.cloud.placement.allocations(provider.uuid)
        self.assert_has(
            held, consumer_id=server.id, amounts={'VCPU': 4, 'MEMORY_MB': 8192, 'DISK_GB': 80}
        )

    def test_hosts_outside_of_the_pool_come_first(self) -> None:
        sizes = ['m1.xlarge', 'm1.xlarge', 'm1.tiny']
        booted = [self.cloud.boot_server(None, 'p', 'a', size).host for size in sizes]
        self.assertEqual(['common-1', 'compute-1', 'common-1'], booted)
        draft = base.ServerDraft(name='vm', flavor_id='1')
        made = present(self.cloud.compute.find_server(self.cloud.compute.create_server(draft)))
        self.assertEqual('common-1', made.host)
        self.cloud.set_hypervisor('common-1', state='down')
        self.cloud.set_hypervisor('compute-1', state='down')
        self.assertRaises(LookupError, self.cloud.boot_server, None, 'p', 'a')

    def test_it_is_shelved_and_comes_back(self) -> None:
        compute, server = self.cloud.compute, self.cloud.boot_server('compute-1', 'p', 'a')
        compute.shelve_server(server.id)
        compute.unshelve_server(server.id)
        found = present(compute.find_server(server.id))
        self.assertEqual(('ACTIVE', 'common-1'), (found.status, found.host))


class TestCommandLine(FolderCase):
    """``climate-standalone simulator``."""

    def run_cli(self, *arguments: str) -> str:
        """Run the command and return what it said."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(0, cli.main(arguments, state_dir=self.folder, prog='x simulator'))
        return said.getvalue()

    def test_everything_is_shown(self) -> None:
        self.assertEqual('2 hypervisors\n', self.run_cli('furnish', '--hosts', '1'))
        booted = self.run_cli('boot', '--flavor', 'm1.tiny').strip()
        shown = json.loads(self.run_cli('show', '--json'))
        self.assertEqual({'1', '2'}, {each['flavor_id'] for each in shown['servers']})
        self.assertIn(booted, {each['id'] for each in shown['servers']})
        empty = {kind for kind, found in shown.items() if found == []}
        self.assertEqual({'floating_ips', 'snapshots', 'backups', 'faults'}, empty)
        text = self.run_cli('show')
        for kind in shown.keys() - {'reachable'}:
            self.assertIn(f'\n{kind}: ', f'\n{text}')

    def test_the_template_is_printed(self) -> None:
        self.run_cli('furnish', '--hosts', '1')
        self.assertEqual(catalogue.TEMPLATE, self.run_cli('template'))

    def test_the_examples_name_the_right_directory(self) -> None:
        self.assertIn(
            '  python -m climate.simulator --state-dir .state/cloud show\n',
            cli.parser().format_help(),
        )
        self.assertIn('\n  x simulator show\n', cli.parser('x simulator').format_help())

    def test_the_command_is_found_behind_options(self) -> None:
        for words, before, after in (
            ([], [], None),
            (['--port', '0'], ['--port', '0'], None),
            (['simulator', 'show', '--json'], [], ['show', '--json']),
            (['--state-dir', 'x', 'simulator', '-h'], ['--state-dir', 'x'], ['-h']),
            (['--state-dir', 'simulator', 'simulator'], ['--state-dir', 'simulator'], []),
            (['--i-know', 'simulator', 'heal'], ['--i-know'], ['heal']),
            (['--state-dir=x', 'simulator', 'heal'], ['--state-dir=x'], ['heal']),
        ):
            self.assertEqual((before, after), standalone._split(words))
