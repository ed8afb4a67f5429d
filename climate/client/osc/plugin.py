# SPDX-License-Identifier: Apache-2.0

"""The plugin of python-openstackclient.

python-blazarclient has the commands ``openstack reservation`` and the API name
``reservation``, under which it keeps its own client. These commands have another name, so
that both can be installed.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import re
from typing import Any

from osc_lib import exceptions

from climate.client.sdk import proxy
from climate.client.sdk import service

API_NAME = 'lease'
API_VERSION_OPTION = 'os_reservation_api_version'
DEFAULT_API_VERSION = '1'


def check_api_version(version: str) -> bool:
    """Check the version that the user chose: 1, or a microversion such as 1.4.

    :raises osc_lib.exceptions.CommandError: if it is no version of this API
    """
    if not re.fullmatch(r'1(\.\d{1,4})?', version):
        raise exceptions.CommandError(
            f'There is no version {version} of the reservation API; use 1, or a microversion '
            'such as 1.4'
        )
    return True


def make_client(instance: Any) -> proxy.ReservationProxy:
    """Return the proxy; called when a command uses ``client_manager.lease``.

    :param instance: the client manager of openstackclient
    """
    conn = instance.sdk_connection
    # openstacksdk would look for this version in the catalogue, which has major versions.
    conn.config.config[f'{service.SERVICE_TYPE}_api_version'] = proxy.ReservationProxy.api_version
    service.register(conn)
    made: proxy.ReservationProxy = conn.reservation
    version = instance._api_version[API_NAME]
    if '.' in version:
        made.default_microversion = version
    return made


def client(app: Any) -> proxy.ReservationProxy:
    """Return the proxy for a command.

    :param app: the application that runs the command
    """
    lease_proxy: proxy.ReservationProxy = app.client_manager.lease
    return lease_proxy


def build_option_parser(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add ``--os-reservation-api-version``, unless python-blazarclient adds it.

    Plugins are loaded in any order, and a second definition is an error.
    """
    with contextlib.suppress(argparse.ArgumentError):
        if importlib.util.find_spec('blazarclient') is None:
            parser.add_argument(
                '--os-reservation-api-version',
                metavar='<reservation-api-version>',
                help='Microversion of the reservation API, by default the newest that both '
                'sides know (Env: OS_RESERVATION_API_VERSION)',
            )
    return parser
