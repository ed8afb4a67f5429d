# SPDX-License-Identifier: Apache-2.0

"""Which resource types the kinds of the walk book, by the words in the names of tests.

A type whose code was changed is walked through in full, whichever part of the
lane is run: ``python -m tools.lanes exhaustive --shard 1/8 --touched``.
"""

from __future__ import annotations

from collections.abc import Mapping

# Types that operators declare have one plugin, which no entry point names.
DECLARED = 'climate.plugins.custom.plugin'

OF_KINDS: Mapping[str, frozenset[str]] = {
    'physical_host': frozenset({'physical:host'}),
    'virtual_floatingip': frozenset({'virtual:floatingip'}),
    'network': frozenset({'network'}),
    'virtual_instance': frozenset({'virtual:instance'}),
    'flavor_instance': frozenset({'flavor:instance'}),
    'virtual_server': frozenset({'virtual:server'}),
    'server_booted': frozenset({'virtual:server'}),
    'custom_rack': frozenset({DECLARED}),
    'physical_storage': frozenset({'physical:storage'}),
    'virtual_volume': frozenset({'virtual:volume'}),
    'volume_that_exists': frozenset({'virtual:volume'}),
    'volume_that_is_saved': frozenset({'virtual:volume'}),
    'virtual_stack': frozenset({'virtual:stack'}),
    'made_stack': frozenset({'virtual:stack'}),
    'stack_with_addresses': frozenset({'virtual:stack', 'virtual:floatingip'}),
    'several': frozenset(
        {'physical:host', 'virtual:instance', 'virtual:floatingip', 'network', DECLARED}
    ),
}
