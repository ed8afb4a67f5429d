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

"""What effects in the cloud may raise; :mod:`climate.exceptions` has all names."""

from __future__ import annotations

from climate.exceptions.base import ClimateError


class EffectError(ClimateError):
    """Base of what a plugin's effect may raise."""

    error_name = 'EFFECT_ERROR'
    template = 'The cloud could not be brought to the wanted state'


class Transient(EffectError):
    """It failed, but may work later: tried again with growing pauses."""

    error_name = 'TRANSIENT'


class JudgeAway(Transient):
    """Who judges leases cannot be reached: nobody needs to try for a while."""

    error_name = 'JUDGE_AWAY'


class Permanent(EffectError):
    """It failed and will go on failing: undone and told."""

    error_name = 'PERMANENT'
