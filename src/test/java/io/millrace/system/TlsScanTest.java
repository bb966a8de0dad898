package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs all of testssl.sh against the default settings: no finding above low. */
@Tag("nightly")
class TlsScanTest {
    private static final Set<String> GRAVE = Set.of("MEDIUM", "HIGH", "CRITICAL", "FATAL");

    /** Findings about the test authority, which has no public responder and no revocation list. */
    private static final Set<String> NOT_OF_THE_PRODUCT =
            Set.of("cert_revocation", "cert_crlDistributionPoints", "cert_ocspURL");

    private static final Duration LIMIT = Duration.ofMinutes(10);

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static void openssl(Path directory, String command) {
        Command.run(directory, List.of(("openssl " + command).split(" ", -1))).succeeds();
    }

    @Test
    @Timeout(value = 11, unit = TimeUnit.MINUTES)
    void defaultSettingsHaveNoFindingAboveLow() throws IOException {
        Assumptions.assumeTrue(Command.isInstalled("testssl"), "SKIPPED: testssl.sh is not installed");
        origin.on("/", exchange -> exchange.answer(200, "a response", "Cache-Control: max-age=600"));
        Path directory = product.newDirectory();
        String key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ";
        openssl(directory, "req -x509 " + key + "ca.key -out ca.pem -subj /CN=ca -days 365");
        openssl(directory, "req " + key + "site.key -out site.csr -subj /CN=localhost");
        Files.writeString(directory.resolve("site.ext"), "subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n");
        openssl(
                directory,
                "x509 -req -in site.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 90 -extfile site.ext -out site.pem");
        int clear = PackedProduct.freePort();
        int secure = PackedProduct.freePort();
        Path config = Files.writeString(directory.resolve("millrace.yaml"), """
                listen:
                  - "127.0.0.1:%d"
                  - {address: "127.0.0.1:%d", tls: {certificate: %s, key: %s}}
                remap: [{map: /, to: "%s/"}]
                """.formatted(
                        clear, secure, directory.resolve("site.pem"), directory.resolve("site.key"), origin.url()));
        product.launch().config(config).listeningByFile(clear).start();
        Path report = directory.resolve("report.json");
        Command scan = Command.run(
                directory,
                LIMIT,
                List.of(
                        "testssl",
                        "--add-ca",
                        "ca.pem",
                        "--jsonfile",
                        report.toString(),
                        "--warnings",
                        "off",
                        "--color",
                        "0",
                        "--ip",
                        "127.0.0.1",
                        "localhost:" + secure));
        assertTrue(Files.exists(report), scan::toString);
        List<Json> findings = Json.parse(Files.readString(report)).elements();
        assertTrue(findings.size() > 50, scan::toString);
        List<String> grave = findings.stream()
                .filter(each -> GRAVE.contains(each.at("severity").text()))
                .filter(each -> !NOT_OF_THE_PRODUCT.contains(each.at("id").text()))
                .map(each -> each.at("severity").text() + " " + each.at("id").text() + ": "
                        + each.at("finding").text())
                .toList();
        assertEquals(List.of(), grave, scan::toString);
    }
}
