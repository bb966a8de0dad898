// Requests, hit ratio, latency, origins and tiers, live.

import {html, useState, useEffect} from './vendor/htm-preact.js';
import {get} from './api.js';
import {count, bytes, rate, byteRate, percent, span, time, clock, NONE} from './format.js';
import {Screen, Panel, Stat, Table, State, Bar, Failure, Chart, Breakable, useLoad} from './parts.js';
import {RangeTabs, rangeOf, useHistory, useEvents, marksOf, chartPoints} from './past.js';
import * as live from './live.js';

/** Number of events on this screen. */
const LATEST = 6;

const PERCENT = (value) => value.toFixed(1).replace(/\.0$/, '') + '%';

/** Distances of the lines of an axis with bytes: powers of 2. */
const BINARY_STEPS = Array.from({length: 40}, (none, power) => 2 ** power);

function useLive() {
  const [state, setState] = useState(live.state());
  useEffect(() => live.subscribe(() => setState(live.state())), []);
  return state;
}

function shares(sample, change, metric, label) {
  const all = sample.value(metric);
  return sample.values(metric, label)
    .map((word) => ({
      key: word,
      word,
      total: sample.value(metric, {[label]: word}),
      rate: change ? change.rate(metric, {[label]: word}) : null,
      all,
    }))
    .filter((row) => row.total > 0)
    .sort((a, b) => b.total - a.total);
}

function Shares({title, label, rows}) {
  return html`<${Panel} title=${title}><${Table} label=${title} rows=${rows} empty="No requests yet." columns=${[
    {title: label, cell: (row) => row.word},
    {title: 'Now', align: 'right', cell: (row) => rate(row.rate)},
    {title: 'Since the start', align: 'right', cell: (row) => count(row.total)},
    {title: 'Share', align: 'right', cell: (row) => percent(row.total, row.all)},
  ]} /><//>`;
}

/** The name of all hosts without figures of their own. */
const OTHER = 'other';

/** The hosts that clients request, those with most misses first and all others last. */
function hostRows(last, change) {
  const of = (metric, host) => last.value('millrace_host_' + metric + '_total', {host});
  const now = (metric, host) => (change ? change.rate('millrace_host_' + metric + '_total', {host}) : null);
  const misses = last.value('millrace_host_misses_total');
  return last.values('millrace_host_requests_total', 'host')
    .map((host) => ({
      key: host,
      host,
      requests: of('requests', host),
      hits: of('hits', host),
      misses: of('misses', host),
      errors: of('errors', host),
      missesNow: now('misses', host),
      requestsNow: now('requests', host),
      allMisses: misses,
    }))
    .filter((row) => row.requests > 0)
    .sort((a, b) => (a.host === OTHER) - (b.host === OTHER) || b.misses - a.misses);
}

/** The host as a link to its requests in the live log. */
function HostLink({host}) {
  return html`<a href=${'#/log?' + new URLSearchParams({host})} title="Its requests in the live log">${host}</a>`;
}

/** Number of hosts that are shown before the reader asks for all. */
const HOSTS_FIRST = 5;

function Hosts({last, change}) {
  const [showsAll, setShowsAll] = useState(false);
  const rows = hostRows(last, change);
  const isOff = last.values('millrace_host_requests_total', 'host').length === 0;
  return html`<${Panel} title="Hosts" wide note="Since the start of the worker, those with most misses first."
    actions=${rows.length > HOSTS_FIRST && html`<button type="button" class="quiet" aria-expanded=${String(showsAll)} onClick=${() => setShowsAll(!showsAll)}>${showsAll ? 'Show fewer' : 'Show all ' + rows.length}</button>`}>
    <${Table} label="Hosts" name="hosts" rows=${showsAll ? rows : rows.slice(0, HOSTS_FIRST)} empty=${isOff ? 'Requests are not counted by host: admin.hosts is 0.' : 'No requests yet.'} columns=${[
    {title: 'Host', wide: true, cell: (row) => (row.host === OTHER ? 'all other hosts' : html`<${HostLink} host=${row.host} />`)},
    {title: 'Misses', align: 'right', cell: (row) => count(row.misses)},
    {title: 'Share of misses', cell: (row) => html`<div class="share"><span>${percent(row.misses, row.allMisses)}</span><${Bar} share=${row.misses / Math.max(1, row.allMisses)} label=${percent(row.misses, row.allMisses)} /></div>`},
    {title: 'Misses now', align: 'right', cell: (row) => rate(row.missesNow)},
    {title: 'Hit ratio', align: 'right', cell: (row) => percent(row.hits, row.requests)},
    {title: 'Requests', align: 'right', cell: (row) => count(row.requests)},
    {title: 'Requests now', align: 'right', cell: (row) => rate(row.requestsNow)},
    {title: 'Errors (5xx)', align: 'right', cell: (row) => html`<span class=${row.errors > 0 ? 'bad-text' : ''}>${count(row.errors)}</span>`},
  ]} /><//>`;
}

