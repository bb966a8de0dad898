// Requests to the admin API with the session of this page.

import {pause} from './pause.js';

/** Names in the storage of this origin, which includes the port. */
const PROOF = 'millrace-proof';
const SESSION = 'millrace-session';

const REFRESH_MILLIS = 10000;

/** The page's own limits. They are longer than those of the server, and matter when the connection is dead. */
const QUERY_LIMIT_MILLIS = 45000;
const CHANGE_LIMIT_MILLIS = 360000;

/** Answers that are kept, so that Millrace need not send them again while they do not change. */
const KEPT_MAX = 32;

const TRY_AGAIN = 'Try again in some seconds. If it fails again, run "millctl status" and read the log of the launcher.';

/** What to do next, by the code of an error. Messages with other codes name it themselves. */
const ADVICE = {
  'unreachable': 'If "millctl dashboard" has ended, run it again. If it runs, see "millctl status" on the machine of the proxy.',
  'no-answer': TRY_AGAIN,
  'not-understood': TRY_AGAIN,
  'timeout': TRY_AGAIN,
  'wrong-token': 'Enter the content of the token file, or run "millctl dashboard".',
  'role-refused': 'Log in with a token of another role.',
  'kind-refused': 'Log in with a token that has this kind.',
  'site-refused': 'Log in with a token that has this site.',
  'page-refused': 'Load the page again.',
  'host-refused': 'Open the dashboard by the IP address or by localhost.',
  'origin-refused': 'Open the dashboard by the address that Millrace printed.',
  'too-many-counts': 'Wait until one has ended.',
  'not-found': 'Load the page again: Millrace may have been updated.',
};

/** A failed request: the status (0 without a response), a stable code, a sentence, and what to do next. */
export class ApiError extends Error {
  constructor(status, code, message, waitSeconds) {
    super(message);
    this.status = status;
    this.code = code;
    this.waitSeconds = waitSeconds || 0;
    this.advice = ADVICE[code] || (status >= 500 ? TRY_AGAIN : '');
  }
}

let onEnd = () => {};
let onChange = () => {};
let refreshedMillis = 0;
/** The login by a code: other requests wait for it, so that the page is shown meanwhile. Null without one. */
let loginInProgress = null;
/** The latest answers with an ETag by path, the oldest first. */
const kept = new Map();

/** Sets the function that is called with the reason when the session has ended; null for a logout. */
export function onSessionEnd(handler) {
  onEnd = handler;
}

/** Sets the function that is called with the rights of the session. */
export function onSessionChange(handler) {
  onChange = handler;
}

export function hasProof() {
  return localStorage.getItem(PROOF) !== null;
}

/** Name and rights of the session as they were known last; null before the first login. */
export function knownSession() {
  try {
    return JSON.parse(localStorage.getItem(SESSION));
  } catch (e) {
    return null;
  }
}

function keepSession({name, role, sites, kinds}) {
  const session = {name, role, sites, kinds};
  localStorage.setItem(SESSION, JSON.stringify(session));
  onChange(session);
}

function forgetSession() {
  localStorage.removeItem(PROOF);
  localStorage.removeItem(SESSION);
  kept.clear();
}

/** Loads the rights of the session again: a reload of the configuration may have changed them. */
export async function refreshSession() {
  refreshedMillis = Date.now();
  keepSession(await get('/v1/session'));
}

function keep(path, tag, text) {
  kept.delete(path);
  kept.set(path, {tag, text});
  if (kept.size > KEPT_MAX) {
    kept.delete(kept.keys().next().value);
  }
}

/** Sends a request and returns status, Retry-After, text and age of the response. An answer that is kept is not sent again. */
async function exchange(method, path, body, {signal, keepalive}) {
  const headers = {'X-Millrace-Session': localStorage.getItem(PROOF) || 'none'};
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json';
  }
  const before = method === 'GET' ? kept.get(path) : undefined;
  if (before) {
    headers['If-None-Match'] = before.tag;
  }
  const limit = new AbortController();
  const abort = () => limit.abort();
  const timer = setTimeout(abort, method === 'GET' ? QUERY_LIMIT_MILLIS : CHANGE_LIMIT_MILLIS);
  if (signal) {
    signal.addEventListener('abort', abort);
  }
  try {
    const response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      keepalive: Boolean(keepalive),
      signal: limit.signal,
    });
    const ageMillis = Number(response.headers.get('Millrace-Age-Millis'));
    if (before && response.status === 304) {
      return {ok: true, status: 200, waitSeconds: 0, text: before.text, ageMillis, isKept: true};
    }
    const text = await response.text();
    const tag = response.headers.get('ETag');
    if (response.ok && tag) {
      keep(path, tag, text);
    }
    return {ok: response.ok, status: response.status, waitSeconds: Number(response.headers.get('Retry-After')), text, ageMillis, isKept: false};
  } catch (e) {
    if (signal && signal.aborted) {
      throw e;
    }
    throw limit.signal.aborted
      ? new ApiError(0, 'no-answer', 'Millrace did not answer in time.')
      : new ApiError(0, 'unreachable', 'Millrace does not answer.');
  } finally {
    clearTimeout(timer);
    if (signal) {
      signal.removeEventListener('abort', abort);
    }
  }
}

