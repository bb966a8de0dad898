package io.millrace.proxy.fetch;

import static io.millrace.proxy.fetch.ScriptedOrigin.OK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.TestKeys;
import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.millrace.proxy.fetch.tls.OriginTls;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests origins with TLS, with a certificate for {@code origin.test} created by the JDK's keytool. */
class FetchTlsTest extends FetchFixture {

    static byte[] certificate;
    private static SSLContext serverContext;

    private final AtomicReference<SSLSocket> lastSocket = new AtomicReference<>();
    private SslContext clientContext;

    @BeforeAll
    static void makeCertificate(@TempDir Path directory) throws Exception {
        TestKeys keys = TestKeys.in(directory, "origin.test", "dns:origin.test,dns:www.origin.test");
        certificate = Files.readAllBytes(keys.certificate());
        serverContext = keys.server();
    }

    /** Trusts the certificate, and verifies host names. */
    SslContext context() {
        return OriginTls.verifying(new ByteArrayInputStream(certificate));
    }

    @Override
    OriginClientBuilder configure(OriginClientBuilder builder) {
        clientContext = context();
        return builder.sslContext(clientContext)
                .resolver(new ScriptedResolver(
                        loop,
                        Map.of(
                                "origin.test",
                                List.of("127.0.0.1"),
                                "www.origin.test",
                                List.of("127.0.0.1"),
                                "two.origin.test",
                                List.of("127.0.0.1", "127.0.0.2"),
                                "other.test",
                                List.of("127.0.0.1"))));
    }

    @AfterEach
    void forgetContext() {
        clientContext = null;
    }

    private ScriptedOrigin secure(ScriptedOrigin.Script... scripts) throws IOException {
        return ScriptedOrigin.secure(this::wrap, scripts);
    }

    private Socket wrap(Socket accepted) throws IOException {
        SSLSocket socket =
                (SSLSocket) serverContext.getSocketFactory().createSocket(accepted, null, accepted.getPort(), false);
        socket.setUseClientMode(false);
        lastSocket.set(socket);
        return socket;
    }

    private String requestedName() {
        return ((ExtendedSSLSession) lastSocket.get().getSession())
                .getRequestedServerNames()
                .toString();
    }

    @Test
    void usesOpenSslWhereItIs() {
        assertEquals(OpenSsl.isAvailable(), clientContext instanceof io.netty.handler.ssl.OpenSslContext);
    }

    @Test
    void fetchesOverTlsNamesTheHostAndKeepsTheConnection() throws Exception {
        try (ScriptedOrigin origin = secure(ScriptedOrigin.answering(OK))) {
            Origin named = Origin.https("origin.test", origin.port());
            assertEquals("ok", fetch(get(named)).content());
            assertEquals("[type=host_name (0), value=origin.test]", requestedName());
            assertEquals("ok", fetch(get(named)).content());
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    @Test
    void prefaceStandsBeforeTheHandshake() throws Exception {
        String preface = "PROXY UNKNOWN\r\n";
        AtomicReference<String> first = new AtomicReference<>();
        ScriptedOrigin.Wrapping behindPreface = accepted -> {
            first.set(new String(accepted.getInputStream().readNBytes(preface.length()), StandardCharsets.US_ASCII));
            return wrap(accepted);
        };
        try (ScriptedOrigin origin = ScriptedOrigin.secure(behindPreface, ScriptedOrigin.answering(OK))) {
            assertEquals(
                    "ok",
                    fetch(request(
                                    Origin.https("origin.test", origin.port()),
                                    builder -> builder.preface(preface.getBytes(StandardCharsets.US_ASCII))))
                            .content());
            assertEquals(preface, first.get());
        }
    }

    /** wss: the bytes after the 101 belong to the tunnel (RFC 9110 s7.8). */
    @Test
    void switchedConnectionContinuesOverTls() throws Exception {
        ScriptedOrigin.Script script = peer -> {
            String asked = peer.readHead();
            assertTrue(asked.contains("\r\nConnection: Upgrade\r\nUpgrade: foo\r\n"), asked);
            peer.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\nearly");
            assertEquals("ping\r\n\r\n", peer.readHead());
            peer.send("pong");
        };
        try (ScriptedOrigin origin = secure(script)) {
            StringBuilder read = new StringBuilder();
            CountDownLatch closed = new CountDownLatch(1);
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onSwitched(ResponseHead head, SwitchedConnection connection) {
                    connection.handOver(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void handlerAdded(ChannelHandlerContext ctx) {
                            ctx.channel().config().setAutoRead(true);
                            ctx.writeAndFlush(Unpooled.copiedBuffer("ping\r\n\r\n", StandardCharsets.US_ASCII));
                        }

                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object message) {
                            read.append(((ByteBuf) message).toString(StandardCharsets.US_ASCII));
                            ReferenceCountUtil.release(message);
                        }

                        @Override
                        public void channelInactive(ChannelHandlerContext ctx) {
                            closed.countDown();
                        }
                    });
                }
            };
            Origin named = Origin.https("origin.test", origin.port());
            start(request(named, builder -> builder.upgrade("foo")), response);
            assertTrue(closed.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
            assertEquals("earlypong", read.toString());
            assertEquals(0, onLoop(() -> client.statistics().connectionsActive()));
        }
    }

