# SPDX-License-Identifier: Apache-2.0

"""Errors of the service, with what its answers say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import requests
from openstack import exceptions

from climate.client import terminal


class ServiceTooOld(exceptions.NotSupported):
    """The service, or the version that the user chose, lacks a feature."""


class RefusedRequest(exceptions.HttpException):
    """The service refused a request.

    :ivar name: of the error, such as NOT_ENOUGH_RESOURCES
    :ivar reasons: for each resource type, how much matched and how much was free
    :ivar alternatives: offers in place of the lease, as JSON
    """

    def __init__(self, response: requests.Response, body: Mapping[str, Any]) -> None:
        super().__init__(
            message=terminal.shown(str(body['error_message'])),
            response=response,
            http_status=response.status_code,
            request_id=response.headers.get('x-openstack-request-id'),
        )
        self.name = str(body.get('error_name') or '')
        self.reasons: list[dict[str, Any]] = list(body.get('reasons') or ())
        self.alternatives: list[dict[str, Any]] = list(body.get('alternatives') or ())

    def __str__(self) -> str:
        # Operators find the request in the log of the service by this id.
        return f'{self.message} ({self.request_id})' if self.request_id else str(self.message)


class BadRequestRefusal(RefusedRequest, exceptions.BadRequestException):
    """The request is wrong, 400."""


class ForbiddenRefusal(RefusedRequest, exceptions.ForbiddenException):
    """Policy or a limit forbids it, 403."""


class NotFoundRefusal(RefusedRequest, exceptions.NotFoundException):
    """The object does not exist in the project, 404."""


class ConflictRefusal(RefusedRequest, exceptions.ConflictException):
    """The state of the service does not allow it, 409, such as a lack of resources."""


_BY_STATUS: Mapping[int, type[RefusedRequest]] = {
    400: BadRequestRefusal,
    403: ForbiddenRefusal,
    404: NotFoundRefusal,
    409: ConflictRefusal,
}


def raise_for(response: requests.Response) -> None:
    """Raise the error in an answer of the service; do nothing if there is none.

    Errors of others, such as proxies in between, are left to openstacksdk.

    :raises RefusedRequest: if the service refused the request
    """
    if response.status_code < 400:
        return
    try:
        body = response.json()
    except ValueError:
        return
    if isinstance(body, dict) and 'error_message' in body:
        raise _BY_STATUS.get(response.status_code, RefusedRequest)(response, body)
