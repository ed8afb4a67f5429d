# SPDX-License-Identifier: Apache-2.0

"""Secrets and signatures of webhooks, in the form of Standard Webhooks.

A receiver computes the same signature from the id, the time and the body. It refuses old
times, so that a recorded event cannot be sent again later.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Final

PREFIX: Final = 'whsec_'
ID: Final = 'webhook-id'
TIMESTAMP: Final = 'webhook-timestamp'
SIGNATURE: Final = 'webhook-signature'
_BYTES: Final = 32


def new_secret() -> str:
    """Return a new secret."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def headers(message_id: str, timestamp: int, body: bytes, known: Iterable[str]) -> dict[str, str]:
    """Return the headers that prove where an event comes from.

    :param timestamp: of this attempt, in seconds since 1970
    :param known: secrets; there is a signature for each
    """
    signed = f'{message_id}.{timestamp}.'.encode() + body
    return {
        ID: message_id,
        TIMESTAMP: str(timestamp),
        SIGNATURE: ' '.join(f'v1,{_signature(secret, signed)}' for secret in known),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