function Tiers({cache}) {
  const tiers = [{key: 'ram', path: 'RAM', ...cache.ram}, ...(cache.volumes || []).map((one) => ({key: one.path, ...one}))];
  return html`<${Panel} title="Cache tiers" actions=${html`<a href="#/disks">Disks</a>`}><${Table} label="Cache tiers" rows=${tiers} columns=${[
    {title: 'Tier', wide: true, cell: (row) => html`${row.path} ${row.state && html`<${State} word=${row.state} />`}`},
    {title: 'Used', align: 'right', cell: (row) => (row.state === 'offline' ? 'content not available' : bytes(row.bytes) + ' of ' + bytes(row.bytes_max))},
    {title: 'Fill', cell: (row) => row.state !== 'offline' && html`<${Bar} share=${row.bytes / Math.max(1, row.bytes_max)} />`},
    {title: 'Objects', align: 'right', cell: (row) => (row.state === 'offline' ? NONE : count(row.entries))},
  ]} /><//>`;
}

function OriginTable({hosts}) {
  return html`<${Panel} title="Hosts of origin groups" actions=${html`<a href="#/origins">Details</a>`}>
    <${Table} label="Hosts of origin groups" rows=${hosts.map((host) => ({key: host.group + host.host, ...host}))} columns=${[
    {title: 'Group', cell: (row) => row.group},
    {title: 'Host', wide: true, cell: (row) => row.host},
    {title: 'State', cell: (row) => html`<${State} word=${row.state} />`},
    {title: 'Latency', align: 'right', cell: (row) => (row.latency_us ? span(row.latency_us / 1e6) : NONE)},
    {title: 'Failures', align: 'right', cell: (row) => count(row.failures)},
  ]} /><//>`;
}

const SERIES = 'requests,hits,sent_bytes,origin_bytes,origin_requests,errors,latency';

/** The latest events, newest first. */
function Latest({events}) {
  return html`<${Panel} title="Latest events" actions=${html`<a href="#/events">All events</a>`}>
    <${Table} label="Latest events" empty="No events in this time." rows=${[...events].reverse().slice(0, LATEST).map((event) => ({key: event.number, ...event}))}
      columns=${[
    {title: 'Time', cell: (row) => time(row.at_seconds)},
    {title: 'Kind', cell: (row) => (row.severity === 'info' ? row.kind : html`<${State} word=${row.severity === 'error' ? 'failed' : 'pending'} text=${row.kind} />`)},
    {title: 'What happened', wide: true, cell: (row) => row.subject + ': ' + row.text},
  ]} /><//>`;
}

/** The alarms that are raised now; nothing without any. */
function Alarms({alarms}) {
  return alarms.length > 0 && html`<${Panel} title=${count(alarms.length) + (alarms.length === 1 ? ' alarm' : ' alarms')} actions=${html`<a href="#/events?group=alarm">Events of alarms</a>`}>
    <${Table} label="Alarms" name="alarms" rows=${alarms.map((alarm) => ({key: alarm.kind + ' ' + alarm.subject, ...alarm}))} columns=${[
    {title: 'Since', cell: (row) => (row.since_seconds ? time(row.since_seconds) : NONE)},
    {title: 'Kind', cell: (row) => html`<${State} word=${row.severity === 'error' ? 'failed' : 'pending'} text=${row.kind} />`},
    {title: 'Subject', wide: true, cell: (row) => html`<${Breakable} text=${row.subject} />`},
    {title: 'What is wrong', wide: true, cell: (row) => row.text},
  ]} /><//>`;
}

