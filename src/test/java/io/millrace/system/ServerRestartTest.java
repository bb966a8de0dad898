package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests {@code millctl server restart} while clients connect and disconnect. */
@Tag("nightly")
class ServerRestartTest {
    private static final long SEED = Long.getLong("millrace.seed", System.nanoTime());
    private static final int FILES = 10;
    private static final int FILE_LENGTH = 10_000;
    private static final int ANSWERS_BETWEEN = 200;

    /** A client that is delayed for longer than the time for which a drain keeps idle connections meets its end. */
    private static final int KEPT_CLOSED_MAX = 2;

    @RegisterExtension
    static final NginxOrigin nginx = new NginxOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    @Test
    void refusesNobodySaysWhatItDidAndLosesNoChangeMadeBesideIt() throws Exception {
        System.out.println("millrace.seed=" + SEED);
        Random random = new Random(SEED);
        MillraceProcess proxy =
                product.launch().origin(nginx.url()).shortWarmUp().start();
        try (LoadDuringKill load = new LoadDuringKill(proxy.port(), plant(random), random)) {
            load.start();
            load.awaitMoreAnswers(ANSWERS_BETWEEN);
            long first = proxy.worker().pid();
            Command restart = proxy.millctl("server", "restart").succeeds();
            long second = proxy.worker().pid();
            assertNotEquals(first, second);
            String what = "worker " + second + " serves in the place of " + first + ", after ";
            assertTrue(restart.out().startsWith(what), restart::toString);
            load.awaitMoreAnswers(ANSWERS_BETWEEN);

            CompletableFuture<Command> change =
                    CompletableFuture.supplyAsync(() -> proxy.millctl("config", "set", "via.name=beside"));
            Json report =
                    proxy.millctl("server", "restart", "-o", "json").succeeds().json();
            change.join().succeeds();
            assertEquals(second, report.at("previous_pid").number(), report::toString);
            assertEquals(proxy.worker().pid(), report.at("pid").number(), report::toString);
            String via = RawClient.fetch(proxy.port(), "/f0").joined("Via");
            assertTrue(via.contains("beside"), via);
            load.awaitMoreAnswers(ANSWERS_BETWEEN);
            assertEquals(List.of(), load.stop(), load::toString);
            assertTrue(load.keptClosed() <= KEPT_CLOSED_MAX, load::toString);
        }
    }

    private static List<RealTree.Entry> plant(Random random) throws IOException {
        List<RealTree.Entry> entries = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            byte[] body = new byte[FILE_LENGTH];
            random.nextBytes(body);
            Path planted = Files.write(nginx.root().resolve("f" + i), body);
            entries.add(new RealTree.Entry("/f" + i, planted, body.length));
        }
        return entries;
    }
}
