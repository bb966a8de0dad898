package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Purges that are answered while one worker takes over from another hold in both, and in the store. */
@Tag("nightly")
class PurgeAcrossARollTest {
    private static final String FRESH = "Cache-Control: max-age=600";
    private static final int PATHS = 8;
    private static final int CONNECTIONS = 20;
    private static final String GET = "GET /p HTTP/1.1\r\nHost: site.example\r\n\r\n";

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

    /** The old worker answers on these connections for up to two seconds after the new one accepts. */
    @Test
    void aPurgeAtTheNewWorkerHoldsOnConnectionsOfTheOldOne() throws Exception {
        proxy = product.launch().origin(origin.url()).shortWarmUp().start();
        origin.serves("/p", "version 1", FRESH);
        List<RawClient> before = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            RawClient client = RawClient.connect(proxy.port());
            before.add(client);
            assertEquals("version 1", client.send(GET).response().text());
        }
        long worker = proxy.worker().pid();
        CompletableFuture<Command> roll = CompletableFuture.supplyAsync(() -> proxy.millctl("server", "restart"));
        await().atMost(Duration.ofMinutes(1)).until(() -> proxy.worker().pid() != worker);
        origin.serves("/p", "version 2", FRESH);
        RawResponse purged = send("PURGE", "/p");
        assertTrue(purged.status() == 200 || purged.status() == 404, purged::text);
        int answered = 0;
        for (RawClient client : before) {
            try (client) {
                assertEquals("version 2", client.send(GET).response().text());
                answered++;
            } catch (IOException e) {
                // The old worker has closed the idle connection.
            }
        }
        System.out.println(answered + " of " + CONNECTIONS + " earlier connections answered after the purge");
        roll.join().succeeds();
    }
}
