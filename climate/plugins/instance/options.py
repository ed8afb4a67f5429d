# SPDX-License-Identifier: Apache-2.0

"""Options of the resource type ``flavor:instance``."""

from __future__ import annotations

from oslo_config import cfg
from oslo_config import types

GROUP = 'flavor:instance'

_NAME = '[A-Z][A-Z0-9_]{0,254}'
_CLASS = types.String(regex=f'^{_NAME}$')
_AMOUNT = types.String(regex=f'^{_NAME}(=[1-9][0-9]{{0,5}})?$')

OPTS: list[cfg.Opt] = [
    cfg.Opt(
        'pci_aliases',
        type=types.Dict(value_type=_AMOUNT),
        default={},
        help='What a device of each PCI alias of Nova takes, as alias:CLASS or alias:CLASS=units. '
        'Flavors with pci_passthrough:alias can be reserved only if all their aliases are '
        'here. The class is the one that hosts have in Placement, such as that of PCI devices in '
        'Placement, or one of a provider configuration file. An example: '
        'a100:CUSTOM_PCI_10DE_20B2,nic:CUSTOM_NIC=2.',
    ),
    cfg.Opt(
        'device_profiles',
        type=types.Dict(value_type=_AMOUNT),
        default={},
        help='What a server with each device profile of Cyborg takes, as profile:CLASS or '
        'profile:CLASS=units. Flavors with accel:device_profile can be reserved only if their '
        'profile is here.',
    ),
    cfg.Opt(
        'page_sizes',
        type=types.Dict(value_type=_CLASS),
        default={},
        help='The resource class that counts the MiB of memory in pages of each size, as '
        'size:CLASS. Flavors with hw:mem_page_size can be reserved only if their size is here, '
        'or is small or any. The class must be in the inventory of the hosts in Placement, as a '
        'provider configuration file of nova-compute adds it.',
    ),
    cfg.ListOpt(
        'harmless_extra_specs',
        default=[],
        help='Patterns of extra specs that Climate does not know and may ignore, because they '
        'take no part of a host, and all reservable hosts satisfy them. * stands for any text. A '
        'flavor with any other unknown extra spec cannot be reserved.',
    ),
]
