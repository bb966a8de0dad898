package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.observe.Counter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes for tunnels and for the PROXY protocol, with open connections. */
class LiveTunnelsTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @LiveKey("limits.proxy_protocol_header")
    void proxyHeader() throws Exception {
        live.file("""
                        listen: [{address: '127.0.0.1:0', proxy_protocol: accept}]
                        access: {proxy_protocol_allow: 127.0.0.1}
                        limits: {proxy_protocol_header: <4KiB|128B>}
                        """)
                .turns(
                        200,
                        LiveProxy.CLOSED,
                        () -> LiveProxy.statusOrClosed(
                                live.proxy().client().send(longProxyHeader()).get("/")));
    }

    /** Returns a header of version 2 for a local connection, with a TLV of 200 bytes that has no meaning. */
    private static byte[] longProxyHeader() throws IOException {
        ByteArrayOutputStream header = new ByteArrayOutputStream();
        header.write(RawInput.latin1("\r\n\r\n\0\r\nQUIT\n"));
        header.write(new byte[] {0x20, 0x00, 0, (byte) 203, 0x04, 0, (byte) 200});
        header.write(new byte[200]);
        return header.toByteArray();
    }

    @LiveKey("origin.tunnels_max")
    void tunnelsMax() throws Exception {
        tunnelsMax("upgrade: [websocket]\norigin: {tunnels_max: <2|1>}");
    }

    @LiveKey("origins[].tunnels_max")
    void tunnelsMaxOfAGroup() throws Exception {
        tunnelsMax("""
                upgrade: [websocket]
                origins: [{name: pair, hosts: ['@origin'], tunnels_max: <2|1>}]
                remap: [{map: /, to: '@origin', origins: pair}]
                """);
    }

    /** Opens one more tunnel next to a permanent one, and sends a request, which is always permitted. */
    private void tunnelsMax(String file) throws Exception {
        live.script(request -> {
                    if (request.has("Upgrade")) {
                        echoToTheEnd(request);
                    } else {
                        request.ok("Cache-Control: no-store\r\n", new byte[0]);
                    }
                })
                .file(file)
                .start();
        live.proxy().client().send(WebSocketPeer.request("/")).head();
        live.turns(101, 503, () -> {
            RawClient client = new RawClient(live.proxy().address());
            int status = client.send(WebSocketPeer.request("/")).head().status();
            assertEquals(200, live.proxy().get(live.fresh()).status());
            client.close();
            ProxyExtension.await("the end", () -> live.proxy().counted(Counter.TUNNELS_UPGRADE) == 1);
            assertEquals(status == 503 ? 1 : 0, live.proxy().counted(Counter.ORIGIN_FAILURES_TUNNEL_LIMIT));
            return status;
        });
    }

    @LiveKey("timeouts.tunnel_idle")
    void tunnelIdle() throws Exception {
        tunnel("tunnel_idle: <1h|500ms>", Counter.TUNNELS_IDLE);
    }

    @LiveKey("timeouts.tunnel_max")
    void tunnelMax() throws Exception {
        tunnel("tunnel_max: <1d|1s>", Counter.TUNNELS_EXPIRED);
    }

    private static void echoToTheEnd(RawOrigin.Exchange request) throws Exception {
        try {
            WebSocketPeer.echo(request);
        } catch (IOException e) {
            // The proxy closes the connection.
        }
    }

    /** Checks a tunnel that transfers all bytes until it ends. */
    private void tunnel(String setting, Counter end) throws Exception {
        live.script(LiveTunnelsTest::echoToTheEnd)
                .file("upgrade: [websocket]\ntimeouts: {" + setting + "}")
                .start();
        RawClient client = live.proxy().client().send(WebSocketPeer.request("/"));
        client.head();
        live.turns(0L, 1L, () -> {
            if (live.isChanged()) {
                ProxyExtension.await("the end", () -> live.proxy().counted(Counter.TUNNELS_UPGRADE) == 0);
            } else {
                client.send(WebSocketPeer.clientFrame(WebSocketPeer.PING, RawInput.latin1("p")));
                WebSocketPeer.read(client.in, false);
            }
            return live.proxy().counted(end);
        });
    }
}
