package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests a real tree of files on a real nginx: one scenario in the order of the methods, on one state directory. */
@Tag("nightly")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MirrorsARealTreeTest {

    private static final long SEED = Long.getLong("millrace.seed", System.nanoTime());
    private static final int KILLS = 2;

    @RegisterExtension
    static final NginxOrigin nginx = new NginxOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static MillraceProcess proxy;
    private static RealTree tree;

    @BeforeAll
    static void plantTheTreeAndStart() throws IOException {
        System.out.println("millrace.seed=" + SEED);
        tree = RealTree.plant(nginx.root(), SEED);
        // Less RAM than the length of the tree, so that both tiers serve.
        proxy = product.launch()
                .origin(nginx.url())
                .set("cache.ram_size", "64MiB")
                .start();
    }

    @Test
    @Order(1)
    void firstPassFetchesEveryFileOnceAndChangesNoByte() throws Exception {
        assertTrue(tree.realFiles() >= RealTree.REAL_FILES_MIN, tree.realFiles() + " real files");
        assertEquals(List.of(), new TreeReader(proxy.port()).read(tree.entries()));
        List<String> expected = tree.entries().stream()
                .map(entry -> "GET " + entry.target() + " 200")
                .sorted()
                .toList();
        assertEquals(expected, nginx.requests().stream().sorted().toList());
    }

    @Test
    @Order(2)
    void secondPassMakesNoOriginRequest() throws Exception {
        assertNoOriginRequestFor("second pass");
    }

    @Test
    @Order(3)
    void killOfTheWorkerUnderLoadRefusesNobodyAndTruncatesNothing() throws Exception {
        int before = nginx.requests().size();
        List<RealTree.Entry> small = tree.entries().stream()
                .filter(entry -> entry.length() < 300_000)
                .toList();
        try (LoadDuringKill load = new LoadDuringKill(proxy.port(), small, new Random(SEED))) {
            load.start();
            for (int kill = 0; kill < KILLS; kill++) {
                load.awaitMoreAnswers(500);
                long pid = proxy.worker().pid();
                load.workerDied(proxy.killWorker());
                proxy.awaitWorkerAfter(pid);
            }
            load.awaitMoreAnswers(500);
            List<String> wrong = load.stop();
            System.out.println(load);
            assertEquals(List.of(), wrong, load::toString);
        }
        assertEquals(before, nginx.requests().size(), "a restarted worker should find all in the disk cache");
    }

    @Test
    @Order(4)
    void diskCacheStillHitsAfterTheKills() throws Exception {
        assertNoOriginRequestFor("pass after kill -9");
    }

    @Test
    @Order(5)
    void treeIsServedWithoutAnOrigin() throws Exception {
        proxy.terminate();
        proxy.awaitExit();
        nginx.stop();
        MillraceProcess next = product.launch()
                .origin(nginx.url())
                .set("cache.ram_size", "64MiB")
                .port(proxy.port())
                .state(proxy.state())
                .start();
        assertEquals(List.of(), new TreeReader(next.port()).read(tree.entries()));
    }

    private static void assertNoOriginRequestFor(String pass) throws InterruptedException {
        List<String> before = nginx.requests();
        assertEquals(List.of(), new TreeReader(proxy.port()).read(tree.entries()), pass);
        List<String> after = nginx.requests();
        assertEquals(List.of(), after.subList(before.size(), after.size()), pass);
    }
}
