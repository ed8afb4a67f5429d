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
from climate.mail.letters import Letters
from climate.mail.letters import LetterSettings
from climate.mail.people import People
from climate.mail.postman import Postman
from climate.mail.postman import PostSettings
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
        postman = _postman(conf, spool)
        subscriber = Subscriber(conf, conf.mail.queue, postman.take)
    except (exceptions.ConfigurationError, cfg.Error) as error:
        sys.stderr.write(f'climate-mail: {error}\n')
        return 1
    postman.start()
    subscriber.start()
    LOG.info('Sending mail through %s:%s', conf.mail.host, conf.mail.port)

    def stop() -> None:
        subscriber.stop()
        postman.stop(1.5)
        spool.close()

    return received.wait(stop, functools.partial(config.reload, conf))


def _postman(conf: cfg.ConfigOpts, spool: Spool) -> Postman:
    clock = SystemClock()
    letters = Letters(LetterSettings.from_conf(conf))
    server = Smtp(SmtpSettings.from_conf(conf))
    directory = clouds.open_cloud(conf, clock).identity
    return Postman(
        spool=spool,
        letters=letters,
        people=People(directory, conf.mail.address_template or ''),
        server=server,
        clock=clock,
        settings=PostSettings.from_conf(conf),
    )


if __name__ == '__main__':
    sys.exit(main())
