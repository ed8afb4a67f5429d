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

"""Options of how Climate gets to Ironic."""

from __future__ import annotations

from keystoneauth1 import loading as ks_loading
from oslo_config import cfg

from climate.conf import nova

GROUP = 'ironic'


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(nova.service_opts(GROUP, 'baremetal'), group=GROUP)
    ks_loading.register_auth_conf_options(conf, GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: [*nova.auth_opts(), *nova.service_opts(GROUP, 'baremetal')]}
