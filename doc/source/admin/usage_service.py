# SPDX-License-Identifier: Apache-2.0

"""Grants each project a number of host hours; an example of an external service."""

import datetime
import json
import threading
from http.server import BaseHTTPRequestHandler
from http.server import ThreadingHTTPServer

BUDGET = 1000.0
lock = threading.Lock()
holds = {}  # question -> (project, lease, hours): allowed, with no outcome yet
bills = {}  # lease -> (project, lease, hours): booked


def hours(lease, seconds=None):
    if seconds is None:
        start, end = (datetime.datetime.fromisoformat(lease[f'{x}_date']) for x in ('start', 'end'))
        seconds = (end - start).total_seconds()
    return seconds / 3600 * sum(len(line['allocations']) for line in lease['reservations'])


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        lease, call = body['lease'], self.path.rsplit('/', 1)[-1]
        entry = (lease['project_id'], lease['id'], hours(lease, body.get('used_seconds')))
        with lock:
            answer = self.check(body['id'], entry) if call.startswith('check-') else None
            if not call.startswith('check-'):
                holds.pop(body['id'], None)
            if call in ('commit', 'on-end') or body.get('undone'):
                bills[lease['id']] = entry
        self.send_response(403 if answer else 204)
        self.end_headers()
        self.wfile.write(json.dumps({'message': answer}).encode() if answer else b'')

    def check(self, question, entry):
        others = [*holds.values(), *(bill for bill in bills.values() if bill[1] != entry[1])]
        used = sum(one[2] for one in others if one[0] == entry[0])
        if used + entry[2] > BUDGET:
            return f'{BUDGET - used:.1f} host hours are left, this takes {entry[2]:.1f}'
        holds[question] = entry


if __name__ == '__main__':
    ThreadingHTTPServer(('127.0.0.1', 8380), Handler).serve_forever()
