# SPDX-License-Identifier: Apache-2.0

"""``climate-mail``: sends mail to the owners of leases."""

from __future__ import annotations

import functools
import logging
import sys

from oslo_config import cfg

from climate import exceptions
from climate.clock import SystemClock
from climate.cmd import clouds
from climate.cmd import config
from climate.cmd import signals
from climate.mail.mail_sender import MailSender
from climate.mail.mail_sender import PostSettings
from climate.mail.mail_writer import LetterSettings
from climate.mail.mail_writer import MailWriter
from climate.mail.people import People
from climate.mail.smtp import Smtp
from climate.mail.smtp import SmtpSettings
from climate.mail.spool import Spool
from climate.messaging.subscriber import Subscriber

LOG = logging.getLogger(__name__)


def main() -> int:
    """Send mails until a signal arrives."""
    received = signals.Signals()
    conf = config.read(sys.argv[1:], 'climate-mail')
    try:
        spool = Spool(conf.mail.spool_dir)
        sender = _postman(conf, spool)
        subscriber = Subscriber(conf, conf.mail.queue, sender.take)
    except (exceptions.ConfigurationError, cfg.Error) as error:
        sys.stderr.write(f'climate-mail: {error}\n')
        return 1
    sender.start()
    subscriber.start()
    LOG.info('Sending mail through %s:%s', conf.mail.host, conf.mail.port)

    def stop() -> None:
        subscriber.stop()
        sender.stop(1.5)
        spool.close()

    return received.wait(stop, functools.partial(config.reload, conf))


def _postman(conf: cfg.ConfigOpts, spool: Spool) -> MailSender:
    clock = SystemClock()
    letters = MailWriter(LetterSettings.from_conf(conf))
    server = Smtp(SmtpSettings.from_conf(conf))
    directory = clouds.open_cloud(conf, clock).identity
    return MailSender(
        spool=spool,
        letters=letters,
        people=People(directory, conf.mail.address_template or ''),
        server=server,
        clock=clock,
        settings=PostSettings.from_conf(conf),
    )


if __name__ == '__main__':
    sys.exit(main())
