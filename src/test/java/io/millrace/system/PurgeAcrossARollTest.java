package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Purges that are answered while one worker takes over from another hold in both, and in the store. */
@Tag("nightly")
class PurgeAcrossARollTest {
    private static final String FRESH = "Cache-Control: max-age=600";
    private static final int PATHS = 8;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private MillraceProcess proxy;

    private RawResponse send(String method, String target) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            return client.send(method + " " + target + " HTTP/1.1\r\nHost: site.example\r\n\r\n")
                    .response();
        }
    }

    private void get(int version, String path) throws IOException {
        assertEquals("version " + version + " of " + path, send("GET", path).text());
    }

    @Test
    void noPurgeThatWasAnsweredIsLost() throws Exception {
        proxy = product.launch().origin(origin.url()).shortWarmUp().start();
        CompletableFuture<Command> roll = new CompletableFuture<>();
        int version = 0;
        int after = 0;
        while (after < 2 * PATHS) {
            String path = "/p" + version % PATHS;
            version++;
            origin.serves(path, "version " + version + " of " + path, FRESH);
            RawResponse purged = send("PURGE", path);
            assertTrue(purged.status() == 200 || purged.status() == 404, purged::text);
            get(version, path);
            get(version, path);
            if (version == 4 * PATHS) {
                roll = CompletableFuture.supplyAsync(() -> proxy.millctl("server", "restart"));
            }
            after += roll.isDone() ? 1 : 0;
        }
        roll.join().succeeds();
        System.out.println("purged " + version + " times");
        long worker = proxy.worker().pid();
        proxy.killWorker();
        proxy.awaitWorkerAfter(worker);
        for (int back = 0; back < PATHS; back++) {
            int number = version - back;
            get(number, "/p" + (number - 1) % PATHS);
        }
    }
}
