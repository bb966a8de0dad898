package io.millrace.proxy.exchange.forward;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSource;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.netty.buffer.Unpooled;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BodySenderTest {
    private static final BodySender.End NOBODY = new BodySender.End() {
        @Override
        public void onBodyEnd(@Nullable FieldSection trailers) {}

        @Override
        public void onBodyFailure(ContentFailure failure) {}

        @Override
        public void onFault(Throwable fault) {}
    };

    /** Bytes encrypted by TLS belong to one client; without TLS the queued bytes are the shared ones. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void onlyAConnectionWithTlsKeepsCopies(boolean secure) {
        assertEquals(secure, new BodySender(streamOf(secure), NOBODY).keepsCopies());
    }

    @Test
    void aSourceIsNotifiedThatItsClientIsBehindWhenTheStreamIsFull() {
        List<String> told = new ArrayList<>();
        boolean[] writable = {true};
        BodySender sender = new BodySender(streamThat(writable), NOBODY);
        ContentSource source = new ContentSource() {
            @Override
            public void pull() {
                told.add("pull");
                if (told.size() == 3) {
                    writable[0] = false;
                }
                sender.onContent(Unpooled.EMPTY_BUFFER);
            }

            @Override
            public void onBehind() {
                told.add("behind");
            }

            @Override
            public void close() {
                told.add("close");
            }
        };
        sender.start(source);
        assertEquals(List.of("pull", "pull", "pull", "behind"), told);
        sender.close();
        assertEquals(List.of("pull", "pull", "pull", "behind", "close"), told);
    }

    private static ClientStream streamThat(boolean[] isWritable) {
        return (ClientStream) Proxy.newProxyInstance(
                BodySenderTest.class.getClassLoader(),
                new Class<?>[] {ClientStream.class},
                (proxy, method, arguments) -> method.getName().equals("isWritable") ? isWritable[0] : null);
    }

    private static ClientStream streamOf(boolean secure) {
        InetSocketAddress address = InetSocketAddress.createUnresolved("localhost", 80);
        ClientConnection connection = new ClientConnection(address, address, secure);
        return (ClientStream) Proxy.newProxyInstance(
                BodySenderTest.class.getClassLoader(),
                new Class<?>[] {ClientStream.class},
                (proxy, method, arguments) -> {
                    assertEquals("connection", method.getName());
                    return connection;
                });
    }
}
