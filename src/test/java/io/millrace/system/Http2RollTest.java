package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that rolls and reloads lose no HTTP/2 stream, and that a killed worker refuses no connection. */
@Tag("nightly")
class Http2RollTest {
    private static final int ANSWERS_BETWEEN = 500;
    private static final String CONTENT = "x".repeat(20_000);

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private Path file = Path.of("");
    private String rule = "";
    private int port;
    private int changes;

    @BeforeEach
    void chooseFile() throws IOException {
        origin.on("/hit", exchange -> exchange.answer(200, CONTENT, "Cache-Control: max-age=600"));
        file = product.newDirectory().resolve("millrace.yaml");
        rule = "to: \"" + origin.url() + "/\"";
        port = PackedProduct.freePort();
    }

    private void write(boolean rolls) throws IOException {
        changes++;
        Files.writeString(file, """
                listen:
                  - {address: "127.0.0.1:%d", h2c: true}
                remap: [{map: /, %s}]
                cache: {ram_size: %dMiB, uncacheable_ttl: %ds}
                worker: {heartbeat_interval: 100ms, heartbeat_timeout: 1500ms, heap_size: 128MiB, warm_up_limit: 3s}
                """.formatted(port, rule, rolls ? 32 + changes : 32, 10 + changes));
    }

    private void roll(MillraceProcess proxy, Http2Load load) throws Exception {
        long worker = proxy.worker().pid();
        long connections = load.connections();
        write(true);
        Json report = proxy.admin().post("/v1/config/reload", "{}").json();
        assertTrue(report.toString().contains("\"rolled\""), report::toString);
        proxy.awaitWorkerAfter(worker);
        load.awaitMoreAnswers(ANSWERS_BETWEEN);
        // The old worker ends connections one after another, within a second.
        await("a connection moves to the new worker").until(() -> load.connections() > connections);
    }

    private static void reload(MillraceProcess proxy, Http2Load load) throws Exception {
        Json report = proxy.admin().post("/v1/config/reload", "{}").json();
        assertEquals(true, report.at("ok").isTrue(), report::toString);
        load.awaitMoreAnswers(ANSWERS_BETWEEN);
    }

    private static void kill(MillraceProcess proxy, Http2Load load) throws Exception {
        long worker = proxy.worker().pid();
        load.killing();
        proxy.killWorker();
        proxy.awaitWorkerAfter(worker);
        load.awaitMoreAnswers(ANSWERS_BETWEEN);
        load.killed();
        load.awaitMoreAnswers(ANSWERS_BETWEEN);
    }

    private void run(String path, int rolls, int reloads, int kills) throws Exception {
        write(false);
        MillraceProcess proxy =
                product.launch().config(file).listeningByFile(port).start();
        try (Http2Load load = new Http2Load(port, path, CONTENT.length())) {
            load.start(4);
            load.awaitMoreAnswers(ANSWERS_BETWEEN);
            for (int i = 0; i < reloads; i++) {
                reload(proxy, load);
            }
            for (int i = 0; i < rolls; i++) {
                roll(proxy, load);
            }
            for (int i = 0; i < kills; i++) {
                kill(proxy, load);
            }
            assertEquals(List.of(), load.stop(), load::toString);
            System.out.println(load);
        }
    }

    @Test
    void oneRollAndOneKillUnderLoad() throws Exception {
        run("/hit", 1, 1, 1);
    }

    @Tag("nightly")
    @Test
    void manyRollsReloadsAndKillsUnderLoad() throws Exception {
        run("/hit", 5, 10, 5);
    }

    /** Every request goes to the origin over HTTP/2: streams on both sides end completely. */
    @Tag("nightly")
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rollsReloadsAndKillsWithAnHttp2Origin(boolean secure) throws Exception {
        Path directory = product.newDirectory();
        SelfSignedCertificate.write(directory, "localhost");
        Files.createDirectories(directory.resolve("www"));
        Files.writeString(directory.resolve("www/miss"), CONTENT);
        try (OriginProcess http2 = OriginProcess.startNghttpd(directory, secure)) {
            rule = "to: \"%s://localhost:%d/\", cache: {enabled: false}, origin: {http2: %s, tls: {verify: off}}"
                    .formatted(secure ? "https" : "http", http2.port(), secure ? "alpn" : "prior_knowledge");
            run("/miss", 3, 5, 3);
        }
    }
}
