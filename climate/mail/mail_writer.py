# SPDX-License-Identifier: Apache-2.0

"""Writes the text of mails.

Users choose the names of leases: no part of a name may become a header, a
placeholder or a control sequence of a terminal.
"""

from __future__ import annotations

import dataclasses
import datetime
import email.message
import email.policy
import email.utils
import pathlib
import string
import unicodedata
import zoneinfo
from collections.abc import Mapping
from collections.abc import Sequence
from importlib import resources
from typing import Any
from typing import Final

from climate import exceptions
from climate.conf.settings import as_path
from climate.conf.settings import as_text
from climate.conf.settings import option
from climate.conf.settings import Settings
from climate.domain import addresses
from climate.mail import notices
from climate.mail import phrases
from climate.mail.notices import Notice
from climate.mail.pages import HtmlPages

_PACKAGE: Final = 'climate.mail'
_DIGEST: Final = 'digest'
_NAMES: Final = (*notices.TEXTS, _DIGEST)
_SUBJECT: Final = 'Subject:'
_ONE: Final = frozenset(
    {
        *('name', 'lease_id', 'project_id', 'project', 'user_name', 'status'),
        *('start', 'end', 'time_to_start', 'time_to_end', 'starts', 'ends'),
        *('problem', 'reason', 'resources', 'instructions', 'yields', 'outcome', 'resumes'),
        *('prolong_command', 'prolong_request', 'extend_url', 'extend_page', 'lease_page'),
    }
)
_MANY: Final = frozenset({'user_name', 'count', 'notices'})
_USE: Final = {'title': 'x', 'text': 'x'}
_ITEM: Final = {'subject': 'x', 'lease_id': 'x', 'reason': '', 'url': ''}
# Values with which the templates in HTML are tried when the process starts.
_SAMPLES: Final[Mapping[str, Mapping[str, Any]]] = {
    **{
        name: {**dict.fromkeys(_ONE, 'x'), 'subject': 'x', 'resource_lines': ['x'], 'uses': [_USE]}
        for name in _NAMES
    },
    _DIGEST: {**dict.fromkeys(_MANY, 'x'), 'subject': 'x', 'items': [_ITEM]},
}
# Seven bits, which every server accepts.
_POLICY: Final = email.policy.SMTP.clone(cte_type='7bit')
_LONGEST_NAME: Final = 200
# RFC 5322, section 2.1.1, without the end of the line.
_LONGEST_LINE: Final = 998
_ON_ITS_PAGE: Final = '\nor on its page: choose "Times", set the new end, and save:\n\n    '


def _pairs(values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(values.items()))


def _address(value: str | None) -> str:
    return (value or '').rstrip('/')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LetterSettings(Settings):
    """How mails look.

    :ivar folder: with texts of the operator's own; None if there are none
    :ivar api_url: of the API for users; '' if unknown
    :ivar page_url: of the page for users; '' if unknown
    :ivar time_zone: of projects that are not in *project_time_zones*
    """

    sender: str = option('mail', 'sender')
    reply_to: str = option('mail', 'reply_to', as_text)
    folder: pathlib.Path | None = option('mail', 'template_dir', as_path)
    api_url: str = option('mail', 'api_url', _address)
    page_url: str = option('mail', 'page_url', _address)
    html: bool = option('mail', 'html')
    time_zone: str = option('mail', 'time_zone')
    project_time_zones: tuple[tuple[str, str], ...] = option('mail', 'project_time_zones', _pairs)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Text:
    subject: string.Template
    body: string.Template


