// Requests to the admin API with the session of this page.

const PROOF = 'millrace-proof';
const WHO = 'millrace-session';
const REFRESH_MILLIS = 10000;

export class ApiError extends Error {
  constructor(status, code, message, waitSeconds) {
    super(message);
    this.status = status;
    this.code = code;
    this.waitSeconds = waitSeconds || 0;
  }
}

let ended = () => {};
let changed = () => {};
let refreshed = 0;
// The login by a code: other requests wait for it, so that the page is shown meanwhile.
let opening = null;

/** Sets the function that is called when the session has ended. */
export function onSessionEnd(handler) {
  ended = handler;
}

/** Sets the function that is called with the rights of the session. */
export function onSessionChange(handler) {
  changed = handler;
}

export function hasProof() {
  return localStorage.getItem(PROOF) !== null;
}

/** Name and rights of the session as they were known last; null before the first login. */
export function knownSession() {
  try {
    return JSON.parse(localStorage.getItem(WHO));
  } catch (e) {
    return null;
  }
}

function learn({name, role, sites, kinds}) {
  const session = {name, role, sites, kinds};
  localStorage.setItem(WHO, JSON.stringify(session));
  changed(session);
}

/** Asks for the rights of the session: a reload of the configuration may have changed them. */
export async function refreshSession() {
  refreshed = Date.now();
  learn(await get('/v1/session'));
}

async function send(method, path, body, signal) {
  const isLogin = method === 'POST' && path === '/v1/session';
  if (opening && !isLogin) {
    await opening;
  }
  const headers = {'X-Millrace-Session': localStorage.getItem(PROOF) || 'none'};
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json';
  }
  let response;
  let text;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      signal,
    });
    text = await response.text();
  } catch (e) {
    if (e.name === 'AbortError') {
      throw e;
    }
    throw new ApiError(0, 'unreachable', 'Millrace does not answer. If you ran "millctl dashboard", check that it still runs.');
  }
  if (response.ok) {
    return text;
  }
  let error = {code: 'status-' + response.status, message: 'The request failed with status ' + response.status + '.'};
  try {
    error = JSON.parse(text).error || error;
  } catch (e) {
    // Not JSON: the status is all that is known.
  }
  const failure = new ApiError(response.status, String(error.code), String(error.message), Number(response.headers.get('Retry-After')));
  if (!isLogin && (response.status === 401 || failure.code === 'page-refused')) {
    forget();
    ended(failure.code === 'session-ended' ? failure : new ApiError(401, 'session-ended', 'The session has ended. Log in again.'));
  }
  if (failure.code === 'role-refused' && Date.now() - refreshed > REFRESH_MILLIS) {
    // The rights may have changed.
    refreshSession().catch(() => {});
  }
  throw failure;
}

export function getText(path, signal) {
  return send('GET', path, undefined, signal);
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
  return JSON.parse(await send('GET', text ? path + '?' + text : path, undefined, signal));
}

export async function post(path, body) {
  return JSON.parse(await send('POST', path, body || {}));
}

/** Opens a session: credentials have the member token or code. */
export async function login(credentials) {
  const session = await post('/v1/session', credentials);
  localStorage.setItem(PROOF, session.proof);
  learn(session);
}

/** Opens a session with a one-time code, while the page is shown already. The session is that of an operator. */
export function loginWithCode(code) {
  const before = hasProof() ? knownSession() : null;
  learn({name: 'dashboard', role: 'operator', sites: [], kinds: []});
  opening = login({code}).catch((failure) => {
    if (before && failure.code === 'wrong-code') {
      // The URL was opened again in a browser that has a session: that one continues.
      learn(before);
      return;
    }
    forget();
    ended(failure);
    throw failure;
  });
  opening.catch(() => {}).finally(() => {
    opening = null;
  });
}

export async function logout() {
  try {
    await post('/v1/session/end', {});
  } finally {
    forget();
    ended(null);
  }
}

function forget() {
  localStorage.removeItem(PROOF);
  localStorage.removeItem(WHO);
}
