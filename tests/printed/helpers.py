# SPDX-License-Identifier: Apache-2.0
"""What hidden lines of pages may call, by the name of a function: ``helpers.py NAME WORD...``.

They ask the Climate that ``$CLIMATE`` names, with the token ``$TOKEN``.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

PATIENCE = 60


def _ask(method: str, path: str, body: bytes | None = None, version: str = '1.3') -> dict:
    request = urllib.request.Request(
        os.environ['CLIMATE'] + path,
        method=method,
        data=body,
        headers={
            'Content-Type': 'application/json',
            'OpenStack-API-Version': f'reservation {version}',
            'X-Auth-Token': os.environ['TOKEN'],
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        sys.exit(f'{method} {path}: {error.code} {error.read().decode()}')
    return json.loads(text) if text else {}


def _find(name: str) -> dict:
    """Return the latest lease of a name, or the one of an id; an empty one if there is none."""
    found = [lease for lease in _ask('GET', '/leases')['leases'] if name in lease.values()]
    return found[-1] if found else {}


def _lease(name: str) -> dict:
    return _find(name) or sys.exit(f'there is no lease {name}')


def lease_id(name: str) -> None:
    """Print the id of the latest lease of a name."""
    print(_lease(name)['id'])


def reservation_id(name: str, number: str = '0') -> None:
    """Print the id of a reservation of a lease."""
    print(_lease(name)['reservations'][int(number)]['id'])


def wait_for(name: str, status: str) -> None:
    """Wait until a lease has a status."""
    deadline = time.monotonic() + PATIENCE
    while (found := _find(name)).get('status') != status:
        if time.monotonic() > deadline:
            sys.exit(f'it is not {status}: {found}')
        time.sleep(0.05)


def post(path: str, file: str = '-', version: str = '1.3') -> None:
    """Send a file and print the answer."""
    _send('POST', path, file, version)


def put(path: str, file: str = '-', version: str = '1.3') -> None:
    """Send a file and print the answer."""
    _send('PUT', path, file, version)


def _send(method: str, path: str, file: str, version: str) -> None:
    print(json.dumps(_ask(method, path, _read(file).encode(), version)))


def _read(file: str) -> str:
    """Return what is in a file; ``-`` is what is handed in."""
    if file == '-':
        return sys.stdin.read()
    with open(file, encoding='utf-8') as opened:
        return opened.read()


def get(path: str, version: str = '1.3') -> None:
    """Print the answer to a request."""
    print(json.dumps(_ask('GET', path, None, version)))


def refused(status: str, path: str, file: str = '-', version: str = '1.3') -> None:
    """Send a file that has to be refused, and print the answer."""
    try:
        _send('POST', path, file, version)
    except SystemExit as error:
        _, _, answer = str(error).partition(f': {status} ')
        if not answer:
            raise
        print(answer)
    else:
        sys.exit(f'{path}: not refused')


def lease_of(*words: str) -> None:
    """Print the body of a lease of one reservation: that in a file, or of such fields."""
    reservation: dict = {}
    for word in words:
        key, _, value = word.partition('=')
        if key.startswith('@'):
            reservation.update(json.loads(_read(key[1:])))
        elif value.startswith('@'):
            reservation[key] = _read(value[1:])
        else:
            reservation[key] = int(value) if value.isdigit() else value
    body = {'name': 'mine', 'start_date': 'now', 'duration': '2h', 'reservations': [reservation]}
    print(json.dumps(body))


def pick(kind: str, field: str, value: str, wanted: str) -> None:
    """Print a field of the one of a kind that has such a value in another field."""
    for each in json.load(sys.stdin)[kind]:
        if str(each.get(field)) == value:
            print(each[wanted])
            return
    sys.exit(f'no {kind} with {field} {value}')


def has_fields_of(file: str, inside: str = '') -> None:
    """Fail unless an answer has the fields of that in a file, and no others.

    With *inside* it is about what the answer has there, as far as the file shows it.
    """
    shown, real = json.loads(_read(file)), json.load(sys.stdin)
    if inside:
        real = {name: value for name, value in real[inside].items() if name in shown}
    missing, more = fields(real) - fields(shown), fields(shown) - fields(real)
    if missing or more:
        sys.exit(f'{file} lacks {sorted(missing)} and has {sorted(more)}')


def fields(value: object, place: str = '') -> set[str]:
    """Return the paths of all fields of an answer; those of the members of a list are the same."""
    if isinstance(value, list):
        return {path for each in value for path in fields(each, f'{place}[]')}
    if isinstance(value, dict):
        return {f'{place}.{name}' for name in value} | {
            path for name, each in value.items() for path in fields(each, f'{place}.{name}')
        }
    return set()


HELPERS = (
    get,
    has_fields_of,
    lease_id,
    lease_of,
    pick,
    post,
    put,
    refused,
    reservation_id,
    wait_for,
)


if __name__ == '__main__':
    next(helper for helper in HELPERS if helper.__name__ == sys.argv[1])(*sys.argv[2:])
