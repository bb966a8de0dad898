package io.millrace.proxy;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of Via and Server. */
class LiveViaTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @LiveKey("via.name")
    void name() throws Exception {
        live.file("via: {name: <one|two>}")
                .turns(
                        List.of("1.1 one", "1.1 one", "one; hit; ttl=60"),
                        List.of("1.1 two", "1.1 two", "two; hit; ttl=60"),
                        () -> List.of(
                                live.field("via"),
                                live.get("/stored").field("via"),
                                live.get("/stored").field("cache-status")));
    }

    @LiveKey("via.response")
    void inAnswers() throws Exception {
        live.file("via: {response: <name|none>}")
                .turns(
                        Arrays.asList("1.1 millrace", "1.1 millrace"),
                        Arrays.asList(null, null),
                        () -> Arrays.asList(
                                live.field("via"), live.get("/stored").field("via")));
    }

    @LiveKey("via.request")
    void inRequests() throws Exception {
        live.echoes().file("via: {request: <name|none>}").turns("1.1 millrace", null, () -> live.sent("via"));
    }

    @LiveKey("via.server")
    void server() throws Exception {
        live.answers("Server: origin\r\n")
                .file("via: {server: <pass|own>}")
                .turns("origin", "millrace", () -> live.field("server"));
    }
}
