# SPDX-License-Identifier: Apache-2.0

"""The recipients of mails."""

from __future__ import annotations

import dataclasses
from typing import Protocol

from climate import exceptions
from climate.cloud.protocols.members import User
from climate.mail.mail_writer import is_address


class Directory(Protocol):
    """A directory of users, such as Keystone."""

    def find_user(self, user_id: str) -> User | None:
        """Return a user; None if there is none."""


class Unknown(Exception):
    """The owner has no known address."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Recipient:
    """The recipient of a mail."""

    address: str
    name: str
    time_zone: str = ''


class People:
    """Finds the addresses of owners.

    :param template: for the addresses of users without one in Keystone, with
        ``{user_id}`` and ``{user_name}``; '' if there is none
    :raises climate.exceptions.ConfigurationError: if it has other placeholders,
        or does not give an address
    """

    def __init__(self, directory: Directory, template: str = '') -> None:
        self._directory = directory
        self._template = template
        if template and not is_address(_filled(template, 'user', 'name')):
            raise exceptions.ConfigurationError(
                f'[mail] address_template: {template} does not give an address'
            )

    def find(self, user_id: str) -> Recipient:
        """Return the recipient of mails about leases of a user.

        :raises Unknown: if there is no valid address
        :raises climate.exceptions.Transient: if Keystone does not respond
        """
        user = self._directory.find_user(user_id)
        if user is None:
            raise Unknown(f'Keystone has no user {user_id}')
        address = user.email.strip()
        if not address and self._template:
            address = _filled(self._template, user.id, user.name)
        if not address:
            raise Unknown(f'user {user_id} has no address')
        if not is_address(address):
            raise Unknown(f'user {user_id} has an address that is none')
        return Recipient(address=address, name=user.name, time_zone=user.time_zone)


def _filled(template: str, user_id: str, user_name: str) -> str:
    try:
        return template.format(user_id=user_id, user_name=user_name)
    except (AttributeError, LookupError, ValueError) as error:
        raise exceptions.ConfigurationError(f'[mail] address_template: {error!r}') from error
