# SPDX-License-Identifier: Apache-2.0

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
