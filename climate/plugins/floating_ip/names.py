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

"""The name of the resource type of floating IPs."""

from __future__ import annotations

from typing import Final

RESOURCE_TYPE: Final = 'virtual:floatingip'
TAKEN: Final = 'Neutron has a floating IP of it that Climate has not made'
"""Why an address cannot be leased."""
