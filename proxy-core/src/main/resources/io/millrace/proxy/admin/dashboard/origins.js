// Hosts of origin groups: state, latency, failures, and marks of an operator. Origins without a group: state.

import {html, useState} from './vendor/htm-preact.js';
import {get, post} from './api.js';
import {ago, count, span, time, NONE} from './format.js';
import {Screen, Panel, Table, State, Failure, Field, Confirm, useLoad} from './parts.js';

const TIMES = [['0', 'until "Mark up"'], ['600', '10 minutes'], ['3600', '1 hour'], ['86400', '1 day']];

function MarkDown({host, onDone, onCancel}) {
  const [reason, setReason] = useState('');
  const [seconds, setSeconds] = useState('0');
  return html`<${Confirm} danger=${true} action="Mark down" question=${'Stop new requests to ' + host.host + '?'}
    detail=${html`<p>Requests in progress finish. The mark survives a new worker.</p>
      <${Field} label="For"><select value=${seconds} onChange=${(event) => setSeconds(event.target.value)}>
        ${TIMES.map(([value, text]) => html`<option value=${value}>${text}</option>`)}</select><//>
      <${Field} label="Reason"><input maxlength="200" value=${reason} onInput=${(event) => setReason(event.target.value)} /><//>`}
    onConfirm=${() => onDone({reason, seconds})} onCancel=${onCancel} />`;
}

export function Origins({rights}) {
  const origins = useLoad((signal) => get('/v1/origins', {}, signal), [], 3000);
  const singles = useLoad((signal) => get('/v1/hosts', {}, signal), [], 3000);
  const [marking, setMarking] = useState(null);
  const [error, setError] = useState(null);
  const name = (host) => host.group + '/' + host.host.replace(/^https?:\/\//, '');
  const change = async (path, body) => {
    setMarking(null);
    setError(null);
    try {
      await post(path, body);
    } catch (e) {
      setError(e);
    }
    origins.reload();
  };
  const hosts = origins.data ? origins.data.hosts.map((host) => ({key: host.group + ' ' + host.host, ...host})) : [];
  const single = singles.data ? singles.data.origins.map((origin) => ({key: origin.origin, ...origin})) : [];
  return html`<${Screen} title="Origins" about="Hosts of the groups in the configuration. Below them, the origins of rules without a group.">
    <${Failure} error=${error || origins.error} />
    <${Panel} title="Hosts" note=${origins.data ? count(hosts.length) : ''}>
      <${Table} label="Hosts" name="origins" rows=${hosts} empty=${origins.data ? 'The configuration has no groups of origins.' : origins.error ? 'No hosts are known.' : 'Loading.'} columns=${[
        {title: 'Group', cell: (row) => row.group},
        {title: 'Host', wide: true, cell: (row) => html`${row.host}${row.backup ? html` <span class="tag">backup</span>` : ''}`},
        {title: 'State', cell: (row) => html`<${State} word=${row.state} text=${row.state === 'put_down' ? 'marked down' : undefined} />
          ${row.reason && html`<div class="hint">${row.state === 'up' ? 'last failure: ' : ''}${row.reason}</div>`}
          ${row.until > 0 && row.state !== 'up' && html`<div class="hint" title=${time(row.until)}>${row.state === 'down' ? 'next trial in ' : 'for another '}${span(Math.max(0, Math.round(row.until - Date.now() / 1000)))}</div>`}`},
        ...(rights.mayChange ? [{title: 'Change', cell: (row) => (row.state === 'put_down' || row.state === 'down'
          ? html`<button type="button" aria-label=${'Mark up ' + row.host} onClick=${() => change('/v1/origins/up', {origin: name(row)})}>Mark up</button>`
          : html`<button type="button" aria-label=${'Mark down ' + row.host} onClick=${() => setMarking(row)}>Mark down</button>`)}] : []),
        {title: 'In progress', align: 'right', cell: (row) => count(row.under_way)},
        {title: 'Requests', align: 'right', cell: (row) => count(row.requests)},
        {title: 'Failures', align: 'right', cell: (row) => count(row.failures)},
        {title: 'Latency', align: 'right', cell: (row) => (row.latency_us ? span(row.latency_us / 1e6) : NONE)},
        {title: 'Last success', cell: (row) => html`<span title=${time(row.last_success)}>${ago(row.last_success)}</span>`},
        {title: 'Last failure', cell: (row) => html`<span title=${time(row.last_failure)}>${ago(row.last_failure)}</span>`},
      ]} />
    <//>
    <${Panel} title="Origins without a group" note=${singles.data ? count(single.length) : ''}>
      <${Failure} error=${singles.error} />
      <${Table} label="Origins without a group" name="single-origins" rows=${single} empty=${singles.data ? 'No request was sent to such an origin so far.' : singles.error ? 'No origins are known.' : 'Loading.'} columns=${[
        {title: 'Origin', wide: true, cell: (row) => row.origin},
        {title: 'State', cell: (row) => html`<${State} word=${row.state} />
          ${row.reason && html`<div class="hint">${row.state === 'up' ? 'last failure: ' : ''}${row.reason}</div>`}
          ${row.state === 'down' && html`<div class="hint" title=${time(row.until)}>${'next attempt in ' + span(Math.max(0, Math.round(row.until - Date.now() / 1000)))}</div>`}`},
        {title: 'Failures in a row', align: 'right', cell: (row) => count(row.failures_in_a_row)},
        {title: 'Last success', cell: (row) => html`<span title=${time(row.last_success)}>${ago(row.last_success)}</span>`},
        {title: 'Last failure', cell: (row) => html`<span title=${time(row.last_failure)}>${ago(row.last_failure)}</span>`},
      ]} />
    <//>
    ${marking && html`<${MarkDown} host=${marking} onCancel=${() => setMarking(null)}
      onDone=${(mark) => change('/v1/origins/down', {origin: name(marking), ...mark})} />`}
  <//>`;
}
