// SPDX-License-Identifier: Apache-2.0

/** Requests to the API, beside which the page is served. */

const BASE = new URL('../v1/', document.baseURI);
const SESSION = new URL('session', document.baseURI);

export class Refusal extends Error {
  constructor(
    readonly status: number, message: string, readonly request: string, readonly body: any,
  ) {
    super(message);
  }
}

export interface Answer<T> { status: number; body: T; etag: string | null }
interface Options { etag?: string | null; signal?: AbortSignal; params?: Record<string, unknown> }

/** Send a request below /v1. Throws a Refusal for 4xx and 5xx, a TypeError without connection. */
export async function call<T>(
  method: string, path: string, body?: unknown, options: Options = {},
): Promise<Answer<T>> {
  const url = new URL(path, BASE);
  for (const [key, value] of Object.entries(options.params ?? {})) {
    if (value !== '' && value != null) url.searchParams.set(key, String(value));
  }
  return send<T>(method, url, body, options);
}

export const get = async <T>(path: string, params?: Record<string, unknown>): Promise<T> =>
  (await call<T>('GET', path, undefined, { params })).body;

/** Send a request to the session, which is beside the page, or to what is below it. */
export const session = <T>(method: string, body?: unknown, below = ''): Promise<Answer<T>> =>
  send<T>(method, new URL(SESSION.href + below), body, {});

/** Milliseconds after which a service that has too much to do at once is asked again. */
const BUSY = [200, 400, 800, 1600];

/** Send a request, and again if the service did nothing because it had too many at once. */
async function send<T>(
  method: string, url: URL, body: unknown, options: Options,
): Promise<Answer<T>> {
  for (const pause of BUSY) {
    try {
      return await sendOnce<T>(method, url, body, options);
    } catch (error) {
      if (!(error instanceof Refusal) || error.body?.error_name !== 'TOO_MANY_AT_ONCE') throw error;
    }
    await new Promise((done) => setTimeout(done, pause));
  }
  return sendOnce<T>(method, url, body, options);
}

async function sendOnce<T>(
  method: string, url: URL, body: unknown, options: Options,
): Promise<Answer<T>> {
  const headers: Record<string, string> = {
    Accept: 'application/json', 'OpenStack-API-Version': 'reservation 1.8', 'X-Climate-UI': '1',
  };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (options.etag) headers['If-None-Match'] = options.etag;
  const response = await fetch(url, {
    method, headers, credentials: 'same-origin', cache: 'no-store',
    signal: options.signal ?? AbortSignal.timeout(30000),
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = response.status === 304 || response.status === 204 ? '' : await response.text();
  const answer = parsed(text);
  if (response.status >= 400) {
    const message = answer?.error_message ?? answer?.error?.message ?? response.statusText;
    const request = response.headers.get('X-OpenStack-Request-Id') ?? '';
    throw new Refusal(response.status, String(message), request, answer);
  }
  return { status: response.status, body: answer as T, etag: response.headers.get('ETag') };
}

function parsed(text: string): any {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

/** Return an instant as the API reads it. */
export const iso = (at: number): string =>
  `${new Date(Math.round(at) * 1000).toISOString().slice(0, 19)}Z`;

/** Return the seconds since 1970 of an instant of the API. */
export const seconds = (text: string): number =>
  Date.parse(/[Z+]/.test(text.slice(10)) ? text : `${text.replace(' ', 'T')}Z`) / 1000;
