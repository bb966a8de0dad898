// Search in the stored responses: page by page, with virtual scrolling.

import {html, useState, useEffect, useRef} from './vendor/htm-preact.js';
import {getWhenAllowed} from './api.js';
import {count, bytes, span, percent, NONE} from './format.js';
import {Screen, Panel, Table, Failure, Field, UrlLink, useLatest} from './parts.js';

const PAGE = 500;
// A search goes on until it has so many further objects.
const ENOUGH = 50;
const HOSTS_SHOWN = 100;
const ROW_PIXELS = 34;
const MARGIN_ROWS = 12;

const COLUMNS = [
  {name: 'url', title: 'URL', order: (one) => one.url},
  {name: 'status', title: 'Status', order: (one) => one.status},
  {name: 'type', title: 'Type', order: (one) => one.type || ''},
  {name: 'length', title: 'Size', order: (one) => one.length},
  {name: 'age', title: 'Age', order: (one) => -one.stored_at},
  {name: 'tags', title: 'Tags', order: (one) => (one.tags || []).join(' ')},
];

/** An error of an expression with its place, as "millctl cache list" shows it. */
export function ExpressionError({error, where}) {
  const place = error && /where:(\d+):(\d+)/.exec(error.message);
  if (!place || !where) {
    return html`<${Failure} error=${error} />`;
  }
  const line = where.split('\n')[Number(place[1]) - 1] || '';
  return html`<div class="message bad" role="alert">${error.message}
    <pre>${line + '\n' + ' '.repeat(Number(place[2]) - 1) + '^'}</pre></div>`;
}

