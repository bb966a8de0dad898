// The frame of the dashboard: login, navigation, theme.

import {html, render, useState, useEffect} from './vendor/htm-preact.js';
import {ApiError, get, hasProof, knownSession, login, loginWithCode, logout, onSessionChange, onSessionEnd, refreshSession} from './api.js';
import {usesUtc, useUtc} from './format.js';
import {Failure, State, failureText, useLoad} from './parts.js';
import {rightsOf} from './rights.js';
import * as live from './live.js';
import {Overview} from './overview.js';

const ICON = new URL('./icon.svg', import.meta.url).href;
const LOAD_OTHERS_MILLIS = 1500;

/** The screens. Only the first is loaded with the page. */
const SCREENS = [
  {name: 'overview', title: 'Overview', part: Overview},
  {name: 'latency', title: 'Latency', load: () => import('./latency.js').then((file) => file.Latency)},
  {name: 'events', title: 'Events', load: () => import('./events.js').then((file) => file.Events)},
  {name: 'log', title: 'Live log', load: () => import('./log.js').then((file) => file.LiveLog)},
  {name: 'cache', title: 'Cache', load: () => import('./cache.js').then((file) => file.Cache)},
  {name: 'curve', title: 'RAM', load: () => import('./curve.js').then((file) => file.Curve)},
  {name: 'inspect', title: 'Inspector', load: () => import('./inspect.js').then((file) => file.Inspector)},
  {name: 'purge', title: 'Purge', load: () => import('./purge.js').then((file) => file.Purge)},
  {name: 'origins', title: 'Origins', load: () => import('./origins.js').then((file) => file.Origins)},
  {name: 'fleet', title: 'Fleet', load: () => import('./fleet.js').then((file) => file.Fleet)},
  {name: 'config', title: 'Configuration', load: () => import('./config.js').then((file) => file.Configuration)},
  {name: 'processes', title: 'Processes', load: () => import('./processes.js').then((file) => file.Processes)},
  {name: 'disks', title: 'Disks', load: () => import('./processes.js').then((file) => file.Disks)},
  {name: 'certificates', title: 'Certificates', load: () => import('./certificates.js').then((file) => file.Certificates)},
];

/** The screens for a role: a purger sees its purges only. */
function screensOf(rights) {
  return rights.mayRead ? SCREENS : SCREENS.filter((screen) => screen.name === 'purge');
}

async function loadPart(screen) {
  if (!screen.part) {
    screen.part = await screen.load();
  }
  return screen.part;
}

/** A screen, and a line until its file is loaded. */
function Loaded({screen, ...properties}) {
  const [state, setState] = useState({part: screen.part, error: null});
  useEffect(() => {
    if (!state.part) {
      loadPart(screen).then((part) => setState({part, error: null}), () => setState({part: null,
        error: new ApiError(0, 'not-loaded', 'This part of the page cannot be loaded. If Millrace was updated, load the page again.')}));
    }
  }, []);
  return state.part
    ? html`<${state.part} ...${properties} />`
    : html`<main id="content" tabindex="-1">${state.error ? html`<${Failure} error=${state.error} />`
      : html`<p class="loading" role="status">Loading.</p>`}</main>`;
}

const THEMES = ['auto', 'light', 'dark'];

/** The screen and its state from the fragment, such as #/cache?host=a.example. */
function route() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?', 2);
  return {path, parameters: Object.fromEntries(new URLSearchParams(query || ''))};
}

function theme() {
  const stored = localStorage.getItem('millrace-theme');
  return THEMES.includes(stored) ? stored : 'auto';
}

/** Text of a theme on its button. The accessible name of the button begins with the same text. */
function themeText(name) {
  return name === 'auto' ? 'System theme' : name === 'dark' ? 'Dark theme' : 'Light theme';
}

function applyTheme(name) {
  localStorage.setItem('millrace-theme', name);
  if (name === 'auto') {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = name;
  }
}

function Login({problem}) {
  const [token, setToken] = useState('');
  const [error, setError] = useState(problem);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await login({token});
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return html`<main class="login"><form onSubmit=${submit}>
    <div class="brand"><img src=${ICON} alt="" width="36" height="36" /><span>Millrace</span></div>
    <h1>Log in</h1>
    <p>Run <code>millctl dashboard</code> on the machine of the proxy and open the URL that it prints.${' '}
      With <code>admin.listen</code>, a token of <code>admin.token_file</code> or <code>admin.tokens</code> works too.</p>
    <${Failure} error=${error} />
    <label class="field"><span class="field-label">Token</span>
      <input type="password" name="token" autocomplete="off" required value=${token}
        onInput=${(event) => setToken(event.target.value)} /></label>
    <button class="primary" disabled=${busy || token === ''}>Log in</button>
  </form></main>`;
}

/** Name and role of the session. */
function SessionLabel({session}) {
  const isOfToken = session.name !== 'dashboard';
  const limits = session.sites.length > 0 ? ', for the sites ' + session.sites.join(', ') : '';
  return html`<span class="who" title=${(isOfToken ? 'Session of the token ' + session.name : 'Session of millctl dashboard')
    + ' with the role ' + session.role + limits}>${isOfToken && session.name !== session.role
    ? html`<span class="who-name">${session.name}</span> ` : ''}<span class="tag">${session.role}</span></span>`;
}

