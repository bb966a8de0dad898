// Purges by URL, prefix, host, tags, pattern, or everything: dry run, history, undo.

import {html, useState, useEffect} from './vendor/htm-preact.js';
import {get, getWhenAllowed, post} from './api.js';
import {count, bytes, time, NONE} from './format.js';
import {Screen, Panel, Table, State, Failure, Message, Field, Confirm, useLatest} from './parts.js';
import {pause} from './pause.js';
import {ExpressionError} from './cache.js';

const KINDS = [
  // Name in requests and in the address, title, example, hint.
  ['url', 'URL', 'https://www.example.com/a.css', 'Every stored variant of one URL.'],
  ['prefix', 'Prefix', 'https://www.example.com/img/', 'All responses whose URL begins with this URL.'],
  ['host', 'Host', 'www.example.com', 'All responses of a host.'],
  ['tags', 'Tags', 'product-1 product-2', 'All responses with one of these tags; spaces separate tags.'],
  ['wildcard', 'Wildcard', 'https://www.example.com/*/print', 'All responses with such a URL; * stands for any text.'],
  ['regex', 'Regular expression', '\\.css$', 'All responses with a URL that an RE2 expression matches anywhere.'],
  ['where', 'Condition', 'type =~ "^image/" && age > 2d', 'All responses for which an expression over stored fields holds.'],
  ['all', 'Everything', '', 'The whole cache.'],
];

/** The word for a kind in the limits of tokens. */
const RIGHTS = {tags: 'tag', wildcard: 'pattern', regex: 'pattern', where: 'pattern'};

const PAGE = 50;
const POLL_MILLIS = 500;

/** The request of a purge and of its dry run. */
function purgeRequest(form) {
  const mode = form.mode;
  if (form.kind === 'all') {
    return {scope: 'all', mode};
  }
  if (form.kind === 'tags') {
    const tags = form.value.split(/\s+/).filter((tag) => tag !== '');
    return form.site ? {tags, site: form.site, mode} : {tags, mode};
  }
  return {[form.kind]: form.value.trim(), mode};
}

function question(form) {
  if (form.kind === 'all') {
    return 'Purge everything in the cache?';
  }
  if (form.kind === 'where') {
    return 'Purge the responses with ' + form.value.trim() + '?';
  }
  const kind = {url: 'URL', regex: 'URLs that match', wildcard: 'URLs'}[form.kind] || form.kind;
  return 'Purge the ' + kind + ' ' + form.value.trim() + (form.kind === 'tags' && form.site ? ' of ' + form.site : '') + '?';
}

/** The dry run of a purge while the question is open. A count that is not complete by then is cancelled. */
function DryRun({request}) {
  const [run, setRun] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    const stop = new AbortController();
    let counting = null;
    const cancel = () => {
      if (counting !== null) {
        const id = counting;
        counting = null;
        // Sent also while the page is being left. The count may have ended by itself.
        post('/v1/cache/purge/cancel', {id}, {keepalive: true}).catch(() => {});
      }
    };
    const follow = async () => {
      let record = await post('/v1/cache/purge/dry-run', request);
      for (;;) {
        counting = record.state === 'counting' ? record.id : null;
        if (stop.signal.aborted) {
          cancel();
          return;
        }
        setRun(record);
        if (counting === null) {
          return;
        }
        await pause(POLL_MILLIS, stop.signal);
        record = await getWhenAllowed('/v1/cache/purge', {id: record.id}, stop.signal);
      }
    };
    follow().catch((e) => {
      if (!stop.signal.aborted) {
        setError(e);
      }
    });
    window.addEventListener('pagehide', cancel);
    return () => {
      stop.abort();
      cancel();
      window.removeEventListener('pagehide', cancel);
    };
  }, []);
  if (error) {
    if (error.status === 400) {
      return html`<${ExpressionError} error=${error} where=${request.where} />`;
    }
    return html`<div>${error.status !== 403 && html`<p>The objects cannot be counted. The purge itself is possible.</p>`}<${Failure} error=${error} /></div>`;
  }
  if (!run) {
    return html`<p role="status">Counting.</p>`;
  }
  const details = run.count || {};
  return html`<div role="status" data-name="dry-run" data-value=${run.objects}>
    <p><strong>${count(run.objects)} ${run.objects === 1 ? 'object' : 'objects'}</strong>, ${bytes(run.bytes)}${run.state === 'counting'
      ? ' so far; ' + count(details.examined) + ' of ' + count(details.entries) + ' entries read' : ''}.</p>
    ${details.ram_only_counted === false && html`<p class="hint">Objects in RAM only are not counted, but purged too.</p>`}
    ${details.note && html`<p class="hint">${details.note}</p>`}
    ${(details.urls || []).length > 0 && html`<details><summary>Some of the URLs</summary><ul class="urls">${details.urls.map((url) => html`<li class="url">${url}</li>`)}</ul></details>`}
  </div>`;
}

