package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the packed product with its cache on a block device, which it writes past the page cache. */
@Tag("nightly")
class LoopDeviceTest {
    private static final String FRESH = "Cache-Control: max-age=6000";
    private static final long DEVICE_BYTES = 256L << 20;
    private static final int OBJECTS = 120;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private Path directory;
    private String device = "";

    @BeforeEach
    void attach() throws IOException {
        assumeTrue(Command.isInstalled("losetup"), "SKIPPED: losetup is not installed");
        directory = product.newDirectory();
        Path image = directory.resolve("image");
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength(DEVICE_BYTES);
        }
        Command attached = Command.run(directory, List.of("losetup", "--find", "--show", image.toString()));
        assumeTrue(attached.exitCode() == 0, "SKIPPED: losetup is not permitted: " + attached.err());
        device = attached.out().strip();
    }

    @AfterEach
    void detach() {
        if (!device.isEmpty()) {
            // The device is released when the last process has closed it.
            Command.run(directory, List.of("losetup", "--detach", device)).succeeds();
        }
    }

    private Path config(String storage) throws IOException {
        return Files.writeString(directory.resolve("millrace.yaml"), """
                remap:
                  - {map: /, to: "%s"}
                cache: {ram_size: 1MiB}
                storage:
                  - %s
                """.formatted(origin.url(), storage));
    }

    /** Returns a body of its own for each number. The lengths are from 10 bytes to 550 KB. */
    private static String body(int number) {
        return ("object " + number + ".\n").repeat(1 + number * number * 3);
    }

    private static void get(MillraceProcess proxy, int number) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send("GET /object" + number + " HTTP/1.1\r\nHost: site.example\r\n\r\n");
            RawResponse response = client.response();
            assertEquals(200, response.status());
            assertEquals(body(number), response.text());
        }
    }

    private static void getAll(MillraceProcess proxy) throws IOException {
        for (int i = 0; i < OBJECTS; i++) {
            get(proxy, i);
        }
    }

    private static void assertNoneFetchedAgain() {
        for (int i = 0; i < OBJECTS; i++) {
            assertEquals(1, origin.count("/object" + i), "/object" + i);
        }
    }

    @Test
    void objectsOnADeviceSurviveAKilledWorkerAndTheOtherSetting() throws IOException {
        for (int i = 0; i < OBJECTS; i++) {
            origin.serves("/object" + i, body(i), FRESH);
        }
        Path state = product.newDirectory();
        MillraceProcess proxy = product.launch()
                .config(config("{path: " + device + ", direct_writes: on}"))
                .state(state)
                .start();
        getAll(proxy);
        proxy.millctl("storage", "status").succeeds();
        long before = proxy.worker().pid();
        proxy.killWorker();
        proxy.awaitWorkerAfter(before);
        getAll(proxy);
        assertNoneFetchedAgain();
        String log = proxy.stdout() + proxy.stderr();
        assertTrue(log.contains(device + ": writes bypass the page cache, in blocks of "), log);
        proxy.terminate();
        proxy.awaitExit();
        MillraceProcess cached = product.launch()
                .config(config("{path: " + device + ", direct_writes: off}"))
                .state(state)
                .start();
        getAll(cached);
        assertNoneFetchedAgain();
        cached.terminate();
        cached.awaitExit();
        Path index = state.resolve("storage").resolve(device.substring(1).replace('/', '-'));
        Command.run(
                        directory,
                        List.of(product.home().resolve("bin/millrace").toString(), "store", "check", index.toString()))
                .succeeds();
    }
}
