// The running configuration: settings, differences, plan, reload, history and rollback.

import {html, useState, useRef} from './vendor/htm-preact.js';
import {get, post} from './api.js';
import {count, time, NONE} from './format.js';
import {Screen, Panel, Table, Facts, State, Failure, Message, Field, Confirm, Breakable, useLoad} from './parts.js';

const TABS = [['settings', 'Settings'], ['differences', 'Differences'], ['history', 'History']];

/** The report of a plan, a reload or a rollback. */
function Report({report, title}) {
  return html`<${Panel} title=${title} note=${html`<${State} word=${report.ok ? 'ok' : 'rejected'} />`}>
    ${report.problems.map((problem) => html`<${Message} tone="bad"><code class="pre">${problem.text}</code>${problem.suggestion && html` Did you mean <code>${problem.suggestion}</code>?`}<//>`)}
    ${(report.notes || []).map((note) => html`<${Message}>${note}<//>`)}
    ${(report.settings.length > 0 || report.problems.length === 0) && html`<${Table} label=${title} name="report" rows=${report.settings.map((one) => ({...one}))}
      empty="No setting changes." columns=${[
        {title: 'Key', wide: true, cell: (row) => html`<code><${Breakable} text=${row.key} /></code>`},
        {title: 'Result', cell: (row) => html`<${State} word=${row.result} />`},
        {title: 'Detail', wide: true, cell: (row) => row.detail},
      ]} />`}
  <//>`;
}

function Value({value}) {
  return value === null || value === undefined ? NONE : html`<code class="pre">${value}</code>`;
}

function Setting({setting}) {
  return html`<details class="setting"><summary><code class="setting-key"><${Breakable} text=${setting.key} /></code>
      <span class="setting-value"><${Value} value=${setting.value} /></span>
      <span class="setting-source">${setting.source === 'default' ? 'default' : html`<${Breakable} text=${setting.place || setting.source.replace('_', ' ')} />`}</span></summary>
    <p>${setting.sentence}</p>
    <${Facts} facts=${[
      ['Type', setting.takes || setting.type],
      ['Default', html`<${Value} value=${setting.default} />`],
      ['Bounds', setting.min || setting.max ? (setting.min || '') + ' to ' + (setting.max || '') : null],
      ['A change is', html`<${State} word=${setting.change} />`],
      ['In the file', setting.under],
      ['In use until the next start', setting.in_use],
      ['Variables', (setting.variables || []).join(', ')],
      ['Traffic Server', setting.traffic_server && html`<code>${setting.traffic_server}</code>`],
    ]} />
  </details>`;
}

function Settings() {
  const settings = useLoad((signal) => get('/v1/config', {}, signal), []);
  const [filter, setFilter] = useState('');
  const [onlySet, setOnlySet] = useState(true);
  const all = settings.data ? settings.data.settings : [];
  const word = filter.trim().toLowerCase();
  const matching = all.filter((one) => word === '' || one.key.toLowerCase().includes(word) || (one.sentence || '').toLowerCase().includes(word));
  const shown = matching.filter((one) => !onlySet || one.source !== 'default');
  const hidden = word === '' ? 0 : matching.length - shown.length;
  return html`<${Panel} title="Settings" note=${settings.data ? count(shown.length) + ' of ' + count(all.length) + ' keys' : settings.error ? '' : 'Loading.'}>
    <div class="form inner">
      <${Field} label="Search"><input type="search" name="filter" value=${filter} onInput=${(event) => setFilter(event.target.value)} placeholder="a key or a word of its description" /><//>
      <label class="check"><input type="checkbox" checked=${onlySet} onChange=${(event) => setOnlySet(event.target.checked)} /> Only keys that differ from the default</label>
    </div>
    <${Failure} error=${settings.error} />
    <div data-name="settings">${shown.map((one) => html`<${Setting} key=${one.key} setting=${one} />`)}</div>
    ${hidden > 0 && html`<p class="empty">${count(hidden)} more ${hidden === 1 ? 'key matches and has its default' : 'keys match and have their defaults'}.
      ${' '}<button type="button" onClick=${() => setOnlySet(false)}>Show</button></p>`}
    ${settings.data && shown.length === 0 && hidden === 0 && html`<p class="empty">No key matches.</p>`}
  <//>`;
}

/** Columns of differences between two values, with their titles. */
const differences = (before, after) => [
  {title: 'Key', wide: true, cell: (row) => html`<code><${Breakable} text=${row.key} /></code>`},
  {title: before, wide: true, cell: (row) => html`<${Value} value=${row.before} />`},
  {title: after, wide: true, cell: (row) => html`<${Value} value=${row.after} />`},
  {title: 'A change is', cell: (row) => html`<${State} word=${row.change} />`},
  {title: 'Place', cell: (row) => row.place || NONE},
];

