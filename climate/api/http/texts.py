# SPDX-License-Identifier: Apache-2.0

"""The fields of bodies whose texts may have more than one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.api.http.bodies import Texts
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