class MailWriter:
    """Writes the mails for notices.

    :raises climate.exceptions.ConfigurationError: if a text cannot be read, has
        no subject, or has an unknown placeholder
    """

    def __init__(self, settings: LetterSettings) -> None:
        self._settings = settings
        self._texts = {name: _read(settings.folder, name) for name in _NAMES}
        _, _, self._domain = settings.sender.rpartition('@')
        if not is_address(settings.sender):
            raise exceptions.ConfigurationError(f'[mail] sender: not an address: {settings.sender}')
        self._zone = _configured('time_zone', settings.time_zone)
        self._zones = {
            project_id: _configured('project_time_zones', name)
            for project_id, name in settings.project_time_zones
        }
        self._pages = HtmlPages(settings.folder, _SAMPLES) if settings.html else None
        self._plain = {name for name in _NAMES if _is_plain(settings.folder, name)}

    def one(
        self,
        notice: Notice,
        recipient: str,
        user_name: str,
        now: datetime.datetime,
        time_zone: str = '',
    ) -> email.message.EmailMessage:
        """Return the mail for a notice.

        :param recipient: an address, see :func:`is_address`
        :param time_zone: of the recipient; that of the project if it is '' or unknown
        """
        values = self._values(notice, user_name, now, self._zone_of(notice, time_zone))
        letter = self._letter('one', notice.id, recipient, now, self._texts[notice.kind], values)
        lists = {
            'resource_lines': [clean(line) for line in notice.resources],
            'uses': [{'title': clean(title), 'text': clean(text)} for title, text in notice.uses],
        }
        self._add_page(letter, notice.kind, {**values, **lists})
        letter['X-Climate-Lease'] = clean(notice.lease_id)
        return letter

    def digest(
        self,
        notices: Sequence[Notice],
        recipient: str,
        user_name: str,
        now: datetime.datetime,
        time_zone: str = '',
    ) -> email.message.EmailMessage:
        """Return one mail for many notices."""
        lines, items = [], []
        for notice in notices:
            known = self._values(notice, user_name, now, self._zone_of(notice, time_zone))
            subject = clean(self._texts[notice.kind].subject.substitute(known))
            lines.append(f'* {subject}')
            if notice.reason:
                lines.append(f'  {clean(notice.reason)}')
            lines.append(f'  {known["extend_url"] or "Lease " + known["lease_id"]}')
            items.append(
                {
                    'subject': subject,
                    'lease_id': known['lease_id'],
                    'reason': clean(notice.reason),
                    'url': known['extend_url'],
                }
            )
        values = {
            'user_name': clean(user_name),
            'count': str(len(notices)),
            'notices': '\n'.join(lines),
        }
        text = self._texts[_DIGEST]
        letter = self._letter('digest', notices[0].id, recipient, now, text, values)
        self._add_page(letter, _DIGEST, {**values, 'items': items})
        return letter

    def message_id(self, kind: str, notice_id: str) -> str:
        """Return the Message-ID of a mail: the same each time it is written."""
        safe = ''.join(sign if sign.isalnum() or sign in '-.' else '-' for sign in clean(notice_id))
        return (
            f'<{kind}.{safe.encode("ascii", "replace").decode().replace("?", "-")}@{self._domain}>'
        )

    def _letter(
        self,
        kind: str,
        notice_id: str,
        recipient: str,
        now: datetime.datetime,
        text: _Text,
        values: dict[str, str],
    ) -> email.message.EmailMessage:
        letter = email.message.EmailMessage(policy=_POLICY)
        letter['Subject'] = clean(text.subject.substitute(values))
        letter['From'] = self._settings.sender
        letter['To'] = recipient
        if self._settings.reply_to:
            letter['Reply-To'] = self._settings.reply_to
        letter['Date'] = email.utils.format_datetime(now)
        letter['Message-ID'] = self.message_id(kind, notice_id)
        # So that no absence note is sent back.
        letter['Auto-Submitted'] = 'auto-generated'
        body = text.body.substitute(values)
        letter.set_content(body, cte=_encoding(body))
        return letter

    def _add_page(
        self, letter: email.message.EmailMessage, name: str, values: Mapping[str, Any]
    ) -> None:
        """Add the part in HTML, if mails have one."""
        if self._pages is not None and name not in self._plain:
            page = self._pages.render(name, {**values, 'subject': letter['Subject']})
            letter.add_alternative(page, subtype='html', cte=_encoding(page))

    def _zone_of(self, notice: Notice, time_zone: str) -> zoneinfo.ZoneInfo:
        """Return the zone of a recipient, or else that of the project."""
        own = _zone(time_zone) if time_zone else None
        return own or self._zones.get(notice.project_id, self._zone)

    def _values(
        self, notice: Notice, user_name: str, now: datetime.datetime, zone: zoneinfo.ZoneInfo
    ) -> dict[str, str]:
        lease_id, name = clean(notice.lease_id), clean(notice.name)[:_LONGEST_NAME]
        page_url = self._settings.page_url
        page = addresses.lease_page(page_url, lease_id) if page_url else ''
        where = f'{self._settings.api_url}/v1/leases/{lease_id}'
        return {
            'name': name,
            'lease_id': lease_id,
            'project_id': clean(notice.project_id),
            'project': clean(notice.project_name) or clean(notice.project_id),
            'user_name': clean(user_name),
            'start': _shown(notice.start, zone),
            'end': _shown(notice.end, zone),
            'time_to_start': phrases.span(notice.start - now),
            'time_to_end': phrases.span(notice.end - now),
            'starts': phrases.starts(notice.start - now),
            'ends': phrases.ends(notice.end - now),
            'status': clean(notice.status),
            'yields': phrases.yields(notice.end - now),
            'outcome': phrases.outcome(notice.mode),
            'resumes': _resumes(notice, zone),
            'problem': phrases.problem(notice, name),
            'reason': clean(notice.reason) or 'unknown',
            'resources': '\n'.join(f'  {clean(line)}' for line in notice.resources) or '  nothing',
            'instructions': _instructions(notice),
            'prolong_command': f'openstack lease extend {lease_id} --for 1d',
            'prolong_request': f'PUT {where} {{"end_date": "{_a_day_after(notice.end)}"}}',
            'extend_url': page,
            'extend_page': f'{_ON_ITS_PAGE}{page}\n' if page else '',
            'lease_page': f'\nPage:     {page}' if page else '',
        }


