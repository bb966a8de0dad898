// Launcher and worker, event loops, threads, memory and storage paths.

import {html, useState} from './vendor/htm-preact.js';
import {get} from './api.js';
import {count, bytes, span, percent, NONE} from './format.js';
import {Screen, Panel, Table, Facts, State, Stat, Bar, Failure, Breakable, useLoad} from './parts.js';

function Memory({memory}) {
  const parts = [...memory.parts].filter((part) => part.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  return html`<${Panel} title="Memory" note=${bytes(memory.anonymous_bytes) + ' resident in the worker, without files'}>
    <${Table} label="Memory" name="memory" rows=${parts.map((part) => ({key: part.name, ...part}))} columns=${[
      {title: 'Part', cell: (row) => row.name.replaceAll('_', ' ')},
      {title: 'Size', align: 'right', cell: (row) => bytes(row.bytes)},
      {title: 'Share', cell: (row) => html`<${Bar} share=${row.bytes / Math.max(1, memory.anonymous_bytes)} />`},
    ]} />
    <${Facts} facts=${[
      ['Store', bytes(memory.store_bytes) + ' of ' + bytes(memory.store_bytes_max)],
      ['Bytes in flight', bytes(memory.in_flight_bytes) + ' of ' + bytes(memory.in_flight_bytes_max)],
      ['Slow clients closed', count(memory.slow_clients_closed)],
      ['Responses not stored', count(memory.refused_fills)],
      ['Fetches refused', count(memory.refused_fetches)],
    ]} />
  <//>`;
}

/** Whether the content of a path can be read. */
const isReadable = (row) => row.state !== 'offline';

export function Storage({volumes}) {
  return html`<${Panel} title="Storage paths" wide=${true}><${Table} label="Storage paths" name="storage" rows=${volumes.map((one) => ({key: one.path, ...one}))}
    empty="The cache is in RAM only." columns=${[
      {title: 'Path', wide: true, cell: (row) => html`<${Breakable} text=${row.path} />`},
      {title: 'State', cell: (row) => html`<${State} word=${row.state} />`},
      {title: 'Used', align: 'right', cell: (row) => (isReadable(row) ? bytes(row.bytes) + ' of ' + bytes(row.bytes_max) : 'content not available')},
      {title: 'Fill', cell: (row) => isReadable(row) && html`<${Bar} share=${row.bytes / Math.max(1, row.bytes_max)} />`},
      {title: 'Objects', align: 'right', cell: (row) => (isReadable(row) ? count(row.entries) : NONE)},
      {title: 'Waiting', align: 'right', cell: (row) => (isReadable(row) ? bytes(row.queued_bytes) : NONE)},
      {title: 'Errors', align: 'right', cell: (row) => html`<span class=${row.errors > 0 ? 'bad-text' : ''}>${count(row.errors)}</span>`},
      {title: 'Last error', wide: true, cell: (row) => row.last_error || NONE},
    ]} /><//>`;
}

function Threads() {
  const [open, setOpen] = useState(false);
  const threads = useLoad((signal) => (open ? get('/v1/server/threads', {depth: 12}, signal) : Promise.resolve(null)), [open]);
  return html`<${Panel} title="Threads of the worker" wide=${true} actions=${html`<button type="button" onClick=${() => (open ? threads.reload() : setOpen(true))}>
      ${open ? 'Load again' : 'Show'}</button>`}>
    <${Failure} error=${threads.error} />
    ${threads.data && html`<div>${threads.data.threads.map((thread) => html`<details class="thread" key=${thread.name}>
      <summary><span class="thread-name">${thread.name}</span><span>${thread.state}</span><span>${thread.cpu_millis < 0 ? NONE : span(thread.cpu_millis / 1000)} CPU</span></summary>
      <pre>${thread.stack.join('\n') || 'No frames.'}</pre></details>`)}</div>`}
    ${!open && html`<p class="empty">Stacks of the threads, those with the most CPU time first.</p>`}
  <//>`;
}

export function Disks() {
  const storage = useLoad((signal) => get('/v1/storage', {}, signal), [], 5000);
  return html`<${Screen} title="Disks" about="The storage paths of the cache. The same as millctl storage status.">
    <${Failure} error=${storage.error} />
    ${storage.data && html`<${Storage} volumes=${storage.data.volumes} />`}
  <//>`;
}

export function Processes({status}) {
  const server = useLoad((signal) => get('/v1/server', {}, signal), [], 3000);
  const memory = useLoad((signal) => get('/v1/memory', {}, signal), [], 5000);
  const storage = useLoad((signal) => get('/v1/storage', {}, signal), [], 5000);
  const data = status.data;
  const worker = server.data;
  const requests = worker ? worker.loops.reduce((sum, loop) => sum + loop.requests_total, 0) : 0;
  return html`<${Screen} title="Processes">
    <${Failure} error=${server.error || memory.error || storage.error} />
    <div class="stats">
      <${Stat} label="Worker" value=${worker ? html`<${State} word=${worker.state} />` : NONE} name="worker_pid" raw=${worker && worker.pid} note=${worker ? 'process ' + worker.pid : ''} />
      <${Stat} label="Uptime" value=${worker ? span(worker.uptime_seconds) : NONE} note=${data && data.process ? count(data.process.worker_restarts) + (data.process.worker_restarts === 1 ? ' restart' : ' restarts') + ' of the worker' : ''} />
      <${Stat} label="CPU time" value=${worker ? span(worker.cpu_seconds) : NONE} note="of the worker" />
      <${Stat} label="Memory" value=${worker ? bytes(worker.resident_bytes) : NONE} note="resident in the worker, with files" />
      <${Stat} label="Threads" value=${worker ? count(worker.threads) : NONE} note=${worker ? count(worker.descriptors) + ' open files' : ''} />
    </div>
    <div class="grid">
      ${data && html`<${Panel} title="Product"><${Facts} facts=${[
        ['Version', data.product + ' ' + data.version],
        ['State', html`<${State} word=${data.state} />`],
        ['Launcher', data.process && 'process ' + data.process.launcher_pid],
        ['Worker', data.process && html`process ${data.process.worker_pid} <${State} word=${data.process.worker_state} />`],
        ['Warming up', data.process && data.process.warming_up && 'process ' + data.process.warming_up.worker_pid + ' for ' + span(data.process.warming_up.seconds)],
        ['Listens on', (data.listeners || []).map((one) => one.address + ' (' + one.protocol + ')').join(', ')],
        ['Runs on', data.java + (data.transport ? ', ' + data.transport : '') + (data.tls ? ', TLS ' + data.tls : '')],
      ]} /><//>`}
      ${memory.data && html`<${Memory} memory=${memory.data} />`}
      ${worker && html`<${Panel} title="Event loops" wide=${true}><${Table} label="Event loops" name="loops" rows=${worker.loops.map((loop) => ({key: loop.thread, ...loop}))} columns=${[
        {title: 'Thread', cell: (row) => row.thread},
        {title: 'Clients', align: 'right', cell: (row) => count(row.client_connections)},
        {title: 'Origins', align: 'right', cell: (row) => count(row.origin_connections)},
        {title: 'Requests', align: 'right', cell: (row) => count(row.requests_total)},
        {title: 'Share', align: 'right', cell: (row) => percent(row.requests_total, requests)},
        {title: 'Hits', align: 'right', cell: (row) => percent(row.hits_total, row.requests_total)},
      ]} /><//>`}
      ${storage.data && html`<${Storage} volumes=${storage.data.volumes} />`}
      <${Threads} />
    </div>
  <//>`;
}