function Frame({session}) {
  const rights = rightsOf(session);
  const screens = screensOf(rights);
  const [place, setPlace] = useState(route());
  const [chosenTheme, setChosenTheme] = useState(theme());
  const [dark, setDark] = useState(matchMedia('(prefers-color-scheme: dark)').matches);
  const [utc, setUtc] = useState(usesUtc());
  const status = useLoad((signal) => (rights.mayRead ? get('/v1/status', {}, signal) : Promise.resolve(null)), [rights.mayRead],
    rights.mayRead ? 5000 : 0);
  const alarms = useLoad((signal) => (rights.mayRead ? get('/v1/alarms', {}, signal) : Promise.resolve(null)), [rights.mayRead],
    rights.mayRead ? 5000 : 0);
  const raised = alarms.data ? alarms.data.alarms.length : 0;
  useEffect(() => {
    const onMove = () => {
      setPlace(route());
      window.scrollTo(0, 0);
    };
    const system = matchMedia('(prefers-color-scheme: dark)');
    const changed = () => setDark(system.matches);
    window.addEventListener('hashchange', onMove);
    system.addEventListener('change', changed);
    const others = setTimeout(() => screens.forEach((screen) => loadPart(screen).catch(() => {})), LOAD_OTHERS_MILLIS);
    return () => {
      window.removeEventListener('hashchange', onMove);
      system.removeEventListener('change', changed);
      clearTimeout(others);
    };
  }, []);
  useEffect(() => {
    if (rights.mayRead) {
      live.start();
    }
    return live.stop;
  }, [rights.mayRead]);
  const screen = screens.find((one) => one.name === place.path) || screens[0];
  useEffect(() => {
    // On small screens the navigation scrolls. The page must not.
    const link = document.querySelector('nav a[aria-current]');
    link.parentElement.scrollLeft = link.offsetLeft - (link.parentElement.clientWidth - link.offsetWidth) / 2;
  }, [screen.name]);
  const nextTheme = THEMES[(THEMES.indexOf(chosenTheme) + 1) % THEMES.length];
  const data = status.data;
  return html`<div class="frame">
    <a class="skip" href="#content" onClick=${(event) => {
      event.preventDefault();
      document.getElementById('content').focus();
    }}>Skip to the content</a>
    <header>
      <div class="brand"><img src=${ICON} alt="" width="26" height="26" /><span>Millrace</span>
        ${data && html`<span class="version">${data.version}</span>`}</div>
      <div class="header-state">${data && html`<${State} word=${raised > 0 && data.state === 'running' ? 'pending' : data.state} text=${data.state.replace('_', ' ')} />`}
        ${raised > 0 && html`<a href="#/overview" data-name="raised"><${State} word="failed" text=${raised + (raised === 1 ? ' alarm' : ' alarms')} /></a>`}
        ${status.error && html`<span title=${failureText(status.error)}><${State} word="failed"
          text=${status.error.status > 0 ? 'status ' + status.error.status : 'no answer'} /></span>`}</div>
      <${SessionLabel} session=${session} />
      <div class="header-actions">
        <button type="button" class="quiet" aria-label=${'Times in ' + (utc ? 'UTC' : 'local time') + ', change'} onClick=${() => {
          useUtc(!utc);
          setUtc(!utc);
        }}>${utc ? 'UTC' : 'Local time'}</button>
        <button type="button" class="quiet" aria-label=${themeText(chosenTheme) + ', change to ' + themeText(nextTheme)} onClick=${() => {
          applyTheme(nextTheme);
          setChosenTheme(nextTheme);
        }}>${themeText(chosenTheme)}</button>
        <button type="button" class="quiet" onClick=${logout}>Log out</button>
      </div>
    </header>
    <nav aria-label="Screens">${screens.map(({name, title}) => html`<a href=${'#/' + name}
      aria-current=${screen.name === name ? 'page' : undefined}>${title}</a>`)}</nav>
    <${Loaded} key=${screen.name} screen=${screen} parameters=${place.parameters} status=${status} theme=${chosenTheme + dark} utc=${utc} rights=${rights} />
  </div>`;
}

function App({problem}) {
  const [session, setSession] = useState(knownSession());
  const [reason, setReason] = useState(problem);
  useEffect(() => {
    onSessionChange(setSession);
    onSessionEnd((failure) => {
      setReason(failure);
      setSession(null);
    });
  }, []);
  return session ? html`<${Frame} session=${session} />` : html`<${Login} problem=${reason} />`;
}

/**
 * Uses a one-time code in the fragment, if there is one. It leaves the address bar and the history before anything else is done.
 * Returns whether there was one.
 */
function useCode() {
  const code = /^#code=([A-Za-z0-9_-]+)$/.exec(location.hash);
  if (code) {
    history.replaceState(null, '', location.pathname + '#/overview');
    loginWithCode(code[1]);
  }
  return code !== null;
}

async function main() {
  applyTheme(theme());
  let problem = null;
  // A URL that is entered into the open page changes the fragment only. Added before the frame's listener, which reads the rest.
  window.addEventListener('hashchange', useCode);
  try {
    if (useCode()) {
      // The login is in progress.
    } else if (hasProof() && !knownSession()) {
      await refreshSession();
    } else if (hasProof()) {
      refreshSession().catch(() => {});
    }
  } catch (e) {
    problem = e;
  }
  const parent = document.getElementById('app');
  parent.textContent = '';
  render(html`<${App} problem=${problem} />`, parent);
}

main();
