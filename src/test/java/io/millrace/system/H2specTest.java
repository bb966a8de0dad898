package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs all of h2spec in its strict mode, over TLS and by prior knowledge, for a response from the cache. */
class H2specTest {
    private static final String SUMMARY = "146 tests, 146 passed, 0 skipped, 0 failed";

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static String h2spec = "h2spec";
    private static int clear;
    private static int secure;

    @BeforeAll
    static void start() throws IOException {
        Path built = Path.of(System.getProperty("user.home"), "go", "bin", "h2spec");
        h2spec = Files.isExecutable(built) ? built.toString() : "h2spec";
        Assumptions.assumeTrue(
                Files.isExecutable(built) || Command.isInstalled("h2spec"), "SKIPPED: h2spec is not installed");
        origin.on("/", exchange -> exchange.answer(200, "a response", "Cache-Control: max-age=600"));
        Path directory = product.newDirectory();
        SelfSignedCertificate.write(directory, "localhost");
        clear = PackedProduct.freePort();
        secure = PackedProduct.freePort();
        Path config = directory.resolve("millrace.yaml");
        Files.writeString(config, """
                listen:
                  - {address: "127.0.0.1:%d", h2c: true}
                  - {address: "127.0.0.1:%d", tls: {certificate: %s, key: %s}}
                remap: [{map: /, to: "%s/"}]
                """.formatted(
                        clear, secure, directory.resolve("cert.pem"), directory.resolve("key.pem"), origin.url()));
        product.launch().config(config).listeningByFile(clear).start();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyCasePasses(boolean tls) throws IOException {
        List<String> line = new ArrayList<>(List.of(h2spec, "-S", "-h", "127.0.0.1", "-P", "/"));
        line.addAll(List.of("-p", String.valueOf(tls ? secure : clear)));
        if (tls) {
            line.addAll(List.of("-t", "-k"));
        }
        Command run = Command.run(product.newDirectory(), line);
        assertTrue(run.out().contains(SUMMARY), run::out);
        assertEquals(0, run.exitCode(), run::out);
    }
}
