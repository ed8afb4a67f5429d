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

"""Policy rules for what callers learn about themselves."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

SHOW = 'climate:me:show'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for callers themselves."""
    return [
        base.documented(
            SHOW,
            '@',
            'Show the user, project and roles of the token, and which rules allow the caller to '
            'act in that project.',
            'GET /v1/me',
        ),
    ]
