package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests a thousand concurrent keep-alive clients on small files, for {@code millrace.system.seconds}. */
@Tag("nightly")
class ThousandClientsTest {

    private static final long SEED = Long.getLong("millrace.seed", System.nanoTime());
    private static final int CLIENTS = 1_000;
    private static final int THREADS = 2;
    private static final int FILES_OF_A_LENGTH = 10;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @Test
    void thousandClientsGetNoErrorAndNoWrongByte() throws Exception {
        System.out.println("millrace.seed=" + SEED);
        Map<String, byte[]> files = new LinkedHashMap<>();
        Random random = new Random(SEED);
        for (int kibibytes : new int[] {1, 5, 10}) {
            for (int i = 0; i < FILES_OF_A_LENGTH; i++) {
                byte[] body = new byte[kibibytes * 1024];
                random.nextBytes(body);
                String target = "/" + kibibytes + "KiB/" + i;
                files.put(target, body);
                origin.on(target, exchange -> exchange.answer(200, body, "Cache-Control: max-age=3600"));
            }
        }
        MillraceProcess proxy = product.launch().origin(origin.url()).start();

        Duration duration = Duration.ofSeconds(Integer.getInteger("millrace.system.seconds", 30));
        KeepAliveClients.Outcome outcome = new KeepAliveClients(proxy.port(), CLIENTS, files).run(THREADS, duration);

        System.out.println(outcome.answers() + " answers in " + duration.toSeconds() + " s");
        assertEquals(0, outcome.errors().size(), () -> String.join("\n", outcome.errors()));
        assertEquals(CLIENTS, outcome.connectedAtOnce());
        assertTrue(outcome.answers() >= CLIENTS, "each client should have had an answer");
        assertEquals(files.size(), origin.requests().size(), "each file should be fetched from the origin once");
    }
}
