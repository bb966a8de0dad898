// What happened: rolls, reloads, purges, origins, disks, certificates.

import {html} from './vendor/htm-preact.js';
import {get} from './api.js';
import {count, time} from './format.js';
import {Screen, Panel, Table, State, Failure, Field, Breakable, useLoad} from './parts.js';

const LIMIT = 1000;
const EVERY_MILLIS = 5000;

/** Groups of kinds, as a filter. */
const GROUPS = [
  {name: '', title: 'All kinds', kinds: ''},
  {name: 'config', title: 'Configuration', kinds: 'reload,config-rejected'},
  {name: 'process', title: 'Start, stop, rolls, workers', kinds: 'start,stop,roll-begun,roll-ended,roll-failed,worker-died'},
  {name: 'purge', title: 'Purges', kinds: 'purge'},
  {name: 'origin', title: 'Origins', kinds: 'origin-down,origin-up'},
  {name: 'disk', title: 'Storage paths', kinds: 'disk-offline,disk-online'},
  {name: 'alarm', title: 'Alarms', kinds: 'alarm-raised,alarm-cleared'},
  {name: 'certificate', title: 'Certificates', kinds: 'certificate-renewed,certificate-failed,certificate-expiring'},
  {name: 'fleet', title: 'Fleet', kinds: 'fleet-down,fleet-up,fleet-gap,fleet-refused,fleet-config,fleet-config-failed'},
  {name: 'extension', title: 'Extensions', kinds: 'extension-down,extension-up,extension-blocks'},
];

const TIMES = [['1h', 'Last hour'], ['24h', '24 hours'], ['7d', '7 days'], ['all', 'All that are kept']];

/** Words of states that have the colour of a severity. */
const TONES = {error: 'failed', warning: 'pending'};

export function Severity({event}) {
  return html`<${State} word=${TONES[event.severity] || 'plain'} text=${event.severity} />`;
}

/** Kinds of alarms whose cause is an event, so that they have none of their own. */
const CAUSES = ['disk-offline'];

/** The number of the event that raised each of the alarms that are raised now. */
function raisedNow(events, alarms) {
  return alarms.map(({kind, subject}) => [...events].reverse().find((event) => event.subject === subject
    && (CAUSES.includes(kind) ? event.kind === kind : event.kind === 'alarm-raised' && event.text.startsWith(kind + ':'))))
    .filter(Boolean).map((event) => event.number);
}

/** A table of events, newest first. */
function EventTable({events, alarms, label, empty}) {
  const rows = [...events].reverse().map((event) => ({key: event.number, ...event}));
  const now = raisedNow(events, alarms);
  return html`<${Table} label=${label} name="events" rows=${rows} empty=${empty} columns=${[
    {title: 'Time', cell: (row) => time(row.at_seconds)},
    {title: 'Severity', cell: (row) => html`<${Severity} event=${row} />`},
    {title: 'Kind', cell: (row) => html`${row.kind}${now.includes(row.number) && html` <${State} word="failed" text="raised now" />`}`},
    {title: 'Subject', wide: true, cell: (row) => html`<${Breakable} text=${row.subject} />`},
    {title: 'What happened', wide: true, cell: (row) => row.text + (row.more > 0 ? ' (and ' + count(row.more) + ' more before)' : '')},
  ]} />`;
}

function go(parameters, change) {
  const next = new URLSearchParams({...parameters, ...change});
  [...next].filter(([, value]) => value === '').forEach(([name]) => next.delete(name));
  location.hash = '#/events' + (next.toString() ? '?' + next : '');
}

export function Events({parameters}) {
  const group = GROUPS.find((one) => one.name === parameters.group) || GROUPS[0];
  const since = TIMES.some(([name]) => name === parameters.since) ? parameters.since : '24h';
  const loaded = useLoad((signal) => get('/v1/events', {kind: group.kinds, since: since === 'all' ? '' : since, limit: LIMIT}, signal),
    [group.name, since], EVERY_MILLIS);
  const alarms = useLoad((signal) => get('/v1/alarms', {}, signal), [], EVERY_MILLIS);
  const events = loaded.data ? loaded.data.events : [];
  return html`<${Screen} title="Events" about="What the launcher and its workers reported. The same as millctl events.">
    <div class="form">
      <${Field} label="Kind"><select name="group" value=${group.name} onChange=${(event) => go(parameters, {group: event.target.value})}>
        ${GROUPS.map(({name, title}) => html`<option value=${name} selected=${group.name === name}>${title}</option>`)}</select><//>
      <${Field} label="Time"><select name="since" value=${since} onChange=${(event) => go(parameters, {since: event.target.value})}>
        ${TIMES.map(([name, title]) => html`<option value=${name} selected=${since === name}>${title}</option>`)}</select><//>
    </div>
    <${Failure} error=${loaded.error} />
    <${Panel} title="Events" note=${loaded.data ? count(events.length) + (events.length === LIMIT ? ', the latest' : '') : ''}>
      <${EventTable} label="Events, newest first" events=${events} alarms=${alarms.data ? alarms.data.alarms : []} empty=${loaded.data ? 'No events in this time.' : loaded.error ? 'No events are known.' : 'Loading.'} /><//>
  <//>`;
}
