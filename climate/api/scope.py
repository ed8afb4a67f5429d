# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What a controller knows of a request: who asks, in which version, for what."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any
from typing import Protocol

from climate import exceptions
from climate.api import bodies
from climate.api import microversions
from climate.api import queries
from climate.api.middleware.identity import CONTEXT
from climate.clock import Clock
from climate.domain.requests import Caller
from climate.policies import leases as lease_policies
from climate.policies import properties as property_policies


class Enforcer(Protocol):
    """What the API needs of oslo.policy's enforcer."""

    def authorize(self, rule: str, target: Mapping[str, Any], creds: Any) -> bool:
        """Return whether *rule* lets *creds* do it to *target*."""
        ...


class Scope:
    """One request.

    :ivar now: the instant that ``now`` in the request means (aware UTC)
    """

    def __init__(self, environ: dict[str, Any], enforcer: Enforcer, clock: Clock) -> None:
        self._environ = environ
        self._enforcer = enforcer
        context = environ[CONTEXT]
        self._credentials = {
            'user_id': context.user_id,
            'project_id': context.project_id,
            'roles': list(context.roles or ()),
            'domain_id': context.domain_id,
            'system_scope': context.system_scope,
        }
        self.now: datetime.datetime = clock.now()
        self.version: microversions.Microversion = environ['climate.microversion']
        self.parameters: queries.Parameters = environ['climate.parameters']
        self.caller = Caller(
            user_id=context.user_id,
            project_id=context.project_id,
            roles=frozenset(context.roles or ()),
            all_projects=self._allows(lease_policies.ALL_PROJECTS),
            request_id=context.request_id,
            token=context.auth_token,
        )

    def _allows(self, rule: str) -> bool:
        # Everything a caller may touch is looked up with their own project,
        # so that is the project the rules are asked about.
        target = {'project_id': self._credentials['project_id']}
        return bool(self._enforcer.authorize(rule, target, dict(self._credentials)))

    def authorize(self, rule: str) -> None:
        """Return if the caller may do what *rule* guards.

        :raises climate.exceptions.PolicyNotAuthorized: if not
        """
        if not self._allows(rule):
            raise exceptions.PolicyNotAuthorized(action=rule)

    @property
    def project_id(self) -> str | None:
        """The project whose leases there are for the caller; None for all."""
        return None if self.caller.all_projects else self.caller.project_id

    @property
    def sees_private(self) -> bool:
        """Whether private properties exist for the caller."""
        return self._allows(property_policies.PRIVATE)

    def body(self) -> dict[str, Any]:
        """Return the body.

        :raises climate.exceptions.ClimateError: if it is no JSON object
        """
        return bodies.read(self._environ)
