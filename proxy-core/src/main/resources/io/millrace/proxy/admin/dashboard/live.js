// One series of samples for all screens: the last hour since the page was opened.

import {getSnapshot} from './api.js';
import {Sample, Change, hits} from './metrics.js';
import {pause} from './pause.js';

const EVERY_MILLIS = 2000;
const POINTS_MAX = 1800;
// Quantiles need more observations than one interval may have.
const QUANTILE_SAMPLES = 6;

const listeners = new Set();
let samples = [];
let points = [];
let failure = null;
// Some builds of the proxy do not count the bytes from origins. Once a sample has them, all have.
let countsFetched = false;
/** Ends the requests in progress; null while there are none. */
let running = null;

function point(before, after) {
  const change = new Change(before, after);
  const wide = new Change(samples[Math.max(0, samples.length - QUANTILE_SAMPLES)], after);
  const requests = change.rate('millrace_requests_total');
  const found = hits((name, labels) => change.rate(name, labels));
  const sent = change.rate('millrace_sent_bytes_total', {side: 'client'});
  const fetched = countsFetched ? change.rate('millrace_received_bytes_total', {side: 'origin'}) : null;
  return {
    at: after.seconds,
    requests,
    hits: found,
    origin: change.rate('millrace_origin_requests_total'),
    failures: change.rate('millrace_origin_failures_total'),
    errors: change.rate('millrace_responses_total', {status_class: '5xx'}),
    hitRatio: requests > 0 ? found * 100 / requests : null,
    savedRatio: sent > 0 && countsFetched ? Math.max(0, (sent - fetched) * 100 / sent) : null,
    p50: wide.quantile('millrace_request_duration_seconds', 0.5),
    p99: wide.quantile('millrace_request_duration_seconds', 0.99),
    originP99: wide.quantile('millrace_origin_request_duration_seconds', 0.99),
    sent,
    fetched,
  };
}

function add(after) {
  countsFetched = countsFetched || after.value('millrace_received_bytes_total', {side: 'origin'}) > 0;
  samples.push(after);
  if (samples.length > 1) {
    points.push(point(samples[samples.length - 2], after));
  }
  samples = samples.slice(-QUANTILE_SAMPLES);
  points = points.slice(-POINTS_MAX);
}

async function run(signal) {
  while (!signal.aborted) {
    try {
      const {text, ageMillis, isKept} = await getSnapshot('/v1/dashboard/metrics', signal);
      if (signal.aborted) {
        return;
      }
      // All viewers share a sample for up to two seconds. The same one again would be a rate of 0.
      if (!isKept || samples.length === 0) {
        add(new Sample(text, (Date.now() - ageMillis) / 1000));
      }
      failure = null;
    } catch (e) {
      if (signal.aborted) {
        return;
      }
      failure = e;
    }
    listeners.forEach((listener) => listener());
    await pause(Math.max(EVERY_MILLIS, failure ? failure.waitSeconds * 1000 : 0), signal);
  }
}

export function start() {
  if (running === null) {
    running = new AbortController();
    run(running.signal);
  }
}

export function stop() {
  if (running !== null) {
    running.abort();
    running = null;
  }
  samples = [];
  points = [];
  failure = null;
}

export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * The present state: all points, the newest sample, the change in the last interval, whether bytes from origins are counted, and
 * the last failure.
 */
export function state() {
  const last = samples[samples.length - 1] || null;
  const before = samples[samples.length - 2] || null;
  return {points, last, change: before ? new Change(before, last) : null, failure};
}