def _encoding(text: str) -> str | None:
    """Return the transfer encoding of a part; None for that of the library.

    Links in parts that are not encoded can be copied from a file.
    """
    short = all(len(line) <= _LONGEST_LINE for line in text.splitlines())
    return '7bit' if short and text.isascii() else None


def _resumes(notice: Notice, zone: zoneinfo.ZoneInfo) -> str:
    if notice.resumes is None:
        return 'as soon as there is room'
    return f'as soon as there is room, as it looks now at {_shown(notice.resumes, zone)}'


def _instructions(notice: Notice) -> str:
    """Return what the owner can do, as lines after an empty one; '' if there is nothing."""
    blocks = [f'\n{clean(title)}:\n\n    {clean(text)}\n' for title, text in notice.uses]
    return ''.join(blocks)


def _a_day_after(end: datetime.datetime) -> str:
    """Return the day after *end*, in a format that every microversion accepts."""
    try:
        return f'{end + datetime.timedelta(days=1):%Y-%m-%d %H:%M}'
    except OverflowError:  # on the last day of the calendar
        return f'{end:%Y-%m-%d %H:%M}'


def is_address(text: str) -> bool:
    """Whether mail can be sent to *text*: one plain address, in ASCII."""
    local, at, domain = text.rpartition('@')
    if not (at and local and domain) or not text.isascii() or len(text) > 254:
        return False
    if any(sign.isspace() or not sign.isprintable() or sign in '<>,;:"()[]\\' for sign in text):
        return False
    return '@' not in local and not domain.startswith(('.', '-')) and '..' not in text


def clean(text: str) -> str:
    """Return *text* in one line, without control and format characters."""
    kept = ''.join(' ' if unicodedata.category(sign)[0] in 'CZ' else sign for sign in text)
    return ' '.join(kept.split())


def _shown(instant: datetime.datetime, zone: zoneinfo.ZoneInfo) -> str:
    """Return an instant with its zone, and with the difference to UTC if there is one."""
    there = instant.astimezone(zone)
    offset = there.strftime('%z')
    name = '' if there.tzname() == 'UTC' else f' (UTC{offset[:3]}:{offset[3:]})'
    return f'{there:%Y-%m-%d %H:%M} {there.tzname()}{name}'


def _zone(name: str) -> zoneinfo.ZoneInfo | None:
    """Return a zone; None if there is none of this name."""
    try:
        return zoneinfo.ZoneInfo(name)
    except (OSError, ValueError, zoneinfo.ZoneInfoNotFoundError):
        return None


def _configured(option_name: str, name: str) -> zoneinfo.ZoneInfo:
    zone = _zone(name)
    if zone is None:
        raise exceptions.ConfigurationError(f'[mail] {option_name}: there is no zone {name}')
    return zone


def _is_plain(folder: pathlib.Path | None, name: str) -> bool:
    """Whether the operator has replaced the text of a notice, but not its page."""
    return (
        folder is not None
        and (folder / f'{name}.txt').exists()
        and not (folder / f'{name}.html').exists()
    )


def _read(folder: pathlib.Path | None, name: str) -> _Text:
    own = None if folder is None else folder / f'{name}.txt'
    try:
        if own is not None and own.exists():
            text, where = own.read_text(encoding='utf-8'), str(own)
        else:
            file = resources.files(_PACKAGE) / 'templates' / f'{name}.txt'
            text, where = file.read_text(encoding='utf-8'), str(file)
    except (OSError, UnicodeDecodeError) as error:
        raise exceptions.ConfigurationError(f'[mail] template_dir: {own}: {error}') from error
    return _parsed(text, where, _MANY if name == _DIGEST else _ONE)


def _parsed(text: str, where: str, known: frozenset[str]) -> _Text:
    first, _, rest = text.partition('\n')
    if not first.startswith(_SUBJECT):
        raise exceptions.ConfigurationError(f'{where}: the first line must begin with {_SUBJECT}')
    made = _Text(
        subject=string.Template(first.removeprefix(_SUBJECT).strip()),
        body=string.Template(rest.lstrip('\n')),
    )
    for template in (made.subject, made.body):
        if not template.is_valid():
            raise exceptions.ConfigurationError(f'{where}: a lone $; write $$ for the sign itself')
        unknown = sorted(set(template.get_identifiers()) - known)
        if unknown:
            names = ', '.join(f'${name}' for name in unknown)
            raise exceptions.ConfigurationError(f'{where}: nothing is known for {names}')
    return made
