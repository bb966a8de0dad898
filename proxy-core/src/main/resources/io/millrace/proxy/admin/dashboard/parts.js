// Parts that all screens share. Text is always set as text: no part takes markup.

import {html, useState, useEffect, useRef, useLayoutEffect} from './vendor/htm-preact.js';
import {ApiError} from './api.js';
import {NONE, clock} from './format.js';
import {pause} from './pause.js';

export function Screen({title, about, actions, children}) {
  useEffect(() => {
    document.title = title + ' – Millrace';
  }, [title]);
  return html`<main id="content" tabindex="-1">
    <div class="head"><div><h1>${title}</h1>${about && html`<p class="about">${about}</p>`}</div>
      ${actions && html`<div class="actions">${actions}</div>`}</div>
    ${children}
  </main>`;
}

export function Panel({title, note, actions, wide, children}) {
  return html`<section class=${wide ? 'panel wide' : 'panel'} aria-label=${title}>
    ${title && html`<div class="panel-head"><h2>${title}</h2>${actions}${note && html`<span class="note">${note}</span>`}</div>`}
    ${children}
  </section>`;
}

/** Values with more characters are set smaller. */
const LONG_VALUE = 9;

/** A figure. The raw value is kept as an attribute, so that tests and scripts can compare it with the admin API. */
export function Stat({label, value, note, name, raw, tone}) {
  return html`<div class=${'stat ' + (tone || '')} data-name=${name} data-value=${raw}>
    <div class="stat-label">${label}</div><div class=${typeof value === 'string' && value.length > LONG_VALUE ? 'stat-value long' : 'stat-value'}>${value}</div>
    <div class="stat-note">${note || ' '}</div>
  </div>`;
}

const GOOD = ['running', 'ready', 'online', 'up', 'valid', 'ok', 'fresh', 'hit', 'applied', 'done', 'stapled', 'live', 'allowed'];
const DOUBTFUL = ['starting', 'draining', 'opening', 'suspect', 'expiring', 'pending', 'stale', 'validate', 'suspended',
  'counting', 'rolled', 'rolling', 'relaunch', 'put_down', 'faulty', 'missing', 'complete', 'backing-off'];
const BAD = ['offline', 'down', 'expired', 'unusable', 'failing', 'rejected', 'unavailable', 'deny', 'failed'];

/** A state as a word with a colour. The colour never is the only sign. */
export function State({word, text}) {
  const tone = GOOD.includes(word) ? 'good' : DOUBTFUL.includes(word) ? 'doubtful' : BAD.includes(word) ? 'bad' : 'plain';
  return html`<span class=${'state ' + tone}>${text || String(word).replace('_', ' ')}</span>`;
}

/** A message of the server as a sentence. */
export function sentence(text) {
  return !text ? '' : text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}

/** What a failure is, as a sentence: for failed requests the server's message, for others that the page has an error. */
export function failureText(error) {
  if (!(error instanceof ApiError)) {
    return 'This part of the page failed: ' + error + '. Load the page again.';
  }
  return sentence(error.message) + (error.advice ? ' ' + error.advice : '');
}

/** What failed, and what to do next. */
export function Failure({error}) {
  if (!error) {
    return null;
  }
  return html`<div class="message bad" role="alert">${failureText(error)}${error.code && html` <code>${error.code}</code>`}</div>`;
}

export function Message({tone, children}) {
  return html`<div class=${'message ' + (tone || 'plain')} role="status">${children}</div>`;
}

