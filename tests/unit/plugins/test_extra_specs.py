# SPDX-License-Identifier: Apache-2.0

"""The extra specs of flavors: counted, a requirement on hosts, harmless, or refused."""

from __future__ import annotations

import dataclasses

from climate import exceptions
from climate.clock import ManualClock
from climate.cloud.base import Flavor
from climate.domain.resources import Inventory
from climate.plugins.instance import demand
from climate.plugins.instance import extra_specs
from climate.plugins.instance.by_flavor import FlavorInstance
from climate.plugins.instance.by_flavor import FlavorRequest
from climate.plugins.instance.extra_specs import DeclaredSpecs
from climate.simulator import SimulatedCloud
from tests import base
from tests.unit.plugins.effect_runners import draft
from tests.unit.plugins.effect_runners import HostEffectRunner
from tests.unit.plugins.effect_runners import NOW
from tests.unit.plugins.instance_effect_runner import SOURCE

DECLARED = DeclaredSpecs(
    pci_aliases=(('a100', 'CUSTOM_PCI_10DE_20B2'), ('nic', 'CUSTOM_NIC=2')),
    device_profiles=(('fpga', 'CUSTOM_ACCELERATOR_FPGA'),),
    page_sizes=(('1GB', 'CUSTOM_HUGEPAGES_1GB'), ('large', 'CUSTOM_HUGEPAGES_1GB')),
    harmless=('custom:*', 'capabilities:hypervisor_type'),
)
FLAVOR = Flavor(id='f', name='f', vcpus=4, memory_mb=2048, disk_gb=10)
PLAIN = {'VCPU': 4, 'MEMORY_MB': 2048, 'DISK_GB': 10}


def flavor(**specs: str) -> Flavor:
    """Return a flavor with extra specs; ``__`` in their names stands for a colon."""
    found = {key.replace('__', ':'): value for key, value in specs.items()}
    return dataclasses.replace(FLAVOR, extra_specs=found)


class TestExtraSpecs(base.TestCase):
    def refused(self, wanted: Flavor, declared: DeclaredSpecs = DECLARED) -> list[str]:
        return list(extra_specs.refused(wanted, declared))

    def test_counted(self) -> None:
        for specs, taken in (
            ({'pci_passthrough__alias': 'a100:8'}, {'CUSTOM_PCI_10DE_20B2': 8}),
            (
                {'pci_passthrough__alias': 'a100, nic:3,a100:1'},
                {'CUSTOM_PCI_10DE_20B2': 2, 'CUSTOM_NIC': 6},
            ),
            ({'accel__device_profile': 'fpga'}, {'CUSTOM_ACCELERATOR_FPGA': 1}),
            ({'hw__mem_page_size': '1GB'}, {'CUSTOM_HUGEPAGES_1GB': 2048}),
            ({'hw__mem_page_size': '1048576'}, {'CUSTOM_HUGEPAGES_1GB': 2048}),
            ({'hw__mem_page_size': 'large'}, {'CUSTOM_HUGEPAGES_1GB': 2048}),
            (
                {'hw__pmem': '6GB,16GB, 6GB'},
                {'CUSTOM_PMEM_NAMESPACE_6GB': 2, 'CUSTOM_PMEM_NAMESPACE_16GB': 1},
            ),
            ({'hw__mem_encryption': 'True'}, {'MEM_ENCRYPTION_CONTEXT': 1}),
            ({'hw__mem_encryption': 'False'}, {}),
            (
                {'resources1__VGPU': '1', 'pci_passthrough__alias': 'nic'},
                {'VGPU': 1, 'CUSTOM_NIC': 2},
            ),
        ):
            wanted = flavor(**specs)
            self.assertEqual({**PLAIN, **taken}, demand.demand(wanted, DECLARED), specs)
            self.assertEqual([], self.refused(wanted), specs)

    def test_hosts_need_a_trait(self) -> None:
        for specs, traits in (
            ({'hw__tpm_version': '2.0', 'hw__tpm_model': 'tpm-crb'}, {'COMPUTE_SECURITY_TPM_2_0'}),
            ({'os__secure_boot': 'required'}, {'COMPUTE_SECURITY_UEFI_SECURE_BOOT'}),
            ({'os__secure_boot': 'disabled'}, set()),
            ({'hw__virtio_packed_ring': 'yes'}, {'COMPUTE_NET_VIRTIO_PACKED'}),
            ({'hw__virtio_packed_ring': 'no'}, set()),
            ({'hw__viommu_model': 'intel'}, {'COMPUTE_VIOMMU_MODEL_INTEL'}),
            ({'hw__maxphysaddr_mode': 'passthrough'}, {'COMPUTE_ADDRESS_SPACE_PASSTHROUGH'}),
        ):
            wanted = flavor(**specs)
            self.assertEqual(traits, demand.traits(wanted, 'required'), specs)
            self.assertEqual(frozenset(), demand.traits(wanted, 'forbidden'), specs)
            self.assertEqual([], self.refused(wanted), specs)

    def test_harmless(self) -> None:
        for key in (
            'group_policy',
            'hide_hypervisor_id',
            'hw:boot_menu',
            'hw:cpu_policy',
            'hw:cpu_realtime_mask',
            'hw:cpu_sockets',
            'hw:max_cpu_threads',
            'hw:numa_cpus.0',
            'hw:numa_mem.1',
            'hw:numa_nodes',
            'hw:pci_numa_affinity_policy',
            'hw:vif_multiqueue_enabled',
            'hw:watchdog_action',
            'hw_rng:allowed',
            'hw_video:ram_max_mb',
            'quota:cpu_shares',
            'quota:disk_read_iops_sec',
            'quota:vif_inbound_peak',
        ):
            wanted = flavor(**{key: '1'})
            self.assertEqual(([], PLAIN), (self.refused(wanted), demand.demand(wanted)), key)
        for value in ('small', 'any'):
            self.assertEqual([], self.refused(flavor(hw__mem_page_size=value), DeclaredSpecs()))

    def test_refused_by_name(self) -> None:
        for key, value, why in (
            ('pci_passthrough:alias', 'h100:1', r'h100; .* pci_aliases'),
            ('pci_passthrough:alias', 'a100:x', 'not a list'),
            ('accel:device_profile', 'gpu', r'gpu; .* device_profiles'),
            ('hw:mem_page_size', '2MB', 'page_sizes'),
            ('hw:tpm_version', '3', 'value is unknown'),
            ('os:secure_boot', 'maybe', 'value is unknown'),
            ('resources:VGPU', 'x', 'not a number'),
            ('trait:CUSTOM_X', 'maybe', 'neither required nor forbidden'),
            ('aggregate_instance_extra_specs:ssd', 'true', 'unknown'),
            ('capabilities:cpu_info:vendor', 'Intel', 'unknown'),
            ('hw:new_in_nova', '1', 'unknown'),
            ('ssd', 'true', 'unknown'),
            ('vmware:storage_policy', 'gold', 'unknown'),
        ):
            (found,) = self.refused(flavor(**{key: value}))
            self.assertTrue(found.startswith(f'{key}={value} ('), found)
            self.assertRegex(found, why)

    def test_what_an_operator_declares_harmless(self) -> None:
        for key in ('custom:x', 'capabilities:hypervisor_type'):
            self.assertEqual([], self.refused(flavor(**{key: '1'})))
            self.assertEqual(1, len(self.refused(flavor(**{key: '1'}), DeclaredSpecs())))


