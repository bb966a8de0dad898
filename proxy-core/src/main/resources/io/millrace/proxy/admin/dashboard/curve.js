// What other sizes of the RAM tier would bring, as "millctl cache curve" shows it.

import {html, useState} from './vendor/htm-preact.js';
import {get, post} from './api.js';
import {count, bytes, time, usesUtc, NONE} from './format.js';
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

/** Names of the policies that the RAM tier may have, and their members of a size. */
const POLICIES = {'w-tinylfu': ['W-TinyLFU', 'current'], lru: ['LRU', 'lru']};

const policyOf = ({policy}) => POLICIES[policy] || POLICIES['w-tinylfu'];

/** The gains of larger sizes with the policy of the tier, in percentage points. */
function gains({sizes, ...report}) {
  const member = policyOf(report)[1];
  const present = sizes.find((size) => size.scale === 1);
  return sizes.filter((size) => size.scale > 1).map((size) => ({...size, hitRatio: size[member].hit_ratio,
    gain: points(size[member].hit_ratio, present[member].hit_ratio)}));
}

function Gains({report}) {
  return html`<div class="stats">${gains(report).map((size) => html`<${Stat}
    label=${times(size.scale) + ' would bring'} value=${size.gain + ' points'}
    name=${'gain_' + size.scale} raw=${size.hitRatio} note=${bytes(size.ram_bytes) + ', hit ratio in RAM ' + percentOf(size.hitRatio)} />`)}</div>`;
}

const WAITS = {
  requests: 'They need 2,000 sampled requests and two minutes.',
  fill: 'The simulated cache of the present size is not full yet.',
  change: 'They still change by a percentage point or more in two minutes.',
};

/** The figures of a measurement that has no usable result yet. */
function Measuring({report}) {
  return html`<${Message} tone="doubtful"><strong data-name="measuring">${'Measuring since ' + time(report.since_seconds).slice(11, 16)
    + (usesUtc() ? ' UTC' : '') + ', ' + count(report.requests_total) + (report.requests_total === 1 ? ' request' : ' requests')}.</strong>${
    ' The figures are not usable yet. ' + (WAITS[report.waits_for] || '')}
    ${report.requests > 0 && html`<br /><span class="note">${'Still rising: ' + gains(report).map((size) => times(size.scale) + ' ' + size.gain).join(', ') + ' percentage points.'}</span>`}<//>`;
}

function Sizes({report}) {
  const {sizes} = report;
  return html`<${Panel} title="Hit ratio by size of RAM" wide=${true} note=${(report.state === 'measuring' ? 'Still rising. ' : '')
    + 'The RAM tier evicts by ' + policyOf(report)[0] + '. The other policies are for comparison.'}>
    <${Table} label="Hit ratio by size of RAM" name="sizes" rows=${sizes.map((size) => ({key: size.scale, ...size}))} columns=${[
    {title: 'RAM', cell: (row) => times(row.scale) + (row.scale === 1 ? ' (now)' : '')},
    {title: 'Size', align: 'right', cell: (row) => bytes(row.ram_bytes)},
    {title: 'Hits', cell: (row) => html`<${Bar} share=${row[policyOf(report)[1]].hit_ratio} label=${percentOf(row[policyOf(report)[1]].hit_ratio)} />`},
    {title: 'W-TinyLFU', align: 'right', cell: (row) => percentOf(row.current.hit_ratio)},
    {title: 'LRU', align: 'right', cell: (row) => percentOf(row.lru.hit_ratio)},
    {title: 'S3-FIFO', align: 'right', cell: (row) => percentOf(row.s3_fifo.hit_ratio)},
    {title: 'W-TinyLFU, by bytes', align: 'right', cell: (row) => percentOf(row.current.byte_hit_ratio)},
    {title: 'LRU, by bytes', align: 'right', cell: (row) => percentOf(row.lru.byte_hit_ratio)},
    {title: 'S3-FIFO, by bytes', align: 'right', cell: (row) => percentOf(row.s3_fifo.byte_hit_ratio)},
  ]} /><//>`;
}