function failureOf({status, text, waitSeconds}) {
  try {
    const {code, message} = JSON.parse(text).error;
    return new ApiError(status, String(code), String(message), waitSeconds);
  } catch (e) {
    // Not the JSON of the admin API: the status is all that is known.
    return new ApiError(status, 'status-' + status, 'The request failed with status ' + status + '.', waitSeconds);
  }
}

async function send(method, path, body, options) {
  const isLogin = method === 'POST' && path === '/v1/session';
  if (loginInProgress && !isLogin) {
    await loginInProgress;
  }
  const {signal} = options || {};
  if (signal && signal.aborted) {
    throw new DOMException('The request is not needed any more.', 'AbortError');
  }
  const response = await exchange(method, path, body, options || {});
  if (response.ok) {
    return response;
  }
  const failure = failureOf(response);
  if (!isLogin && (failure.status === 401 || failure.code === 'page-refused')) {
    forgetSession();
    onEnd(failure.code === 'session-ended' ? failure : new ApiError(401, 'session-ended', 'The session has ended. Log in again.'));
  }
  if (failure.code === 'role-refused' && Date.now() - refreshedMillis > REFRESH_MILLIS) {
    // The rights may have changed.
    refreshSession().catch(() => {});
  }
  throw failure;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (e) {
    throw new ApiError(0, 'not-understood', 'The answer of Millrace is incomplete.');
  }
}

/** The text of an answer, its age in milliseconds, and whether it is the same as before. */
export function getSnapshot(path, signal) {
  return send('GET', path, undefined, {signal});
}

export async function get(path, parameters, signal) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters || {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '') {
        query.append(name, one);
      }
    }
  }
  const text = query.toString();
  return parsed((await getSnapshot(text ? path + '?' + text : path, signal)).text);
}

/** Like get, for one of many requests that follow each other: waits when the token has sent too many, and sends it again. */
export async function getWhenAllowed(path, parameters, signal) {
  for (;;) {
    try {
      return await get(path, parameters, signal);
    } catch (error) {
      if (error.code !== 'rate-limited') {
        throw error;
      }
      await pause(Math.max(1, error.waitSeconds) * 1000, signal);
    }
  }
}

/** Sends a change. With keepalive the browser sends it also while the page is being left. */
export async function post(path, body, options) {
  return parsed((await send('POST', path, body || {}, options)).text);
}

/** Opens a session: credentials have the member token or code. */
export async function login(credentials) {
  const session = await post('/v1/session', credentials);
  localStorage.setItem(PROOF, session.proof);
  keepSession(session);
}

/** Opens a session with a one-time code, while the page is shown already. The session is that of an operator. */
export function loginWithCode(code) {
  const before = hasProof() ? knownSession() : null;
  keepSession({name: 'dashboard', role: 'operator', sites: [], kinds: []});
  loginInProgress = login({code}).catch((failure) => {
    if (before) {
      // The code was used, or cannot be sent: the session that this browser has continues.
      keepSession(before);
      return;
    }
    forgetSession();
    onEnd(failure);
    throw failure;
  });
  loginInProgress.catch(() => {}).finally(() => {
    loginInProgress = null;
  });
}

/** Ends the session here, and in Millrace if it answers. */
export async function logout() {
  let reason = null;
  try {
    await post('/v1/session/end', {});
  } catch (failure) {
    if (failure.status !== 401) {
      reason = new ApiError(failure.status, failure.code, 'The session is forgotten here, but Millrace may have kept it: '
        + failure.message + ' End all sessions with "millctl dashboard --log-out-all".');
      reason.advice = '';
    }
  }
  forgetSession();
  onEnd(reason);
}
