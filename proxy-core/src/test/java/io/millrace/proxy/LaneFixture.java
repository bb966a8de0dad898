package io.millrace.proxy;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.http2.Http2Client;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A proxy with clients of HTTP/1.1 with and without TLS, and of HTTP/2. */
abstract class LaneFixture {
    /** The connection of a client. */
    enum Lane {
        CLEAR,
        TLS,
        HTTP2
    }

    /** A response of any protocol. */
    record Received(int status, Function<String, String> fields, String text, String head) {
        String field(String name) {
            return fields.apply(name);
        }
    }

    @TempDir
    static Path directory;

    private static TestCertificate certificate;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @BeforeAll
    static void makeCertificate() throws Exception {
        certificate = TestCertificate.in(directory);
    }

    final void start(RawOrigin.Script script, UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                script,
                fresh -> more.apply(fresh.listen(
                                "127.0.0.1:0",
                                ConfigValues.builder()
                                        .set(ConfigKeys.LISTEN_CERTIFICATE, certificate.certificate())
                                        .set(ConfigKeys.LISTEN_KEY, certificate.key())
                                        .build())
                        .listen(
                                "127.0.0.1:0",
                                ConfigValues.builder()
                                        .set(Http2Keys.LISTEN_CLEAR, true)
                                        .build())));
    }

    final Received ask(Lane lane, String method, String path, String... fields) throws Exception {
        if (lane == Lane.HTTP2) {
            try (Http2Client client = new Http2Client(proxy.proxy().addresses().get(2))) {
                List<String> lower = new ArrayList<>();
                for (int i = 0; i < fields.length; i++) {
                    lower.add(i % 2 == 0 ? fields[i].toLowerCase(Locale.ROOT) : fields[i]);
                }
                Http2Client.Response response = client.headers(
                                1, true, Http2Client.request(method, path, lower.toArray(String[]::new)))
                        .response(1);
                return new Received(response.status(), response::field, response.text(), response.fields());
            }
        }
        StringBuilder text = new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: test.example\r\n");
        for (int i = 0; i < fields.length; i += 2) {
            text.append(fields[i]).append(": ").append(fields[i + 1]).append("\r\n");
        }
        try (RawClient client = client(lane)) {
            client.send(text + "\r\n");
            RawClient.Response response = method.equals("HEAD") ? client.head() : client.response();
            return new Received(response.status(), response::field, response.text(), response.head());
        }
    }

    final RawClient client(Lane lane) throws IOException {
        if (lane == Lane.CLEAR) {
            return new RawClient(proxy.address());
        }
        SSLSocket socket = (SSLSocket) certificate
                .trust()
                .getSocketFactory()
                .createSocket(
                        proxy.proxy().addresses().get(1).getAddress(),
                        proxy.proxy().addresses().get(1).getPort());
        return new RawClient(socket);
    }
}
