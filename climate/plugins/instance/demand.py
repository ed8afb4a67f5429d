# SPDX-License-Identifier: Apache-2.0

"""The resources and traits that a server of a flavor needs, as Nova requests them of Placement.

Nova starts with the sizes of the flavor and counts dedicated processors
separately. ``resources:CLASS`` among the extra specs overrides that, also in a
numbered group such as ``resources1:VGPU``. ``trait:NAME`` requires or forbids a
trait of hosts. What other extra specs take, such as devices and huge pages, is in
:mod:`climate.plugins.instance.extra_specs`. The additional demands of images are not
known here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping

from climate.cloud.base import Flavor
from climate.plugins.instance import extra_specs
from climate.plugins.instance.extra_specs import DeclaredSpecs

_MB_PER_GB = 1024
_HYPERTHREADING = 'HW_CPU_HYPERTHREADING'
_OF_THREADS = {'require': 'required', 'isolate': 'forbidden'}


_NOTHING_DECLARED = DeclaredSpecs()


def demand(flavor: Flavor, declared: DeclaredSpecs = _NOTHING_DECLARED) -> dict[str, int]:
    """Return the units of each resource class that a server takes.

    :param declared: what devices and pages take
    """
    swap_gb = -(-flavor.swap_mb // _MB_PER_GB)
    amounts = Counter(
        {
            **_processors(flavor),
            'MEMORY_MB': flavor.memory_mb,
            'DISK_GB': flavor.disk_gb + flavor.ephemeral_gb + swap_gb,
            **_overrides(flavor.extra_specs),
        }
    )
    amounts.update(extra_specs.SpecReader(flavor, declared).taken)
    return {name: amount for name, amount in amounts.items() if amount}


def _overrides(specs: Mapping[str, str]) -> Mapping[str, int]:
    amounts: Counter[str] = Counter()
    for key, value in specs.items():
        matched = extra_specs.RESOURCE.fullmatch(key)
        if matched and value.isascii() and value.isdigit():
            amounts[matched[1]] += int(value)
    return amounts


def _processors(flavor: Flavor) -> dict[str, int]:
    specs = flavor.extra_specs
    policy = specs.get('hw:cpu_policy')
    amounts = {'VCPU': flavor.vcpus, 'PCPU': 0}
    if policy == 'dedicated':
        amounts = {'VCPU': 0, 'PCPU': flavor.vcpus}
    elif policy == 'mixed':
        dedicated = len(_mask(specs.get('hw:cpu_dedicated_mask', ''), flavor.vcpus))
        amounts = {'VCPU': flavor.vcpus - dedicated, 'PCPU': dedicated}
    if specs.get('hw:emulator_threads_policy') == 'isolate' and amounts['PCPU']:
        amounts['VCPU' if policy == 'mixed' else 'PCPU'] += 1
    return amounts


def _mask(text: str, vcpus: int) -> set[int]:
    """Return the processors in a mask such as ``0-5,^3`` or ``^0``."""
    parts = [part.strip() for part in text.split(',') if part.strip()]
    left_out = {number for part in parts if part[0] == '^' for number in _range(part[1:])}
    taken = {number for part in parts if part[0] != '^' for number in _range(part)}
    return ((taken or set(range(vcpus))) - left_out) & set(range(vcpus)) if parts else set()


def _range(text: str) -> Iterator[int]:
    first, _, last = text.partition('-')
    if first.isdigit() and (last or first).isdigit():
        yield from range(int(first), int(last or first) + 1)


def traits(flavor: Flavor, wanted: str) -> frozenset[str]:
    """Return the traits that hosts must have, or must not have.

    :param wanted: ``required`` or ``forbidden``
    """
    needed = {
        matched[1]
        for key, value in flavor.extra_specs.items()
        if value == wanted and (matched := extra_specs.TRAIT.fullmatch(key))
    }
    policy = flavor.extra_specs.get('hw:cpu_thread_policy', '')
    if _processors(flavor)['PCPU'] and _OF_THREADS.get(policy) == wanted:
        needed.add(_HYPERTHREADING)
    if wanted == 'required':
        needed |= extra_specs.SpecReader(flavor, _NOTHING_DECLARED).traits
    return frozenset(needed)