class TestRequests(base.TestCase):
    def inspect(self, plugin: FlavorInstance, **specs: str) -> FlavorRequest:
        cloud = SimulatedCloud(':memory:', clock=ManualClock(NOW))
        found = {key.replace('__', ':'): value for key, value in specs.items()}
        cloud.compute.create_flavor(dataclasses.replace(SOURCE, extra_specs=found))
        request = FlavorRequest(flavor_id='gold', amount=50)
        return plugin.inspect(request, lambda: cloud.of_caller('user:blue'), 'blue')

    def test_devices_that_nothing_counts_are_not_promised(self) -> None:
        with self.assertRaisesRegex(
            exceptions.InvalidInput, r"'gold' .*pci_passthrough:alias=a100:8 \(nothing counts a100"
        ):
            self.inspect(FlavorInstance(), pci_passthrough__alias='a100:8')

    def test_declared_devices_are_searched_for(self) -> None:
        plugin = FlavorInstance(declared=DECLARED)
        request = self.inspect(plugin, pci_passthrough__alias='a100:8')
        self.assertEqual(8, plugin.search(request).demand['CUSTOM_PCI_10DE_20B2'])

    def test_the_devices_of_hosts_are_those_of_nested_providers(self) -> None:
        runner = HostEffectRunner()
        placement = runner.cloud.placement
        root = runner.provider('compute-1')
        runner.plugin.release(runner.resources[0], runner.cloud)
        placement.create_resource_class('CUSTOM_PCI_10DE_20B2')
        for number in range(8):
            device = placement.create_provider(f'compute-1_0000:{number}', root.uuid)
            for name in ('CUSTOM_PCI_10DE_20B2', 'VGPU'):
                one = Inventory(resource_class=name, total=1, max_unit=1)
                placement.set_inventory(device.uuid, one)
        slots = placement.create_provider('blazar_compute-1', root.uuid)
        placement.create_resource_class('CUSTOM_RESERVATION_X')
        placement.set_inventory(
            slots.uuid, Inventory(resource_class='CUSTOM_RESERVATION_X', total=3)
        )
        found = runner.plugin.discover(draft('compute-1'), runner.cloud)
        by_class = {item.resource_class: item for item in found.inventories}
        actual = by_class.keys()
        self.assertEqual({'CUSTOM_PCI_10DE_20B2', 'DISK_GB', 'MEMORY_MB', 'VCPU', 'VGPU'}, actual)
        devices, gpus = by_class['CUSTOM_PCI_10DE_20B2'], by_class['VGPU']
        self.assertEqual((8, 8), (devices.capacity, devices.max_unit))
        # Nova takes all virtual GPUs of a server from one device.
        self.assertEqual((8, 1), (gpus.capacity, gpus.max_unit))