/** Whether the sweep of a purge by pattern is not complete, so that the purge can be cancelled. */
function isSweeping(row) {
  return (row.state === 'done' || row.state === 'counting') && (row.sweep === 'waiting' || row.sweep === 'running');
}

/** The button that takes a purge back: Undo for a soft purge, Cancel for a purge by pattern. */
function TakeBack({row, now, onUndo, onCancel}) {
  if (row.state === 'done' && row.undo_until && new Date(row.undo_until).getTime() > now) {
    return html`<button type="button" aria-label=${'Undo purge ' + row.id} onClick=${() => onUndo(row)}>Undo</button>`;
  }
  return isSweeping(row)
    ? html`<button type="button" aria-label=${'Cancel purge ' + row.id} onClick=${() => onCancel(row)}>Cancel</button>` : NONE;
}

function History({changes, onUndo, onCancel, rights}) {
  const [state, setState] = useState({purges: [], more: false, error: null, loading: true});
  const [nextSignal] = useLatest();
  const load = async (before, known) => {
    const signal = nextSignal();
    try {
      const page = await get('/v1/cache/purges', {limit: PAGE, before}, signal);
      if (!signal.aborted) {
        setState({purges: known.concat(page.purges), more: page.purges.length === PAGE, error: null, loading: false});
      }
    } catch (error) {
      if (!signal.aborted) {
        setState((old) => ({...old, error, loading: false}));
      }
    }
  };
  useEffect(() => {
    load(undefined, []);
  }, [changes]);
  const now = Date.now();
  return html`<${Panel} title=${rights.mayRead ? 'History' : 'History of this token'} actions=${html`<button type="button" onClick=${() => load(undefined, [])}>Refresh</button>`}>
    <${Failure} error=${state.error} />
    <${Table} label="History of purges" name="purges" rows=${state.purges.map((one) => ({key: one.id, ...one}))} empty=${state.loading ? 'Loading.' : state.error ? 'No purges are known.' : 'No purges yet.'} columns=${[
      {title: 'Time', cell: (row) => time(row.at)},
      {title: 'Scope', cell: (row) => row.scope},
      {title: 'Target', wide: true, cell: (row) => row.target + (row.site && !row.target.endsWith(' of ' + row.site) ? ' of ' + row.site : '')},
      {title: 'Mode', cell: (row) => (row.mode === 'soft' ? 'validate' : 'remove')},
      {title: 'State', cell: (row) => html`<${State} word=${row.state} />`},
      {title: 'Objects', align: 'right', cell: (row) => count(row.objects)},
      {title: 'By', cell: (row) => row.token || (row.uid !== null && row.uid !== undefined ? 'user ' + row.uid : row.address || row.via)},
      ...(rights.mayPurge ? [{title: 'Undo', cell: (row) => html`<${TakeBack} row=${row} now=${now} onUndo=${onUndo} onCancel=${onCancel} />`}] : []),
    ]} />
    ${state.more && html`<p><button type="button" onClick=${() => load(state.purges[state.purges.length - 1].id, state.purges)}>Show older</button></p>`}
  <//>`;
}

/** The limits of a purger as a sentence. */
function limitsOf(rights) {
  const sites = rights.sites.length > 0 ? 'responses of ' + rights.sites.join(', ') : 'responses of every site';
  const kinds = rights.kinds.length > 0 ? ' by ' + rights.kinds.join(', ') : '';
  return 'This session may purge ' + sites + kinds + '.';
}