function Differences({changes}) {
  const diff = useLoad((signal) => get('/v1/config/diff', {}, signal), [changes]);
  return html`<div class="stack">
    <${Failure} error=${diff.error} />
    ${diff.data && html`<${Panel} title="Changes that a reload would make">
      ${diff.data.notes.map((note) => html`<${Message}>${note}<//>`)}
      <${Table} label="Changes that a reload would make" rows=${diff.data.pending.map((one) => ({...one}))} empty="None: the file is in use." columns=${differences('In use', 'In the file')} /><//>`}
    ${diff.data && html`<${Panel} title="Differences from the defaults">
      <${Table} label="Differences from the defaults" rows=${diff.data.differences.map((one) => ({...one}))} empty="None." columns=${differences('Default', 'In use')} /><//>`}
  </div>`;
}

function History({changes, onRollback, rights}) {
  const history = useLoad((signal) => get('/v1/config/history', {}, signal), [changes]);
  const [pair, setPair] = useState(null);
  const diff = useLoad((signal) => (pair ? get('/v1/config/diff', pair, signal).then((differences) => ({...differences, pair})) : Promise.resolve(null)),
    [JSON.stringify(pair)]);
  const entries = history.data ? [...history.data.entries].reverse() : [];
  const running = entries.find((one) => one.running);
  return html`<div class="stack">
    <${Failure} error=${history.error || diff.error} />
    <${Panel} title="Applied configurations"><${Table} label="Applied configurations" name="history" rows=${entries.map((one) => ({key: one.number, ...one}))} empty=${history.data || history.error ? 'None.' : 'Loading.'} columns=${[
      {title: 'Number', align: 'right', cell: (row) => row.number},
      {title: 'Applied', cell: (row) => time(row.at)},
      {title: 'By', cell: (row) => row.by},
      {title: 'Changed keys', wide: true, cell: (row) => (row.changed.length > 0 ? row.changed.join(', ') : NONE)},
      {title: 'State', cell: (row) => (row.running ? html`<${State} word="running" />` : html`<span class="buttons">
        <button type="button" aria-label=${'Compare ' + row.number + ' with the running configuration'}
          onClick=${() => setPair({from: row.number, to: running ? running.number : row.number})}>Compare</button>
        ${rights.mayChange && html`<button type="button" aria-label=${'Roll back to ' + row.number} onClick=${() => onRollback(row.number)}>Roll back</button>`}</span>`)},
    ]} /><//>
    ${pair && diff.data && html`<${Panel} title=${'From ' + diff.data.pair.from + ' to ' + diff.data.pair.to}>
      <${Table} label="Differences of two configurations" rows=${diff.data.differences.map((one) => ({...one}))} empty="The two are equal." columns=${differences('In ' + diff.data.pair.from, 'In ' + diff.data.pair.to)} /><//>`}
  </div>`;
}

export function Configuration({parameters, status, rights}) {
  const tab = TABS.some(([name]) => name === parameters.tab) ? parameters.tab : 'settings';
  const [report, setReport] = useState(null);
  const [error, setError] = useState(null);
  const [asking, setAsking] = useState(null);
  const [changes, setChanges] = useState(0);
  const latest = useRef(0);
  const config = status.data && status.data.config;

  const run = async (title, path, body) => {
    setAsking(null);
    setError(null);
    const number = ++latest.current;
    let outcome;
    try {
      outcome = {report: {title, report: await post(path, body)}, error: null};
    } catch (e) {
      outcome = {report: null, error: e};
    }
    setChanges((old) => old + 1);
    // An earlier request may be answered later.
    if (number === latest.current) {
      setReport(outcome.report);
      setError(outcome.error);
    }
  };
  return html`<${Screen} title="Configuration" about=${config ? (config.file || 'No file') + ', loaded ' + time(config.loaded_at) : ''}
    actions=${rights.mayChange && html`<button type="button" onClick=${() => run('Plan', '/v1/config/plan', {})}>Plan a reload</button>
      <button type="button" class="primary" onClick=${() => setAsking({kind: 'reload'})}>Reload …</button>`}>
    <${Failure} error=${error} />
    ${config && config.last_reload && !config.last_reload.ok && html`<${Message} tone="bad">The last reload, ${time(config.last_reload.at)}, was rejected: ${config.last_reload.problems.join(' ')}<//>`}
    ${report && html`<${Report} title=${report.title} report=${report.report} />`}
    <div class="tabs" role="navigation" aria-label="Parts of the configuration">${TABS.map(([name, title]) => html`<a href=${'#/config?tab=' + name}
      aria-current=${tab === name ? 'page' : undefined}>${title}</a>`)}</div>
    ${tab === 'settings' && html`<${Settings} key=${changes} />`}
    ${tab === 'differences' && html`<${Differences} changes=${changes} />`}
    ${tab === 'history' && html`<${History} changes=${changes} rights=${rights} onRollback=${(number) => setAsking({kind: 'rollback', number})} />`}
    ${asking && asking.kind === 'reload' && html`<${Confirm} action="Reload" question="Read the file again and apply all of it?"
      detail=${html`<p>An invalid file changes nothing. See the plan for the effect on each setting.</p>`}
      onConfirm=${() => run('Reload', '/v1/config/reload', {})} onCancel=${() => setAsking(null)} />`}
    ${asking && asking.kind === 'rollback' && html`<${Confirm} action="Roll back" question=${'Apply configuration ' + asking.number + ' again?'}
      detail=${html`<p>The file is not changed. The next reload applies the file.</p>`}
      onConfirm=${() => run('Rollback to ' + asking.number, '/v1/config/rollback', {to: asking.number})} onCancel=${() => setAsking(null)} />`}
  <//>`;
}
