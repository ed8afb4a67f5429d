# SPDX-License-Identifier: Apache-2.0

"""What is looked at before the first request is answered."""

import sys

from keystonemiddleware import opts as auth_token_opts
from oslo_config import cfg

from climate import exceptions
from climate.api.authentication import auth
from tests import base


class MemcachedTest(base.TestCase):
    """The memory of validated tokens."""

    def setUp(self):
        super().setUp()
        self.conf = cfg.ConfigOpts()
        for group, options in auth_token_opts.list_auth_token_opts():
            self.conf.register_opts(options, group=group)
        self.conf([], default_config_files=[])

    def remember_in(self, *servers):
        """Set where tokens are remembered."""
        self.conf.set_override('memcached_servers', list(servers), group='keystone_authtoken')

    def without_client(self):
        """Behave as if python-memcached were not installed."""
        module = sys.modules.pop('memcache', None)
        if module is not None:
            self.addCleanup(sys.modules.__setitem__, 'memcache', module)
        else:
            self.addCleanup(sys.modules.pop, 'memcache', None)
        sys.modules['memcache'] = None

    def test_its_client_is_missing(self):
        self.remember_in('127.0.0.1:11211')
        self.without_client()
        with self.assertRaisesRegex(exceptions.ConfigurationError, 'python-memcached'):
            auth.keystone(self.conf)(lambda *_: ())

    def test_its_client_is_there(self):
        self.remember_in('127.0.0.1:11211')
        self.assertTrue(callable(auth.keystone(self.conf)(lambda *_: ())))

    def test_it_is_not_used(self):
        self.without_client()
        self.assertTrue(callable(auth.keystone(self.conf)(lambda *_: ())))
