// Requests as they finish, and the last slow, failed and refused ones, with the details of one request.

import {html, useState, useEffect, useRef} from './vendor/htm-preact.js';
import {get} from './api.js';
import {count, bytes, span, time, usesUtc, NONE} from './format.js';
import {Screen, Panel, Failure, Field, Message, UrlLink, useDialog, useLoad} from './parts.js';
import {pause} from './pause.js';
import {ExpressionError} from './cache.js';

const ROWS_MAX = 300;
const WAIT_SECONDS = 10;
/** Time between two requests while there are new records, so that a busy proxy is not asked all the time. */
const BETWEEN_MILLIS = 1000;
const KEPT_EVERY_MILLIS = 5000;
const KEPT_LIMIT = 500;

const KINDS = [
  ['live', 'Live', 'Requests as they finish, also without an access log. The same as millctl log follow.'],
  ['slow', 'Slow', 'The last requests whose first byte of the response came later than log.slow_threshold permits. The same as millctl log slow.'],
  ['failed', 'Failed', 'The last responses with status 5xx, or incomplete because of the origin or the disk. The same as millctl log failed.'],
  ['refused', 'Refused', 'The last requests that a rule or a limit refused, and invalid ones. The same as millctl log refused.'],
];

const RESULTS = ['hit', 'stale', 'revalidated', 'stale-miss', 'uri-miss', 'vary-miss', 'request', 'partial', 'method', 'bypass', 'none'];

/** Members that are times in microseconds, and members that are bytes. */
const TIMES = ['duration_us', 'first_byte_us'];
const BYTES = ['bytes', 'body_bytes', 'received_bytes'];

