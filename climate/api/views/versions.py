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

"""The version document."""

from __future__ import annotations

from typing import Any

from climate.api import microversions


def document(base_url: str) -> dict[str, Any]:
    """Return the versions served.

    :param base_url: the public address of the root of the service, without a
        trailing slash
    """
    newest = str(microversions.MAX)
    return {
        'versions': [
            {
                'id': 'v1.0',
                'status': 'CURRENT',
                'links': [{'rel': 'self', 'href': f'{base_url}/v1'}],
                'min_version': str(microversions.MIN),
                'max_version': newest,
                # keystoneauth and "openstack versions show" read this name.
                'version': newest,
            }
        ]
    }
