# SPDX-License-Identifier: Apache-2.0

"""The versions document."""

from __future__ import annotations

import json
from typing import Any
from typing import Final

import webob

from climate.api.http import microversions
from climate.api.http.wsgi import Environ

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
