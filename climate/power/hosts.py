# SPDX-License-Identifier: Apache-2.0

"""Reads from a file how to switch the machine of each host on and off."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any
from typing import Final

import jsonschema
import yaml

from climate import exceptions

_TEXT: Final = {'type': 'string', 'minLength': 1}
_HOST: Final[dict[str, Any]] = {
    'type': 'object',
    'additionalProperties': False,
    'properties': {
        'driver': _TEXT,
        'address': {'type': 'string', 'pattern': '^https?://[^/@ ]+$'},
        'username': _TEXT,
        'password': _TEXT,
        'password_file': _TEXT,
        'system': _TEXT,
        'node': _TEXT,
        'verify': {'type': ['boolean', 'string']},
    },
}
_SCHEMA: Final = {
    'type': 'object',
    'required': ['hosts'],
    'additionalProperties': False,
    'properties': {'defaults': _HOST, 'hosts': {'type': 'object', 'additionalProperties': _HOST}},
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """The power configuration of a host.

    :ivar name: of the host in Climate
    :ivar driver: name of an entry point in ``climate.power.drivers``
    :ivar address: of the management controller, such as ``https://10.0.0.7``
    :ivar system: which of the controller's systems; '' if it has only one
    :ivar node: UUID or name in Ironic
    :ivar verify: whether to verify the certificate of the controller, or a file
        with the authorities to verify it with
    """

    name: str
    driver: str
    address: str = ''
    username: str = ''
    password: str = dataclasses.field(default='', repr=False)
    system: str = ''
    node: str = ''
    verify: bool | str = True


def read(path: str) -> dict[str, Machine]:
    """Return the machines in a file, by the names of their hosts.

    :raises climate.exceptions.ConfigurationError: if the file cannot be read, or
        its content is not valid
    """
    try:
        content = yaml.safe_load(pathlib.Path(path).read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        # The message must not quote the file, which may contain passwords.
        kind = error.strerror if isinstance(error, OSError) else 'it is not YAML'
        raise exceptions.ConfigurationError(f'[power] hosts_file: {path}: {kind}') from None
    wrong = next(iter(jsonschema.Draft202012Validator(_SCHEMA).iter_errors(content)), None)
    if wrong is not None:
        where = '.'.join(str(part) for part in wrong.absolute_path) or 'the file'
        raise exceptions.ConfigurationError(
            f'[power] hosts_file: {path}: {where} is not valid ({wrong.validator})'
        )
    defaults = content.get('defaults') or {}
    return {
        str(name): _machine(path, str(name), {**defaults, **values})
        for name, values in content['hosts'].items()
    }


def _machine(path: str, name: str, values: Mapping[str, Any]) -> Machine:
    known = dict(values)
    where = f'[power] hosts_file: {path}: {name}'
    file = known.pop('password_file', None)
    if file is not None:
        if 'password' in known:
            raise exceptions.ConfigurationError(f'{where}: both password and password_file')
        try:
            known['password'] = pathlib.Path(file).read_text(encoding='utf-8').rstrip('\r\n')
        except (OSError, UnicodeDecodeError) as error:
            raise exceptions.ConfigurationError(f'{where}: {file}: {error}') from None
    return Machine(name=name, driver=known.pop('driver', 'redfish'), **known)
