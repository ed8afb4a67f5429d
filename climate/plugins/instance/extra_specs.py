# SPDX-License-Identifier: Apache-2.0

"""The extra specs of flavors that Nova knows: what they take, and which hosts they need.

Every extra spec is of one kind:

* it takes units of a resource class, either by itself or as an operator declares;
* it requires a trait of hosts;
* it is harmless: it takes nothing that could be counted, and every host can satisfy it;
* it is none of these: a flavor with it cannot be reserved, since the room that is
  booked for its servers might not be enough for them, or on the wrong host.

An unknown extra spec is of the last kind, unless an operator declares it harmless.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import re
from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

from oslo_utils import strutils

from climate.cloud.base import Flavor
from climate.conf.settings import option
from climate.conf.settings import Settings

GROUP: Final = 'flavor:instance'
PCI_ALIAS: Final = 'pci_passthrough:alias'
DEVICE_PROFILE: Final = 'accel:device_profile'
PAGE_SIZE: Final = 'hw:mem_page_size'
MEM_ENCRYPTION: Final = 'hw:mem_encryption'
PMEM: Final = 'hw:pmem'

RESOURCE: Final = re.compile(r'resources[a-zA-Z0-9_-]{0,64}:([A-Z0-9_]+)')
TRAIT: Final = re.compile(r'trait[a-zA-Z0-9_-]{0,64}:([A-Z0-9_]+)')
_PAGES: Final = re.compile(r'(\d{1,9})\s*([kKMGT]?)i?(?:b|bit|B)?')
_KIB: Final = {'': 1, 'k': 1, 'K': 1, 'M': 1 << 10, 'G': 1 << 20, 'T': 1 << 30}
# Nova takes ordinary memory for these, which is counted as such.
_ORDINARY_PAGES: Final = frozenset({'', 'any', 'small'})

# Processors and memory are counted from the sizes of the flavor, and dedicated ones as
# climate.plugins.instance.demand does.
_HARMLESS: Final = re.compile(
    r'group_policy|hide_hypervisor_id|hw_rng:.*|hw_video:.*|quota:.*|vmware:hw_version|'
    r'hw:(?:boot_menu|cpu_(?:cores|dedicated_mask|policy|realtime|realtime_mask|sockets|'
    r'thread_policy|threads)|emulator_threads_policy|hide_hypervisor_id|locked_memory|'
    r'max_cpu_(?:cores|sockets|threads)|maxphysaddr_bits|mem_encryption_model|numa_cpus\.\d+|'
    r'numa_mem\.\d+|numa_nodes|pci_numa_affinity_policy|pmu|redirected_usb_ports|'
    r'serial_port_count|tpm_model|vif_multiqueue_enabled|watchdog_action)'
)
# The traits by which Nova finds hosts that support a feature, by the value.
_TRAITS: Final[Mapping[str, Mapping[str, str]]] = {
    'hw:ephemeral_encryption': {'true': 'COMPUTE_EPHEMERAL_ENCRYPTION'},
    'hw:ephemeral_encryption_format': {
        'luks': 'COMPUTE_EPHEMERAL_ENCRYPTION_LUKS',
        'plain': 'COMPUTE_EPHEMERAL_ENCRYPTION_PLAIN',
    },
    'hw:maxphysaddr_mode': {
        'emulate': 'COMPUTE_ADDRESS_SPACE_EMULATED',
        'passthrough': 'COMPUTE_ADDRESS_SPACE_PASSTHROUGH',
    },
    'hw:tpm_version': {'1.2': 'COMPUTE_SECURITY_TPM_1_2', '2.0': 'COMPUTE_SECURITY_TPM_2_0'},
    'hw:viommu_model': {
        model: f'COMPUTE_VIOMMU_MODEL_{model.upper()}'
        for model in ('auto', 'intel', 'smmuv3', 'virtio')
    },
    'hw:virtio_packed_ring': {'true': 'COMPUTE_NET_VIRTIO_PACKED'},
    'os:secure_boot': {'required': 'COMPUTE_SECURITY_UEFI_SECURE_BOOT'},
}
# Values with which these extra specs ask for nothing.
_OFF: Final[Mapping[str, str]] = {'os:secure_boot': 'disabled'}


Pairs = tuple[tuple[str, str], ...]


def _pairs(pairs: Mapping[str, str]) -> Pairs:
    """Return an option as a value that settings can have as their default."""
    return tuple(sorted(pairs.items()))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredSpecs(Settings):
    """What an operator declares about extra specs.

    :ivar pci_aliases: ``CLASS`` or ``CLASS=units``, by the alias of a device
    :ivar device_profiles: likewise, by the profile
    :ivar page_sizes: the class that counts the MiB, by the size of pages
    :ivar harmless: patterns of extra specs to ignore
    """

    pci_aliases: Pairs = option(GROUP, 'pci_aliases', _pairs)
    device_profiles: Pairs = option(GROUP, 'device_profiles', _pairs)
    page_sizes: Pairs = option(GROUP, 'page_sizes', _pairs)
    harmless: tuple[str, ...] = option(GROUP, 'harmless_extra_specs', tuple)


class SpecReader:
    """Reads the extra specs of one flavor.

    :ivar taken: units of resource classes in addition to the sizes of the flavor
    :ivar traits: the traits that hosts must have
    :ivar refused: the extra specs because of which the flavor cannot be reserved, each
        with the reason
    """

    def __init__(self, flavor: Flavor, declared: DeclaredSpecs) -> None:
        self._memory_mb = flavor.memory_mb
        self._declared = declared
        self.taken: Counter[str] = Counter()
        self.traits: set[str] = set()
        self.refused: dict[str, str] = {}
        for key, value in sorted(flavor.extra_specs.items()):
            why = self._read(key, value)
            if why and not self._is_harmless(key):
                self.refused[key] = why

    def _read(self, key: str, value: str) -> str:
        """Read an extra spec; return why it cannot be reserved, or ''."""
        special = {
            PCI_ALIAS: self._devices,
            DEVICE_PROFILE: self._profile,
            PAGE_SIZE: self._pages,
            PMEM: self._pmem,
            MEM_ENCRYPTION: self._encryption,
        }
        if key in special:
            return special[key](value)
        if key in _TRAITS:
            return self._feature(key, value)
        if RESOURCE.fullmatch(key):
            is_number = value.isascii() and value.isdigit()
            return '' if is_number else 'its value is not a number'
        if TRAIT.fullmatch(key):
            known = value in ('forbidden', 'required')
            return '' if known else 'its value is neither required nor forbidden'
        return '' if _HARMLESS.fullmatch(key) else 'it is unknown what it requires of hosts'

    def _is_harmless(self, key: str) -> bool:
        return any(fnmatch.fnmatchcase(key, pattern) for pattern in self._declared.harmless)

    def _feature(self, key: str, value: str) -> str:
        known = _TRAITS[key]
        if _OFF.get(key) == value:
            return ''
        if 'true' in known:
            value = 'true' if strutils.bool_from_string(value) else ''
        if value:
            trait = known.get(value)
            if trait is None:
                return 'its value is unknown'
            self.traits.add(trait)
        return ''

    def _devices(self, value: str) -> str:
        wanted: Counter[str] = Counter()
        for text in filter(None, map(str.strip, value.split(','))):
            alias, _, count = text.partition(':')
            if not (count or '1').isdecimal():
                return 'its value is not a list of aliases and numbers'
            wanted[alias.strip()] += int(count or '1')
        return self._declared_units(wanted, dict(self._declared.pci_aliases), 'pci_aliases')

    def _profile(self, value: str) -> str:
        return self._declared_units(
            Counter({value: 1}), dict(self._declared.device_profiles), 'device_profiles'
        )

    def _declared_units(self, wanted: Counter[str], known: Mapping[str, str], name: str) -> str:
        missing = ', '.join(sorted(wanted.keys() - known.keys()))
        if missing:
            return f'nothing counts {missing}; operators declare it in [{GROUP}] {name}'
        for each, count in wanted.items():
            resource_class, _, units = known[each].partition('=')
            self.taken[resource_class] += count * int(units or '1')
        return ''

    def _pages(self, value: str) -> str:
        if value in _ORDINARY_PAGES:
            return ''
        size = _kib(value)
        for declared, resource_class in self._declared.page_sizes:
            if declared == value or (size is not None and _kib(declared) == size):
                self.taken[resource_class] += self._memory_mb
                return ''
        return f'nothing counts pages of this size; operators declare it in [{GROUP}] page_sizes'

    def _pmem(self, value: str) -> str:
        for label in filter(None, map(str.strip, value.split(','))):
            self.taken[f'CUSTOM_PMEM_NAMESPACE_{re.sub("[^A-Z0-9]", "_", label.upper())}'] += 1
        return ''

    def _encryption(self, value: str) -> str:
        if strutils.bool_from_string(value):
            self.taken['MEM_ENCRYPTION_CONTEXT'] += 1
        return ''


def refused(flavor: Flavor, declared: DeclaredSpecs) -> Iterator[str]:
    """Yield the extra specs because of which a flavor cannot be reserved, with the reasons."""
    for key, why in SpecReader(flavor, declared).refused.items():
        yield f'{key}={flavor.extra_specs[key]} ({why})'


def _kib(text: str) -> int | None:
    """Return a size of pages in KiB; None for a word such as ``large``."""
    match = _PAGES.fullmatch(text.strip())
    return int(match[1]) * _KIB[match[2]] if match else None