function Results({objects, order, onOrder, onEnd, now}) {
  const box = useRef(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useEffect(() => {
    const sizes = new ResizeObserver(() => box.current && setHeight(box.current.clientHeight));
    sizes.observe(box.current);
    return () => sizes.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(top / ROW_PIXELS) - MARGIN_ROWS);
  const after = Math.min(objects.length, Math.ceil((top + height) / ROW_PIXELS) + MARGIN_ROWS);
  useEffect(() => {
    if (after >= objects.length - MARGIN_ROWS) {
      onEnd();
    }
  }, [after, objects.length]);
  return html`<div class="virtual" ref=${box} tabindex="0" role="group" aria-label="Stored responses"
      onScroll=${(event) => setTop(event.target.scrollTop)}>
    <table aria-rowcount=${objects.length} data-name="objects">
      <thead><tr>${COLUMNS.map((column) => html`<th scope="col" class=${'col-' + column.name}
        aria-sort=${order.name === column.name ? (order.down ? 'descending' : 'ascending') : undefined}>
        <button type="button" class="sort" onClick=${() => onOrder(column)}>${column.title}${order.name === column.name
          ? html`<span aria-hidden="true">${order.down ? ' ↓' : ' ↑'}</span>` : ''}</button></th>`)}</tr></thead>
      <tbody>
        ${first > 0 && html`<tr key="above" class="gap" aria-hidden="true"><td colspan=${COLUMNS.length} style=${{height: first * ROW_PIXELS + 'px'}}></td></tr>`}
        ${objects.slice(first, after).map((one) => html`<tr key=${one.volume + one.segment + '/' + one.offset + one.url}>
          <td class="col-url" title=${one.url}><${UrlLink} url=${one.url} />${one.variant && html` <span class="variant">${one.variant}</span>`}</td>
          <td class="col-status">${one.status}</td>
          <td class="col-type" title=${one.type || ''}>${one.type || NONE}</td>
          <td class="col-length">${one.length < 0 ? NONE : bytes(one.length)}${one.whole ? '' : ' (part)'}</td>
          <td class="col-age">${span(Math.max(0, Math.round(now - one.stored_at)))}</td>
          <td class="col-tags" title=${(one.tags || []).join(' ')}>${(one.tags || []).map((tag) => html`<span class="tag">${tag}</span>`)}</td>
        </tr>`)}
        ${after < objects.length && html`<tr key="below" class="gap" aria-hidden="true"><td colspan=${COLUMNS.length} style=${{height: (objects.length - after) * ROW_PIXELS + 'px'}}></td></tr>`}
      </tbody>
    </table>
  </div>`;
}

/** A cell of a CSV file (RFC 4180). Spreadsheets run a cell that begins as a formula, so such a cell gets an apostrophe. */
export function csvCell(value) {
  const text = String(value === null || value === undefined ? '' : value);
  const safe = /^[=+\-@\t\r]/.test(text) && typeof value !== 'number' ? "'" + text : text;
  return '"' + safe.replaceAll('"', '""') + '"';
}

function download(objects) {
  const names = ['url', 'variant', 'status', 'type', 'length', 'stored_at', 'kept_until', 'tags', 'volume'];
  const lines = [names, ...objects.map((one) => names.map((name) => (name === 'tags' ? (one.tags || []).join(' ') : one[name])))];
  const file = new Blob([lines.map((line) => line.map(csvCell).join(',')).join('\r\n') + '\r\n'], {type: 'text/csv'});
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = 'millrace-cache.csv';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const NOT_COUNTED = {hosts: [], phase: 'none', error: null};

/** The objects by host. They are counted on request only, because a count reads the whole inventory. */
function Hosts({query}) {
  const [state, setState] = useState(NOT_COUNTED);
  const [nextSignal, abort] = useLatest();
  useEffect(() => {
    abort();
    setState(NOT_COUNTED);
  }, [JSON.stringify(query)]);
  const run = async () => {
    const signal = nextSignal();
    const sums = new Map();
    let after;
    setState({hosts: [], phase: 'counting', error: null});
    try {
      do {
        const page = await getWhenAllowed('/v1/cache/list', {...query, count: 'host', after}, signal);
        for (const host of page.hosts) {
          const sum = sums.get(host.host) || {key: host.host, host: host.host, objects: 0, bytes: 0};
          sum.objects += host.objects;
          sum.bytes += host.bytes;
          sums.set(host.host, sum);
        }
        after = page.next;
        if (signal.aborted) {
          return;
        }
        const hosts = [...sums.values()].sort((one, two) => two.objects - one.objects);
        setState({hosts, phase: after === null ? 'complete' : 'counting', error: null});
      } while (after !== null);
    } catch (error) {
      if (!signal.aborted) {
        setState((old) => ({...old, error, phase: 'stopped'}));
      }
    }
  };
  const stop = () => {
    abort();
    setState((old) => ({...old, phase: 'stopped'}));
  };
  const isCounting = state.phase === 'counting';
  const all = state.hosts.reduce((sum, one) => sum + one.objects, 0);
  const notes = {none: '', counting: 'Counting: ' + count(all) + ' objects so far', stopped: count(all) + ' objects until the count ended early',
    complete: count(all) + ' objects'};
  return html`<${Panel} title="Objects by host" note=${html`<span role="status">${notes[state.phase]}</span>`}
      actions=${isCounting ? html`<button type="button" onClick=${stop}>Stop</button>`
    : html`<button type="button" onClick=${run}>Count by host</button>`}>
    <${Failure} error=${state.error} />
    <${Table} label="Objects by host" name="hosts" rows=${state.hosts.slice(0, HOSTS_SHOWN)} empty=${isCounting ? 'Counting.'
    : state.phase === 'none' ? 'Not counted. A count reads the whole inventory.' : 'No objects.'} columns=${[
      {title: 'Host', wide: true, cell: (row) => html`<a href=${'#/cache?host=' + encodeURIComponent(row.host)}>${row.host}</a>`},
      {title: 'Objects', align: 'right', cell: (row) => count(row.objects)},
      {title: 'Share', align: 'right', cell: (row) => percent(row.objects, all)},
      {title: 'Size', align: 'right', cell: (row) => bytes(row.bytes)},
    ]} />
  <//>`;
}

const EMPTY = {objects: [], next: null, error: null, loading: true, stopped: false, complete: true, reason: null};

export function Cache({parameters}) {
  const query = {host: parameters.host || '', prefix: parameters.prefix || '', where: parameters.where || ''};
  const [form, setForm] = useState(query);
  const [state, setState] = useState(EMPTY);
  const [order, setOrder] = useState({name: '', down: false});
  const [nextSignal, abort] = useLatest();
  const identity = JSON.stringify(query);

  // A page of the answer may have no object although later ones do: its bound is the time in which entries are examined.
  const search = async (start, found) => {
    const signal = nextSignal();
    let objects = found;
    let after = start;
    setState((old) => ({...old, objects, loading: true, stopped: false, error: null}));
    try {
      do {
        const page = await getWhenAllowed('/v1/cache/list', {...query, limit: PAGE, after}, signal);
        if (signal.aborted) {
          return;
        }
        objects = objects.concat(page.objects);
        after = page.next;
        const loading = after !== null && objects.length < found.length + ENOUGH;
        setState({objects, next: after, error: null, loading, stopped: false, complete: page.complete, reason: page.reason});
      } while (after !== null && objects.length < found.length + ENOUGH);
    } catch (error) {
      if (!signal.aborted) {
        setState((old) => ({...old, error, loading: false, stopped: true}));
      }
    }
  };
  const stop = () => {
    abort();
    setState((old) => ({...old, loading: false, stopped: true}));
  };
  useEffect(() => {
    setForm(query);
    setState(EMPTY);
    search(undefined, []);
    return abort;
  }, [identity]);

  const submit = (event) => {
    event.preventDefault();
    const next = new URLSearchParams(Object.entries(form).filter(([, value]) => value !== '')).toString();
    if ('#/cache' + (next ? '?' + next : '') === location.hash) {
      search(undefined, []);
    } else {
      location.hash = '#/cache' + (next ? '?' + next : '');
    }
  };
  const set = (name) => (event) => setForm({...form, [name]: event.target.value});
  const column = COLUMNS.find((one) => one.name === order.name);
  const objects = column
    ? [...state.objects].sort((a, b) => {
      const one = column.order(a);
      const two = column.order(b);
      return (one < two ? -1 : one > two ? 1 : 0) * (order.down ? -1 : 1);
    })
    : state.objects;
  // The query itself is wrong: the same one fails again.
  const isRefused = state.error !== null && state.error.status === 400;
  const progress = state.loading ? ', searching' : state.stopped ? ', stopped' : state.next ? ', scroll for more' : '';
  return html`<${Screen} title="Cache" about="Stored responses on disk. Objects stored a moment ago, and objects in RAM only, may be missing.">
    <form class="form" onSubmit=${submit}>
      <${Field} label="Host"><input name="host" value=${form.host} onInput=${set('host')} placeholder="www.example.com" spellcheck="false" /><//>
      <${Field} label="URL prefix"><input name="prefix" value=${form.prefix} onInput=${set('prefix')} placeholder="https://www.example.com/img/" spellcheck="false" /><//>
      <${Field} label="Expression" wide=${true} hint=${html`Fields: url, scheme, host, path, query, status, type, age, size, tag, tier. Example: <code>type =~ "^image/" && age > 2d</code>`}>
        <input name="where" value=${form.where} onInput=${set('where')} spellcheck="false" autocomplete="off" /><//>
      <div class="form-actions"><button class="primary">Search</button>
        <button type="button" disabled=${objects.length === 0} onClick=${() => download(objects)}>Export CSV</button></div>
    </form>
    <${ExpressionError} error=${state.error} where=${query.where} />
    ${state.complete === false && html`<div class="message doubtful" role="status">The list is not complete: ${state.reason}.</div>`}
    <div class="stack">
      <${Panel} title="Objects" note=${html`<span role="status">${count(objects.length)} shown${progress}${order.name && state.next ? '; sorted among the shown' : ''}</span>`}
        actions=${state.loading ? html`<button type="button" onClick=${stop}>Stop</button>` : state.stopped && !isRefused
    ? html`<button type="button" onClick=${() => search(state.next || undefined, state.objects)}>Search on</button>` : ''}>
        ${objects.length === 0
          ? html`<p class="empty">${state.loading ? 'Searching.' : state.error ? 'No result.' : state.stopped ? 'None found until the search was stopped.' : 'No stored response matches.'}</p>`
          : html`<${Results} objects=${objects} order=${order} now=${Date.now() / 1000}
            onOrder=${(one) => setOrder({name: one.name, down: order.name === one.name && !order.down})}
            onEnd=${() => state.next && !state.loading && !state.stopped && search(state.next, state.objects)} />`}
      <//>
      ${!state.error && html`<${Hosts} query=${query} />`}
    </div>
  <//>`;
}