export function Overview({status, theme, parameters}) {
  const {points: livePoints, last, change, failure} = useLive();
  const range = rangeOf(parameters);
  const past = useHistory(range, range.step, SERIES);
  const loaded = useEvents(range);
  const events = (loaded.data && loaded.data.events) || [];
  const marks = marksOf(events);
  // Without recorded figures the charts begin when the page was opened.
  const isOff = past.error && past.error.code === 'history-off';
  const points = isOff ? livePoints : past.data ? chartPoints(past.data.steps) : [];
  const when = range.name === 'week' ? (seconds) => time(seconds).slice(5, 16) : range.name === 'day' ? (seconds) => clock(seconds).slice(0, 5) : clock;
  const chart = {theme: theme + range.name, points, marks, when};
  const origins = useLoad((signal) => get('/v1/origins', {}, signal), [], 5000);
  const alarms = useLoad((signal) => get('/v1/alarms', {}, signal), [], 5000);
  const data = status.data;
  const newest = livePoints[livePoints.length - 1] || {};
  const cache = (data && data.cache) || {};
  const connections = (data && data.connections) || {};
  return html`<${Screen} title="Overview" about=${isOff ? 'admin.history is 0: the charts begin when this page was opened.' : 'Figures of now, and charts of the recorded past.'}>
    <${Failure} error=${failure || status.error || origins.error || alarms.error} />
    <${Alarms} alarms=${(alarms.data && alarms.data.alarms) || []} />
    <div class="stats">
      <${Stat} label="Requests" value=${rate(newest.requests)} name="requests_total" raw=${data && data.requests_total}
        note=${data ? count(data.requests_total) + ' since the start' : ''} />
      <${Stat} label="Hit ratio" value=${newest.requests > 0 ? percent(newest.hits, newest.requests) : NONE}
        name="hits_total" raw=${cache.hits_total}
        note=${data ? percent(cache.hits_total, cache.hits_total + cache.misses_total) + ' since the start' : ''} />
      <${Stat} label="Latency, median" value=${span(newest.p50)} note=${'99th percentile ' + span(newest.p99)} />
      <${Stat} label="Origin requests" value=${rate(newest.origin)} note=${rate(newest.failures) + ' failed'}
        tone=${newest.failures > 0 ? 'bad' : ''} />
      <${Stat} label="Errors (5xx)" value=${rate(newest.errors)} tone=${newest.errors > 0 ? 'bad' : ''}
        note=${last ? count(last.value('millrace_responses_total', {status_class: '5xx'})) + ' since the start' : ''} />
      <${Stat} label="Sent to clients" value=${byteRate(newest.sent)} note=${newest.fetched === null || newest.fetched === undefined ? '' : byteRate(newest.fetched) + ' from origins'} />
      <${Stat} label="Client connections" value=${count(connections.client)} name="connections_client" raw=${connections.client}
        note=${count(connections.origin) + ' to origins'} />
    </div>
    ${last && html`<${Hosts} last=${last} change=${change} />`}
    <${Failure} error=${(isOff ? null : past.error) || loaded.error} />
    <${RangeTabs} screen="overview" range=${range} from=${isOff || points.length === 0 ? 0 : points[0].at} />
    <div class="grid">
      <${Chart} title="Requests per second" ...${chart} text=${(value) => rate(value)} series=${[
        {label: 'All', colour: '--chart-1', fill: '--chart-1-fill', value: (point) => point.requests},
        {label: 'Hits', colour: '--chart-2', value: (point) => point.hits},
        {label: 'Origin', colour: '--chart-3', dash: [6, 4], value: (point) => point.origin},
      ]} />
      <${Chart} title="Hit ratio" ...${chart} max=${100} text=${PERCENT} series=${[
        {label: 'Requests', colour: '--chart-2', fill: '--chart-2-fill', value: (point) => point.hitRatio},
        ...(points.every((point) => point.savedRatio === null) ? [] : [{label: 'Bytes', colour: '--chart-4', dash: [6, 4], value: (point) => point.savedRatio}]),
      ]} />
      <${Chart} title="Latency" ...${chart} text=${span} series=${[
        {label: 'Median', colour: '--chart-1', value: (point) => point.p50},
        {label: '99th percentile', colour: '--chart-3', value: (point) => point.p99},
        {label: 'Origins, 99th', colour: '--chart-4', dash: [6, 4], value: (point) => point.originP99},
      ]} />
      <${Chart} title="Traffic" ...${chart} steps=${BINARY_STEPS} text=${byteRate} series=${[
        {label: 'To clients', colour: '--chart-1', fill: '--chart-1-fill', value: (point) => point.sent},
        ...(points.every((point) => point.fetched === null) ? [] : [{label: 'From origins', colour: '--chart-3', dash: [6, 4], value: (point) => point.fetched}]),
      ]} />
      <${Chart} title="Errors (5xx) per second" ...${chart} text=${rate} series=${[
        {label: 'Errors', colour: '--chart-3', fill: '--chart-1-fill', value: (point) => point.errors},
      ]} />
      <${Latest} events=${events} />
      ${last && html`<${Shares} title="Cache results" label="Result" rows=${shares(last, change, 'millrace_requests_total', 'cache')} />`}
      ${last && html`<${Shares} title="Status classes" label="Class" rows=${shares(last, change, 'millrace_responses_total', 'status_class')} />`}
      ${cache.ram && html`<${Tiers} cache=${cache} />`}
      ${origins.data && origins.data.hosts.length > 0 && html`<${OriginTable} hosts=${origins.data.hosts} />`}
    </div>
  <//>`;
}
