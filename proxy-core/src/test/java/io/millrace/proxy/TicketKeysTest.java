package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import io.millrace.proxy.tls.TicketKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests session tickets: which proxies resume each other's sessions, and the rotation of keys. */
class TicketKeysTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("tickets");
    private static final Made SITE = AUTHORITY.issue("one.example", "two.example");
    private static final SecureRandom RANDOM = new SecureRandom();

    @TempDir
    Path directory;

    private ProxyServer first;
    private ProxyServer second;

    @BeforeEach
    void writeCertificate() throws IOException {
        Files.writeString(directory.resolve("site.pem"), SITE.chainPem() + SITE.keyPem());
    }

    @AfterEach
    void closeProxies() {
        for (ProxyServer proxy : new ProxyServer[] {first, second}) {
            if (proxy != null) {
                proxy.close();
            }
        }
    }

    private ProxyServer start(byte[] keys, String tls) throws IOException {
        ConfigResult result = ConfigLoader.parse(
                "listen: [{address: '127.0.0.1:0', tls: {}}]\ntls: {certificates: [{certificate: site.pem}]" + tls
                        + "}\nremap: [{redirect: /, to: 'http://o/'}]",
                "millrace.yaml",
                directory,
                Map.of("log.access.enabled", "false", "worker.event_loops", "1", "cache.ram_size", "32MiB"));
        assertTrue(result.config() != null, result::text);
        ProxyServer proxy = ProxyServer.builder().config(result.config()).build();
        if (keys != null) {
            proxy.ticketKeys(keys);
        }
        proxy.start();
        return proxy;
    }

    /**
     * One client connects to one proxy and then to another. Returns whether the second handshake resumed the session:
     * then the session is as old as the first one.
     */
    private static boolean resumes(ProxyServer from, ProxyServer to, String protocol) throws Exception {
        SSLContext client = AUTHORITY.clientContext(null);
        ResumingClient.connect(client, from.addresses().get(0), protocol);
        return ResumingClient.connect(client, to.addresses().get(0), protocol);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aProxyResumesSessionsOfAnotherWithTheSameKeys(String protocol) throws Exception {
        byte[] keys = TicketKeys.generate(RANDOM).bytes();
        first = start(keys, "");
        second = start(keys, "");
        assertTrue(resumes(first, second, protocol));
    }

    @Test
    void aProxyWithOtherKeysDoesNot() throws Exception {
        first = start(null, "");
        second = start(null, "");
        assertEquals(false, resumes(first, second, "TLSv1.3"));
        assertTrue(resumes(first, first, "TLSv1.3"));
    }

    /** A ticket is still accepted after its key was replaced three times, and not after a fourth time. */
    @Test
    void keepsFourKeys() throws Exception {
        TicketKeys keys = TicketKeys.generate(RANDOM);
        first = start(keys.bytes(), "");
        for (int i = 0; i < 3; i++) {
            keys = keys.rotated(RANDOM);
        }
        second = start(keys.bytes(), "");
        assertEquals(TicketKeys.KEPT, keys.size());
        assertTrue(resumes(first, second, "TLSv1.3"));
        second.close();
        second = start(keys.rotated(RANDOM).bytes(), "");
        assertEquals(false, resumes(first, second, "TLSv1.3"));
    }

    @Test
    void keysOfAFileAreSharedAndAChangedFileIsUsed() throws Exception {
        TicketKeys keys = TicketKeys.generate(RANDOM);
        Path file = Files.write(directory.resolve("keys"), keys.bytes());
        String settings = ", ticket_keys_file: keys, check_interval: 100ms";
        first = start(TicketKeys.generate(RANDOM).bytes(), settings);
        second = start(null, settings);
        assertTrue(resumes(first, second, "TLSv1.3"));
        second.close();
        second = start(TicketKeys.generate(RANDOM).bytes(), "");
        assertEquals(false, resumes(second, first, "TLSv1.3"));
        second.close();
        TicketKeys next = TicketKeys.generate(RANDOM);
        second = start(next.bytes(), "");
        Files.write(file, next.bytes());
        ProxyExtension.await("the keys of the file", () -> {
            try {
                return resumes(second, first, "TLSv1.3");
            } catch (Exception e) {
                return false;
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 47, 49, 80, 17 * 48})
    void refusesBytesThatAreNoKeys(int length) {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> TicketKeys.parse(new byte[length]));
        assertTrue(refused.getMessage().contains("expected 1 to 16 keys of 48 bytes each"), refused.getMessage());
    }
}
