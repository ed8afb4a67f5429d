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

"""The metrics of ``climate-standalone``: at its own port, unless a file enables them elsewhere."""

from __future__ import annotations

from oslo_config import cfg

from climate.api.middleware import ForPath
from climate.api.wsgi import WSGIApp
from climate.cmd import metrics
from climate.cmd import serving
from climate.db.store import Store
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
        return ForPath(metrics.PATH, self._endpoint.app, application)

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
