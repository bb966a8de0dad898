// TLS certificates and names with automatic certificates.

import {html} from './vendor/htm-preact.js';
import {get} from './api.js';
import {count, span, time, NONE} from './format.js';
import {Screen, Panel, Table, Facts, State, Failure, Message, useLoad} from './parts.js';

function Certificate({certificate, now}) {
  const left = certificate.not_after - now;
  return html`<details class="setting"><summary><span class="setting-key">${certificate.names.join(', ') || certificate.file}</span>
      <span class="setting-value"><${State} word=${certificate.state} />
        ${certificate.not_after ? (left >= 0 ? ' for ' + span(left) : ' since ' + span(-left)) : ''}</span>
      <span class="setting-source">${certificate.key_type}</span></summary>
    ${certificate.problem && html`<${Message} tone="bad">${certificate.problem} (since ${time(certificate.problem_since)})<//>`}
    ${(certificate.notes || []).map((note) => html`<${Message}>${note}<//>`)}
    <${Facts} facts=${[
      ['File', certificate.file],
      ['Key', certificate.key],
      ['Issuer', certificate.issuer],
      ['Valid', time(certificate.not_before) + ' to ' + time(certificate.not_after)],
      ['SHA-256', html`<code class="url">${certificate.sha256}</code>`],
      ['Serial number', html`<code class="url">${certificate.serial}</code>`],
      ['Chain', (certificate.chain || []).join(' → ')],
      ['OCSP staple', certificate.staple && html`<${State} word=${certificate.staple.state} /> ${certificate.staple.problem || ''}`],
      ['Settings', (certificate.settings || []).join(', ')],
    ]} />
  </details>`;
}

export function Certificates() {
  const report = useLoad((signal) => get('/v1/tls/certificates', {}, signal), [], 30000);
  const data = report.data;
  return html`<${Screen} title="Certificates">
    <${Failure} error=${report.error} />
    ${data && (data.directories || []).map((one) => html`<${Message} tone="bad">${one.path}: ${one.problem}<//>`)}
    <div class="stack">
      <${Panel} title="Certificates" note=${data ? count(data.certificates.length) + ' of ' + count(data.total) : report.error ? '' : 'Loading.'}>
        <div data-name="certificates">${data && data.certificates.map((one) => html`<${Certificate} key=${one.sha256 + one.file} certificate=${one} now=${data.now} />`)}</div>
        ${data && data.certificates.length === 0 && html`<p class="empty">No listener uses TLS.</p>`}
      <//>
      ${data && (data.automatic || []).length > 0 && html`<${Panel} title="Automatic certificates"><${Table} label="Automatic certificates" rows=${data.automatic.map((one) => ({key: one.name, ...one}))} columns=${[
        {title: 'Name', wide: true, cell: (row) => row.name},
        {title: 'State', cell: (row) => html`<${State} word=${row.state} />`},
        {title: 'Ends', cell: (row) => time(row.not_after)},
        {title: 'Next order', cell: (row) => time(row.renewal)},
        {title: 'Failures', align: 'right', cell: (row) => count(row.failures)},
        {title: 'Problem', wide: true, cell: (row) => row.problem || NONE},
      ]} /><//>`}
    </div>
  <//>`;
}
