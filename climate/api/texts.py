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

"""The fields of bodies whose texts may have more than one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.api.bodies import Texts
from climate.domain.names import Characters
from climate.plugins import texts
from climate.plugins.contract import Plugin
from climate.resources import catalog

SIGN_IN: Final[Texts] = {
    'password': Characters.ANY,
    'application_credential_secret': Characters.ANY,
    'token': Characters.ANY,
}
"""Only Keystone reads them."""


def of_leases(plugins: Mapping[str, Plugin[Any]]) -> Texts:
    """Return those of leases and requests for offers."""
    return {'reservations': texts.in_reservations(catalog.fixed(plugins).values())}
