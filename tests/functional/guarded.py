# SPDX-License-Identifier: Apache-2.0

"""A service that serves the web page and signs users in with a Keystone over HTTP."""

from __future__ import annotations

from typing import Any

import fixtures
from keystoneauth1 import loading as ks_loading
from oslo_config import cfg

from climate.api.authentication import auth
from climate.cloud.sign_in import KeystoneSignIn
from tests.functional.fixtures import Service
from tests.functional.keystone import Keystone
from tests.functional.keystone import PASSWORD
from tests.functional.listening import Listener

GROUP = 'keystone_authtoken'


class GuardedService(fixtures.Fixture):
    """The service, and its Keystone.

    :ivar keystone: issues and validates the tokens
    :ivar service: with one host
    """

    def _setUp(self) -> None:
        self.keystone = self.useFixture(Keystone())
        self.service = Service(hosts=1, authenticate=self._authenticate)
        self.service.sign_in = lambda: KeystoneSignIn.from_conf(self.service.conf)
        self.useFixture(self.service)
        self.service.conf.set_override('enabled', True, group='ui')

    def _authenticate(self, conf: cfg.ConfigOpts) -> Any:
        conf.register_opts(ks_loading.get_auth_plugin_conf_options('password'), group=GROUP)
        ks_loading.register_auth_conf_options(conf, GROUP)
        for name, value in {
            'auth_type': 'password',
            'auth_url': self.keystone.url,
            'username': 'climate',
            'password': PASSWORD,
            'user_domain_name': 'Default',
            'project_name': 'service',
            'project_domain_name': 'Default',
        }.items():
            conf.set_override(name, value, group=GROUP)
        return auth.keystone(conf)


class ListeningService(GuardedService):
    """The same, which listens.

    :ivar address: that of the page
    """

    def _setUp(self) -> None:
        super()._setUp()
        # The tests revoke tokens, which a cache would hide for minutes.
        self.service.conf.set_override('token_cache_time', -1, group=GROUP)
        self.service.conf.set_override('websso', {'University': 'saml2'}, group='ui')
        self.service.conf.set_override('websso_url', self.keystone.url, group='ui')
        # A cookie is kept until its token expires by the clock of the service.
        self.keystone.now = self.service.clock.now
        listener = self.useFixture(Listener(self.service.made(), threads=4))
        self.address = f'{listener.address}/ui/'
        self.keystone.trusted.append(f'{self.address}session/websso')

    def end_sessions(self) -> None:
        """Have Keystone accept no token of the user any more."""
        self.keystone.tokens.pop('token-of-alice')
