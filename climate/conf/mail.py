# SPDX-License-Identifier: Apache-2.0

"""Options of ``climate-mail``."""

from __future__ import annotations

from oslo_config import cfg
from oslo_config import types

GROUP = 'mail'
NONE = 'none'
STARTTLS = 'starttls'
TLS = 'tls'

KINDS = ('moved', 'before_start', 'started', 'yielding', 'before_end', 'degraded', 'error')

SERVER_OPTS: list[cfg.Opt] = [
    cfg.HostAddressOpt('host', default='localhost', help='SMTP server.'),
    cfg.PortOpt(
        'port',
        default=25,
        help='Port of the SMTP server; usually 587 with starttls and 465 with tls.',
    ),
    cfg.StrOpt(
        'security',
        default=NONE,
        choices=[
            (NONE, 'Plain text, for a server on this machine.'),
            (
                STARTTLS,
                'Encrypted after the greeting; a server that does not support it gets no mail.',
            ),
            (TLS, 'Encrypted from the first byte.'),
        ],
        help='Security of the connection to the SMTP server.',
    ),
    cfg.StrOpt(
        'cafile',
        help='File with the CA certificates that verify the SMTP server. Those of the system by '
        'default.',
    ),
    cfg.StrOpt('username', help='User name for the SMTP server. No login by default.'),
    cfg.StrOpt(
        'password_file',
        help='File that contains only the password of this user. It is read for each connection.',
    ),
    cfg.FloatOpt(
        'timeout',
        default=30.0,
        min=0.1,
        help='Time limit for a response of the SMTP server, in seconds.',
    ),
]

LETTER_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'sender',
        default='climate@localhost',
        help='Sender address of the mails, which also receives bounces.',
    ),
    cfg.StrOpt('reply_to', help='Address for replies. The sender by default.'),
    cfg.StrOpt(
        'address_template',
        help='Address of owners without one in Keystone, such as {user_name}@example.org. '
        '{user_id} and {user_name} are replaced. By default such owners get no mail, which is '
        'logged.',
    ),
    cfg.ListOpt(
        'default_notices',
        item_type=types.String(choices=list(KINDS)),
        default=['moved', 'before_start', 'yielding', 'before_end', 'degraded', 'error'],
        help='Notices for owners whose lease does not choose any: '
        + ', '.join(KINDS)
        + '. Empty sends mail only for leases that choose notices.',
    ),
    cfg.IntOpt(
        'least_before_start',
        default=120,
        min=0,
        help='Owners whose lease does not choose any notices are notified of its start only this '
        'long before it or earlier, in seconds. Announcements that come later, such as the last '
        'ones of [manager] notify_before_start, are for programs.',
    ),
    cfg.StrOpt(
        'template_dir',
        help='Directory with texts that replace those of Climate, one file for each notice, such '
        'as before_end.txt. Notices without a file keep the text of Climate.',
    ),
    cfg.URIOpt(
        'api_url',
        schemes=['http', 'https'],
        help='URL of the API for users, for $prolong_request in texts of template_dir. By default '
        'it has the path only.',
    ),
    cfg.URIOpt(
        'page_url',
        schemes=['http', 'https'],
        help='Public URL of the page, such as https://reservation.example.org/ui. With it, mails '
        'have a link to their lease, where owners extend it after they have signed in.',
    ),
    cfg.BoolOpt(
        'html',
        default=True,
        help='Whether mails have a part in HTML, in addition to the one in plain text.',
    ),
    cfg.StrOpt(
        'time_zone',
        default='UTC',
        help='Zone of the times in mails, such as Europe/Berlin, unless that of the project or of '
        'the recipient is known.',
    ),
    cfg.DictOpt(
        'project_time_zones',
        default={},
        help='Zones of projects, as PROJECT_ID:ZONE. The attribute time_zone of a user in Keystone '
        'takes precedence.',
    ),
]

SPOOL_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'queue',
        default='climate-mail',
        help='Name of the queue on the message bus. It remains and keeps collecting while '
        'climate-mail is down.',
    ),
    cfg.StrOpt(
        'spool_dir',
        default='/var/lib/climate/mail',
        help='Directory of mails to send, of mails that could not be sent, and of the record of '
        'recent mails. Only one process can use it at a time.',
    ),
    cfg.IntOpt(
        'per_recipient',
        default=20,
        min=1,
        help='Maximum number of mails to one recipient within an hour. Further notices are '
        'combined in one mail, with the last of these or after the hour.',
    ),
    cfg.IntOpt(
        'per_hour',
        default=1000,
        min=1,
        help='Maximum number of mails within an hour in total. Further mails wait.',
    ),
    cfg.FloatOpt(
        'retry_after',
        default=30.0,
        min=0.1,
        help='Pause before a mail that could not be sent is tried again, in seconds. The pause '
        'doubles each time.',
    ),
    cfg.FloatOpt(
        'retry_at_most',
        default=1800.0,
        min=0.1,
        help='Longest pause between two tries, in seconds.',
    ),
    cfg.FloatOpt(
        'give_up_after',
        default=86400.0,
        min=1.0,
        help='Time after which a mail that could not be sent is set aside, in seconds. This is '
        'logged.',
    ),
]

OPTS: list[cfg.Opt] = [*SERVER_OPTS, *LETTER_OPTS, *SPOOL_OPTS]
