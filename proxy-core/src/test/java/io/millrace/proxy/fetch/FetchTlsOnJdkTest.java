package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.netty.handler.ssl.OpenSslContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayInputStream;
import javax.net.ssl.SSLException;

/** Runs the tests with the JDK's TLS. */
class FetchTlsOnJdkTest extends FetchTlsTest {

    @Override
    SslContext context() {
        try {
            return SslContextBuilder.forClient()
                    .sslProvider(SslProvider.JDK)
                    .endpointIdentificationAlgorithm("HTTPS")
                    .trustManager(new ByteArrayInputStream(certificate))
                    .build();
        } catch (SSLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    void usesOpenSslWhereItIs() {
        assertFalse(context() instanceof OpenSslContext);
    }
}
