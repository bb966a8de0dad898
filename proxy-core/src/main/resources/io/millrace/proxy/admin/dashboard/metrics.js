// The Prometheus text format, and rates between two samples of it.

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)",?/g;

function labelsOf(text) {
  const labels = {};
  if (text) {
    for (const [, name, value] of text.matchAll(LABEL)) {
      labels[name] = value.replace(/\\(.)/g, (all, c) => (c === 'n' ? '\n' : c));
    }
  }
  return labels;
}

/** All series of one answer of /metrics. */
export class Sample {
  constructor(text, seconds) {
    this.seconds = seconds;
    this.series = new Map();
    for (const line of text.split('\n')) {
      if (line.startsWith('#') || !line.startsWith('millrace_')) {
        continue;
      }
      const match = LINE.exec(line);
      if (match) {
        const list = this.series.get(match[1]) || [];
        list.push({labels: labelsOf(match[2]), value: match[3] === '+Inf' ? Infinity : Number(match[3])});
        this.series.set(match[1], list);
      }
    }
  }

  all(name) {
    return this.series.get(name) || [];
  }

  /** Sum of the series that have all of these labels. */
  value(name, labels) {
    let sum = 0;
    for (const one of this.all(name)) {
      if (has(one.labels, labels)) {
        sum += one.value;
      }
    }
    return sum;
  }

  /** Every value of a label. */
  values(name, label) {
    return [...new Set(this.all(name).map((one) => one.labels[label]))];
  }
}

function has(labels, wanted) {
  return Object.entries(wanted || {}).every(([name, value]) => labels[name] === value);
}

/** The increase between two samples. After a restart of the worker the counters begin again at 0. */
export class Change {
  constructor(before, after) {
    this.before = before;
    this.after = after;
    this.seconds = after.seconds - before.seconds;
  }

  increase(name, labels) {
    const now = this.after.value(name, labels);
    const then = this.before.value(name, labels);
    return now < then ? now : now - then;
  }

  rate(name, labels) {
    return this.seconds > 0 ? this.increase(name, labels) / this.seconds : 0;
  }

  /** The quantile of a histogram in the time between, with linear interpolation in a bucket; null without observations. */
  quantile(name, q, labels) {
    const bounds = new Map();
    for (const [sample, sign] of [[this.after, 1], [this.before, -1]]) {
      for (const one of sample.all(name + '_bucket')) {
        if (has(one.labels, labels)) {
          const bound = one.labels.le === '+Inf' ? Infinity : Number(one.labels.le);
          bounds.set(bound, (bounds.get(bound) || 0) + sign * one.value);
        }
      }
    }
    const sorted = [...bounds.entries()].sort((a, b) => a[0] - b[0]);
    const total = sorted.length === 0 ? 0 : sorted[sorted.length - 1][1];
    if (!(total > 0)) {
      return null;
    }
    let lower = 0;
    let below = 0;
    for (const [bound, cumulative] of sorted) {
      if (cumulative >= q * total) {
        if (bound === Infinity) {
          return lower;
        }
        return lower + (bound - lower) * (q * total - below) / Math.max(1e-9, cumulative - below);
      }
      lower = bound;
      below = cumulative;
    }
    return lower;
  }
}

const HITS = ['hit', 'stale', 'revalidated'];

/** Hits among the requests, as "millctl top" counts them. */
export function hits(of) {
  return HITS.reduce((sum, cache) => sum + of('millrace_requests_total', {cache}), 0);
}
