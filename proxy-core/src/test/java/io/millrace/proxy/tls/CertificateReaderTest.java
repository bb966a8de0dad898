package io.millrace.proxy.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.tls.CertificateFault.Kind;
import io.millrace.proxy.tls.TestAuthority.Made;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Tests certificate files as people and tools write them, valid and invalid. */
class CertificateReaderTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("reader");
    private static final Made MADE = AUTHORITY.issue("www.example.com", "*.example.com");
    private static final Made OTHER = AUTHORITY.issue("other.example");
    private static final Instant START = Instant.parse("2020-01-01T00:00:00Z");
    private static final Instant END = Instant.parse("2050-01-01T00:00:00Z");

    @TempDir
    Path directory;

    private final CertificateReader reader = new CertificateReader();

    private ServerCertificate read(String certificate, String key) throws IOException, CertificateFault {
        Path chain = Files.writeString(directory.resolve("chain.pem"), certificate);
        Path keyFile = key == null ? chain : Files.writeString(directory.resolve("key.pem"), key);
        return reader.read(new CertificateFiles(chain, keyFile), 0);
    }

    @Test
    void reportsTheContentOfACertificate() throws Exception {
        ServerCertificate.Facts facts = read(MADE.chainPem(), MADE.keyPem()).facts();
        assertEquals(List.of("www.example.com", "*.example.com"), facts.names());
        assertEquals("CN=reader issuer", facts.issuer());
        assertEquals(END.getEpochSecond(), facts.expirySeconds());
        assertEquals("EC 256", facts.keyType());
        assertEquals(List.of("CN=www.example.com", "CN=reader issuer"), facts.chain());
        assertEquals(List.of(), facts.notes());
    }

    /** PKCS #8 with and without the public key, PKCS #1 and SEC 1, in a separate file or after the chain. */
    @TestFactory
    Stream<DynamicTest> readsEveryFormOfKey() {
        KeyPair rsa = TestAuthority.rsaKeys();
        Made withRsa = AUTHORITY.issue(rsa, START, END, "www.example.com");
        byte[] rsaPkcs8 = rsa.getPrivate().getEncoded();
        byte[] pkcs1 = Arrays.copyOfRange(rsaPkcs8, 26, rsaPkcs8.length);
        byte[] ecPkcs8 = MADE.keys().getPrivate().getEncoded();
        // SEC 1 inside the JDK's PKCS #8 has neither curve nor public key; openssl writes both.
        byte[] scalar = Arrays.copyOfRange(ecPkcs8, ecPkcs8.length - 32, ecPkcs8.length);
        byte[] info = MADE.keys().getPublic().getEncoded();
        byte[] curve = {6, 8, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 3, 1, 7};
        byte[] sec1 = TestAuthority.der(
                0x30,
                new byte[] {2, 1, 1},
                TestAuthority.der(4, scalar),
                TestAuthority.der(0xa0, curve),
                TestAuthority.der(
                        0xa1,
                        TestAuthority.der(3, new byte[1], Arrays.copyOfRange(info, info.length - 65, info.length))));
        Map<String, String[]> cases = new LinkedHashMap<>();
        cases.put("PKCS #8 EC", new String[] {MADE.chainPem(), MADE.keyPem()});
        cases.put("one file", new String[] {MADE.chainPem() + MADE.keyPem(), null});
        cases.put("SEC 1", new String[] {MADE.chainPem(), TestAuthority.pem("EC PRIVATE KEY", sec1)});
        cases.put("PKCS #8 RSA", new String[] {withRsa.chainPem(), withRsa.keyPem()});
        cases.put("PKCS #1", new String[] {withRsa.chainPem(), TestAuthority.pem("RSA PRIVATE KEY", pkcs1)});
        cases.put("DOS lines", new String[] {
            MADE.chainPem().replace("\n", "\r\n"), MADE.keyPem().replace("\n", "\r\n")
        });
        cases.put("text around", new String[] {"# mine\n" + MADE.chainPem() + "bye\n", "key:\n" + MADE.keyPem()});
        return cases.entrySet().stream()
                .map(each -> DynamicTest.dynamicTest(each.getKey(), () -> {
                    ServerCertificate certificate = read(each.getValue()[0], each.getValue()[1]);
                    assertEquals(2, certificate.x509Chain().length);
                    ReferenceCountUtil.release(
                            ServerContexts.build(List.of(certificate), ServerTlsConfig.DEFAULTS, true));
                }));
    }

    @Test
    void ordersAChainAndReportsIt() throws Exception {
        String issuer = TestAuthority.pem("CERTIFICATE", AUTHORITY.issuer().getEncoded());
        String leaf = TestAuthority.pem("CERTIFICATE", MADE.certificate().getEncoded());
        String foreign = TestAuthority.pem("CERTIFICATE", OTHER.certificate().getEncoded());
        ServerCertificate turned = read(issuer + leaf + foreign, MADE.keyPem());
        assertEquals(
                List.of("CN=www.example.com", "CN=reader issuer"),
                turned.facts().chain());
        assertEquals(
                2, turned.facts().notes().size(), () -> turned.facts().notes().toString());
        ServerCertificate alone = read(leaf, MADE.keyPem());
        assertTrue(
                alone.facts().notes().get(0).contains("no issuer's certificate"),
                () -> alone.facts().notes().toString());
    }

    @TestFactory
    Stream<DynamicTest> tellsWhatIsWrong() {
        record Wrong(String name, String chain, String key, Kind kind, String reason) {}
        byte[] sec1WithoutCurve = TestAuthority.der(0x30, new byte[] {2, 1, 1}, TestAuthority.der(4, new byte[32]));
        return Stream.of(
                        new Wrong("another's key", MADE.chainPem(), OTHER.keyPem(), Kind.MISMATCH, "does not belong"),
                        new Wrong("no certificate", MADE.keyPem(), MADE.keyPem(), Kind.MALFORMED, "no certificate"),
                        new Wrong("no key", MADE.chainPem(), null, Kind.MALFORMED, "no private key"),
                        new Wrong("empty", "", MADE.keyPem(), Kind.MALFORMED, "no certificate"),
                        new Wrong(
                                "cut off", MADE.chainPem().substring(0, 200), MADE.keyPem(), Kind.MALFORMED, "cut off"),
                        new Wrong(
                                "not base64",
                                "-----BEGIN CERTIFICATE-----\nAAA\n-----END CERTIFICATE-----\n",
                                MADE.keyPem(),
                                Kind.MALFORMED,
                                "not a valid certificate"),
                        new Wrong(
                                "encrypted",
                                MADE.chainPem(),
                                TestAuthority.pem("ENCRYPTED PRIVATE KEY", new byte[20]),
                                Kind.UNSUPPORTED,
                                "passphrase"),
                        new Wrong(
                                "no curve",
                                MADE.chainPem(),
                                TestAuthority.pem("EC PRIVATE KEY", sec1WithoutCurve),
                                Kind.MALFORMED,
                                "curve"),
                        new Wrong(
                                "damaged key",
                                MADE.chainPem(),
                                TestAuthority.pem("EC PRIVATE KEY", new byte[] {0x30, 5, 2}),
                                Kind.MALFORMED,
                                "cut off"))
                .map(wrong -> DynamicTest.dynamicTest(wrong.name, () -> {
                    CertificateFault fault = assertThrows(CertificateFault.class, () -> read(wrong.chain, wrong.key));
                    assertEquals(wrong.kind, fault.kind());
                    assertTrue(fault.getMessage().contains(wrong.reason), fault::getMessage);
                    assertTrue(fault.file().startsWith(directory.toString()), fault::file);
                }));
    }

    @Test
    void missingFilesAreNamed() {
        CertificateFault fault = assertThrows(
                CertificateFault.class,
                () -> reader.read(new CertificateFiles(directory.resolve("a"), directory.resolve("b")), 0));
        assertEquals(Kind.UNREADABLE, fault.kind());
        assertEquals(directory.resolve("a").toString(), fault.file());
    }

    @Test
    void findsTheFilesOfEveryLayout() throws IOException {
        Path lego = Files.createDirectory(directory.resolve("lego"));
        for (String name : List.of("a.example.crt", "a.example.key", "a.example.issuer.crt", "a.example.json")) {
            Files.createFile(lego.resolve(name));
        }
        Path certbot = Files.createDirectories(directory.resolve("live"));
        Files.createFile(certbot.resolve("README"));
        Path archive = Files.createDirectories(directory.resolve("archive/b.example"));
        Path live = Files.createDirectory(certbot.resolve("b.example"));
        for (String name : List.of("cert", "chain", "fullchain", "privkey")) {
            Files.createFile(archive.resolve(name + "1.pem"));
            Files.createSymbolicLink(live.resolve(name + ".pem"), archive.resolve(name + "1.pem"));
        }
        Path plain = Files.createDirectory(directory.resolve("plain"));
        for (String name : List.of("both.pem", "apart.pem", "apart.key", ".hidden.pem", "notes.txt")) {
            Files.createFile(plain.resolve(name));
        }
        assertEquals(
                List.of(new CertificateFiles(lego.resolve("a.example.crt"), lego.resolve("a.example.key"))),
                CertificateFiles.in(lego));
        CertificateFiles ofLive = new CertificateFiles(live.resolve("fullchain.pem"), live.resolve("privkey.pem"));
        assertEquals(List.of(ofLive), CertificateFiles.in(certbot));
        assertEquals(List.of(ofLive), CertificateFiles.in(live));
        assertEquals(
                List.of(
                        new CertificateFiles(plain.resolve("apart.pem"), plain.resolve("apart.key")),
                        new CertificateFiles(plain.resolve("both.pem"), plain.resolve("both.pem"))),
                CertificateFiles.in(plain));
        assertThrows(IOException.class, () -> CertificateFiles.in(directory.resolve("missing")));
    }
}
