package io.millrace.proxy;

import java.io.IOException;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of CORS. */
class LiveEdgeTest {
    private static final String A = "Origin: https://a.example\r\n";

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private String allowed() throws IOException {
        return String.valueOf(live.get(live.fresh(), A).field("access-control-allow-origin"));
    }

    private String preflight(String field) throws IOException {
        try (RawClient client = live.proxy().client()) {
            String answer = client.send("OPTIONS / HTTP/1.1\r\nHost: test.example\r\n" + A
                            + "Access-Control-Request-Method: PUT\r\n\r\n")
                    .response()
                    .field(field);
            return String.valueOf(answer);
        }
    }

    @LiveKey("cors.enabled")
    void enabled() throws Exception {
        live.file("cors: {origins: '*', enabled: <true|false>}").turns("*", "null", this::allowed);
    }

    @LiveKey("cors.origins")
    void origins() throws Exception {
        live.file("cors: {origins: 'https://<a|b>.example'}").turns("https://a.example", "null", this::allowed);
    }

    @LiveKey("cors.methods")
    void methods() throws Exception {
        live.file("cors: {origins: '*', methods: [<PUT|GET>]}")
                .turns("PUT", "GET", () -> preflight("access-control-allow-methods"));
    }

    @LiveKey("cors.headers")
    void headers() throws Exception {
        live.file("cors: {origins: '*', headers: [<X-A|X-B>]}")
                .turns("X-A", "X-B", () -> preflight("access-control-allow-headers"));
    }

    @LiveKey("cors.expose")
    void expose() throws Exception {
        live.file("cors: {origins: '*', expose: [<X-A|X-B>]}")
                .turns("X-A", "X-B", () -> live.get(live.fresh(), A).field("access-control-expose-headers"));
    }

    @LiveKey("cors.credentials")
    void credentials() throws Exception {
        live.file("cors: {origins: 'https://a.example', credentials: <true|false>}")
                .turns("true", "null", () -> preflight("access-control-allow-credentials"));
    }

    @LiveKey("cors.max_age")
    void maxAge() throws Exception {
        live.file("cors: {origins: '*', max_age: <1m|2m>}")
                .turns("60", "120", () -> preflight("access-control-max-age"));
    }
}