function quoted(text) {
  return '"' + text.replace(/[\\"]/g, '\\$&') + '"';
}

/** The condition for a status such as 404, 5xx or 400-499; null if the text is none of them. */
function statusCondition(text) {
  const parts = /^(?:([1-5])xx|(\d{3})(?:-(\d{3}))?)$/i.exec(text.trim());
  if (!parts) {
    return null;
  }
  if (parts[1]) {
    return 'status >= ' + parts[1] + '00 && status <= ' + parts[1] + '99';
  }
  return parts[3] ? 'status >= ' + parts[2] + ' && status <= ' + parts[3] : 'status == ' + parts[2];
}

/** The expression of all filters together, and what is wrong with them. */
function conditionOf({host, status, cache, client, where}) {
  const parts = [];
  if (host) {
    // Hosts have their port unless that is the scheme's default. A filter without a port means every port.
    parts.push(/^[a-z0-9._-]+$/i.test(host) ? 'host =~ ' + quoted('^' + host.replaceAll('.', '[.]') + '(:[0-9]+)?$')
      : 'host == ' + quoted(host));
  }
  if (status) {
    const condition = statusCondition(status);
    if (condition === null) {
      return {where: '', problem: 'Status: expected for example 404, 5xx or 400-499.'};
    }
    parts.push(condition);
  }
  if (cache) {
    parts.push('cache == ' + quoted(cache));
  }
  if (client) {
    parts.push('client == ' + quoted(client));
  }
  if (where && parts.length === 0) {
    return {where, problem: null};
  }
  // The user's own expression comes first, so that the position of an error is easy to see.
  return {where: (where ? ['(' + where + ')', ...parts] : parts).join(' && '), problem: null};
}

/** The query of the address, without the empty parts. */
function go(parameters, change) {
  const next = new URLSearchParams({...parameters, ...change});
  [...next].filter(([, value]) => value === '').forEach(([name]) => next.delete(name));
  location.hash = '#/log' + (next.toString() ? '?' + next : '');
}

/**
 * Takes the records of one viewer until the signal aborts. A viewer that is not known any more begins again, because another worker
 * may serve.
 */
async function watch(where, signal, report) {
  let viewer = null;
  let after = 0;
  let lost = 0;
  while (!signal.aborted) {
    let waitMillis = BETWEEN_MILLIS;
    try {
      if (viewer === null) {
        const opened = await get('/v1/log/live', {where}, signal);
        viewer = opened.viewer;
        after = 0;
        lost = 0;
        report({records: [], lost: 0, gap: false, error: null});
        continue;
      }
      const batch = await get('/v1/log/live', {viewer, after, wait: WAIT_SECONDS}, signal);
      batch.records.forEach((one) => {
        after = Math.max(after, one.number);
      });
      report({records: batch.records, lost: batch.lost - lost, gap: false, error: null});
      lost = batch.lost;
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      if (error.code === 'unknown-viewer') {
        viewer = null;
        report({records: [], lost: 0, gap: true, error: null});
        continue;
      }
      report({records: [], lost: 0, gap: false, error});
      if (error.status === 400 || error.status === 403) {
        // The same request would fail again.
        return;
      }
      waitMillis = Math.max(BETWEEN_MILLIS, error.waitSeconds * 1000);
    }
    await pause(waitMillis, signal);
  }
}

const NOTHING = {rows: [], seen: 0, lost: 0, gap: false, error: null, isWatching: false};

/** The requests that finish while isOn; newest first. They stay when isOn ends, until the condition changes. */
function useLive(where, isOn) {
  const [state, setState] = useState(NOTHING);
  const keys = useRef(0);
  useEffect(() => setState(NOTHING), [where]);
  useEffect(() => {
    if (!isOn) {
      setState((old) => ({...old, isWatching: false}));
      return undefined;
    }
    const stop = new AbortController();
    watch(where, stop.signal, ({records, lost, gap, error}) => {
      if (stop.signal.aborted) {
        return;
      }
      const rows = records.map((one) => ({...one, key: ++keys.current})).reverse();
      setState((old) => ({
        rows: rows.length > 0 ? rows.concat(old.rows).slice(0, ROWS_MAX) : old.rows,
        seen: old.seen + rows.length,
        lost: old.lost + lost,
        gap: old.gap || gap,
        error,
        isWatching: error === null,
      }));
    });
    return () => stop.abort();
  }, [where, isOn]);
  return [state, () => setState((old) => ({...NOTHING, isWatching: old.isWatching}))];
}

/** A value with its unit. */
function shown(name, value) {
  if (TIMES.includes(name)) {
    return span(value / 1e6) + ' (' + count(value) + ' µs)';
  }
  if (BYTES.includes(name)) {
    return value < 1024 ? bytes(value) : bytes(value) + ' (' + count(value) + ' B)';
  }
  return name === 'time' ? time(value) + ' (' + value + ')' : String(value);
}

/** A help text, in which words between backquotes are code. */
function Help({text}) {
  return html`<span class="hint">${String(text).split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}</span>`;
}

/** Whether an origin was asked, so that the detail of the record is the reason why no stored response answered. */
function isForwarded({cache}) {
  return cache !== undefined && !['hit', 'stale', 'none'].includes(cache);
}

/** All members of one request with their help. Escape and Close end it. */
function Details({record, members, onClose, onHost}) {
  const dialog = useDialog();
  const known = members.map((one) => one.name);
  const others = Object.keys(record).filter((name) => !known.includes(name) && name !== 'key');
  const rows = [...members, ...others.map((name) => ({name, description: ''}))].filter(({name}) => record[name] !== undefined);
  const host = /^https?:\/\/([^/?#]+)/.exec(record.url || '');
  return html`<dialog ref=${dialog} class="wide-dialog" aria-labelledby="request-title" data-name="request" onCancel=${(event) => {
    event.preventDefault();
    onClose();
  }}>
    <h2 id="request-title">${record.method || 'Request'}${' '}${record.url || ''}</h2>
    ${isForwarded(record) && record.detail && html`<p data-name="why">Why not cached: <code>${record.detail}</code>. Inspect shows the decision.</p>`}
    <div class="details-box" tabindex="0" role="group" aria-label="Fields of the request"><dl class="details">${rows.map(({name, description}) => html`<div>
      <dt><code>${name}</code></dt><dd>${shown(name, record[name])}${description && html`<br /><${Help} text=${description} />`}</dd></div>`)}</dl></div>
    <div class="dialog-actions">
      ${record.url && html`<a class="button" href=${'#/inspect?' + new URLSearchParams({url: record.url, ...(record.client ? {client: record.client} : {}),
    ...(record.method && record.method !== 'GET' ? {method: record.method} : {})})}>Inspect</a>`}
      ${host && html`<button type="button" onClick=${() => onHost(host[1])}>Only this host</button>`}
      <button type="button" class="primary" onClick=${onClose}>Close</button>
    </div>
  </dialog>`;
}

/** Moves between the buttons of the rows by the arrow keys. */
function moveInRows(event) {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const row = event.target.closest('tr');
  if (step !== 0 && row && event.target.classList.contains('row-open')) {
    const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
    if (next) {
      next.querySelector('.row-open').focus();
    }
    event.preventDefault();
  }
}

function tone(record) {
  return record.status >= 500 || record.status === 0 ? 'bad' : record.status >= 400 ? 'doubtful' : record.cache === 'hit' ? 'good' : 'plain';
}

function Requests({rows, kind, empty, showsClients, onOpen}) {
  if (rows.length === 0) {
    return html`<p class="empty">${empty}</p>`;
  }
  return html`<div class="table-box" tabindex="0" role="group" aria-label="Requests, newest first"><table data-name="requests" onKeyDown=${moveInRows}>
    <thead><tr><th scope="col" class="log-time">${usesUtc() ? 'Time, UTC' : 'Local time'}</th><th scope="col" class="log-status">Status</th><th scope="col" class="log-result">Result</th>
      <th scope="col" class="right log-span">${kind === 'slow' ? 'First byte' : 'Duration'}</th><th scope="col" class="right log-size">Size</th>
      <th scope="col" class="log-method">Method</th><th scope="col">URL</th>${showsClients && html`<th scope="col">Client</th>`}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${row.key || row.number}>
      <td><button type="button" class="row-open" aria-label=${'Details of the request of ' + time(row.time)} onClick=${() => onOpen(row)}>${kind === 'live'
    ? time(row.time).slice(11, 19) + '.' + String(row.time).slice(20, 23) : time(row.time)}</button></td>
      <td><span class=${'state ' + tone(row)}>${row.status === 0 ? 'none' : row.status}</span></td>
      <td>${row.cache === 'none' ? row.result : row.cache}</td>
      <td class="right">${span((kind === 'slow' && row.first_byte_us ? row.first_byte_us : row.duration_us) / 1e6)}</td>
      <td class="right">${bytes(row.body_bytes)}</td>
      <td>${row.method || NONE}</td>
      <td class="wide-cell">${row.url ? html`<${UrlLink} url=${row.url} />` : NONE}${row.detail && html`<br /><span class="note">${row.detail}</span>`}</td>
      ${showsClients && html`<td>${row.client || NONE}</td>`}</tr>`)}</tbody>
  </table></div>`;
}

const FILTERS = ['host', 'status', 'cache', 'client', 'where'];

function Filters({parameters, showsClients, fields}) {
  const asked = Object.fromEntries(FILTERS.map((name) => [name, parameters[name] || '']));
  const [form, setForm] = useState(asked);
  useEffect(() => setForm(asked), [JSON.stringify(asked)]);
  const set = (name) => (event) => setForm({...form, [name]: event.target.value});
  const submit = (event) => {
    event.preventDefault();
    go(parameters, form);
  };
  const isFiltered = FILTERS.some((name) => asked[name] !== '');
  return html`<form class="form" onSubmit=${submit}>
    <${Field} label="Host"><input name="host" value=${form.host} onInput=${set('host')} placeholder="www.example.com" spellcheck="false" /><//>
    <${Field} label="Status"><input name="status" value=${form.status} onInput=${set('status')} placeholder="5xx, 404 or 400-499" spellcheck="false" /><//>
    <${Field} label="Cache result"><select name="cache" value=${form.cache} onChange=${set('cache')}>
      <option value="" selected=${form.cache === ''}>All</option>
      ${RESULTS.map((word) => html`<option value=${word} selected=${form.cache === word}>${word}</option>`)}</select><//>
    ${showsClients && html`<${Field} label="Client address"><input name="client" value=${form.client} onInput=${set('client')} placeholder="192.0.2.7" spellcheck="false" /><//>`}
    <${Field} label="Expression" wide=${true} hint=${html`Fields: ${fields.length > 0 ? fields.map((one) => one.name).join(', ') : 'host, status, cache, duration'}.
      Example: <code>duration > 500ms && type =~ "^image/"</code>`}>
      <input name="where" value=${form.where} onInput=${set('where')} spellcheck="false" autocomplete="off" /><//>
    <div class="form-actions"><button class="primary">Apply</button>
      <button type="button" disabled=${!isFiltered} onClick=${() => go(parameters, Object.fromEntries(FILTERS.map((name) => [name, ''])))}>No filter</button></div>
  </form>`;
}

/** Why there are no kept requests. */
function emptyText(kind, kept) {
  if (!kept) {
    return 'Loading.';
  }
  if (kept.kept_requests === 0) {
    return 'No requests are kept: log.kept_requests is 0.';
  }
  return kind === 'slow' && kept.slow_threshold_ms === 0 ? 'No slow requests are kept: log.slow_threshold is 0.'
    : 'No such request since the worker started.';
}

export function LiveLog({parameters, rights}) {
  const [kind, , about] = KINDS.find(([name]) => name === parameters.kind) || KINDS[0];
  const isLive = kind === 'live';
  const isPaused = parameters.paused === '1';
  const {where, problem} = conditionOf(parameters);
  const help = useLoad((signal) => get('/v1/log/fields', {}, signal), []);
  const [live, clear] = useLive(where, isLive && !isPaused && problem === null);
  const kept = useLoad((signal) => (isLive || problem !== null ? Promise.resolve(null)
    : get('/v1/log/kept', {kind, where, limit: KEPT_LIMIT}, signal)), [kind, where, isPaused], isLive || isPaused ? 0 : KEPT_EVERY_MILLIS);
  const [opened, setOpened] = useState(null);
  const rows = isLive ? live.rows : kept.data && kept.data.kind === kind ? kept.data.records : [];
  const error = isLive ? live.error : kept.error;
  const isRefused = error !== null && error !== undefined && (error.status === 400 || error.status === 403);
  const state = problem !== null || isRefused ? 'stopped' : isPaused ? 'paused' : error ? 'interrupted' : isLive && !live.isWatching ? 'starting' : 'watching';
  const states = {stopped: 'Stopped', paused: 'Paused', interrupted: 'Trying again', starting: 'Starting', watching: isLive ? 'Watching' : 'Kept up to date'};
  return html`<${Screen} title="Live log" about=${about}>
    <div class="tabs" role="navigation" aria-label="Requests">${KINDS.map(([name, title]) => html`<a
      href=${'#/log?' + new URLSearchParams([...Object.entries({...parameters, kind: name})])} aria-current=${kind === name ? 'true' : undefined}>${title}</a>`)}</div>
    <${Filters} parameters=${parameters} showsClients=${rights.mayChange} fields=${help.data ? help.data.fields : []} />
    ${problem !== null && html`<div class="message bad" role="alert">${problem}</div>`}
    <${ExpressionError} error=${error} where=${where} />
    <${Failure} error=${help.error} />
    ${isLive && live.lost > 0 && html`<${Message} tone="doubtful">${count(live.lost)} requests were not shown, because the proxy is busy. A filter
      shows fewer requests.<//>`}
    ${isLive && live.gap && html`<${Message}>Another worker began to serve, or this page was hidden. Requests in between are missing.<//>`}
    <${Panel} title=${isLive ? 'Requests' : 'Kept requests'} note=${html`<span role="status" data-name="log-state" data-value=${state}>${states[state]}</span>${', '}<span>${isLive ? count(live.seen) + ' seen' + (live.seen > rows.length ? ', the last ' + rows.length + ' shown' : '') : count(rows.length) + ' shown'}</span>`}
      actions=${html`<span class="buttons"><button type="button" onClick=${() => go(parameters, {paused: isPaused ? '' : '1'})}>${isPaused ? 'Continue' : 'Pause'}</button>
        ${isLive && html`<button type="button" disabled=${rows.length === 0} onClick=${clear}>Clear</button>`}</span>`}>
      <${Requests} rows=${rows} kind=${kind} showsClients=${rights.mayChange} onOpen=${setOpened}
        empty=${!isLive ? emptyText(kind, kept.data) : state === 'watching' ? 'No request finished yet.' : states[state] + '.'} />
    <//>
    ${opened && html`<${Details} record=${opened} members=${help.data ? help.data.members : []} onClose=${() => setOpened(null)}
      onHost=${(host) => {
    setOpened(null);
    go(parameters, {host});
  }} />`}
  <//>`;
}
