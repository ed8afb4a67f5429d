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

"""Begins to record traces, if they are enabled."""

from __future__ import annotations

import importlib
from typing import Any

from oslo_config import cfg

from climate import exceptions
from climate.tracing import spans


def set_up(conf: cfg.ConfigOpts, service: str) -> None:
    """Begin to record traces, if they are enabled.

    Call it before anything that is traced is set up, and after a WSGI server has forked.

    :param service: the name of this process in traces
    :raises climate.exceptions.ConfigurationError: if the libraries are not installed
    """
    options = conf.tracing
    if not options.enabled:
        return
    try:
        # Loaded only here: the libraries are an extra.
        recorder: Any = importlib.import_module('climate.tracing.recorder')
    except ImportError as error:
        raise exceptions.ConfigurationError(
            f'[tracing] enabled = true requires openstack-climate[tracing]: {error}'
        ) from None
    spans.use(recorder.exporting(service, options.endpoint, options.sample_ratio))
