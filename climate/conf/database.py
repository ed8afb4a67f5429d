# SPDX-License-Identifier: Apache-2.0

"""Options of the database beyond those of oslo.db."""

from __future__ import annotations

from oslo_config import cfg

GROUP = 'database'

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'encryption_keys',
        default=[],
        secret=True,
        help='Keys that encrypt secrets in the database: user data, templates, parameters, '
        'environments and files of servers and stacks, URLs and secrets of webhooks, and answers '
        'for idempotency keys. The first key encrypts, every key decrypts. The keys of '
        'encryption_key_file follow them. "climate-manage keys new" creates a key; after a '
        'change, "climate-manage keys rotate" encrypts everything with the first one. All '
        'processes need the same keys. Without any key, these secrets are stored in plain text, '
        'and "climate-status upgrade check" fails.',
    ),
    cfg.StrOpt(
        'encryption_key_file',
        help='File with further keys, one in each line; the first key of all encrypts. '
        '"climate-manage db sync" creates it, with a key, if there is no key at all. Copy it to '
        'every host that runs Climate. By default it is encryption.key in the directory of '
        'climate.conf.',
    ),
    cfg.IntOpt(
        'lock_timeout',
        default=10,
        min=1,
        help='How long a request waits for locks of the database in all, in seconds, including '
        'the repetitions of its transactions; then it fails with 503 and Retry-After. Managers '
        'wait as long in each transaction. Climate sets it for its sessions, whatever the '
        'configuration of the server. SQLite, which has one lock for everything, waits 30 '
        'seconds.',
    ),
    cfg.BoolOpt(
        'prepared_statements',
        default=True,
        help='Whether each connection to PostgreSQL keeps the plans of the statements that book, '
        'which saves a third of the time that the server needs for a new lease. Turn it off '
        'behind a connection pooler that does not support prepared statements in transactions, '
        'such as PgBouncer before 1.21.',
    ),
    cfg.IntOpt(
        'idle_transaction_timeout',
        default=8,
        min=0,
        help='How long the database waits for the next statement of a transaction, in seconds, '
        'before it ends the session and releases its locks. No transaction of Climate pauses so '
        'long: the machine of the process, or the network, has failed. Others wait at most that '
        'long for its locks. 0 leaves it to the configuration of the server, where the default is '
        'hours.',
    ),
    cfg.IntOpt(
        'response_timeout',
        default=5,
        min=0,
        help='How long a connection to the database may be silent, in seconds, before a new '
        'connection asks the server whether it still works on the statement. If it does not, or '
        'does not respond, the old connection is given up. So statements may take as long as '
        'they need, but after a failover nothing waits for the old server. Raise it behind a '
        'proxy that does not pass on the numbers of sessions, or that sends each connection to '
        'another server: there a statement that takes longer is taken for lost. 0 waits '
        'indefinitely. psycopg2 ignores it.',
    ),
]
