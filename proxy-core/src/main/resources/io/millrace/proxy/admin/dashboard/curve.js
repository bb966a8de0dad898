// What other sizes of the RAM tier would bring, as "millctl cache curve" shows it.

import {html, useState} from './vendor/htm-preact.js';
import {get, post} from './api.js';
import {count, bytes, NONE} from './format.js';
import {Screen, Panel, Stat, Table, Bar, Failure, Message, useLoad} from './parts.js';

const POLL_MILLIS = 10000;

const percentOf = (ratio) => (ratio * 100).toFixed(1) + '%';

function times(scale) {
  return 'RAM × ' + (scale < 1 ? '1/' + Math.round(1 / scale) : scale);
}

/** A difference in percentage points, with its sign. */
function points(ratio, present) {
  const value = (ratio - present) * 100;
  return (value > 0 ? '+' : '') + value.toFixed(1);
}

function Gains({sizes}) {
  const present = sizes.find((size) => size.scale === 1);
  return html`<div class="stats">${sizes.filter((size) => size.scale > 1).map((size) => html`<${Stat}
    label=${times(size.scale) + ' would bring'} value=${points(size.current.hit_ratio, present.current.hit_ratio) + ' points'}
    name=${'gain_' + size.scale} raw=${size.current.hit_ratio} note=${bytes(size.ram_bytes) + ', hit ratio in RAM ' + percentOf(size.current.hit_ratio)} />`)}</div>`;
}

function Sizes({sizes}) {
  return html`<${Panel} title="Hit ratio by size of RAM" wide=${true} note="LRU and S3-FIFO are other policies, for comparison.">
    <${Table} label="Hit ratio by size of RAM" name="sizes" rows=${sizes.map((size) => ({key: size.scale, ...size}))} columns=${[
    {title: 'RAM', cell: (row) => times(row.scale) + (row.scale === 1 ? ' (now)' : '')},
    {title: 'Size', align: 'right', cell: (row) => bytes(row.ram_bytes)},
    {title: 'Hits', cell: (row) => html`<${Bar} share=${row.current.hit_ratio} label=${percentOf(row.current.hit_ratio)} />`},
    {title: 'Requests', align: 'right', cell: (row) => percentOf(row.current.hit_ratio)},
    {title: 'LRU', align: 'right', cell: (row) => percentOf(row.lru.hit_ratio)},
    {title: 'S3-FIFO', align: 'right', cell: (row) => percentOf(row.s3_fifo.hit_ratio)},
    {title: 'Bytes', align: 'right', cell: (row) => percentOf(row.current.byte_hit_ratio)},
    {title: 'LRU, bytes', align: 'right', cell: (row) => percentOf(row.lru.byte_hit_ratio)},
    {title: 'S3-FIFO, bytes', align: 'right', cell: (row) => percentOf(row.s3_fifo.byte_hit_ratio)},
  ]} /><//>`;
}

function Hosts({sizes, hosts}) {
  return html`<${Panel} title="Hit ratio by host" wide=${true} note="All hosts share the RAM tier.">
    <${Table} label="Hit ratio by host" name="curve-hosts" empty="No requests yet." rows=${hosts.map((host) => ({key: host.host, ...host}))} columns=${[
    {title: 'Host', wide: true, cell: (row) => row.host || NONE},
    {title: 'Requests', align: 'right', cell: (row) => count(row.requests)},
    ...sizes.map((size, index) => ({title: times(size.scale), align: 'right', cell: (row) => percentOf(row.hit_ratios[index])})),
  ]} /><//>`;
}

/** The switch of the estimate, for sessions that may change the configuration. */
function Off({rights, onOn}) {
  const [failure, setFailure] = useState(null);
  const turnOn = async () => {
    try {
      const report = await post('/v1/config/set', {settings: {'cache.curve': 'true'}});
      if (report.ok) {
        onOn();
      } else {
        setFailure(new Error(report.problems.map((problem) => problem.text).join(' ')));
      }
    } catch (error) {
      setFailure(error);
    }
  };
  return html`<div>
    <${Message}>The estimate is off. It takes at most 8 MiB of memory and 1 % of a core, and needs some minutes of traffic.
      ${rights.mayChange ? html` <button type="button" class="primary" onClick=${turnOn}>Turn it on</button>`
      : html` An operator turns it on with <code>millctl config set cache.curve=true</code>.`}<//>
    <${Failure} error=${failure} />
  </div>`;
}

export function Curve({rights}) {
  const [changes, setChanges] = useState(0);
  const report = useLoad((signal) => get('/v1/cache/curve', {}, signal), [changes], POLL_MILLIS);
  const isOff = report.error && report.error.code === 'curve-off';
  const data = isOff ? null : report.data;
  return html`<${Screen} title="What RAM would bring" about="Hit ratios that other sizes of the RAM tier would have with the recent requests, estimated from a sample.">
    ${isOff ? html`<${Off} rights=${rights} onOn=${() => setChanges((old) => old + 1)} />`
    : html`<${Failure} error=${report.error} />`}
    ${data && data.requests === 0 && html`<${Message}>No requests yet. The estimate needs some minutes of traffic.<//>`}
    ${data && data.requests > 0 && html`<${Gains} sizes=${data.sizes} />
      <div class="stack"><${Sizes} sizes=${data.sizes} /><${Hosts} sizes=${data.sizes} hosts=${data.hosts} /></div>
      <p class="about">${'About ' + count(data.requests) + ' recent requests, ' + count(data.sampled_keys) + ' sampled keys ('
        + percentOf(data.sample_rate) + ' of all)' + (data.lost > 0 ? '; ' + count(data.lost) + ' sampled requests left out' : '') + '.'}</p>`}
  <//>`;
}
