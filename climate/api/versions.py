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

"""The versions document."""

from __future__ import annotations

import json
from typing import Any
from typing import Final

import webob

from climate.api import microversions
from climate.api.wsgi import Environ

DOCUMENTS: Final = {'/': 300, '/versions': 300, '/v1': 200}
"""Paths of the document, and the HTTP status of each."""


def answer(environ: Environ, path: str) -> webob.Response:
    """Return the document at one of the paths of :data:`DOCUMENTS`."""
    # application_url includes SCRIPT_NAME, and so the prefix that a proxy adds.
    base_url = webob.Request(environ).application_url.rstrip('/')
    return webob.Response(
        status=DOCUMENTS[path],
        body=json.dumps(_document(base_url)).encode(),
        content_type='application/json',
        charset=None,
    )


def _document(base_url: str) -> dict[str, Any]:
    """Return the versions document.

    :param base_url: public URL of the root of the service, without a trailing slash
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
