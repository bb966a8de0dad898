package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the binary access log of the packed product: written across kill -9, read on the command line. */
@Tag("nightly")
class BinaryLogTest {
    private static final Duration WRITTEN_WITHIN = Duration.ofSeconds(30);

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private static void fetch(MillraceProcess proxy, String path) throws Exception {
        RawClient.fetch(proxy.port(), path);
    }

    private static long size(Path file) throws IOException {
        return Files.exists(file) ? Files.size(file) : 0;
    }

    @Test
    void requestsBeforeAndAfterKillAreRead() throws Exception {
        origin.serves("/one", "content", "Cache-Control: max-age=600");
        MillraceProcess proxy = product.launch()
                .origin(origin.url())
                .set("log.access.format", "binary")
                .shortWarmUp()
                .start();
        Path log = proxy.state().resolve("log/access.blog");
        fetch(proxy, "/one");
        await("the first block").atMost(WRITTEN_WITHIN).until(() -> size(log) > 0);
        long intact = size(log);
        long pid = proxy.worker().pid();
        proxy.killWorker();
        proxy.awaitWorkerAfter(pid);
        fetch(proxy, "/two");
        await("the next block").atMost(WRITTEN_WITHIN).until(() -> size(log) > intact);

        List<String> lines =
                cat(log, "--format", "%<cquup> %<crc>").succeeds().out().lines().toList();
        assertEquals(2, lines.size(), lines::toString);
        assertEquals("/one TCP_MISS", lines.get(0));
        assertTrue(lines.get(1).startsWith("/two "), lines::toString);
        assertEquals(
                1,
                cat(log, "--where", "path == \"/two\"").succeeds().out().lines().count());
        assertTrue(proxy.millctl("log", "cat").succeeds().out().contains("/one"), "the log of this launcher");
        assertTrue(
                product.millctl("log", "stats", log.toString()).succeeds().out().startsWith("2 requests"));
        assertTrue(cat(log, "--fields").succeeds().out().startsWith("time time\n"));

        Path damaged = Files.copy(log, product.newDirectory().resolve("damaged.blog"));
        try (RandomAccessFile file = new RandomAccessFile(damaged.toFile(), "rw")) {
            file.seek(intact - 1);
            int last = file.read();
            file.seek(intact - 1);
            file.write(last ^ 1);
        }
        Command read = cat(damaged, "--format", "%<cquup>");
        assertEquals(1, read.exitCode(), read::toString);
        assertEquals("/two\n", read.out());
        assertTrue(read.err().contains(damaged + ": at byte "), read::toString);
    }

    private static Command cat(Path log, String... options) {
        String[] arguments = new String[options.length + 3];
        arguments[0] = "log";
        arguments[1] = "cat";
        arguments[2] = log.toString();
        System.arraycopy(options, 0, arguments, 3, options.length);
        return product.millctl(arguments);
    }
}