export function Purge({parameters, rights}) {
  const kinds = KINDS.filter(([name]) => rights.purges(RIGHTS[name] || name));
  const [form, setForm] = useState({
    kind: kinds.some(([name]) => name === parameters.kind) ? parameters.kind : kinds.length > 0 ? kinds[0][0] : 'url',
    value: parameters.value || '', site: rights.sites[0] || '', mode: 'hard',
  });
  const [asking, setAsking] = useState(null);
  const [undoing, setUndoing] = useState(null);
  const [cancelling, setCancelling] = useState(null);
  const [error, setError] = useState(null);
  const [sent, setSent] = useState({});
  const [done, setDone] = useState(null);
  const [changes, setChanges] = useState(0);
  const [, label, placeholder, hint] = KINDS.find(([name]) => name === form.kind);

  const change = async (path, body, text) => {
    setAsking(null);
    setUndoing(null);
    setCancelling(null);
    setError(null);
    setSent(body);
    setDone(null);
    try {
      const report = await post(path, body);
      setDone({id: report.id, text: text(report)});
    } catch (e) {
      setError(e);
    }
    setChanges((old) => old + 1);
  };
  const set = (name) => (event) => setForm({...form, [name]: event.target.value});
  return html`<${Screen} title="Purge" about="A purge is in force for every request that comes after it, and survives a restart.">
    ${rights.role === 'purger' && html`<${Message}>${limitsOf(rights)}<//>`}
    ${kinds.length === 0 && html`<${Message}>${rights.mayPurge ? 'This session may not request purges of the kinds on this page.'
      : 'The role viewer shows purges and may not request them.'}<//>`}
    ${kinds.length > 0 && html`<form class="form" onSubmit=${(event) => {
      event.preventDefault();
      setAsking(form);
    }}>
      <fieldset class="choice"><legend>Scope</legend>${kinds.map(([name, title]) => html`<label>
        <input type="radio" name="kind" value=${name} checked=${form.kind === name} onChange=${set('kind')} /> ${title}</label>`)}</fieldset>
      ${form.kind !== 'all' && html`<${Field} label=${label} hint=${hint} wide=${true}><input name="value" required value=${form.value}
        onInput=${set('value')} placeholder=${placeholder} spellcheck="false" autocomplete="off" /><//>`}
      ${form.kind === 'tags' && (rights.sites.length > 0
        ? html`<${Field} label="Site"><select name="site" value=${form.site} onChange=${set('site')}>
          ${rights.sites.map((site) => html`<option value=${site}>${site}</option>`)}</select><//>`
        : html`<${Field} label="Site" hint="A host, or the site of a rule. Empty: every site.">
          <input name="site" value=${form.site} onInput=${set('site')} spellcheck="false" /><//>`)}
      <fieldset class="choice"><legend>Mode</legend>
        <label><input type="radio" name="mode" value="hard" checked=${form.mode === 'hard'} onChange=${set('mode')} /> Remove</label>
        <label><input type="radio" name="mode" value="soft" checked=${form.mode === 'soft'} onChange=${set('mode')} /> Validate before the next use; can be undone</label>
      </fieldset>
      <div class="form-actions"><button class="primary">Check and purge …</button></div>
    </form>`}
    <${ExpressionError} error=${error} where=${sent.where} />
    ${done && html`<${Message} tone="good"><span data-name="purge-id" data-value=${done.id}>${done.text}</span><//>`}
    <${History} changes=${changes} rights=${rights} onUndo=${setUndoing} onCancel=${setCancelling} />
    ${asking && html`<${Confirm} danger=${true} action="Purge" question=${question(asking)}
      detail=${html`<${DryRun} request=${purgeRequest(asking)} /><p>${asking.mode === 'soft'
        ? 'The responses stay and are validated before their next use.'
        : 'The origins receive requests for these responses again.'}</p>`}
      onConfirm=${() => change('/v1/cache/purge', purgeRequest(asking), (report) => 'Purge ' + report.id + ' is in force: ' + report.detail + '.')}
      onCancel=${() => setAsking(null)} />`}
    ${undoing && html`<${Confirm} action="Undo" question=${'Undo the purge of ' + undoing.target + '?'}
      detail=${html`<p>Responses that were not validated meanwhile are used as before.</p>`}
      onConfirm=${() => change('/v1/cache/purge/undo', {id: undoing.id}, (report) => 'Purge ' + report.id + ' is undone.')}
      onCancel=${() => setUndoing(null)} />`}
    ${cancelling && html`<${Confirm} action="End the purge" question=${'Cancel the purge of ' + cancelling.target + '?'}
      detail=${html`<p>Covered responses that are still stored can be used again.</p>`}
      onConfirm=${() => change('/v1/cache/purge/cancel', {id: cancelling.id}, (report) => 'Purge ' + report.id + ' is cancelled.')}
      onCancel=${() => setCancelling(null)} />`}
  <//>`;
}
