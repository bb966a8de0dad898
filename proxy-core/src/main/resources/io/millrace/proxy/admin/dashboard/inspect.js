// One URL: the stored response, the decision on a request for it as steps, and purges.

import {html, useState, useEffect, useRef} from './vendor/htm-preact.js';
import {get, post} from './api.js';
import {bytes, span, NONE} from './format.js';
import {Screen, Panel, Facts, State, Failure, Message, Field, Confirm, sentence, useLatest} from './parts.js';

const OUTCOMES = {
  deny: 'The proxy refuses this request.',
  answer: 'The proxy answers this request itself.',
  redirect: 'The proxy redirects the client.',
  tunnel: 'The proxy opens a tunnel to a host.',
  pass: 'The request goes to the origin, and the cache is not used.',
  hit: 'The stored response answers this request.',
  stale: 'The stored response answers this request, although it is stale.',
  validate: 'The origin is asked whether the stored response is still valid.',
  complete: 'A part is stored; the rest is fetched from the origin.',
  fetch: 'The response is fetched from the origin.',
  unavailable: 'Nothing usable is stored, and the request allows no fetch.',
};

const TONES = {hit: 'good', stale: 'doubtful', validate: 'doubtful', complete: 'doubtful', deny: 'bad', unavailable: 'bad'};

/** Age and lifetime of a stored response as a bar. */
function Freshness({stored}) {
  const age = stored.age_seconds;
  const lifetime = stored.freshness_lifetime_seconds;
  const end = Math.max(age, lifetime, 1);
  const fresh = Math.min(age, lifetime) * 100 / end;
  const text = stored.ttl_seconds >= 0
    ? 'Fresh for another ' + span(stored.ttl_seconds) + '.'
    : 'Stale for ' + span(-stored.ttl_seconds) + '.';
  return html`<div class="freshness">
    <div class="time-bar" role="img" aria-label=${text}>
      <div class="time-used" style=${{width: fresh + '%'}}></div>
      ${age > lifetime && html`<div class="time-over" style=${{width: (age - lifetime) * 100 / end + '%'}}></div>`}
      <div class="time-now" style=${{left: age * 100 / end + '%'}}></div>
    </div>
    <div class="time-scale"><span>stored</span><span>${text}</span><span>${age > lifetime ? 'now' : 'lifetime ' + span(lifetime)}</span></div>
  </div>`;
}

function Stored({stored}) {
  if (!stored.stored) {
    return html`<p class="empty">Nothing is stored${stored.key ? html` under the key <code class="url">${stored.key}</code>` : ''}.
      ${stored.reason === 'nothing is stored' ? '' : ' ' + sentence(stored.reason)}</p>`;
  }
  return html`<div>
    <${Freshness} stored=${stored} />
    <${Facts} facts=${[
      ['State', html`<${State} word=${stored.fresh ? 'fresh' : 'stale'} /> ${stored.reason}`],
      ['Status', stored.status],
      ['Tier', stored.tier === 'ram' ? 'RAM' : 'disk'],
      ['Age', span(stored.age_seconds)],
      ['Lifetime', span(stored.freshness_lifetime_seconds)],
      ['Length', stored.length < 0 ? NONE : bytes(stored.length)],
      ['Key', html`<code class="url">${stored.key}</code>`],
      ['Rule', stored.rule],
      ['Vary', (stored.vary || []).join(', ')],
      ['ETag', stored.etag && html`<code>${stored.etag}</code>`],
      ['Last-Modified', stored.last_modified],
      ['Tags', (stored.tags || []).length > 0 && stored.tags.map((tag) => html`<span class="tag">${tag}</span>`)],
    ]} />
  </div>`;
}

/** Whether a purge of the URL would remove something. */
function isStored(stored) {
  return stored.stored || (stored.others || []).some((other) => other.stored);
}

/** What the words in brackets mean: reasons for a request to the origin, as in Cache-Status (RFC 9211, section 2.2). */
const FORWARD_REASONS = {
  'bypass': 'the configuration does not use the cache for this request',
  'method': 'the method requires a request to the origin',
  'uri-miss': 'nothing is stored for this URL',
  'vary-miss': 'the URL is stored, but not for the fields of this request that Vary names',
  'miss': 'what is stored cannot be used',
  'request': 'the request does not accept the stored response',
  'stale': 'the stored response is stale',
  'partial': 'a part of the content is stored',
};

/** The meaning of a reason at the end of a step, such as "(uri-miss)"; empty without one. */
function reasonMeant(text) {
  const reason = /[(]([a-z-]+)[)]$/.exec(text);
  return reason && FORWARD_REASONS[reason[1]] ? reason[1] + ': ' + FORWARD_REASONS[reason[1]] : '';
}

function Steps({explanation}) {
  return html`<ol class="steps" data-name="steps">${explanation.steps.map((step) => html`<li>
    <div class="step-name">${step.step}</div>
    <div class="step-text">${step.text}${step.by && html`<div class="step-by">${step.by}</div>`}
      ${reasonMeant(step.text) && html`<div class="step-by">${reasonMeant(step.text)}</div>`}</div>
  </li>`)}</ol>`;
}

