package io.millrace.proxy;

import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.access.token.TestIssuer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jose4j.jwt.NumericDate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of the tokens that requests need. */
class LiveTokensTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    private HttpServer server;
    private TestIssuer issuer;
    private String ann;

    @BeforeEach
    void writeKeys() throws Exception {
        issuer = new TestIssuer();
        TestIssuer other = new TestIssuer();
        Files.writeString(directory.resolve("one"), issuer.keySet());
        Files.writeString(directory.resolve("two"), other.keySet());
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            String keys = exchange.getRequestURI().getPath().equals("/one") ? issuer.keySet() : other.keySet();
            byte[] body = keys.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        ann = "Authorization: Bearer " + issuer.token(claims -> claims.setStringClaim("role", "reader")) + "\r\n";
        live.in(directory);
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private LiveProxy tokens(String keys) {
        return live.file("jwt: {" + keys + "}");
    }

    @LiveKey("jwt.keys_file")
    void file() throws Exception {
        tokens("keys_file: <one|two>").turns(200, 401, () -> live.status(live.fresh(), ann));
    }

    @LiveKey("jwt.keys_url")
    void url() throws Exception {
        tokens("keys_url: 'http://127.0.0.1:" + server.getAddress().getPort() + "/<one|two>'")
                .turns(200, 401, () -> live.status(live.fresh(), ann));
    }

    @LiveKey("jwt.enabled")
    void enabled() throws Exception {
        tokens("keys_file: one, enabled: <true|false>").turns(401, 200, () -> live.status(live.fresh()));
    }

    @LiveKey("jwt.issuer")
    void issuer() throws Exception {
        tokens("keys_file: one, issuer: 'https://<issuer|other>.example'")
                .turns(200, 401, () -> live.status(live.fresh(), ann));
    }

    @LiveKey("jwt.audience")
    void audience() throws Exception {
        tokens("keys_file: one, audience: [<shop|blog>]").turns(200, 401, () -> live.status(live.fresh(), ann));
    }

    @LiveKey("jwt.required_claims")
    void claims() throws Exception {
        tokens("keys_file: one, required_claims: [role=<reader|writer>]")
                .turns(200, 401, () -> live.status(live.fresh(), ann));
    }

    @LiveKey("jwt.cookie")
    void cookie() throws Exception {
        String cookie = "Cookie: a=" + issuer.token(claims -> {}) + "\r\n";
        tokens("keys_file: one, cookie: <a|b>").turns(200, 401, () -> live.status(live.fresh(), cookie));
    }

    @LiveKey("jwt.forward")
    void forward() throws Exception {
        tokens("keys_file: one, forward: <false|true>")
                .turns(false, true, () -> live.isFetchedTwice(live.fresh(), ann));
    }

    @LiveKey("jwt.realm")
    void realm() throws Exception {
        tokens("keys_file: one, realm: <a|b>")
                .turns("Bearer realm=\"a\"", "Bearer realm=\"b\"", () -> live.field("www-authenticate"));
    }

    @LiveKey("jwt.clock_skew")
    void clockSkew() throws Exception {
        NumericDate past = NumericDate.now();
        past.addSeconds(-600);
        String late = "Authorization: Bearer " + issuer.token(claims -> claims.setExpirationTime(past)) + "\r\n";
        tokens("keys_file: one, clock_skew: <1h|1m>").turns(200, 401, () -> live.status(live.fresh(), late));
    }

    @LiveKey("jwt.when")
    void condition() throws Exception {
        tokens("keys_file: one, when: 'path =~ \"^/<a|v>\"'").turns(200, 401, () -> live.status("/v/1"));
    }
}