    @Test
    void connectionsForAnotherTlsNameAreNotShared() throws Exception {
        try (ScriptedOrigin origin = secure(ScriptedOrigin.answering(OK))) {
            Origin named = Origin.https("other.test", origin.port());
            fetch(request(named, builder -> builder.tlsName("origin.test")));
            fetch(request(named, builder -> builder.tlsName("www.origin.test")));
            assertEquals("[type=host_name (0), value=www.origin.test]", requestedName());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    @Test
    void rfc9110Section4_3_4_aCertificateForAnotherNameIsTls() throws Exception {
        try (ScriptedOrigin origin = secure(tolerant(ScriptedOrigin.answering(OK)))) {
            OriginFailure failure = fetchFailing(get(Origin.https("other.test", origin.port())));
            assertEquals(Reason.TLS, failure.reason(), failure.message());
            assertTrue(
                    failure.message().startsWith("https://other.test:" + origin.port() + ": TLS handshake: "),
                    failure.message());
            assertTrue(failure.beforeHead());
            assertEquals(0, onLoop(() -> client.statistics().connects()));
        }
    }

    @Test
    void anUntrustedCertificateIsATlsFailure() throws Exception {
        try (ScriptedOrigin origin = secure(tolerant(ScriptedOrigin.answering(OK)))) {
            SslContext system = OriginTls.verifying();
            OriginClient strict = onLoop(() -> OriginClient.builder(loop)
                    .sslContext(system)
                    .resolver(new ScriptedResolver(loop, Map.of("origin.test", List.of("127.0.0.1"))))
                    .build());
            RecordedResponse response = new RecordedResponse();
            onLoop(() -> strict.fetch(get(Origin.https("origin.test", origin.port())), response));
            assertEquals(Reason.TLS, response.awaitFailure().reason());
            runOnLoop(strict::close);
        }
    }

    @Test
    void anyCertificateIsAcceptedWhenNothingIsVerified() throws Exception {
        try (ScriptedOrigin origin = secure(ScriptedOrigin.answering(OK))) {
            SslContext context = OriginTls.unverified();
            OriginClient lenient =
                    onLoop(() -> OriginClient.builder(loop).sslContext(context).build());
            RecordedResponse response = new RecordedResponse();
            onLoop(() -> lenient.fetch(get(Origin.https("127.0.0.1", origin.port())), response));
            assertEquals("ok", response.awaitComplete().content());
            runOnLoop(lenient::close);
        }
    }

    @Test
    void anOriginThatSpeaksNoTlsIsTls() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.send("HTTP/1.1 400 Bad Request\r\n\r\n");
            peer.readToEnd();
        })) {
            assertEquals(
                    Reason.TLS,
                    fetchFailing(get(Origin.https("origin.test", origin.port())))
                            .reason());
        }
    }

    @Test
    void anOriginThatClosesInTheHandshakeIsTls() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> peer.read(1))) {
            OriginFailure failure = fetchFailing(get(Origin.https("origin.test", origin.port())));
            assertTrue(failure.reason() == Reason.TLS || failure.reason() == Reason.RESET, failure.toString());
        }
    }

    @Test
    void anOriginThatIsSilentInTheHandshakeIsConnectTimeout() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.Peer::readToEnd)) {
            FetchSettings impatient =
                    settings().connectTimeoutNanos(millis(300)).build();
            assertEquals(
                    Reason.CONNECT_TIMEOUT,
                    fetchFailing(get(Origin.https("origin.test", origin.port()), impatient))
                            .reason());
        }
    }

    @Test
    void rfc9112Section9_8_contentThatTheCloseDelimitsNeedsCloseNotify() throws Exception {
        String wire = "HTTP/1.1 200 OK\r\n\r\nall of it?";
        try (ScriptedOrigin origin = secure(
                peer -> {
                    peer.readHead();
                    peer.send(wire);
                    peer.socket().close();
                },
                peer -> {
                    peer.readHead();
                    peer.send(wire);
                    peer.cutOff();
                })) {
            assertEquals(
                    "all of it?",
                    fetch(get(Origin.https("origin.test", origin.port()))).content());
            OriginFailure failure = fetchFailing(get(Origin.https("origin.test", origin.port())));
            assertEquals(Reason.TRUNCATED, failure.reason(), failure.message());
        }
    }

    @Test
    void aStaleConnectionIsReplacedOverTlsToo() throws Exception {
        try (ScriptedOrigin origin = secure(
                peer -> {
                    peer.readHead();
                    peer.send(OK);
                    peer.readHead();
                },
                ScriptedOrigin.answering(OK))) {
            Origin named = Origin.https("origin.test", origin.port());
            fetch(get(named));
            assertEquals("ok", fetch(get(named)).content());
            assertEquals(1, onLoop(() -> client.statistics().retries()));
        }
    }

    /** The test expects the handshake to fail. */
    private static ScriptedOrigin.Script tolerant(ScriptedOrigin.Script script) {
        return peer -> {
            try {
                script.run(peer);
            } catch (javax.net.ssl.SSLException e) {
                // As expected. The client may also close before the alert is written, which the origin accepts.
            }
        };
    }

    /** RFC 8305 s5: the second attempt began later, and had less time. */
    @Test
    void addressTriedAfterTheWinnerIsNotMarkedSlow() throws Exception {
        CountDownLatch secondTried = new CountDownLatch(1);
        ScriptedOrigin.Wrapping slowly = accepted -> {
            try {
                assertTrue(secondTried.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return wrap(accepted);
        };
        try (ScriptedOrigin origin = ScriptedOrigin.secure(slowly, ScriptedOrigin.answering(OK));
                ServerSocket second = new ServerSocket(origin.port(), 1, InetAddress.getByName("127.0.0.2"))) {
            Thread acceptor = new Thread(() -> {
                try (Socket tried = second.accept()) {
                    secondTried.countDown();
                    assertTrue(tried.getInputStream().readAllBytes().length > 0);
                } catch (IOException e) {
                    // Reset, because the connection is not used.
                }
            });
            acceptor.start();
            OriginRequest request = OriginRequest.to(Origin.https("two.origin.test", origin.port()))
                    .fields(FIELDS)
                    .tlsName("origin.test")
                    .build();
            assertEquals("ok", fetch(request).content());
            assertEquals(List.of("127.0.0.2", "127.0.0.1"), onLoop(() -> ((PooledOriginClient) client)
                    .addresses().resolve("two.origin.test").getNow().stream()
                            .map(InetAddress::getHostAddress)
                            .toList()));
            acceptor.join();
        }
    }
}
