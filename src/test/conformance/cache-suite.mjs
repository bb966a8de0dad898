// Runs the public HTTP cache test suite (http-cache-tests) against a proxy and writes one verdict a line:
//   ID <tab> KIND <tab> OUTCOME <tab> DETAIL
// KIND is required, optimal or check; OUTCOME is one of the suite's own words: pass, fail, optional_fail, yes, no,
// dependency_fail, setup_fail, retry, harness_fail, untested.
//
//   node cache-suite.mjs SUITE_DIRECTORY PROXY_URL ORIGIN_PORT [http1|http2] [GROUP...]
//
// With http2 every request goes to the proxy over HTTP/2, without TLS. GROUP is the identifier of a part of the suite, such
// as vary; without one all cases are run. The cases on which those of the groups depend are run too.
//
// SUITE_DIRECTORY is the unpacked npm package or a checkout of its repository after npm install; both layouts are known.
// The suite's origin runs in this process on 127.0.0.1:ORIGIN_PORT, to which the proxy forwards everything.
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { startBridge } from './http2-bridge.mjs'

const [directory, serverUrl, originPort, protocol, ...groups] = process.argv.slice(2)
if (originPort === undefined) {
  console.error('usage: node cache-suite.mjs SUITE_DIRECTORY PROXY_URL ORIGIN_PORT [http1|http2] [GROUP...]')
  process.exit(2)
}
const proxyUrl = protocol === 'http2' ? await startBridge(serverUrl) : serverUrl
const concurrency = 60
const attempts = 3
const suite = path.resolve(directory)
const published = !fs.existsSync(path.join(suite, 'test-engine'))
const engine = published ? suite : path.join(suite, 'test-engine')
const load = file => import(pathToFileURL(path.join(engine, file)).href)

/** The suite's origin listens on every interface of its own accord; here on loopback only. */
function keepOnLoopback () {
  const listen = net.Server.prototype.listen
  net.Server.prototype.listen = function (port, ...rest) {
    return listen.call(this, Number(port), '127.0.0.1', ...rest)
  }
}

async function startOrigin () {
  keepOnLoopback()
  process.env.npm_config_protocol = 'http'
  process.env.npm_config_port = originPort
  process.env.npm_config_pidfile = '/dev/null'
  const listening = new Promise(resolve => { console.log = line => { if (/^Listening/.test(line)) resolve() } })
  process.chdir(engine)
  await load('server/server.mjs')
  await listening
  console.log = console.error // the origin has things to say; stdout is for the verdicts
}

/** Runs cases, a few at a time; a second run of a case replaces its first result. */
async function makeRunner () {
  const { runTests } = await load('client/runner.mjs')
  const client = await load('client/test.mjs')
  const runCase = client.makeTest ?? client.makeCacheTest
  // With no case the suite's own runner only sets its client up.
  if (published) {
    const fetch = createRequire(path.join(suite, 'cli.mjs'))('node-fetch')
    await runTests([], fetch, false, proxyUrl)
  } else {
    await runTests([], false, proxyUrl)
  }
  return async cases => {
    const left = structuredClone(cases)
    // Most of a case is a pause of seconds: whoever has ended makes room for the next at once.
    const runLeft = async () => {
      while (left.length > 0) {
        const next = left.shift()
        delete client.testResults[next.id]
        await runCase(next).catch(e => console.error(`a case broke off: ${e && e.message}`))
      }
    }
    await Promise.all(Array.from({ length: concurrency }, runLeft))
    return { ...client.testResults }
  }
}

/** Whether a request was repeated or lost on the way, so that the case says nothing. */
const isVoid = result => result === undefined || result === false ||
  (Array.isArray(result) && ((result[0] === 'Setup' && result[1] === 'retry') || result[0] === 'AbortError' ||
    /ECONNRESET|socket hang up|fetch failed/.test(String(result[1]))))

function outcome (test, byId, results) {
  const result = results[test.id]
  if (result === undefined) return 'untested'
  for (const id of test.depends_on ?? []) {
    if (!['pass', 'yes'].includes(outcome(byId.get(id), byId, results))) return 'dependency_fail'
  }
  if (result === true) return test.kind === 'check' ? 'yes' : 'pass'
  if (result[0] === 'Setup') return result[1] === 'retry' ? 'retry' : 'setup_fail'
  if (result === false || result[0] === 'AbortError') return 'harness_fail'
  return test.kind === 'check' ? 'no' : test.kind === 'optimal' ? 'optional_fail' : 'fail'
}

process.on('unhandledRejection', e => console.error(`a case broke off: ${e && e.message}`))
await startOrigin()
const run = await makeRunner()
const suites = (await import(pathToFileURL(path.join(suite, 'tests/index.mjs')).href)).default
// The published suite has one case twice.
const byId = new Map(suites.flatMap(s => s.tests).filter(test => !test.browser_only).map(test => [test.id, test]))
/** Adds a case and those on which it depends. */
function addTo (chosen, id) {
  if (chosen.has(id) || !byId.has(id)) return
  chosen.add(id)
  for (const needed of byId.get(id).depends_on ?? []) addTo(chosen, needed)
}

const chosen = new Set()
for (const s of suites.filter(s => groups.length === 0 || groups.includes(s.id))) {
  for (const test of s.tests) addTo(chosen, test.id)
}
const tests = [...byId.values()].filter(test => chosen.has(test.id))

let results = await run(tests)
for (let attempt = 1; attempt < attempts; attempt++) {
  const again = tests.filter(test => isVoid(results[test.id]))
  if (again.length === 0) break
  results = await run(again)
}
const lines = tests.map(test => {
  const result = results[test.id]
  const detail = Array.isArray(result) ? result.join(': ').replace(/\s+/g, ' ') : ''
  return [test.id, test.kind ?? 'required', outcome(test, byId, results), detail].join('\t')
})
fs.writeSync(1, lines.join('\n') + '\n')
process.exit(0)