function Hosts({sizes, hosts}) {
  return html`<${Panel} title="Hit ratio by host" wide=${true} note="All hosts share the RAM tier. With W-TinyLFU.">
    <${Table} label="Hit ratio by host" name="curve-hosts" empty="No requests yet." rows=${hosts.map((host) => ({key: host.host, ...host}))} columns=${[
    {title: 'Host', wide: true, cell: (row) => row.host || NONE},
    {title: 'Number of requests', align: 'right', cell: (row) => count(row.requests)},
    ...sizes.map((size, index) => ({title: times(size.scale), align: 'right', cell: (row) => percentOf(row.hit_ratios[index])})),
  ]} /><//>`;
}

/** Sets cache.curve in the running configuration. Returns the function and the failure of the last call. */
function useSwitch(value, onDone) {
  const [failure, setFailure] = useState(null);
  const change = async () => {
    try {
      const report = await post('/v1/config/set', {settings: {'cache.curve': value}});
      setFailure(report.ok ? null : new Error(report.problems.map((problem) => problem.text).join(' ')));
      if (report.ok) {
        onDone();
      }
    } catch (error) {
      setFailure(error);
    }
  };
  return [change, failure];
}

/** The switch of the estimate, for sessions that may change the configuration. */
function Off({rights, onOn}) {
  const [turnOn, failure] = useSwitch('true', onOn);
  return html`<div>
    <${Message}>The estimate is off. It takes at most 8 MiB of memory and 1 % of a core, and needs some minutes of traffic.
      ${rights.mayChange ? html` <button type="button" class="primary" onClick=${turnOn}>Turn it on</button> <span class="note">This sets <code>cache.curve</code> in the running configuration.</span>`
      : html` An operator turns it on with <code>millctl config set cache.curve=true</code>.`}<//>
    <${Failure} error=${failure} />
  </div>`;
}

function Estimate({report}) {
  const member = policyOf(report)[1];
  const present = report.sizes.find((size) => size.scale === 1);
  return html`${report.state === 'measuring' ? html`<${Measuring} report=${report} />` : html`<${Gains} report=${report} />`}
    ${report.requests > 0 && html`<p class="about">Points are percentage points of the hit ratio in RAM. A request that misses RAM may still be a hit on disk.
      ${' Hit ratio in RAM: ' + percentOf(report.ram_hit_ratio) + ' measured, ' + percentOf(present[member].hit_ratio) + ' estimated for RAM × 1.'}</p>
      <div class="stack"><${Sizes} report=${report} /><${Hosts} sizes=${report.sizes} hosts=${report.hosts} /></div>
      <p class="about">${'About ' + count(report.requests) + ' recent requests, ' + count(report.sampled_keys) + ' sampled keys ('
        + percentOf(report.sample_rate) + ' of all)' + (report.lost > 0 ? '; ' + count(report.lost) + ' sampled requests left out' : '') + '.'}</p>`}`;
}

export function Curve({rights}) {
  const [changes, setChanges] = useState(0);
  const changed = () => setChanges((old) => old + 1);
  const [turnOff, failure] = useSwitch('false', changed);
  const report = useLoad((signal) => get('/v1/cache/curve', {}, signal), [changes], POLL_MILLIS);
  const isOff = report.error && report.error.code === 'curve-off';
  const data = isOff ? null : report.data;
  return html`<${Screen} title="What RAM would bring" about="Hit ratios that other sizes of the RAM tier would have with the recent requests, estimated from a sample."
    actions=${data && rights.mayChange && html`<button type="button" title="Sets cache.curve to false in the running configuration" onClick=${turnOff}>Turn it off</button>`}>
    <${Failure} error=${failure} />
    ${isOff ? html`<${Off} rights=${rights} onOn=${changed} />`
    : html`<${Failure} error=${report.error} />`}
    ${data && html`<${Estimate} report=${data} />`}
  <//>`;
}
