package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.purge.InvalidationScope;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of the settings of rules. */
class LiveRemapTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    /** Returns Location for a request for the path with this host. */
    private String location(String path, String host) throws IOException {
        return live.proxy()
                .client()
                .send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
                .response()
                .field("location");
    }

    @LiveKey("remap")
    void aRuleIsAdded() throws Exception {
        live.file("remap: [{map: /a/, to: '@origin'}<|, {map: /b/, to: '@origin'}>]")
                .turns(404, 200, () -> live.status("/b/"));
    }

    @LiveKey("include")
    void rulesOfAnotherFile() throws Exception {
        for (String name : new String[] {"one", "two"}) {
            Files.writeString(
                    directory.resolve(name + ".yaml"), "remap: [{redirect: /, to: 'http://" + name + ".example/'}]\n");
        }
        live.in(directory)
                .file("include: [<one|two>.yaml]\nremap: [{map: 'http://other.example/', to: '@origin'}]")
                .turns("http://one.example/a", "http://two.example/a", () -> location("/a", "test.example"));
    }

    @LiveKey("remap[].map")
    void map() throws Exception {
        live.file("remap: [{map: 'http://<one|test>.example/', to: '@origin'}]")
                .turns(404, 200, () -> live.status("/"));
    }

    @LiveKey("remap[].regex_map")
    void regexMap() throws Exception {
        live.file("remap: [{regex_map: 'http://<o.*|t.*>\\.example/', to: '@origin'}]")
                .turns(404, 200, () -> live.status("/"));
    }

    @LiveKey("remap[].map_with_recv_port")
    void mapWithReceivedPort() throws Exception {
        live.file("remap: [{map_with_recv_port: 'http://test.example:<1|@port>/', to: '@origin'}]")
                .turns(404, 200, () -> live.status("/"));
    }

    @LiveKey("remap[].regex_map_with_recv_port")
    void regexMapWithReceivedPort() throws Exception {
        live.file("remap: [{regex_map_with_recv_port: 'http://.*:<1|@port>/', to: '@origin'}]")
                .turns(404, 200, () -> live.status("/"));
    }

    @LiveKey("remap[].map_with_referer")
    void mapWithReferer() throws Exception {
        live.file("""
                        remap:
                          - map_with_referer: /<a|b>/
                            to: '@origin'
                            referers: [one]
                            referer_redirect: http://else.example/
                        """).turns(404, 200, () -> live.status("/b/", "Referer: http://one.example/\r\n"));
    }

    @LiveKey("remap[].unix_socket")
    void unixSocket() throws Exception {
        Path sockets = Files.createTempDirectory("unix");
        try (UnixOrigin one = new UnixOrigin(sockets.resolve("one"), "one");
                UnixOrigin two = new UnixOrigin(sockets.resolve("two"), "two")) {
            live.in(sockets)
                    .file("remap: [{map: /, to: 'http://app.internal/', unix_socket: <one|two>}]")
                    .turns("one for app.internal", "two for app.internal", () -> live.text("/"));
            assertEquals(1, one.connections() * two.connections());
        } finally {
            Files.delete(sockets);
        }
    }

    @LiveKey("remap[].referers")
    void referers() throws Exception {
        live.file("""
                        remap:
                          - map_with_referer: /
                            to: '@origin'
                            referers: ['<one|two>']
                            referer_redirect: http://else.example/
                        """).turns(200, 302, () -> live.status("/", "Referer: http://one.example/\r\n"));
    }

    @LiveKey("remap[].referer_redirect")
    void refererRedirect() throws Exception {
        live.file("""
                        remap:
                          - map_with_referer: /
                            to: '@origin'
                            referers: ['friends']
                            referer_redirect: http://<one|two>.example/
                        """).turns("http://one.example/", "http://two.example/", () -> live.field("location"));
    }

    @LiveKey("remap[].reverse_map")
    void reverseMap() throws Exception {
        live.answers("Location: http://internal.example/a\r\n")
                .file("""
                        remap:
                          - {map: /, to: '@origin'}
                          - {reverse_map: 'http://<other|internal>.example/', to: 'http://test.example/'}
                        """)
                .turns("http://internal.example/a", "http://test.example/a", () -> live.field("location"));
    }

    @LiveKey("remap[].rewrite_set_cookie")
    void rewriteSetCookie() throws Exception {
        live.answers("Set-Cookie: a=b; Domain=internal.example\r\n")
                .file("""
                        remap:
                          - {map: 'http://test.example/', to: 'http://internal.example:@origin_port/', origins: all}
                          - reverse_map: http://internal.example:@origin_port/
                            to: http://test.example/
                            rewrite_set_cookie: <false|true>
                        origins: [{name: all, hosts: ['@origin']}]
                        """)
                .turns("a=b; Domain=internal.example", "a=b; Domain=test.example", () -> live.field("set-cookie"));
    }

    @LiveKey("remap[].redirect")
    void redirect() throws Exception {
        live.file("remap: [{redirect: 'http://<one|test>.example/', to: 'http://else.example/'}]")
                .turns(404, 301, () -> live.status("/"));
    }

    @LiveKey("remap[].redirect_temporary")
    void redirectTemporary() throws Exception {
        live.file("remap: [{redirect_temporary: 'http://<one|test>.example/', to: 'http://else.example/'}]")
                .turns(404, 307, () -> live.status("/"));
    }

    @LiveKey("remap[].regex_redirect")
    void regexRedirect() throws Exception {
        live.file("remap: [{regex_redirect: 'http://<o|t>.*\\.example/', to: 'http://else.example/'}]")
                .turns(404, 301, () -> live.status("/"));
    }

    @LiveKey("remap[].regex_redirect_temporary")
    void regexRedirectTemporary() throws Exception {
        live.file("remap: [{regex_redirect_temporary: 'http://<o|t>.*\\.example/', to: 'http://else.example/'}]")
                .turns(404, 307, () -> live.status("/"));
    }

    @LiveKey("remap[].to")
    void to() throws Exception {
        live.file("remap: [{redirect: /, to: 'http://<one|two>.example/'}]")
                .turns("http://one.example/a", "http://two.example/a", () -> location("/a", "test.example"));
    }

    @LiveKey("remap[].status")
    void status() throws Exception {
        live.file("remap: [{redirect: /, to: 'http://else.example/', status: <301|308>}]")
                .turns(301, 308, () -> live.status("/"));
    }

    @LiveKey("remap[].filters")
    void filtersOfARule() throws Exception {
        live.file("remap: [{map: /, to: '@origin', filters: [<|{action: deny, methods: [GET]}>]}]")
                .turns(200, 403, () -> live.status("/"));
    }

    @LiveKey("remap[].origins")
    void originsOfARule() throws Exception {
        live.file("""
                        remap: [{map: /, to: 'http://shop.internal/', origins: <one|two>}]
                        origins:
                          - {name: one, hosts: ['%s']}
                          - {name: two, hosts: ['%s']}
                        """.formatted(
                        live.origin("first").url(), live.origin("second").url()))
                .turns("first", "second", () -> live.text("/"));
    }

    @LiveKey("remap[].site")
    void siteOfARule() throws Exception {
        live.answers("Cache-Control: max-age=60\r\nxkey: a\r\n")
                .file("remap: [{map: /, to: '@origin', site: <one|two>}]")
                .turns(0, 1, () -> {
                    String path = live.fresh();
                    live.get(path);
                    live.settle();
                    CountDownLatch purged = new CountDownLatch(1);
                    live.proxy()
                            .proxy()
                            .shared()
                            .invalidator()
                            .invalidate(
                                    List.of(InvalidationScope.tag(new byte[] {'a'}, "two")),
                                    false,
                                    Runnable::run,
                                    (entries, failure) -> purged.countDown());
                    purged.await();
                    return live.fetchesOf(1, path);
                });
    }

    @LiveKey("pristine_host_hdr")
    void pristineHost() throws Exception {
        live.echoes().file("pristine_host_hdr: <false|true>").turns(false, true, () -> live.sent("host")
                .equals("test.example"));
    }

    @LiveKey("no_host_url_redirect")
    void noHostUrlRedirect() throws Exception {
        live.file("""
                        remap: [{map: 'http://test.example/', to: '@origin'}]
                        <|no_host_url_redirect: http://else.example/>
                        """).turns(404, 302, () -> live.proxy()
                .client()
                .send("GET / HTTP/1.0\r\n\r\n")
                .response()
                .status());
    }

    @LiveKey("methods")
    void methods() throws Exception {
        live.file("methods: [<GET|HEAD>]").turns(200, 405, () -> live.status("/"));
    }

    @LiveKey("upgrade")
    void upgrade() throws Exception {
        live.script(request -> {
                    if (request.has("websocket")) {
                        WebSocketPeer.echo(request);
                    } else {
                        request.ok("", new byte[0]);
                    }
                })
                .file("upgrade: [<|websocket>]")
                .turns(200, 101, () -> {
                    RawClient client = live.proxy().client().send(WebSocketPeer.request("/"));
                    int status = client.head().status();
                    if (status == 101) {
                        client.send(WebSocketPeer.clientFrame(WebSocketPeer.CLOSE, new byte[0]));
                        client.in.readToEnd();
                    }
                    return status;
                });
    }

    @LiveKey("proxy_protocol_out")
    void proxyHeaderToTheOrigin() throws Exception {
        live.echoes().file("proxy_protocol_out: <none|v1>").turns("GET", "PROXY", () -> live.text(live.fresh())
                .split(" ", 2)[0]);
    }

    @LiveKey("purge.allow")
    void purgeAllow() throws Exception {
        live.file("purge: {allow: <127.0.0.1|10.0.0.1>}")
                .turns(
                        false,
                        true,
                        () -> live.proxy()
                                        .client()
                                        .send("PURGE / HTTP/1.1\r\nHost: test.example\r\n\r\n")
                                        .response()
                                        .status()
                                == 403);
    }
}
