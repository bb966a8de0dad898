// An HTTP/1.1 server on loopback that sends each request on over HTTP/2 (prior knowledge), so that a client of HTTP/1.1 tests
// a server of HTTP/2. Fields pass as they are, without those of HTTP/1.1 connections; a reset stream ends the client's connection.
import http from 'node:http'
import http2 from 'node:http2'

const OF_CONNECTIONS = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'host', 'te'])

/** Starts it; resolves to its URL. */
export function startBridge (serverUrl) {
  let session = null
  const connected = () => {
    if (session === null || session.closed || session.destroyed) {
      session = http2.connect(serverUrl)
      session.setMaxListeners(0)
      session.on('error', () => {})
    }
    return session
  }
  const bridge = http.createServer((request, response) => {
    const fields = {
      ':method': request.method,
      ':path': request.url,
      ':scheme': 'http',
      ':authority': request.headers.host
    }
    for (let i = 0; i < request.rawHeaders.length; i += 2) {
      const name = request.rawHeaders[i].toLowerCase()
      if (!OF_CONNECTIONS.has(name)) {
        const value = request.rawHeaders[i + 1]
        fields[name] = fields[name] === undefined ? value : [].concat(fields[name], value)
      }
    }
    // Node ends DELETE requests at once unless told that content follows.
    const content = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
    const stream = connected().request(fields, { endStream: !content })
    stream.on('headers', interim => {
      if (interim[':status'] === 103 && interim.link) response.writeEarlyHints({ link: interim.link })
    })
    stream.on('response', (head, flags, raw) => {
      const lines = raw.flatMap((text, i) => i % 2 === 0 && !text.startsWith(':') ? [[text, raw[i + 1]]] : [])
      response.writeHead(head[':status'], lines.flat())
      response.flushHeaders()
    })
    stream.on('error', () => response.destroy())
    stream.on('aborted', () => response.destroy())
    stream.on('data', piece => response.write(piece))
    stream.on('end', () => { if (stream.rstCode === http2.constants.NGHTTP2_NO_ERROR) response.end() })
    response.on('close', () => { if (!stream.closed) stream.close(http2.constants.NGHTTP2_CANCEL) })
    if (content) request.pipe(stream)
  })
  return new Promise(resolve => {
    bridge.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${bridge.address().port}`))
  })
}
