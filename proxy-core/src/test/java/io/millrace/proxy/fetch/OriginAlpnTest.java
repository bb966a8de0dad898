package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.origins.OriginConfig.Http2;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.value.TlsVersion;
import io.millrace.proxy.fetch.tls.OriginTlsContexts;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the protocol after the TLS handshake (RFC 7301, RFC 9113 s3.2). */
class OriginAlpnTest extends FetchFixture {
    private static final char[] PASSWORD = "changeit".toCharArray();
    private static final SSLContext SERVER = serverContext();
    private static final OriginTlsConfig UNVERIFIED = new OriginTlsConfig(
            new OriginTlsConfig.Context(OriginTlsConfig.Verify.OFF, null, null, null, TlsVersion.TLS_1_2),
            OriginTlsConfig.Sni.ORIGIN,
            null);

    private static SSLContext serverContext() {
        try {
            Made made = new TestAuthority("origins").issue("localhost");
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(null, PASSWORD);
            keys.setKeyEntry(
                    "origin", made.keys().getPrivate(), PASSWORD, made.chain().toArray(Certificate[]::new));
            KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            managers.init(keys, PASSWORD);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(managers.getKeyManagers(), null, null);
            return context;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns an origin that offers these protocols, comma-separated; an empty text for none. */
    private static ScriptedOrigin origin(String protocols) throws IOException {
        return ScriptedOrigin.secure(
                socket -> wrap(socket, protocols.isEmpty() ? new String[0] : protocols.split(",")), peer -> {
                    String chosen = ((SSLSocket) peer.socket()).getApplicationProtocol();
                    if ("h2".equals(chosen)) {
                        Http2Peer.begin(peer).echo();
                    } else {
                        ScriptedOrigin.answering(ScriptedOrigin.OK).run(peer);
                    }
                });
    }

    private static Socket wrap(Socket accepted, String[] protocols) throws IOException {
        SSLSocket socket = (SSLSocket) SERVER.getSocketFactory().createSocket(accepted, null, true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(protocols);
        socket.setSSLParameters(parameters);
        try {
            socket.startHandshake();
        } catch (SSLException e) {
            throw new SocketException("the handshake failed, as the other side reports");
        }
        return socket;
    }

    @Override
    OriginClientBuilder configure(OriginClientBuilder builder) {
        return builder.tls(new OriginTlsContexts());
    }

    private OriginRequest request(ScriptedOrigin origin, Http2 http2) {
        return request(
                Origin.https("127.0.0.1", origin.port()),
                builder -> builder.target("/h2").tls(UNVERIFIED).http2(http2));
    }

    @ParameterizedTest
    @CsvSource({
        "OFF, 'h2,http/1.1', ok",
        "OFF, '', ok",
        "ALPN, 'h2,http/1.1', /h2",
        "ALPN, h2, /h2",
        "ALPN, http/1.1, ok",
        "ALPN, '', ok",
        "PRIOR_KNOWLEDGE, 'h2,http/1.1', /h2"
    })
    void theHandshakeSelectsTheProtocol(Http2 http2, String protocols, String content) throws Exception {
        try (ScriptedOrigin origin = origin(protocols)) {
            assertEquals(content, fetch(request(origin, http2)).content());
            assertEquals(content, fetch(request(origin, http2)).content());
            assertEquals(1, origin.connectionsAccepted());
            assertEquals(content.equals("ok") ? 0L : 1L, onLoop(() -> client.statistics()
                    .http2Connections()));
        }
    }

    @Test
    void anOriginWithoutHttp2FailsPriorKnowledge() throws Exception {
        try (ScriptedOrigin origin = origin("http/1.1")) {
            OriginFailure failure = fetchFailing(request(origin, Http2.PRIOR_KNOWLEDGE));
            assertTrue(
                    failure.reason() == OriginFailure.Reason.TLS || failure.reason() == OriginFailure.Reason.RESET,
                    failure.toString());
        }
    }

    /** Calls that share the first connection get their own connections if it uses HTTP/1.1. */
    @ParameterizedTest
    @CsvSource({"http/1.1, ok", "h2, /h2"})
    void callsThatWaitForAConnectionGetTheirAnswers(String protocols, String content) throws Exception {
        try (ScriptedOrigin origin = origin(protocols)) {
            List<RecordedResponse> responses = new ArrayList<>();
            OriginRequest request = request(origin, Http2.ALPN);
            for (int i = 0; i < 20; i++) {
                responses.add(new RecordedResponse());
            }
            runOnLoop(() -> responses.forEach(response -> client.fetch(request, response)));
            for (RecordedResponse response : responses) {
                assertEquals(content, response.awaitComplete().content());
            }
            assertEquals(content.equals("ok"), origin.connectionsAccepted() > 1);
        }
    }

    /** A failed connection fails all calls that share it, each of them once. */
    @Test
    void callsThatWaitForAConnectionShareItsFailure() throws Exception {
        ScriptedOrigin gone = origin("h2");
        gone.close();
        List<RecordedResponse> responses = new ArrayList<>();
        OriginRequest request = request(gone, Http2.ALPN);
        for (int i = 0; i < 20; i++) {
            responses.add(new RecordedResponse());
        }
        runOnLoop(() -> responses.forEach(response -> client.fetch(request, response)));
        for (RecordedResponse response : responses) {
            assertEquals(
                    OriginFailure.Reason.CONNECT_REFUSED,
                    response.awaitFailure().reason());
        }
        assertEquals(1L, onLoop(() -> client.statistics().connectFailures()));
    }
}
