# SPDX-License-Identifier: Apache-2.0

"""What people call the resources of types that the service knows, and the client does not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from openstack import exceptions

from climate.client import nouns
from climate.client import refusals
from climate.client.sdk import errors
from climate.client.sdk.proxy import ReservationProxy


def learn(proxy: ReservationProxy, items: Iterable[Mapping[str, Any]] | None) -> None:
    """Ask the service for the nouns of declared types and plugins, if there are any.

    Without an answer, such as from services older than 1.2, the types keep their names.

    :param items: reservations, or reasons of a refusal
    """
    unknown = {str(each['resource_type']) for each in items or ()}
    unknown = {each for each in unknown if not nouns.known(each)}
    if not unknown:
        return
    for each in unknown:
        nouns.learn(each)
    with contextlib.suppress(exceptions.SDKException):
        for known in proxy.resource_types():
            if known.name in unknown and known.noun:
                nouns.learn(known.name, known.noun, known.noun_one or '')


def describe(proxy: ReservationProxy, error: errors.RefusedRequest) -> str:
    """Return the message, the reasons and the offers of a refusal, with the nouns of its types."""
    learn(proxy, error.reasons)
    for offer in error.alternatives:
        learn(proxy, offer['reservations'])
    return refusals.describe(error)
