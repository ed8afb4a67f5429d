# SPDX-License-Identifier: Apache-2.0

"""Why a lease fails, in the words of the service, as the failure of a resource in a stack."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from openstack import exceptions

from climate.client import refusals
from climate.client.sdk import errors
from climate.client.sdk.histories import LeaseHistory


def describe(error: exceptions.SDKException) -> str:
    """Return the message of an error, and the reasons and offers if it is a refusal.

    What an error without a refusal of its own was raised from is described after it.
    """
    parts = list(_parts(error))
    if isinstance(error.__cause__, errors.RefusedRequest):
        parts += _parts(error.__cause__)
    return '; '.join(parts)


def _parts(error: exceptions.SDKException) -> Iterator[str]:
    yield str(error)
    if isinstance(error, errors.RefusedRequest):
        # The zone of the machine that runs the engine tells users nothing.
        yield from refusals.reasons(error, datetime.UTC)
        yield from (f'offered: {each}' for each in refusals.offers(error, datetime.UTC))


def of_history(history: LeaseHistory) -> str:
    """Return the last error in the history of a lease; '' if there is none."""
    texts = [step['error'] for step in history.steps or () if step['error']]
    return str(texts[-1]) if texts else ''
