// The nodes of the fleet, and the state of a chosen node.

import {html} from './vendor/htm-preact.js';
import {get} from './api.js';
import {bytes, count, span, time, NONE} from './format.js';
import {Screen, Panel, Table, Facts, State, Failure, Message, Field, useLoad} from './parts.js';

const EVERY_MILLIS = 3000;

const PROBLEM_TONES = {error: 'failed', warning: 'pending'};

/** Reads a resource of a node through this one. */
function read(node, target, signal) {
  return get('/v1/fleet/read', {node, target}, signal);
}

/** Tones of the states of the shared configuration on a node; its own state "off" has none. */
const CONFIG_TONES = {applied: 'up', pending: 'pending', rejected: 'failed'};

/** The revision of a node with its state, as in millctl fleet config status. */
function revision(config) {
  return (config.revision === 0 ? '' : 'revision ' + config.revision + ', ') + config.state;
}

function Revision({config}) {
  return html`<span data-config=${config.state} data-revision=${config.revision}><${State} word=${CONFIG_TONES[config.state] || 'plain'} text=${revision(config)} />${
    config.reason && html` <span class="note">${config.reason}</span>`}</span>`;
}

/** The newest revision, the canary that tries it, and the last one that was rolled back. */
function Sharing({config}) {
  const canary = config.stage === 'canary' ? ', tried on ' + config.canary.join(', ') : '';
  return html`<${Facts} facts=${[
    ['Shared configuration', html`<span data-name="config-newest" data-value=${config.newest}>${config.newest === 0 ? 'no revision' : 'revision ' + config.newest + canary}</span>`],
    ['Sharing on this node', config.state + (config.problem ? ': ' + config.problem : '')],
    ...(config.failed > 0 ? [['Rolled back', 'revision ' + config.failed + ': ' + config.reason]] : []),
  ]} />`;
}

function Nodes({fleet, configs}) {
  return html`<${Table} label="Nodes" name="nodes" rows=${fleet.nodes.map((node) => ({key: node.node, ...node}))} empty="No node has sent a report yet." columns=${[
    {title: 'Node', wide: true, cell: (row) => html`${row.node}${row.node === fleet.node ? html` <span class="tag">this node</span>` : ''}`},
    {title: 'Tier', cell: (row) => row.tier},
    {title: 'Version', cell: (row) => row.version},
    {title: 'State', cell: (row) => html`<${State} word=${row.state === 'live' ? 'up' : row.state === 'away' ? 'down' : 'plain'} text=${row.state} />`},
    {title: 'Configuration', cell: (row) => (configs[row.node] ? html`<${Revision} config=${configs[row.node]} />` : NONE)},
    {title: 'Applied', align: 'right', cell: (row) => count(row.applied)},
    {title: 'Lag', align: 'right', cell: (row) => (row.lag === null ? NONE : count(row.lag))},
    {title: 'Last report', cell: (row) => span(row.seen_seconds) + ' ago'},
    {title: 'Refused messages', cell: (row) => row.refused.join(', ') || NONE},
  ]} />`;
}

/** Status, alarms and origins of one node. */
function Node({name}) {
  const loaded = useLoad((signal) => Promise.all(['/v1/status', '/v1/alarms', '/v1/origins'].map((target) => read(name, target, signal))),
    [name], EVERY_MILLIS);
  const [status, alarms, origins] = loaded.data || [];
  const requests = status && status.cache.hits_total + status.cache.misses_total;
  return html`<${Failure} error=${loaded.error} />
    ${status && html`<${Facts} facts=${[
      ['State', html`<${State} word=${status.state} />`],
      ['Running for', span(status.uptime_seconds)],
      ['Requests', count(status.requests_total)],
      ['Hits', requests > 0 ? (100 * status.cache.hits_total / requests).toFixed(1) + ' %' : NONE],
      ['RAM', bytes(status.cache.ram.bytes) + ' of ' + bytes(status.cache.ram.bytes_max)],
      ['Configuration', (status.config.file || 'command line') + ', loaded ' + status.config.loaded_at],
    ]} />
    <${Table} label=${'Alarms of ' + name} name="alarms" rows=${alarms.alarms.map((one) => ({key: one.kind + ' ' + one.subject, ...one}))} empty="No alarm is raised." columns=${[
      {title: 'Alarm', cell: (row) => html`<${State} word=${PROBLEM_TONES[row.severity] || 'plain'} text=${row.kind} />`},
      {title: 'Subject', wide: true, cell: (row) => row.subject},
      {title: 'Since', cell: (row) => time(row.since_seconds)},
    ]} />
    <${Table} label=${'Origins of ' + name} name="node-origins" rows=${origins.hosts.map((one) => ({key: one.group + ' ' + one.host, ...one}))} empty="The configuration has no groups of origins." columns=${[
      {title: 'Group', cell: (row) => row.group},
      {title: 'Host', wide: true, cell: (row) => row.host},
      {title: 'State', cell: (row) => html`<${State} word=${row.state} text=${row.state === 'put_down' ? 'marked down' : undefined} />`},
      {title: 'Failures', align: 'right', cell: (row) => count(row.failures)},
    ]} />`}`;
}

export function Fleet({parameters}) {
  const loaded = useLoad((signal) => Promise.all([get('/v1/fleet', {}, signal), get('/v1/fleet/config', {}, signal)]), [], EVERY_MILLIS);
  const [fleet, config] = loaded.data || [];
  const configs = config ? Object.fromEntries(config.nodes.map((node) => [node.node, node])) : {};
  const isMember = fleet && fleet.state !== 'off';
  const names = isMember ? fleet.nodes.filter((node) => node.state === 'live').map((node) => node.node) : [];
  const chosen = names.includes(parameters.node) ? parameters.node : '';
  return html`<${Screen} title="Fleet" about="Nodes that share purges with this one. The same as millctl fleet status and millctl fleet config status.">
    <${Failure} error=${loaded.error} />
    ${fleet && !isMember && html`<p class="empty">This node is in no fleet; see the key fleet.name.</p>`}
    ${isMember && fleet.problem && html`<${Message} tone="bad">${fleet.problem}<//>`}
    ${isMember && html`<div class="stack">
      <${Panel} title=${'Fleet ' + fleet.fleet} note=${count(fleet.applied) + ' of ' + count(fleet.stream_last) + ' messages applied, ' + bytes(fleet.outbox_bytes) + ' wait to be published'}>
        <${Sharing} config=${config} />
        <${Nodes} fleet=${fleet} configs=${configs} /><//>
      <div class="form"><${Field} label="Node"><select name="node" value=${chosen} onChange=${(event) => { location.hash = '#/fleet' + (event.target.value ? '?node=' + encodeURIComponent(event.target.value) : ''); }}>
        <option value="" selected=${chosen === ''}>Choose a live node</option>
        ${names.map((name) => html`<option value=${name} selected=${chosen === name}>${name + (configs[name] ? ', ' + revision(configs[name]) : '')}</option>`)}</select><//></div>
      ${chosen && html`<${Panel} title=${'Node ' + chosen}><${Node} key=${chosen} name=${chosen} /><//>`}
    </div>`}
    ${!fleet && !loaded.error && html`<p class="loading" role="status">Loading.</p>`}
  <//>`;
}