/** Why nothing stored answers, for a response that is fetched. */
function whyFetched(explanation) {
  const lookup = explanation.outcome === 'fetch' && explanation.steps.find((step) => step.step === 'lookup');
  return lookup ? sentence(lookup.text) + ' ' : '';
}

function linesOf(text) {
  return text.split('\n').map((line) => line.trim()).filter((line) => line !== '');
}

export function Inspector({parameters, rights}) {
  const asked = {
    url: parameters.url || '', method: parameters.method || 'GET', fields: parameters.fields || '', client: parameters.client || '',
  };
  const [form, setForm] = useState(asked);
  const [result, setResult] = useState(null);
  const [purging, setPurging] = useState(null);
  const [done, setDone] = useState(null);
  const identity = JSON.stringify(asked);
  const [nextSignal, abort] = useLatest();
  const shown = useRef(identity);
  shown.current = identity;

  const load = async () => {
    const signal = nextSignal();
    const header = linesOf(asked.fields);
    const both = await Promise.allSettled([
      get('/v1/explain', {url: asked.url, method: asked.method, header, client: asked.client}, signal),
      get('/v1/cache/lookup', {url: asked.url, header}, signal),
    ]);
    if (!signal.aborted) {
      const [explanation, stored] = both.map((one) => one.value || null);
      const failed = both.find((one) => one.status === 'rejected');
      setResult({explanation, stored, error: failed ? failed.reason : null});
    }
  };
  useEffect(() => {
    setForm(asked);
    setResult(null);
    setPurging(null);
    if (asked.url) {
      load();
    }
    return abort;
  }, [identity]);
  useEffect(() => setDone(null), [asked.url]);
  useEffect(() => () => {
    shown.current = null;
  }, []);

  const submit = (event) => {
    event.preventDefault();
    const query = new URLSearchParams(Object.entries(form).filter(([name, value]) => value !== '' && !(name === 'method' && value === 'GET')));
    if ('#/inspect?' + query === location.hash) {
      load();
    } else {
      location.hash = '#/inspect?' + query;
    }
  };
  const purge = async () => {
    const mode = purging;
    setPurging(null);
    let outcome;
    try {
      outcome = {report: await post('/v1/cache/purge', {url: asked.url, mode})};
    } catch (error) {
      outcome = {error};
    }
    // Meanwhile the screen may show another URL, or another screen may be open.
    if (shown.current === identity) {
      setDone(outcome);
      load();
    }
  };
  const set = (name) => (event) => setForm({...form, [name]: event.target.value});
  const explanation = result && result.explanation;
  return html`<${Screen} title="Inspector" about="A dry run: nothing is sent to an origin, and nothing is counted.">
    <form class="form" onSubmit=${submit}>
      <${Field} label="URL" wide=${true}><input name="url" type="url" required value=${form.url} onInput=${set('url')} placeholder="https://www.example.com/a.css" spellcheck="false" autofocus /><//>
      <${Field} label="Method"><select name="method" value=${form.method} onChange=${set('method')}>
        ${['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'].map((method) => html`<option value=${method}>${method}</option>`)}</select><//>
      <${Field} label="Client address" hint="Empty: this machine."><input name="client" value=${form.client} onInput=${set('client')} placeholder="127.0.0.1" spellcheck="false" /><//>
      <${Field} label="Request fields, one in each line"><textarea name="fields" rows="2" value=${form.fields} onInput=${set('fields')} placeholder="Accept-Encoding: gzip" spellcheck="false"></textarea><//>
      <div class="form-actions"><button class="primary">Inspect</button></div>
    </form>
    ${result && html`<${Failure} error=${result.error} />`}
    ${done && done.error && html`<${Failure} error=${done.error} />`}
    ${done && done.report && html`<${Message} tone="good">${done.report.detail}. Purge ${done.report.id}.<//>`}
    ${explanation && html`<div class=${'verdict ' + (TONES[explanation.outcome] || 'plain')} data-name="outcome" data-value=${explanation.outcome}>
      <${State} word=${explanation.outcome} />
      <span>${whyFetched(explanation)}${OUTCOMES[explanation.outcome] || ''}${explanation.status ? ' Status ' + explanation.status + '.' : ''}</span>
    </div>`}
    <div class="grid">
      ${explanation && html`<${Panel} title="Decision"><${Steps} explanation=${explanation} /><//>`}
      ${result && result.stored && html`<${Panel} title="Stored response" actions=${rights.purges('url') && isStored(result.stored) && html`<span class="buttons">
          <button type="button" onClick=${() => setPurging('soft')}>Purge softly</button>
          <button type="button" class="danger" onClick=${() => setPurging('hard')}>Purge</button></span>`}>
        <${Stored} stored=${result.stored} />
        ${(result.stored.others || []).map((other) => html`<h3>Under another key of this URL</h3><${Stored} stored=${other} />`)}
      <//>`}
    </div>
    ${purging && html`<${Confirm} danger=${purging === 'hard'} action=${purging === 'hard' ? 'Purge' : 'Purge softly'}
      question=${purging === 'hard' ? 'Purge every stored variant of this URL?' : 'Let every stored variant of this URL be validated before its next use?'}
      detail=${html`<code class="url">${asked.url}</code>`} onConfirm=${purge} onCancel=${() => setPurging(null)} />`}
  <//>`;
}
