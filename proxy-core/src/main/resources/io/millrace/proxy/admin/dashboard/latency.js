// The durations of requests over time, as heat maps with tables beside them.

import {html, useState, useRef, useLayoutEffect} from './vendor/htm-preact.js';
import {count, percent, span, time, clock, NONE} from './format.js';
import {Screen, Panel, Table, Failure} from './parts.js';
import {RangeTabs, rangeOf, useHistory, useEvents, marksOf} from './past.js';

const HEIGHT = 300;
const LEFT = 64;
const BOTTOM = 24;
const TOP = 10;
const LABEL_DISTANCE = 90;
const TABLE_ROWS = 24;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The durations of a bucket as text. Bounds are in microseconds. */
function bucketText(bounds, bucket) {
  const low = bucket === 0 ? 0 : bounds[bucket - 1] / 1e6;
  return bucket === bounds.length ? 'over ' + span(low) : (bucket === 0 ? 'up to ' : span(low) + ' to ') + span(bounds[bucket] / 1e6);
}

/** The buckets between the fastest and the slowest request, with one more on each side. */
function usedBuckets(columns, size) {
  const used = columns.flatMap((column) => column.counts.map((value, bucket) => (value > 0 ? bucket : -1)).filter((bucket) => bucket >= 0));
  const low = used.length === 0 ? 3 : Math.min(...used);
  const high = used.length === 0 ? 12 : Math.max(...used);
  return {low: Math.max(0, low - 1), high: Math.min(size - 1, high + 1)};
}

const timeText = (seconds, step) => (step >= 600 ? time(seconds).slice(5, 16) : clock(seconds).slice(0, 5));

/** Draws the map. A cell is as strong as its share of the requests of its time, on a logarithmic scale. */
function draw(canvas, {columns, bounds, step, low, high, marks, ink}, at) {
  const width = canvas.clientWidth;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = HEIGHT * ratio;
  const pen = canvas.getContext('2d');
  pen.scale(ratio, ratio);
  pen.clearRect(0, 0, width, HEIGHT);
  const cellWidth = (width - LEFT) / Math.max(1, columns.length);
  const cellHeight = (HEIGHT - TOP - BOTTOM) / (high - low + 1);
  const most = Math.max(1, ...columns.map((column) => Math.max(0, ...column.counts)));
  pen.fillStyle = colour(ink);
  columns.forEach((column, x) => column.counts.forEach((value, bucket) => {
    if (value > 0) {
      pen.globalAlpha = 0.12 + 0.88 * Math.log1p(value) / Math.log1p(most);
      pen.fillRect(LEFT + x * cellWidth, TOP + (high - bucket) * cellHeight, Math.max(1, cellWidth - 0.5), cellHeight - 0.5);
    }
  }));
  pen.globalAlpha = 1;
  pen.font = '12px system-ui, sans-serif';
  pen.fillStyle = colour('--muted');
  pen.textAlign = 'right';
  for (let bucket = low; bucket < high && bucket < bounds.length; bucket += cellHeight < 14 ? 3 : 1) {
    pen.fillText(span(bounds[bucket] / 1e6), LEFT - 6, TOP + (high - bucket) * cellHeight + 4);
  }
  pen.textAlign = 'center';
  const every = Math.max(1, Math.ceil(LABEL_DISTANCE / Math.max(0.1, cellWidth)));
  for (let x = Math.floor(every / 2); x < columns.length; x += every) {
    pen.fillText(timeText(columns[x].at, step), LEFT + (x + 0.5) * cellWidth, HEIGHT - 6);
  }
  for (const mark of marks) {
    const x = LEFT + (mark.at - (columns.length ? columns[0].at : 0)) / step * cellWidth;
    if (x >= LEFT && x <= width) {
      pen.fillStyle = colour(mark.colour);
      pen.fillRect(x, TOP, 1, HEIGHT - TOP - BOTTOM);
    }
  }
  if (at) {
    pen.strokeStyle = colour('--focus');
    pen.lineWidth = 2;
    pen.strokeRect(LEFT + at.x * cellWidth, TOP + (high - at.bucket) * cellHeight, Math.max(3, cellWidth), cellHeight);
  }
}

