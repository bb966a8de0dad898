package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.END_HEADERS;
import static io.millrace.proxy.http2.Http2Client.END_STREAM;
import static io.millrace.proxy.http2.Http2Client.HEADERS;
import static io.millrace.proxy.http2.Http2Client.PING;
import static io.millrace.proxy.http2.Http2Client.block;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.http2.Http2Client;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A proxy whose second address accepts HTTP/2 by prior knowledge, and clients that are closed after the test. */
abstract class Http2Fixture {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /** Opened at the end of the test at the latest: scripts of origins wait for it. */
    final CountDownLatch go = new CountDownLatch(1);

    private final List<Http2Client> clients = new ArrayList<>();

    final void start(RawOrigin.Script script, UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(script, fresh -> more.apply(withHttp2(fresh)));
    }

    final void start(RawOrigin.Script script) throws IOException {
        start(script, fresh -> fresh);
    }

    static ProxyConfig.Builder withHttp2(ProxyConfig.Builder config) {
        return config.listen(
                "127.0.0.1:0",
                ConfigValues.builder().set(Http2Keys.LISTEN_CLEAR, true).build());
    }

    final Http2Client client() throws IOException {
        return keep(new Http2Client(proxy.proxy().addresses().get(1)));
    }

    final Http2Client keep(Http2Client client) {
        clients.add(client);
        return client;
    }

    @AfterEach
    final void closeClients() throws IOException {
        go.countDown();
        for (Http2Client client : clients) {
            client.close();
        }
    }

    /** Waits until everything that the client has sent so far was processed. */
    static void settle(Http2Client client) throws IOException {
        client.frame(PING, 0, 0, new byte[8]).await(PING);
    }

    static byte[] get(int id, String... fields) {
        return Http2Client.bytes(HEADERS, END_HEADERS | END_STREAM, id, block(fields));
    }

    static byte[] post(int id, String... fields) {
        return Http2Client.bytes(HEADERS, END_HEADERS, id, block(fields));
    }

    static byte[] frame(int type, int flags, int id, int length) {
        return Http2Client.bytes(type, flags, id, new byte[length]);
    }

    static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
