# SPDX-License-Identifier: Apache-2.0

"""The metrics of ``climate-standalone``: at its own port, unless a file enables them elsewhere."""

from __future__ import annotations

from oslo_config import cfg

from climate.api.http.wsgi import WSGIApp
from climate.api.middleware.middleware import PathSwitch
from climate.cmd import metrics
from climate.cmd import serving
from climate.db.transactions.store import Store
from climate.manager.service import Manager
from climate.metrics.catalogue import Exporter


class StandaloneMetrics:
    """Records metrics, and exposes them.

    :raises climate.exceptions.ConfigurationError: if the directory of metrics cannot be used
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._elsewhere = conf.metrics.enabled
        conf.set_default('enabled', True, group='metrics')
        self._options = conf.metrics
        self._endpoint = metrics.endpoint(conf, Exporter.BOTH)

    def mounted(self, application: WSGIApp) -> WSGIApp:
        """Return an application that also exposes the metrics, if that is their place."""
        if self._endpoint is None or self._elsewhere:
            return application
        return PathSwitch(metrics.PATH, self._endpoint.app, application)

    def address(self, url: str) -> str:
        """Return where the metrics are; '' if they are disabled.

        :param url: of the service
        """
        if self._endpoint is None:
            return ''
        if self._elsewhere:
            url = serving.url(self._options.host, self._options.api_port)
        return f'{url}{metrics.PATH}'

    def start(self, store: Store, manager: Manager) -> None:
        """Expose what only the manager knows, too, and listen; returns at once."""
        if self._endpoint is not None:
            self._endpoint.serve_manager(store, manager)
            if self._elsewhere:
                self._endpoint.start()
