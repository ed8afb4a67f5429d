# SPDX-License-Identifier: Apache-2.0

"""The power of machines, over the API of Ironic.

The client uses the connection of openstacksdk, but plain requests: the library's own
methods first look up the supported microversions, and wait for the result.
"""

from __future__ import annotations

import urllib.parse
from typing import Any
from typing import Final
from typing import Literal

from oslo_config import cfg

from climate import exceptions
from climate.cloud import sessions
from climate.cloud.sdk import SdkService

MICROVERSION: Final = '1.46'
"""The oldest microversion in use that supports ``soft power off``."""

Target = Literal['power on', 'power off', 'soft power off']


class IronicClient:
    """Switches nodes on and off.

    :param service: of the type ``baremetal``
    """

    def __init__(self, service: SdkService) -> None:
        self._service = service

    def is_on(self, node: str) -> bool:
        """Return whether a node is on.

        :param node: its UUID or name
        :raises climate.cloud.base.CloudNotFound: if it does not exist
        :raises climate.exceptions.Transient: if Ironic does not know
        """
        with self._service.calling('node_power') as proxy:
            answer = proxy.get(f'/nodes/{_quoted(node)}/states', microversion=MICROVERSION)
            _checked(answer)
            state = answer.json()['power_state']
        if state not in ('power on', 'power off'):
            raise exceptions.Transient(f'node {node} has the power state {state!r} in Ironic')
        return bool(state == 'power on')

    def set_power(self, node: str, target: Target) -> None:
        """Start to switch a node on or off.

        :raises climate.cloud.base.CloudNotFound: if it does not exist
        :raises climate.cloud.base.CloudConflict: if it is locked by another operation
        """
        with self._service.calling('set_node_power') as proxy:
            answer = proxy.put(
                f'/nodes/{_quoted(node)}/states/power',
                json={'target': target},
                microversion=MICROVERSION,
            )
            _checked(answer)


def connect(conf: cfg.ConfigOpts) -> IronicClient:
    """Return a client for the Ironic that ``[ironic]`` describes.

    :raises climate.exceptions.ConfigurationError: if the options are invalid
    """
    session = sessions.service_session(conf, 'ironic')
    return IronicClient(
        SdkService(
            conf,
            'baremetal',
            session=session.session,
            microversion=MICROVERSION,
            refusal=session.refusal,
        )
    )


def _checked(answer: Any) -> None:
    """Raise the library's exception if a response is an error."""
    from openstack import exceptions as sdk_exceptions  # noqa: PLC0415  as in sdk.py

    sdk_exceptions.raise_from_response(answer)


def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe='')