/** A table. A column has title, cell (a function of the row), and perhaps align and wide. */
export function Table({label, columns, rows, empty, name}) {
  if (!rows || rows.length === 0) {
    return html`<p class="empty">${empty || 'Nothing to show.'}</p>`;
  }
  return html`<div class="table-box" tabindex="0" role="group" aria-label=${label}><table data-name=${name}>
    <thead><tr>${columns.map((column) => html`<th scope="col" class=${column.align || ''}>${column.title}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${row.key}>${columns.map((column) => html`<td data-title=${column.title}
      class=${(column.align || '') + (column.wide ? ' wide-cell' : '')}>${column.cell(row)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** Names and values. */
export function Facts({facts}) {
  const shown = facts.filter((fact) => fact && fact[1] !== null && fact[1] !== undefined && fact[1] !== '');
  return html`<dl class="facts">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A share as a bar with its text beside it. */
export function Bar({share, tone, label}) {
  const part = Math.max(0, Math.min(1, share || 0));
  return html`<div class="bar" role="img" aria-label=${label || Math.round(part * 100) + '%'}>
    <div class=${'bar-part ' + (tone || '')} style=${{width: part * 100 + '%'}}></div></div>`;
}

/**
 * Loads once and at each change of the inputs. With everyMillis it loads again after so many milliseconds, while the page is
 * visible. The answer to an earlier load never replaces that to a later one.
 */
export function useLoad(load, inputs, everyMillis) {
  const [state, setState] = useState({data: null, error: null, loading: true});
  const [reloads, setReloads] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const run = async () => {
      while (!stop.signal.aborted) {
        let waitMillis = 0;
        try {
          const data = await load(stop.signal);
          if (!stop.signal.aborted) {
            setState({data, error: null, loading: false});
          }
        } catch (error) {
          if (!stop.signal.aborted) {
            waitMillis = (error.waitSeconds || 0) * 1000;
            setState((old) => ({data: old.data, error, loading: false}));
          }
        }
        if (!everyMillis) {
          return;
        }
        await pause(Math.max(everyMillis, waitMillis), stop.signal);
      }
    };
    setState((old) => ({...old, loading: true}));
    run();
    return () => stop.abort();
  }, [...inputs, reloads]);
  return {...state, reload: () => setReloads((old) => old + 1)};
}

/**
 * Signals for requests of which only the latest counts. The first function aborts the request before and returns the signal of
 * the next one; the second only aborts. The end of the part aborts too.
 */
export function useLatest() {
  const latest = useRef(null);
  const abort = () => {
    if (latest.current) {
      latest.current.abort();
      latest.current = null;
    }
  };
  useEffect(() => abort, []);
  return [() => {
    abort();
    latest.current = new AbortController();
    return latest.current.signal;
  }, abort];
}

/** Opens a dialog with its part, and gives the focus back at the end. While a dialog is open, nothing outside can have the focus. */
export function useDialog() {
  const dialog = useRef(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element.showModal();
    return () => {
      element.close();
      if (before) {
        before.focus();
      }
    };
  }, []);
  return dialog;
}

/** A question before a change. Escape and Cancel change nothing. */
export function Confirm({question, detail, action, danger, onConfirm, onCancel}) {
  const dialog = useDialog();
  return html`<dialog ref=${dialog} aria-label=${question} onCancel=${(event) => {
    event.preventDefault();
    onCancel();
  }}>
    <h2>${question}</h2>
    ${detail && html`<div class="dialog-detail">${detail}</div>`}
    <div class="dialog-actions">
      <button type="button" onClick=${onCancel}>Cancel</button>
      <button type="button" class=${danger ? 'danger' : 'primary'} onClick=${onConfirm}>${action}</button>
    </div>
  </dialog>`;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** True once the library of charts is loaded, which the first paint does not wait for. */
function usePlot() {
  const [isLoaded, setLoaded] = useState(window.uPlot !== undefined);
  useEffect(() => {
    const script = document.getElementById('plot');
    const loaded = () => setLoaded(window.uPlot !== undefined);
    loaded();
    script.addEventListener('load', loaded);
    return () => script.removeEventListener('load', loaded);
  }, []);
  return isLoaded;
}

/** Distances of the times below a chart, in seconds. */
const SECONDS_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800,
  259200, 604800];

/** The points without a neighbour, which no line shows. */
function isolated(self, series) {
  const values = self.data[series];
  const has = (index) => values[index] !== null && values[index] !== undefined;
  const found = values.map((value, index) => index).filter((index) => has(index) && !has(index - 1) && !has(index + 1));
  return found.length > 0 ? found : null;
}

/** Index of the newest point that has a value, else of the last one. */
function newestIndex([times, ...values]) {
  for (let index = times.length - 1; index >= 0; index--) {
    if (values.some((series) => series[index] !== null && series[index] !== undefined)) {
      return index;
    }
  }
  return times.length - 1;
}

/** Distance in pixels at which the pointer is at a mark. */
const MARK_PIXELS = 7;

/** Draws a vertical line for each mark. */
function drawMarks(self, marks) {
  const {left, top, width, height} = self.bbox;
  for (const mark of marks) {
    const x = Math.round(self.valToPos(mark.at, 'x', true));
    if (x >= left && x <= left + width) {
      self.ctx.fillStyle = colour(mark.colour);
      self.ctx.fillRect(x, top, Math.max(1, devicePixelRatio), height);
      self.ctx.fillRect(x - 2 * devicePixelRatio, top, 5 * devicePixelRatio, 5 * devicePixelRatio);
    }
  }
}