/** A heat map. The pointer and the arrow keys choose a cell, whose content is shown as text below. */
function HeatMap({title, name, ink, columns, bounds, step, marks, theme}) {
  const canvas = useRef(null);
  const [at, setAt] = useState(null);
  const {low, high} = usedBuckets(columns, bounds.length + 1);
  const total = columns.reduce((sum, column) => sum + column.counts.reduce((a, b) => a + b, 0), 0);
  const chosen = at && at.x < columns.length && at.bucket >= low && at.bucket <= high ? at : null;
  const paint = () => draw(canvas.current, {columns, bounds, step, low, high, marks, ink}, chosen);
  useLayoutEffect(() => {
    paint();
    const sizes = new ResizeObserver(paint);
    sizes.observe(canvas.current);
    return () => sizes.disconnect();
  });
  const point = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left - LEFT) / ((box.width - LEFT) / Math.max(1, columns.length)));
    const bucket = high - Math.floor((event.clientY - box.top - TOP) / ((HEIGHT - TOP - BOTTOM) / (high - low + 1)));
    setAt(x >= 0 && x < columns.length ? {x, bucket} : null);
  };
  const move = (event) => {
    const [dx, dy] = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key] || [0, 0];
    if ((dx || dy) && columns.length > 0) {
      event.preventDefault();
      const from = chosen || {x: columns.length - 1 - dx, bucket: low - dy};
      setAt({x: Math.max(0, Math.min(columns.length - 1, from.x + dx)), bucket: Math.max(low, Math.min(high, from.bucket + dy))});
    }
  };
  const spoken = total === 0 ? 'no requests in this time' : count(total) + ' requests; the tables below have the figures';
  return html`<${Panel} title=${title} wide note=${count(total) + ' requests'}>
    <canvas class="heat" data-name=${name} data-value=${total} tabindex="0" role="img" aria-label=${title + ': ' + spoken + '. Arrow keys choose a cell.'}
      ref=${canvas} onPointerMove=${point} onPointerLeave=${() => setAt(null)} onKeyDown=${move}></canvas>
    <p class="note cell-note" role="status">${chosen ? time(columns[chosen.x].at) + ', ' + bucketText(bounds, chosen.bucket) + ': '
      + count(columns[chosen.x].counts[chosen.bucket] || 0) + ' requests' : ' '}</p>
  <//>`;
}

/** The sum of all columns by duration. */
function Durations({hits, misses, bounds}) {
  const rows = [];
  const sum = (columns, bucket) => columns.reduce((all, column) => all + (column.counts[bucket] || 0), 0);
  for (let bucket = 0; bucket <= bounds.length; bucket++) {
    rows.push({key: bucket, bucket, hits: sum(hits, bucket), misses: sum(misses, bucket)});
  }
  const all = (name) => rows.reduce((total, row) => total + row[name], 0);
  const [allHits, allMisses] = [all('hits'), all('misses')];
  return html`<${Panel} title="By duration"><${Table} label="Requests by duration" name="durations" empty="No requests in this time."
    rows=${rows.filter((row) => row.hits + row.misses > 0)} columns=${[
    {title: 'Duration', cell: (row) => bucketText(bounds, row.bucket)},
    {title: 'Hits', align: 'right', cell: (row) => count(row.hits)},
    {title: 'Share of hits', align: 'right', cell: (row) => percent(row.hits, allHits)},
    {title: 'Misses', align: 'right', cell: (row) => count(row.misses)},
    {title: 'Share of misses', align: 'right', cell: (row) => percent(row.misses, allMisses)},
  ]} /><//>`;
}

const micros = (value) => (value === null || value === undefined ? NONE : span(value / 1e6));

/** Quantiles over time, of at most so many steps. */
function Times({steps}) {
  const known = steps.filter((step) => step.point !== null);
  const every = Math.max(1, Math.ceil(known.length / TABLE_ROWS));
  const rows = known.filter((step, index) => (known.length - 1 - index) % every === 0).map(({at, point}) => ({key: at, at, ...point})).reverse();
  return html`<${Panel} title="By time" note=${'at most ' + TABLE_ROWS + ' steps'}><${Table} label="Latency by time" rows=${rows} empty="No requests in this time." columns=${[
    {title: 'Time', cell: (row) => time(row.at)},
    {title: 'Hits, median', align: 'right', cell: (row) => micros(row.hit_p50_us)},
    {title: 'Hits, 99th', align: 'right', cell: (row) => micros(row.hit_p99_us)},
    {title: 'Misses, median', align: 'right', cell: (row) => micros(row.miss_p50_us)},
    {title: 'Misses, 99th', align: 'right', cell: (row) => micros(row.miss_p99_us)},
  ]} /><//>`;
}

export function Latency({parameters, theme}) {
  const range = rangeOf(parameters);
  const past = useHistory(range, range.cells, 'latency,buckets');
  const events = useEvents(range);
  const {steps, bounds, step} = past.data || {steps: [], bounds: [], step: range.cells};
  const columns = (name) => steps.map(({at, point}) => ({at, counts: point === null ? [] : point[name]}));
  const [hits, misses] = [columns('hit_buckets'), columns('miss_buckets')];
  const marks = marksOf(events.data && events.data.events);
  return html`<${Screen} title="Latency" about="How long requests took, from the first byte of the request to the last byte of the response.">
    <${RangeTabs} screen="latency" range=${range} from=${steps.length > 0 ? steps[0].at : 0} />
    <${Failure} error=${past.error || events.error} />
    <div class="stack">
      <${HeatMap} title="Hits" name="hits" ink="--chart-2" columns=${hits} bounds=${bounds} step=${step} marks=${marks} theme=${theme} />
      <${HeatMap} title="Misses" name="misses" ink="--chart-3" columns=${misses} bounds=${bounds} step=${step} marks=${marks} theme=${theme} />
    </div>
    <div class="grid after">
      <${Durations} hits=${hits} misses=${misses} bounds=${bounds} />
      <${Times} steps=${steps} />
    </div>
  <//>`;
}
