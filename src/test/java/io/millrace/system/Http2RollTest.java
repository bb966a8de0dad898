package io.millrace.system;

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

/** Rolls and reloads lose no stream of HTTP/2, and a killed worker refuses no connection. */
class Http2RollTest {
    private static final int ANSWERS_BETWEEN = 500;
    private static final String CONTENT = "x".repeat(20_000);

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private Path file = Path.of("");
    private int port;
    private int changes;

    @BeforeEach
    void chooseFile() throws IOException {
        origin.on("/hit", exchange -> exchange.answer(200, CONTENT, "Cache-Control: max-age=600"));
        file = product.newDirectory().resolve("millrace.yaml");
        port = PackedProduct.freePort();
    }

    private void write(boolean rolls) throws IOException {
        changes++;
        Files.writeString(file, """
                listen:
                  - {address: "127.0.0.1:%d", h2c: true}
                remap: [{map: /, to: "%s/"}]
                cache: {ram_size: %dMiB, uncacheable_ttl: %ds}
                worker: {heartbeat_interval: 100ms, heartbeat_timeout: 1500ms, heap_size: 128MiB, warm_up_limit: 3s}
                """.formatted(port, origin.url(), rolls ? 32 + changes : 32, 10 + changes));
    }

    private void roll(MillraceProcess proxy, Http2Load load) throws Exception {
        long worker = proxy.worker().pid();
        long connections = load.connections();
        write(true);
        Json report = proxy.admin().post("/v1/config/reload", "{}").json();
        assertTrue(report.toString().contains("\"rolled\""), report::toString);
        proxy.awaitWorkerAfter(worker);
        load.awaitMoreAnswers(ANSWERS_BETWEEN);
        assertTrue(load.connections() > connections, "no connection moved to the new worker");
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

    private void run(int rolls, int reloads, int kills) throws Exception {
        write(false);
        MillraceProcess proxy =
                product.launch().config(file).listeningByFile(port).start();
        try (Http2Load load = new Http2Load(port, "/hit", CONTENT.length())) {
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
        run(1, 1, 1);
    }

    @Tag("nightly")
    @Test
    void manyRollsReloadsAndKillsUnderLoad() throws Exception {
        run(5, 10, 5);
    }
}
