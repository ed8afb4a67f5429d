# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
