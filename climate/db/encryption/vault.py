# SPDX-License-Identifier: Apache-2.0

"""Encrypts the secrets of drafts on their way into the database, and back.

Secrets that are encrypted with a missing key stay encrypted: only the reservation that
its plugin then cannot read is affected, and a process with the key can still read it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from cryptography import fernet

from climate import exceptions
from climate.domain import drafts
from climate.domain.drafts import DRAFT
from climate.domain.drafts import SEALED

LOG = logging.getLogger(__name__)

# No JSON text begins with it.
SEALED_TEXT: Final = 'sealed:'


_NO_KEY: Final = (
    'No key of this process decrypts a stored %s: copy encryption.key, or [database] '
    'encryption_keys, from a host that has the key'
)


class Vault:
    """The keys of a process.

    :param keys: keys from :func:`new_key`; the first one encrypts, all of them
        decrypt; without keys, secrets are stored in clear text
    :raises climate.exceptions.ConfigurationError: if one is not a key
    """

    def __init__(self, keys: Sequence[str] = ()) -> None:
        usable = [_key(number, key) for number, key in enumerate(keys, 1)]
        self._first = usable[0] if usable else None
        self._all = fernet.MultiFernet(usable) if usable else None

    @property
    def has_keys(self) -> bool:
        """Whether it encrypts anything."""
        return self._first is not None

    def seal(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request as it is stored, with its secrets encrypted."""
        secrets = drafts.secrets(request)
        if self._first is None or not secrets:
            return dict(request)
        token = self._first.encrypt(json.dumps(secrets).encode())
        stored = drafts.hidden(request)
        return {**stored, DRAFT: {**stored[DRAFT], SEALED: token.decode()}}

    def open(self, stored: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a stored request with its secrets; still sealed if no key fits."""
        draft = stored.get(DRAFT) or {}
        token = draft.get(SEALED)
        if token is None:
            return stored
        if self._all is None:
            LOG.error(_NO_KEY, 'draft')
            return stored
        try:
            secrets = json.loads(self._all.decrypt(token))
        except fernet.InvalidToken:
            LOG.error(_NO_KEY, 'draft')
            return stored
        return drafts.restored({**stored, DRAFT: _unsealed(draft)}, {DRAFT: secrets})

    def seal_text(self, text: str) -> str:
        """Return *text* as it is stored, encrypted if there is a key."""
        if self._first is None:
            return text
        return SEALED_TEXT + self._first.encrypt(text.encode()).decode()

    def open_text(self, stored: str, *, quietly: bool = False) -> str | None:
        """Return the text that was stored; None if no key fits.

        :param quietly: whether the caller says that no key fits
        """
        if not stored.startswith(SEALED_TEXT):
            return stored
        try:
            if self._all is not None:
                return self._all.decrypt(stored.removeprefix(SEALED_TEXT)).decode()
        except fernet.InvalidToken:
            pass
        if not quietly:
            LOG.error(_NO_KEY, 'text')
        return None


def new_key() -> str:
    """Return a new key."""
    return fernet.Fernet.generate_key().decode()


def sealed(request: Mapping[str, Any]) -> bool:
    """Whether the secrets of a request are encrypted."""
    return SEALED in (request.get(DRAFT) or {})


def _unsealed(draft: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in draft.items() if key != SEALED}


def _key(number: int, key: str) -> fernet.Fernet:
    try:
        return fernet.Fernet(key)
    except ValueError as error:
        # The message never contains the key itself.
        raise exceptions.ConfigurationError(
            f'[database] encryption_keys: number {number} is not a key; '
            '"climate-manage keys new" creates one'
        ) from error
