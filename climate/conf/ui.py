# SPDX-License-Identifier: Apache-2.0

"""Options of the web page."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'ui'

OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'enabled',
        default=False,
        help='Serve the web page under /ui, and let it sign users in. climate-standalone always '
        'serves it.',
    ),
    cfg.URIOpt(
        'auth_url',
        schemes=['http', 'https'],
        help='The address of Keystone at which the API signs users in. By default '
        '[keystone_authtoken] auth_url, or else www_authenticate_uri.',
    ),
    cfg.DictOpt(
        'websso',
        default={},
        help='Ways to sign in through the WebSSO of Keystone: what users see, and the protocol '
        'there, with the identity provider before it if there are several. For example: '
        'University:shibboleth/saml2,GitHub:openid. [federation] trusted_dashboard of Keystone '
        'must name the address of the page with /ui/session/websso.',
    ),
    cfg.URIOpt(
        'websso_url',
        schemes=['http', 'https'],
        help='The address of Keystone for browsers, where websso begins. By default '
        '[keystone_authtoken] www_authenticate_uri. The page of Keystone that ends the sign-in '
        'must have the same origin.',
    ),
    cfg.FloatOpt(
        'timeout', default=10.0, min=1.0, help='How long a sign-in waits for Keystone, in seconds.'
    ),
    cfg.IntOpt(
        'max_sign_ins',
        default=2,
        min=1,
        help='How many sign-ins one API process handles at once. Each takes a thread of the '
        'process while it waits for Keystone, so this must be lower than the number of threads.',
    ),
]
