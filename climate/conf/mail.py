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

"""Options of ``climate-mail``."""

from __future__ import annotations

from oslo_config import cfg
from oslo_config import types

GROUP = 'mail'
NONE = 'none'
STARTTLS = 'starttls'
TLS = 'tls'

KINDS = ('before_start', 'started', 'before_end', 'degraded', 'error')

SERVER_OPTS: list[cfg.Opt] = [
    cfg.HostAddressOpt('host', default='localhost', help='The SMTP server that mails go to.'),
    cfg.PortOpt('port', default=25, help='Its port; usually 587 with starttls and 465 with tls.'),
    cfg.StrOpt(
        'security',
        default=NONE,
        choices=[
            (NONE, 'Plain text, for a server on this machine.'),
            (STARTTLS, 'Encrypted after a greeting; a server that cannot gets no mail.'),
            (TLS, 'Encrypted from the first byte.'),
        ],
        help='How the way to the SMTP server is protected.',
    ),
    cfg.StrOpt(
        'cafile',
        help='File with the certificates of those who may vouch for the SMTP server. Unless '
        'set, those that the system trusts.',
    ),
    cfg.StrOpt('username', help='As whom to log in. Unless set, nobody logs in.'),
    cfg.StrOpt(
        'password_file',
        help='File that holds the password for that, and nothing else. It is read anew for each '
        'connection.',
    ),
    cfg.FloatOpt(
        'timeout', default=30.0, min=0.1, help='Seconds that the SMTP server has for an answer.'
    ),
]

LETTER_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'sender',
        default='climate@localhost',
        help='The address that mails come from, and that bounces go to.',
    ),
    cfg.StrOpt('reply_to', help='The address that answers go to. Unless set, the sender.'),
    cfg.StrOpt(
        'address_template',
        help='The address of an owner of whom Keystone knows none, such as '
        '{user_name}@example.org. {user_id} and {user_name} are filled in. Unless set, such '
        'owners get no mail, and the log says so.',
    ),
    cfg.ListOpt(
        'default_notices',
        item_type=types.String(choices=list(KINDS)),
        default=['before_end', 'degraded', 'error'],
        help='What owners are written to about whose lease does not say it: '
        + ', '.join(KINDS)
        + '. Empty writes only to those who asked for it.',
    ),
    cfg.StrOpt(
        'template_dir',
        help='Directory with texts in place of those that come with Climate, one file for each '
        'notice, such as before_end.txt. What is not there is as it comes.',
    ),
    cfg.URIOpt(
        'api_url',
        schemes=['http', 'https'],
        help='The address of the API as users see it, for the line that tells how to prolong a '
        'lease over HTTP. Unless set, mails show the path only.',
    ),
]

SPOOL_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'queue',
        default='climate-mail',
        help='Name of the queue on the message bus. It stays and goes on collecting while '
        'climate-mail is away.',
    ),
    cfg.StrOpt(
        'spool_dir',
        default='/var/lib/climate/mail',
        help='Directory of the mails that are still to be sent, of those that could not be, and '
        'of what was sent lately. One process at a time.',
    ),
    cfg.IntOpt(
        'per_recipient',
        default=20,
        min=1,
        help='Mails that one recipient gets within an hour. What is more comes in one mail with '
        'the last of them, or when the hour is over.',
    ),
    cfg.IntOpt(
        'per_hour',
        default=1000,
        min=1,
        help='Mails within an hour altogether. What is more waits.',
    ),
    cfg.FloatOpt(
        'retry_after',
        default=30.0,
        min=0.1,
        help='Seconds after which a mail that could not be sent is tried again. The pause '
        'doubles each time.',
    ),
    cfg.FloatOpt(
        'retry_at_most', default=1800.0, min=0.1, help='The longest pause between two tries.'
    ),
    cfg.FloatOpt(
        'give_up_after',
        default=86400.0,
        min=1.0,
        help='Seconds after which a mail that could not be sent is put aside, which the log says.',
    ),
]

OPTS: list[cfg.Opt] = [*SERVER_OPTS, *LETTER_OPTS, *SPOOL_OPTS]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on *conf*."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> dict[str, list[cfg.Opt]]:
    """Return the options by group."""
    return {GROUP: OPTS}
