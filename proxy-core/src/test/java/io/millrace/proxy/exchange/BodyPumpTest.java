package io.millrace.proxy.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BodyPumpTest {
    private static final BodyPump.End NOBODY = new BodyPump.End() {
        @Override
        public void onBodyEnd() {}

        @Override
        public void onBodyFailure(ContentFailure failure) {}

        @Override
        public void onFault(Throwable fault) {}
    };

    /** What TLS has encrypted is that client's alone; else what waits is what was given. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void onlyAConnectionWithTlsKeepsCopies(boolean secure) {
        assertEquals(secure, new BodyPump(streamOf(secure), NOBODY).keepsCopies());
    }

    private static ClientStream streamOf(boolean secure) {
        InetSocketAddress address = InetSocketAddress.createUnresolved("localhost", 80);
        ClientConnection connection = new ClientConnection(address, address, secure);
        return (ClientStream) Proxy.newProxyInstance(
                BodyPumpTest.class.getClassLoader(),
                new Class<?>[] {ClientStream.class},
                (proxy, method, arguments) -> {
                    assertEquals("connection", method.getName());
                    return connection;
                });
    }
}
