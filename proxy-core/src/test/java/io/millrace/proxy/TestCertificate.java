package io.millrace.proxy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;

/**
 * A certificate for {@code test.example}, created by the JDK's keytool, and clients that trust it.
 *
 * @param certificate PEM file
 * @param key PEM file
 * @param trust trust managers of clients
 */
record TestCertificate(Path certificate, Path key, SSLContext trust) {
    static TestCertificate in(Path directory) throws Exception {
        TestKeys keys = TestKeys.in(directory, "test.example", "dns:test.example");
        return new TestCertificate(keys.certificate(), keys.key(), keys.client());
    }

    /** Returns a client that sends these bytes before the TLS handshake. */
    RawClient clientAfter(byte[] first, InetSocketAddress address) throws IOException {
        Socket plain = new Socket();
        plain.connect(address);
        plain.getOutputStream().write(first);
        return new RawClient(trust.getSocketFactory().createSocket(plain, "test.example", address.getPort(), true));
    }

    /** Returns a client with TLS. */
    RawClient client(InetSocketAddress address) throws IOException {
        return new RawClient(trust.getSocketFactory().createSocket(address.getAddress(), address.getPort()));
    }
}
