// Figures of the past and events, which the launcher records.

import {html} from './vendor/htm-preact.js';
import {get} from './api.js';
import {time} from './format.js';
import {useLoad} from './parts.js';

/** The ranges, with the step of charts and of the heat map, and the time between two requests, in seconds. */
export const RANGES = [
  {name: 'hour', title: 'Last hour', seconds: 3600, step: 10, cells: 30, every: 10},
  {name: 'day', title: '24 hours', seconds: 86400, step: 120, cells: 600, every: 60},
  {name: 'week', title: '7 days', seconds: 604800, step: 1200, cells: 3600, every: 60},
];

export function rangeOf(parameters) {
  return RANGES.find((range) => range.name === parameters.range) || RANGES[0];
}

/** Links to the ranges of a screen, and the time of the first record if the charts begin later than the range. */
export function RangeTabs({screen, range, from}) {
  const isShort = from > 0 && from > Date.now() / 1000 - range.seconds + 2 * range.cells;
  return html`<div class="tabs" role="navigation" aria-label="Time">${RANGES.map(({name, title}) => html`<a
    href=${'#/' + screen + '?range=' + name} aria-current=${range.name === name ? 'true' : undefined}>${title}</a>`)}${isShort && html`<span class="tabs-note">${'Recorded since ' + time(from)}</span>`}</div>`;
}

/** Charts of a young record show at least so many steps, so that they do not begin with one point. */
const STEPS_MIN = 12;

/** The steps from the first record on. The time before the first start is no gap. */
function fromFirstRecord(steps) {
  const first = steps.findIndex((step) => step.point !== null);
  return first < 0 ? steps : steps.slice(Math.max(0, Math.min(first, steps.length - STEPS_MIN)));
}

/**
 * The recorded steps of a range. Steps without a record are null, so that charts show a gap. The figures of another range are not
 * shown while those of this one are loaded.
 */
export function useHistory(range, step, series) {
  const loaded = useLoad(async (signal) => {
    const answer = await get('/v1/history', {from: range.seconds + 's', step: step + 's', series}, signal);
    const byTime = new Map(answer.points.map((point) => [point.at, point]));
    const steps = [];
    for (let at = answer.from; at < answer.to; at += answer.step) {
      steps.push({at, point: byTime.get(at) || null});
    }
    // The present step is not complete.
    if (steps.length > 1 && steps[steps.length - 1].point === null) {
      steps.pop();
    }
    return {range: range.name, steps: fromFirstRecord(steps), bounds: answer.bounds_us, step: answer.step};
  }, [range.name, step], range.every * 1000);
  return loaded.data && loaded.data.range !== range.name ? {...loaded, data: null} : loaded;
}

/** The events of a range, oldest first. */
export function useEvents(range) {
  return useLoad((signal) => get('/v1/events', {since: range.seconds + 's', limit: 500}, signal), [range.name], range.every * 1000);
}

const TONES = {error: '--bad', warning: '--doubtful'};

/** Events as marks on a chart. The text is shown as text only. */
export function marksOf(events) {
  return (events || []).map((event) => ({
    at: event.at_seconds,
    colour: TONES[event.severity] || '--muted',
    text: time(event.at_seconds) + ' ' + event.kind + ': ' + event.subject + ', ' + event.text,
  }));
}

function rateOf(point, name) {
  return point.measured_ms > 0 ? point[name] * 1000 / point.measured_ms : null;
}

const seconds = (micros) => (micros === null ? null : micros / 1e6);

const EMPTY = {requests: null, hits: null, origin: null, errors: null, hitRatio: null, savedRatio: null, p50: null, p99: null,
  originP99: null, sent: null, fetched: null};

/** The points of the charts of the overview, in the form of those that are measured live. */
export function chartPoints(steps) {
  return steps.map(({at, point}) => (point === null ? {at, ...EMPTY} : {
    at,
    requests: rateOf(point, 'requests'),
    hits: rateOf(point, 'hits'),
    origin: rateOf(point, 'origin_requests'),
    errors: rateOf(point, 'errors'),
    hitRatio: point.requests > 0 ? point.hits * 100 / point.requests : null,
    savedRatio: point.sent_bytes > 0 ? Math.max(0, (point.sent_bytes - point.origin_bytes) * 100 / point.sent_bytes) : null,
    p50: seconds(point.p50_us),
    p99: seconds(point.p99_us),
    originP99: seconds(point.origin_p99_us),
    sent: rateOf(point, 'sent_bytes'),
    fetched: rateOf(point, 'origin_bytes'),
  }));
}