/** The text of the mark at the pointer; a space without one. */
function markAt(self, marks) {
  const near = marks.filter((mark) => Math.abs(self.valToPos(mark.at, 'x') - self.cursor.left) <= MARK_PIXELS);
  return self.cursor.left < 0 || near.length === 0 ? '\u00a0' : near[near.length - 1].text + (near.length > 1 ? ' (' + near.length + ' events)' : '');
}

/**
 * A chart over time. A series has label, value (a function of a point), colour (a CSS variable), and text. Marks have at, colour and
 * text; when is the text of a time. The library's object is kept until the theme or the number of series changes; new points are only
 * handed to it.
 */
export function Chart({title, points, series, text, max, theme, steps, marks, when}) {
  const note = useRef(null);
  const shown = useRef([]);
  shown.current = marks || [];
  const timeText = useRef(clock);
  timeText.current = when || clock;
  const box = useRef(null);
  const plot = useRef(null);
  const isLoaded = usePlot();
  const data = [points.map((one) => one.at), ...series.map((one) => points.map(one.value))];
  useLayoutEffect(() => {
    if (!isLoaded) {
      return undefined;
    }
    const axis = {
      stroke: colour('--muted'),
      grid: {stroke: colour('--grid'), width: 1},
      ticks: {stroke: colour('--grid'), width: 1, size: 4},
      font: '12px system-ui, sans-serif',
    };
    const made = new window.uPlot({
      width: Math.max(200, box.current.clientWidth),
      height: 170,
      padding: [10, marks ? 24 : 8, 0, 0],
      cursor: {y: false, points: {size: 6}},
      legend: {show: true, live: true},
      scales: {x: {time: true}, y: {range: (self, low, high) => [0, max || (high > 0 ? high * 1.1 : 1)]}},
      axes: [
        {...axis, space: 70, size: 28, incrs: SECONDS_STEPS, values: (self, splits) => splits.map(timeText.current)},
        {...axis, size: 76, incrs: steps, values: (self, splits) => splits.map(text)},
      ],
      series: [
        {label: 'Time', value: (self, value) => (value === null ? NONE : timeText.current(value))},
        ...series.map((one) => ({
          label: one.label,
          stroke: colour(one.colour),
          fill: one.fill ? colour(one.fill) : undefined,
          dash: one.dash,
          width: 1.75,
          points: {show: false, size: 4, filter: isolated},
          value: (self, value) => (value === null || value === undefined ? NONE : text(value)),
        })),
      ],
      hooks: {
        ready: [(self) => self.setLegend({idx: newestIndex(self.data)}, false)],
        draw: [(self) => drawMarks(self, shown.current)],
        setCursor: [(self) => {
          if (note.current) {
            const text = markAt(self, shown.current);
            note.current.textContent = text;
            note.current.title = text.trim();
          }
        }],
      },
    }, data, box.current);
    plot.current = made;
    const sizes = new ResizeObserver(() => {
      made.setSize({width: Math.max(200, box.current.clientWidth), height: 170});
    });
    sizes.observe(box.current);
    return () => {
      sizes.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [theme, isLoaded, series.length]);
  useLayoutEffect(() => {
    if (plot.current) {
      plot.current.setData(data);
      if (plot.current.cursor.left < 0 && points.length > 0) {
        plot.current.setLegend({idx: newestIndex(data)}, false);
      }
    }
  });
  const newest = points[newestIndex(data)];
  const spoken = newest
    ? series.map((one) => one.label + ' ' + (one.value(newest) === null ? NONE : text(one.value(newest)))).join(', ')
    : 'no data yet';
  return html`<${Panel} title=${title}><div class="chart" role="img" aria-label=${title + ': ' + spoken} ref=${box}></div>
    ${marks && html`<p class="note mark-note" ref=${note}>${' '}</p>`}<//>`;
}

/** A key, path or address, which the browser may break after dots and slashes. */
export function Breakable({text}) {
  return String(text).split(/(?<=[./])/).map((part, index) => (index === 0 ? part : html`<wbr />${part}`));
}

/** A link that shows a URL from the cache and opens it in the inspector. */
export function UrlLink({url}) {
  return html`<a class="url" href=${'#/inspect?url=' + encodeURIComponent(url)}>${url}</a>`;
}

/** A labelled input. */
export function Field({label, hint, wide, children}) {
  return html`<label class=${wide ? 'field wide' : 'field'}><span class="field-label">${label}</span>${children}${hint && html`<span class="hint">${hint}</span>`}</label>`;
}
